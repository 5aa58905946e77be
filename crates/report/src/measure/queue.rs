//! Reads by depth: a section of a record's document.

use steadfast_measure::figures::queue::{QueueCell, QueueFigures};
use steadfast_measure::record::{Cache, Order, Stage};
use steadfast_measure::workload::queue::FOUR_ROWS;

use super::{INTERVALS, cell, point};
use crate::document::{Axis, Cell, Chart, Field, Headline, Layer, Mark, Quantity, Section, Table};
use crate::units::{self, Units};

/// Makes the section.
pub(super) fn section(figures: &QueueFigures, units: Units) -> Section {
    let title = "Past the page cache, by order, size and depth";
    let time = |ns: Option<u64>| Cell::maybe(ns.map(|ns| Quantity::Time(ns as f64)));
    let fields: &[Field<'_, QueueCell>] = &[
        ("Order and size", &|of| Cell::text(units::capital(&name(of)))),
        (">Depth", &|of| Cell::count(of.depth)),
        (">Rate", &|of| cell(Quantity::Rate, of.rate())),
        (">Per second", &|of| Cell::Number(Quantity::PerSecond(of.reads_per_s.value))),
        (">p50", &|of| time(of.p50_ns)),
        (">p99", &|of| time(of.p99_ns)),
        (">p99.9", &|of| time(of.p999_ns)),
        (">Longest", &|of| time(Some(of.max_ns))),
    ];
    let table = Table::of("queue", title, 2, &figures.cells, fields);
    let direct = figures.cells.iter().all(|cell| cell.cache == Cache::Direct);
    let mut notes = vec![format!(
        "As many threads as the depth have one read in flight each. {INTERVALS} A percentile is \
         told only with ten beyond it. Writes are not flushed; a mix has seven reads to three \
         writes. Equivalent: fio --ioengine=psync --direct=1 --numjobs=DEPTH \
         --rw=read|randread|write|randwrite|rw|randrw --bs=SIZE."
    )];
    if !direct {
        notes.push(
            "This file system reads through the page cache whatever is asked: the figures are of \
             reads that may have come from memory."
                .to_owned(),
        );
    }
    Section {
        title: "Queue".to_owned(),
        headline: best(&figures.cells).map(|best| {
            let what = format!("{} at depth {}", units::capital(&name(best)), best.depth);
            Headline::new(cell(Quantity::Rate, best.rate()), what)
        }),
        sentences: answer(&figures.cells, units).into_iter().collect(),
        tables: figures
            .cells
            .chunk_by(|one, other| one.place == other.place)
            .filter_map(four_rows)
            .chain([table])
            .collect(),
        charts: charts(&figures.cells),
        notes,
    }
}

fn name(cell: &QueueCell) -> String {
    let order = if cell.order == Order::Random { "random" } else { "sequential" };
    let work = match cell.stage {
        Stage::Write => "writes ",
        Stage::ReadWrite => "mix ",
        _ => "",
    };
    let size = Units::Iec.bytes(cell.block_len_bytes).replace(".00", "");
    let folder = cell.folder.as_ref().map_or(String::new(), |folder| format!(", {folder}"));
    format!("{work}{order} {size}{folder}")
}

/// The rows that other programs print, if the record has all of them.
fn four_rows(cells: &[QueueCell]) -> Option<Table> {
    let find = |row: usize, stage: Stage| {
        let is_row = |cell: &&QueueCell| {
            (cell.order, cell.block_len_bytes, cell.depth) == FOUR_ROWS[row] && cell.stage == stage
        };
        cells.iter().find(is_row)
    };
    let rows: Vec<usize> = (0..FOUR_ROWS.len()).collect();
    rows.iter().all(|&row| find(row, Stage::Read).is_some()).then_some(())?;
    let of =
        |row: &usize, stage: Stage| cell(Quantity::Rate, find(*row, stage).map(QueueCell::rate));
    let per_s = |row: &usize, stage: Stage| {
        let found = find(*row, stage).map(|cell| Quantity::PerSecond(cell.reads_per_s.value));
        Cell::maybe(found)
    };
    const NAMES: [&str; 4] = ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"];
    let fields: &[Field<'_, usize>] = &[
        ("Test", &|row| Cell::text(NAMES[*row])),
        (">Read", &|row| of(row, Stage::Read)),
        (">Write", &|row| of(row, Stage::Write)),
        (">Mix", &|row| of(row, Stage::ReadWrite)),
        (">Reads/s", &|row| per_s(row, Stage::Read)),
        (">Writes/s", &|row| per_s(row, Stage::Write)),
    ];
    let folder = cells[0].folder.as_ref().zip(cells[0].place);
    let id = folder.map_or("queue-four".to_owned(), |(_, at)| format!("queue-four-{at}"));
    let of = folder.map_or(String::new(), |(folder, _)| format!(", {folder}"));
    let title = format!("As CrystalDiskMark, KDiskMark and AmorphousDiskMark name them{of}");
    Some(Table::of(&id, &title, 1, &rows, fields))
}

/// Returns the combination of the first kind of work that has the highest rate.
fn best(cells: &[QueueCell]) -> Option<&QueueCell> {
    let of_work = cells.iter().filter(|cell| cell.stage == cells[0].stage);
    of_work.max_by(|a, b| a.bytes_per_s().total_cmp(&b.bytes_per_s()))
}

/// The highest rate of reading, and one small read at a time.
fn answer(cells: &[QueueCell], units: Units) -> Option<String> {
    let best = best(cells)?;
    let reads = cells.iter().filter(|cell| cell.stage == cells[0].stage);
    let small = reads.min_by_key(|of| (of.depth, of.block_len_bytes, of.order != Order::Random))?;
    let rate = |of: &QueueCell| cell(Quantity::Rate, of.rate()).shown(units);
    let one = small
        .p50_ns
        .map_or(String::new(), |ns| format!(", half of them within {}", units::duration(ns)));
    Some(format!(
        "The highest rate of {} is {} ({}, depth {}); at depth {}, {} gives {}{one}.",
        match best.stage {
            Stage::Write => "writing",
            Stage::ReadWrite => "the mix",
            _ => "reading",
        },
        rate(best),
        name(best),
        best.depth,
        small.depth,
        name(small),
        rate(small)
    ))
}

fn charts(cells: &[QueueCell]) -> Vec<Chart> {
    let groups: Vec<&[QueueCell]> = cells.chunk_by(|a, b| a.group() == b.group()).collect();
    if groups.iter().all(|group| group.len() < 2) {
        return Vec::new();
    }
    let mut lens: Vec<u64> = cells.iter().map(|cell| cell.block_len_bytes).collect();
    lens.sort_unstable();
    lens.dedup();
    lens.iter().map(|&length| rates(&groups, length)).collect()
}

/// Rates against depth of one size: sizes differ so much that a common axis hides the small ones.
fn rates(groups: &[&[QueueCell]], block_len: u64) -> Chart {
    let of_size = groups.iter().filter(|group| group[0].block_len_bytes == block_len);
    let layers = of_size.map(|group| {
        let points = group.iter().map(|cell| point(f64::from(cell.depth), &cell.rate()));
        Layer::new(name(&group[0]), Mark::Line, points)
    });
    let size = Units::Iec.bytes(block_len).replace(".00", "");
    Chart::new(
        format!("queue-rate-{}", size.replace(' ', "-")),
        format!("Rate by depth, {size}"),
        "One line for each order and kind of requests; how their rate grows with the requests in \
         flight. Bars are intervals.",
        (depth(), Axis::linear("rate", Quantity::Rate(0.0))),
        layers.collect(),
    )
}

fn depth() -> Axis {
    Axis::log("requests in flight", Quantity::Count(0))
}
