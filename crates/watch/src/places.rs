//! The folders of a user: schedules, alerts, what became of runs, and the catalogued trees.

use std::path::{Path, PathBuf};

use steadfast::catalogue::{Catalogue, CataloguedTree, TreeList};
use steadfast::{COVER_DAYS, FolderState, Timestamp};

use crate::alert::config::AlertList;
use crate::drive::{DriveProbe, DriveReport};
use crate::error::{Error, ErrorKind};
use crate::folder::{FolderStatus, ScheduleFacts};
use crate::journal::Journal;
use crate::list::ScheduleList;
use crate::schedule::CheckSchedule;

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

    /// Returns the file of what was told about the folder of a schedule.
    pub(crate) fn told(&self, schedule: &CheckSchedule) -> PathBuf {
        self.state.join("alerts").join(format!("{}.json", schedule.name))
    }

    /// Returns the file that lists the catalogued trees.
    pub fn tree_list(&self) -> PathBuf {
        self.state.join("trees")
    }

    /// Returns the catalogued trees.
    pub fn trees(&self) -> Vec<CataloguedTree> {
        TreeList::at(&self.tree_list()).read()
    }

    /// Returns the catalogued tree at a root, from the list or from what is there.
    ///
    /// # Errors
    /// If it has no catalogue of its own.
    pub fn tree(&self, root: &Path) -> Result<CataloguedTree, Error> {
        let listed = self.trees().into_iter().find(|tree| tree.root == root);
        let found = || {
            let catalogue = Catalogue::open_reader(&Catalogue::find(root)?).ok()?;
            catalogue.tree().ok().filter(|tree| tree.root == root)
        };
        listed.or_else(found).ok_or_else(|| {
            let message = "`{}` has no catalogue of its own: `steadfast init {}` makes one"
                .replace("{}", &root.display().to_string());
            Error::new(ErrorKind::Catalogue, message)
        })
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
        let state = FolderState::read(&tree.root, Some(&tree.catalogue), cover_days, now);
        self.status_of(&tree.root, state, schedule, now_s)
    }

    /// Returns how a folder is whose state was read already.
    pub fn status_of(
        &self,
        root: &Path,
        state: FolderState,
        schedule: Option<&CheckSchedule>,
        now_s: i64,
    ) -> FolderStatus {
        let facts = |one| ScheduleFacts::of(one, self.journal(one).read(), now_s);
        let schedule = schedule.map(facts);
        FolderStatus { root: root.to_owned(), state, schedule, drives: Vec::new() }
    }

    /// Returns how a tree is, with what the drives beneath it say, which may take seconds.
    pub fn folder_with_drives(
        &self,
        tree: &CataloguedTree,
        schedules: &ScheduleList,
        now_s: i64,
    ) -> FolderStatus {
        let folder = self.folder(tree, schedules.of_folder(&tree.root), now_s);
        FolderStatus { drives: drives(&tree.root), ..folder }
    }
}

/// Asks the drives beneath a folder what they say of their own failures.
pub fn drives(folder: &Path) -> Vec<DriveReport> {
    DriveProbe::default().of_folder(folder)
}
