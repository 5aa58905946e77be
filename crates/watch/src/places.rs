//! The folders of a user: schedules, alerts, what became of runs, and the catalogued trees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use steadfast::catalogue::{Catalogue, CataloguedTree, TreeList};
use steadfast::{COVER_DAYS, FolderState, Notice, Timestamp};
use steadfast_sys::clock;

use crate::alert::config::{Alert, AlertList};
use crate::alert::memory::Memory;
use crate::drive::{DriveProbe, DriveReport};
use crate::error::{Error, ErrorKind};
use crate::folder::{FolderStatus, ScheduleFacts};
use crate::journal::Journal;
use crate::list::ScheduleList;
use crate::schedule::CheckSchedule;
use steadfast_words::quoted;

/// Where the schedules and alerts of a user are, and what is kept of them. Neither is in a tree.
#[derive(Clone, Debug)]
pub struct WatchPlaces {
    /// The folder of what the user writes: `schedules.toml` and `alerts.toml`.
    pub configuration: PathBuf,
    /// The folder of what runs write.
    pub state: PathBuf,
}

impl WatchPlaces {
    /// Reads the schedules.
    ///
    /// # Errors
    /// As [`ScheduleList::read`].
    pub fn schedules(&self) -> Result<ScheduleList, Error> {
        ScheduleList::read(&self.configuration.join("schedules.toml"))
    }

    /// Reads the alerts.
    ///
    /// # Errors
    /// As [`AlertList::read`].
    pub fn alerts(&self) -> Result<AlertList, Error> {
        AlertList::read(&self.configuration.join("alerts.toml"))
    }

    /// Returns the folder of the journals.
    pub fn journals(&self) -> PathBuf {
        self.state.join("schedules")
    }

    /// Returns the journal of a schedule.
    pub fn journal(&self, schedule: &CheckSchedule) -> Journal {
        Journal::of(&self.journals(), &schedule.name)
    }

    /// Returns the file that keeps what was told to a channel.
    pub(crate) fn memory_file(&self, alert: &Alert) -> PathBuf {
        self.state.join("alerts").join(format!("{}.json", alert.memory_name()))
    }

    /// Returns what was told to a channel.
    pub(crate) fn memory_of(&self, alert: &Alert) -> Memory {
        Memory::read(&self.memory_file(alert))
    }

    /// Returns the file that lists the catalogued trees.
    pub fn tree_list(&self) -> PathBuf {
        self.state.join("trees")
    }

    /// Returns the catalogued trees.
    pub fn trees(&self) -> Vec<CataloguedTree> {
        TreeList::at(&self.tree_list()).read()
    }

    /// Returns the catalogued tree at a root that a person names, and enters it in the list.
    ///
    /// # Errors
    /// If it has no catalogue of its own, or that is of another tree.
    pub fn enter(&self, root: &Path) -> Result<CataloguedTree, Error> {
        let list = TreeList::at(&self.tree_list());
        let listed = list.of_root(root).map(|tree| tree.catalogue);
        let catalogue = match listed.or_else(|| Catalogue::find(root)) {
            Some(file) => Some(Catalogue::open_reader(&file)?).filter(|it| it.root() == root),
            None => None,
        };
        let catalogue = catalogue.ok_or_else(|| {
            let root = root.display().to_string();
            let message = format!(
                "`{root}` has no catalogue of its own: `steadfast init {}` makes one",
                quoted(&root)
            );
            Error::new(ErrorKind::Catalogue, message)
        })?;
        catalogue.guard()?;
        let tree = catalogue.tree()?;
        list.enter(&tree).map_err(|error| Error::system("write", &self.tree_list(), &error))?;
        Ok(tree)
    }

    /// Returns the tree for which a schedule was made, wherever it is mounted now. One that is not
    /// listed is looked for at the place of the schedule.
    pub fn tree_of(&self, schedule: &CheckSchedule) -> Option<CataloguedTree> {
        let fits = |tree: CataloguedTree| Some((schedule.fitness_of(&tree)?, tree));
        let listed = self.trees().into_iter().filter_map(fits);
        let found = || {
            let catalogue = Catalogue::open_reader(&Catalogue::find(&schedule.directory)?).ok()?;
            let tree = catalogue.tree().ok()?;
            let volume = tree.volume.to_string();
            let is_folder = schedule.tree_volume.as_ref().is_none_or(|listed| *listed == volume);
            (is_folder && schedule.fitness_of(&tree).is_some()).then_some(tree)
        };
        let best = listed.max_by_key(|(fitness, _)| *fitness).map(|(_, tree)| tree);
        best.or_else(found)
    }

    /// Returns how a tree is, without what its drives say.
    pub fn folder(
        &self,
        tree: &CataloguedTree,
        schedule: Option<&CheckSchedule>,
        now_s: i64,
    ) -> FolderStatus {
        let cover_days = schedule.map_or(COVER_DAYS, |schedule| schedule.cover_days);
        let now = Timestamp { seconds: now_s, nanoseconds: 0 };
        let state = FolderState::read(&tree.root, Some(tree), cover_days, now);
        self.status_of(&tree.root, state, schedule, now_s)
    }

    /// Returns how the folder of a schedule is, with what the drives beneath it say.
    pub fn folder_of(&self, schedule: &CheckSchedule, now_s: i64) -> FolderStatus {
        let folder = self.state_of(schedule, now_s);
        FolderStatus { drives: drives(&schedule.directory), ..folder }
    }

    /// Returns how the folder of a schedule is, without what its drives say.
    pub(crate) fn state_of(&self, schedule: &CheckSchedule, now_s: i64) -> FolderStatus {
        let tree = self.tree_of(schedule);
        let root = tree.as_ref().map_or(&schedule.directory, |tree| &tree.root);
        let now = Timestamp { seconds: now_s, nanoseconds: 0 };
        let state = match FolderState::read(root, tree.as_ref(), schedule.cover_days, now) {
            FolderState::Known(_) if tree.is_none() => FolderState::NotThere(other_tree(root)),
            state => state,
        };
        self.status_of(root, state, Some(schedule), now_s)
    }

    /// Returns how a folder is whose state was read already.
    pub fn status_of(
        &self,
        root: &Path,
        mut state: FolderState,
        schedule: Option<&CheckSchedule>,
        now_s: i64,
    ) -> FolderStatus {
        if let (FolderState::Known(facts), Some(schedule)) = (&mut state, schedule) {
            // A new schedule has its whole cover to prove everything once.
            facts.begun_s = facts.begun_s.max(schedule.made_s);
        }
        let awake_s = clock::awake_s();
        let facts = |one| ScheduleFacts::of(one, self.journal(one).read(), now_s, awake_s);
        let schedule = schedule.map(facts);
        let seen = match state.facts() {
            None => self.seen(root),
            Some(_) => None,
        };
        let (root, drives, found) = (root.to_owned(), Vec::new(), Vec::new());
        FolderStatus { root, state, schedule, drives, seen, found }
    }

    /// Returns how a tree is, with what the drives beneath it say, which may take seconds.
    pub fn folder_with_drives(
        &self,
        tree: &CataloguedTree,
        schedules: &ScheduleList,
        now_s: i64,
    ) -> FolderStatus {
        let is_of_tree = |schedule: &&CheckSchedule| self.tree_of(schedule).as_ref() == Some(tree);
        let schedule = schedules.schedules().iter().find(is_of_tree);
        let folder = self.folder(tree, schedule, now_s);
        FolderStatus { drives: drives(&tree.root), ..folder }
    }
}

/// Returns what to say if a schedule was made for another tree than the one that is there.
fn other_tree(root: &Path) -> Notice {
    let root = quoted(&root.display().to_string());
    Notice::failure(format!(
        "the schedule was made for another tree than the one that is there. If it is meant: \
         steadfast schedule add {root}"
    ))
}

/// How long what drives say holds for pages and metrics that ask again and again.
const DRIVES_LIFE: Duration = Duration::from_secs(600);

/// What drives said, by the folders above them.
static KNOWN_DRIVES: Mutex<BTreeMap<PathBuf, (Instant, Vec<DriveReport>)>> =
    Mutex::new(BTreeMap::new());

/// Asks the drives beneath a folder what they say of their own failures, or returns what they said
/// a moment ago.
pub fn drives(folder: &Path) -> Vec<DriveReport> {
    let known = || KNOWN_DRIVES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_late = |(asked, _): &(Instant, _)| asked.elapsed() >= DRIVES_LIFE;
    if known().get(folder).is_none_or(is_late) {
        let reports = DriveProbe::default().of_folder(folder);
        known().insert(folder.to_owned(), (Instant::now(), reports));
    }
    drives_known(folder)
}

/// Returns what the drives beneath a folder said to this process, and asks none.
pub fn drives_known(folder: &Path) -> Vec<DriveReport> {
    let known = KNOWN_DRIVES.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(folder).map(|(_, reports)| reports.clone()).unwrap_or_default()
}
