//! What a run says, and to whom.
//!
//! In: outcomes, in walk order. Out: [`Event`]s to one [`Monitor`], and the [`Summary`] at the end.
//! Knows nothing of terminals or documents: a renderer is a monitor of another crate.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::cost::{Account, Bound, Cost};
use crate::event::{Action, FileEvent, Notice, Skipped, Subject};
use crate::finding::Finding;
use crate::read::Origin;
use crate::verdict::{Verdict, worse_status};

/// Listens to a run. Calls come from the thread that called the run, one at a time.
///
/// A closure that takes an [`Event`] is a monitor that ignores progress.
pub trait Monitor {
    /// Hears of one file, directory or circumstance, in walk order.
    fn event(&mut self, event: &Event);

    /// Hears how far the run is, about ten times a second.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
}

impl<F: FnMut(&Event)> Monitor for F {
    fn event(&mut self, event: &Event) {
        self(event);
    }
}

/// One thing that happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// What became of one file, or of a directory that could not be walked.
    File(Box<FileEvent>),
    /// What only the catalogue knows of a file, beside its verdict.
    Finding(Box<FindingEvent>),
    /// A circumstance that the reader should know of; no file was judged by it.
    Notice(Notice),
}

/// Something that no verdict tells, and where.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FindingEvent {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// What was found there.
    pub finding: Finding,
}

impl FindingEvent {
    /// Makes the event of a finding. `path` is as the user would write it.
    pub fn new(path: PathBuf, finding: Finding) -> FindingEvent {
        FindingEvent { path, finding }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Files whose outcome is known.
    pub files: u64,
    /// Bytes read, those of files under way included.
    pub bytes: u64,
    /// Bytes of files that needed no reading.
    pub bytes_passed: u64,
    /// Files and bytes that the survey found in the whole tree, once it has counted them.
    pub total: Option<(u64, u64)>,
    /// Time since the run began, without that in which it was held, in nanoseconds.
    pub elapsed_ns: u64,
    /// What binds the run so far.
    pub bound: Option<Bound>,
    /// Time so far of the threads that hash, by stage.
    pub cost: Cost,
}

/// The end of a run, in numbers.
///
/// Trouble with single files is no [`crate::Error`]: it is counted here, and decides
/// [`Summary::exit_status`].
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct Summary {
    /// The verb that ran.
    pub verb: &'static str,
    /// Whether nothing was written because nothing should be.
    pub dry_run: bool,
    /// Files that an event spoke of.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes read past the page cache, straight from the medium.
    pub bytes_from_media: u64,
    /// Time that the run took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Threads that hashed.
    pub workers: usize,
    /// The SHA-256 backend and its lanes, as in "x86_shani x2".
    pub backend: String,
    /// How bytes were read: the engine's name.
    pub engine: &'static str,
    /// Events per verdict, indexed as [`Verdict::ALL`].
    pub(crate) verdicts: [u64; 9],
    /// Events per action, indexed as [`Action::ALL`].
    pub(crate) actions: [u64; 7],
    /// What no verdict tells, by name: new, returned, tag lost, tag damaged, tag replaced,
    /// unmounted, extra.
    pub findings: BTreeMap<&'static str, u64>,
    /// Whether the run kept a catalogue.
    pub catalogued: bool,
    /// Files whose tag should have been written or removed and could not be.
    pub failed: u64,
    /// What the walk passed by.
    pub skipped: Skipped,
    /// Where the time went.
    pub account: Account,
    /// Whether the run was told to stop before its end.
    pub interrupted: bool,
    /// Files that were due and are not checked, of a run whose time was up.
    pub still_due: Option<u64>,
    /// Exit status that the events ask for.
    pub(crate) status: u8,
}

impl Summary {
    /// Returns how many files got a verdict.
    pub fn verdicts(&self, verdict: Verdict) -> u64 {
        position(&Verdict::ALL, &verdict).map_or(0, |at| self.verdicts[at])
    }

    /// Returns how many files an action was taken on.
    pub fn actions(&self, action: Action) -> u64 {
        position(&Action::ALL, &action).map_or(0, |at| self.actions[at])
    }

    /// Returns the process's exit status: 0 nothing wrong, 1 modified or missing, 2 could not
    /// tell, 3 corrupt, 130 interrupted (unless something is corrupt: then 3).
    pub fn exit_status(&self) -> u8 {
        if self.interrupted && self.status != 3 { 130 } else { self.status }
    }

    /// Counts one file's event. `status` is what the verb makes of it.
    pub fn count(&mut self, event: &FileEvent, status: u8) {
        if event.dataless {
            match event.subject {
                Subject::File => self.skipped.dataless += 1,
                Subject::Directory => self.skipped.dataless_directories += 1,
            }
            return;
        }
        self.skipped.resource_forks += u64::from(event.has_resource_fork && !event.linked);
        self.files += u64::from(event.subject == Subject::File);
        self.bytes += event.bytes_read;
        if event.origin == Some(Origin::Media) {
            self.bytes_from_media += event.bytes_read;
        }
        if let Some(at) = event.verdict.and_then(|verdict| position(&Verdict::ALL, &verdict)) {
            self.verdicts[at] += 1;
        }
        if let Some(at) = event.action.and_then(|action| position(&Action::ALL, &action)) {
            self.actions[at] += 1;
        }
        let told = matches!(event.verdict, Some(Verdict::Unreadable | Verdict::Unstable));
        self.failed += u64::from(event.trouble.is_some() && !told);
        self.raise_status(status);
    }

    /// Returns how many files were compared with a record of them.
    pub fn judged(&self) -> u64 {
        let counts = Verdict::ALL.into_iter().filter(|verdict| verdict.judges());
        counts.map(|verdict| self.verdicts(verdict)).sum()
    }

    /// Returns what to say of a run that ended with status 0 and proves nothing: it found no file,
    /// which `no_file` tells, or it is a check and no file has a tag. If such runs are `allowed`,
    /// that is no failure.
    pub fn unproved(&self, no_file: Notice, allowed: bool) -> Option<Notice> {
        if self.interrupted || self.status != 0 {
            return None;
        }
        let checks = matches!(self.verb, "check" | "retag");
        let elsewhere = self.skipped.dataless + self.skipped.dataless_directories;
        let notice = match self.files {
            0 if elsewhere > 0 => Notice::failure(NOT_HERE),
            0 if self.findings.is_empty() => no_file,
            1.. if checks && self.verdicts(Verdict::Untagged) == self.files => {
                Notice::failure(NO_TAG)
            }
            _ => return None,
        };
        Some(Notice { status: if allowed { 0 } else { notice.status }, ..notice })
    }

    /// Counts what no verdict tells.
    pub fn note(&mut self, finding: &Finding) {
        *self.findings.entry(finding.name()).or_default() += 1;
        self.raise_status(finding.exit_status());
    }

    /// Makes the exit status at least as grave.
    pub fn raise_status(&mut self, status: u8) {
        self.status = worse_status(self.status, status);
    }
}

/// What to say of a check that found files and judged none.
const NO_TAG: &str = "no file here has a tag, so nothing was judged. If they had tags, a copy or \
                      another tool dropped them; otherwise make them with `steadfast tag`";

/// What to say of a run that found files and could read none, because they are elsewhere.
const NOT_HERE: &str = "no file's contents are on this machine, so nothing was read: --download \
                        fetches them";

fn position<T: PartialEq>(all: &[T], one: &T) -> Option<usize> {
    all.iter().position(|other| other == one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corruption_outranks_interruption() {
        let mut summary = Summary { interrupted: true, ..Summary::default() };
        summary.raise_status(1);
        assert_eq!(summary.exit_status(), 130);
        summary.raise_status(3);
        assert_eq!(summary.exit_status(), 3);
    }
}
