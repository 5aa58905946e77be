//! The contents of a file, put together from what is left of it and of its copies.
//!
//! Input: the file if it is there, its copies, and the leaves kept for its tag. Output: every span
//! of the contents, in order, each page proved by its leaf; or the one copy that has the tag's
//! digest. Everything is read past the page cache as far as the file system can.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_digest::{AlgorithmHasher, Lanes};
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{AlignedBuffer, File};
use steadfast_sys::source::ReadAt as _;
use steadfast_verity::{LeafHasher, VerityParams};

use super::copies::{OpenCopy, Own};
use super::target::RepairTarget;
use super::{RepairOutcome, RepairSource, refused, system};
use crate::calibration::fastest_lanes;
use crate::event::FileError;
use crate::pages::{Descriptor, Kept};
use crate::run::leaves_folder;
use crate::store::pages::find;

/// Bytes that are read and hashed at a time: a multiple of every page.
pub(super) const SPAN_LEN: usize = 512 << 10;

/// Where the contents of a file come from.
pub(super) struct MendedContents<'a> {
    pub(super) target: &'a RepairTarget,
    own: Option<&'a Own>,
    copies: &'a [OpenCopy],
    how: How,
    /// What each copy gave.
    given: Vec<RepairSource>,
}

enum How {
    /// Page by page.
    Pages(Kept),
    /// All from one copy.
    Whole(usize),
}

/// A part of the contents.
pub(super) struct MendedSpan<'a> {
    pub(super) offset: u64,
    pub(super) bytes: &'a [u8],
    /// Whether some of it is not what the file itself has there.
    pub(super) is_mended: bool,
}

impl<'a> MendedContents<'a> {
    /// Reads the file and its copies until it is known that they have the contents together.
    pub(super) fn find(
        target: &'a RepairTarget,
        own: Option<&'a Own>,
        copies: &'a [OpenCopy],
        stop: &AtomicBool,
        outcome: &mut RepairOutcome,
    ) -> Result<MendedContents<'a>, FileError> {
        let given = copies.iter().map(|copy| RepairSource::at(&copy.path)).collect();
        if let Some(kept) = leaves_of(target, stop) {
            let mut contents = MendedContents { target, own, copies, how: How::Pages(kept), given };
            let tally = contents.pass(stop, &mut |_| Ok(())).map_err(system("read the copies"))?;
            outcome.pages = Some(tally.pages);
            outcome.damaged_pages = tally.damaged;
            contents.given = tally.given;
            return match tally.lost {
                0 => Ok(contents),
                lost => Err(refused(format!(
                    "{lost} of {} pages are damaged in the file and in no copy",
                    tally.pages
                ))),
            };
        }
        let has = |copy: &OpenCopy| -> io::Result<bool> {
            let same_len = copy.length == target.tag.length;
            Ok(same_len && digest_matches(&copy.file, &target.tag, stop)?)
        };
        for (number, copy) in copies.iter().enumerate() {
            match has(copy) {
                Ok(true) => {
                    return Ok(MendedContents {
                        target,
                        own,
                        copies,
                        how: How::Whole(number),
                        given,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    return Err(FileError::from_io("read the copies", &error));
                }
                // A copy that cannot be read is none.
                Ok(false) | Err(_) => {}
            }
        }
        Err(refused(match copies.len() {
            0 => "no copy of it was found".to_owned(),
            _ => "no copy has the contents of its tag, and no leaves are kept to mend it page by \
                  page"
                .to_owned(),
        }))
    }

    /// Returns what gives something.
    pub(super) fn sources(&self) -> Vec<RepairSource> {
        match self.how {
            How::Pages(_) => self.given.iter().filter(|given| given.pages > 0).cloned().collect(),
            How::Whole(number) => {
                let whole = 0..self.target.tag.length;
                vec![RepairSource { ranges: vec![whole], ..self.given[number].clone() }]
            }
        }
    }

    /// Returns the copy whose owner and attributes a missing file gets: the first that gives
    /// something.
    pub(super) fn model(&self) -> Option<&OpenCopy> {
        match self.how {
            How::Whole(number) => self.copies.get(number),
            How::Pages(_) => {
                let number = self.given.iter().position(|given| given.pages > 0)?;
                self.copies.get(number)
            }
        }
    }

    /// Says whether parts of the file itself are used.
    pub(super) fn uses_own(&self) -> bool {
        matches!(self.how, How::Pages(_)) && self.own.is_some()
    }

    /// Passes all contents to `sink`, span by span.
    ///
    /// # Errors
    /// Those of the sink; `InvalidData` if something that was there is gone meanwhile;
    /// `Interrupted` if it was stopped.
    pub(super) fn copy_to(
        &self,
        stop: &AtomicBool,
        sink: &mut dyn FnMut(MendedSpan<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        match self.how {
            How::Pages(_) => match self.pass(stop, sink)?.lost {
                0 => Ok(()),
                _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a copy changed meanwhile")),
            },
            How::Whole(number) => {
                let copy = &self.copies[number];
                each_span(&copy.file, copy.length, stop, &mut |offset, bytes| {
                    sink(MendedSpan { offset, bytes, is_mended: true })
                })
            }
        }
    }

    /// Goes through the file page by page.
    fn pass(
        &self,
        stop: &AtomicBool,
        sink: &mut dyn FnMut(MendedSpan<'_>) -> io::Result<()>,
    ) -> io::Result<Tally> {
        let How::Pages(kept) = &self.how else { unreachable!("only called with leaves") };
        let pages = Pages { params: kept.header().params(), lanes: fastest_lanes() };
        let length = self.target.tag.length;
        let given = self.copies.iter().map(|copy| RepairSource::at(&copy.path)).collect();
        let mut tally = Tally { given, ..Tally::default() };
        let mut buffer = AlignedBuffer::new(SPAN_LEN);
        let mut other = AlignedBuffer::new(SPAN_LEN);
        let mut wanted = Vec::new();
        let mut offset = 0;
        while offset < length {
            go_on(stop)?;
            let len = (length - offset).min(SPAN_LEN as u64) as usize;
            let (bytes, other) = (&mut buffer[..len], &mut other[..len]);
            pages.read_leaves(kept, offset, len, &mut wanted)?;
            let mut bad = match self.own {
                Some(own) => pages.bad(&own.file, own.status.length, offset, bytes, &wanted),
                None => vec![true; pages.count(len)],
            };
            let damaged = bad.iter().filter(|bad| **bad).count() as u64;
            for (number, copy) in self.copies.iter().enumerate() {
                if !bad.contains(&true) {
                    break;
                }
                let other_bad = pages.bad(&copy.file, copy.length, offset, other, &wanted);
                for page in 0..bad.len() {
                    if bad[page] && !other_bad[page] {
                        let range = pages.range(page, len);
                        bytes[range.clone()].copy_from_slice(&other[range.clone()]);
                        bad[page] = false;
                        let at = |byte: usize| offset + byte as u64;
                        tally.given[number].give(at(range.start)..at(range.end));
                    }
                }
            }
            tally.pages += bad.len() as u64;
            tally.damaged += damaged;
            tally.lost += bad.iter().filter(|bad| **bad).count() as u64;
            sink(MendedSpan { offset, bytes, is_mended: damaged > 0 })?;
            offset += len as u64;
        }
        Ok(tally)
    }
}

/// What a pass over the pages came to.
#[derive(Default)]
struct Tally {
    pages: u64,
    /// Pages that the file itself lacks.
    damaged: u64,
    /// What each copy gave.
    given: Vec<RepairSource>,
    /// Pages that neither the file nor a copy has.
    lost: u64,
}

/// How a file is cut into pages.
struct Pages {
    params: VerityParams,
    lanes: Lanes,
}

impl Pages {
    fn count(&self, len: usize) -> usize {
        len.div_ceil(self.params.page_len())
    }

    fn range(&self, page: usize, len: usize) -> std::ops::Range<usize> {
        let start = page * self.params.page_len();
        start..(start + self.params.page_len()).min(len)
    }

    /// Reads the kept leaves of the pages of a span.
    fn read_leaves(
        &self,
        kept: &Kept,
        offset: u64,
        len: usize,
        to: &mut Vec<u8>,
    ) -> io::Result<()> {
        let leaf_len = self.params.hash().digest_len();
        to.resize(self.count(len) * leaf_len, 0);
        let first = offset / self.params.page_len() as u64;
        kept.leaves().read_exact_at(to, first * leaf_len as u64)
    }

    /// Reads a span of a file, and returns for each page whether it cannot be read or differs from
    /// its leaf.
    fn bad(
        &self,
        file: &File,
        length: u64,
        offset: u64,
        bytes: &mut [u8],
        leaves: &[u8],
    ) -> Vec<bool> {
        let source = Descriptor { file, len_bytes: length };
        let len = bytes.len();
        let mut unread = vec![false; self.count(len)];
        if source.read_exact_at(bytes, offset).is_err() {
            for (page, unread) in unread.iter_mut().enumerate() {
                let range = self.range(page, len);
                let at = offset + range.start as u64;
                *unread = source.read_exact_at(&mut bytes[range], at).is_err();
            }
        }
        let mut found = Vec::with_capacity(leaves.len());
        let mut hasher = LeafHasher::new(&self.params, self.lanes);
        hasher.update(bytes, &mut found);
        hasher.finish(&mut found);
        let leaf_len = self.params.hash().digest_len();
        let pairs = found.chunks(leaf_len).zip(leaves.chunks(leaf_len)).zip(unread);
        pairs.map(|((found, leaf), unread)| unread || found != leaf).collect()
    }
}

/// Finds the leaves of a target's tag, if there are some and they are whole.
fn leaves_of(target: &RepairTarget, stop: &AtomicBool) -> Option<Kept> {
    let folder = target.catalogue.as_deref().and_then(|file| leaves_folder(file).ok().flatten());
    let path = target.root.join(&target.relative);
    let (_, kept) = find(&target.tag, &path, folder.as_ref()).ok().flatten()?;
    kept.ensure_whole(stop).is_ok().then_some(kept)
}

/// Reads a file of a known length from start to end.
fn each_span(
    file: &File,
    length: u64,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let source = Descriptor { file, len_bytes: length };
    let mut buffer = AlignedBuffer::new(SPAN_LEN);
    let mut offset = 0;
    while offset < length {
        go_on(stop)?;
        let len = (length - offset).min(SPAN_LEN as u64) as usize;
        source.read_exact_at(&mut buffer[..len], offset)?;
        sink(offset, &buffer[..len])?;
        offset += len as u64;
    }
    Ok(())
}

/// Says whether a file has the digest of a tag.
///
/// # Errors
/// Whatever the system says; `Interrupted` if it was stopped.
pub(crate) fn digest_matches(file: &File, tag: &Tag, stop: &AtomicBool) -> io::Result<bool> {
    let mut hasher = AlgorithmHasher::new(tag.algorithm);
    each_span(file, tag.length, stop, &mut |_, bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    Ok(hasher.finalize() == tag.digest)
}

pub(super) fn go_on(stop: &AtomicBool) -> io::Result<()> {
    match stop.load(Ordering::Relaxed) {
        true => Err(io::ErrorKind::Interrupted.into()),
        false => Ok(()),
    }
}
