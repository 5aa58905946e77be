//! `steadfast code`: arguments → opened code → its signature, its verdicts or its cost.

mod cost;
mod show;
mod verify;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use steadfast::ExitStatus;
use steadfast_codesign::bundle::{self, FolderTree};
use steadfast_codesign::{CheckOptions, Code, FileSource};
use steadfast_report::code::{CodeCounts, write_end_json, write_failed_json};
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

/// Does the same for each path, writes the result, and continues after a failure. `work` gets the
/// time it took to open the code, in nanoseconds.
fn each(
    verb: &'static str,
    paths: &[PathBuf],
    output: &CodeOutputArgs,
    work: impl Fn(&Path, &Code<'_>, u64) -> anyhow::Result<RenderedCode>,
) -> anyhow::Result<ExitStatus> {
    let begun = Instant::now();
    let mut counts = CodeCounts { verb, paths: paths.len() as u64, ..CodeCounts::default() };
    for path in paths {
        let of_path = Instant::now();
        match opened(path, |path, code| work(path, code, elapsed_ns(of_path))) {
            Ok(outcome) => {
                counts.exit_status.raise(outcome.status);
                counts.read_bytes += outcome.read_bytes;
                if !answer_part(&outcome.document)? {
                    return Ok(counts.exit_status);
                }
            }
            Err(error) => {
                exit::complain(&exit::words(&error));
                if output.json {
                    let mut document = Vec::new();
                    write_failed_json(path, &exit::words(&error), &mut document);
                    answer_part(&document)?;
                }
                counts.failed += 1;
                counts.exit_status.raise(ExitStatus::Undetermined);
            }
        }
    }
    if output.json {
        counts.elapsed_ns = elapsed_ns(begun);
        let mut document = Vec::new();
        write_end_json(&counts, &mut document);
        answer_part(&document)?;
    }
    Ok(counts.exit_status)
}

/// Opens a path: a folder is a bundle, and so is the main executable of one; anything else is a
/// file. Passes the opened path to `f`.
fn opened<T>(
    path: &Path,
    f: impl FnOnce(&Path, &Code<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let enclosing = bundle_of(path).with_context(|| format!("`{}`", escape::path(path)))?;
    let path = enclosing.as_deref().unwrap_or(path);
    let name = escape::path(path);
    let here = || format!("`{name}`");
    if !path.is_dir() {
        let source = FileSource::open(path).with_context(here)?;
        let code = Code::file(Box::new(source)).with_context(here)?;
        return f(path, &code).with_context(here);
    }
    let tree = FolderTree::open(path).with_context(here)?;
    let code = Code::bundle(&tree, &called(path)).with_context(here)?;
    f(path, &code).with_context(here)
}

/// Returns the bundle whose main executable is at a path, spelled like the path if possible.
fn bundle_of(path: &Path) -> anyhow::Result<Option<PathBuf>> {
    // A path that cannot be resolved cannot be opened either, and opening reports why.
    let Ok(file) = path.canonicalize() else { return Ok(None) };
    if file.is_dir() {
        return Ok(None);
    }
    for level in bundle::LEVELS {
        let Some(root) = file.ancestors().nth(level) else { continue };
        let inner = file.strip_prefix(root).expect("an ancestor is a prefix");
        let looking = || "cannot tell whether it is the main executable of a bundle";
        let tree = FolderTree::open(root).with_context(looking)?;
        let inner = inner.as_os_str().as_encoded_bytes();
        if bundle::is_main_executable(&tree, &called(root), inner).with_context(looking)? {
            let spelled = path
                .ancestors()
                .nth(level)
                .filter(|spelled| spelled.canonicalize().is_ok_and(|canonical| canonical == root));
            return Ok(Some(spelled.unwrap_or(root).to_owned()));
        }
    }
    Ok(None)
}

/// Returns the name of a bundle, which is that of its executable by default.
fn called(path: &Path) -> Vec<u8> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.file_name().unwrap_or_default().as_encoded_bytes().to_vec()
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
fn check_options(workers: Option<NonZeroUsize>, level: &LevelArgs) -> CheckOptions {
    CheckOptions { workers: level.workers(workers), ..CheckOptions::default() }
}

fn elapsed_ns(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
