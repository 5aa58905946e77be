//! The tables of the section about hashing.
//!
//! In: figures. Out: tables, except those without rows.

use steadfast_measure::figures::hash::{
    Figure, FolderRate, HashFigures, KernelRate, LevelRate, Overlap, PathLine,
};

use super::{at_level, bound_words, cache_words, engine_words, line_words, stage_words};
use crate::document::{Cell, Field, Quantity, Table};
use crate::measure::{cell, elapsed_cell, latency_cell, waited_cell};
use crate::units::{self, Units};

pub(super) fn tables(figures: &HashFigures, units: Units) -> Vec<Table> {
    let mut tables = vec![
        kernels(figures),
        lines(&figures.lines, units),
        times(&figures.lines),
        folders(&figures.folders),
        overlaps(figures),
        levels(figures),
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
        (">Bytes per cycle", &|of| {
            let bytes = of.bytes_per_cycle.map(|of| format!("{:.2}", of.value));
            bytes.map_or(Cell::Empty, Cell::text)
        }),
    ];
    let table = Table::of("hash-in-memory", "Hashing in memory", 4, &figures.kernels, fields);
    table.without_empty_columns()
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

/// How long one file of each size takes: hashing, reading, and both.
fn times(lines: &[PathLine]) -> Table {
    let lines: Vec<&PathLine> = lines.iter().filter(|line| line.moves_bytes()).collect();
    let mut sizes: Vec<u64> =
        lines.iter().flat_map(|line| &line.points).map(|point| point.amount as u64).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let time = |line: &PathLine, size: u64| {
        let of_size = line.points.iter().filter(|point| point.amount as u64 == size);
        let times: Vec<f64> = of_size.map(|point| 1e9 * point.time_s).collect();
        cell(Quantity::Time, Figure::of_rounds(&times))
    };
    let time = &time;
    let columns = lines.iter().map(|line| {
        (format!(">{}", units::capital(&line_words(line))), move |size: &u64| time(line, *size))
    });
    let columns: Vec<_> = columns.collect();
    let mut fields: Vec<Field<'_, u64>> = vec![(">Size", &|size| Cell::bytes(*size))];
    fields.extend(columns.iter().map(|(title, cell)| -> Field<'_, u64> { (title, cell) }));
    Table::of("hash-times", "Times of one file", 1, &sizes, &fields)
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
        ("Files", &|of| {
            Cell::text(format!("{}{}", units::capital(cache_words(of.cache)), at_level(of.qos)))
        }),
        (">From", &|of| Cell::bytes(of.size_bytes_min)),
        (">Overlap", &|of| cell(Quantity::Share, of.overlap)),
        (">Net ÷ read", &|of| cell(Quantity::Share, of.net_by_read)),
        (">Net ÷ hash", &|of| cell(Quantity::Share, of.net_by_hash)),
        ("Bound by", &|of| match of.net_by_hash {
            Some(_) => Cell::text(bound_words(of)),
            None => Cell::Empty,
        }),
    ];
    Table::of("hash-overlap", title, 1, &figures.overlaps, fields).without_empty_columns()
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
