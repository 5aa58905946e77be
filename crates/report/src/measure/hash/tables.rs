//! The tables of the section about hashing.
//!
//! In: figures. Out: tables, those without rows left out.

use steadfast_measure::figures::hash::{Figure, FolderRate, Forecast, HashFigures, PathLine};
use steadfast_measure::record::{Cache, Stage};
use steadfast_measure::stats::{Estimate, Line};

use super::{bound_words, cache_words, line_words, rate_cell, ratio_cell, share_cell, stage_words};
use crate::document::{Cell, Quantity, Table};
use crate::units::Units;

/// What people want to verify, in bytes.
const AMOUNTS_BYTES: [u64; 5] =
    [250_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000, 1_000_000_000_000];

pub(super) fn tables(figures: &HashFigures, units: Units) -> Vec<Table> {
    let mut tables = vec![
        kernels(figures),
        lines(&figures.lines, units),
        folders(&figures.folders),
        overlaps(figures),
        times(&figures.lines),
        buffers(figures),
        levels(figures),
    ];
    tables.extend(figures.forecast.as_ref().map(classes));
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn kernels(figures: &HashFigures) -> Table {
    let columns = ["algorithm", "backend", ">lanes", ">threads", ">rate", ">× software"];
    let mut table = Table::new("hash-in-memory", "Hashing in memory", &columns).keyed(4);
    for kernel in &figures.kernels {
        table.push(vec![
            Cell::text(&kernel.algorithm),
            Cell::text(&kernel.backend),
            Cell::Number(Quantity::Count(u64::from(kernel.lanes))),
            Cell::Number(Quantity::Count(u64::from(kernel.threads))),
            rate_cell(&kernel.rate),
            kernel.gain.as_ref().map_or(Cell::Empty, ratio_cell),
        ]);
    }
    table
}

fn lines(lines: &[PathLine], units: Units) -> Table {
    let columns =
        ["what", ">sizes", ">rate", ">each file", ">Theil–Sen", ">least squares", ">bytes ÷ time"];
    let mut table = Table::new("hash-by-size", "One file: rate, and cost of each", &columns);
    for line in lines {
        let fits = &line.line.fits;
        let (from, to) = line.sizes_bytes;
        table.push(vec![
            Cell::text(line_words(line)),
            Cell::text(format!("{}–{}", units.bytes(from), units.bytes(to))),
            rate_of(&fits.robust, line.line.rate_per_s),
            latency_of(&fits.robust, line.line.latency_s),
            rate_of(&fits.theil_sen, None),
            rate_of(&fits.least_squares, line.line.least_squares_rate_per_s),
            Cell::Number(Quantity::Rate(fits.rate_overall_per_s)),
        ]);
    }
    table
}

fn rate_of(line: &Line, interval: Option<Estimate>) -> Cell {
    let Some(value) = line.rate_per_s() else { return Cell::Empty };
    rate_cell(&Figure { value, interval })
}

fn latency_of(line: &Line, interval: Option<Estimate>) -> Cell {
    let time = Quantity::Time(1e9 * line.latency_s);
    match interval {
        Some(interval) => Cell::Interval(time, (1e9 * interval.low, 1e9 * interval.high)),
        None => Cell::Number(time),
    }
}

fn folders(folders: &[FolderRate]) -> Table {
    let columns = ["what", ">files", ">bytes", ">rate", ">of reading"];
    let mut table = Table::new("hash-folder", "A folder in one run", &columns);
    for folder in folders {
        let what = match (folder.stage, folder.engine.as_str()) {
            (Stage::Read, "null") => "the path alone, no bytes moved".to_owned(),
            (_, "null") => "the path with hashing, no bytes moved".to_owned(),
            (stage, _) => {
                let what = stage_words(stage).to_lowercase();
                format!("{what}, {}", cache_words(folder.cache))
            }
        };
        table.push(vec![
            Cell::Text(what),
            Cell::Number(Quantity::Count(folder.files)),
            Cell::Number(Quantity::Bytes(folder.bytes)),
            rate_cell(&folder.rate),
            folder.net_by_read.as_ref().map_or(Cell::Empty, share_cell),
        ]);
    }
    table
}

fn overlaps(figures: &HashFigures) -> Table {
    let columns = ["files", ">from", ">overlap", ">net ÷ read", ">net ÷ hash", "bound by"];
    let title = "How far reading and hashing hide each other";
    let mut table = Table::new("hash-overlap", title, &columns);
    for overlap in &figures.overlaps {
        table.push(vec![
            Cell::text(cache_words(overlap.cache)),
            Cell::Number(Quantity::Bytes(overlap.size_bytes_min)),
            share_cell(&overlap.overlap),
            share_cell(&overlap.net_by_read),
            share_cell(&overlap.net_by_hash),
            Cell::text(bound_words(overlap)),
        ]);
    }
    table
}

/// Times the largest size that was measured, beyond which the cache is not promised.
pub(super) const EXTRAPOLATED_MAX: u64 = 4;

/// Whether times follow from a line: what cannot be told of the rate cannot be told of a time.
pub(super) fn is_timed(line: &PathLine) -> bool {
    line.stage == Stage::ReadHash && line.engine != "null" && line.line.rate_per_s.is_some()
}

/// How long single files take to verify, as the lines of reading and hashing have it.
fn times(lines: &[PathLine]) -> Table {
    let checked: Vec<&PathLine> = lines.iter().filter(|line| is_timed(line)).collect();
    let titles = checked.iter().map(|line| {
        let doubt = if line.line.fits.is_doubtful() { ", doubtful" } else { "" };
        format!(">{}{doubt}", cache_words(line.cache))
    });
    let titles: Vec<String> = std::iter::once(">one file of".to_owned()).chain(titles).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut table = Table::new("hash-time", "Time to verify one file", &titles);
    if checked.is_empty() {
        return table;
    }
    for amount in AMOUNTS_BYTES {
        let time = |line: &&PathLine| {
            // No cache is warm with what it was not seen to hold.
            if line.cache == Some(Cache::Warm) && amount > line.sizes_bytes.1 * EXTRAPOLATED_MAX {
                return Cell::Empty;
            }
            let time = 1e9 * line.line.fits.robust.time_s(amount as f64);
            let at = |rate: f64| 1e9 * (line.line.fits.robust.latency_s + amount as f64 / rate);
            match line.line.rate_per_s {
                Some(rate) => Cell::Interval(Quantity::Time(time), (at(rate.high), at(rate.low))),
                None => Cell::Number(Quantity::Time(time)),
            }
        };
        let mut row = vec![Cell::Number(Quantity::Bytes(amount))];
        row.extend(checked.iter().map(time));
        table.push(row);
    }
    table
}

fn buffers(figures: &HashFigures) -> Table {
    let title = "Reading and hashing by turns, by buffer";
    let mut table = Table::new("hash-buffers", title, &[">buffer", ">rate", "note"]);
    for (place, buffer) in figures.buffers.iter().enumerate() {
        let mark = match figures.buffers_best {
            Some((best, _)) if place == best => Cell::text("best"),
            Some((_, as_good)) if place == as_good => Cell::text("within 2 %"),
            _ => Cell::text(""),
        };
        let length = Units::Iec.bytes(buffer.buffer_len_bytes);
        table.push(vec![Cell::Text(length), rate_cell(&buffer.rate), mark]);
    }
    table
}

fn levels(figures: &HashFigures) -> Table {
    let columns = ["what", ">level", ">threads", ">rate"];
    let mut table = Table::new("hash-levels", "QoS levels", &columns).keyed(3);
    for level in &figures.levels {
        table.push(vec![
            Cell::text(stage_words(level.stage)),
            Cell::Number(Quantity::Count(u64::from(level.qos))),
            Cell::Number(Quantity::Count(u64::from(level.threads))),
            rate_cell(&level.rate),
        ]);
    }
    table
}

fn classes(forecast: &Forecast) -> Table {
    let columns = [">mean length", ">files", ">bytes", ">time", ">each file", ">rate", ">sets"];
    let mut table = Table::new("hash-estimate", "What the estimate is made of", &columns);
    for class in &forecast.classes {
        let (files, bytes) = (class.files.files, class.files.bytes);
        table.push(vec![
            Cell::Number(Quantity::Bytes(bytes / files.max(1))),
            Cell::Number(Quantity::Count(files)),
            Cell::Number(Quantity::Bytes(bytes)),
            Cell::Number(Quantity::Time(1e9 * class.time_s)),
            Cell::Number(Quantity::Time(1e9 * class.time_s / files.max(1) as f64)),
            Cell::Number(Quantity::Rate(bytes as f64 / class.time_s)),
            Cell::Number(Quantity::Count(class.sets as u64)),
        ]);
    }
    table
}
