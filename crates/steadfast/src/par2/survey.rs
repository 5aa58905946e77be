//! What is left of the files of a set: each block is looked for in its place, then anywhere in the
//! files that are not whole.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use steadfast_parity::par2::{BlockSearch, Par2File};
use steadfast_sys::file::{File, Status};
use steadfast_sys::source::ReadAt as _;

use super::ranges::{HashedPart, digests};
use super::volumes::LoadedSet;
use super::{Par2Report, go_on};
use crate::beneath;
use crate::event::FileError;
use crate::pages::Descriptor;
use crate::repair::digest_matches;
use crate::store::{StoredTag, tag_at};
use crate::verdict::Verdict;

/// The longest block that is searched for at any offset: a search takes three times its memory.
const SEARCHED_LEN_MAX: u64 = 16 << 20;

/// Bytes that are searched at a time, besides a block.
const SEARCH_LEN: usize = 4 << 20;

/// Places with the check value of a block and another digest, after which a search ends. Only
/// hostile files have more than a few.
const MISLEADING_MAX: u32 = 1000;

/// What is left of one file.
pub(super) struct FileLeft {
    pub(super) verdict: Verdict,
    /// How it was when it was read.
    pub(super) status: Option<Status>,
    fault: Option<FileError>,
}

/// Where a block is.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPlace {
    file: usize,
    part: HashedPart,
}

/// What is left of all files.
pub(super) struct BlockSurvey {
    pub(super) files: Vec<FileLeft>,
    /// Where each block of the set is; `None` if nowhere.
    pub(super) places: Vec<Option<BlockPlace>>,
}

impl BlockSurvey {
    /// Reads all files of a set.
    ///
    /// # Errors
    /// `Interrupted` if it was stopped.
    pub(super) fn of(loaded: &LoadedSet, stop: &AtomicBool) -> io::Result<BlockSurvey> {
        let mut survey = BlockSurvey { files: Vec::new(), places: vec![None; loaded.set.blocks] };
        for number in 0..loaded.set.files.len() {
            let left = survey.survey_file(loaded, number, stop)?;
            survey.files.push(left);
        }
        survey.search(loaded, stop)?;
        Ok(survey)
    }

    fn survey_file(
        &mut self,
        loaded: &LoadedSet,
        number: usize,
        stop: &AtomicBool,
    ) -> io::Result<FileLeft> {
        let of = &loaded.set.files[number];
        let opened = open(loaded, number);
        let (file, status) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(FileLeft { verdict: Verdict::Missing, status: None, fault: None });
            }
            Err(error) => {
                let fault = Some(FileError::from_io("open it", &error));
                return Ok(FileLeft { verdict: Verdict::Unreadable, status: None, fault });
            }
        };
        file.advise_sequential();
        let source = Descriptor { file: &file, len_bytes: status.length };
        let is_whole = match of.marks.is_empty() {
            true => self.find_whole(loaded, number, &source, stop)?,
            false => self.find_blocks(loaded, number, &source, stop)?,
        };
        let verdict = match is_whole && status.length == of.length {
            true => Verdict::Intact,
            false if is_as_tagged(loaded, of, &file, stop)? => Verdict::Modified,
            false => Verdict::Corrupt,
        };
        Ok(FileLeft { verdict, status: Some(status), fault: None })
    }

    /// Compares each block with its mark.
    fn find_blocks(
        &mut self,
        loaded: &LoadedSet,
        number: usize,
        source: &Descriptor<'_>,
        stop: &AtomicBool,
    ) -> io::Result<bool> {
        let of = &loaded.set.files[number];
        let parts = parts_of(loaded, of);
        let there = parts.iter().filter(|part| part.start + part.len <= source.len_bytes);
        let there: Vec<HashedPart> = there.copied().collect();
        let digests = digests(source, &there, stop)?;
        let mut found = 0;
        for (at, digest) in digests.into_iter().enumerate() {
            if digest == Some(of.marks[at].digest) {
                self.places[of.blocks.start + at] =
                    Some(BlockPlace { file: number, part: there[at] });
                found += 1;
            }
        }
        Ok(found == parts.len())
    }

    /// Compares a file without marks as a whole.
    fn find_whole(
        &mut self,
        loaded: &LoadedSet,
        number: usize,
        source: &Descriptor<'_>,
        stop: &AtomicBool,
    ) -> io::Result<bool> {
        let of = &loaded.set.files[number];
        if source.len_bytes != of.length {
            return Ok(false);
        }
        let whole = digests(source, &[HashedPart::whole(0, of.length)], stop)?;
        let is_whole = whole == [Some(of.digest)];
        for (at, part) in parts_of(loaded, of).into_iter().enumerate().filter(|_| is_whole) {
            self.places[of.blocks.start + at] = Some(BlockPlace { file: number, part });
        }
        Ok(is_whole)
    }

    /// Looks for lost blocks at any offset of the files that are not whole, and of those that the
    /// caller named: behind bytes that were put in or taken out, or under another name.
    fn search(&mut self, loaded: &LoadedSet, stop: &AtomicBool) -> io::Result<()> {
        let (set, block_len) = (&loaded.set, loaded.set.block_len);
        if block_len > SEARCHED_LEN_MAX {
            return Ok(());
        }
        for number in 0..set.files.len() + loaded.others.len() {
            let verdict = self.files.get(number).map_or(Verdict::Corrupt, |file| file.verdict);
            if !matches!(verdict, Verdict::Corrupt | Verdict::Modified) {
                continue;
            }
            let marks = set.files.iter().flat_map(|file| {
                file.marks.iter().enumerate().map(move |(at, mark)| (file.blocks.start + at, *mark))
            });
            let lost: HashMap<usize, _> =
                marks.filter(|(block, _)| self.places[*block].is_none()).collect();
            if lost.is_empty() {
                return Ok(());
            }
            let Ok((file, status)) = open(loaded, number) else { continue };
            let source = Descriptor { file: &file, len_bytes: status.length };
            let found = find_moved(&source, block_len, &lost, stop)?;
            for (block, start) in found {
                let part = HashedPart::whole(start, block_len);
                self.places[block] = Some(BlockPlace { file: number, part });
            }
            // A file of another name may be any file of the set.
            let may_be =
                if number < set.files.len() { number..number + 1 } else { 0..set.files.len() };
            for of in may_be {
                self.find_last(loaded, of, number, &source, stop)?;
            }
        }
        Ok(())
    }

    /// Looks for the last block of a file, which is shorter than others, at the end of this file or
    /// another.
    fn find_last(
        &mut self,
        loaded: &LoadedSet,
        of: usize,
        number: usize,
        source: &Descriptor<'_>,
        stop: &AtomicBool,
    ) -> io::Result<()> {
        let of = &loaded.set.files[of];
        let (Some(part), Some(mark)) = (parts_of(loaded, of).pop(), of.marks.last()) else {
            return Ok(());
        };
        let block = of.blocks.end - 1;
        let Some(start) = source.len_bytes.checked_sub(part.len) else { return Ok(()) };
        let part = HashedPart { start, ..part };
        if self.places[block].is_none() && digests(source, &[part], stop)? == [Some(mark.digest)] {
            self.places[block] = Some(BlockPlace { file: number, part });
        }
        Ok(())
    }

    /// Returns the numbers of the blocks that are nowhere.
    pub(super) fn lost(&self) -> Vec<usize> {
        (0..self.places.len()).filter(|block| self.places[*block].is_none()).collect()
    }

    /// Returns what is known of each file.
    pub(super) fn reports(&self, loaded: &LoadedSet) -> Vec<Par2Report> {
        let of = |(file, left): (&Par2File, &FileLeft)| {
            let own = &self.places[file.blocks.clone()];
            Par2Report {
                path: shown(loaded, file),
                verdict: left.verdict,
                blocks: own.len() as u64,
                lost_blocks: own.iter().filter(|place| place.is_none()).count() as u64,
                is_repaired: None,
                withheld: Vec::new(),
                fault: left.fault.clone(),
            }
        };
        loaded.set.files.iter().zip(&self.files).map(of).collect()
    }
}

impl BlockPlace {
    /// Returns the number of the file that has the block.
    pub(super) fn file(&self) -> usize {
        self.file
    }

    /// Reads bytes of the block, from a place in it on. Behind its end are zeros.
    pub(super) fn read(
        &self,
        source: &Descriptor<'_>,
        at: u64,
        bytes: &mut [u8],
    ) -> io::Result<()> {
        self.part.read(source, at, bytes)
    }
}

/// Opens a file of the set beneath its folder, or behind those, one that the caller named.
pub(super) fn open(loaded: &LoadedSet, number: usize) -> io::Result<(File, Status)> {
    let file = match loaded.set.files.get(number) {
        Some(of) => beneath::file(&loaded.folder, &of.path)?,
        None => File::open(&loaded.others[number - loaded.set.files.len()])?,
    };
    let status = file.status()?;
    Ok((file, status))
}

fn shown(loaded: &LoadedSet, of: &Par2File) -> PathBuf {
    match loaded.folder.as_os_str() == "." {
        true => of.path.clone(),
        false => loaded.folder.join(&of.path),
    }
}

/// Returns the blocks of a file in their places.
fn parts_of(loaded: &LoadedSet, of: &Par2File) -> Vec<HashedPart> {
    let padded_len = loaded.set.block_len;
    let starts = (0..of.blocks.len() as u64).map(|block| block * padded_len);
    let part = |start| HashedPart { start, len: (of.length - start).min(padded_len), padded_len };
    starts.map(part).collect()
}

/// Says whether a file has a tag and the contents that the tag describes: then it was edited.
fn is_as_tagged(
    loaded: &LoadedSet,
    of: &Par2File,
    file: &File,
    stop: &AtomicBool,
) -> io::Result<bool> {
    let tag = match tag_at(file, &loaded.folder.join(&of.path)) {
        Ok(StoredTag::Whole(tag)) => tag,
        _ => return Ok(false),
    };
    match file.status()?.length == tag.length {
        true => match digest_matches(file, &tag, stop) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            matches => Ok(matches.unwrap_or(false)),
        },
        false => Ok(false),
    }
}

/// Searches a file for blocks at any offset. Returns the blocks and where they are.
fn find_moved(
    source: &Descriptor<'_>,
    block_len: u64,
    lost: &HashMap<usize, steadfast_parity::par2::BlockMark>,
    stop: &AtomicBool,
) -> io::Result<HashMap<usize, u64>> {
    let search =
        BlockSearch::new(block_len as usize, lost.iter().map(|(block, mark)| (mark.check, *block)));
    let mut found: HashMap<usize, u64> = HashMap::new();
    let (mut misleading, mut offset) = (0, 0);
    let mut bytes = vec![0; block_len as usize + SEARCH_LEN];
    while offset + block_len <= source.len_bytes && misleading < MISLEADING_MAX {
        go_on(stop)?;
        let len = (source.len_bytes - offset).min(bytes.len() as u64) as usize;
        let bytes = &mut bytes[..len];
        if source.read_exact_at(bytes, offset).is_err() {
            // Behind what cannot be read, the search goes on.
            offset += SEARCH_LEN as u64;
            continue;
        }
        let end = search.scan(bytes, &mut |at, blocks| {
            if misleading == MISLEADING_MAX {
                return false;
            }
            let digest = md5(&bytes[at..at + block_len as usize]);
            let same: Vec<&usize> =
                blocks.iter().filter(|block| lost[*block].digest == digest).collect();
            misleading += u32::from(same.is_empty());
            for block in &same {
                found.entry(**block).or_insert(offset + at as u64);
            }
            !same.is_empty()
        });
        offset += end as u64;
    }
    Ok(found)
}

fn md5(bytes: &[u8]) -> [u8; 16] {
    let mut hasher = steadfast_digest::AlgorithmHasher::new(steadfast_digest::Algorithm::Md5);
    hasher.update(bytes);
    let digest = hasher.finalize();
    std::array::from_fn(|at| digest.as_bytes()[at])
}
