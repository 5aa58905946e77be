//! Repairs damaged and missing files from other copies of them.
//!
//! Input: what a check finds, and where copies are ([`Copies`]). Output: for each file, what its
//! copies can give, or the file as it was tagged ([`repair_files`]). The parity of the tree gives
//! what the file and its copies lack. The tag alone decides what a file should be: pages are
//! accepted by the leaves kept for it, and nothing replaces a file unless the whole has the length
//! and the digest of the tag.
//!
//! The damaged file is kept until [`discard`] removes it.

mod gone;
mod target;
mod remembered;
mod copies;
mod parities;
mod mend;
mod journal;
mod tag_back;
mod unfinished;
mod links;
mod originals;
mod sparse;
mod records;
mod replace;
mod missing_link;
mod in_place;
mod cut_off;
mod files;
mod prospect;
mod mender;
mod names_back;

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use steadfast_sys::file::{Status, Timestamp};
use strum::{IntoStaticStr, VariantArray};

pub use copies::Copies;
pub use files::{
    RepairMode, RepairMonitor, RepairRequest, RepairSummary, mend_proved, repair_files,
    restore_previous,
};
pub use originals::{discard, discard_unfinished};
pub use remembered::CopyList;
pub use target::{LeftAlone, RepairTarget};

pub(crate) use copies::Own;
pub(crate) use cut_off::{
    end as end_unfinished, ensure_finished, notices_of_cut_off as unfinished_repairs,
};
pub(crate) use mend::digest_matches;
pub(crate) use mender::{MendedCopy, Mender, judge_contents};
pub(crate) use names_back::{
    NamedAgain, clear_marks, give_name_back, give_names_back, mark, renew, unmark,
};
pub(crate) use originals::Originals;
pub(crate) use prospect::check;
pub(crate) use records::MissingRecords;
pub(crate) use replace::{
    FolderTime, MadeFolders, draft_for, exchange, give_all, give_known, make_directory,
    make_private, read_back,
};
pub(crate) use sparse::{SparseWriter, ensure_room};

use mend::MendedContents;
use parities::Parities;

use crate::advice::Advice;
pub use crate::belongings::Withheld;
pub use crate::catalogue::RepairSource;
use crate::event::FileError;
use crate::verdict::Verdict;

/// Why a file cannot be repaired, or was not. The first are about the drive and the moment: the
/// contents are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum RepairFailure {
    /// The file system has no room for the repaired file.
    NoRoom,
    /// The file system can only be read.
    ReadOnly,
    /// The rights do not allow it.
    NotPermitted,
    /// What gives the contents is gone since it was found.
    SourceGone,
    /// The file, or what gives the contents, changed meanwhile.
    Changed,
    /// It was stopped.
    Stopped,
    /// Nothing that was searched has the contents.
    NoCopy,
    /// Anything else, which the error says.
    Other,
}

impl RepairFailure {
    /// Every reason.
    pub const ALL: &[RepairFailure] = RepairFailure::VARIANTS;

    /// Returns its name, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the reason that an error is.
    fn of(error: &FileError) -> RepairFailure {
        match error.kind {
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => RepairFailure::NoRoom,
            Some(ErrorKind::ReadOnlyFilesystem) => RepairFailure::ReadOnly,
            Some(ErrorKind::PermissionDenied) => RepairFailure::NotPermitted,
            Some(ErrorKind::NotFound) => RepairFailure::SourceGone,
            Some(ErrorKind::InvalidData) => RepairFailure::Changed,
            Some(ErrorKind::Interrupted) => RepairFailure::Stopped,
            _ => RepairFailure::Other,
        }
    }
}

/// What the copies of a file can give, or gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairOutcome {
    /// Pages of the file, if leaves are kept for its tag.
    pub pages: Option<u64>,
    /// Pages that are damaged, missing or unreadable in the file itself.
    pub damaged_pages: u64,
    /// What gives contents of the file, apart from the file itself.
    pub sources: Vec<RepairSource>,
    /// Other names of the file (hard links), beneath the root. They were repaired with it. Before
    /// that, those that its catalogue knows.
    pub other_names: Vec<PathBuf>,
    /// Whether the contents are those of its tag, and the tag alone is or can be given back.
    pub tag_alone: bool,
    /// What belonged to the file, or to a folder that was made for it, and was not given back.
    pub withheld: Vec<Withheld>,
    /// When the latest of the copies was last modified, if the file may have been edited.
    pub copy_mtime: Option<Timestamp>,
    /// Why the file cannot be repaired, or was not.
    pub fault: Option<FileError>,
    /// What kind of reason that is.
    pub failure: Option<RepairFailure>,
    /// The status of the repaired file, whose contents were read back and proved.
    proved: Option<Status>,
}

impl RepairOutcome {
    /// Says whether the file can be repaired, or was.
    pub fn is_good(&self) -> bool {
        self.fault.is_none()
    }
}

/// Says what the copies of a file can give. Reads them and writes nothing.
fn plan(
    target: &RepairTarget,
    request: &RepairRequest,
    parities: &mut Parities,
    stop: &AtomicBool,
) -> RepairOutcome {
    carry_out(target, request, parities, None, stop)
}

/// Repairs a file, if its copies give all that it lacks. Otherwise it is left untouched.
fn repair(
    target: &RepairTarget,
    request: &RepairRequest,
    parities: &mut Parities,
    originals: &Originals,
    stop: &AtomicBool,
) -> RepairOutcome {
    carry_out(target, request, parities, Some(originals), stop)
}

fn carry_out(
    target: &RepairTarget,
    request: &RepairRequest,
    parities: &mut Parities,
    originals: Option<&Originals>,
    stop: &AtomicBool,
) -> RepairOutcome {
    let outcome = RepairOutcome::default();
    let mut repair = FileRepair { target, request, originals, stop, outcome };
    let done = repair.carry_out(parities);
    let mut outcome = repair.outcome;
    if !target.verdict.is_damage() {
        let copies = outcome.sources.iter().filter_map(|it| Status::of(&it.path).ok());
        outcome.copy_mtime = copies.map(|status| status.mtime).max();
    }
    if let (Ok(_), Some(originals)) = (&done, originals) {
        originals.note_repaired(&target.relative);
    }
    match done {
        Ok(proved) => (outcome.proved, outcome.failure) = (proved, None),
        Err(fault) => {
            let of_fault = Some(RepairFailure::of(&fault)).filter(|it| *it != RepairFailure::Other);
            let failure = of_fault.or(outcome.failure).unwrap_or(RepairFailure::Other);
            (outcome.failure, outcome.fault) = (Some(failure), Some(fault));
        }
    }
    outcome
}

/// One file on its way through a repair, or through the plan of one.
struct FileRepair<'a> {
    target: &'a RepairTarget,
    request: &'a RepairRequest,
    /// `None` for a plan, which writes nothing.
    originals: Option<&'a Originals>,
    stop: &'a AtomicBool,
    outcome: RepairOutcome,
}

impl FileRepair<'_> {
    /// Returns the status of the repaired file, if that can be told.
    fn carry_out(&mut self, parities: &mut Parities) -> Result<Option<Status>, FileError> {
        let (target, request) = (self.target, self.request);
        if let Some(own) = Own::open(target)? {
            self.outcome.other_names = own.other_names(target);
            return match self.without_contents(&own)? {
                ControlFlow::Break(status) => Ok(status),
                ControlFlow::Continue(()) => {
                    self.with_contents(Some(&own), parities, &mut |repair, contents| {
                        repair.finish(Some(&own), None, contents)
                    })
                }
            };
        }
        let records = MissingRecords::of_missing(target, request, parities);
        records.ensure_mounted(&target.relative)?;
        match missing_link::link(target, &records, self.originals, self.stop)? {
            Some(linked) => {
                self.outcome.sources = vec![linked.source];
                self.outcome.withheld = linked.withheld;
                Ok(linked.status)
            }
            None => self.with_contents(None, parities, &mut |repair, contents| {
                repair.finish(None, Some(&records), contents)
            }),
        }
    }

    /// Repairs a file that is there, if it needs no contents: it is repaired already, or lacks its
    /// tag alone. Refuses one that may not be replaced.
    fn without_contents(&mut self, own: &Own) -> Result<ControlFlow<Option<Status>>, FileError> {
        let (target, stop) = (self.target, self.stop);
        if !target.is_as_checked(&own.status) {
            // Repaired in place under another of its names, perhaps.
            return match in_place::is_repaired(target, own, stop)? {
                true => Ok(ControlFlow::Break(Some(own.status))),
                false => Err(changed("it was changed since it was checked")),
            };
        }
        if target.lacks_tag && tag_back::has_contents(target, own, stop)? {
            self.outcome.tag_alone = true;
            let give = |_| tag_back::give_tag_back(target, own);
            return self.originals.map_or(Ok(()), give).map(|()| ControlFlow::Break(None));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Puts the contents together from what is left of the file, its copies and parity.
    fn with_contents<T>(
        &mut self,
        own: Option<&Own>,
        parities: &mut Parities,
        finish: &mut dyn FnMut(&mut Self, &MendedContents<'_>) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        let (target, stop) = (self.target, self.stop);
        let mut copies = self.request.copies.open(target, own);
        let mut lacking = target.damage.clone().filter(|_| own.is_some());
        let outcome = &mut self.outcome;
        let lack = match MendedContents::find(target, own, &copies, &mut lacking, stop, outcome) {
            Ok(contents) => return finish(self, &contents),
            Err(lack) => lack,
        };
        // Without leaves, only a whole copy can be proved.
        let wanted = lacking.as_ref().filter(|_| self.outcome.pages.is_some());
        let Some(rebuilt) = parities.copy_of(target, own, wanted, stop)? else {
            let is_there = matches!(target.verdict, Verdict::Corrupt | Verdict::Suspect);
            let accept = || Advice::AcceptAsIs(target.path.clone());
            return Err(if is_there { lack.advise(accept()) } else { lack });
        };
        copies.push(rebuilt);
        let outcome = &mut self.outcome;
        let contents = MendedContents::find(target, own, &copies, &mut lacking, stop, outcome)?;
        finish(self, &contents)
    }

    /// Writes the contents into the file or in its place, unless this is a plan.
    fn finish(
        &mut self,
        own: Option<&Own>,
        records: Option<&MissingRecords>,
        contents: &MendedContents<'_>,
    ) -> Result<Option<Status>, FileError> {
        let (target, stop) = (self.target, self.stop);
        self.outcome.sources = contents.sources();
        let Some(originals) = self.originals else { return Ok(None) };
        let Some(own) = own else {
            let none = MissingRecords::default();
            let records = records.unwrap_or(&none);
            let (status, withheld) =
                replace::make_missing(target, records, contents, originals, stop)?;
            self.outcome.withheld.extend(withheld);
            self.outcome.withheld.extend(missing_link::lost_links(target, records));
            return Ok(status);
        };
        // Replacing a file would part its names.
        if !self.request.in_place && own.status.links < 2 {
            return replace::replace(target, own, contents, originals, stop);
        }
        let (mut names, status) =
            in_place::replace_in_place(target, own, contents, originals, stop)?;
        names.retain(|name| *name != target.relative);
        names.sort();
        self.outcome.other_names = names;
        if !target.lacks_tag {
            return Ok(status);
        }
        let mended = Own::open(target)?.ok_or_else(|| changed("it is gone meanwhile"))?;
        tag_back::give_tag_back(target, &mended)?;
        Ok(mended.file.status().ok())
    }
}

/// What is said of a file that a program wrote to while it was replaced; the path follows.
pub(crate) const WRITTEN_SINCE: &str = "another program has the replaced file open, or wrote to \
                                        it since: what it writes is not in the repaired file, but \
                                        in";

/// Makes the error of a file that cannot be repaired for a reason of ours.
pub(crate) fn refused(reason: impl Into<String>) -> FileError {
    FileError::new("repair it", reason.into())
}

/// Makes the error of a file that is not as it was when it was looked at.
pub(crate) fn changed(reason: impl Into<String>) -> FileError {
    FileError { kind: Some(ErrorKind::InvalidData), ..refused(reason) }
}

/// Makes the error of a failed system call. `operation` is an infinitive.
pub(crate) fn system(operation: &'static str) -> impl Fn(std::io::Error) -> FileError {
    move |error| FileError::from_io(operation, &error)
}
