//! Keeps files that only one side has, until the other side shows the same contents at another
//! path.
//!
//! Takes unmatched files; returns pairs with the same contents at two paths. Memory is bounded:
//! path, times, digest and length are kept for as many files as fit. Others are reported at once
//! and cannot be matched.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::Timestamp;

use super::pair::FileSide;
use crate::identity::{CandidateFile, NameState, Observed, WhichFile, identity};
use steadfast_manifest::tag::Tag;

/// Memory for unmatched files of both sides, in bytes: about fifty thousand files.
const KEPT_LEN_BYTES_MAX: usize = 24 << 20;

/// Measured memory of a kept file without its path: key, list, and its share of the table's free
/// space.
const KEPT_LEN_BYTES: usize = 448;

/// Kept files of the same contents that are compared with one.
const ALIKE_MAX: usize = 64;

/// A side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WhichSide {
    Here,
    There,
}

impl WhichSide {
    pub(super) fn other(self) -> WhichSide {
        match self {
            WhichSide::Here => WhichSide::There,
            WhichSide::There => WhichSide::Here,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ContentsKey {
    algorithm: Algorithm,
    digest: Digest,
    length: u64,
}

struct UnmatchedFile {
    path: Box<Path>,
    mtime: Timestamp,
    /// Modification time, and time of the tag with these contents; `None` if the file was read.
    recorded: Option<(Timestamp, Timestamp)>,
}

type UnmatchedFiles = HashMap<ContentsKey, VecDeque<UnmatchedFile>>;

/// Unmatched files of both sides.
pub(super) struct Moves {
    here: UnmatchedFiles,
    there: UnmatchedFiles,
    len_bytes: usize,
    len_bytes_max: usize,
    /// Files that did not fit.
    passed: u64,
}

impl Moves {
    pub(super) fn new() -> Moves {
        Moves::within(KEPT_LEN_BYTES_MAX)
    }

    fn within(len_bytes_max: usize) -> Moves {
        let (here, there) = (UnmatchedFiles::new(), UnmatchedFiles::new());
        Moves { here, there, len_bytes: 0, len_bytes_max, passed: 0 }
    }

    /// Removes and returns the kept file of `side` that a file of the other side is. Files with
    /// the same contents, time and last part of the name are interchangeable: the first one.
    pub(super) fn take(
        &mut self,
        side: WhichSide,
        (path, contents): (&Path, &Tag),
    ) -> Option<(PathBuf, Box<FileSide>)> {
        let key = key_of(contents);
        let files = self.files(side);
        let list = files.get_mut(&key)?;
        let tagged = |kept: &UnmatchedFile| Tag { mtime: kept.mtime, ..*contents };
        let tags: Vec<Tag> = list.iter().take(ALIKE_MAX).map(tagged).collect();
        let candidates = list.iter().zip(&tags).map(|(kept, tag)| CandidateFile {
            is_namesake: kept.path.file_name() == path.file_name(),
            ..CandidateFile::tagged(tag, NameState::Gone)
        });
        let candidates: Vec<CandidateFile<'_>> = candidates.collect();
        let observed = Observed::tagged(contents, candidates.len());
        let WhichFile::Moved(at) = identity(&observed, &candidates).answer else { return None };
        let kept = list.remove(at)?;
        if list.is_empty() {
            files.remove(&key);
        }
        self.len_bytes -= KEPT_LEN_BYTES + kept.path.as_os_str().len();
        Some(kept.unpack(&key))
    }

    /// Keeps a file that only `side` has; returns it if it does not fit.
    pub(super) fn keep(
        &mut self,
        side: WhichSide,
        path: PathBuf,
        file: Box<FileSide>,
        contents: &Tag,
    ) -> Result<(), (PathBuf, Box<FileSide>)> {
        // Two empty files are not evidence of a move.
        if contents.length == 0 {
            return Err((path, file));
        }
        let len_bytes = KEPT_LEN_BYTES + path.as_os_str().len();
        if self.len_bytes + len_bytes > self.len_bytes_max {
            self.passed += 1;
            return Err((path, file));
        }
        self.len_bytes += len_bytes;
        let recorded = file.actual.is_none().then_some((contents.mtime, contents.tagged));
        let mtime = file.mtime.unwrap_or(contents.mtime);
        let kept = UnmatchedFile { path: path.into(), mtime, recorded };
        let list = self.files(side).entry(key_of(contents));
        list.or_insert_with(|| VecDeque::with_capacity(1)).push_back(kept);
        Ok(())
    }

    /// Returns the number of files that did not fit.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// Removes and returns the remaining files, in path order.
    pub(super) fn leftovers(
        &mut self,
    ) -> impl Iterator<Item = (PathBuf, WhichSide, Box<FileSide>)> {
        let mut left = Vec::new();
        for side in [WhichSide::Here, WhichSide::There] {
            for (key, list) in std::mem::take(self.files(side)) {
                left.extend(list.into_iter().map(|kept| (kept, side, key)));
            }
        }
        self.len_bytes = 0;
        left.sort_unstable_by(|(a, a_side, _), (b, b_side, _)| {
            (&a.path, a_side).cmp(&(&b.path, b_side))
        });
        // Unpacked one by one: all at once would need the memory that packing saved.
        left.into_iter().map(|(kept, side, key)| {
            let (path, file) = kept.unpack(&key);
            (path, side, file)
        })
    }

    fn files(&mut self, side: WhichSide) -> &mut UnmatchedFiles {
        match side {
            WhichSide::Here => &mut self.here,
            WhichSide::There => &mut self.there,
        }
    }
}

impl UnmatchedFile {
    fn unpack(self, key: &ContentsKey) -> (PathBuf, Box<FileSide>) {
        let UnmatchedFile { path, mtime, recorded } = self;
        let contents = |(mtime, tagged)| {
            let ContentsKey { algorithm, digest, length } = *key;
            Tag { algorithm, digest, length, mtime, tagged }
        };
        let read = recorded.is_none().then_some((mtime, Timestamp::default()));
        let side = FileSide {
            length: Some(key.length),
            mtime: Some(mtime),
            tag: recorded.map(contents),
            actual: read.map(contents),
            ..FileSide::default()
        };
        (path.into(), Box::new(side))
    }
}

fn key_of(contents: &Tag) -> ContentsKey {
    let Tag { algorithm, digest, length, .. } = *contents;
    ContentsKey { algorithm, digest, length }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(content: u8, length: u64) -> Tag {
        Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[content; 32]).unwrap(),
            length,
            mtime: Timestamp { seconds: 5, nanoseconds: 6 },
            tagged: Timestamp { seconds: 7, nanoseconds: 0 },
        }
    }

    fn keep(moves: &mut Moves, side: WhichSide, path: &str, tag: Tag) -> bool {
        let file = FileSide { tag: Some(tag), mtime: Some(tag.mtime), ..FileSide::default() };
        moves.keep(side, path.into(), Box::new(file), &tag).is_ok()
    }

    fn take(moves: &mut Moves, path: &str, tag: Tag) -> Option<(PathBuf, Box<FileSide>)> {
        moves.take(WhichSide::Here, (Path::new(path), &tag))
    }

    #[test]
    fn equal_contents_are_matched_by_time_and_name_then_in_order_and_keep_their_tag() {
        let mut moves = Moves::new();
        let later = Tag { mtime: Timestamp { seconds: 8, nanoseconds: 0 }, ..tag(1, 9) };
        let here = [("a", tag(1, 9)), ("b", tag(1, 9)), ("c", later), ("d/x", tag(1, 9))];
        for (path, tag) in here {
            assert!(keep(&mut moves, WhichSide::Here, path, tag));
        }
        let there = moves.take(WhichSide::There, (Path::new("n"), &tag(1, 9)));
        assert!(there.is_none(), "only A has them");
        assert!(take(&mut moves, "n", tag(1, 8)).is_none(), "another length");
        assert_eq!(take(&mut moves, "x", tag(1, 9)).unwrap().0, PathBuf::from("d/x"));
        assert_eq!(take(&mut moves, "n", later).unwrap().0, PathBuf::from("c"));
        let (path, side) = take(&mut moves, "n", tag(1, 9)).unwrap();
        assert_eq!((path, side.tag, side.actual), (PathBuf::from("a"), Some(tag(1, 9)), None));
        assert_eq!(take(&mut moves, "n", later).unwrap().0, PathBuf::from("b"));
        assert!(take(&mut moves, "n", tag(1, 9)).is_none());
        assert_eq!(moves.len_bytes, 0);
    }

    #[test]
    fn empty_files_are_no_moves_and_memory_is_bounded() {
        let mut moves = Moves::within(2 * (KEPT_LEN_BYTES + 1));
        assert!(!keep(&mut moves, WhichSide::Here, "e", tag(1, 0)));
        assert_eq!(moves.passed(), 0);
        assert!(keep(&mut moves, WhichSide::There, "b", tag(1, 9)));
        assert!(keep(&mut moves, WhichSide::Here, "a", tag(2, 9)));
        assert!(!keep(&mut moves, WhichSide::Here, "c", tag(3, 9)));
        assert_eq!(moves.passed(), 1);
        let order: Vec<_> = moves.leftovers().map(|(path, side, _)| (path, side)).collect();
        assert_eq!(order, [("a".into(), WhichSide::Here), ("b".into(), WhichSide::There)]);
        assert!(keep(&mut moves, WhichSide::Here, "c", tag(3, 9)), "there is room again");
    }
}
