//! Reads by depth: a section of a record's document.

use steadfast_measure::figures::queue::{QueueCell, QueueFigures};
use steadfast_measure::record::{Cache, Order};

use super::{INTERVALS, cell};
use crate::document::{Axis, Cell, Chart, Layer, Mark, Point, Quantity, Scale, Section, Table};
use crate::units::Units;

/// Makes the section.
pub(super) fn section(figures: &QueueFigures, units: Units) -> Section {
    let mut table = Table::new(
        "queue",
        "Reads past the page cache, by order, size and depth",
        &[
            "Order and size",
            ">Depth",
            ">Rate",
            ">Reads per second",
            ">p50",
            ">p99",
            ">p99.9",
            ">Longest",
        ],
    )
    .keyed(2);
    for cell in &figures.cells {
        table.push(row(cell));
    }
    let direct = figures.cells.iter().all(|cell| cell.cache == Cache::Direct);
    let mut notes = vec![format!(
        "As many threads as the depth have one read in flight each. {INTERVALS} A percentile is \
         told only with ten reads beyond it. Equivalent: fio --ioengine=psync --direct=1 \
         --numjobs=DEPTH --rw=read|randread --bs=SIZE."
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
        sentences: sentences(&figures.cells, units),
        tables: vec![table],
        charts: charts(&figures.cells),
        notes,
    }
}

fn name(cell: &QueueCell) -> String {
    let order = if cell.order == Order::Random { "random" } else { "sequential" };
    format!("{order} {}", Units::Iec.bytes(cell.block_len_bytes).replace(".00", ""))
}

fn row(cell: &QueueCell) -> Vec<Cell> {
    let factor = cell.block_len_bytes as f64;
    let rate = Quantity::Rate(cell.bytes_per_s());
    let rate = match &cell.interval {
        Some(of) => Cell::Interval(rate, (of.low * factor, of.high * factor)),
        None => Cell::Number(rate),
    };
    let time = |ns: Option<u64>| Cell::maybe(ns.map(|ns| Quantity::Time(ns as f64)));
    vec![
        Cell::text(name(cell)),
        Cell::Number(Quantity::Count(u64::from(cell.depth))),
        rate,
        Cell::Number(Quantity::PerSecond(cell.reads_per_s)),
        time(cell.p50_ns),
        time(cell.p99_ns),
        time(cell.p999_ns),
        time(Some(cell.max_ns)),
    ]
}

/// What depth gains, for each order and size.
fn sentences(cells: &[QueueCell], units: Units) -> Vec<String> {
    let groups = cells.chunk_by(|a, b| a.group() == b.group());
    let gains = groups.filter_map(|group| {
        let first = group.first()?;
        let best = group.iter().max_by(|a, b| a.reads_per_s.total_cmp(&b.reads_per_s))?;
        let gain = cell(Quantity::Ratio, Some(best.gain?)).shown(units);
        Some(format!(
            "{}: {} at depth {}, {gain} of depth {}.",
            name(first),
            Quantity::Rate(best.bytes_per_s()).text(units),
            best.depth,
            first.depth
        ))
    });
    gains.collect()
}

fn charts(cells: &[QueueCell]) -> Vec<Chart> {
    let groups: Vec<&[QueueCell]> = cells.chunk_by(|a, b| a.group() == b.group()).collect();
    if groups.iter().all(|group| group.len() < 2) {
        return Vec::new();
    }
    let depth = || Axis::new("reads in flight", Quantity::Count(0), Scale::Log);
    let layer = |group: &&[QueueCell], point: &dyn Fn(&QueueCell) -> Option<Point>| {
        Layer::new(
            group.first().map(name).unwrap_or_default(),
            Mark::Line,
            group.iter().filter_map(point),
        )
    };
    let rate = |cell: &QueueCell| {
        let factor = cell.block_len_bytes as f64;
        let interval = cell.interval.map(|of| (of.low * factor, of.high * factor));
        Some(Point { x: f64::from(cell.depth), y: cell.bytes_per_s(), interval })
    };
    let mut charts = vec![Chart {
        name: "queue-rate".to_owned(),
        title: "Rate by depth".to_owned(),
        description: "One line for each order and size of reads; how their rate grows with \
                          the reads in flight. Bars are intervals."
            .to_owned(),
        x: depth(),
        y: Axis::new("rate", Quantity::Rate(0.0), Scale::Linear),
        layers: groups.iter().map(|group| layer(group, &rate)).collect(),
    }];
    charts.extend(groups.iter().map(|group| latencies(group)));
    charts
}

/// Percentiles of the latency against depth, of one order and size.
fn latencies(group: &[QueueCell]) -> Chart {
    let layer = |label: &str, of: &dyn Fn(&QueueCell) -> Option<u64>| {
        let points = group
            .iter()
            .filter_map(|cell| Some(Point::at(f64::from(cell.depth), of(cell)? as f64)));
        Layer::new(label, Mark::Line, points)
    };
    let mut layers = vec![
        // What every group has comes first, and so has one colour in all their charts.
        layer("median", &|cell| cell.p50_ns),
        layer("longest", &|cell| Some(cell.max_ns)),
        layer("p99", &|cell| cell.p99_ns),
        layer("p99.9", &|cell| cell.p999_ns),
    ];
    layers.retain(|layer| !layer.points.is_empty());
    let name = group.first().map(name).unwrap_or_default();
    Chart {
        name: format!("queue-latency-{}", name.replace(' ', "-")),
        title: format!("Latency by depth, {name}"),
        description: "One line each for the median, the times that 99 of 100 and 999 of 1,000 \
                      reads did not exceed, and the longest."
            .to_owned(),
        x: Axis::new("reads in flight", Quantity::Count(0), Scale::Log),
        y: Axis::new("latency", Quantity::Time(0.0), Scale::Log),
        layers,
    }
}
