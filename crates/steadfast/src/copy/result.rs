//! What is copied and how, and what became of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

use steadfast_digest::Algorithm;
use steadfast_manifest::tag::Tag;

use crate::belongings::Withheld;
use crate::event::{FileError, Notice, Skipped};
use crate::exit_status::ExitStatus;
use crate::monitor::NoticeMonitor;
use crate::repair::RepairSource;
use crate::run::Options;
use crate::safe::{Grade, Lack, SafeAnswer, SafeRule};
use crate::verdict::Verdict;

/// What is copied, and how.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyRequest {
    /// Directories that get a copy of each path of the selection, under its own name. A path that
    /// ends with `.` is copied without a name: its contents are.
    pub destinations: Vec<PathBuf>,
    /// How much is asked of copies before the source may be erased.
    pub rule: SafeRule,
    /// Whether each file of the source is removed as soon as it may be erased.
    pub moves: bool,
    /// Whether a file without a record is read once only, so that a wrong reading is copied.
    pub reads_once: bool,
    /// Whether to copy the rest if a destination cannot hold some files.
    pub anyway: bool,
    /// The algorithm of new tags; `None` for SHA-256.
    pub algorithm: Option<Algorithm>,
    /// The lists that each destination gets.
    pub list: ListKind,
    /// Archives: files whose contents one of them has by its record are not copied.
    pub unknown_in: Vec<PathBuf>,
}

impl CopyRequest {
    /// Returns the request after `change`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Copies to these directories.
    pub fn to(destinations: impl IntoIterator<Item: Into<PathBuf>>) -> CopyRequest {
        let destinations = destinations.into_iter().map(Into::into).collect();
        CopyRequest { destinations, ..CopyRequest::default() }
    }
}

/// The lists of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// None.
    #[default]
    None,
    /// Each destination becomes a BagIt bag, with the copies in `data`.
    Bag,
    /// Each folder gets a generation of ASC MHL, with digests of this algorithm.
    Mhl(Algorithm),
}

/// A copy of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedPlace {
    /// Its path.
    pub path: PathBuf,
    /// What reading it back proved; `None` if there is no copy.
    pub grade: Option<Grade>,
    /// Whether it was there before.
    pub was_there: bool,
    /// How often it was written again, because it was read back wrong.
    pub rewrites: u32,
    /// What it lacks of what belongs to the source.
    pub withheld: Vec<Withheld>,
    /// Why there is no copy.
    pub trouble: Option<FileError>,
}

/// The result for one file of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedFile {
    /// Its path, as the user would write it.
    pub path: PathBuf,
    /// Its length in bytes.
    pub length: u64,
    /// The tag of its contents, if it was read.
    pub tag: Option<Tag>,
    /// Whether its record was proved, or it was read twice.
    pub is_proved: bool,
    /// What a check says of it, if it was judged.
    pub verdict: Option<Verdict>,
    /// What gave the contents of its copies, if the file itself is damaged.
    pub mended: Option<Vec<RepairSource>>,
    /// Its copies, in the order of the destinations.
    pub places: Vec<CopiedPlace>,
    /// What is lacking before it may be erased.
    pub lack: Option<Lack>,
    /// Whether it was removed after it was copied.
    pub was_removed: bool,
    /// Why it was not copied at all.
    pub trouble: Option<FileError>,
}

/// What a copy comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyPlan {
    /// Files that would be copied.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Files that would not be copied because archives have them.
    pub known: u64,
    /// Bytes that are free at each destination.
    pub free_bytes: Vec<u64>,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// The result.
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct CopySummary {
    /// Whether the source may be erased.
    pub answer: SafeAnswer,
    /// Files of the source.
    pub files: u64,
    /// Files that are at every destination, and proved there.
    pub copied: u64,
    /// Files of these that were at every destination before.
    pub were_there: u64,
    /// Files that were not copied because archives have them.
    pub known: u64,
    /// Files that were removed.
    pub removed: u64,
    /// Bytes of the source.
    pub bytes: u64,
    /// Damaged files whose copies have what their records say.
    pub mended: u64,
    /// Files without a record that were read once only.
    pub unproved: u64,
    /// What copies lack that belongs to the source, by name.
    pub withheld: BTreeMap<String, u64>,
    /// What the walk left out.
    pub skipped: Skipped,
    /// Time that it took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    pub(crate) status: ExitStatus,
}

impl CopySummary {
    /// Returns how it ended: `Fine` if the source may be erased.
    pub fn exit_status(&self) -> ExitStatus {
        let status = self.status.max(self.answer.exit_status());
        status.max(ExitStatus::Interrupted.only_if(self.interrupted))
    }

    pub(super) fn raise_each(&mut self, notices: &[Notice], monitor: &mut dyn NoticeMonitor) {
        for notice in notices {
            self.status.raise(notice.status);
            monitor.notice(notice);
        }
    }

    pub(super) fn close(&mut self, options: &Options, start: Instant) {
        self.interrupted = options.controls.stop.load(Ordering::Relaxed);
        let is_unseen = self.interrupted || (self.files == 0 && self.known == 0);
        self.answer.note(Lack::NotSeen, u64::from(is_unseen));
        self.elapsed_ns = start.elapsed().as_nanos() as u64;
    }

    pub(super) fn count(&mut self, file: &CopiedFile) {
        self.files += 1;
        self.bytes += file.length;
        self.copied += u64::from(file.places.iter().all(|place| place.grade.is_some()));
        self.were_there += u64::from(file.places.iter().all(|place| place.was_there));
        self.removed += u64::from(file.was_removed);
        self.mended += u64::from(file.mended.is_some());
        self.unproved += u64::from(file.tag.is_some() && !file.is_proved);
        self.answer.count(file.lack);
        // A place that was asked for and is not there, although others may be enough.
        let is_short = file.places.iter().any(|place| place.trouble.is_some());
        let is_trouble = is_short || file.trouble.is_some();
        self.status.raise(ExitStatus::Undetermined.only_if(is_trouble));
        for lacking in file.places.iter().flat_map(|place| &place.withheld) {
            *self.withheld.entry(lacking.what.clone()).or_default() += 1;
        }
    }
}
