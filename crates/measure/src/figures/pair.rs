//! Figures of `measure pair`: ratios of two or three folders, with their intervals.

use std::collections::BTreeMap;

use crate::record::{Cache, Record, Sample, Series, Side, Stage, Unit, Workload};
use crate::stats::{Estimate, Finding, finding, median, ratio_in_turn};

/// A difference in rate that is irrelevant, as a share.
pub const MARGIN: f64 = 0.02;

/// Figures of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct PairFigures {
    /// Each side that was measured, with the index of its folder.
    pub sides: Vec<(Side, Option<usize>)>,
    /// By step, then by length; after several lengths, all of them together. Then reads and writes
    /// with several in flight, by depth.
    pub rows: Vec<PairRow>,
}

/// Figures for one step and one length, or one depth.
#[derive(Clone, Debug, PartialEq)]
pub struct PairRow {
    /// Writing, reading, or reading and hashing.
    pub stage: Stage,
    /// Length of the files, or of each request in flight, in bytes; `None` for all lengths
    /// together: bytes ÷ time of a round.
    pub len_bytes: Option<u64>,
    /// Random requests in flight; `None` for files that are read or written from end to end.
    pub depth: Option<u32>,
    /// Whether all bytes came from the storage, as far as proved.
    pub cold: bool,
    /// Median rate of each side in bytes per second, and its number of samples.
    pub rates: Vec<(Side, f64, usize)>,
    /// Rate of A ÷ rate of B, round by round.
    pub a_to_b: Compared,
    /// Rate of A ÷ rate of the control, if there is one: the cost of A on its own path.
    pub a_to_control: Option<Compared>,
}

/// A ratio of two rates, and its finding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// Median over the rounds with its interval; absent if there are fewer than six rounds.
    pub ratio: Option<Estimate>,
    /// The finding for the first side.
    pub finding: Finding,
}

/// Derives the figures; `None` if the record has no pair.
pub fn of(record: &Record) -> Option<PairFigures> {
    let mut cells: BTreeMap<(u8, u64), BTreeMap<Side, &Series>> = BTreeMap::new();
    let mut deep: BTreeMap<(u8, u32), BTreeMap<Side, &Series>> = BTreeMap::new();
    let mut sides = BTreeMap::new();
    for series in record.series.iter().filter(|series| series.workload == Workload::Pair) {
        let factors = &series.factors;
        let (Some(stage), Some(side)) = (factors.stage, factors.side) else { continue };
        sides.insert(side, series.place);
        let of_sides = match factors.queue_depth {
            Some(depth) => deep.entry((rank(stage), depth)).or_default(),
            None => cells.entry((rank(stage), len_of(series))).or_default(),
        };
        of_sides.insert(side, series);
    }
    let mut rows = Vec::new();
    for step in 0..3 {
        let of_step: Vec<_> = cells.range((step, 0)..=(step, u64::MAX)).collect();
        rows.extend(of_step.iter().filter_map(|((_, length), sides)| row(sides, Some(*length))));
        if of_step.len() > 1 {
            let sum = |side: &Side| {
                let all: Option<Vec<&Series>> =
                    of_step.iter().map(|(_, sides)| sides.get(side).copied()).collect();
                all.map(|all| (*side, sum(&all)))
            };
            let sums: BTreeMap<Side, Series> = sides.keys().filter_map(sum).collect();
            rows.extend(row(&sums.iter().map(|(side, sum)| (*side, sum)).collect(), None));
        }
    }
    rows.extend(deep.values().filter_map(|sides| {
        let length = sides.values().next().map(|series| len_of(series));
        row(sides, length)
    }));
    (!rows.is_empty()).then(|| PairFigures { sides: sides.into_iter().collect(), rows })
}

fn len_of(series: &Series) -> u64 {
    series.factors.block_len_bytes.unwrap_or(0)
}

fn rank(stage: Stage) -> u8 {
    match stage {
        Stage::Write => 0,
        Stage::Read => 1,
        _ => 2,
    }
}

/// Joins series: the sums of each round that all of them have.
fn sum(all: &[&Series]) -> Series {
    let mut rounds: BTreeMap<u32, Sample> = BTreeMap::new();
    for sample in all.iter().flat_map(|series| series.counting()) {
        let sum = rounds.entry(sample.round).or_default();
        sum.round = sample.round;
        sum.amount += sample.amount;
        sum.elapsed_ns += sample.elapsed_ns;
    }
    let has = |round: u32| move |series: &&Series| series.counting().any(|one| one.round == round);
    let samples = rounds.into_values().filter(|sum| all.iter().all(has(sum.round))).collect();
    let unproved = all.iter().find(|series| series.factors.cache == Some(Cache::Unknown));
    Series { samples, ..(**unproved.unwrap_or(&all[0])).clone() }
}

fn row(sides: &BTreeMap<Side, &Series>, len_bytes: Option<u64>) -> Option<PairRow> {
    let (a, b) = (sides.get(&Side::A)?, sides.get(&Side::B)?);
    let control = sides.get(&Side::Control);
    let stage = a.factors.stage?;
    let unproved = |series: &&Series| series.factors.cache == Some(Cache::Unknown);
    Some(PairRow {
        stage,
        len_bytes,
        depth: a.factors.queue_depth,
        cold: stage != Stage::Write && !sides.values().any(unproved),
        rates: sides
            .iter()
            .filter_map(|(&side, series)| {
                let rates = series.counting().map(|sample| bytes_per_s(series, sample));
                let rates: Vec<f64> = rates.collect();
                Some((side, median(&rates)?, rates.len()))
            })
            .collect(),
        a_to_b: compared(a, b),
        a_to_control: control.map(|control| compared(a, control)),
    })
}

fn bytes_per_s(series: &Series, sample: &Sample) -> f64 {
    match series.unit {
        Unit::Operations => sample.per_second() * len_of(series) as f64,
        _ => sample.per_second(),
    }
}

/// Compares two series round by round. Leaves out rounds that one of them lacks. If a round has
/// several samples, the median of their rates counts.
fn compared(one: &Series, other: &Series) -> Compared {
    let of = |series: &Series| -> BTreeMap<u32, f64> {
        let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for sample in series.counting() {
            rounds.entry(sample.round).or_default().push(sample.per_second());
        }
        rounds.into_iter().filter_map(|(round, rates)| Some((round, median(&rates)?))).collect()
    };
    let (one, others) = (of(one), of(other));
    let pairs = one.iter().filter_map(|(round, rate)| Some((*rate, *others.get(round)?)));
    let rounds: Vec<(f64, f64)> = pairs.collect();
    let ratio = ratio_in_turn(&rounds);
    Compared { ratio, finding: finding(ratio.as_ref(), MARGIN) }
}
