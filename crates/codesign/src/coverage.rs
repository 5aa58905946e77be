//! Maps which bytes of a file are covered by a digest, and what the other bytes are.
//!
//! The ranges together are the whole file. Bytes that no digest covers should be zero; if they are
//! not, something was added after signing. Whether the digests are right is not checked here.

use std::io;
use std::ops::Range;

use strum::IntoStaticStr;

use crate::apple::AppleError;
use crate::binary::{Binary, MachSlice};
use crate::fat::Container;
use crate::finding::{CodeFinding, FindingKind};
use crate::signature::Signature;
use crate::superblob::Slot;
use steadfast_sys::source::ReadAt;

/// Bytes read at a time.
const STEP_LEN: u64 = 64 << 10;

/// What covers a range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum RangeCover {
    /// A digest of a code directory: of a page, or of what a slot binds.
    Sealed,
    /// It is a code directory, whose hash is the name of the code and what a signer signs; or the
    /// CMS signature.
    Signed,
    /// It belongs to a slice that has no signature, or none that can be read.
    Unsigned,
    /// Not covered by design: headers that say where things are, and a ticket, which is added after
    /// signing.
    Structure,
    /// Nothing covers it, and all of it is zero.
    UnsealedZero,
    /// Nothing covers it, and it is not all zero.
    Unsealed,
}

/// A range of bytes, with what covers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredRange {
    /// The bytes of the file, end excluded.
    pub bytes: Range<u64>,
    /// What covers them.
    pub cover: RangeCover,
    /// What they are: `pages`, `code directory`, `gap before the slice`…
    pub what: String,
    /// The slice they belong to, by the name of its architecture.
    pub slice: Option<String>,
}

/// Which bytes of a file are covered by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Ranges in order, without gaps: together the file.
    pub ranges: Vec<CoveredRange>,
}

impl RangeCover {
    /// Returns the name in documents.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Coverage {
    /// Maps a file. Only bytes that no digest covers are read.
    ///
    /// # Errors
    /// Whatever the source says.
    pub fn of(source: &dyn ReadAt, binary: &Binary) -> io::Result<Coverage> {
        let mut map = CoverageMap { ranges: Vec::new() };
        if binary.container != Container::Thin {
            let end = binary.index_len_bytes();
            map.push(0..end, RangeCover::Structure, "index of slices", None);
        }
        for slice in &binary.slices {
            map.slice(slice);
        }
        map.finish(source, binary.len_bytes)
    }

    /// Returns how many bytes have a cover.
    pub fn len_bytes(&self, cover: RangeCover) -> u64 {
        let ranges = self.ranges.iter().filter(|range| range.cover == cover);
        ranges.map(|range| range.bytes.end - range.bytes.start).sum()
    }

    /// Returns a finding for each range that no digest covers and that is not zero.
    ///
    /// Apple's strict check reports such bytes around slices, but not inside the space for a
    /// signature.
    pub fn findings(&self) -> Vec<CodeFinding> {
        let unsealed = self.ranges.iter().filter(|range| range.cover == RangeCover::Unsealed);
        let findings = unsealed.map(|range| {
            let len = range.bytes.end - range.bytes.start;
            let mut text = format!("{len} bytes that are not zero and not sealed: {}", range.what);
            if range.what == AFTER_CONTAINER {
                text += COMMON;
            }
            let finding = CodeFinding::warning(FindingKind::Unsealed, text);
            let finding = match range.what.as_str() {
                AFTER_CONTAINER | INSIDE_SLICE => finding,
                _ => finding.apple(AppleError::BadMainExecutable),
            };
            finding.at(|place| {
                place.slice.clone_from(&range.slice);
                place.bytes = Some(range.bytes.clone());
            })
        });
        findings.collect()
    }
}

/// What it means that the room for a signature is not all zero.
const COMMON: &str = "; common, since signing tools do not clear it, but anybody could put bytes \
                      there that the code itself could read";

const AFTER_CONTAINER: &str = "room after the signature";
const INSIDE_SLICE: &str = "gap inside the slice";

/// Ranges in the order they were found, with gaps.
struct CoverageMap {
    ranges: Vec<CoveredRange>,
}

impl CoverageMap {
    fn push(&mut self, bytes: Range<u64>, cover: RangeCover, what: &str, slice: Option<&str>) {
        let (what, slice) = (what.to_owned(), slice.map(str::to_owned));
        self.ranges.push(CoveredRange { bytes, cover, what, slice });
    }

    /// Adds the ranges of a slice. The rest of it becomes gaps.
    fn slice(&mut self, slice: &MachSlice) {
        let name = slice.architecture.to_string();
        let end = slice.offset.saturating_add(slice.len_bytes);
        let Some(signature) = &slice.signature else {
            let what = "slice without a signature";
            self.push(slice.offset..end, RangeCover::Unsigned, what, Some(&name));
            return;
        };
        let limits = signature.directories().iter().map(|directory| directory.code_limit());
        let limit = limits.min().unwrap_or(0).min(slice.len_bytes);
        self.push(slice.offset..slice.offset + limit, RangeCover::Sealed, "pages", Some(&name));
        self.signature(signature, &name);
        // Bytes after the signature have a name of their own.
        let room_end = signature.offset + signature.len_bytes;
        if room_end < end {
            self.push(room_end..end, RangeCover::Unsealed, "end of the slice", Some(&name));
        }
    }

    fn signature(&mut self, signature: &Signature, slice: &str) {
        let at = |offset: usize| signature.offset + offset as u64;
        let superblob = &signature.superblob;
        let entries = superblob.entries();
        let index_end = entries.iter().map(|entry| entry.range.start).min();
        let counted = superblob.index_len_bytes();
        let index_end = index_end.unwrap_or(counted).min(counted);
        self.push(
            at(0)..at(index_end),
            RangeCover::Structure,
            "index of the signature",
            Some(slice),
        );
        for entry in entries {
            let is_bound = |slot| {
                let mut directories = signature.directories().iter();
                directories.any(|directory| directory.special_digest(slot).is_some())
            };
            let cover = match entry.slot {
                Slot::CMS => RangeCover::Signed,
                Slot::TICKET => RangeCover::Structure,
                slot if slot.is_directory() => RangeCover::Signed,
                slot if is_bound(slot) => RangeCover::Sealed,
                _ => RangeCover::Unsealed,
            };
            let what = entry.slot.name().unwrap_or("unknown blob");
            self.push(at(entry.range.start)..at(entry.range.end), cover, what, Some(slice));
        }
        let (start, end) = (at(superblob.bytes().len()), signature.offset + signature.len_bytes);
        if start < end {
            self.push(start..end, RangeCover::Unsealed, AFTER_CONTAINER, Some(slice));
        }
    }

    /// Sorts the ranges, names the gaps, and reads what nothing covers.
    fn finish(mut self, source: &dyn ReadAt, len_bytes: u64) -> io::Result<Coverage> {
        self.ranges.sort_by_key(|range| (range.bytes.start, range.bytes.end));
        let mut ranges = Vec::new();
        let mut end = 0;
        for mut next in self.ranges {
            // Slices that overlap are cut: each byte is counted once.
            next.bytes = next.bytes.start.max(end).min(len_bytes)..next.bytes.end.min(len_bytes);
            if next.bytes.is_empty() {
                continue;
            }
            if end < next.bytes.start {
                let found = gap_of(end..next.bytes.start, ranges.last(), Some(&next));
                split_uncovered(source, found, &mut ranges)?;
            }
            end = next.bytes.end;
            match next.cover {
                RangeCover::Unsealed => split_uncovered(source, next, &mut ranges)?,
                _ => ranges.push(next),
            }
        }
        if end < len_bytes {
            let found = gap_of(end..len_bytes, ranges.last(), None);
            split_uncovered(source, found, &mut ranges)?;
        }
        Ok(Coverage { ranges })
    }
}

/// Names a gap by the ranges on both sides of it.
fn gap_of(
    bytes: Range<u64>,
    before: Option<&CoveredRange>,
    after: Option<&CoveredRange>,
) -> CoveredRange {
    let slice_of = |side: Option<&CoveredRange>| side.and_then(|side| side.slice.clone());
    let (before, after) = (slice_of(before), slice_of(after));
    let (what, slice) = match (before, after) {
        (Some(before), Some(after)) if before == after => (INSIDE_SLICE, Some(before)),
        (_, None) => ("end of the file, after everything", None),
        (_, after) => ("gap before the slice", after),
    };
    CoveredRange { bytes, cover: RangeCover::Unsealed, what: what.to_owned(), slice }
}

/// Reads a range that nothing covers, and splits zeros off its start and its end.
fn split_uncovered(
    source: &dyn ReadAt,
    range: CoveredRange,
    ranges: &mut Vec<CoveredRange>,
) -> io::Result<()> {
    let mut found: Option<Range<u64>> = None;
    let mut buffer = vec![0; STEP_LEN.min(range.bytes.end - range.bytes.start) as usize];
    let mut start = range.bytes.start;
    while start < range.bytes.end {
        let len = STEP_LEN.min(range.bytes.end - start) as usize;
        source.read_exact_at(&mut buffer[..len], start)?;
        let not_zero = |byte: &u8| *byte != 0;
        if let Some(first) = buffer[..len].iter().position(not_zero) {
            let last = buffer[..len].iter().rposition(not_zero).unwrap_or(first);
            let earliest = found.map_or(start + first as u64, |found| found.start);
            found = Some(earliest..start + last as u64 + 1);
        }
        start += len as u64;
    }
    let Range { start, end } = range.bytes;
    let something = found.unwrap_or(end..end);
    let parts = [
        (start..something.start, RangeCover::UnsealedZero),
        (something.clone(), RangeCover::Unsealed),
        (something.end..end, RangeCover::UnsealedZero),
    ];
    for (bytes, cover) in parts.into_iter().filter(|(bytes, _)| !bytes.is_empty()) {
        ranges.push(CoveredRange { bytes, cover, ..range.clone() });
    }
    Ok(())
}
