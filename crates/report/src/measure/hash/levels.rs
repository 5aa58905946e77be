//! QoS levels: time by size at each.
//!
//! In: figures. Out: sentences, tables and charts for the section about hashing.

use steadfast_measure::figures::hash::{HashFigures, LevelLine};
use steadfast_measure::record::Cache;

use super::{cache_words, line_layers};
use crate::document::{Axis, Cell, Chart, Field, Quantity, Table};
use crate::measure::{cell, latency_cell, level_name};
use crate::units::{self, Units};

/// States the rate at each level, and what share of reading it is.
pub(super) fn sentences(figures: &HashFigures, units: Units) -> Vec<String> {
    caches(figures)
        .into_iter()
        .map(|(cache, lines)| {
            let level = |line: &&LevelLine| {
                let rate = cell(Quantity::Rate, line.net.rate()).shown(units);
                let share = line.net_by_read.map_or(String::new(), |share| {
                    format!(", {} of reading", cell(Quantity::Share, share).shown(units))
                });
                format!("at {} {rate}{share}", level_name(line.qos))
            };
            let levels: Vec<String> = lines.iter().map(level).collect();
            format!("Reading and hashing, {}: {}.", cache_words(cache), levels.join("; "))
        })
        .collect()
}

/// Returns the lines by where the bytes came from.
fn caches(figures: &HashFigures) -> Vec<(Option<Cache>, Vec<&LevelLine>)> {
    let mut caches: Vec<(Option<Cache>, Vec<&LevelLine>)> = Vec::new();
    for line in &figures.level_lines {
        match caches.iter_mut().find(|(cache, _)| *cache == line.net.cache) {
            Some((_, lines)) => lines.push(line),
            None => caches.push((line.net.cache, vec![line])),
        }
    }
    caches
}

/// Time against size on linear axes, as other publications draw it: the steeper the line, the lower
/// the rate.
pub(super) fn charts(figures: &HashFigures) -> Vec<Chart> {
    caches(figures).into_iter().map(by_size).collect()
}

fn by_size((cache, lines): (Option<Cache>, Vec<&LevelLine>)) -> Chart {
    let layers = lines.iter().flat_map(|line| line_layers(&line.net, &level_name(line.qos)));
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

pub(super) fn table(figures: &HashFigures) -> Table {
    let fields: &[Field<'_, LevelLine>] = &[
        ("Files", &|of| Cell::text(units::capital(cache_words(of.net.cache)))),
        ("Level", &|of| Cell::text(level_name(of.qos))),
        (">Rate", &|of| cell(Quantity::Rate, of.net.rate())),
        (">Each file", &|of| latency_cell(&of.net.line)),
        (">Reading alone", &|of| cell(Quantity::Rate, of.read)),
        (">Net ÷ read", &|of| cell(Quantity::Share, of.net_by_read)),
    ];
    let title = "One file at each QoS level";
    Table::of("hash-levels-by-size", title, 2, &figures.level_lines, fields)
}
