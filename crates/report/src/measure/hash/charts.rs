//! The charts of the section about hashing.
//!
//! In: figures. Out: charts, except those without points.

use steadfast_measure::figures::hash::{HashFigures, KernelRate, PathLine};
use steadfast_measure::record::{Cache, Stage};

use super::{cache_words, level_name, levels_by_cache, line_words};
use crate::document::{Axis, Chart, Layer, Mark, Quantity};
use crate::measure::{line_layers, rows_layer};

pub(super) fn charts(figures: &HashFigures) -> Vec<Chart> {
    let mut charts = vec![by_size(figures), parts(figures), algorithms(figures)];
    charts.extend(levels_by_cache(figures).into_iter().map(by_level));
    charts.retain(|chart| chart.layers.iter().any(|layer| !layer.points.is_empty()));
    charts
}

/// All lines together: how long each part of a check takes.
fn by_size(figures: &HashFigures) -> Chart {
    let lines = figures.lines.iter().filter(|line| line.moves_bytes() && line.qos.is_none());
    let layers = lines.flat_map(|line| layers(line, &line_words(line)));
    let axes = (Axis::log("size", Quantity::Bytes(0)), Axis::log("time", Quantity::Time(0.0)));
    let description = "Each dot is one run; each line is the fit whose slope gives the rate, in \
                       the band of its interval.";
    Chart::new("hash-by-size", "Time by size of one file", description, axes, layers.collect())
}

fn layers(line: &PathLine, label: &str) -> Vec<Layer> {
    line_layers(&line.line, line.points.iter().copied(), label)
}

/// Time against size on linear axes, as other publications draw it.
fn by_level((cache, lines): (Option<Cache>, Vec<&PathLine>)) -> Chart {
    let layers = lines.iter().flat_map(|line| layers(line, &level_name(line.qos.unwrap_or(0))));
    let axes =
        (Axis::linear("size", Quantity::Bytes(0)), Axis::linear("time", Quantity::Time(0.0)));
    let cache = cache_words(cache);
    Chart::new(
        format!("hash-levels-by-size-{}", cache.replace(' ', "-")),
        format!("Time to read and hash one file, {cache}, by QoS level"),
        "Each dot is one run, and each level has its fitted line in its band. The steeper a line, \
         the lower the rate.",
        axes,
        layers.collect(),
    )
}

/// Reading, hashing and both beside each other, by where the bytes came from.
fn parts(figures: &HashFigures) -> Chart {
    let lines = || figures.lines.iter().filter(|line| line.moves_bytes() && line.qos.is_none());
    let hashing = lines().find(|line| line.stage == Stage::Hash).and_then(PathLine::rate);
    let checked: Vec<&PathLine> = lines().filter(|line| line.stage == Stage::ReadHash).collect();
    let reading = |of: &&PathLine| {
        let mut reading = lines().filter(|line| line.stage == Stage::Read);
        reading.find(|line| line.cache == of.cache).and_then(PathLine::rate)
    };
    let names = checked.iter().map(|line| cache_words(line.cache).to_owned());
    Chart::new(
        "hash-parts",
        "Reading, hashing, and both",
        "For each state of the page cache three bars: the rate of reading alone, of hashing alone, \
         and of both as a check does them. The shorter of the first two is what bounds the third.",
        (Axis::names(names), Axis::linear("rate of one file", Quantity::Rate(0.0))),
        vec![
            rows_layer("reading alone", Mark::Bars, &checked, reading),
            rows_layer("hashing alone", Mark::Bars, &checked, |_| hashing),
            rows_layer("both", Mark::Bars, &checked, |line| line.rate()),
        ],
    )
}

/// Each algorithm by its fastest backend in one thread.
fn algorithms(figures: &HashFigures) -> Chart {
    let mut best: Vec<&KernelRate> = Vec::new();
    for kernel in figures.kernels.iter().filter(|kernel| kernel.threads == 1) {
        match best.iter_mut().find(|known| known.algorithm == kernel.algorithm) {
            Some(known) if known.rate.value >= kernel.rate.value => {}
            Some(known) => *known = kernel,
            None => best.push(kernel),
        }
    }
    best.sort_by(|a, b| b.rate.value.total_cmp(&a.rate.value));
    let names = best.iter().map(|kernel| format!("{}, {}", kernel.algorithm, kernel.backend));
    let axes = (Axis::names(names), Axis::linear("rate", Quantity::Rate(0.0)));
    let shown = if best.len() > 1 { best.as_slice() } else { &[] };
    let layer = rows_layer("one thread", Mark::Bars, shown, |kernel| Some(kernel.rate));
    let description = "A bar for each algorithm, by its fastest backend.";
    Chart::new(
        "hash-algorithms",
        "Algorithms in memory, one thread",
        description,
        axes,
        vec![layer],
    )
}
