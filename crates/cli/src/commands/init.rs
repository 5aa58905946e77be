//! `steadfast init`: arguments → a catalogue with every file in it → the report, and what is next.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use steadfast::ExitStatus;
use steadfast::catalogue::{Catalogue, FILE, FOLDER, LockRequest, Readers, TreeList};
use steadfast::{CatalogueUse, InitOptions, Verb, VerbKind};
use steadfast_report::advice::typed_path;

use crate::args::InitArgs;
use crate::exit::complain;
use crate::output::answer;
use crate::state_folder;

use super::{execute, report};

pub(super) fn run(args: &InitArgs) -> anyhow::Result<ExitStatus> {
    let trees = state_folder::trees();
    if args.forget {
        return forget(args.root(), trees);
    }
    let paths: Vec<PathBuf> = args.directory.iter().cloned().collect();
    args.whole_system.ensure_meant("init", &paths, args.catalogue.as_deref())?;
    let options = args.walk.empty.choose(args.engine.options());
    let options = options.with(|options| {
        options.catalogue.trees = trees;
        options.catalogue.choice =
            args.catalogue.clone().map_or(CatalogueUse::Nearest, CatalogueUse::At);
    });
    let writer = LockRequest { verb: VerbKind::Init, now: (options.now)(), wait: None };
    if args.rebind {
        let mut catalogue = Catalogue::open_writer(&file_of(args), &writer)?;
        let former = catalogue.rebind(args.root())?;
        if let Some(trees) = &options.catalogue.trees {
            let entered = TreeList::at(trees).enter_bound(&catalogue.tree()?, &former);
            entered.with_context(|| format!("cannot change `{}`", trees.display()))?;
        }
        return Ok(ExitStatus::Fine);
    }
    let set_readers = || match args.readers {
        Some(readers) => set_readers(&file_of(args), readers, &writer),
        None => Ok(()),
    };
    if args.readers.is_some() && !args.rebuild && Catalogue::is_found(&file_of(args)) {
        return set_readers().map(|()| ExitStatus::Fine);
    }
    if args.rebuild && Catalogue::is_found(&file_of(args)) {
        let aside = Catalogue::set_aside(&file_of(args), &writer)?;
        complain(&format!("the previous catalogue is now `{}`", aside.display()));
    }
    let roots = vec![args.root().to_owned()];
    let selection = args.walk.selection()?.with(|selection| selection.roots = roots);
    let (algorithm, tags_only) = (args.algorithm.algorithm, args.tags_only);
    let verb = Verb::Init(InitOptions { algorithm, tags_only });
    let status = execute(verb, &selection, options, &args.output, report(&selection.roots))?;
    if Catalogue::is_found(&file_of(args)) {
        set_readers()?;
    }
    let output = &args.output;
    if !(output.json || output.csv || output.quiet) {
        answer(next_steps(args, status).as_bytes())?;
    }
    Ok(status)
}

/// Opens a catalogue to readers, which `status` then need not mention.
fn set_readers(file: &Path, readers: Readers, writer: &LockRequest<'_>) -> anyhow::Result<()> {
    Catalogue::set_readers(file, readers, writer)?;
    if let (Ok(places), Ok(file)) = (super::alert::places(), file.canonicalize()) {
        places.notes_readers(&file);
    }
    Ok(())
}

/// Says what to type next.
fn next_steps(args: &InitArgs, status: ExitStatus) -> String {
    let place = typed_path(args.root());
    let place = match &args.catalogue {
        Some(file) => format!("--catalogue {} {place}", typed_path(file)),
        None => place,
    };
    let command = |verb: &str, what: &str| format!("  {:<40}  {what}\n", format!("{verb} {place}"));
    match status {
        ExitStatus::Interrupted => {
            format!("\nIt goes on where it was if you run it again: steadfast init {place}\n")
        }
        ExitStatus::Fine if args.tags_only => {
            let check = command("steadfast check", "read every file and compare it");
            format!("\nThe tags are entered. No file was read. Next:\n{check}")
        }
        ExitStatus::Fine if is_empty(args.root()) => {
            let update = command("steadfast update", "after you added files");
            format!("\nThere is nothing to record yet. Next:\n{update}")
        }
        ExitStatus::Fine => {
            let check = command("steadfast check", "find what changed without you");
            let update = command("steadfast update", "after you added or edited files");
            let mut text = format!("\nEvery file is recorded. Next:\n{check}{update}");
            if args.catalogue.is_none() {
                text += &command("steadfast schedule add", "check by itself, and be told");
            }
            text
        }
        _ => String::new(),
    }
}

/// Returns whether a folder has nothing but what Steadfast keeps there.
fn is_empty(root: &Path) -> bool {
    let mut names = root.read_dir().into_iter().flatten().flatten();
    names.all(|entry| entry.file_name() == FOLDER)
}

/// Removes a tree from the list of catalogued trees.
fn forget(root: &Path, trees: Option<PathBuf>) -> anyhow::Result<ExitStatus> {
    let trees =
        trees.context("there is no list of trees: neither XDG_STATE_HOME nor HOME is set")?;
    // The folder may be gone.
    let real = root.canonicalize().or_else(|_| std::path::absolute(root));
    let real = real.with_context(|| format!("cannot find `{}`", root.display()))?;
    let removed = TreeList::at(&trees).remove(&real);
    let removed = removed.with_context(|| format!("cannot change `{}`", trees.display()))?;
    let (real, trees) = (real.display(), trees.display());
    ensure!(removed, "the list of catalogued trees, `{trees}`, has no `{real}`");
    Ok(ExitStatus::Fine)
}

fn file_of(args: &InitArgs) -> PathBuf {
    args.catalogue.clone().unwrap_or_else(|| args.root().join(FOLDER).join(FILE))
}
