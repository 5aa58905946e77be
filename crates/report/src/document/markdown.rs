//! Writes a document as Markdown: headings, sentences and tables, for notes and forums.
//!
//! In: a document. Out: UTF-8 text in the dialect that has tables (GFM). The description of a chart
//! takes the place of the chart.

use std::fmt::Write as _;

use super::{Align, Document, Section, Table};
use crate::escape::visible;
use crate::units::Units;

/// Writes a document as Markdown.
pub fn write_markdown(document: &Document, units: Units) -> String {
    let mut text = String::new();
    line(&mut text, &format!("# {}", plain(&document.title)));
    line(&mut text, "");
    if !document.answers_first {
        write_circumstances(document, &mut text);
    }
    for section in &document.sections {
        write_section(section, units, &mut text);
    }
    if document.answers_first {
        line(&mut text, "");
        write_circumstances(document, &mut text);
    }
    text
}

fn write_circumstances(document: &Document, text: &mut String) {
    for (label, value) in &document.facts {
        line(text, &format!("- {}: {}", plain(label), plain(value)));
    }
    for warning in &document.warnings {
        line(text, &format!("\n> **Note:** {}", plain(warning)));
    }
}

fn write_section(section: &Section, units: Units, text: &mut String) {
    line(text, &format!("\n## {}", plain(&section.title)));
    for sentence in &section.sentences {
        line(text, &format!("\n{}", plain(sentence)));
    }
    for table in section.tables.iter().filter(|table| !table.rows.is_empty()) {
        write_table(table, units, text);
    }
    for chart in &section.charts {
        line(text, &format!("\n*{}: {}*", plain(&chart.title), plain(&chart.description)));
    }
    for note in &section.notes {
        line(text, &format!("\n{}", plain(note)));
    }
}

fn write_table(table: &Table, units: Units, text: &mut String) {
    line(text, &format!("\n**{}**\n", plain(&table.title)));
    let titles = table.columns.iter().map(|column| plain(&column.title));
    line(text, &row(titles));
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    });
    line(text, &row(rules));
    for cells in &table.rows {
        line(text, &row(cells.iter().map(|cell| plain(&cell.shown(units)))));
    }
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes everything");
}

/// Escapes characters that Markdown interprets, and spells out invisible ones.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in visible(&text.replace(['\n', '\r'], " ")).chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' => {
                plain.push('\\');
                plain.push(letter);
            }
            _ => plain.push(letter),
        }
    }
    plain
}
