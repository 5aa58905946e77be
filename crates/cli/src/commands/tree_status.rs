//! What is known of a catalogued tree: its state, its schedule, and what its drives say.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use steadfast::catalogue::{Catalogue, CataloguedTree, TreeList};
use steadfast::{COVER_DAYS, FolderState, Timestamp};
use steadfast_report::metrics::{METRICS_BEGINNING, write_metrics};
use steadfast_report::status::{DriveFacts, DriveRemark, FolderStatus, ScheduleFacts};
use steadfast_watch::{
    CheckSchedule, DriveFinding, DriveProbe, DriveReport, Journal, ScheduleList,
};

use crate::document_file::DocumentFile;
use crate::state_folder;

/// Writes the metrics of every catalogued folder to a file, which is replaced as a whole.
pub(super) fn write_metrics_file(
    file: &Path,
    schedules: &ScheduleList,
    now_s: i64,
) -> anyhow::Result<()> {
    let place = metrics_place(file)?;
    let folders: Vec<FolderStatus> =
        trees().iter().map(|tree| with_drives(tree, schedules, now_s)).collect();
    let mut metrics = Vec::new();
    write_metrics(&folders, &mut metrics);
    place.write(&metrics)
}

/// Reserves a file for metrics. An existing one must be such a file.
pub(super) fn metrics_place(file: &Path) -> anyhow::Result<DocumentFile> {
    let is_ours = |beginning: &[u8]| beginning.starts_with(METRICS_BEGINNING.as_bytes());
    DocumentFile::claim(file, is_ours)
}

/// Returns the catalogued trees of the user.
pub(super) fn trees() -> Vec<CataloguedTree> {
    state_folder::trees().map_or_else(Vec::new, |file| TreeList::at(&file).read())
}

/// Returns the state of a tree, and what the drives beneath it say.
pub(super) fn with_drives(
    tree: &CataloguedTree,
    schedules: &ScheduleList,
    now_s: i64,
) -> FolderStatus {
    let schedule = schedules.schedules().iter().find(|one| one.directory == tree.root);
    FolderStatus { drives: drives(&tree.root), ..of_tree(tree, schedule, now_s) }
}

/// Returns the schedules of the user.
pub(super) fn list() -> anyhow::Result<ScheduleList> {
    let folder = state_folder::configuration();
    let folder = folder.context("neither XDG_CONFIG_HOME nor HOME is set")?;
    Ok(ScheduleList::read(&folder.join("schedules.toml"))?)
}

/// Returns the journal of a schedule.
pub(super) fn journal(schedule: &CheckSchedule) -> anyhow::Result<Journal> {
    Ok(Journal::of(&journals()?, &schedule.name))
}

/// Returns the folder of the journals.
pub(super) fn journals() -> anyhow::Result<PathBuf> {
    let folder = state_folder::folder();
    Ok(folder.context("neither XDG_STATE_HOME nor HOME is set")?.join("schedules"))
}

/// Returns the state of a tree.
pub(super) fn of_tree(
    tree: &CataloguedTree,
    schedule: Option<&CheckSchedule>,
    now_s: i64,
) -> FolderStatus {
    let cover_days = schedule.map_or(COVER_DAYS, |schedule| schedule.cover_days);
    let now = Timestamp { seconds: now_s, nanoseconds: 0 };
    let state = FolderState::read(&tree.root, Some(&tree.catalogue), cover_days, now);
    let schedule = schedule.map(|schedule| {
        let last = journal(schedule).map(|journal| journal.read()).unwrap_or_default();
        ScheduleFacts::of(schedule, last, now_s)
    });
    FolderStatus { root: tree.root.clone(), state, schedule, drives: Vec::new() }
}

/// Asks the drives beneath a folder what they say of their own failures.
pub(super) fn drives(folder: &Path) -> Vec<DriveFacts> {
    let remark = |finding: DriveFinding| {
        let DriveFinding { key, count, text } = finding;
        DriveRemark { key, count, text }
    };
    let facts = |report: DriveReport| {
        let DriveReport { name, model, sources, findings } = report;
        DriveFacts { name, model, sources, findings: findings.into_iter().map(remark).collect() }
    };
    DriveProbe::default().of_folder(folder).into_iter().map(facts).collect()
}

/// Returns the entry of a root in the list of catalogued trees.
pub(super) fn tree_of(root: &Path) -> anyhow::Result<CataloguedTree> {
    let trees = state_folder::trees().map(|file| TreeList::at(&file).read()).unwrap_or_default();
    let listed = trees.into_iter().find(|tree| tree.root == root);
    let found = || {
        let catalogue = Catalogue::open_reader(&Catalogue::find(root)?).ok()?;
        catalogue.tree().ok().filter(|tree| tree.root == root)
    };
    let tree = listed.or_else(found);
    tree.with_context(|| {
        format!("`{0}` has no catalogue of its own: `steadfast init {0}` makes one", root.display())
    })
}
