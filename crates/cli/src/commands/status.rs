//! `steadfast status`: the list of catalogued trees → what each catalogue knows → one line or more.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use steadfast::{COVER_DAYS, ExitStatus, FolderState, Options, Timestamp};
use steadfast_report::advice::typed_path;
use steadfast_report::escape;
use steadfast_report::metrics::{METRICS_BEGINNING, write_metrics};
use steadfast_report::status::{write_json, write_text};
use steadfast_watch::{FolderStatus, ScheduleList, WatchPlaces};

use crate::args::StatusArgs;
use crate::document_file::DocumentFile;
use crate::exit;
use crate::outlet::Outlet;

use super::alert::{places, send_idle};

pub(super) fn run(args: &StatusArgs) -> anyhow::Result<ExitStatus> {
    if args.audit.audit {
        return super::audit::run(args);
    }
    let document = &args.document;
    ensure!(!document.csv && !document.premis, "--csv and --premis are of --audit");
    let now_s = (Options::default().now)().seconds;
    let places = places()?;
    let schedules = places.schedules()?;
    let mut trees = places.trees();
    let (mut folders, mut unlisted): (Vec<FolderStatus>, Vec<PathBuf>) = Default::default();
    if !args.directories.is_empty() {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let wanted: Vec<PathBuf> = args.directories.iter().map(real).collect();
        trees.retain(|tree| wanted.contains(&tree.root));
        unlisted.extend(wanted);
        unlisted.retain(|path| trees.iter().all(|tree| tree.root != *path));
    }
    for root in unlisted {
        folders.push(unlisted_folder(&places, &root, now_s)?);
    }
    if trees.is_empty() && folders.is_empty() {
        exit::complain("no folder is known: `steadfast init DIR` makes a catalogue of one");
        return Ok(ExitStatus::Undetermined);
    }
    // Before the catalogues are read, which may take a while.
    let place = args.prometheus.as_deref().filter(|file| *file != Path::new("-"));
    let place = place.map(metrics_place).transpose()?;
    let (mut outlet, mut status) = (Outlet::new(false), ExitStatus::Fine);
    for tree in &trees {
        folders.push(places.folder_with_drives(tree, &schedules, now_s));
        if places.notes_readers(&tree.catalogue) {
            let place = escape::path(&tree.root);
            exit::complain(&format!(
                "{place}: others can read the names and digests in its catalogue; `steadfast init \
                 --readers owner {place}` ends that"
            ));
        }
    }
    for folder in &folders {
        status.raise(folder.exit_status());
        match (&args.prometheus, document.json) {
            (Some(_), _) => {}
            (_, true) => write_json(folder, &mut outlet.pending),
            (_, false) => {
                let asked = places.asked_open(folder);
                write_text(folder, &asked, now_s, document.units, &mut outlet.pending);
            }
        }
    }
    if args.prometheus.is_some() {
        let mut metrics = Vec::new();
        write_metrics(&folders, &mut metrics);
        match place {
            Some(place) => place.write(&metrics)?,
            None => outlet.pending.answer.extend(metrics),
        }
    }
    outlet.finish()?;
    if args.alert && !send_idle(&places, schedules.schedules(), now_s) {
        status.raise(ExitStatus::Undetermined);
    }
    Ok(status)
}

/// Returns how a folder is that is not listed. It may have a catalogue all the same, such as a tree
/// that was copied.
fn unlisted_folder(places: &WatchPlaces, root: &Path, now_s: i64) -> anyhow::Result<FolderStatus> {
    let now = Timestamp { seconds: now_s, nanoseconds: 0 };
    let state = FolderState::read(root, None, COVER_DAYS, now);
    let shown = root.display();
    match &state {
        FolderState::Unrecorded => {
            let typed = typed_path(root);
            anyhow::bail!("`{shown}` has no catalogue: `steadfast init {typed}` makes one")
        }
        FolderState::PartOf(tree) => {
            let tree = tree.display();
            anyhow::bail!("`{shown}` is a part of `{tree}`: name that")
        }
        _ => Ok(places.status_of(root, state, None, now_s)),
    }
}

/// Writes the metrics of every catalogued folder to a file, which is replaced as a whole.
pub(super) fn write_metrics_file(
    file: &Path,
    places: &WatchPlaces,
    schedules: &ScheduleList,
    now_s: i64,
) -> anyhow::Result<()> {
    let place = metrics_place(file)?;
    let trees = places.trees();
    let folder = |tree| places.folder_with_drives(tree, schedules, now_s);
    let folders: Vec<FolderStatus> = trees.iter().map(folder).collect();
    let mut metrics = Vec::new();
    write_metrics(&folders, &mut metrics);
    place.write(&metrics)
}

/// Reserves a file for metrics. An existing one must be such a file.
fn metrics_place(file: &Path) -> anyhow::Result<DocumentFile> {
    let is_ours = |beginning: &[u8]| beginning.starts_with(METRICS_BEGINNING.as_bytes());
    DocumentFile::claim(file, is_ours)
}
