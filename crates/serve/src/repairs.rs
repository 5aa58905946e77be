//! Repairs of damaged files from the parity of their tree: first what can be done, then
//! doing it.
//!
//! In: paths beneath a root. Out: what can be done for each file, or was done, by a thread of its
//! own that publishes how far it is. The library proves every file before it replaces one, and
//! keeps the damaged file.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast::catalogue::Catalogue;
use steadfast::repair::{
    Copies, RepairFailure, RepairMode, RepairMonitor, RepairOutcome, RepairRequest, RepairSummary,
    RepairTarget, repair_files,
};
use steadfast::{
    CatalogueUse, Event, FileState, FolderFacts, Monitor, Options, Progress, Selection,
};
use steadfast_report::escape;
use steadfast_report::units::{count, counted};

use crate::jobs::{JobEnd, JobSnapshot, ServedJob, ServedJobs};
use crate::kinds::StateKind;
use crate::live::LiveControl;
use crate::roots::{ServedPath, ServedRoots};

/// Files of one repair.
const FILES_MAX: usize = 1_000;

/// What can be done for one file, or was.
pub(crate) struct MendedFile {
    /// Its path from the root, what is wrong with it, and its length as recorded.
    pub(crate) below: PathBuf,
    pub(crate) kind: Option<StateKind>,
    pub(crate) length: u64,
    /// Why it cannot be repaired, or was not: the kind of the reason, and the error.
    pub(crate) fault: Option<(RepairFailure, String)>,
    /// Where its contents come from.
    pub(crate) sources: Vec<String>,
}

impl MendedFile {
    /// Returns whether it was not mended for this reason.
    pub(crate) fn is_for(&self, failure: RepairFailure) -> bool {
        self.fault.as_ref().is_some_and(|(of_file, _)| *of_file == failure)
    }
}

/// A repair, planned or done.
pub(crate) struct MendedFolder {
    pub(crate) files: Vec<MendedFile>,
    /// Damaged files that it left out, because there are too many for one repair.
    pub(crate) more: u64,
    pub(crate) summary: RepairSummary,
}

/// The files of a repair.
#[derive(Default)]
pub(crate) struct RepairFiles {
    pub(crate) paths: Vec<PathBuf>,
    /// How many more there are than one repair takes.
    pub(crate) more: u64,
}

/// Returns the open files of a root that a repair is about: those of one kind, or else what is
/// damaged, missing or unreadable.
pub(crate) fn files_of(facts: &FolderFacts, root: &Path, wanted: Option<StateKind>) -> RepairFiles {
    const USUAL: [StateKind; 3] = [StateKind::Damaged, StateKind::Missing, StateKind::Unreadable];
    let is_wanted = |state: FileState| {
        let kind = StateKind::of_state(state);
        kind.is_some_and(|kind| wanted.map_or(USUAL.contains(&kind), |wanted| wanted == kind))
    };
    let open = facts.failures.iter().filter(|failure| is_wanted(failure.standing));
    let paths: Vec<PathBuf> =
        open.take(FILES_MAX).map(|failure| root.join(&failure.path)).collect();
    let all = facts.open.iter().filter(|(state, _)| is_wanted(**state));
    let all: u64 = all.map(|(_, files)| files).sum();
    let more = all.saturating_sub(paths.len() as u64);
    RepairFiles { paths, more }
}

/// How a repair ended.
pub(crate) enum RepairEnd {
    /// It could not begin, for this reason.
    Failed(String),
    /// No file is known to be damaged.
    Nothing,
    /// It was planned, or carried out.
    Done(MendedFolder),
}

impl JobEnd for RepairEnd {
    fn failed(why: String) -> RepairEnd {
        RepairEnd::Failed(why)
    }
}

/// What a page asks of a repair.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepairWish {
    /// The kind of the files, if it is about one kind: what something else may have written is
    /// replaced only if it was asked for.
    pub(crate) kind: Option<StateKind>,
    /// A folder or a file that has a copy.
    pub(crate) from: Option<ServedPath>,
    /// Whether it may write.
    pub(crate) is_agreed: bool,
}

/// One repair, planned or carried out.
pub(crate) struct ServedRepair {
    pub(crate) id: u64,
    pub(crate) place: ServedPath,
    pub(crate) wish: RepairWish,
    pub(crate) control: LiveControl<JobSnapshot<RepairEnd>>,
}

/// The repairs of this server.
pub(crate) type ServedRepairs = ServedJobs<ServedRepair>;

impl ServedJob for ServedRepair {
    type Snapshot = JobSnapshot<RepairEnd>;

    const NAME: &'static str = "repair";

    const KEPT_MAX: usize = 6;

    fn control(&self) -> &LiveControl<JobSnapshot<RepairEnd>> {
        &self.control
    }

    fn unexplained() -> JobSnapshot<RepairEnd> {
        JobSnapshot::unexplained()
    }
}

impl ServedJobs<ServedRepair> {
    /// Starts the plan of a repair of files beneath a root, or the repair. Returns the one that
    /// goes on there, if there is one, and `None` if the system refuses a thread.
    pub(crate) fn begin(
        &self,
        place: ServedPath,
        files: RepairFiles,
        roots: &ServedRoots,
        usual: Options,
        wish: RepairWish,
    ) -> Option<Arc<ServedRepair>> {
        let mut list = self.list();
        let is_there = |(_, one): &(u64, &Arc<ServedRepair>)| roots.overlap(&one.place, &place);
        if let Some((_, going)) = list.going().find(is_there) {
            return Some(Arc::clone(going));
        }
        let make = |id| ServedRepair { id, place, wish, control: LiveControl::default() };
        let roots = roots.clone();
        list.begin(make, move |repair| {
            RepairListener::new(repair, files.paths.len()).execute(files, &roots, usual);
        })
    }
}

/// Gathers what becomes of each file, and publishes how far it is.
struct RepairListener<'a> {
    repair: &'a ServedRepair,
    all: u64,
    seen: u64,
    files: Vec<MendedFile>,
}

impl<'a> RepairListener<'a> {
    fn new(repair: &'a ServedRepair, all: usize) -> RepairListener<'a> {
        RepairListener { repair, all: all as u64, seen: 0, files: Vec::new() }
    }

    /// Plans the repair of files, or carries it out. Reads them and writes nothing unless that was
    /// agreed to. Also after a panic, the last snapshot says that it has ended.
    fn execute(mut self, files: RepairFiles, roots: &ServedRoots, usual: Options) {
        let RepairFiles { paths, more } = files;
        self.publish(None);
        let end = match paths.is_empty() {
            true => RepairEnd::Nothing,
            false => match self.carry_out(paths, roots, usual) {
                Ok(summary) => {
                    let files = std::mem::take(&mut self.files);
                    RepairEnd::Done(MendedFolder { files, more, summary })
                }
                Err(why) => RepairEnd::Failed(why),
            },
        };
        self.publish(Some(end));
    }

    fn carry_out(
        &mut self,
        paths: Vec<PathBuf>,
        roots: &ServedRoots,
        usual: Options,
    ) -> Result<RepairSummary, String> {
        let ServedRepair { place, wish, control, .. } = self.repair;
        let root = roots.root(place).map_err(|error| error.to_string())?;
        let selection = Selection::default().with(|selection| {
            selection.listed = paths;
            selection.within = vec![root.clone()];
        });
        let catalogue = Catalogue::find_beneath(&root, &root);
        let options = usual.with(|options| {
            options.catalogue.choice = catalogue.map_or(CatalogueUse::Off, CatalogueUse::At);
            options.controls.stop = Arc::clone(&control.stop);
        });
        let mode = if wish.is_agreed { RepairMode::Yes } else { RepairMode::Plan };
        let from = wish.from.as_ref().map(|from| roots.resolve(from)).transpose();
        let from: Vec<PathBuf> = from.map_err(|error| error.to_string())?.into_iter().collect();
        let copies = Copies::new(&from).map_err(|error| escape::text(&error.to_string()))?;
        let request = RepairRequest {
            copies,
            mode,
            in_place: false,
            with_special: false,
            suspects: wish.kind == Some(StateKind::Suspect),
            to_tag: wish.kind == Some(StateKind::Changed),
            all_lost: false,
        };
        let done = repair_files(&selection, &options, &request, self);
        done.map_err(|error| escape::text(&error.to_string()))
    }

    fn take(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        self.files.push(MendedFile {
            below: target.relative.clone(),
            kind: StateKind::of_verdict(target.verdict),
            length: target.tag.length,
            fault: outcome.fault.as_ref().map(|fault| {
                let failure = outcome.failure.unwrap_or(RepairFailure::Other);
                (failure, escape::text(&fault.to_string()))
            }),
            sources: outcome.sources.iter().map(|source| escape::path(&source.path)).collect(),
        });
        self.publish_sometimes();
    }

    fn publish_sometimes(&mut self) {
        if self.repair.control.is_due() {
            self.publish(None);
        }
    }

    fn publish(&self, end: Option<RepairEnd>) {
        let (all, told) = (self.all, self.files.len() as u64);
        let (done, verb) = if told == 0 { (self.seen, "read") } else { (told, "settled") };
        let says = format!("{} of {} {verb}", count(done), counted(all, "file", "files"));
        let mut progress = Progress::default();
        (progress.files, progress.total) = (done, Some((all, 0)));
        JobSnapshot::publish(&self.repair.control, progress, says, end);
    }
}

impl Monitor for RepairListener<'_> {
    fn event(&mut self, _: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn progress(&mut self, progress: &Progress) {
        self.seen = progress.files;
        self.publish_sometimes();
    }
}

impl RepairMonitor for RepairListener<'_> {
    fn planned(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        self.take(target, outcome);
    }

    fn consents(&mut self, _: u64) -> bool {
        false
    }

    fn repaired(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        self.take(target, outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::facts_for_tests;
    use steadfast::Timestamp;
    use steadfast::catalogue::FailedCheck;

    #[test]
    fn a_repair_takes_so_many_damaged_files_and_says_how_many_are_left() {
        use FileState::{Corrupt, Missing, Modified};
        let failure = |number: usize, standing| FailedCheck {
            path: format!("{number}").into(),
            run: 1,
            at: Timestamp { seconds: 0, nanoseconds: 0 },
            standing,
            now: Some(standing),
            length: None,
            settled: false,
            goes_on: false,
            repaired_run: None,
        };
        let open = [(Corrupt, 4_000), (Missing, 7), (Modified, 9)];
        let facts = FolderFacts {
            failures: [failure(0, Modified)]
                .into_iter()
                .chain((1..1_500).map(|number| failure(number, Corrupt)))
                .collect(),
            ..facts_for_tests(&open, false)
        };
        let files = files_of(&facts, Path::new("/root"), None);
        assert_eq!((files.paths.len(), files.more), (FILES_MAX, 3_007));
        assert_eq!(files.paths[0], Path::new("/root/1"), "an edited file is not damaged");
    }
}
