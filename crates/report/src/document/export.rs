//! A document for programs: every figure in base units, as JSON or as CSV.
//!
//! In: a document. Out: JSON with the structure of the document, or CSV with one row for each cell
//! that holds a number. No number is rounded and nothing is left out; sentences are as people read
//! them.

use std::borrow::Cow;

use serde::Serialize;

use super::{Axis, Cell, Chart, Document, Mark, Point, Quantity, Scale, Table};

/// Writes documents as JSON.
pub fn write_json(documents: &[Document], out: &mut Vec<u8>) {
    let documents = documents.iter().map(DocumentObject::of).collect();
    let report = ReportObject { format: "steadfast report", version: 1, documents };
    serde_json::to_writer_pretty(&mut *out, &report)
        .expect("plain values always serialize into memory");
    out.push(b'\n');
}

/// Writes the tables of documents as CSV:
/// `section,table,row,column,value,low,high,unit,document`.
///
/// `row` is the cells that name the row, with commas between them; the unit is a base unit, and
/// empty for words. Words that a spreadsheet would take for a formula have an apostrophe before
/// them.
///
/// # Errors
/// Never: the writer is memory. The library that writes wants to be asked.
pub fn write_csv(documents: &[Document], out: &mut Vec<u8>) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record([
        "section", "table", "row", "column", "value", "low", "high", "unit", "document",
    ])?;
    for document in documents {
        for section in &document.sections {
            for table in &section.tables {
                write_table((&document.title, &section.title), table, &mut writer)?;
            }
        }
    }
    writer.flush()?;
    Ok(())
}

fn write_table<W: std::io::Write>(
    (document, section): (&str, &str),
    table: &Table,
    writer: &mut csv::Writer<W>,
) -> csv::Result<()> {
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
            writer.write_record(place.chain(figures))?;
        }
    }
    Ok(())
}

/// Puts an apostrophe before words that a spreadsheet would take for a formula and run.
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
    documents: Vec<DocumentObject<'a>>,
}

#[derive(Serialize)]
struct DocumentObject<'a> {
    title: &'a str,
    facts: Vec<FactObject<'a>>,
    warnings: &'a [String],
    sections: Vec<SectionObject<'a>>,
}

#[derive(Serialize)]
struct FactObject<'a> {
    label: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct SectionObject<'a> {
    title: &'a str,
    sentences: &'a [String],
    tables: Vec<TableObject<'a>>,
    charts: Vec<ChartObject<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct TableObject<'a> {
    name: &'a str,
    title: &'a str,
    columns: Vec<&'a str>,
    rows: Vec<Vec<CellObject<'a>>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum CellObject<'a> {
    Empty,
    Text(&'a str),
    Number {
        value: ValueObject,
        unit: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        interval: Option<(f64, f64)>,
    },
}

/// Whole numbers stay whole: a length may have more digits than a fraction can hold.
#[derive(Serialize)]
#[serde(untagged)]
enum ValueObject {
    Whole(u64),
    Real(f64),
}

impl ValueObject {
    fn of(quantity: Quantity) -> ValueObject {
        match quantity {
            Quantity::Bytes(value) | Quantity::Count(value) => ValueObject::Whole(value),
            other => ValueObject::Real(other.value()),
        }
    }
}

#[derive(Serialize)]
struct ChartObject<'a> {
    name: &'a str,
    title: &'a str,
    description: &'a str,
    x: AxisObject<'a>,
    y: AxisObject<'a>,
    layers: Vec<LayerObject<'a>>,
}

#[derive(Serialize)]
struct AxisObject<'a> {
    title: &'a str,
    unit: &'static str,
    scale: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<&'a [String]>,
}

#[derive(Serialize)]
struct LayerObject<'a> {
    label: &'a str,
    mark: &'static str,
    points: Vec<PointObject>,
}

#[derive(Serialize)]
struct PointObject {
    x: f64,
    y: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<(f64, f64)>,
}

impl DocumentObject<'_> {
    fn of(document: &Document) -> DocumentObject<'_> {
        DocumentObject {
            title: &document.title,
            facts: document
                .facts
                .iter()
                .map(|(label, value)| FactObject { label, value })
                .collect(),
            warnings: &document.warnings,
            sections: document
                .sections
                .iter()
                .map(|section| SectionObject {
                    title: &section.title,
                    sentences: &section.sentences,
                    tables: section.tables.iter().map(TableObject::of).collect(),
                    charts: section.charts.iter().map(ChartObject::of).collect(),
                    notes: &section.notes,
                })
                .collect(),
        }
    }
}

impl TableObject<'_> {
    fn of(table: &Table) -> TableObject<'_> {
        TableObject {
            name: &table.name,
            title: &table.title,
            columns: table.columns.iter().map(|column| column.title.as_str()).collect(),
            rows: table.rows.iter().map(|row| row.iter().map(CellObject::of).collect()).collect(),
        }
    }
}

impl CellObject<'_> {
    fn of(cell: &Cell) -> CellObject<'_> {
        let number = |of: Quantity, interval| CellObject::Number {
            value: ValueObject::of(of),
            unit: of.unit_name(),
            interval,
        };
        match cell {
            Cell::Empty => CellObject::Empty,
            Cell::Text(text) => CellObject::Text(text),
            Cell::Number(of) => number(*of, None),
            Cell::Interval(of, ends) => number(*of, Some(*ends)),
        }
    }
}

impl ChartObject<'_> {
    fn of(chart: &Chart) -> ChartObject<'_> {
        let point =
            |point: &Point| PointObject { x: point.x, y: point.y, interval: point.interval };
        ChartObject {
            name: &chart.name,
            title: &chart.title,
            description: &chart.description,
            x: AxisObject::of(&chart.x),
            y: AxisObject::of(&chart.y),
            layers: chart
                .layers
                .iter()
                .map(|layer| LayerObject {
                    label: &layer.label,
                    mark: mark_name(layer.mark),
                    points: layer.points.iter().map(point).collect(),
                })
                .collect(),
        }
    }
}

impl AxisObject<'_> {
    fn of(axis: &Axis) -> AxisObject<'_> {
        let (scale, names) = match &axis.scale {
            Scale::Linear => ("linear", None),
            Scale::Log => ("log", None),
            Scale::Names(names) => ("names", Some(names.as_slice())),
        };
        AxisObject { title: &axis.title, unit: axis.of.unit_name(), scale, names }
    }
}

fn mark_name(mark: Mark) -> &'static str {
    match mark {
        Mark::Dots => "dots",
        Mark::Line => "line",
        Mark::Steps => "steps",
        Mark::Band => "band",
        Mark::Bars => "bars",
        Mark::Histogram => "histogram",
        Mark::Rule => "rule",
        Mark::Spans => "spans",
    }
}
