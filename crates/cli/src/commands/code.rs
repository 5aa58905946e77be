//! `steadfast code`: arguments → opened code → its signature, its verdicts or its price.

mod cost;
mod show;
mod verify;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;
use steadfast_codesign::bundle::Folder;
use steadfast_codesign::{CheckOptions, Code, FileSource};
use steadfast_report::code::{CodeCounts, CodeTextOptions, write_end_json, write_failed_json};
use steadfast_report::escape;

use crate::args::{CodeArgs, CodeCommand, CodeOutputArgs, LevelArgs};
use crate::console::write_out;
use crate::exit;

pub(super) fn run(args: &CodeArgs) -> anyhow::Result<u8> {
    match &args.what {
        CodeCommand::Show(args) => show::run(args),
        CodeCommand::Verify(args) => verify::run(args),
        CodeCommand::Cost(args) => cost::run(args),
    }
}

/// What became of one path.
#[derive(Default)]
struct Outcome {
    document: Vec<u8>,
    status: u8,
    read_bytes: u64,
}

/// Does the same to each path, writes what comes of it, and goes on after one that fails. `work` is
/// told how long opening the code took, in nanoseconds.
fn each(
    verb: &'static str,
    paths: &[PathBuf],
    output: &CodeOutputArgs,
    work: impl Fn(&Path, &Code<'_>, u64) -> anyhow::Result<Outcome>,
) -> anyhow::Result<u8> {
    let begun = Instant::now();
    let mut counts = CodeCounts { verb, paths: paths.len() as u64, ..CodeCounts::default() };
    for path in paths {
        let of_path = Instant::now();
        match opened(path, |code| work(path, code, elapsed_ns(of_path))) {
            Ok(outcome) => {
                counts.exit_status = worse(counts.exit_status, outcome.status);
                counts.read_bytes += outcome.read_bytes;
                if !write(&outcome.document)? {
                    return Ok(counts.exit_status);
                }
            }
            Err(error) => {
                exit::complain(&format!("{error:#}"));
                if output.json {
                    let mut document = Vec::new();
                    write_failed_json(path, &format!("{error:#}"), &mut document);
                    write(&document)?;
                }
                counts.failed += 1;
                counts.exit_status = worse(counts.exit_status, exit::COULD_NOT_TELL);
            }
        }
    }
    if output.json {
        counts.elapsed_ns = elapsed_ns(begun);
        let mut document = Vec::new();
        write_end_json(&counts, &mut document);
        write(&document)?;
    }
    Ok(counts.exit_status)
}

/// Opens what is at a path: a folder is a bundle, anything else a file.
fn opened<T>(path: &Path, f: impl FnOnce(&Code<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let name = escape::path(path);
    let here = || format!("`{name}`");
    if !path.is_dir() {
        let source = FileSource::open(path).with_context(here)?;
        let code = Code::file(Box::new(source)).with_context(here)?;
        return f(&code).with_context(here);
    }
    let tree = Folder::open(path).with_context(here)?;
    // What a bundle is called says what its executable is called, where nothing else does.
    let called = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let called = called.file_name().unwrap_or_default().as_encoded_bytes();
    let code = Code::bundle(&tree, called).with_context(here)?;
    f(&code).with_context(here)
}

/// Writes a part of the answer; false if nobody reads it any more.
fn write(document: &[u8]) -> anyhow::Result<bool> {
    match write_out(document) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error).context("cannot write to stdout"),
    }
}

fn text_options(output: &CodeOutputArgs) -> CodeTextOptions {
    let choice = anstream::AutoStream::choice(&io::stdout());
    CodeTextOptions {
        verbose: output.verbose,
        quiet: output.quiet,
        color: choice != anstream::ColorChoice::Never,
        units: output.units(),
    }
}

/// Threads and kernels.
fn check_options(workers: Option<NonZeroUsize>, level: &LevelArgs) -> CheckOptions {
    CheckOptions { workers: level.workers(workers), ..CheckOptions::default() }
}

fn elapsed_ns(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The status that outranks the other.
fn worse(one: u8, other: u8) -> u8 {
    steadfast::verdict::worse_status(one, other)
}
