//! What a run reports.
//!
//! In: outcomes, in walk order. Out: [`Event`]s to one [`Monitor`], and the [`Summary`] at the end.
//! Knows nothing of terminals or documents: renderers are monitors in other crates.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::advice::{Advice, counted};
use crate::cost::{Account, Bound, Cost};
use crate::event::{Action, FileEvent, Notice, Skipped, Subject};
use crate::exit_status::ExitStatus;
use crate::finding::Finding;
use crate::read::Origin;
use crate::verb_kind::VerbKind;
use crate::verdict::Verdict;
use steadfast_manifest::tag::TagPlace;

/// Receives the events of a run. Calls come from the thread that called the run, one at a time.
///
/// A closure that takes an [`Event`] is a monitor that ignores progress. It may return nothing.
///
/// ```
/// use std::ops::ControlFlow;
/// use steadfast::{Event, Run};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("a.jpg"), "pixels")?;
/// # let photographs = folder.path();
/// let summary = Run::check([photographs]).run(&mut |event: &Event| match event {
///     Event::File(file) if file.verdict.is_some_and(|verdict| verdict.is_alarm()) => {
///         ControlFlow::Break(())
///     }
///     _ => ControlFlow::Continue(()),
/// })?;
/// assert!(!summary.interrupted);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Monitor {
    /// Receives one event, in walk order. `Break` sets [`Controls::stop`] of the run, which ends
    /// early: files that are finished by then are still reported, and the summary says
    /// `interrupted`.
    ///
    /// [`Controls::stop`]: crate::Controls::stop
    fn event(&mut self, event: &Event) -> ControlFlow<()>;

    /// Receives a notice outside of a run, which the answer cannot end.
    fn notice(&mut self, notice: Notice) {
        let _ = self.event(&Event::Notice(notice));
    }

    /// Receives the failure of a file before its turn in walk order, about ten times a second. The
    /// event of the same file follows in its turn.
    fn found_early(&mut self, event: &FileEvent) {
        let _ = event;
    }

    /// Receives the progress of the run, about ten times a second.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
}

/// Receives what is said beside the results of `copy`, `move`, `safe` and `known`. Calls come one
/// at a time, from the calling thread.
pub trait NoticeMonitor {
    /// Receives a notice.
    fn notice(&mut self, notice: &Notice);

    /// Receives the progress, about ten times a second.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
}

/// Receives results: those of files in the order of the walk.
pub trait ResultMonitor<T>: NoticeMonitor {
    /// Receives one result.
    fn result(&mut self, result: &T);
}

impl<F: FnMut(&Event) -> R, R: Answer> Monitor for F {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        self(event).flow()
    }
}

/// What a closure that monitors a run may return.
pub trait Answer {
    /// Returns whether the run goes on.
    fn flow(self) -> ControlFlow<()>;
}

impl Answer for () {
    fn flow(self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Answer for ControlFlow<()> {
    fn flow(self) -> ControlFlow<()> {
        self
    }
}

/// Hears each event of a run, and passes everything on to the run's monitor. Whatever listens to a
/// run beside its monitor is one of these, so that no method of it is left out.
pub struct Overheard<'a, F> {
    heard: F,
    monitor: &'a mut dyn Monitor,
}

impl<'a, F: FnMut(&Event)> Overheard<'a, F> {
    /// Listens to a run. `heard` is called before the monitor.
    pub fn new(monitor: &'a mut dyn Monitor, heard: F) -> Overheard<'a, F> {
        Overheard { heard, monitor }
    }
}

impl<F: FnMut(&Event)> Monitor for Overheard<'_, F> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        (self.heard)(event);
        self.monitor.event(event)
    }

    fn found_early(&mut self, event: &FileEvent) {
        self.monitor.found_early(event);
    }

    fn progress(&mut self, progress: &Progress) {
        self.monitor.progress(progress);
    }
}

/// An event of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The result of one file, or of a directory that could not be walked.
    File(Box<FileEvent>),
    /// A finding of the catalogue about a file, in addition to its verdict.
    Finding(Box<FindingEvent>),
    /// A circumstance that concerns the user; it judges no file.
    Notice(Notice),
}

/// A finding and its path.
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

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Files with a known result.
    pub files: u64,
    /// Bytes read, including those of unfinished files.
    pub bytes: u64,
    /// Bytes of files that did not need reading.
    pub bytes_passed: u64,
    /// Files and bytes that the survey found in the whole tree, once it has counted them.
    pub total: Option<(u64, u64)>,
    /// Time since the run began, without the time for which it was held, in nanoseconds.
    pub elapsed_ns: u64,
    /// What limits the run so far.
    pub bound: Option<Bound>,
    /// Time so far of the threads that hash, by stage.
    pub cost: Cost,
}

/// By what a run read and hashed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct HashingMeans {
    /// Threads that hashed.
    pub workers: usize,
    /// The SHA-256 backend and its lanes, for example "x86_shani x2".
    pub backend: String,
    /// The name of the engine that read the bytes.
    pub engine: &'static str,
}

/// How many events of each kind a run had.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EventCounts {
    /// Events per verdict, indexed as [`Verdict::ALL`].
    verdicts: [u64; Verdict::ALL.len()],
    /// Events per action, indexed as [`Action::ALL`].
    actions: [u64; 7],
    /// Findings by name: new, returned, tag lost, tag damaged, tag replaced, unmounted, extra.
    pub findings: BTreeMap<&'static str, u64>,
    /// Files whose tag should have been written or removed, which failed.
    pub failed: u64,
    /// Files that did not take the tag that was made, so that only the catalogue has it.
    pub catalogue_only: u64,
}

/// The result of a run in numbers.
///
/// An error of a single file is not a [`crate::Error`]: it is counted here, and affects
/// [`Summary::exit_status`].
// Over 15 fields: each is a fact of one run, and reports show them side by side.
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct Summary {
    /// The verb that ran.
    pub verb: VerbKind,
    /// Whether nothing was written because it was a dry run.
    pub dry_run: bool,
    /// Damaged files of a check for which parity or another file of the same contents is known. It
    /// was not read, so nothing is certain. `None` if nothing is damaged, or it was not looked up.
    pub may_be_repaired: Option<u64>,
    /// Missing and edited files that a check found, and the files that are recorded, if so many at
    /// once are an alarm: an update then asks for consent.
    pub many_at_once: Option<(u64, u64)>,
    /// Files with an event.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes read past the page cache, straight from the medium.
    pub bytes_from_media: u64,
    /// Time that the run took, in nanoseconds.
    pub elapsed_ns: u64,
    /// By what it read and hashed.
    pub means: HashingMeans,
    /// How many events of each kind there were.
    pub counts: EventCounts,
    /// Whether the run was recorded in a catalogue.
    pub catalogued: bool,
    /// What the walk skipped.
    pub skipped: Skipped,
    /// Where the time went.
    pub account: Account,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// Due files that were not checked because the time ran out.
    pub still_due: Option<u64>,
    /// The exit status so far.
    pub(crate) status: ExitStatus,
}

impl Summary {
    /// Returns how many files got a verdict.
    pub fn verdicts(&self, verdict: Verdict) -> u64 {
        position(&Verdict::ALL, &verdict).map_or(0, |at| self.counts.verdicts[at])
    }

    /// Returns how many files an action was taken on.
    pub fn actions(&self, action: Action) -> u64 {
        position(&Action::ALL, &action).map_or(0, |at| self.counts.actions[at])
    }

    /// Returns how the run ended.
    pub fn exit_status(&self) -> ExitStatus {
        self.status.max(ExitStatus::Interrupted.only_if(self.interrupted))
    }

    /// Counts one file's event. `status` is the exit status that the verb assigns to it.
    pub fn count(&mut self, event: &FileEvent, status: ExitStatus) {
        if event.reading.dataless {
            match event.subject {
                Subject::File => self.skipped.dataless += 1,
                Subject::Directory => self.skipped.dataless_directories += 1,
            }
            return;
        }
        self.skipped.resource_forks +=
            u64::from(event.reading.has_resource_fork && !event.reading.linked);
        self.files += u64::from(event.subject == Subject::File);
        self.bytes += event.reading.bytes;
        if event.reading.origin == Some(Origin::Media) {
            self.bytes_from_media += event.reading.bytes;
        }
        if let Some(at) = event.verdict.and_then(|verdict| position(&Verdict::ALL, &verdict)) {
            self.counts.verdicts[at] += 1;
        }
        if let Some(at) = event.action.and_then(|action| position(&Action::ALL, &action)) {
            self.counts.actions[at] += 1;
        }
        let told = matches!(event.verdict, Some(Verdict::Unreadable | Verdict::Unstable));
        let place = event.visit.written.as_ref().map(|_| event.tag_place);
        let is_refused = matches!(place, Some(TagPlace::CatalogueAlone | TagPlace::Refused));
        self.counts.catalogue_only += u64::from(is_refused && !self.dry_run);
        self.counts.failed += u64::from(event.trouble.is_some() && !told);
        self.raise_status(status);
    }

    /// Returns how many files were compared with a record of them.
    pub fn judged(&self) -> u64 {
        let counts = Verdict::ALL.into_iter().filter(|verdict| verdict.judges());
        counts.map(|verdict| self.verdicts(verdict)).sum()
    }

    /// Returns the notice for a run that ended well and verified nothing: it found no
    /// file, for which `no_file` is the notice, or it is a check and no file has a tag. If such
    /// runs are `allowed`, they are not failures.
    pub fn unproved(&self, no_file: Notice, allowed: bool) -> Option<Notice> {
        if self.interrupted || !self.status.is_fine() {
            return None;
        }
        let checks = matches!(self.verb, VerbKind::Check | VerbKind::Retag);
        let elsewhere = self.skipped.dataless + self.skipped.dataless_directories;
        let notice = match self.files {
            0 if elsewhere > 0 => Notice::failure(NOT_HERE).advise(Advice::Download),
            0 if self.counts.findings.is_empty() => no_file,
            1.. if checks && self.verdicts(Verdict::Untagged) == self.files => {
                Notice::failure(NO_TAG).advise(Advice::TagFirst)
            }
            _ => return None,
        };
        Some(Notice { status: notice.status.only_if(!allowed), ..notice })
    }

    /// Returns the notice for a check without a catalogue that found files without tags among
    /// others: they may have had some.
    pub(crate) fn lost_tags(&self) -> Option<Notice> {
        let untagged = self.verdicts(Verdict::Untagged);
        if self.verb != VerbKind::Check || self.catalogued || untagged == 0 || self.judged() == 0 {
            return None;
        }
        let files = counted(untagged, "file has no tag", "files have no tag");
        let notice = Notice::new(format!("{files}. {SAVED_ANEW}"));
        Some(notice.advise(Advice::MakeCatalogue))
    }

    /// Counts a finding.
    pub fn note(&mut self, finding: &Finding) {
        *self.counts.findings.entry(finding.name()).or_default() += 1;
        self.raise_status(finding.exit_status());
    }

    /// Notes that a file that looks edited may be half-written by a repair that was cut off: the
    /// status is [`ExitStatus::Undetermined`] then, or `Corrupt`.
    pub(crate) fn doubt_edits(&mut self) {
        let certain = ExitStatus::Corrupt.only_if(self.status == ExitStatus::Corrupt);
        self.status = certain.max(ExitStatus::Undetermined);
    }

    /// Raises the exit status, if `status` is more serious.
    pub fn raise_status(&mut self, status: ExitStatus) {
        self.status.raise(status);
    }
}

/// The notice for a check that found files and judged none.
const NO_TAG: &str = "no file here has a tag, so nothing was judged. If they had tags, a copy or \
                      another tool dropped them;";

/// Why files may have no tag.
const SAVED_ANEW: &str = "Programs that save to a new file and rename it drop the tag, so some of \
                          these may be edited or damaged. A catalogue tells them from new files;";

/// The notice for a run that found files but could read none, because their contents are elsewhere.
const NOT_HERE: &str = "no file's contents are on this machine, so nothing was read";

fn position<T: PartialEq>(all: &[T], one: &T) -> Option<usize> {
    all.iter().position(|other| other == one)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the calls of each method.
    #[derive(Default)]
    struct Calls([u32; 3]);

    impl Monitor for Calls {
        fn event(&mut self, _event: &Event) -> ControlFlow<()> {
            self.0[0] += 1;
            ControlFlow::Continue(())
        }

        fn found_early(&mut self, _event: &FileEvent) {
            self.0[1] += 1;
        }

        fn progress(&mut self, _progress: &Progress) {
            self.0[2] += 1;
        }
    }

    #[test]
    fn who_listens_beside_a_monitor_takes_nothing_from_it() {
        let (mut calls, mut heard) = (Calls::default(), 0);
        let mut both = Overheard::new(&mut calls, |_| heard += 1);
        let file = FileEvent::new(crate::event::FilePath::whole(std::path::Path::new("a")));
        let _ = both.event(&Event::File(Box::new(file.clone())));
        both.found_early(&file);
        both.progress(&Progress::default());
        assert_eq!((calls.0, heard), ([1, 1, 1], 1));
    }

    #[test]
    fn corruption_outranks_interruption() {
        let mut summary = Summary { interrupted: true, ..Summary::default() };
        summary.raise_status(ExitStatus::Changed);
        assert_eq!(summary.exit_status(), ExitStatus::Interrupted);
        summary.raise_status(ExitStatus::Corrupt);
        assert_eq!(summary.exit_status(), ExitStatus::Corrupt);
    }
}
