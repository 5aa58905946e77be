//! `steadfast repair`: arguments → a repair → text or JSON.

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use steadfast::beneath;
use steadfast::catalogue::Catalogue;
use steadfast::repair::mend_proved;
use steadfast::repair::{
    Copies, CopyList, RepairMode, RepairMonitor, RepairOutcome, RepairRequest, RepairTarget,
    discard, discard_unfinished, repair_files, restore_previous,
};
use steadfast::{Event, ExitStatus, FileState, Monitor};
use steadfast::{Options, Selection};
use steadfast_report::advice;
use steadfast_report::repair::{
    write_file_json, write_file_text, write_summary_json, write_summary_text,
};
use steadfast_report::{escape, units};
use steadfast_watch::QuestionKind;

use crate::args::{Discarded, RememberedArgs, RepairArgs};
use crate::exit;
use crate::local_time::moments;
use crate::output::{answer, answer_part};
use crate::state_folder;

use super::answer::answered;
use super::par2;

pub(super) fn run(args: &RepairArgs) -> anyhow::Result<ExitStatus> {
    if let Some(what) = args.discard {
        return discard_kept(&args.paths.paths, what);
    }
    let RememberedArgs { remember_copy, forget_copy, list_copies } = &args.copies;
    if remember_copy.is_some() || forget_copy.is_some() || *list_copies {
        return change_copies(args);
    }
    if par2::are_sets(&args.paths.paths)? {
        return par2::repair(args);
    }
    if args.paths.files_from.is_none() {
        let named = args.catalogue.catalogue.as_deref();
        args.meant.whole_system.ensure_meant("repair", &args.paths.paths, named)?;
    }
    let mode = mode_of(args);
    let question =
        args.meant.answer.as_ref().map(|code| answered(code, &args.paths)).transpose()?;
    let asks = |state| question.as_ref().is_some_and(|it| it.kind == QuestionKind::State(state));
    let (asks_suspect, asks_edited) = (asks(FileState::Suspect), asks(FileState::Modified));
    let selection = match question {
        Some(question) => question.selection,
        None => args.paths.selection()?,
    };
    let request = RepairRequest {
        copies: Copies::new(&args.from)?,
        mode,
        in_place: args.in_place,
        with_special: args.set_id,
        suspects: args.suspect || asks_suspect,
        to_tag: args.to_tag || asks_edited,
        all_lost: args.all_lost,
    };
    let options = args.catalogue.choose(args.paths.walk.empty.choose(args.engine.options()));
    let stop = exit::stop_on_signals()?;
    let options = options.with(|options| {
        options.controls.stop = stop;
        options.allow_empty |= args.all_lost;
    });
    let mut console = RepairConsole { json: args.json, mended: Vec::new() };
    let work = if args.to_previous { restore_previous } else { repair_files };
    let summary = work(&selection, &options, &request, &mut console)?;
    let mut end = Vec::new();
    match args.json {
        true => write_summary_json(&summary, &mut end),
        false => write_summary_text(&summary, &mut end),
    }
    answer(&end)?;
    if mode == RepairMode::Plan && !args.meant.dry_run.dry_run && summary.repaired > 0 {
        exit::complain(par2::ADD_YES);
    }
    Ok(summary.exit_status())
}

/// Registers, forgets or lists copies of a tree.
fn change_copies(args: &RepairArgs) -> anyhow::Result<ExitStatus> {
    let path = match args.paths.paths.as_slice() {
        [] => Path::new("."),
        [path] => path,
        _ => bail!("copies are of one tree: name one PATH"),
    };
    let real = path.canonicalize().with_context(|| format!("cannot find `{}`", path.display()))?;
    let catalogue = Catalogue::find(&real);
    let root = match catalogue {
        Some(file) => Catalogue::open_reader(&file)?.root().to_owned(),
        None => real,
    };
    let trees = state_folder::trees().context("neither XDG_STATE_HOME nor HOME is set")?;
    let list = CopyList::beside(&trees);
    if let Some(copy) = &args.copies.remember_copy {
        let real = copy.canonicalize();
        let real = real.with_context(|| format!("cannot find `{}`", copy.display()))?;
        ensure!(beneath::is_folder(&real), "`{}` is not a folder", copy.display());
        ensure!(!real.starts_with(&root), "`{}` is in the tree itself", copy.display());
        list.add(&root, &real)?;
    }
    if let Some(copy) = &args.copies.forget_copy {
        let real = copy.canonicalize().or_else(|_| std::path::absolute(copy))?;
        let is_removed = list.remove(&root, &real)?;
        ensure!(is_removed, "`{}` is not a registered copy", copy.display());
    }
    let lines = list.of(&root)?.into_iter().map(|copy| {
        let away = if beneath::is_folder(&copy) { "" } else { "  (not there)" };
        format!("{}{away}\n", escape::path(&copy))
    });
    answer(lines.collect::<String>().as_bytes())?;
    Ok(ExitStatus::Fine)
}

/// Mends the files of a selection whose decay is proved, for a schedule. Returns their paths from
/// the root, and the number of the repair.
pub(super) fn mend(
    selection: &Selection,
    options: &Options,
    json: bool,
) -> anyhow::Result<(Vec<PathBuf>, u64)> {
    let mut console = RepairConsole { json, mended: Vec::new() };
    let summary = mend_proved(selection, options, &mut console)?;
    let number = summary.originals.last().map_or(0, |(number, _)| *number);
    Ok((console.mended, number))
}

fn mode_of(args: &RepairArgs) -> RepairMode {
    match () {
        () if args.yes => RepairMode::Yes,
        () if args.meant.dry_run.dry_run || args.json || !io::stdin().is_terminal() => {
            RepairMode::Plan
        }
        () => RepairMode::Ask,
    }
}

fn discard_kept(paths: &[PathBuf], what: Discarded) -> anyhow::Result<ExitStatus> {
    let path = match paths {
        [] => Path::new("."),
        [path] => path,
        _ => bail!("--discard takes one PATH: a number is of one tree"),
    };
    let mut text = String::new();
    let mut tell = |path: &Path| text.push_str(&format!("  {}\n", escape::path(path)));
    let files = match what {
        Discarded::Run(run) => {
            units::counted(discard(path, run, &mut tell)?, "damaged file", "damaged files")
        }
        Discarded::Unfinished => {
            units::counted(discard_unfinished(path, &mut tell)?, "journal", "journals")
        }
    };
    answer(format!("{text}Removed {files}.\n").as_bytes())?;
    Ok(ExitStatus::Fine)
}

/// Writes what becomes of each file as it becomes known, and asks.
struct RepairConsole {
    json: bool,
    /// Files that are whole again, from the root.
    mended: Vec<PathBuf>,
}

impl RepairConsole {
    fn write(&self, target: &RepairTarget, outcome: &RepairOutcome, is_done: bool) {
        let mut line = Vec::new();
        match self.json {
            true => write_file_json(target, outcome, is_done, &mut line),
            false => write_file_text(target, outcome, is_done, moments(), &mut line),
        }
        // A repair goes on although nobody reads of it; the last answer then fails.
        if let Err(error) = answer_part(&line) {
            exit::complain(&exit::words(&error));
        }
    }
}

impl Monitor for RepairConsole {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::Notice(notice) = event {
            let path = notice.path.as_ref().map(|path| format!("`{}`: ", path.display()));
            exit::complain(&format!("{}{}", path.unwrap_or_default(), advice::of_notice(notice)));
        }
        ControlFlow::Continue(())
    }
}

impl RepairMonitor for RepairConsole {
    fn planned(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        self.write(target, outcome, false);
    }

    fn consents(&mut self, files: u64) -> bool {
        let files = units::counted(files, "file", "files");
        let mut answer = String::new();
        let asked = write!(io::stderr(), "Repair {files}? [y/N] ");
        let read = asked.and_then(|()| io::stdin().read_line(&mut answer));
        read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
    }

    fn repaired(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        self.write(target, outcome, true);
        if outcome.is_good() {
            self.mended.push(target.relative.clone());
        }
    }
}
