//! `steadfast status`: the list of catalogued trees → what each catalogue knows → one line or more.

use std::path::{Path, PathBuf};

use steadfast::ExitStatus;
use steadfast::Options;
use steadfast_report::metrics::write_metrics;

use crate::args::StatusArgs;
use crate::exit;
use crate::outlet::Outlet;

use super::news;
use super::tree_status::{list, metrics_place, trees, with_drives};

pub(super) fn run(args: &StatusArgs) -> anyhow::Result<ExitStatus> {
    let now_s = (Options::default().now)().seconds;
    let schedules = list()?;
    let mut trees = trees();
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
        return Ok(ExitStatus::Undetermined);
    }
    // Before the catalogues are read, which may take a while.
    let place = args.prometheus.as_deref().filter(|file| *file != Path::new("-"));
    let place = place.map(metrics_place).transpose()?;
    let mut outlet = Outlet::new(false);
    let mut status = ExitStatus::Fine;
    let mut folders = Vec::new();
    for tree in &trees {
        let folder = with_drives(tree, &schedules, now_s);
        status.raise(folder.exit_status());
        match (&args.prometheus, args.json) {
            (Some(_), _) => folders.push(folder),
            (_, true) => folder.write_json(&mut outlet.pending),
            (_, false) => folder.write_text(now_s, args.units, &mut outlet.pending),
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
    if args.alert && !news::look_after(schedules.schedules(), now_s) {
        status.raise(ExitStatus::Undetermined);
    }
    Ok(status)
}
