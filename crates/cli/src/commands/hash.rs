//! `steadfast hash`: prints digests; `hash/compare.rs` checks them.

mod compare;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::ensure;
use steadfast::ExitStatus;
use steadfast::beneath;
use steadfast::manifest::sums::{self, Ending, Style};
use steadfast::{Algorithm, HashOptions, Selection, Verb};
use steadfast_report::Sums;

use crate::args::{HashArgs, OutputArgs};
use crate::exit::{complain, stdout_file};
use crate::output::answer;

use super::documents::STDIN;
use super::execute;

pub(super) fn run(args: &HashArgs) -> anyhow::Result<ExitStatus> {
    if args.compare.check {
        return compare::run(args);
    }
    let stdin = Path::new(STDIN);
    if reads_stdin_unasked(args) {
        let also = "; to hash the current directory: `steadfast hash .`";
        ensure_plain_output(args, also)?;
        return hash_stdin(args);
    }
    if !args.paths.paths.iter().any(|path| path == stdin) {
        return hash(args, args.paths.selection()?);
    }
    ensure_plain_output(args, "")?;
    let selection = args.paths.selection()?;
    let mut status = ExitStatus::Fine;
    for part in args.paths.paths.split_inclusive(|path| path == stdin) {
        let (roots, ends_in_stdin) = match part.split_last() {
            Some((last, roots)) if last == stdin => (roots, true),
            _ => (part, false),
        };
        if !roots.is_empty() {
            let roots = roots.to_vec();
            let part = selection.clone().with(|selection| {
                selection.roots = roots;
                selection.listed = Vec::new();
            });
            status.raise(hash(args, part)?);
        }
        if ends_in_stdin {
            status.raise(hash_stdin(args)?);
        }
    }
    if !selection.listed.is_empty() {
        let part = selection.with(|selection| selection.roots = Vec::new());
        status.raise(hash(args, part)?);
    }
    Ok(status)
}

/// Returns whether stdin is hashed: no path is given, no walk is described, and stdin is not a
/// terminal.
fn reads_stdin_unasked(args: &HashArgs) -> bool {
    let unnamed = args.paths.paths.is_empty() && args.paths.files_from.is_none();
    unnamed && !args.paths.walk.is_limited() && !io::stdin().is_terminal()
}

/// Fails for formats that cannot express input without a path.
fn ensure_plain_output(args: &HashArgs, also: &str) -> anyhow::Result<()> {
    let OutputArgs { json, csv, trace, .. } = &args.output;
    ensure!(!json && !csv, "JSON and CSV cannot express `-` (standard input){also}");
    ensure!(trace.is_none(), "`-` (standard input) cannot be traced{also}");
    Ok(())
}

/// Hashes files. If only files are named, each gets its line, in order and as often as it is named,
/// as with `sha256sum`. If a directory is among them, they are walked like any tree.
fn hash(args: &HashArgs, mut selection: Selection) -> anyhow::Result<ExitStatus> {
    let plain = |path: &PathBuf| !beneath::is_folder(path);
    if selection.listed.is_empty() && selection.roots.iter().all(plain) {
        selection.listed = std::mem::take(&mut selection.roots);
        selection.exact = true;
    }
    selection.with_sidecars = true;
    selection.output = stdout_file();
    let options = args.paths.walk.empty.choose(args.engine.options());
    let algorithm = args.algorithm.algorithm;
    let verb = Verb::Hash(HashOptions { algorithm, judge: false });
    execute(verb, &selection, options, &args.output, |text| {
        Box::new(Sums {
            style: style(args),
            ending: ending(args),
            for_terminal: io::stdout().is_terminal(),
            summary: args.output.verbose.then_some(text),
        })
    })
}

fn hash_stdin(args: &HashArgs) -> anyhow::Result<ExitStatus> {
    let algorithm = args.algorithm.algorithm.unwrap_or(Algorithm::Sha256);
    let digest = match steadfast::run::digest_of(&mut io::stdin().lock(), algorithm) {
        Ok(digest) => digest,
        Err(error) => {
            complain(&format!("-: cannot read: {error}"));
            return Ok(ExitStatus::Undetermined);
        }
    };
    let mut line = Vec::new();
    sums::write_line(algorithm, &digest, Path::new("-"), style(args), ending(args), &mut line)?;
    answer(&line)?;
    Ok(ExitStatus::Fine)
}

fn style(args: &HashArgs) -> Style {
    if args.tag { Style::Tagged } else { Style::Untagged }
}

fn ending(args: &HashArgs) -> Ending {
    if args.zero { Ending::Nul } else { Ending::Newline }
}
