//! `steadfast hash --check`: documents of digests against files, as `sha256sum --check` does.
//!
//! In: documents. Out: a line for each file, and 0 or 1. A document is read in batches of lines of
//! one algorithm, each of them one run, so that memory is bounded whatever its length.

use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::ExitStatus;
use steadfast::beneath::{self, Presence};
use steadfast::manifest::algorithm_hint;
use steadfast::manifest::sums::{Line, Lines};
use steadfast::{Algorithm, Digest, HashOptions, Run, Selection, Verb};
use steadfast_report::sums::{Comparison, ComparisonOptions, SumsTally};
use steadfast_report::{Output, escape};

use crate::args::HashArgs;
use crate::exit;
use crate::output;

use super::super::{RunPlace, render};

/// Lines of one batch.
const BATCH_LINES: usize = 16_384;

pub(super) fn run(args: &HashArgs) -> anyhow::Result<ExitStatus> {
    let stdin = [PathBuf::from("-")];
    let documents = match args.paths.paths.as_slice() {
        [] => &stdin[..],
        documents => documents,
    };
    let mut check = ListCheck {
        args,
        stop: exit::stop_on_signals()?,
        within: [PathBuf::from(".")].into_iter().chain(env::current_dir()).collect(),
        comparison: Comparison::new(ComparisonOptions {
            quiet: args.output.quiet,
            silent: args.compare.status,
            for_terminal: io::stdout().is_terminal(),
        }),
    };
    let mut status = ExitStatus::Fine;
    for document in documents {
        status.raise(check.document(document)?);
        if check.stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(status)
}

struct ListCheck<'a> {
    args: &'a HashArgs,
    stop: Arc<AtomicBool>,
    comparison: Comparison,
    /// The working directory, by both its names: a list is of files beneath it.
    within: Vec<PathBuf>,
}

impl ListCheck<'_> {
    fn is_outside(&self, path: &Path) -> bool {
        let is_beneath = |root: &PathBuf| path.is_relative() || path.starts_with(root);
        !self.within.iter().any(is_beneath)
            || path.components().any(|it| it == Component::ParentDir)
    }

    /// Counts a file as one that could not be read, because a list gives no orders.
    fn refuse(&mut self, line: &Line, output: &mut Output) {
        if !self.args.compare.status {
            let path = escape::path(&line.path);
            exit::complain(&format!(
                "{path}: not read, because it is not beneath the working directory: go to a folder \
                 above it"
            ));
        }
        self.comparison.settle(line, None, output);
    }

    /// Checks one document and returns its status.
    fn document(&mut self, document: &Path) -> anyhow::Result<ExitStatus> {
        let from_stdin = document.as_os_str() == "-";
        let reader: Box<dyn BufRead> = match from_stdin {
            true => Box::new(io::stdin().lock()),
            false => match File::open(document) {
                Ok(file) => Box::new(BufReader::new(file)),
                Err(error) => return Ok(unreadable(document, &error)),
            },
        };
        let mut batch: Vec<Line> = Vec::new();
        let mut output = Output::default();
        let mut first = None;
        let named = self.args.algorithm.algorithm.or_else(|| algorithm_hint(document));
        for line in Lines::new(reader, named, super::ending(self.args)) {
            let line = match line {
                Ok(Ok(line)) => line,
                Ok(Err(error)) => {
                    let warn = self.args.compare.warn;
                    self.comparison.improper(document, error, warn, &mut output);
                    write(&mut output)?;
                    continue;
                }
                Err(error) => return Ok(unreadable(document, &error)),
            };
            self.comparison.count_line();
            first.get_or_insert_with(|| line.path.clone());
            let full = batch.len() == BATCH_LINES;
            let other = batch.last().is_some_and(|last| last.algorithm != line.algorithm);
            let stdin = line.path == Path::new("-");
            let outside = self.is_outside(&line.path);
            if (full || other || stdin || outside) && !self.batch(&mut batch)? {
                return Ok(ExitStatus::Interrupted);
            }
            if outside {
                self.refuse(&line, &mut output);
                write(&mut output)?;
            } else if stdin {
                // What gives the lines cannot give contents as well.
                let digest = if from_stdin { None } else { digest_of_stdin(line.algorithm) };
                self.comparison.settle(&line, digest, &mut output);
                write(&mut output)?;
            } else {
                batch.push(line);
            }
        }
        if !self.batch(&mut batch)? {
            return Ok(ExitStatus::Interrupted);
        }
        let tally = self.comparison.end_document(document, &mut output);
        write(&mut output)?;
        if let Some(name) = first.filter(|_| tally.matched + tally.mismatched == 0) {
            self.hint(document, &name);
        }
        Ok(self.status(&tally, document))
    }

    /// Compares the files of a batch and empties it. False means that the run was interrupted.
    fn batch(&mut self, batch: &mut Vec<Line>) -> anyhow::Result<bool> {
        if self.args.compare.ignore_missing {
            batch.retain(|line| !is_missing(&line.path));
        }
        let Some(first) = batch.first() else { return Ok(true) };
        let verb =
            Verb::Hash(HashOptions { algorithm: Some(first.algorithm), ..HashOptions::default() });
        let stop = Arc::clone(&self.stop);
        let options = self.args.engine.options().with(|options| options.controls.stop = stop);
        let listed = batch.iter().map(|line| line.path.clone()).collect();
        let selection = Selection::default().with(|selection| {
            selection.listed = listed;
            selection.exact = true;
            selection.within.clone_from(&self.within);
        });
        for line in batch.drain(..) {
            self.comparison.expect(line);
        }
        let output = &self.args.output;
        let status =
            render(options, output, RunPlace::READ, &mut self.comparison, |options, console| {
                Run::of(verb, selection.clone(), options.clone()).run(console)
            })?;
        Ok(status != ExitStatus::Interrupted)
    }

    /// Says of a document of which no file could be read where its files are, if its first one is
    /// in the document's own folder.
    fn hint(&self, document: &Path, name: &Path) {
        let folder = document.parent().filter(|folder| !folder.as_os_str().is_empty());
        let Some(folder) =
            folder.filter(|folder| is_missing(name) && beneath::is_file(&folder.join(name)))
        else {
            return;
        };
        if !self.args.compare.status {
            exit::complain(&format!(
                "{document}: its names are looked for in the working directory, and its files are \
                 in `{}`: go there, or type `steadfast check --manifest {document}`",
                folder.display(),
                document = document.display(),
            ));
        }
    }

    fn status(&self, tally: &SumsTally, document: &Path) -> ExitStatus {
        let compare = &self.args.compare;
        let none = tally.matched + tally.mismatched + tally.unreadable == 0;
        if compare.ignore_missing && none && tally.lines > 0 {
            exit::complain(&format!("{}: no file was verified", document.display()));
        }
        let failed = tally.mismatched > 0 || tally.unreadable > 0;
        let is_strict = compare.strict && tally.improper > 0;
        ExitStatus::Changed.only_if(failed || none || is_strict)
    }
}

/// Tells that a document cannot be read, which is status 1 as in coreutils.
fn unreadable(document: &Path, error: &io::Error) -> ExitStatus {
    exit::complain(&format!("{}: cannot read: {error}", document.display()));
    ExitStatus::Changed
}

fn digest_of_stdin(algorithm: Algorithm) -> Option<Digest> {
    steadfast::run::digest_of(&mut io::stdin().lock(), algorithm).ok()
}

fn is_missing(path: &Path) -> bool {
    matches!(beneath::presence_of(path), Presence::Gone)
}

/// Writes what was rendered outside of a run.
fn write(output: &mut Output) -> anyhow::Result<()> {
    let Output { answer, trouble } = std::mem::take(output);
    // There is no place left to say that stderr is gone.
    let _ = io::stderr().write_all(&trouble);
    output::answer(&answer)
}
