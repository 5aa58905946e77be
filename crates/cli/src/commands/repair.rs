//! `steadfast repair`: arguments → a repair → text or JSON.

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::bail;
use steadfast::ExitStatus;
use steadfast::repair::{
    Copies, RepairMode, RepairMonitor, RepairOutcome, RepairRequest, RepairTarget, discard,
    discard_unfinished, repair_files, restore_previous,
};
use steadfast::{Event, Monitor};
use steadfast_report::advice;
use steadfast_report::repair::{
    write_file_json, write_file_text, write_summary_json, write_summary_text,
};
use steadfast_report::{escape, units};

use crate::args::{Discarded, RepairArgs};
use crate::exit;
use crate::local_time::moments;
use crate::output::{answer, answer_part};

use super::par2;

pub(super) fn run(args: &RepairArgs) -> anyhow::Result<ExitStatus> {
    if let Some(what) = args.discard {
        return discard_kept(&args.paths.paths, what);
    }
    if par2::are_sets(&args.paths.paths)? {
        return par2::repair(args);
    }
    let mode = mode_of(args);
    let selection = args.paths.selection()?;
    let request = RepairRequest {
        copies: Copies::new(&args.from)?,
        mode,
        in_place: args.in_place,
        with_special: args.set_id,
        suspects: args.suspect,
        to_tag: args.to_tag,
        all_lost: args.all_lost,
    };
    let options = args.catalogue.choose(args.paths.walk.empty.choose(args.engine.options()));
    let stop = exit::stop_on_signals()?;
    let options = options.with(|options| {
        options.controls.stop = stop;
        options.allow_empty |= args.all_lost;
    });
    let mut console = RepairConsole { json: args.json };
    let work = if args.to_previous { restore_previous } else { repair_files };
    let summary = work(&selection, &options, &request, &mut console)?;
    let mut end = Vec::new();
    match args.json {
        true => write_summary_json(&summary, &mut end),
        false => write_summary_text(&summary, &mut end),
    }
    answer(&end)?;
    if mode == RepairMode::Plan && !args.dry_run.dry_run && summary.repaired > 0 {
        exit::complain(par2::ADD_YES);
    }
    Ok(summary.exit_status())
}

fn mode_of(args: &RepairArgs) -> RepairMode {
    match () {
        () if args.yes => RepairMode::Yes,
        () if args.dry_run.dry_run || args.json || !io::stdin().is_terminal() => RepairMode::Plan,
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
    }
}
