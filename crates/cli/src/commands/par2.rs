//! `steadfast par2`: arguments → a set verified, or files repaired by it → text or JSON.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use steadfast::ExitStatus;
use steadfast::par2::{Par2Report, Par2Totals, repair_par2, verify_par2};
use steadfast_report::advice;
use steadfast_report::par2::{
    write_file_json, write_file_text, write_totals_json, write_totals_text,
};

use crate::args::{Par2Args, Par2Command, Par2RepairArgs};
use crate::exit;
use crate::output::{answer, answer_part};

pub(super) fn run(args: &Par2Args) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    match &args.what {
        Par2Command::Verify(args) => {
            let json = args.source.json;
            let verified = each_set(&args.source.sets, |path| {
                verify_par2(path, &args.source.from, &stop, &mut |file| tell(file, json, false))
            });
            end("verify", &verified, json)
        }
        Par2Command::Repair(args) => {
            let json = args.source.json;
            if !is_decided(args) && (json || !io::stdin().is_terminal()) {
                bail!(
                    "nobody can be asked here: add --yes to repair, or --dry-run to see what can \
                     be done"
                );
            }
            let repair = |is_plan| {
                each_set(&args.source.sets, |path| {
                    repair_par2(path, &args.source.from, is_plan, &stop, &mut |file| {
                        tell(file, json, !is_plan)
                    })
                })
            };
            if !args.yes {
                let plan = repair(true);
                let asks = !args.dry_run.dry_run && plan.repaired > 0 && !plan.interrupted;
                if !asks || !consents(plan.repaired)? {
                    return end("repair", &plan, json);
                }
            }
            end("repair", &repair(false), json)
        }
    }
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

fn is_decided(args: &Par2RepairArgs) -> bool {
    args.yes || args.dry_run.dry_run
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

fn tell(file: &Par2Report, json: bool, is_done: bool) {
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
