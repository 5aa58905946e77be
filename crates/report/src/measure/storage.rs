//! Writing and reading files, as a section: rates, phases, what cannot be true.
//!
//! In: the figures of `write` or of `read`. Out: sentences first, then tables, then charts of time
//! against length and of the rate along the bytes.

mod charts;

use steadfast_measure::figures::storage::{
    Impossible, PhaseStep, SeriesFigures, StorageFigures, Why, of,
};
use steadfast_measure::record::{Cache, Record, Stage, Workload};
use steadfast_measure::stats::{Cause, Estimate, Line};

use super::INTERVALS;
use crate::document::{Cell, Quantity, Section, Table};
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
    for series in &figures.series {
        section.sentences.extend(sentences(series, units));
    }
    section.tables = vec![lines(&figures), single_files(&figures), phases(&figures)];
    section.tables.retain(|table| !table.rows.is_empty());
    for (index, series) in figures.series.iter().enumerate() {
        section.charts.extend(charts::charts(workload, index, series, units));
    }
    section.notes = notes(record, workload, &figures, units);
    Some(section)
}

/// What a reader should take away, a sentence each.
fn sentences(series: &SeriesFigures, units: Units) -> Vec<String> {
    let label = &series.label;
    let files = units::counted(series.files as u64, "file", "files");
    let bytes = units.bytes(series.bytes);
    let overall = units.per_second(series.rate_overall_per_s);
    let mut sentences = vec![match rate(series) {
        Some(rate) => {
            format!(
                "{label}: {} for {files}, {bytes}; all of it took {overall}.",
                rate.shown(units)
            )
        }
        None => format!("{label}: {overall} for {files}, {bytes}."),
    }];
    if series.is_cache_prone {
        sentences.push(format!(
            "{label}: files this small are often in somebody's memory: no measure of a disk."
        ));
    }
    if let Some(line) = &series.line
        && line.fits.is_doubtful()
    {
        sentences.push(format!(
            "{label}: two ways of fitting disagree by more than 2 %; the rate is doubtful."
        ));
    }
    sentences.extend(series.steps.iter().map(|step| step_sentence(label, step, units)));
    sentences.extend(drift_sentence(series));
    if let Some(populations) = &series.populations
        && series.steps.is_empty()
    {
        let rate =
            |line: &Line| line.rate_per_s().map_or("–".to_owned(), |rate| units.per_second(rate));
        let share = units::percent(populations.slow_share());
        let (fast, slow) = (rate(&populations.fast), rate(&populations.slow));
        sentences.push(format!(
            "{label}: two kinds of files, {fast} and {slow}; {share} are of the slow kind."
        ));
    }
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

/// A slide is worth a sentence only where the rate did not step.
fn drift_sentence(series: &SeriesFigures) -> Option<String> {
    let drifts = series.drifts.filter(|_| series.steps.is_empty())?;
    let evident = drifts.by_time.is_evident() || drifts.by_amount.is_evident();
    let along = match drifts.by_time.error < drifts.by_amount.error {
        true => "time, as what grows warm does",
        false => "the bytes, as what fills up does",
    };
    let to = units::percent(drifts.by_amount.ratio);
    let label = &series.label;
    evident.then(|| format!("{label}: the rate slid to {to} by the end, along {along}."))
}

fn impossible_sentence(label: &str, found: &Impossible, units: Units) -> String {
    let files = units::counted(found.files as u64, "file", "files");
    let fastest = units.per_second(found.fastest_per_s);
    let bound = |rate: f64| units.per_second(rate);
    match found.why {
        Why::Cached => {
            format!(
                "{label}: {files} came from memory, at up to {fastest}: not the storage's rate."
            )
        }
        Why::AboveLink(rate) => format!(
            "{label}: {files} at up to {fastest}, above what the link can carry ({}): not the \
             storage's rate.",
            bound(rate)
        ),
        Why::AboveMemory(rate) => format!(
            "{label}: {files} at up to {fastest}, above what memory copies ({}): not the \
             storage's rate.",
            bound(rate)
        ),
    }
}

/// The reported rate of a series, if its files have more than one length.
fn rate(series: &SeriesFigures) -> Option<Cell> {
    let line = series.line.as_ref()?;
    let rate = line.fits.robust.rate_per_s()?;
    Some(cell(Quantity::Rate(rate), line.rate_per_s.as_ref()))
}

fn cell(quantity: Quantity, interval: Option<&Estimate>) -> Cell {
    match interval {
        Some(interval) => Cell::Interval(quantity, (interval.low, interval.high)),
        None => Cell::Number(quantity),
    }
}

/// Rates by every estimator.
fn lines(figures: &StorageFigures) -> Table {
    let columns = [
        "what",
        "bytes from",
        ">files",
        ">rate",
        ">cost per file",
        ">Theil–Sen",
        ">least squares",
        ">least absolute",
        ">all bytes ÷ all time",
    ];
    let mut table = Table::new("storage-rates", "Time against length of files", &columns);
    for series in &figures.series {
        let line = series.line.as_ref();
        let of = |line: Option<&Line>, interval: Option<&Estimate>| {
            let rate = line.and_then(Line::rate_per_s);
            rate.map_or(Cell::Empty, |rate| cell(Quantity::Rate(rate), interval))
        };
        let fits = line.map(|line| &line.fits);
        let latency = line.map_or(Cell::Empty, |line| {
            let quantity = Quantity::Time(line.fits.robust.latency_s * 1e9);
            let interval = line.latency_s.as_ref().map(|latency| latency.scaled(1e9));
            cell(quantity, interval.as_ref())
        });
        table.push(vec![
            Cell::text(&series.label),
            Cell::text(origin(series)),
            Cell::Number(Quantity::Count(series.files as u64)),
            rate(series).unwrap_or(Cell::Empty),
            latency,
            of(fits.map(|fits| &fits.theil_sen), None),
            of(
                fits.map(|fits| &fits.least_squares),
                line.and_then(|line| line.least_squares_rate_per_s.as_ref()),
            ),
            of(fits.map(|fits| &fits.least_absolute), None),
            cell(Quantity::Rate(series.rate_overall_per_s), series.rate_overall_interval.as_ref()),
        ]);
    }
    table
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

/// What others publish of rates of single files.
fn single_files(figures: &StorageFigures) -> Table {
    let columns =
        ["what", ">mean", ">median", ">20 % trimmed mean", ">least", ">greatest", ">left out"];
    let mut table = Table::new("storage-files", "Rates of single files", &columns);
    for series in &figures.series {
        let rates = &series.rates_per_s;
        let rate = |rate: f64| Cell::Number(Quantity::Rate(rate));
        table.push(vec![
            Cell::text(&series.label),
            rate(rates.mean),
            rate(rates.median),
            rate(rates.trimmed_mean),
            rate(rates.min),
            rate(rates.max),
            Cell::Number(Quantity::Count(series.too_small as u64)),
        ]);
    }
    table
}

/// The phases of series that have more than one.
fn phases(figures: &StorageFigures) -> Table {
    let columns = ["what", ">from", ">bytes", ">files", ">rate", ">all bytes ÷ all time"];
    let mut table = Table::new("storage-phases", "Between steps of the rate", &columns).keyed(2);
    for series in figures.series.iter().filter(|series| series.phases.len() > 1) {
        for phase in &series.phases {
            table.push(vec![
                Cell::text(&series.label),
                Cell::Number(Quantity::Bytes(phase.from_bytes)),
                Cell::Number(Quantity::Bytes(phase.bytes)),
                Cell::Number(Quantity::Count(phase.files.len() as u64)),
                Cell::maybe(phase.rate_per_s.map(Quantity::Rate)),
                Cell::Number(Quantity::Rate(phase.rate_overall_per_s)),
            ]);
        }
    }
    table
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
    let mut notes: Vec<String> =
        series.map(|series| format!("{}: {}", series.label, series.method)).collect();
    if figures.series.iter().any(|series| series.line.is_some()) {
        notes.push(INTERVALS.to_owned());
    }
    let bound = |what: &str, rate: Option<f64>| {
        rate.map(|rate| format!("{what}: {} by one thread.", units.per_second(rate)))
    };
    notes.extend(bound("copying memory, at its fastest", figures.copy_rate_per_s));
    notes.extend(bound("hashing in memory between files", figures.core_rate_per_s));
    notes
}
