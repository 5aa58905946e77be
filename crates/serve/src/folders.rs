//! What is known of each served folder: its state in one word, for cards and the side bar.
//!
//! In: what a catalogue proves, and the run that goes on. Out: one state, of which the worst wins.
//! It reads no file of the folder: a file is as good as the last run that read it.

use std::path::Path;
use std::sync::Arc;

use steadfast::{FileState, FolderFacts, FolderState, FolderWord};
use steadfast_report::progress;
use steadfast_watch::{CheckSchedule, FolderStatus, FolderTrouble, SeenFolder, TroubleKind};

use crate::kinds::StateKind;
use crate::roots::ServedPath;
use crate::runs::{RunVerb, ServedRun};

/// A served folder as pages show it.
pub(crate) struct ServedFolder {
    pub(crate) place: ServedPath,
    /// The last name of its path.
    pub(crate) name: String,
    /// Its whole path.
    pub(crate) shown: String,
    pub(crate) audit: Arc<FolderState>,
    /// The run in it that goes on.
    pub(crate) run: Option<Arc<ServedRun>>,
    pub(crate) schedule: Option<CheckSchedule>,
    /// How it is with its schedule and its drives; `None` if it has no catalogue of its own.
    pub(crate) status: Option<FolderStatus>,
    /// What was last known of it, if it is away.
    pub(crate) seen: Option<SeenFolder>,
}

/// The state of a folder. The worst that applies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FolderCondition {
    /// So many files are damaged.
    Damaged(u64),
    /// So many were found damaged by a run that goes on.
    DamagedSoFar(u64),
    /// So many files could not be read.
    Unreadable(u64),
    /// So many changed, or are gone, at once: more than is usual.
    Many(u64, StateKind),
    /// A repair was cut off.
    Unfinished,
    /// A drive fails, the last check could not be made, or the like.
    Endangered,
    /// So many files were changed by something that kept their dates.
    Suspect(u64),
    /// So many files are gone.
    Missing(u64),
    /// A run goes on; the share that is done, from 0 to 1, if known.
    Going(RunVerb, Option<f64>),
    /// The last check was stopped at this share of the files.
    Stopped(f64),
    /// The folder, or its volume, is not there; what was last known of it.
    Away(Option<SeenFolder>),
    /// Its catalogue cannot be read, or belongs to a larger tree.
    Unknown,
    /// So many files are changed.
    Changed(u64),
    /// Some files are not recorded, or were not compared lately.
    Late,
    /// Everything is recorded, and no comparison was completed.
    Recorded,
    /// Every file is recorded and was compared lately.
    Intact,
    /// It has no catalogue.
    Unprotected,
}

/// A folder in the side bar.
#[derive(Clone)]
pub(crate) struct SideFolder {
    pub(crate) name: String,
    pub(crate) address: String,
    /// Its latest known state; `None` if nobody asked yet.
    pub(crate) condition: Option<FolderCondition>,
    /// How far a run in it is, from 0 to 1.
    pub(crate) share: Option<f64>,
}

/// How a state looks: its colour, and its icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConditionBadge {
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

impl ServedFolder {
    /// Returns what the catalogue knows, if it could be read.
    pub(crate) fn facts(&self) -> Option<&FolderFacts> {
        self.audit.facts()
    }

    /// Returns the address of its page.
    pub(crate) fn address(&self) -> String {
        format!("/folders/{}", self.place.root)
    }

    /// Returns how far a run in it is, if one goes on and that is known.
    pub(crate) fn share(&self) -> Option<f64> {
        progress::share(&self.run.as_ref()?.control.snapshot().progress)
    }

    /// Returns its state. Damage that a run has found so far is told at once.
    pub(crate) fn condition(&self) -> FolderCondition {
        match &self.run {
            Some(run) => self
                .damaged_so_far()
                .unwrap_or_else(|| FolderCondition::Going(run.request.verb, self.share())),
            None => self.settled(),
        }
    }

    /// Returns what alarms most: what a run has found so far, or what is known without it.
    pub(crate) fn alarm(&self) -> FolderCondition {
        self.damaged_so_far().unwrap_or_else(|| self.settled())
    }

    fn damaged_so_far(&self) -> Option<FolderCondition> {
        let damaged = self.run.as_ref()?.findings().count(StateKind::Damaged);
        (damaged > 0).then_some(FolderCondition::DamagedSoFar(damaged))
    }

    /// Returns its state apart from a run that goes on.
    pub(crate) fn settled(&self) -> FolderCondition {
        match &*self.audit {
            FolderState::Unrecorded => FolderCondition::Unprotected,
            FolderState::PartOf(_) | FolderState::Unknown(_) => FolderCondition::Unknown,
            FolderState::NotThere(_) => FolderCondition::Away(self.seen),
            FolderState::Known(facts) => {
                // With the schedule, which may have begun later than the catalogue.
                let status = self.status.as_ref();
                let found = of_facts(status.and_then(|one| one.state.facts()).unwrap_or(facts));
                let troubles = status.map(FolderStatus::troubles).unwrap_or_default();
                let is_late = |it: &FolderTrouble| it.kind == TroubleKind::NotStarted;
                let worst = match troubles.iter().all(is_late) {
                    true => FolderCondition::Late,
                    false => FolderCondition::Endangered,
                };
                match found.rank() > worst.rank() && !troubles.is_empty() {
                    true => worst,
                    false => found,
                }
            }
        }
    }
}

/// Returns how many files of a kind await an answer or a repair.
pub(crate) fn open(facts: &FolderFacts, kind: StateKind) -> u64 {
    let of_kind =
        |(state, _): &(&FileState, &u64)| StateKind::of_state(**state).is_some_and(|of| of == kind);
    facts.open.iter().filter(of_kind).map(|(_, files)| files).sum()
}

fn of_facts(facts: &FolderFacts) -> FolderCondition {
    let open = |kind| open(facts, kind);
    let known: u64 = facts.open.values().sum();
    let damaged = open(StateKind::Damaged);
    let unreadable = open(StateKind::Unreadable);
    let (suspect, missing) = (open(StateKind::Suspect), open(StateKind::Missing));
    let stopped = || facts.stopped_check().map(|(_, proved)| proved);
    match (facts.many_at_once(), facts.word()) {
        _ if damaged > 0 => FolderCondition::Damaged(damaged),
        _ if unreadable > 0 => FolderCondition::Unreadable(unreadable),
        (Some((files, state)), _) => {
            let kind = StateKind::of_state(state).unwrap_or(StateKind::Changed);
            FolderCondition::Many(files, kind)
        }
        _ if facts.has_unfinished() => FolderCondition::Unfinished,
        _ if suspect > 0 => FolderCondition::Suspect(suspect),
        _ if missing > 0 => FolderCondition::Missing(missing),
        _ if known > 0 => FolderCondition::Changed(known),
        (_, word) => match (stopped(), word) {
            (Some(proved), _) => {
                FolderCondition::Stopped(proved as f64 / facts.audit.tagged.max(1) as f64)
            }
            (None, FolderWord::Fine) => FolderCondition::Intact,
            (None, FolderWord::Recorded) => FolderCondition::Recorded,
            (None, _) => FolderCondition::Late,
        },
    }
}

impl FolderCondition {
    /// Returns its place among others: what needs attention first comes first.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            FolderCondition::Damaged(_) | FolderCondition::DamagedSoFar(_) => 0,
            FolderCondition::Unreadable(_) => 1,
            FolderCondition::Many(..) => 2,
            FolderCondition::Unfinished | FolderCondition::Endangered => 3,
            FolderCondition::Suspect(_) => 4,
            FolderCondition::Missing(_) => 5,
            FolderCondition::Going(..) => 6,
            FolderCondition::Stopped(_) => 7,
            FolderCondition::Away(_) => 8,
            FolderCondition::Unknown => 9,
            FolderCondition::Changed(_) => 10,
            FolderCondition::Late => 11,
            FolderCondition::Recorded => 12,
            FolderCondition::Intact => 13,
            FolderCondition::Unprotected => 14,
        }
    }

    /// Returns whether somebody should do something about it soon.
    pub(crate) fn alarms(&self) -> bool {
        let is_news = !matches!(self, FolderCondition::Going(..) | FolderCondition::Stopped(_));
        is_news && self.rank() <= FolderCondition::Unknown.rank()
    }

    /// Returns the colour and the icon that stand for it.
    pub(crate) fn badge(&self) -> ConditionBadge {
        let (class, icon) = match self {
            FolderCondition::Damaged(_) | FolderCondition::DamagedSoFar(_) => ("bad", "damaged"),
            FolderCondition::Unreadable(_) => ("bad", "help"),
            FolderCondition::Many(_, StateKind::Missing) => ("bad", "missing"),
            FolderCondition::Many(..) => ("bad", "many"),
            FolderCondition::Unfinished | FolderCondition::Endangered => ("bad", "damaged"),
            FolderCondition::Suspect(_) => ("warn", "suspect"),
            FolderCondition::Missing(_) => ("warn", "missing"),
            FolderCondition::Going(..) => ("info", "checking"),
            FolderCondition::Stopped(_) => ("warn", "stopped"),
            FolderCondition::Away(seen) => match seen.is_some_and(|seen| seen.damaged > 0) {
                true => ("bad", "away"),
                false => ("warn", "away"),
            },
            FolderCondition::Unknown => ("bad", "help"),
            FolderCondition::Changed(_) => ("warn", "changed"),
            FolderCondition::Late => ("warn", "clock"),
            FolderCondition::Recorded => ("idle", "recorded"),
            FolderCondition::Intact => ("good", "intact"),
            FolderCondition::Unprotected => ("idle", "unprotected"),
        };
        ConditionBadge { class, icon }
    }
}

/// Returns the last name of a path, or the whole path of the root of a file system.
pub(crate) fn name_of(path: &Path) -> String {
    let name = path.file_name().map_or(path, Path::new);
    steadfast_report::escape::path(name)
}

/// Facts of ten files, of which one was proved long ago if they are `late`.
#[cfg(test)]
pub(crate) fn facts_for_tests(open: &[(FileState, u64)], late: bool) -> FolderFacts {
    use steadfast::catalogue::{Audit, AuditWindow};
    let entries = if late { 9 } else { 10 };
    let windows = FolderFacts::windows(90).map(|days| AuditWindow {
        days,
        entries,
        bytes: 10,
        judged: entries,
    });
    let audit = Audit {
        at: (steadfast::Options::default().now)(),
        entries: 10,
        tagged: 10,
        bytes: 10,
        windows: windows.to_vec(),
        proofs: Vec::new(),
        checked: true,
        never: (0, 0),
        oldest_proof: None,
        standings: Default::default(),
        runs: Vec::new(),
    };
    let mut facts = FolderFacts::of(audit, 90);
    facts.open = open.iter().copied().collect();
    facts
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use steadfast_watch::{LastRun, ScheduleFacts};

    fn condition(open: &[(FileState, u64)], late: bool) -> FolderCondition {
        of_facts(&facts_for_tests(open, late))
    }

    /// A folder in which all is well but its schedule.
    fn scheduled(schedule: ScheduleFacts) -> ServedFolder {
        let state = FolderState::Known(Box::new(facts_for_tests(&[], false)));
        let (audit, root) = (Arc::new(state.clone()), PathBuf::from("/nas/photos"));
        let schedule = Some(schedule);
        ServedFolder {
            place: ServedPath { root: 0, below: PathBuf::new() },
            name: "photos".to_owned(),
            shown: "/nas/photos".to_owned(),
            status: Some(FolderStatus { root, state, schedule, drives: Vec::new() }),
            audit,
            run: None,
            schedule: None,
            seen: None,
        }
    }

    #[test]
    fn a_timer_that_starts_nothing_makes_a_folder_late_and_a_check_that_fails_endangers_it() {
        let schedule = ScheduleFacts {
            name: "photos".to_owned(),
            every: "night".to_owned(),
            at: "02:00".to_owned(),
            last_run_s: None,
            last: LastRun::default(),
            unstarted_s: None,
            is_long_away: false,
        };
        assert_eq!(scheduled(schedule.clone()).condition(), FolderCondition::Intact);
        let unstarted = ScheduleFacts { unstarted_s: Some(9 * 86_400), ..schedule.clone() };
        assert_eq!(scheduled(unstarted).condition(), FolderCondition::Late);
        let last = LastRun { failure: Some("no room".to_owned()), ..LastRun::default() };
        let failed = scheduled(ScheduleFacts { last, ..schedule });
        assert_eq!(failed.condition(), FolderCondition::Endangered);
    }

    #[test]
    fn the_worst_state_wins_and_what_was_not_judged_is_not_intact() {
        use FileState::{Corrupt, Missing, Modified, Suspect, Unreadable};
        let all = [(Corrupt, 2), (Modified, 3), (Unreadable, 1)];
        assert_eq!(condition(&all, true), FolderCondition::Damaged(2));
        assert_eq!(condition(&all[1..], true), FolderCondition::Unreadable(1));
        let open = [(Suspect, 1), (Missing, 4), (Modified, 3)];
        assert_eq!(condition(&open, true), FolderCondition::Suspect(1));
        assert_eq!(condition(&open[1..], true), FolderCondition::Missing(4));
        assert_eq!(condition(&open[2..], true), FolderCondition::Changed(3));
        assert_eq!(condition(&[], true), FolderCondition::Late);
        assert_eq!(condition(&[], false), FolderCondition::Intact);
        let mut facts = facts_for_tests(&[], false);
        facts.audit.checked = false;
        assert_eq!(of_facts(&facts), FolderCondition::Recorded, "nothing was compared yet");
    }
}
