//! The charts of a series of files: rate by length, by bytes and by time, and time against length.
//!
//! In: figures. Out: charts.

use steadfast_measure::figures::storage::{SeriesFigures, TimedFile};
use steadfast_measure::record::Workload;

use crate::document::{Axis, Chart, Layer, Mark, Point, Quantity};
use crate::measure::{lengths_between, line_layers};
use crate::units::{self, Units};

pub(super) fn charts(
    workload: Workload,
    index: usize,
    series: &SeriesFigures,
    units: Units,
) -> Vec<Chart> {
    let name = |what: &str| format!("{}-{index}-{what}", workload.name());
    let mut charts = vec![by_length(name("length"), series)];
    charts.push(along_bytes(name("bytes"), series, units));
    charts.push(along_time(name("time"), series, units));
    charts.extend(line(name("line"), series, units));
    charts
}

fn rate() -> Axis {
    Axis::linear("rate", Quantity::Rate(0.0))
}

/// The rate of each file against its length: opening costs short files the most.
fn by_length(name: String, series: &SeriesFigures) -> Chart {
    let dots = points(series, |file| file.point.amount);
    let mut layers = vec![Layer::new("files", Mark::Dots, dots)];
    if let Some(fit) = series.line.as_ref().map(|fit| fit.line) {
        let lengths = || series.points.iter().map(|file| file.point.amount);
        let (from, to) = (lengths().fold(f64::INFINITY, f64::min), lengths().fold(0.0, f64::max));
        let fitted = lengths_between(from, to);
        let fitted = fitted.map(|length| Point::at(length, length / fit.time_s(length)));
        let fitted = fitted.filter(|point| point.y.is_finite() && point.y > 0.0);
        layers.push(Layer::new("as the line has it", Mark::Line, fitted));
    }
    let title = format!("{}: rate of each file by its length", units::capital(&series.label));
    let description = format!(
        "One dot for each of {}; the line is what the fit of time against length says.",
        units::counted(series.files as u64, "file", "files")
    );
    Chart::new(name, title, description, (Axis::log("length", Quantity::Bytes(0)), rate()), layers)
}

fn along_bytes(name: String, series: &SeriesFigures, units: Units) -> Chart {
    let words = ["rate along the bytes", "in the order of the bytes, as what fills up would show"];
    let x = Axis::linear("bytes before", Quantity::Bytes(0));
    course(name, series, words, x, units, |file| file.bytes_before as f64)
}

fn along_time(name: String, series: &SeriesFigures, units: Units) -> Chart {
    let from = series.points.iter().map(|file| file.start_s).fold(f64::INFINITY, f64::min);
    let words = ["rate over time", "over time, as what grows warm would show"];
    let x = Axis::linear("time since the first file", Quantity::Time(0.0));
    course(name, series, words, x, units, |file| 1e9 * (file.start_s - from))
}

/// The rate of each file in the order of something.
fn course(
    name: String,
    series: &SeriesFigures,
    [title, along]: [&str; 2],
    x: Axis,
    units: Units,
    at: impl Fn(&TimedFile) -> f64,
) -> Chart {
    let dots = points(series, at);
    let rates = || dots.iter().map(|point| point.y);
    let (fast, slow) = (rates().fold(0.0, f64::max), rates().fold(f64::INFINITY, f64::min));
    let (fast, slow) = (units.per_second(fast), units.per_second(slow));
    let description = format!("One dot for each file, {along}: from {slow} to {fast}.");
    let title = format!("{}: {title}", units::capital(&series.label));
    let dots = Layer::new("files", Mark::Dots, dots);
    Chart::new(name, title, description, (x, rate()), vec![dots])
}

/// Time against length with the line and its band; `None` without a line.
fn line(name: String, series: &SeriesFigures, units: Units) -> Option<Chart> {
    let fit = series.line.as_ref()?;
    let description = match fit.line.rate_per_s() {
        Some(rate) => {
            let rate = units.per_second(rate);
            format!("A line of {rate} through the files; the band is its interval.")
        }
        None => "Longer files took no longer.".to_owned(),
    };
    let files = series.points.iter().map(|file| file.point);
    let layers = line_layers(fit, files, "files");
    let title = format!("{}: time against length", units::capital(&series.label));
    let axes =
        (Axis::linear("length", Quantity::Bytes(0)), Axis::linear("time", Quantity::Time(0.0)));
    Some(Chart::new(name, title, description, axes, layers))
}

fn points(series: &SeriesFigures, at: impl Fn(&TimedFile) -> f64) -> Vec<Point> {
    series.points.iter().map(|file| Point::at(at(file), file.point.rate_per_s())).collect()
}
