//! Writes documents for programs: every figure in base units, as JSON or CSV.
//!
//! In: a document. Out: JSON with the structure of the document, or CSV with one row for each cell
//! that is not empty. No number is rounded. Sentences are the same as in text.

use std::borrow::Cow;

use serde::Serialize;

use super::{Cell, Document, Quantity, Table};
use crate::csv::write_record;

/// Writes documents as JSON.
pub fn write_json(documents: &[Document], out: &mut Vec<u8>) {
    let report = ReportObject { format: "steadfast report", version: 1, documents };
    serde_json::to_writer_pretty(&mut *out, &report)
        .expect("plain values always serialize into memory");
    out.push(b'\n');
}

/// Writes the tables of documents as CSV:
/// `section,table,row,column,value,low,high,unit,document`.
///
/// `row` has the cells that name the row, separated by commas. The unit is a base unit, and empty
/// for words. Words that a spreadsheet would run as a formula begin with an apostrophe.
pub fn write_csv(documents: &[Document], out: &mut Vec<u8>) {
    let columns = ["section", "table", "row", "column", "value", "low", "high", "unit", "document"];
    write_record(columns, out);
    for document in documents {
        for section in &document.sections {
            for table in &section.tables {
                write_table((&document.title, &section.title), table, out);
            }
        }
    }
}

fn write_table((document, section): (&str, &str), table: &Table, out: &mut Vec<u8>) {
    for row in &table.rows {
        let names = row.iter().take(table.keys).filter_map(|cell| match cell {
            Cell::Empty => None,
            Cell::Text(text) => Some(text.clone()),
            Cell::Number(of) | Cell::Interval(of, _) => Some(exact(*of)),
        });
        let name = names.collect::<Vec<_>>().join(", ");
        for (cell, column) in row.iter().zip(&table.columns) {
            let (value, low, high, unit) = match cell {
                Cell::Empty => continue,
                Cell::Text(text) => (text.clone(), String::new(), String::new(), ""),
                Cell::Number(of) => (exact(*of), String::new(), String::new(), of.unit_name()),
                Cell::Interval(of, (low, high)) => {
                    (exact(*of), low.to_string(), high.to_string(), of.unit_name())
                }
            };
            let title = column.title.as_str();
            let value = if unit.is_empty() { harmless(&value) } else { value.into() };
            let words = [section, &table.name, &name, title, document].map(harmless);
            let [place @ .., document] = &words;
            let place = place.iter().map(|word| &**word);
            let figures = [&*value, &low, &high, unit, document];
            write_record(place.chain(figures), out);
        }
    }
}

/// Puts an apostrophe before words that a spreadsheet would run as a formula.
///
/// Source: OWASP, "CSV Injection".
fn harmless(words: &str) -> Cow<'_, str> {
    match words.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        true => Cow::Owned(format!("'{words}")),
        false => Cow::Borrowed(words),
    }
}

/// Returns a number with all its digits.
pub(crate) fn exact(quantity: Quantity) -> String {
    match quantity {
        Quantity::Bytes(value) | Quantity::Count(value) => value.to_string(),
        other => other.value().to_string(),
    }
}

#[derive(Serialize)]
struct ReportObject<'a> {
    format: &'static str,
    version: u32,
    documents: &'a [Document],
}
