//! Writing and reading files: a section with rates, and rates that cannot be the storage's.

use steadfast_measure::figures::storage::{self, Impossible, Why};
use steadfast_measure::figures::{Curve, TimedPoint};
use steadfast_measure::record::{Cache, Record, Stage, Workload};
use steadfast_measure::stats::Figure;

use super::{INTERVALS, by_size, cell, latency, lengths_of};
use crate::document::{
    Axis, Cell, Chart, Field, Headline, Layer, Mark, Point, Quantity, Section, Table,
};
use crate::units::{self, Units};

/// Makes the section of `write` or of `read`, if the record has such series.
pub(super) fn section(record: &Record, workload: Workload, units: Units) -> Option<Section> {
    let all = storage::of(record, workload);
    let first = all.first()?;
    let title = match workload {
        Workload::Write => "Writing files, and reading them back",
        _ => "Reading files",
    };
    // Past the page cache nothing but the drive answers.
    let direct = all.iter().find(|of| of.factors.cache == Some(Cache::Direct));
    let main = direct.filter(|_| workload == Workload::Read).unwrap_or(first);
    let what = match main.factors.stage {
        Some(Stage::Write) => "written to the drive.",
        _ => "read from the drive.",
    };
    let named = |of: &Curve<'_>| Some((of.series.label.clone(), Quantity::Rate(of.rate?.value)));
    let headline = Headline::new(shown_rate(main), what).among(all.iter().filter_map(named));
    let fields: &[Field<'_, Curve<'_>>] = &[
        ("What", &|of| Cell::text(label(of))),
        ("Bytes from", &|of| Cell::text(units::capital(origin(of)))),
        (">Files", &|of| Cell::count(of.points.len() as u64)),
        (">Rate", &|of| cell(Quantity::Rate, line_rate(of))),
        (">Cost per file", &latency),
        (">All bytes ÷ all time", &|of| cell(Quantity::Rate, of.overall())),
        (">Left out", &|of| Cell::count(storage::left_out(of) as u64)),
    ];
    let mut notes: Vec<String> =
        all.iter().map(|of| format!("{}: {}", label(of), of.series.method)).collect();
    if all.iter().any(|of| of.fit.is_some()) {
        notes.push(INTERVALS.to_owned());
    }
    let charts = all.iter().enumerate();
    let charts =
        charts.flat_map(|(at, of)| charts_of(&format!("{}-{at}", workload.name()), of, units));
    Some(Section {
        title: title.to_owned(),
        headline: Some(headline),
        sentences: all.iter().flat_map(|of| sentences(record, of, units)).collect(),
        tables: vec![Table::of("storage-rates", "Time against length of files", 1, &all, fields)],
        charts: charts.collect(),
        notes,
    })
}

fn label(files: &Curve<'_>) -> String {
    units::capital(&files.series.label)
}

/// The reported rate, if the files have more than one length.
fn line_rate(files: &Curve<'_>) -> Option<Figure> {
    files.rate.filter(|_| files.fit.is_some())
}

/// The rate as sentences have it: with its interval, if it is that of a line.
fn shown_rate(files: &Curve<'_>) -> Cell {
    match (line_rate(files), files.overall()) {
        (Some(rate), _) => cell(Quantity::Rate, rate),
        (None, overall) => Cell::maybe(overall.map(|overall| Quantity::Rate(overall.value))),
    }
}

/// The main results, one in each sentence.
fn sentences(record: &Record, of: &Curve<'_>, units: Units) -> Vec<String> {
    let label = &label(of);
    let files = units::counted(of.points.len() as u64, "file", "files");
    let bytes = units.bytes(of.amount());
    let overall = units.per_second(of.overall().map_or(0.0, |rate| rate.value));
    let mut sentences = vec![match line_rate(of) {
        Some(rate) => {
            let rate = cell(Quantity::Rate, rate).shown(units);
            format!("{label}: {rate} for {files}, {bytes}; all bytes ÷ all time: {overall}.")
        }
        None => format!("{label}: {overall} for {files}, {bytes}."),
    }];
    if storage::is_cache_prone(of.series) {
        sentences.push(format!(
            "{label}: files this small are often in a cache, so their rate is not that of a disk."
        ));
    }
    if of.fit.as_ref().is_some_and(|line| line.is_doubtful) {
        sentences.push(format!("{label}: no straight line fits; the rate is doubtful."));
    }
    if let Some(others) = storage::others(of).filter(|&others| others >= 0.05) {
        let queued = storage::queued(of).map_or(String::new(), |queued| {
            format!("; {} of the time went by waiting for a processor", units::percent(queued))
        });
        sentences
            .push(format!("{label}: meanwhile other programs had {others:.1} processors{queued}."));
    }
    let impossible = storage::impossible(record, of);
    sentences.extend(impossible.iter().map(|found| impossible_sentence(label, found, units)));
    sentences
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

fn origin(files: &Curve<'_>) -> &'static str {
    match (files.factors.stage, files.factors.cache) {
        (Some(Stage::Write), _) => "–",
        (_, Some(Cache::Cold)) => "storage, through an empty cache",
        (_, Some(Cache::Direct)) => "storage, past the cache",
        (_, Some(Cache::Warm)) => "the page cache",
        _ => "not proved",
    }
}

/// The rate of each file by its length, along the bytes and over time, and time against length.
fn charts_of(name: &str, of: &Curve<'_>, units: Units) -> Vec<Chart> {
    let from = of.points.iter().map(|file| file.start_s).fold(f64::INFINITY, f64::min);
    let dots = |at: &dyn Fn(&TimedPoint) -> f64| -> Vec<Point> {
        of.points.iter().map(|file| Point::at(at(file), file.point.rate_per_s())).collect()
    };
    let chart = |what: &str, title: &str, words: String, x: Axis, layers: Vec<Layer>| {
        let axes = (x, Axis::linear("rate", Quantity::Rate(0.0)));
        Chart::new(format!("{name}-{what}"), format!("{}: {title}", label(of)), words, axes, layers)
    };
    let course =
        |what: &str, [title, along]: [&str; 2], x: Axis, at: &dyn Fn(&TimedPoint) -> f64| {
            let dots = dots(at);
            let rates = || dots.iter().map(|point| point.y);
            let (fast, slow) = (rates().fold(0.0, f64::max), rates().fold(f64::INFINITY, f64::min));
            let (fast, slow) = (units.per_second(fast), units.per_second(slow));
            let words = format!("One dot for each file, {along}: from {slow} to {fast}.");
            chart(what, title, words, x, vec![Layer::new("files", Mark::Dots, dots)])
        };
    // Opening costs short files the most.
    let mut by_length = vec![Layer::new("files", Mark::Dots, dots(&|file| file.point.amount))];
    if let Some(fit) = of.fit.as_ref().map(|fit| fit.line) {
        let fitted = lengths_of(of).map(|length| Point::at(length, length / fit.time_s(length)));
        let fitted = fitted.filter(|point| point.y.is_finite() && point.y > 0.0);
        by_length.push(Layer::new("as the line has it", Mark::Line, fitted));
    }
    let description = format!(
        "One dot for each of {}; the line is what the fit of time against length says.",
        units::counted(of.points.len() as u64, "file", "files")
    );
    let along = ["rate along the bytes", "in the order of the bytes, as what fills up would show"];
    let over = ["rate over time", "over time, as what grows warm would show"];
    let length = Axis::log("length", Quantity::Bytes(0));
    let bytes = Axis::linear("bytes before", Quantity::Bytes(0));
    let time = Axis::linear("time since the first file", Quantity::Time(0.0));
    let mut charts = vec![
        chart("length", "rate of each file by its length", description, length, by_length),
        course("bytes", along, bytes, &|file| file.before as f64),
        course("time", over, time, &|file| 1e9 * (file.start_s - from)),
    ];
    charts.extend(of.fit.as_ref().map(|fit| {
        let words = match fit.line.rate_per_s() {
            Some(rate) => {
                let rate = units.per_second(rate);
                format!("A line of {rate} through the files; the band is its interval.")
            }
            None => "Longer files took no longer.".to_owned(),
        };
        let title = format!("{}: time against length", label(of));
        let mut chart = by_size(
            [&format!("{name}-line"), &title, &words],
            Axis::linear,
            [("files".to_owned(), of)],
        );
        chart.x.title = "length".to_owned();
        chart
    }));
    charts
}
