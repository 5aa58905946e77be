//! `steadfast code`: arguments → opened code → its signature, its verdicts or its cost.

mod cost;
mod show;
mod verify;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use steadfast::ExitStatus;
use steadfast_codesign::{Code, ErrorKind, PageCheckOptions, each_code_at};
use steadfast_report::code::{CodeCounts, write_end_json, write_end_text, write_failed_json};
use steadfast_report::{TextOptions, escape};

use crate::args::{CodeArgs, CodeCommand, CodeOutputArgs, LevelArgs};
use crate::exit;
use crate::output::{answer_part, stdout_has_color};

pub(super) fn run(args: &CodeArgs) -> anyhow::Result<ExitStatus> {
    match &args.what {
        CodeCommand::Show(args) => show::run(args),
        CodeCommand::Verify(args) => verify::run(args),
        CodeCommand::Cost(args) => cost::run(args),
    }
}

/// The result for one path.
#[derive(Default)]
struct RenderedCode {
    document: Vec<u8>,
    status: ExitStatus,
    read_bytes: u64,
}

/// Does the same for each piece of code that the paths name, writes the result, and continues after
/// a failure, of which `failed` gets the path and the reason. `work` gets the time it took to open
/// the code, in nanoseconds.
fn each(
    verb: &'static str,
    paths: &[PathBuf],
    output: &CodeOutputArgs,
    failed: impl Fn(&Path, &str),
    work: impl Fn(&Path, &Code<'_>, u64) -> anyhow::Result<RenderedCode>,
) -> anyhow::Result<ExitStatus> {
    let begun = Instant::now();
    let mut counts = CodeCounts { verb, paths: paths.len() as u64, ..CodeCounts::default() };
    // Whether the reader of the answers is still there, or why they cannot be written.
    let mut answered = Ok(true);
    for path in paths {
        let mut opening = Instant::now();
        each_code_at(path, &mut |path, code| {
            if !matches!(answered, Ok(true)) {
                return;
            }
            let is_left_out = matches!(&code, Err(error) if error.kind() == ErrorKind::NotRead);
            let outcome = match code {
                Ok(code) => work(path, &code, elapsed_ns(opening)),
                Err(error) => Err(error.into()),
            };
            if let Err(error) = &outcome {
                failed(path, &exit::words(error));
            }
            let outcome = outcome.with_context(|| format!("`{}`", escape::path(path)));
            answered = answer(path, outcome, is_left_out, output, &mut counts);
            opening = Instant::now();
        });
    }
    if answered? {
        counts.elapsed_ns = elapsed_ns(begun);
        let mut document = Vec::new();
        match output.json {
            true => write_end_json(&counts, &mut document),
            false if output.quiet && counts.not_read == 0 => {}
            false => write_end_text(&counts, &mut document),
        }
        answer_part(&document)?;
    }
    Ok(counts.exit_status)
}

/// Writes the result for one piece of code; returns whether the reader is still there.
fn answer(
    path: &Path,
    outcome: anyhow::Result<RenderedCode>,
    is_left_out: bool,
    output: &CodeOutputArgs,
    counts: &mut CodeCounts,
) -> anyhow::Result<bool> {
    match outcome {
        Ok(outcome) => {
            counts.exit_status.raise(outcome.status);
            counts.read_bytes += outcome.read_bytes;
            counts.codes += 1;
            answer_part(&outcome.document)
        }
        Err(error) => {
            exit::complain(&exit::words(&error));
            counts.failed += u64::from(!is_left_out);
            counts.not_read += u64::from(is_left_out);
            counts.exit_status.raise(ExitStatus::Undetermined);
            let mut document = Vec::new();
            if output.json {
                write_failed_json(path, &exit::words(&error), &mut document);
            }
            answer_part(&document)
        }
    }
}

fn text_options(output: &CodeOutputArgs) -> TextOptions {
    TextOptions {
        verbose: output.verbose,
        quiet: output.quiet,
        color: stdout_has_color(),
        units: output.units,
        ..TextOptions::default()
    }
}

/// Returns the number of threads and the default kernels.
fn check_options(workers: Option<NonZeroUsize>, level: &LevelArgs) -> PageCheckOptions {
    PageCheckOptions { workers: level.workers(workers), ..PageCheckOptions::default() }
}

fn elapsed_ns(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
