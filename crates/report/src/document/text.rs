//! A document as text for a terminal: sentences, tables in columns, charts as a line of blocks.
//!
//! In: a document. Out: UTF-8 lines. Names in cells are escaped by whoever made them.

use std::fmt::Write as _;

use anstyle::{Effects, Style};

use super::{Align, Cell, Chart, Document, Layer, Mark, Section, Table};
use crate::units::Units;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);

/// Eighths of a cell, lowest first.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Most blocks in a line.
const SPARK_LEN_MAX: usize = 60;

/// How a document is written as text.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentTextOptions {
    /// Whether to use the terminal's effects.
    pub color: bool,
    /// Which multiples of bytes to show.
    pub units: Units,
    /// Whether to leave out how things were measured.
    pub brief: bool,
}

/// Writes a document as text.
pub fn write_text(document: &Document, options: DocumentTextOptions) -> String {
    let mut page = Page { text: String::new(), options };
    page.line(BOLD, &document.title);
    let width = document.facts.iter().map(|(label, _)| width_of(label)).max().unwrap_or(0);
    for (label, value) in &document.facts {
        page.line(Style::new(), &format!("  {}  {value}", padded(label, width, Align::Left)));
    }
    for warning in &document.warnings {
        page.line(Style::new(), &format!("note: {warning}"));
    }
    for section in &document.sections {
        page.section(section);
    }
    page.text
}

struct Page {
    text: String,
    options: DocumentTextOptions,
}

impl Page {
    fn line(&mut self, style: Style, line: &str) {
        let line = line.trim_end();
        let written = match self.options.color && style != Style::new() {
            true => writeln!(self.text, "{style}{line}{style:#}"),
            false => writeln!(self.text, "{line}"),
        };
        written.expect("a string takes everything");
    }

    fn section(&mut self, section: &Section) {
        self.line(Style::new(), "");
        self.line(BOLD, &section.title);
        for sentence in &section.sentences {
            self.line(Style::new(), &format!("  {sentence}"));
        }
        for table in section.tables.iter().filter(|table| !table.rows.is_empty()) {
            self.table(table);
        }
        for chart in &section.charts {
            self.chart(chart);
        }
        let notes: &[String] = if self.options.brief { &[] } else { &section.notes };
        for note in notes {
            self.line(DIM, &format!("  {note}"));
        }
    }

    fn table(&mut self, table: &Table) {
        let units = self.options.units;
        let shown = |row: &Vec<Cell>| row.iter().map(|cell| cell.shown(units)).collect();
        let rows: Vec<Vec<String>> = table.rows.iter().map(shown).collect();
        let widths: Vec<usize> = (0..table.columns.len())
            .map(|column| {
                let cells = rows.iter().map(|row| width_of(&row[column]));
                cells.chain([width_of(&table.columns[column].title)]).max().unwrap_or(0)
            })
            .collect();
        self.line(Style::new(), "");
        self.line(Style::new(), &format!("  {}", table.title));
        let joined = |cells: &[String]| {
            let padded = cells.iter().zip(&table.columns).zip(&widths);
            let cells = padded.map(|((cell, column), &width)| padded_cell(cell, width, column));
            format!("  {}", cells.collect::<Vec<_>>().join("  "))
        };
        let titles: Vec<String> = table.columns.iter().map(|column| column.title.clone()).collect();
        self.line(DIM, &joined(&titles));
        for row in &rows {
            self.line(Style::new(), &joined(row));
        }
    }

    /// Draws the heights of one layer, if they are many enough to show a course.
    fn chart(&mut self, chart: &Chart) {
        let drawn = |layer: &&Layer| {
            matches!(layer.mark, Mark::Dots | Mark::Line | Mark::Steps | Mark::Histogram)
                && layer.points.len() >= 4
        };
        let mut layers: Vec<&Layer> = chart.layers.iter().filter(drawn).collect();
        // The line through dots of one label says the same again.
        layers.dedup_by(|later, earlier| later.label == earlier.label);
        if layers.is_empty() {
            return;
        }
        self.line(Style::new(), "");
        self.line(Style::new(), &format!("  {}", chart.title));
        let width = layers.iter().map(|layer| width_of(&layer.label)).max().unwrap_or(0);
        let highest = layers.iter().flat_map(|layer| &layer.points).map(|point| point.y);
        let highest = highest.fold(0.0, f64::max);
        for layer in layers {
            let label = padded(&layer.label, width, Align::Left);
            self.line(Style::new(), &format!("  {label}  {}", spark(layer, highest)));
        }
        let most = chart.y.of.with(highest).text(self.options.units);
        let space = padded("", width, Align::Left);
        self.line(DIM, &format!("  {space}  {} up to {most}", chart.y.title));
    }
}

/// Draws a layer as blocks of up to eight eighths, from zero, in the order of x.
fn spark(layer: &Layer, highest: f64) -> String {
    let mut points: Vec<(f64, f64)> = layer.points.iter().map(|point| (point.x, point.y)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bins = points.len().min(SPARK_LEN_MAX);
    let block = |bin: usize| {
        let part = &points[bin * points.len() / bins..(bin + 1) * points.len() / bins];
        let mean = part.iter().map(|(_, y)| y).sum::<f64>() / part.len() as f64;
        let share = if highest > 0.0 { mean / highest } else { 0.0 };
        BLOCKS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
    };
    (0..bins).map(block).collect()
}

fn padded_cell(cell: &str, width: usize, column: &super::Column) -> String {
    padded(cell, width, column.align)
}

fn padded(text: &str, width: usize, align: Align) -> String {
    let space = " ".repeat(width.saturating_sub(width_of(text)));
    match align {
        Align::Left => format!("{text}{space}"),
        Align::Right => format!("{space}{text}"),
    }
}

/// Counts characters: every one that is written here is one column wide.
fn width_of(text: &str) -> usize {
    text.chars().count()
}
