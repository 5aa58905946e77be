//! A repair from beginning to end: a check, what can be done, doing it, and recording what was
//! done.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use steadfast_sys::file::Status;

use super::cut_off::{end, notices_of_cut_off};
use super::names_back::{clear_marks, give_names_back};
use super::originals::Originals;
use super::parities::Parities;
use super::target::{LeftAlone, RepairGoal, RepairTarget, find_targets};
use super::{Copies, RepairFailure, RepairOutcome, WRITTEN_SINCE, plan, repair};
use crate::catalogue::Repairs;
use crate::error::Error;
use crate::event::Notice;
use crate::exit_status::ExitStatus;
use crate::monitor::{Event, Monitor};
use crate::run::{
    CatalogueOptions, CatalogueUse, Options, ProvedFile, ProvedFiles, Verb, run_proved,
};
use crate::selection::Selection;
use crate::verb_kind::VerbKind;
use crate::verdict::Verdict;

/// Listens to a repair and decides whether it is carried out.
pub trait RepairMonitor: Monitor {
    /// Hears what can be done for a file, before anything is done.
    fn planned(&mut self, target: &RepairTarget, outcome: &RepairOutcome);

    /// Decides whether so many files are repaired, of which it heard.
    fn consents(&mut self, files: u64) -> bool;

    /// Hears what became of a file.
    fn repaired(&mut self, target: &RepairTarget, outcome: &RepairOutcome);
}

/// What of a repair is done unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairMode {
    /// Nothing: say what can be done.
    Plan,
    /// Nothing: say what can be done, and ask.
    Ask,
    /// All that can be done.
    Yes,
}

/// How files are to be repaired.
#[derive(Clone, Debug)]
pub struct RepairRequest {
    /// Where copies are.
    pub copies: Copies,
    /// What is done unasked.
    pub mode: RepairMode,
    /// Whether damaged pages are written into the file itself, with a journal, instead of replacing
    /// the file. Its other names stay, and it needs room for the damaged pages only.
    pub in_place: bool,
    /// Whether missing files and folders get the set-user-ID, set-group-ID and sticky bits and the
    /// capabilities that a record says they had.
    pub with_special: bool,
    /// Whether suspect files get the contents of their tag again. Otherwise only those that are
    /// themselves selected do.
    pub suspects: bool,
    /// Whether edited files that are themselves selected get the contents of their tag again.
    pub to_tag: bool,
    /// Whether an empty tree has lost all its files. Otherwise it is refused, because its volume
    /// may not be mounted.
    pub all_lost: bool,
}

/// The end of a repair, in numbers.
#[derive(Clone, Debug, Default)]
pub struct RepairSummary {
    /// Files that are as tagged again, or that can be made so if nothing was done.
    pub repaired: u64,
    /// Files that are corrupt, missing or unreadable still, and cannot be repaired.
    pub not_repaired: u64,
    /// How many of them for which reason, as far as they were tried.
    pub failures: BTreeMap<RepairFailure, u64>,
    /// Files and directories of which it could not be told what they should be.
    pub undecided: Vec<PathBuf>,
    /// What is not as tagged and was left alone.
    pub left: LeftAlone,
    /// The numbers of the repairs under which damaged files are kept, and where.
    pub originals: Vec<(u64, PathBuf)>,
    /// Rights and attributes that repaired files and their folders had and did not get back.
    pub withheld: u64,
    /// Whether something was written.
    pub is_done: bool,
    /// Whether it was told to stop before its end.
    pub interrupted: bool,
    /// Whether something kept the check from telling all.
    is_incomplete: bool,
    /// Whether a repair in place was cut off, so that what looks edited may be half-written.
    may_be_half_written: bool,
}

impl RepairSummary {
    /// Returns the exit status: `Fine` if everything is as tagged, `Changed` if files were edited
    /// and left alone, `Corrupt` if something damaged or suspect remains. After a repair in place
    /// that cannot be finished, `Undetermined` outranks `Changed`.
    pub fn exit_status(&self) -> ExitStatus {
        let remains = self.not_repaired + self.left.suspect;
        if remains > 0 || self.repaired > 0 && !self.is_done {
            ExitStatus::Corrupt
        } else if self.interrupted {
            ExitStatus::Interrupted
        } else if self.may_be_half_written {
            ExitStatus::Undetermined
        } else if !self.left.is_fine() {
            ExitStatus::Changed
        } else {
            let doubtful = self.is_incomplete || self.withheld > 0 || !self.undecided.is_empty();
            ExitStatus::Undetermined.only_if(doubtful)
        }
    }
}

impl RepairSummary {
    /// Counts what can be done for a file, or was.
    fn count(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        // Without permission to read a file, nothing is known of its contents.
        self.withheld += outcome.withheld.len() as u64;
        let is_unknown = target.verdict == Verdict::Unreadable && outcome.damaged_pages == 0;
        match outcome.is_good() {
            true => self.repaired += 1,
            false if is_unknown => self.undecided.push(target.path.clone()),
            false => {
                self.not_repaired += 1;
                let failure = outcome.failure.unwrap_or(RepairFailure::Other);
                *self.failures.entry(failure).or_default() += 1;
            }
        }
    }
}

/// Repairs the corrupt, missing and unreadable files of a selection from copies.
///
/// A file that cannot be repaired is untouched, and the others are repaired all the same.
///
/// # Errors
/// As those of [`crate::Run::run`].
pub fn repair_files(
    selection: &Selection,
    options: &Options,
    request: &RepairRequest,
    monitor: &mut dyn RepairMonitor,
) -> Result<RepairSummary, Error> {
    let goal = RepairGoal::Tag { edited: request.to_tag, suspects: request.suspects };
    repair_towards(goal, selection, options, request, monitor)
}

/// Gives the files of a selection the contents of the tag before their present one, from copies or
/// from parity as it was before an edit. Each must be named itself. The tag is the earlier one
/// then, and the present contents are kept as damaged ones are.
///
/// # Errors
/// As [`repair_files`]; also if a folder is selected.
pub fn restore_previous(
    selection: &Selection,
    options: &Options,
    request: &RepairRequest,
    monitor: &mut dyn RepairMonitor,
) -> Result<RepairSummary, Error> {
    repair_towards(RepairGoal::Previous, selection, options, request, monitor)
}

/// Mends those files of a selection whose decay is proved, from parity and from the copies that the
/// user registered. Every other file waits for a person: this is for runs that nobody watches.
///
/// # Errors
/// As [`repair_files`].
pub fn mend_proved(
    selection: &Selection,
    options: &Options,
    monitor: &mut dyn RepairMonitor,
) -> Result<RepairSummary, Error> {
    let request = RepairRequest {
        copies: Copies::default(),
        mode: RepairMode::Yes,
        in_place: false,
        with_special: false,
        suspects: false,
        to_tag: false,
        all_lost: false,
    };
    repair_towards(RepairGoal::Proved, selection, options, &request, monitor)
}

fn repair_towards(
    goal: RepairGoal,
    selection: &Selection,
    options: &Options,
    request: &RepairRequest,
    monitor: &mut dyn RepairMonitor,
) -> Result<RepairSummary, Error> {
    let copies = request.copies.with_registered(options.catalogue.trees.as_deref());
    let request = &RepairRequest { copies, ..request.clone() };
    let mode = request.mode;
    let mut originals = BTreeMap::new();
    let told = match mode {
        RepairMode::Plan => notices_of_cut_off(selection),
        RepairMode::Ask | RepairMode::Yes => {
            end(selection, &options.catalogue.choice, &options.controls.stop, &mut originals)
        }
    };
    let is_cut_off = told.iter().any(|notice| !notice.status.is_fine());
    told.into_iter().for_each(|notice| monitor.notice(notice));
    // To look at a plan is no check of the folder.
    let is_plan = mode == RepairMode::Plan;
    let checking = Options { dry_run: options.dry_run || is_plan, ..options.clone() };
    let goal_of = (goal, request.all_lost);
    let mut found = find_targets(selection, &checking, goal_of, monitor)?;
    let mut is_half_moved = !found.moving.is_empty();
    if is_half_moved && !is_plan {
        let told = give_names_back(&found.moving, selection, options);
        is_half_moved = told.iter().any(|notice| !notice.status.is_fine());
        told.into_iter().for_each(|notice| monitor.notice(notice));
        found = find_targets(selection, &checking, goal_of, &mut Silent)?;
    }
    if !is_half_moved && !is_plan {
        clear_marks(selection);
    }
    let mut summary = RepairSummary {
        not_repaired: found.more,
        interrupted: found.interrupted,
        left: found.left,
        is_incomplete: found.is_incomplete || is_half_moved,
        may_be_half_written: is_cut_off,
        originals: places(&originals),
        ..RepairSummary::default()
    };
    let mut targets = found.targets;
    // A missing name becomes a link to a file that may have to be repaired first.
    targets.sort_by_key(|target| target.verdict == Verdict::Missing);
    let mut parities = Parities::default();
    summary.undecided = found.undecided;
    if mode != RepairMode::Yes {
        targets.retain(|target| {
            if options.controls.stop.load(Ordering::Relaxed) {
                summary.interrupted = true;
                return false;
            }
            let outcome = plan(target, request, &mut parities, &options.controls.stop);
            monitor.planned(target, &outcome);
            summary.count(target, &outcome);
            outcome.is_good()
        });
        let goes_on = mode == RepairMode::Ask && !targets.is_empty() && !summary.interrupted;
        if !goes_on || !monitor.consents(summary.repaired) {
            return Ok(summary);
        }
        (summary.repaired, summary.withheld) = (0, 0);
    }
    summary.is_done = true;
    let mut repairer = Repairer { options, request, parities, originals, monitor };
    let done = repairer.each(targets, &mut summary);
    summary.originals = places(&repairer.originals);
    check_again(done, goal, selection, options, &mut summary)?;
    repairer.report_writers(&mut summary);
    Ok(summary)
}

/// Returns where damaged files are kept, with the numbers of their runs.
fn places(originals: &BTreeMap<PathBuf, Originals>) -> Vec<(u64, PathBuf)> {
    originals.values().filter_map(Originals::place).collect()
}

/// Repairs files.
struct Repairer<'a> {
    options: &'a Options,
    request: &'a RepairRequest,
    parities: Parities,
    /// By root.
    originals: BTreeMap<PathBuf, Originals>,
    monitor: &'a mut dyn RepairMonitor,
}

impl Repairer<'_> {
    /// Repairs one file after the other. Returns those that were, and how.
    fn each(
        &mut self,
        targets: Vec<RepairTarget>,
        summary: &mut RepairSummary,
    ) -> Vec<(RepairTarget, RepairOutcome)> {
        let mut done = Vec::new();
        for target in targets {
            if self.options.controls.stop.load(Ordering::Relaxed) {
                summary.interrupted = true;
                summary.not_repaired += 1;
                *summary.failures.entry(RepairFailure::Stopped).or_default() += 1;
                continue;
            }
            let root = &target.root;
            let kept = self.originals.entry(root.clone()).or_insert_with(|| Originals::of(root));
            let parities = &mut self.parities;
            let outcome =
                repair(&target, self.request, parities, kept, &self.options.controls.stop);
            self.monitor.repaired(&target, &outcome);
            summary.count(&target, &outcome);
            if outcome.is_good() {
                done.push((target, outcome));
            }
        }
        done
    }

    /// Says of which replaced files another program had the contents open, and wrote to them since:
    /// what it wrote is not in the repaired file.
    fn report_writers(&mut self, summary: &mut RepairSummary) {
        for (root, originals) in &self.originals {
            for (relative, kept) in originals.written_since() {
                let text = format!("{WRITTEN_SINCE} `{}`", kept.display());
                let notice = Notice::failure(text).at(&root.join(relative));
                self.monitor.notice(notice);
                summary.is_incomplete = true;
            }
        }
    }
}

/// Looks at the repaired files once more. Their contents were read back and proved, so they are
/// read again only if they changed since. The catalogue records the run as the repair.
fn check_again(
    done: Vec<(RepairTarget, RepairOutcome)>,
    goal: RepairGoal,
    selection: &Selection,
    options: &Options,
    summary: &mut RepairSummary,
) -> Result<(), Error> {
    if done.is_empty() || options.controls.stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let mut repairs = Repairs::new();
    let mut roots = Vec::new();
    let mut files = Vec::new();
    let siblings = siblings_of(&done);
    let expected = summary.repaired + siblings.len() as u64;
    // The nearest catalogue of a file may be another one than that of what was selected.
    let catalogue = done.first().and_then(|(target, _)| target.catalogue.clone());
    let choice = catalogue.map_or(CatalogueUse::Off, CatalogueUse::At);
    let recorded_as = Some(VerbKind::Repair);
    let catalogue = CatalogueOptions { choice, recorded_as, ..options.catalogue.clone() };
    let options = &Options { catalogue, ..options.clone() };
    for (target, RepairOutcome { mut sources, proved: status, .. }) in done {
        for source in &mut sources {
            source.path = path_in_record(&target.root, &source.path);
        }
        files.extend(status.map(|status| ProvedFile { status, tag: target.tag }));
        roots.push(target.path);
        repairs.insert(target.relative, sources);
    }
    roots.extend(siblings);
    let selection = Selection { roots, listed: Vec::new(), ..selection.clone() };
    // A catalogue has the present tag of an earlier version, which is replaced on purpose.
    let accepts = goal == RepairGoal::Previous;
    let proved = ProvedFiles { files, repairs, accepts };
    let checked = run_proved(Verb::check(), proved, &selection, options, &mut Silent)?;
    let intact = checked.verdicts(Verdict::Intact) + checked.verdicts(Verdict::Touched);
    if intact < expected {
        let lacking = (expected - intact).min(summary.repaired);
        summary.not_repaired += lacking;
        summary.repaired -= lacking;
    }
    Ok(())
}

/// Returns the names that missing ones were linked to, which have one more link now that the
/// catalogue keeps. Those that were repaired themselves are not among them.
fn siblings_of(done: &[(RepairTarget, RepairOutcome)]) -> BTreeSet<PathBuf> {
    let is_link = |status: Status| status.links > 1;
    let linked = done.iter().filter(|(target, outcome)| {
        target.verdict == Verdict::Missing && outcome.proved.is_some_and(is_link)
    });
    let mut siblings: BTreeSet<PathBuf> = linked
        .flat_map(|(_, outcome)| outcome.sources.iter().map(|source| source.path.clone()))
        .collect();
    for (target, _) in done {
        siblings.remove(&target.root.join(&target.relative));
    }
    siblings
}

/// Returns a path as the record of a tree has it: from the root if it is in the tree, otherwise
/// absolute.
fn path_in_record(root: &Path, path: &Path) -> PathBuf {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real.strip_prefix(root).map(Path::to_owned).unwrap_or(real)
}

/// Hears nothing: of a repaired file its repair is told already.
pub(super) struct Silent;

impl Monitor for Silent {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
