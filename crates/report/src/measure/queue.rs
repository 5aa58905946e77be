//! Reads by depth: a section of a record's document.

use steadfast_measure::figures::Curve;
use steadfast_measure::figures::queue::{self, group, latencies, percentile_ns};
use steadfast_measure::record::{Cache, Order, Record, Stage};
use steadfast_measure::stats::Figure;
use steadfast_measure::workload::queue::FOUR_ROWS;

use super::{INTERVALS, cell, point, ratio};
use crate::document::{Axis, Cell, Chart, Field, Headline, Layer, Mark, Quantity, Section, Table};
use crate::units::{self, Units};

/// The cells of a record, which are named with their folder if there are several.
struct Cells<'a> {
    record: &'a Record,
    all: Vec<Curve<'a>>,
    units: Units,
}

/// Makes the section.
pub(super) fn section(record: &Record, units: Units) -> Option<Section> {
    let cells = Cells { record, all: queue::of(record), units };
    let best = cells.best()?;
    let time = |ns: Option<u64>| Cell::maybe(ns.map(|ns| Quantity::Time(ns as f64)));
    let fields: &[Field<'_, Curve<'_>>] = &[
        ("Order and size", &|of| Cell::text(units::capital(&cells.name(of)))),
        (">Depth", &|of| Cell::count(depth_of(of))),
        (">Rate", &rate),
        (">Per second", &requests),
        (">p50", &|of| time(percentile_ns(of, 0.5))),
        (">p99", &|of| time(percentile_ns(of, 0.99))),
        (">p99.9", &|of| time(percentile_ns(of, 0.999))),
        (">Longest", &|of| time(Some(latencies(of).max_ns))),
    ];
    let title = "Past the page cache, by order, size and depth";
    let mut notes = vec![format!(
        "As many threads as the depth have one read in flight each. {INTERVALS} A percentile is \
         told only with ten beyond it. Writes are not flushed; a mix has seven reads to three \
         writes. Equivalent: fio --ioengine=psync --direct=1 --numjobs=DEPTH \
         --rw=read|randread|write|randwrite|rw|randrw --bs=SIZE."
    )];
    if cells.all.iter().any(|cell| cell.factors.cache != Some(Cache::Direct)) {
        notes.push(
            "This file system reads through the page cache whatever is asked: the figures are of \
             reads that may have come from memory."
                .to_owned(),
        );
    }
    let folders = cells.all.chunk_by(|one, other| one.series.place == other.series.place);
    Some(Section {
        title: "Queue".to_owned(),
        headline: Some(cells.headline(best)),
        sentences: cells.answer().into_iter().chain(cells.gain_sentence()).collect(),
        tables: folders
            .filter_map(|folder| cells.four_rows(folder))
            .chain([Table::of("queue", title, 2, &cells.all, fields)])
            .collect(),
        charts: cells.charts(),
        notes,
    })
}

fn rate(of: &Curve<'_>) -> Cell {
    cell(Quantity::Rate, queue::rate(of))
}

fn requests(of: &Curve<'_>) -> Cell {
    Cell::Number(Quantity::PerSecond(of.per_second()))
}

fn depth_of(of: &Curve<'_>) -> u32 {
    of.factors.queue_depth.unwrap_or(1)
}

fn bytes_per_s(of: &Curve<'_>) -> f64 {
    queue::rate(of).map_or(0.0, |rate| rate.value)
}

fn block_words(length: Option<u64>) -> String {
    Units::Iec.bytes(length.unwrap_or(0)).replace(".00", "")
}

impl<'a> Cells<'a> {
    /// Returns the folder of a cell, if there are several.
    fn folder(&self, of: &Curve<'_>) -> Option<&str> {
        let several = self.all.iter().any(|other| other.series.place != self.all[0].series.place);
        let place = self.record.places.get(of.series.place.filter(|_| several)?)?;
        Some(&place.path)
    }

    fn name(&self, of: &Curve<'_>) -> String {
        let order = if of.factors.order == Some(Order::Random) { "random" } else { "sequential" };
        let work = match of.factors.stage {
            Some(Stage::Write) => "writes ",
            Some(Stage::ReadWrite) => "mix ",
            _ => "",
        };
        let folder = self.folder(of).map_or(String::new(), |folder| format!(", {folder}"));
        format!("{work}{order} {}{folder}", block_words(of.factors.block_len_bytes))
    }

    /// The rows that other programs print, if a folder has all of them.
    fn four_rows(&self, cells: &[Curve<'_>]) -> Option<Table> {
        let find = |row: &usize, stage: Stage| {
            let (order, length, depth) = FOUR_ROWS[*row];
            let wanted = (Some(order), Some(length), Some(depth), Some(stage));
            cells.iter().find(|cell| {
                let of = cell.factors;
                (of.order, of.block_len_bytes, of.queue_depth, of.stage) == wanted
            })
        };
        let rows: Vec<usize> = (0..FOUR_ROWS.len()).collect();
        rows.iter().all(|row| find(row, Stage::Read).is_some()).then_some(())?;
        let of = |row: &usize, stage: Stage, cell: fn(&Curve<'_>) -> Cell| {
            find(row, stage).map_or(Cell::Empty, cell)
        };
        const NAMES: [&str; 4] = ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"];
        let fields: &[Field<'_, usize>] = &[
            ("Test", &|row| Cell::text(NAMES[*row])),
            (">Read", &|row| of(row, Stage::Read, rate)),
            (">Write", &|row| of(row, Stage::Write, rate)),
            (">Mix", &|row| of(row, Stage::ReadWrite, rate)),
            (">Reads/s", &|row| of(row, Stage::Read, requests)),
            (">Writes/s", &|row| of(row, Stage::Write, requests)),
        ];
        let folder = self.folder(&cells[0]).zip(cells[0].series.place);
        let id = folder.map_or("queue-four".to_owned(), |(_, at)| format!("queue-four-{at}"));
        let of = folder.map_or(String::new(), |(folder, _)| format!(", {folder}"));
        let title = format!("As CrystalDiskMark, KDiskMark and AmorphousDiskMark name them{of}");
        Some(Table::of(&id, &title, 1, &rows, fields))
    }

    /// Returns the cells of the first kind of work.
    fn of_first_work(&self) -> impl Iterator<Item = &Curve<'a>> {
        self.all.iter().filter(|cell| cell.factors.stage == self.all[0].factors.stage)
    }

    /// Returns the combination of the first kind of work that has the highest rate.
    fn best(&self) -> Option<&Curve<'a>> {
        self.of_first_work().max_by(|a, b| bytes_per_s(a).total_cmp(&bytes_per_s(b)))
    }

    /// Returns the cell that gains most over the least depth of its group, and its gain.
    fn most_gained(&self) -> Option<(&Curve<'a>, Figure)> {
        let gains = self.all.iter().filter_map(|of| Some((of, queue::gain(&self.all, of)?)));
        gains.max_by(|(_, one), (_, other)| one.value.total_cmp(&other.value))
    }

    /// What several requests at a time gain, or the highest rate if there is but one depth.
    fn headline(&self, best: &Curve<'_>) -> Headline {
        let Some((most, gain)) = self.most_gained() else {
            let what = format!("{} at depth {}", self.name(best), depth_of(best));
            return Headline::new(rate(best), what);
        };
        let bars = self.all.iter().filter(|of| group(of.series) == group(most.series));
        let bars = bars.map(|of| {
            let depth = u64::from(depth_of(of));
            let name = units::counted(depth, "request at a time", "requests at a time");
            (name, Quantity::Rate(bytes_per_s(of)))
        });
        let depth = depth_of(most);
        let what = format!("as fast with {depth} requests at a time as with the fewest.");
        Headline::new(cell(Quantity::Ratio, gain), what).beside(bars)
    }

    fn gain_sentence(&self) -> Option<String> {
        let (most, gain) = self.most_gained()?;
        Some(format!(
            "Several requests at a time gain most for {}: at depth {} it is {} as fast as at the \
             least depth.",
            self.name(most),
            depth_of(most),
            ratio(gain)
        ))
    }

    /// The highest rate of reading, and one small read at a time.
    fn answer(&self) -> Option<String> {
        let best = self.best()?;
        let small = self.of_first_work().min_by_key(|of| {
            (depth_of(of), of.factors.block_len_bytes, of.factors.order != Some(Order::Random))
        })?;
        let one = percentile_ns(small, 0.5)
            .map_or(String::new(), |ns| format!(", half of them within {}", units::duration(ns)));
        Some(format!(
            "The highest rate of {} is {} ({}, depth {}); at depth {}, {} gives {}{one}.",
            match best.factors.stage {
                Some(Stage::Write) => "writing",
                Some(Stage::ReadWrite) => "the mix",
                _ => "reading",
            },
            rate(best).shown(self.units),
            self.name(best),
            depth_of(best),
            depth_of(small),
            self.name(small),
            rate(small).shown(self.units)
        ))
    }

    /// Rates against depth, a chart for each size: sizes differ so much that a common axis hides
    /// the small ones.
    fn charts(&self) -> Vec<Chart> {
        let groups = || self.all.chunk_by(|a, b| group(a.series) == group(b.series));
        if groups().all(|group| group.len() < 2) {
            return Vec::new();
        }
        let mut lens: Vec<_> = self.all.iter().map(|cell| cell.factors.block_len_bytes).collect();
        lens.sort_unstable();
        lens.dedup();
        let chart = |&length: &Option<u64>| {
            let of_size = groups().filter(|group| group[0].factors.block_len_bytes == length);
            let layers = of_size.map(|group| {
                let points = group
                    .iter()
                    .filter_map(|cell| Some(point(f64::from(depth_of(cell)), &queue::rate(cell)?)));
                Layer::new(self.name(&group[0]), Mark::Line, points)
            });
            let size = block_words(length);
            let depth = Axis::log("requests in flight", Quantity::Count(0));
            Chart::new(
                format!("queue-rate-{}", size.replace(' ', "-")),
                format!("Rate by depth, {size}"),
                "One line for each order and kind of requests; how their rate grows with the \
                 requests in flight. Bars are intervals.",
                (depth, Axis::linear("rate", Quantity::Rate(0.0))),
                layers.collect(),
            )
        };
        lens.iter().map(chart).collect()
    }
}
