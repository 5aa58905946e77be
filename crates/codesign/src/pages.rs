//! The verdict on the bytes: checks every page of every code directory, and every special slot.
//!
//! Pages are read once for all directories. The check goes on after the first damaged page.

mod lanes;
mod plan;
mod read;
mod slots;

use std::num::NonZeroUsize;
use std::ops::Range;

use strum::IntoStaticStr;

use steadfast_digest::Lanes;

use crate::apple::AppleError;
use crate::binary::MachSlice;
use crate::directory::CodeDirectory;
use crate::error::Error;
use crate::finding::{CodeFinding, FindingKind, FindingPlace, Severity};
use crate::hash::{CdHash, HashType};
use crate::macho::{MachO, MachSegment};
use crate::signature::Signature;
use crate::superblob::Slot;
use steadfast_sys::source::ReadAt;

pub(crate) use lanes::lanes_for;

/// How many damaged ranges of one directory become findings, since a finding takes a hundred times
/// the memory of a range. One more finding says that there are others.
const RANGE_FINDINGS_MAX: usize = 1000;

/// Which pages to check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PageChoice {
    /// All of them.
    #[default]
    All,
    /// Those of a range, counted from 0, end excluded; in the pages of the chosen directory.
    Pages(Range<u64>),
    /// The one that holds a byte of the file; none if the byte belongs to something else.
    Offset(u64),
    /// This many, evenly spread over the sealed range. With 0, only form and slots are checked.
    Sample(u64),
}

/// How to check.
#[derive(Clone, Copy, Debug)]
pub struct PageCheckOptions {
    /// How many threads hash.
    pub workers: NonZeroUsize,
    /// The kernels that hash pages of SHA-256; `None` for those that prove fastest when tried.
    pub lanes: Option<Lanes>,
}

impl Default for PageCheckOptions {
    /// One thread, and the kernels that suit this processor.
    fn default() -> PageCheckOptions {
        PageCheckOptions { workers: NonZeroUsize::MIN, lanes: None }
    }
}

/// Each further thread needs at least this many bytes: starting it and waiting for it takes as long
/// as hashing half a mebibyte.
const WORKER_LEN: u64 = 2 << 20;

impl PageCheckOptions {
    /// Returns how many threads to use for a part of this length.
    pub(crate) fn workers_for(&self, len_bytes: u64) -> NonZeroUsize {
        let useful = usize::try_from(len_bytes / WORKER_LEN).unwrap_or(usize::MAX);
        NonZeroUsize::new(useful.min(self.workers.get())).unwrap_or(NonZeroUsize::MIN)
    }
}

/// The data outside of the code that its slots bind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// Whether the code is the main executable of a bundle.
    ///
    /// If not, `Info.plist` is the section `__TEXT,__info_plist`, if there is one.
    pub in_bundle: bool,
    /// The bytes of `Info.plist`, in a bundle.
    pub info_plist: Option<&'a [u8]>,
    /// The bytes of `CodeResources`, in a bundle.
    pub resources: Option<&'a [u8]>,
    /// The trailer of a disk image, with the signature's length zeroed.
    pub container: Option<&'a [u8]>,
}

/// The state of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum BytesState {
    /// Everything that was checked is as it was sealed.
    Intact,
    /// Form and slots are as they were sealed; no page was read.
    Unread,
    /// Something is not as it was sealed, or the seal contradicts itself.
    Damaged,
    /// There is no signature.
    Unsigned,
    /// The signature has a form that cannot be checked, or bytes could not be read.
    Unverifiable,
}

/// The state of one special slot of one directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum SlotState {
    /// Its contents have the sealed digest.
    Intact,
    /// Its contents have another digest.
    Damaged,
    /// Its contents are missing.
    Missing,
    /// Its contents exist, and the directory does not bind them.
    Unbound,
    /// Its contents were not given to the check.
    Unchecked,
    /// Its contents exist, and cannot be read.
    Unreadable,
}

/// One special slot of one directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotCheck {
    /// The directory.
    pub directory: Slot,
    /// The slot.
    pub slot: Slot,
    /// Its state.
    pub state: SlotState,
}

/// The result for one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryCheck {
    /// The directory.
    pub directory: Slot,
    /// Its hash type.
    pub hash: HashType,
    /// Its CDHash.
    pub cdhash: CdHash,
    /// How many pages were checked.
    pub pages_checked: u64,
    /// How many pages it seals.
    pub pages_total: u64,
    /// How many of those checked are damaged.
    pub pages_damaged: u64,
    /// How many of those asked for could not be read.
    pub pages_unreadable: u64,
}

/// A range of pages that do not have their sealed digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedPages {
    /// The directory.
    pub directory: Slot,
    /// The pages, end excluded.
    pub pages: Range<u64>,
    /// The bytes of the file, end excluded.
    pub bytes: Range<u64>,
    /// Segment and section of the first byte, such as `__TEXT,__text`.
    pub section: Option<String>,
}

/// The verdict on the bytes of one slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytesVerdict {
    /// In one word.
    pub state: BytesState,
    /// Each directory.
    pub directories: Vec<DirectoryCheck>,
    /// Each special slot of each directory.
    pub slots: Vec<SlotCheck>,
    /// Damaged pages as ranges, in the order of directories, then pages.
    pub damage: Vec<DamagedPages>,
    /// All that was found, damaged pages included.
    pub findings: Vec<CodeFinding>,
    /// How many bytes of code were read.
    pub read_bytes: u64,
}

/// The input of a check: a signature, and the part of a file it seals.
#[derive(Clone, Copy)]
pub struct Sealed<'a> {
    /// The whole file.
    pub source: &'a dyn ReadAt,
    /// Where the sealed part begins in the file.
    pub offset: u64,
    /// How long the part is, its signature included.
    pub len_bytes: u64,
    /// The signature.
    pub signature: &'a Signature,
    /// The load commands, if it is Mach-O.
    pub macho: Option<&'a MachO>,
}

impl MachSlice {
    /// Returns the input of a check of the slice; `None` if it has no readable signature.
    pub fn sealed<'a>(&'a self, source: &'a dyn ReadAt) -> Option<Sealed<'a>> {
        let (offset, len_bytes, macho) = (self.offset, self.len_bytes, self.macho.as_ref());
        let signature = self.signature.as_ref()?;
        Some(Sealed { source, offset, len_bytes, signature, macho })
    }

    /// Checks the bytes of the slice; one without a signature is `Unsigned`.
    ///
    /// # Errors
    /// `Usage` if the slice does not have the pages asked for.
    pub fn check_bytes(
        &self,
        source: &dyn ReadAt,
        surroundings: &Surroundings<'_>,
        pages: &PageChoice,
        options: &PageCheckOptions,
    ) -> Result<BytesVerdict, Error> {
        let mut verdict = match self.sealed(source) {
            Some(sealed) => sealed.check_bytes(surroundings, pages, options)?,
            None if self.is_unsigned() => BytesVerdict::unsigned(),
            None => BytesVerdict::unreadable(),
        };
        verdict.findings.splice(0..0, self.findings.iter().cloned());
        let name = self.architecture.to_string();
        for finding in &mut verdict.findings {
            finding.place.slice.get_or_insert_with(|| name.clone());
        }
        verdict.settle();
        Ok(verdict)
    }
}

impl BytesVerdict {
    fn new() -> BytesVerdict {
        BytesVerdict {
            state: BytesState::Intact,
            directories: Vec::new(),
            slots: Vec::new(),
            damage: Vec::new(),
            findings: Vec::new(),
            read_bytes: 0,
        }
    }

    /// The verdict on bytes that no signature seals.
    pub(crate) fn unsigned() -> BytesVerdict {
        let error = AppleError::Unsigned;
        let finding = CodeFinding::failure(FindingKind::Unsigned, error, "there is no signature");
        let (state, findings) = (BytesState::Unsigned, vec![finding]);
        BytesVerdict { state, findings, ..BytesVerdict::new() }
    }

    /// The verdict on bytes whose signature cannot be read; other findings say why.
    pub(crate) fn unreadable() -> BytesVerdict {
        BytesVerdict { state: BytesState::Unverifiable, ..BytesVerdict::new() }
    }

    /// The verdict on a package, by what was found when it was read.
    pub(crate) fn of_package(
        findings: Vec<CodeFinding>,
        is_signed: bool,
        read_bytes: u64,
    ) -> BytesVerdict {
        let mut verdict = match is_signed {
            true => BytesVerdict::new(),
            false => BytesVerdict::unsigned(),
        };
        verdict.findings.extend(findings);
        verdict.read_bytes = read_bytes;
        verdict.settle_from(BytesState::Intact);
        verdict
    }

    /// Derives the state from the findings and the pages.
    fn settle(&mut self) {
        let pages_total: u64 = self.directories.iter().map(|found| found.pages_total).sum();
        self.settle_from(match self.pages_checked() {
            // Without a directory there was nothing to check.
            _ if self.directories.is_empty() => BytesState::Unverifiable,
            0 if pages_total > 0 => BytesState::Unread,
            _ => BytesState::Intact,
        });
    }

    fn settle_from(&mut self, good: BytesState) {
        let states = self.findings.iter().map(|found| match (found.severity, found.kind) {
            // An unbound slot says nothing about what is sealed.
            (Severity::Note | Severity::Warning, _) | (_, FindingKind::SlotUnbound) => {
                BytesState::Intact
            }
            (Severity::Unverified, _) => BytesState::Unverifiable,
            (Severity::Failure, FindingKind::Unsigned) => BytesState::Unsigned,
            (Severity::Failure, _) => BytesState::Damaged,
        });
        // Damage outweighs what could not be checked.
        let rank = |state: &BytesState| match state {
            BytesState::Intact | BytesState::Unread => 0,
            BytesState::Unsigned => 1,
            BytesState::Unverifiable => 2,
            BytesState::Damaged => 3,
        };
        let bad = states.max_by_key(rank).filter(|state| *state != BytesState::Intact);
        self.state = bad.unwrap_or(good);
    }

    /// Makes slots that were not checked unverified, as strict checking does.
    pub(crate) fn refuse_unchecked(&mut self) {
        let unchecked = |found: &&mut CodeFinding| found.kind == FindingKind::SlotUnchecked;
        for finding in self.findings.iter_mut().filter(unchecked) {
            finding.severity = Severity::Unverified;
        }
        self.settle();
    }

    /// Returns how many pages were checked, counted for each directory.
    pub fn pages_checked(&self) -> u64 {
        self.directories.iter().map(|directory| directory.pages_checked).sum()
    }

    /// Returns whether every page of every directory was checked.
    pub fn is_complete(&self) -> bool {
        self.directories.iter().all(|directory| directory.pages_checked == directory.pages_total)
    }
}

impl Sealed<'_> {
    /// Checks the bytes.
    ///
    /// # Errors
    /// `Usage` if the pages asked for do not exist.
    pub(crate) fn check_bytes(
        &self,
        surroundings: &Surroundings<'_>,
        pages: &PageChoice,
        options: &PageCheckOptions,
    ) -> Result<BytesVerdict, Error> {
        let wanted = plan::wanted(self, pages)?;
        let mut verdict = BytesVerdict::new();
        verdict.findings.extend(self.signature.findings.iter().cloned());
        for directory in self.signature.directories() {
            let found = self.find_in_form(directory);
            verdict.findings.extend(found);
        }
        slots::check(self, surroundings, &mut verdict);
        let outcome = read::check(self, &wanted, options);
        verdict.read_bytes = outcome.read_bytes;
        for (directory, of_directory) in
            self.signature.directories().iter().zip(outcome.directories)
        {
            self.add_directory(directory, of_directory, &mut verdict);
        }
        verdict.settle();
        Ok(verdict)
    }

    /// Returns where in the part the signature begins: what the sealed range should end at.
    pub(crate) fn signature_start(&self) -> u64 {
        self.signature.offset.saturating_sub(self.offset)
    }

    /// Finds problems of a directory's form, before any page is read.
    fn find_in_form(&self, directory: &CodeDirectory) -> Vec<CodeFinding> {
        let mut findings = Vec::new();
        let (limit, start) = (directory.code_limit(), self.signature_start());
        if limit != start {
            let text =
                format!("{limit} bytes are sealed, but the signature begins after {start} bytes");
            let error = AppleError::SignatureInvalid;
            findings.push(CodeFinding::failure(FindingKind::CodeLimit, error, text));
        }
        let (count, expected) = (directory.page_count(), directory.page_count_expected());
        if count != expected {
            let text = format!("there are digests for {count} pages, but {expected} pages");
            let error = AppleError::SignatureFailed;
            findings.push(CodeFinding::failure(FindingKind::PageCount, error, text));
        }
        if directory.has_scatter() {
            let text = "pages are scattered: their digests are not those of the file's pages";
            let error = AppleError::SignatureUnsupported;
            findings.push(CodeFinding::unverified(FindingKind::Scatter, error, text));
        }
        findings.extend(self.beyond_limit(limit));
        for finding in &mut findings {
            finding.place.directory = Some(directory.slot());
        }
        findings
    }

    /// Finds segments with bytes that no page covers: code that is loaded and not sealed. Only
    /// `__LINKEDIT` may extend beyond the sealed range, over the space for the signature.
    fn beyond_limit(&self, limit: u64) -> Vec<CodeFinding> {
        let room_end = self.signature_start().saturating_add(self.signature.len_bytes);
        let segments = self.macho.map_or(&[][..], |macho| &macho.segments);
        let beyond = segments.iter().filter(|segment| {
            let end = if segment.name == "__LINKEDIT" { room_end.max(limit) } else { limit };
            !segment.range.is_empty() && segment.range.end > end
        });
        let finding = |segment: &MachSegment| {
            let text = format!("segment {} reaches beyond the sealed range", segment.name);
            let finding =
                CodeFinding::failure(FindingKind::CodeLimit, AppleError::SignatureFailed, text);
            let start = self.offset.saturating_add(segment.range.start.max(limit));
            let end = self.offset.saturating_add(segment.range.end);
            finding.at(|place| place.bytes = Some(start..end))
        };
        beyond.map(finding).collect()
    }

    /// Adds the results for the pages of one directory.
    fn add_directory(
        &self,
        directory: &CodeDirectory,
        found: read::DirectoryPages,
        verdict: &mut BytesVerdict,
    ) {
        let count =
            |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum();
        verdict.directories.push(DirectoryCheck {
            directory: directory.slot(),
            hash: directory.hash_type(),
            cdhash: directory.cdhash(),
            pages_checked: found.checked,
            pages_total: directory.page_count(),
            pages_damaged: count(&found.damaged),
            pages_unreadable: count(&found.unreadable),
        });
        for (index, pages) in found.damaged.into_iter().enumerate() {
            let damage = self.damaged(directory, pages);
            if index < RANGE_FINDINGS_MAX {
                let text = format!("{} damaged", pages_text(&damage.pages));
                let error = AppleError::SignatureFailed;
                let finding = CodeFinding::failure(FindingKind::PageDamaged, error, text);
                verdict.findings.push(finding.at(|place| damage.set(place)));
            } else if index == RANGE_FINDINGS_MAX {
                let text = "there are more damaged pages";
                let error = AppleError::SignatureFailed;
                let finding = CodeFinding::failure(FindingKind::PageDamaged, error, text);
                verdict.findings.push(finding.at(|place| place.directory = Some(directory.slot())));
            }
            verdict.damage.push(damage);
        }
        for pages in found.unreadable.into_iter().take(RANGE_FINDINGS_MAX) {
            let damage = self.damaged(directory, pages);
            let text = format!("{} not readable", pages_text(&damage.pages));
            let error = AppleError::SignatureNotVerifiable;
            let finding = CodeFinding::unverified(FindingKind::Unreadable, error, text);
            verdict.findings.push(finding.at(|place| damage.set(place)));
        }
    }

    /// Locates pages in the file.
    fn damaged(&self, directory: &CodeDirectory, pages: Range<u64>) -> DamagedPages {
        let start = directory.page_range(pages.start).start;
        let end = directory.page_range(pages.end - 1).end;
        DamagedPages {
            directory: directory.slot(),
            pages,
            bytes: self.offset + start..self.offset + end,
            section: self.macho.and_then(|macho| macho.locate(start)),
        }
    }
}

impl DamagedPages {
    fn set(&self, place: &mut FindingPlace) {
        place.directory = Some(self.directory);
        place.pages = Some(self.pages.clone());
        place.bytes = Some(self.bytes.clone());
        place.section = self.section.clone();
    }
}

fn pages_text(pages: &Range<u64>) -> String {
    match pages.end - pages.start {
        1 => format!("page {} is", pages.start),
        _ => format!("pages {} to {} are", pages.start, pages.end - 1),
    }
}
