//! QoS levels: time by size at each, and rates beside busy threads.
//!
//! In: figures. Out: sentences, tables and charts for the section about hashing.

use steadfast_measure::figures::hash::{ContendedRate, Figure, HashFigures, LevelLine};
use steadfast_measure::record::Cache;

use super::cache_words;
use super::layers::{band, fitted, measured};
use crate::document::{Axis, Cell, Chart, Field, Mark, Quantity, Table};
use crate::measure::{cell, latency_cell, level_name, rows_layer};
use crate::units::{self, Units};

/// States the rate at each level, and what share of reading it is.
pub(super) fn sentences(figures: &HashFigures, units: Units) -> Vec<String> {
    let mut sentences: Vec<String> = caches(figures)
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
        .collect();
    sentences.extend(contended_sentence(&figures.contended));
    sentences
}

/// States what the lowest and the highest level keep of their rate beside the most busy threads.
fn contended_sentence(contended: &[ContendedRate]) -> Option<String> {
    let busy_threads = contended.iter().map(|of| of.busy_threads).max()?;
    let busiest = || contended.iter().filter(|of| of.busy_threads == busy_threads);
    let (low, high) = (busiest().next()?, busiest().next_back()?);
    let share = |of: &ContendedRate| cell(Quantity::Share, of.of_alone).shown(Units::Si);
    Some(format!(
        "Beside {} a check keeps {} of its rate at {} and {} at {}.",
        threads_words(busy_threads),
        share(low),
        level_name(low.qos),
        share(high),
        level_name(high.qos)
    ))
}

fn threads_words(busy_threads: u32) -> String {
    match busy_threads {
        0 => "nothing".to_owned(),
        1 => "one busy thread".to_owned(),
        threads => format!("{threads} busy threads"),
    }
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
    let mut drawn: Vec<Chart> = caches(figures).into_iter().map(by_size).collect();
    drawn.extend(contended_chart(&figures.contended));
    drawn
}

fn by_size((cache, lines): (Option<Cache>, Vec<&LevelLine>)) -> Chart {
    let layers = lines.iter().flat_map(|line| {
        let label = level_name(line.qos);
        let (fitted, measured) = (fitted(&line.net, &label), measured(&line.net, &label));
        band(&line.net, &label).into_iter().chain([fitted, measured])
    });
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

fn contended_chart(contended: &[ContendedRate]) -> Option<Chart> {
    let mut levels: Vec<u8> = contended.iter().map(|of| of.qos).collect();
    levels.dedup();
    levels.reverse();
    let mut counts: Vec<u32> = contended.iter().map(|of| of.busy_threads).collect();
    counts.sort_unstable();
    counts.dedup();
    let rate = |qos: u8, busy_threads: u32| -> Option<Figure> {
        let found = contended.iter().find(|of| (of.qos, of.busy_threads) == (qos, busy_threads));
        found.map(|of| of.rate)
    };
    let layers = counts.iter().map(|&busy_threads| {
        let label = format!("beside {}", threads_words(busy_threads));
        rows_layer(label, Mark::Bars, &levels, |&qos| rate(qos, busy_threads))
    });
    (!contended.is_empty()).then(|| {
        Chart::new(
            "hash-contended",
            "Reading and hashing beside busy threads, by QoS level",
            "For each level a bar with nothing beside it, and one for each number of busy threads.",
            (
                Axis::names(levels.iter().map(|&qos| level_name(qos))),
                Axis::linear("rate", Quantity::Rate(0.0)),
            ),
            layers.collect(),
        )
    })
}

pub(super) fn tables(figures: &HashFigures) -> Vec<Table> {
    let lines: &[Field<'_, LevelLine>] = &[
        ("Files", &|of| Cell::text(units::capital(cache_words(of.net.cache)))),
        ("Level", &|of| Cell::text(level_name(of.qos))),
        (">Rate", &|of| cell(Quantity::Rate, of.net.rate())),
        (">Each file", &|of| latency_cell(&of.net.line)),
        (">Reading alone", &|of| cell(Quantity::Rate, of.read)),
        (">Net ÷ read", &|of| cell(Quantity::Share, of.net_by_read)),
    ];
    let contended: &[Field<'_, ContendedRate>] = &[
        ("Level", &|of| Cell::text(level_name(of.qos))),
        (">Busy threads", &|of| Cell::count(of.busy_threads)),
        (">Rate", &|of| cell(Quantity::Rate, of.rate)),
        (">Of alone", &|of| cell(Quantity::Share, of.of_alone)),
    ];
    vec![
        Table::of(
            "hash-levels-by-size",
            "One file at each QoS level",
            2,
            &figures.level_lines,
            lines,
        ),
        Table::of(
            "hash-contended",
            "Reading and hashing beside busy threads",
            2,
            &figures.contended,
            contended,
        ),
    ]
}
