//! Writing and reading files: a section with rates, and rates that cannot be the storage's.
//!
//! In: the figures of `write` or of `read`. Out: sentences, then tables, then charts of time
//! against length and of the rate along the bytes.

mod charts;

use steadfast_measure::figures::hash::Figure;
use steadfast_measure::figures::storage::{Impossible, SeriesFigures, StorageFigures, Why, of};
use steadfast_measure::record::{Cache, Record, Series, Stage, Workload};

use super::{INTERVALS, cell, latency_cell};
use crate::document::{Cell, Field, Headline, Quantity, Section, Table};
use crate::units::{self, Units};

/// Makes the section of `write` or of `read`, if the record has such series.
pub(super) fn section(record: &Record, workload: Workload, units: Units) -> Option<Section> {
    let figures = of(record, workload)?;
    let mut section = Section {
        title: match workload {
            Workload::Write => "Writing files, and reading them back".to_owned(),
            _ => "Reading files".to_owned(),
        },
        ..Section::default()
    };
    section.headline = figures.series.first().and_then(|series| {
        let what = format!("{}, {}", units::capital(&series.label), units.bytes(series.bytes));
        Some(Headline::new(cell(Quantity::Rate, rate(series)?), what))
    });
    for series in &figures.series {
        section.sentences.extend(sentences(series, units));
    }
    section.tables = vec![lines(&figures)];
    for (index, series) in figures.series.iter().enumerate() {
        section.charts.extend(charts::charts(workload, index, series, units));
    }
    section.notes = notes(record, workload, &figures);
    Some(section)
}

/// The main results, one in each sentence.
fn sentences(series: &SeriesFigures, units: Units) -> Vec<String> {
    let label = &units::capital(&series.label);
    let files = units::counted(series.files as u64, "file", "files");
    let bytes = units.bytes(series.bytes);
    let overall = units.per_second(series.rate_overall_per_s.value);
    let mut sentences = vec![match rate(series) {
        Some(rate) => {
            format!(
                "{label}: {} for {files}, {bytes}; all bytes ÷ all time: {overall}.",
                cell(Quantity::Rate, rate).shown(units)
            )
        }
        None => format!("{label}: {overall} for {files}, {bytes}."),
    }];
    if series.is_cache_prone {
        sentences.push(format!(
            "{label}: files this small are often in a cache, so their rate is not that of a disk."
        ));
    }
    if let Some(line) = &series.line
        && line.is_doubtful
    {
        sentences.push(format!("{label}: no straight line fits; the rate is doubtful."));
    }
    sentences.extend(load_sentence(label, series));
    sentences
        .extend(series.impossible.iter().map(|found| impossible_sentence(label, found, units)));
    sentences
}

/// States how busy the machine was with other work.
fn load_sentence(label: &str, series: &SeriesFigures) -> Option<String> {
    let others = series.others.filter(|&others| others >= 0.05)?;
    let queued = series.queued.map_or(String::new(), |queued| {
        format!("; {} of the time went by waiting for a processor", units::percent(queued))
    });
    Some(format!("{label}: meanwhile other programs had {others:.1} processors{queued}."))
}

fn impossible_sentence(label: &str, found: &Impossible, units: Units) -> String {
    let files = units::counted(found.files as u64, "file", "files");
    let fastest = units.per_second(found.fastest_per_s);
    match found.why {
        Why::Cached => format!(
            "{label}: {files} came from memory, at up to {fastest}: not the storage's rate."
        ),
        Why::AboveLink(rate) => format!(
            "{label}: {files} at up to {fastest}, above what the link can carry ({}): not the \
             storage's rate.",
            units.per_second(rate)
        ),
    }
}

/// The reported rate of a series, if its files have more than one length.
fn rate(series: &SeriesFigures) -> Option<Figure> {
    series.line.as_ref().and_then(|_| series.rate())
}

fn lines(figures: &StorageFigures) -> Table {
    let fields: &[Field<'_, SeriesFigures>] = &[
        ("What", &|of| Cell::text(units::capital(&of.label))),
        ("Bytes from", &|of| Cell::text(units::capital(origin(of)))),
        (">Files", &|of| Cell::count(of.files as u64)),
        (">Rate", &|of| cell(Quantity::Rate, rate(of))),
        (">Cost per file", &|of| of.line.as_ref().map_or(Cell::Empty, latency_cell)),
        (">All bytes ÷ all time", &|of| cell(Quantity::Rate, of.rate_overall_per_s)),
        (">Left out", &|of| Cell::count(of.too_small as u64)),
    ];
    Table::of("storage-rates", "Time against length of files", 1, &figures.series, fields)
}

fn origin(series: &SeriesFigures) -> &'static str {
    match (series.stage, series.cache) {
        (Stage::Write, _) => "–",
        (_, Some(Cache::Cold)) => "storage, through an empty cache",
        (_, Some(Cache::Direct)) => "storage, past the cache",
        (_, Some(Cache::Warm)) => "the page cache",
        _ => "not proved",
    }
}

fn notes(record: &Record, workload: Workload, figures: &StorageFigures) -> Vec<String> {
    let series = record.series.iter().filter(|series| {
        let stage = series.factors.stage;
        series.workload == workload && matches!(stage, Some(Stage::Read | Stage::Write))
    });
    let method = |of: &Series| format!("{}: {}", units::capital(&of.label), of.method);
    let mut notes: Vec<String> = series.map(method).collect();
    if figures.series.iter().any(|series| series.line.is_some()) {
        notes.push(INTERVALS.to_owned());
    }
    notes
}
