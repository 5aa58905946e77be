//! Writes documents as one HTML page: no script, no outside request, everything inline.
//!
//! In: documents. Out: UTF-8 HTML that is readable in light and dark, in print, on a phone, without
//! colour, and by a screen reader. Knows nothing of what the documents mean.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::{self, DOTS_MAX};
use crate::document::{
    Align, Cell, Chart, Column, Document, Headline, Quantity, Section, Table, exact_digits,
};
use crate::escape::visible;
use crate::units::{self, Units};

/// The style of pages, for callers that show documents within their own pages.
pub const STYLE: &str = include_str!("style.css");

/// Tables with more rows are folded.
const OPEN_ROWS_MAX: usize = 40;

/// In tables with at least this many columns, intervals are below their figures.
const WIDE_COLUMNS_MIN: usize = 6;

/// Longer tables have no names of columns in their cells, which would double them.
const LABELLED_MAX: usize = 500;

/// Cells with at least this many letters may be broken anywhere, and have a minimum width.
const LONG_LEN_MIN: usize = 32;

/// Length in bytes from which a page is made with less detail, so that it can be mailed.
pub const PAGE_LEN_BYTES_MAX: usize = 500_000;

/// How much optional detail a page has.
#[derive(Clone, Copy, Debug)]
struct Detail {
    /// Greatest number of dots in one chart.
    dots_max: usize,
    /// Whether figures have their exact value as a tooltip.
    exact: bool,
    /// Whether each cell names its column, so that a row can be a card on a phone.
    labelled: bool,
    /// The multiples of bytes.
    units: Units,
}

/// Dots and tooltips, from full detail to the least.
const LEVELS: [(usize, bool); 6] =
    [(DOTS_MAX, true), (450, true), (225, true), (225, false), (100, false), (50, false)];

/// Writes documents as one page. The first gives the page its title.
///
/// A page that would be too long has fewer dots and no tooltips, and says so.
pub fn page(documents: &[Document], units: Units) -> String {
    let mut page = String::new();
    for (dots_max, exact) in LEVELS {
        page = whole(documents, Detail { dots_max, exact, labelled: false, units });
        if page.len() < PAGE_LEN_BYTES_MAX {
            break;
        }
    }
    page
}

fn whole(documents: &[Document], detail: Detail) -> String {
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
                // Nothing is fetched, even if a name in the page contains markup.
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                title { (visible(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a .skip href="#content" { "Skip to the content" }
                main #content {
                    @for (index, document) in documents.iter().enumerate() {
                        (article_in(document, (index, several), detail))
                    }
                    @if !detail.exact {
                        footer .notes {
                            p {
                                "Exact values are left out, to keep this page small; the \
                                 report as .json has them."
                            }
                        }
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// Writes one of several documents as a part of a page.
pub fn article(document: &Document, index: usize, units: Units) -> Markup {
    let detail = Detail { dots_max: DOTS_MAX, exact: true, labelled: true, units };
    article_in(document, (index, true), detail)
}

fn article_in(document: &Document, (index, several): (usize, bool), detail: Detail) -> Markup {
    let warned = || units::counted(document.warnings.len() as u64, "warning", "warnings");
    html! {
        article aria-labelledby=(format!("title-{index}")) {
            header {
                @if several && index > 0 {
                    h2 .title id=(format!("title-{index}")) { (visible(&document.title)) }
                } @else {
                    h1 id=(format!("title-{index}")) { (visible(&document.title)) }
                }
                @if !document.answers_first { (warnings_of(document)) }
                @if document.answers_first && !document.warnings.is_empty() {
                    p .warned {
                        a href=(format!("#circumstances-{index}")) {
                            (warned()) " below"
                        }
                    }
                }
                @if document.sections.len() > 2 {
                    @let contents = format!("Contents of {}", document.title);
                    nav aria-label=(visible(&contents)) {
                        ul .answers[document.answers_first] {
                            @for (part, section) in document.sections.iter().enumerate() {
                                li {
                                    a href=(format!("#part-{index}-{part}")) {
                                        (visible(&section.title))
                                    }
                                    @if document.answers_first {
                                        @if let Some(answer) = section.sentences.first() {
                                            " " (visible(answer))
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
                @if !document.answers_first { (facts_of(document)) }
            }
            @for (part, section) in document.sections.iter().enumerate() {
                (part_of(section, (index, part), detail))
            }
            @if document.answers_first {
                // Without sections there is nothing else to see.
                details .circumstances open[document.sections.is_empty()] {
                    summary { "Warnings, machine and session" }
                    // A link to an element within opens the details.
                    div id=(format!("circumstances-{index}")) {
                        (warnings_of(document))
                        (facts_of(document))
                    }
                }
            }
        }
    }
}

fn warnings_of(document: &Document) -> Markup {
    html! {
        @if !document.warnings.is_empty() {
            ul .warnings aria-label="Notes" {
                @for warning in &document.warnings { li { (visible(warning)) } }
            }
        }
    }
}

fn facts_of(document: &Document) -> Markup {
    html! {
        @if !document.facts.is_empty() {
            dl .facts {
                @for (label, value) in &document.facts {
                    div { dt { (visible(label)) } dd { (visible(value)) } }
                }
            }
        }
    }
}

/// Writes a section. Headings of the first document are one level below the page's title, those of
/// others two levels.
fn part_of(section: &Section, (index, part): (usize, usize), detail: Detail) -> Markup {
    let title = visible(&section.title);
    html! {
        section id=(format!("part-{index}-{part}")) {
            @if index == 0 { h2 { (title) } } @else { h3 { (title) } }
            // A single chart stands beside its answer, and leaves no half of a wide page empty.
            div .beside[section.charts.len() == 1] {
                div {
                    @if let Some(Headline { figure, what, .. }) = &section.headline {
                        p .headline {
                            strong { (words_of(figure, &visible(&figure.shown(detail.units)))) }
                            " "
                            span { (visible(what)) }
                        }
                    }
                    @for (place, sentence) in section.sentences.iter().enumerate() {
                        p .answer[place == 0] { (visible(sentence)) }
                    }
                }
                @if !section.charts.is_empty() {
                    div .charts {
                        @for chart in &section.charts {
                            (figure_of(chart, (index, part), detail))
                        }
                    }
                }
            }
            @for (place, table) in section.tables.iter().enumerate() {
                @if !table.rows.is_empty() {
                    @let number = format!("{}.{}.{}", index + 1, part + 1, place + 1);
                    (table_of(table, (&section.title, &number), detail))
                }
            }
            @if !section.notes.is_empty() {
                div .notes {
                    @for note in &section.notes {
                        p { (visible(note)) }
                    }
                }
            }
        }
    }
}

/// Draws a chart. Its name is made unique within the page: other documents may have the same name.
fn figure_of(chart: &Chart, (index, part): (usize, usize), detail: Detail) -> Markup {
    let name = format!("{}-{index}-{part}", chart.name);
    let chart = Chart { name, ..chart.clone() };
    let drawn = chart::drawn_of(&chart, detail.dots_max).map(|(drawn, all)| {
        let [drawn, all] = [drawn, all].map(|dots| units::count(dots as u64));
        format!("Of {all} dots {drawn} are drawn, evenly chosen.")
    });
    html! {
        figure {
            figcaption { (visible(&chart.title)) }
            div .picture { (PreEscaped(chart::svg(&chart, detail.units, detail.dots_max))) }
            p .words aria-hidden="true" { (visible(&chart.description)) }
            @if let Some(drawn) = drawn { p .words { (drawn) } }
        }
    }
}

/// Writes a table. A title that repeats the section's is for screen readers only.
fn table_of(table: &Table, (section, number): (&str, &str), detail: Detail) -> Markup {
    let detail = Detail { labelled: detail.labelled && table.rows.len() <= LABELLED_MAX, ..detail };
    let told = table.title == section;
    let title = visible(&table.title);
    let label = format!("Table {number}: {title}");
    let rows = html! {
        div .scroll tabindex="0" role="region" aria-label=(label) {
            table .wide[table.columns.len() >= WIDE_COLUMNS_MIN] {
                caption .told[told] { (title) }
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" .number[column.align == Align::Right] {
                                (visible(&column.title))
                            }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr { @for (place, cell) in row.iter().enumerate() {
                            (cell_of(cell, place == 0, &table.columns[place], detail))
                        } }
                    }
                }
            }
        }
    };
    match table.rows.len() > OPEN_ROWS_MAX {
        true => html! { details { summary { (title) } (rows) } },
        false => rows,
    }
}

/// Writes a cell, with the exact value of a number as a tooltip.
fn cell_of(cell: &Cell, first: bool, column: &Column, detail: Detail) -> Markup {
    let shown = cell.shown(detail.units);
    let shown = visible(&shown);
    let exact = match cell {
        _ if !detail.exact => None,
        Cell::Number(quantity) => Some(exact(*quantity)),
        Cell::Interval(quantity, (low, high)) => {
            Some(format!("{} [{low}–{high}]", exact(*quantity)))
        }
        Cell::Text(_) | Cell::Empty => None,
    };
    let number = column.align == Align::Right;
    let is_named = detail.labelled && !matches!(cell, Cell::Empty);
    let label = is_named.then(|| visible(&column.title));
    let long = !number && shown.chars().count() >= LONG_LEN_MIN;
    let words = words_of(cell, &shown);
    html! {
        @if first {
            th scope="row" .number[number] .long[long] title=[exact] { (words) }
        } @else {
            td .number[number] .long[long] title=[exact] data-label=[label] { (words) }
        }
    }
}

/// Writes what a cell shows, with the interval set apart from its figure.
fn words_of(cell: &Cell, shown: &str) -> Markup {
    match (cell, shown.split_once(" [")) {
        (Cell::Interval(..), Some((figure, ends))) => {
            html! { (figure) " " span .ends { "[" (ends) } }
        }
        _ => html! { (shown) },
    }
}

fn exact(quantity: Quantity) -> String {
    format!("{} {}", exact_digits(quantity), quantity.unit_name().replace('_', " "))
}
