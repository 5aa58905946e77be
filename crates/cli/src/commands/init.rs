//! `steadfast init`: arguments → a new catalogue, entered from the tags → the report.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use steadfast::ExitStatus;
use steadfast::Options;
use steadfast::catalogue::{Catalogue, FILE, FOLDER, LockRequest, TreeList};

use crate::args::InitArgs;
use crate::exit::complain;
use crate::state_folder;

use super::{execute_with, report};

pub(super) fn run(args: &InitArgs) -> anyhow::Result<ExitStatus> {
    let trees = state_folder::trees();
    if args.forget {
        return forget(&args.root, trees);
    }
    let options = Options::default().with(|options| {
        options.qos = args.level.level();
        options.catalogue.trees = trees;
    });
    let writer = LockRequest { verb: "init", now: (options.now)(), wait: None };
    if args.rebind {
        let mut catalogue = Catalogue::open_writer(&file_of(args), &writer)?;
        catalogue.rebind(&args.root)?;
        return Ok(ExitStatus::Fine);
    }
    if args.rebuild && Catalogue::is_found(&file_of(args)) {
        let aside = Catalogue::set_aside(&file_of(args), &writer)?;
        complain(&format!("the previous catalogue is now `{}`", aside.display()));
    }
    execute_with(options, &args.output, report, |options, console| {
        steadfast::run::init(&args.root, args.catalogue.as_deref(), options, console)
    })
}

/// Removes a tree from the list of catalogued trees.
fn forget(root: &Path, trees: Option<PathBuf>) -> anyhow::Result<ExitStatus> {
    let trees =
        trees.context("there is no list of trees: neither XDG_STATE_HOME nor HOME is set")?;
    let real = root.canonicalize();
    let real = real.with_context(|| format!("cannot find `{}`", root.display()))?;
    let removed = TreeList::at(&trees).remove(&real);
    let removed = removed.with_context(|| format!("cannot change `{}`", trees.display()))?;
    let (real, trees) = (real.display(), trees.display());
    ensure!(removed, "the list of catalogued trees, `{trees}`, has no `{real}`");
    Ok(ExitStatus::Fine)
}

fn file_of(args: &InitArgs) -> PathBuf {
    args.catalogue.clone().unwrap_or_else(|| args.root.join(FOLDER).join(FILE))
}
