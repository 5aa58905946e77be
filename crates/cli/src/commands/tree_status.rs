//! What is known of a catalogued tree: its state, its schedule, and what its drives say.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use steadfast::Options;
use steadfast::catalogue::{Catalogue, CatalogueErrorKind, CataloguedTree, TreeList};
use steadfast_report::metrics::{METRICS_BEGINNING, write_metrics};
use steadfast_report::status::{
    COVER_DAYS, DriveFacts, DriveRemark, FolderFacts, FolderState, FolderStatus, ScheduleFacts,
};
use steadfast_schedule::{
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
    let state = state_of(&tree.root, &tree.catalogue, cover_days, now_s);
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

fn state_of(root: &Path, catalogue: &Path, cover_days: u32, now_s: i64) -> FolderState {
    if !root.is_dir() {
        return FolderState::NotThere("there is no such folder: is its volume mounted?".to_owned());
    }
    let facts = Catalogue::open_reader(catalogue).and_then(|catalogue| {
        catalogue.guard()?;
        facts_of(&catalogue, cover_days, now_s)
    });
    match facts {
        Ok(facts) => FolderState::Known(facts),
        Err(error) => match error.kind() {
            CatalogueErrorKind::OtherVolume | CatalogueErrorKind::EmptyRoot => {
                FolderState::NotThere(error.to_string())
            }
            _ => FolderState::Unknown(error.to_string()),
        },
    }
}

/// Reads what a catalogue knows of its folder.
fn facts_of(
    catalogue: &Catalogue,
    cover_days: u32,
    now_s: i64,
) -> Result<FolderFacts, steadfast::catalogue::CatalogueError> {
    let mut now = (Options::default().now)();
    now.seconds = now_s;
    let audit = catalogue.audit(&FolderFacts::windows(cover_days), now)?;
    let mut facts = FolderFacts::of(&audit, cover_days);
    catalogue.failures(&mut |failure| {
        facts.add(&failure);
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(facts)
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
