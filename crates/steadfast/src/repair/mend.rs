//! The contents of a file, put together from what is left of it and of its copies.
//!
//! Input: the file if it is there, its copies, and the leaves kept for its tag. Output: every span
//! of the contents, in order, each page proved by its leaf; or the one copy that has the tag's
//! digest. Everything is read past the page cache as far as the file system can. Pages of the file
//! that were found right are not compared with their leaves again.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_digest::{AlgorithmHasher, Lanes};
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{AlignedBuffer, File};
use steadfast_sys::source::ReadAt as _;

use super::copies::{OpenCopy, Own};
use super::target::RepairTarget;
use super::{RepairFailure, RepairOutcome, RepairSource, refused, system};
use crate::byte_ranges::ByteRanges;
use crate::calibration::fastest_lanes;
use crate::event::FileError;
use crate::pages::{Descriptor, Kept};
use crate::run::leaves_folder;
use crate::store::pages::find;
use crate::verity::{LeafHasher, VerityParams};

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
    Pages {
        kept: Kept,
        /// What the file lacks itself, at least; `None` until it was looked at.
        lacking: Option<ByteRanges>,
    },
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

/// Which spans are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedSpans {
    /// All.
    All,
    /// Those of which the file itself lacks something. Without leaves, that is not known: all.
    Lacking,
}

impl<'a> MendedContents<'a> {
    /// Reads the file and its copies until it is known that they have the contents together.
    ///
    /// `lacking` is what the file itself lacks, if that is known. Nothing else of it is read then.
    /// Otherwise it is set if leaves are kept.
    pub(super) fn find(
        target: &'a RepairTarget,
        own: Option<&'a Own>,
        copies: &'a [OpenCopy],
        lacking: &mut Option<ByteRanges>,
        stop: &AtomicBool,
        outcome: &mut RepairOutcome,
    ) -> Result<MendedContents<'a>, FileError> {
        let given = copies.iter().map(|copy| RepairSource::at(&copy.path)).collect();
        let contents = |how| MendedContents { target, own, copies, how, given };
        if let Some(kept) = leaves_of(target, stop) {
            let mut contents = contents(How::Pages { kept, lacking: lacking.take() });
            let tally = contents.mend_spans(WantedSpans::Lacking, stop, &mut |_| Ok(()));
            let tally = tally.map_err(system("read the copies"))?;
            outcome.pages = Some(tally.pages);
            outcome.damaged_pages = tally.damaged;
            contents.given = tally.given;
            *lacking = Some(tally.lacking.clone());
            if let How::Pages { lacking, .. } = &mut contents.how {
                *lacking = Some(tally.lacking);
            }
            return match tally.lost {
                0 => Ok(contents),
                lost => {
                    outcome.failure = Some(RepairFailure::NoCopy);
                    Err(refused(format!(
                        "{lost} of {} pages are damaged in the file and in no copy",
                        tally.pages
                    )))
                }
            };
        }
        let has = |copy: &OpenCopy| -> io::Result<bool> {
            let same_len = copy.length == target.tag.length;
            Ok(same_len && digest_matches(&copy.file, &target.tag, stop)?)
        };
        for (number, copy) in copies.iter().enumerate() {
            match has(copy) {
                Ok(true) => return Ok(contents(How::Whole(number))),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    return Err(FileError::from_io("read the copies", &error));
                }
                // A copy that cannot be read is none.
                Ok(false) | Err(_) => {}
            }
        }
        outcome.failure = Some(RepairFailure::NoCopy);
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
            How::Pages { .. } => {
                self.given.iter().filter(|given| given.pages > 0).cloned().collect()
            }
            How::Whole(number) => {
                let whole = 0..self.target.tag.length;
                vec![RepairSource { ranges: vec![whole], ..self.given[number].clone() }]
            }
        }
    }

    /// Says whether parts of the file itself are used.
    pub(super) fn uses_own(&self) -> bool {
        matches!(self.how, How::Pages { .. }) && self.own.is_some()
    }

    /// Passes contents to `sink`, span by span. What the file itself lacks is proved by its leaves
    /// again; what it has was proved before, and only the digest of the whole proves it again.
    ///
    /// # Errors
    /// Those of the sink; `InvalidData` if something that was there is gone meanwhile;
    /// `Interrupted` if it was stopped.
    pub(super) fn copy_to(
        &self,
        wanted: WantedSpans,
        stop: &AtomicBool,
        sink: &mut MendedSink<'_>,
    ) -> io::Result<()> {
        match self.how {
            How::Pages { .. } => match self.mend_spans(wanted, stop, sink)?.lost {
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

    /// Goes through the file span by span.
    fn mend_spans(
        &self,
        wanted: WantedSpans,
        stop: &AtomicBool,
        sink: &mut MendedSink<'_>,
    ) -> io::Result<Tally> {
        let How::Pages { kept, lacking } = &self.how else { unreachable!("only with leaves") };
        let pages = Pages { kept, params: kept.header().params(), lanes: fastest_lanes() };
        let length = self.target.tag.length;
        let given = self.copies.iter().map(|copy| RepairSource::at(&copy.path)).collect();
        let mut tally = Tally { given, ..Tally::default() };
        let mut buffer = AlignedBuffer::new(SPAN_LEN);
        let mut other = AlignedBuffer::new(SPAN_LEN);
        let mut offset = 0;
        while offset < length {
            go_on(stop)?;
            let end = length.min(offset + SPAN_LEN as u64);
            let bytes = &mut buffer[..(end - offset) as usize];
            tally.pages += pages.count(bytes.len()) as u64;
            let is_lacking = lacking.as_ref().is_none_or(|lacking| lacking.meets(&(offset..end)));
            // What cannot be read any more is looked for in the copies after all.
            let is_mended = match wanted {
                _ if is_lacking => self.mend(&pages, offset, bytes, &mut other, &mut tally)?,
                WantedSpans::All if self.read_own(offset, bytes) => false,
                WantedSpans::All => self.mend(&pages, offset, bytes, &mut other, &mut tally)?,
                WantedSpans::Lacking => {
                    offset = end;
                    continue;
                }
            };
            sink(MendedSpan { offset, bytes, is_mended })?;
            offset = end;
        }
        Ok(tally)
    }

    fn read_own(&self, offset: u64, bytes: &mut [u8]) -> bool {
        self.own.is_some_and(|own| {
            let source = Descriptor { file: &own.file, len_bytes: own.status.length };
            source.read_exact_at(bytes, offset).is_ok()
        })
    }

    /// Puts one span together, each page proved by its leaf. Returns whether the file itself lacks
    /// some of it.
    fn mend(
        &self,
        pages: &Pages<'_>,
        offset: u64,
        bytes: &mut [u8],
        other: &mut [u8],
        tally: &mut Tally,
    ) -> io::Result<bool> {
        let len = bytes.len();
        let leaves = pages.leaves(offset, len)?;
        let mut bad = match self.own {
            Some(own) => pages.bad(&own.file, own.status.length, offset, bytes, &leaves),
            None => vec![true; pages.count(len)],
        };
        let damaged = bad.iter().filter(|bad| **bad).count() as u64;
        for (number, copy) in self.copies.iter().enumerate() {
            if !bad.contains(&true) {
                break;
            }
            let other = &mut other[..len];
            let other_bad = pages.bad(&copy.file, copy.length, offset, other, &leaves);
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
        tally.damaged += damaged;
        tally.lost += bad.iter().filter(|bad| **bad).count() as u64;
        if damaged > 0 {
            tally.lacking.add(offset..offset + len as u64);
        }
        Ok(damaged > 0)
    }
}

/// Receives parts of the contents.
pub(super) type MendedSink<'a> = dyn FnMut(MendedSpan<'_>) -> io::Result<()> + 'a;

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
    /// The spans that have a page which the file itself lacks.
    lacking: ByteRanges,
}

/// How a file is cut into pages, and their leaves.
struct Pages<'a> {
    kept: &'a Kept,
    params: VerityParams,
    lanes: Lanes,
}

impl Pages<'_> {
    fn count(&self, len: usize) -> usize {
        len.div_ceil(self.params.page_len())
    }

    fn range(&self, page: usize, len: usize) -> std::ops::Range<usize> {
        let start = page * self.params.page_len();
        start..(start + self.params.page_len()).min(len)
    }

    /// Reads the kept leaves of the pages of a span.
    fn leaves(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let leaf_len = self.params.hash().digest_len();
        let mut leaves = vec![0; self.count(len) * leaf_len];
        let first = offset / self.params.page_len() as u64;
        self.kept.leaves().read_exact_at(&mut leaves, first * leaf_len as u64)?;
        Ok(leaves)
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
    let mut paths = [&target.relative].into_iter().chain(&target.former);
    let (_, kept) = paths.find_map(|path| {
        find(&target.tag, &target.root.join(path), folder.as_ref()).ok().flatten()
    })?;
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
