//! `steadfast status`: the list of catalogued trees → what each catalogue knows → one line or more.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use steadfast::Options;
use steadfast::catalogue::{Catalogue, CatalogueErrorKind, CataloguedTree, TreeList};
use steadfast::verdict::worse_status;
use steadfast_report::status::{COVER_DAYS, FolderFacts, FolderState, FolderStatus, ScheduleFacts};
use steadfast_schedule::{CheckSchedule, Journal, ScheduleList};

use crate::args::StatusArgs;
use crate::exit;
use crate::outlet::Outlet;
use crate::state_folder;

use super::schedule;

pub(super) fn run(args: &StatusArgs) -> anyhow::Result<u8> {
    let now_s = (Options::default().now)().seconds;
    let schedules = list()?;
    let mut trees = match state_folder::trees() {
        Some(file) => TreeList::at(&file).read(),
        None => Vec::new(),
    };
    if !args.directories.is_empty() {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let wanted: Vec<PathBuf> = args.directories.iter().map(real).collect();
        let unknown = wanted.iter().find(|path| trees.iter().all(|tree| tree.root != **path));
        if let Some(path) = unknown {
            anyhow::bail!("`{}` has no catalogue: `steadfast init` makes one", path.display());
        }
        trees.retain(|tree| wanted.contains(&tree.root));
    }
    if trees.is_empty() {
        exit::complain("no folder is known: `steadfast init DIR` makes a catalogue of one");
        return Ok(exit::COULD_NOT_TELL);
    }
    let mut outlet = Outlet::new(false);
    let mut status = 0;
    for tree in &trees {
        let schedule = schedules.schedules().iter().find(|one| one.directory == tree.root);
        let folder = of_tree(tree, schedule, now_s);
        status = worse_status(status, folder.exit_status());
        match args.json {
            true => folder.write_json(&mut outlet.pending),
            false => folder.write_text(now_s, args.units, &mut outlet.pending),
        }
    }
    outlet.finish()?;
    if args.alert && !schedule::news::look_after(schedules.schedules(), now_s) {
        status = worse_status(status, exit::COULD_NOT_TELL);
    }
    Ok(status)
}

/// Returns the schedules of the user.
pub(super) fn list() -> anyhow::Result<ScheduleList> {
    let folder = state_folder::configuration();
    let folder = folder.context("neither XDG_CONFIG_HOME nor HOME is set")?;
    Ok(ScheduleList::read(&folder.join("schedules.toml"))?)
}

/// Returns the journal of a schedule.
pub(super) fn journal(schedule: &CheckSchedule) -> anyhow::Result<Journal> {
    let folder = state_folder::folder();
    let folder = folder.context("neither XDG_STATE_HOME nor HOME is set")?;
    Ok(Journal::of(&folder.join("schedules"), &schedule.name))
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
        let unstarted_s = last.unstarted_s(schedule, now_s);
        ScheduleFacts {
            unstarted_s,
            name: schedule.name.clone(),
            every: schedule.every.to_string(),
            at: schedule.at.to_string(),
            last_run_s: last.began_s,
            last_status: last.status,
            skipped: last.skipped,
        }
    });
    FolderStatus { root: tree.root.clone(), state, schedule }
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
