//! Compares files with the lines of a document and reports in the words of `sha256sum --check`.
//!
//! In: lines, then the events of a run over exactly their paths, in order. Out: `name: OK` or
//! `name: FAILED` for each, and warnings that count the failures. Scripts match these words.
//! Source: GNU coreutils 9.1, `digest.c`.

use std::collections::VecDeque;
use std::path::Path;

use steadfast::manifest::sums::{self, Line, LineError};
use steadfast::names::NameBytes as _;
use steadfast::{Digest, Event, FileEvent};

use super::{shown, write_trouble};
use crate::escape;
use crate::output::Output;
use crate::run::Renderer;

/// How a comparison is reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComparisonOptions {
    /// Whether files that match are left out.
    pub quiet: bool,
    /// Whether to write nothing about files or lines, so that only the exit status counts.
    pub silent: bool,
    /// As in [`Sums`](super::Sums).
    pub for_terminal: bool,
}

/// Renders a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    options: ComparisonOptions,
    expected: VecDeque<Line>,
    tally: SumsTally,
}

/// The result for one document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SumsTally {
    /// Lines that could be understood.
    pub lines: u64,
    /// Lines that could not.
    pub improper: u64,
    /// Files that match.
    pub matched: u64,
    /// Files that do not.
    pub mismatched: u64,
    /// Files that could not be read.
    pub unreadable: u64,
}

impl Comparison {
    /// Starts a comparison that expects no file yet.
    pub fn new(options: ComparisonOptions) -> Comparison {
        Comparison { options, ..Comparison::default() }
    }

    /// Announces the line of a file. Events follow in the order of the announced lines.
    pub fn expect(&mut self, line: Line) {
        self.expected.push_back(line);
    }

    /// Compares one file. Without a digest, the file could not be read.
    pub fn settle(&mut self, line: &Line, found: Option<Digest>, output: &mut Output) {
        let outcome = match found {
            Some(digest) if digest == line.digest => {
                self.tally.matched += 1;
                "OK"
            }
            Some(_) => {
                self.tally.mismatched += 1;
                "FAILED"
            }
            None => {
                self.tally.unreadable += 1;
                "FAILED open or read"
            }
        };
        if self.options.silent || (self.options.quiet && outcome == "OK") {
            return;
        }
        let path = shown(&line.path, self.options.for_terminal);
        let name = path.as_bytes();
        // As in coreutils, only a line break makes the line an escaped one.
        let escaped = name.contains(&b'\n');
        let out = &mut output.answer;
        out.extend_from_slice(if escaped { b"\\" } else { b"" });
        sums::write_name(name, escaped, out).expect("writing to a vector does not fail");
        out.extend_from_slice(format!(": {outcome}\n").as_bytes());
    }

    /// Counts a line that was understood.
    pub fn count_line(&mut self) {
        self.tally.lines += 1;
    }

    /// Counts a line that was not understood, and names it if `warn`.
    pub fn improper(&mut self, document: &Path, error: LineError, warn: bool, output: &mut Output) {
        self.tally.improper += 1;
        if warn {
            let (document, LineError { number, fault }) = (escape::path(document), error);
            let line = format!(
                "steadfast: {document}: {number}: improperly formatted checksum line: {fault}\n"
            );
            output.trouble.extend_from_slice(line.as_bytes());
        }
    }

    /// Ends a document: warns of its failures and resets the counts.
    pub fn end_document(&mut self, document: &Path, output: &mut Output) -> SumsTally {
        let tally = std::mem::take(&mut self.tally);
        let document = escape::path(document);
        let mut warnings = Vec::new();
        if tally.lines == 0 {
            warnings.push(format!("{document}: no properly formatted checksum lines found"));
        } else if !self.options.silent {
            warnings.extend(warning(
                tally.improper,
                "line is improperly formatted",
                "lines are improperly formatted",
            ));
            warnings.extend(warning(
                tally.unreadable,
                "listed file could not be read",
                "listed files could not be read",
            ));
            warnings.extend(warning(
                tally.mismatched,
                "computed checksum did NOT match",
                "computed checksums did NOT match",
            ));
        }
        for warning in warnings {
            output.trouble.extend_from_slice(format!("steadfast: {warning}\n").as_bytes());
        }
        tally
    }

    fn file(&mut self, event: &FileEvent, output: &mut Output) {
        write_trouble(event, output);
        let Some(line) = self.expected.pop_front() else { return };
        // An event about another path than the announced one proves nothing about either.
        let same = event.path.to_path() == line.path && event.trouble.is_none();
        let found = event.digest().filter(|(algorithm, _)| same && *algorithm == line.algorithm);
        self.settle(&line, found.map(|(_, digest)| digest), output);
    }
}

impl Renderer for Comparison {
    fn event(&mut self, event: &Event, output: &mut Output) {
        match event {
            Event::File(event) => self.file(event, output),
            Event::Notice(notice) => output.write_notice(notice),
            _ => {}
        }
    }
}

fn warning(number: u64, one: &str, many: &str) -> Option<String> {
    match number {
        0 => None,
        1 => Some(format!("WARNING: 1 {one}")),
        number => Some(format!("WARNING: {number} {many}")),
    }
}
