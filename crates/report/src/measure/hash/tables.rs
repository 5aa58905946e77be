//! The tables of the section about hashing.
//!
//! In: figures. Out: tables, except those without rows.

use steadfast_measure::figures::hash::{
    FolderRate, HashFigures, KernelRate, LevelRate, Overlap, PathLine,
};
use steadfast_measure::record::Cache;

use super::{bound_words, cache_words, engine_words, line_words, stage_words};
use crate::document::{Cell, Field, Quantity, Table};
use crate::measure::{cell, elapsed_cell, latency_cell, waited_cell, with_elapsed};
use crate::units::{self, Units};

/// Lengths for which the time of a check is shown, in bytes.
const AMOUNTS_BYTES: [u64; 5] =
    [250_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000, 1_000_000_000_000];

pub(super) fn tables(figures: &HashFigures, units: Units) -> Vec<Table> {
    let mut tables = vec![
        kernels(figures),
        lines(&figures.lines, units),
        folders(&figures.folders),
        overlaps(figures),
        times(&figures.lines),
        levels(figures),
        super::levels::table(figures),
    ];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn kernels(figures: &HashFigures) -> Table {
    let fields: &[Field<'_, KernelRate>] = &[
        ("Algorithm", &|of| Cell::text(&of.algorithm)),
        ("Backend", &|of| Cell::text(&of.backend)),
        (">Lanes", &|of| Cell::count(of.lanes)),
        (">Threads", &|of| Cell::count(of.threads)),
        (">Rate", &|of| cell(Quantity::Rate, of.rate)),
        (">Elapsed", &|of| elapsed_cell(Quantity::Rate, of.elapsed)),
        (">Waited", &|of| waited_cell(of.elapsed)),
        (">× software", &|of| cell(Quantity::Ratio, of.gain)),
    ];
    let known = figures.kernels.iter().any(|of| of.elapsed.is_some());
    let fields = with_elapsed(fields, known);
    Table::of("hash-in-memory", "Hashing in memory", 4, &figures.kernels, &fields)
}

fn lines(lines: &[PathLine], units: Units) -> Table {
    let sizes = |(from, to)| Cell::text(format!("{}–{}", units.bytes(from), units.bytes(to)));
    let fields: &[Field<'_, PathLine>] = &[
        ("What", &|of| Cell::text(units::capital(&line_words(of)))),
        (">Sizes", &|of| sizes(of.sizes_bytes)),
        (">Rate", &|of| cell(Quantity::Rate, of.rate())),
        (">Each file", &|of| latency_cell(&of.line)),
        (">Bytes ÷ time", &|of| Cell::Number(Quantity::Rate(of.line.rate_overall_per_s))),
    ];
    Table::of("hash-by-size", "One file: rate, and cost of each", 1, lines, fields)
}

fn folders(folders: &[FolderRate]) -> Table {
    let what = |of: &FolderRate| match engine_words(of.stage, &of.engine) {
        Some(words) => units::capital(words),
        None => format!("{}, {}", stage_words(of.stage), cache_words(of.cache)),
    };
    let fields: &[Field<'_, FolderRate>] = &[
        ("What", &|of| Cell::text(what(of))),
        (">Files", &|of| Cell::count(of.files)),
        (">Bytes", &|of| Cell::bytes(of.bytes)),
        (">Rate", &|of| cell(Quantity::Rate, of.rate)),
        (">Of reading", &|of| cell(Quantity::Share, of.net_by_read)),
    ];
    Table::of("hash-folder", "A folder in one run", 1, folders, fields)
}

fn overlaps(figures: &HashFigures) -> Table {
    let title = "How far reading and hashing hide each other";
    let fields: &[Field<'_, Overlap>] = &[
        ("Files", &|of| Cell::text(units::capital(cache_words(of.cache)))),
        (">From", &|of| Cell::bytes(of.size_bytes_min)),
        (">Overlap", &|of| cell(Quantity::Share, of.overlap)),
        (">Net ÷ read", &|of| cell(Quantity::Share, of.net_by_read)),
        (">Net ÷ hash", &|of| cell(Quantity::Share, of.net_by_hash)),
        ("Bound by", &|of| Cell::text(bound_words(of))),
    ];
    Table::of("hash-overlap", title, 1, &figures.overlaps, fields)
}

/// Greatest multiple of the largest measured size for which a warm cache is assumed.
pub(super) const EXTRAPOLATED_MAX: u64 = 4;

/// Whether times can be derived from a line: only if its rate has an interval.
pub(super) fn is_timed(line: &PathLine) -> bool {
    line.is_check() && line.line.rate_per_s.is_some()
}

/// How long single files take to verify, by the lines of reading and hashing.
fn times(lines: &[PathLine]) -> Table {
    let checked: Vec<&PathLine> = lines.iter().filter(|line| is_timed(line)).collect();
    let columns: Vec<_> = checked
        .iter()
        .map(|line| {
            let doubt = if line.line.is_doubtful { ", doubtful" } else { "" };
            (format!(">{}{doubt}", units::capital(cache_words(line.cache))), move |amount: &u64| {
                time(line, *amount)
            })
        })
        .collect();
    let mut fields: Vec<Field<'_, u64>> = vec![(">One file of", &|amount| Cell::bytes(*amount))];
    fields.extend(columns.iter().map(|(title, time)| -> Field<'_, u64> { (title, time) }));
    let amounts: &[u64] = if checked.is_empty() { &[] } else { &AMOUNTS_BYTES };
    Table::of("hash-time", "Time to verify one file", 1, amounts, &fields)
}

/// How long one file of so many bytes takes, by one line. Unknown for a warm cache and a file much
/// longer than those that were measured.
fn time(line: &PathLine, amount: u64) -> Cell {
    if line.cache == Some(Cache::Warm) && amount > line.sizes_bytes.1 * EXTRAPOLATED_MAX {
        return Cell::Empty;
    }
    let fit = &line.line.line;
    let time = Quantity::Time(1e9 * fit.time_s(amount as f64));
    let at = |rate: f64| 1e9 * (fit.latency_s + amount as f64 / rate);
    match line.line.rate_per_s {
        Some(rate) => Cell::Interval(time, (at(rate.high), at(rate.low))),
        None => Cell::Number(time),
    }
}

fn levels(figures: &HashFigures) -> Table {
    let fields: &[Field<'_, LevelRate>] = &[
        ("What", &|of| Cell::text(stage_words(of.stage))),
        (">Level", &|of| Cell::count(of.qos)),
        (">Threads", &|of| Cell::count(of.threads)),
        (">Rate", &|of| cell(Quantity::Rate, of.rate)),
    ];
    Table::of("hash-levels", "QoS levels", 3, &figures.levels, fields)
}
