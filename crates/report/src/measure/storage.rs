//! Writing and reading files: a section with rates, phases, and rates that cannot be the storage's.
//!
//! In: the figures of `write` or of `read`. Out: sentences, then tables, then charts of time
//! against length and of the rate along the bytes.

mod charts;

use steadfast_measure::figures::hash::Figure;
use steadfast_measure::figures::storage::{
    Impossible, Phase, PhaseStep, SeriesFigures, StorageFigures, Why, of,
};
use steadfast_measure::record::{Cache, Record, Series, Stage, Workload};
use steadfast_measure::stats::Cause;

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
    section.tables = vec![lines(&figures), phases(&figures)];
    section.tables.retain(|table| !table.rows.is_empty());
    for (index, series) in figures.series.iter().enumerate() {
        section.charts.extend(charts::charts(workload, index, series, units));
    }
    section.notes = notes(record, workload, &figures, units);
    Some(section)
}

/// The main results, one in each sentence.
fn sentences(series: &SeriesFigures, units: Units) -> Vec<String> {
    let label = &units::capital(&series.label);
    let files = units::counted(series.files as u64, "file", "files");
    let bytes = units.bytes(series.bytes);
    let overall = units.per_second(series.rate_overall_per_s);
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
    sentences.extend(series.steps.iter().map(|step| step_sentence(label, step, units)));
    sentences
        .extend(series.impossible.iter().map(|found| impossible_sentence(label, found, units)));
    sentences
}

fn step_sentence(label: &str, step: &PhaseStep, units: Units) -> String {
    let at = units.bytes(step.at_bytes);
    let to = units::percent(step.ratio);
    let why = match step.cause {
        Cause::Unexplained => "nothing that was seen beside it explains it".to_owned(),
        cause => format!("evidence points to: {}", cause.name()),
    };
    let mut seen = Vec::new();
    let evidence = &step.evidence;
    seen.extend(
        evidence
            .in_core_ratio
            .map(|ratio| format!("hashing in memory went to {} meanwhile", units::percent(ratio))),
    );
    seen.extend(evidence.load_rise.filter(|rise| rise.abs() >= 0.1).map(|rise| {
        let change = if rise > 0.0 { "more" } else { "less" };
        format!("others used {:.1} processors {change}", rise.abs())
    }));
    seen.extend(evidence.recovered_after_idle.map(|back| {
        let back = if back { "came back" } else { "did not come back" };
        format!("after a rest the rate {back}")
    }));
    let seen = if seen.is_empty() { String::new() } else { format!(" ({})", seen.join("; ")) };
    format!("{label}: after {at} files of one length went to {to} of their rate; {why}{seen}.")
}

fn impossible_sentence(label: &str, found: &Impossible, units: Units) -> String {
    let files = units::counted(found.files as u64, "file", "files");
    let fastest = units.per_second(found.fastest_per_s);
    let (bound, rate) = match found.why {
        Why::Cached => {
            return format!(
                "{label}: {files} came from memory, at up to {fastest}: not the storage's rate."
            );
        }
        Why::AboveLink(rate) => ("the link can carry", units.per_second(rate)),
        Why::AboveMemory(rate) => ("memory copies", units.per_second(rate)),
    };
    format!(
        "{label}: {files} at up to {fastest}, above what {bound} ({rate}): not the storage's rate."
    )
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
        (">All bytes ÷ all time", &|of| {
            let (value, interval) = (of.rate_overall_per_s, of.rate_overall_interval);
            cell(Quantity::Rate, Figure { value, interval })
        }),
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

/// The phases of series that have more than one.
fn phases(figures: &StorageFigures) -> Table {
    let several = figures.series.iter().filter(|series| series.phases.len() > 1);
    let phases = several.flat_map(|series| series.phases.iter().map(move |phase| (series, phase)));
    let phases: Vec<(&SeriesFigures, &Phase)> = phases.collect();
    let fields: &[Field<'_, (&SeriesFigures, &Phase)>] = &[
        ("What", &|(series, _)| Cell::text(units::capital(&series.label))),
        (">From", &|(_, phase)| Cell::bytes(phase.from_bytes)),
        (">Bytes", &|(_, phase)| Cell::bytes(phase.bytes)),
        (">Files", &|(_, phase)| Cell::count(phase.files.len() as u64)),
        (">Rate", &|(_, phase)| Cell::maybe(phase.rate_per_s.map(Quantity::Rate))),
        (">All bytes ÷ all time", &|(_, phase)| {
            Cell::Number(Quantity::Rate(phase.rate_overall_per_s))
        }),
    ];
    Table::of("storage-phases", "Between steps of the rate", 2, &phases, fields)
}

fn notes(
    record: &Record,
    workload: Workload,
    figures: &StorageFigures,
    units: Units,
) -> Vec<String> {
    let series = record.series.iter().filter(|series| {
        let stage = series.factors.stage;
        series.workload == workload && matches!(stage, Some(Stage::Read | Stage::Write))
    });
    let method = |of: &Series| format!("{}: {}", units::capital(&of.label), of.method);
    let mut notes: Vec<String> = series.map(method).collect();
    if figures.series.iter().any(|series| series.line.is_some()) {
        notes.push(INTERVALS.to_owned());
    }
    let bound = |what: &str, rate: Option<f64>| {
        rate.map(|rate| format!("{what}: {} by one thread.", units.per_second(rate)))
    };
    notes.extend(bound("Copying memory, at its fastest", figures.copy_rate_per_s));
    notes.extend(bound("Hashing in memory between files", figures.core_rate_per_s));
    notes
}
