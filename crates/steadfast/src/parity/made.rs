//! How parity is to be made, who listens, and what became of it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use steadfast_parity::Redundancy;

use crate::advice::Advice;
use crate::event::{FileError, Notice};
use crate::exit_status::ExitStatus;
use crate::monitor::{Event, Monitor, Overheard};
use crate::run::Options;
use crate::verdict::Verdict;

/// How parity is made.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ParityOptions {
    /// The redundancy; `None` for that of the sets that are there, or 10 %.
    pub redundancy: Option<Redundancy>,
    /// Whether to let go of files that are gone from the tree. Otherwise they stay protected.
    pub forget_missing: bool,
    /// Paths beneath the root. What is at or beneath them is let go of unless it is there with the
    /// tag that the parity has.
    pub forget: Vec<PathBuf>,
    /// How long the sets of files that were edited are kept, in this run and later ones; `None` for
    /// as long as an earlier run was told, or 30 days.
    pub keep_earlier: Option<Duration>,
    /// When to end. What is not protected then is left to the next run.
    pub max_time: Option<Duration>,
    /// How the tree is walked and read, when to stop, and the time.
    pub run: Options,
}

/// A file that is not protected as it should be.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NotProtected {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// Why not: it is corrupt, was modified, cannot be read. A missing one can be restored.
    pub verdict: Verdict,
    /// What went wrong, if the system refused something.
    pub trouble: Option<FileError>,
}

/// Listens while parity is made.
pub trait ParityMonitor: Monitor {
    /// Hears of a file that is not protected as it should be. Unless this is overridden, it is a
    /// notice.
    fn not_protected(&mut self, file: &NotProtected) {
        let notice = match (&file.trouble, file.verdict) {
            (Some(trouble), _) => Notice::failure(format!("not protected by parity: {trouble}")),
            (None, Verdict::Missing) => Notice::failure("gone").advise(Advice::RestoreOrForget),
            (None, verdict) => Notice::failure(format!("not protected by parity: {verdict}")),
        };
        self.notice(notice.at(&file.path));
    }

    /// Hears of a set that stays although it is not as the tree is, or cannot be used. Unless this
    /// is overridden, it is a notice.
    fn still_needed(&mut self, set: &NeededSet) {
        let notice = Notice::failure(set.to_string()).advise(set.advice()).at(&set.path);
        self.notice(notice);
    }
}

impl<F: FnMut(&Event)> ParityMonitor for Overheard<'_, F> {}

/// A set that stays although it is not as the tree is, or cannot be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NeededSet {
    /// Its file.
    pub path: PathBuf,
    /// Files that nothing else is proved to protect, at most 16.
    pub files: Vec<NeededFile>,
    /// How many more such files there are.
    pub more: u64,
    /// Why the set cannot be used, if it cannot.
    pub fault: Option<String>,
}

/// A file for which a set is still needed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NeededFile {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// Why nothing else protects the file as the set does.
    pub why: String,
}

impl NeededSet {
    /// Returns what to do next, if it cannot be used.
    pub fn advice(&self) -> Option<Advice> {
        self.fault.as_ref().map(|_| Advice::DropSet)
    }
}

impl fmt::Display for NeededSet {
    /// Writes why the set stays.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(fault) = &self.fault {
            return write!(f, "this set of parity stays, and may be needed: {fault}.");
        }
        f.write_str("this set of parity is still needed, because")?;
        for (number, file) in self.files.iter().enumerate() {
            let separator = if number == 0 { "" } else { ";" };
            write!(f, "{separator} `{}`: {}", file.path.display(), file.why)?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// What became of the parity of a tree.
// Over 15 fields: one for each number of the summary, and what the catalogue is told.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "json", derive(serde::Serialize))]
#[non_exhaustive]
#[must_use]
pub struct ParityMade {
    /// Tagged files that are protected.
    pub files: u64,
    /// Of these, renamed ones that were not read again.
    pub moved: u64,
    /// Files that have no tag, and so no protection.
    pub untagged: u64,
    /// Files that are not protected because they are not as their tags say, or cannot be read.
    pub not_protected: u64,
    /// Files that are gone from the tree, and stay protected.
    pub missing: u64,
    /// Sets that were made.
    pub sets_made: u64,
    /// Sets that stayed.
    pub sets_kept: u64,
    /// Sets that were superseded, and taken away.
    pub sets_removed: u64,
    /// Of these, sets that are kept for a time because they have files as they were before an edit.
    pub sets_earlier: u64,
    /// Sets that stay although they are not as the tree is, because they are still needed.
    pub sets_needed: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Bytes that were read past the page cache, straight from the medium.
    pub bytes_from_media: u64,
    /// Whether the run was told to stop before its end.
    pub interrupted: bool,
    /// Whether the time was up before its end.
    pub time_up: bool,
    #[cfg_attr(feature = "json", serde(skip))]
    pub(super) status: ExitStatus,
    /// Files that were found damaged or could not be read, from the root, as far as they are kept.
    #[cfg_attr(feature = "json", serde(skip))]
    pub(super) failed: Vec<PathBuf>,
}

impl ParityMade {
    /// Returns the exit status: `Fine` if everything that is tagged is protected, `Corrupt` if a
    /// file is, `Undetermined` if something is not protected or is missing, or the time was up.
    pub fn exit_status(&self) -> ExitStatus {
        let time_up = ExitStatus::Undetermined.only_if(self.time_up);
        self.status.max(time_up).max(ExitStatus::Interrupted.only_if(self.interrupted))
    }
}
