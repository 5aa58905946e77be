//! PAR2 sets given to `check` and `repair`: a set verified, or files repaired by it → text or JSON.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::ensure;
use steadfast::ExitStatus;
use steadfast::par2::{Par2Report, Par2Totals, repair_par2, verify_par2};
use steadfast_report::advice;
use steadfast_report::par2::{
    write_file_json, write_file_text, write_totals_json, write_totals_text,
};

use crate::args::{CheckArgs, RepairArgs};
use crate::exit;
use crate::output::{answer, answer_part};

/// Said where a repair was only planned, because there is no terminal to ask at.
pub(super) const ADD_YES: &str = "this is what it would do; to do it, add --yes";

/// Returns whether paths are PAR2 files, which stand for their sets.
///
/// # Errors
/// If some are and some are not.
pub(super) fn are_sets(paths: &[PathBuf]) -> anyhow::Result<bool> {
    let is_set =
        |path: &&PathBuf| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("par2"));
    let sets = paths.iter().filter(is_set).count();
    ensure!(sets == 0 || sets == paths.len(), "give PAR2 sets alone, without other paths");
    Ok(sets > 0)
}

/// Compares every block of the files with their sets.
pub(super) fn check(args: &CheckArgs) -> anyhow::Result<ExitStatus> {
    let (stop, json) = (exit::stop_on_signals()?, args.output.json);
    let verified = each_set(&args.paths.paths, |path| {
        verify_par2(path, &[], &stop, &mut |file| print_file(file, json, false))
    });
    end("check", &verified, json)
}

/// Repairs damaged and missing files by their sets. Blocks are also looked for in `--from`.
pub(super) fn repair(args: &RepairArgs) -> anyhow::Result<ExitStatus> {
    let (stop, json) = (exit::stop_on_signals()?, args.json);
    let is_asked = !args.meant.dry_run.dry_run && !json && io::stdin().is_terminal();
    let repair = |is_plan| {
        each_set(&args.paths.paths, |path| {
            repair_par2(path, &args.from, is_plan, &stop, &mut |file| {
                print_file(file, json, !is_plan)
            })
        })
    };
    if !args.yes {
        let plan = repair(true);
        let may_go_on = plan.repaired > 0 && !plan.interrupted;
        if may_go_on && !is_asked && !args.meant.dry_run.dry_run {
            exit::complain(ADD_YES);
        }
        if !may_go_on || !is_asked || !consents(plan.repaired)? {
            return end("repair", &plan, json);
        }
    }
    end("repair", &repair(false), json)
}

/// Does the work for each set, once.
fn each_set(
    paths: &[PathBuf],
    work: impl Fn(&Path) -> Result<Par2Totals, steadfast::Error>,
) -> Par2Totals {
    let mut totals = Par2Totals::default();
    for path in paths {
        if totals.interrupted || totals.par2_files.contains(path) {
            continue;
        }
        match work(path) {
            Ok(one) => {
                for notice in &one.notices {
                    let at = notice.path.as_ref().map(|path| format!("`{}`: ", path.display()));
                    let text = advice::of_notice(notice);
                    exit::complain(&format!("{}{text}", at.unwrap_or_default()));
                }
                totals.merge(one);
            }
            Err(error) => {
                exit::complain(&exit::words(&error.into()));
                totals.add_unread();
            }
        }
    }
    totals
}

fn consents(files: u64) -> anyhow::Result<bool> {
    let mut reply = String::new();
    let what = if files == 1 { "this file" } else { "these files" };
    write!(io::stderr(), "Repair {what}? [y/N] ")?;
    io::stdin().read_line(&mut reply)?;
    Ok(matches!(reply.trim(), "y" | "Y" | "yes"))
}

fn end(verb: &'static str, totals: &Par2Totals, json: bool) -> anyhow::Result<ExitStatus> {
    let mut out = Vec::new();
    match json {
        true => write_totals_json(verb, totals, &mut out),
        false => write_totals_text(totals, &mut out),
    }
    answer(&out)?;
    Ok(totals.exit_status())
}

fn print_file(file: &Par2Report, json: bool, is_done: bool) {
    let mut out = Vec::new();
    match json {
        true => write_file_json(file, &mut out),
        false => write_file_text(file, is_done, &mut out),
    }
    // The work goes on although nobody reads of it; the exit status then tells.
    if let Err(error) = answer_part(&out) {
        exit::complain(&exit::words(&error));
    }
}
