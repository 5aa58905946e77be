//! Writes a document as text for a terminal: sentences, tables in columns, charts as lines of
//! blocks.
//!
//! In: a document. Out: UTF-8 lines of at most a hundred columns. Control characters in the
//! document's words are escaped.

mod sparks;
mod tables;

use std::fmt::Write as _;

use anstyle::{Effects, Style};

use super::{Align, Document, Section};
use crate::escape::visible;
use crate::units::Units;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);
const PLAIN: Style = Style::new();

/// Greatest width of a line in columns, unless a single word is longer.
pub(crate) const COLUMNS: usize = 100;

/// Indent of everything except titles.
const INDENT: &str = "  ";

/// How a document is written as text.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentTextOptions {
    /// Whether to use bold and dim.
    pub color: bool,
    /// Which multiples of bytes to show.
    pub units: Units,
    /// Whether to leave out the notes on methods.
    pub brief: bool,
}

/// Writes a document as text.
pub fn write_text(document: &Document, options: DocumentTextOptions) -> String {
    let mut page = TextWriter { text: String::new(), options };
    page.words(BOLD, "", "", &document.title);
    if !document.answers_first {
        page.circumstances(document);
    }
    for section in &document.sections {
        page.section(section);
    }
    if document.answers_first {
        page.line(PLAIN, "");
        page.circumstances(document);
    }
    page.text
}

struct TextWriter {
    text: String,
    options: DocumentTextOptions,
}

impl TextWriter {
    fn line(&mut self, style: Style, line: &str) {
        let line = line.trim_end();
        let written = match self.options.color && style != PLAIN {
            true => writeln!(self.text, "{style}{line}{style:#}"),
            false => writeln!(self.text, "{line}"),
        };
        written.expect("a string takes everything");
    }

    /// Writes words in as many lines as they need. Lines after the first begin with `rest`.
    fn words(&mut self, style: Style, first: &str, rest: &str, words: &str) {
        let width = COLUMNS.saturating_sub(width_of(first).max(width_of(rest))).max(1);
        for (index, line) in wrapped(&visible(words), width).iter().enumerate() {
            let before = if index == 0 { first } else { rest };
            self.line(style, &format!("{before}{line}"));
        }
    }

    /// Writes facts and warnings.
    fn circumstances(&mut self, document: &Document) {
        let width = document.facts.iter().map(|(label, _)| width_of(&visible(label))).max();
        for (label, value) in &document.facts {
            let label = padded(&visible(label), width.unwrap_or(0), Align::Left);
            let rest = " ".repeat(width_of(&label) + 4);
            self.words(PLAIN, &format!("{INDENT}{label}  "), &rest, value);
        }
        for warning in &document.warnings {
            self.words(PLAIN, "note: ", "      ", warning);
        }
    }

    fn section(&mut self, section: &Section) {
        self.line(PLAIN, "");
        self.words(BOLD, "", "", &section.title);
        for sentence in &section.sentences {
            self.words(PLAIN, INDENT, "    ", sentence);
        }
        for table in section.tables.iter().filter(|table| !table.rows.is_empty()) {
            self.line(PLAIN, "");
            self.words(PLAIN, INDENT, INDENT, &table.title);
            let parts = tables::laid_out(table, self.options.units, COLUMNS - INDENT.len());
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    self.line(PLAIN, "");
                }
                part.head.iter().for_each(|line| self.line(DIM, &format!("{INDENT}{line}")));
                part.body.iter().for_each(|line| self.line(PLAIN, &format!("{INDENT}{line}")));
            }
        }
        for chart in &section.charts {
            let lines = sparks::drawn(chart, self.options.units);
            let Some((caption, lines)) = lines.split_last() else { continue };
            self.line(PLAIN, "");
            self.words(PLAIN, INDENT, INDENT, &chart.title);
            lines.iter().for_each(|line| self.line(PLAIN, &format!("{INDENT}{line}")));
            self.line(DIM, &format!("{INDENT}{caption}"));
        }
        let notes: &[String] = if self.options.brief { &[] } else { &section.notes };
        if !notes.is_empty() {
            self.line(PLAIN, "");
        }
        for note in notes {
            self.words(DIM, INDENT, INDENT, note);
        }
    }
}

/// Breaks words into lines of at most `width` columns. A longer word has a line of its own.
fn wrapped(words: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in words.split(' ') {
        let length = width_of(word);
        if used > 0 && used + 1 + length > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += length;
    }
    lines.push(line);
    lines
}

fn padded(text: &str, width: usize, align: Align) -> String {
    let space = " ".repeat(width.saturating_sub(width_of(text)));
    match align {
        Align::Left => format!("{text}{space}"),
        Align::Right => format!("{space}{text}"),
    }
}

/// Returns the width in columns: every character that is written here takes one.
fn width_of(text: &str) -> usize {
    text.chars().count()
}
