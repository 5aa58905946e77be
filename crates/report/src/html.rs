//! A document as one HTML page: no script, no outside request, everything inline.
//!
//! In: documents. Out: UTF-8 HTML that reads in light, in dark, in print, on a phone, without
//! colour and aloud. Knows nothing of what the documents are about.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart;
use crate::document::{Align, Cell, Chart, Document, Quantity, Section, Table, exact_digits};
use crate::units::Units;

const STYLE: &str = include_str!("style.css");

/// Rows above which a table is folded away until it is wanted.
const OPEN_ROWS_MAX: usize = 40;

/// Letters from which on a cell may be broken anywhere, and gets room for it.
const LONG_LEN_MIN: usize = 32;

/// Writes documents as one page. The first gives the page its title.
pub fn page(documents: &[Document], units: Units) -> String {
    let title = documents.first().map_or("Report", |document| document.title.as_str());
    let several = documents.len() > 1;
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="steadfast";
                // What is not in the page is not fetched, whatever a name in it tries.
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a .skip href="#content" { "Skip to the content" }
                main #content {
                    @for (index, document) in documents.iter().enumerate() {
                        (article(document, index, several, units))
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// Writes one document as it stands within a page.
pub fn article(document: &Document, index: usize, several: bool, units: Units) -> Markup {
    html! {
        article aria-labelledby=(format!("title-{index}")) {
            header {
                @if several && index > 0 {
                    h2 .title id=(format!("title-{index}")) { (document.title) }
                } @else {
                    h1 id=(format!("title-{index}")) { (document.title) }
                }
                @if !document.warnings.is_empty() {
                    ul .warnings aria-label="Notes" {
                        @for warning in &document.warnings { li { (warning) } }
                    }
                }
                @if document.sections.len() > 2 {
                    nav aria-label=(format!("Contents of {}", document.title)) {
                        ul {
                            @for (part, section) in document.sections.iter().enumerate() {
                                li { a href=(format!("#part-{index}-{part}")) { (section.title) } }
                            }
                        }
                    }
                }
                @if !document.facts.is_empty() {
                    dl .facts {
                        @for (label, value) in &document.facts {
                            div { dt { (label) } dd { (value) } }
                        }
                    }
                }
            }
            @for (part, section) in document.sections.iter().enumerate() {
                (part_of(section, index, part, units))
            }
        }
    }
}

/// Writes a section. Those of the first document stand beneath the page's own title, others one
/// level lower.
fn part_of(section: &Section, index: usize, part: usize, units: Units) -> Markup {
    html! {
        section id=(format!("part-{index}-{part}")) {
            @if index == 0 { h2 { (section.title) } } @else { h3 { (section.title) } }
            @for (place, sentence) in section.sentences.iter().enumerate() {
                p .answer[place == 0] { (sentence) }
            }
            @if !section.charts.is_empty() {
                div .charts {
                    @for chart in &section.charts {
                        (figure(chart, index, part, units))
                    }
                }
            }
            @for table in section.tables.iter().filter(|table| !table.rows.is_empty()) {
                (table_of(table, &section.title, units))
            }
            @if !section.notes.is_empty() {
                div .notes {
                    @for note in &section.notes {
                        p { (note) }
                    }
                }
            }
        }
    }
}

/// Draws a chart. Its name is made unique within the page, since other documents may have the same.
fn figure(chart: &Chart, index: usize, part: usize, units: Units) -> Markup {
    let name = format!("{}-{index}-{part}", chart.name);
    let chart = Chart { name, ..chart.clone() };
    html! {
        figure {
            figcaption { (chart.title) }
            div .picture { (PreEscaped(chart::svg(&chart, units))) }
            p .words aria-hidden="true" { (chart.description) }
        }
    }
}

/// Writes a table. A title that its section has already is told, not shown again.
fn table_of(table: &Table, section: &str, units: Units) -> Markup {
    let told = table.title == section;
    let label = format!("Table {}: {}", table.name, table.title);
    let rows = html! {
        div .scroll tabindex="0" role="region" aria-label=(label) {
            table {
                caption .told[told] { (table.title) }
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" .number[column.align == Align::Right] { (column.title) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr { @for (place, cell) in row.iter().enumerate() {
                            (cell_of(cell, place == 0, table.columns[place].align, units))
                        } }
                    }
                }
            }
        }
    };
    match table.rows.len() > OPEN_ROWS_MAX {
        true => html! { details { summary { (table.title) } (rows) } },
        false => rows,
    }
}

/// Writes a cell, with its exact value where the shown one is rounded.
fn cell_of(cell: &Cell, first: bool, align: Align, units: Units) -> Markup {
    let shown = cell.shown(units);
    let exact = match cell {
        Cell::Number(quantity) => Some(exact(*quantity)),
        Cell::Interval(quantity, (low, high)) => {
            Some(format!("{} [{low}–{high}]", exact(*quantity)))
        }
        Cell::Text(_) | Cell::Empty => None,
    };
    let number = align == Align::Right;
    let long = !number && shown.chars().count() >= LONG_LEN_MIN;
    let words = match (cell, shown.split_once(" [")) {
        (Cell::Interval(..), Some((figure, ends))) => {
            html! { (figure) " " span .ends { "[" (ends) } }
        }
        _ => html! { (shown) },
    };
    html! {
        @if first {
            th scope="row" .number[number] .long[long] title=[exact] { (words) }
        } @else {
            td .number[number] .long[long] title=[exact] { (words) }
        }
    }
}

fn exact(quantity: Quantity) -> String {
    format!("{} {}", exact_digits(quantity), quantity.unit_name().replace('_', " "))
}
