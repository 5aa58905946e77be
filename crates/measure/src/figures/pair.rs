//! Figures of `measure pair`: ratios of two or three folders, with their intervals.

use std::collections::BTreeMap;

use super::MARGIN;
use crate::record::{Cache, Order, Record, Series, Side, Stage, Unit, Workload};
use crate::stats::{Figure, Finding, level_of_each, median};

/// Figures of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct PairFigures {
    /// Each side that was measured, with the index of its folder.
    pub sides: Vec<(Side, Option<usize>)>,
    /// By step, then by length; after several lengths, all of them together. Then reads and writes
    /// with several in flight, by depth.
    pub rows: Vec<PairRow>,
    /// The level of the intervals of steps and depths.
    pub level: f64,
    /// The level of the intervals of each of several lengths.
    pub length_level: Option<f64>,
}

/// Figures for one step and one length, or one depth.
#[derive(Clone, Debug, PartialEq)]
pub struct PairRow {
    /// Writing, reading, or reading and hashing. Hashing stands for the processor time of reading
    /// and hashing, which other programs hardly change.
    pub stage: Stage,
    /// Length of the files, or of each request in flight, in bytes; `None` for all lengths
    /// together.
    pub len_bytes: Option<u64>,
    /// Requests in flight; `None` for files that are read or written from end to end.
    pub depth: Option<u32>,
    /// Whether requests in flight are in sequence.
    pub sequential: bool,
    /// Whether all bytes came from the storage, as far as proved.
    pub cold: bool,
    /// Median rate of each side in bytes per second, and its number of samples. Of all lengths
    /// together: bytes ÷ time of a round.
    pub rates: Vec<(Side, f64, usize)>,
    /// Rate of A ÷ rate of B, round by round. Of all lengths together: the median of their ratios,
    /// so that one stalled file does not decide it.
    pub a_to_b: Compared,
    /// Rate of A ÷ rate of the control, if there is one: the cost of A on its own path.
    pub a_to_control: Option<Compared>,
}

/// A ratio of two rates, and its finding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// Median over the rounds, with its interval if there are enough for its level; absent if there
    /// is no round.
    pub ratio: Option<Figure>,
    /// The finding for the first side.
    pub finding: Finding,
}

/// Series of one step: of one length or depth, or of all lengths.
struct PairWork<'a> {
    stage: Stage,
    len_bytes: Option<u64>,
    depth: Option<u32>,
    sequential: bool,
    /// The series of each side, by length.
    parts: Vec<BTreeMap<Side, &'a Series>>,
    /// Whether it is one of several lengths.
    is_detail: bool,
}

/// Derives the figures; `None` if the record has no pair.
///
/// All intervals hold at once in 95 of 100 sessions. Half of the remaining 5 is for the steps and
/// depths, the other half for the single lengths: there are many of those, and few rounds.
pub fn of(record: &Record) -> Option<PairFigures> {
    let mut files: FileSides<'_> = BTreeMap::new();
    let mut deep: BTreeMap<(bool, u8, u32), BTreeMap<Side, &Series>> = BTreeMap::new();
    let mut sides = BTreeMap::new();
    for series in record.series.iter().filter(|series| series.workload == Workload::Pair) {
        let factors = &series.factors;
        let (Some(stage), Some(side)) = (factors.stage, factors.side) else { continue };
        sides.insert(side, series.place);
        let of_sides = match factors.queue_depth {
            Some(depth) => {
                let sequential = factors.order == Some(Order::Sequential);
                deep.entry((sequential, rank(stage), depth)).or_default()
            }
            None => files.entry((rank(stage), len_of(series))).or_default(),
        };
        of_sides.insert(side, series);
    }
    files.retain(|_, sides| has_both(sides));
    deep.retain(|_, sides| has_both(sides));
    let mut works: Vec<PairWork<'_>> =
        STEPS.into_iter().flat_map(|step| file_works(step, &files)).collect();
    works.extend(deep.into_iter().filter_map(|((sequential, _, depth), sides)| {
        let factors = sides.values().next()?;
        let (stage, len_bytes) = (factors.factors.stage?, Some(len_of(factors)));
        Some(PairWork {
            stage,
            len_bytes,
            depth: Some(depth),
            sequential,
            parts: vec![sides],
            is_detail: false,
        })
    }));
    let count = |is_detail: bool| {
        let of = works.iter().filter(|work| work.is_detail == is_detail);
        of.map(|work| 1 + usize::from(work.has_control())).sum::<usize>()
    };
    let (answers, details) = (count(false), count(true));
    let halves = if details > 0 { 2 } else { 1 };
    let level = level_of_each(halves * answers);
    let length_level = (details > 0).then(|| level_of_each(2 * details));
    let row =
        |work: &PairWork<'_>| work.row(length_level.filter(|_| work.is_detail).unwrap_or(level));
    let rows: Vec<PairRow> = works.iter().map(row).collect();
    (!rows.is_empty()).then(|| PairFigures {
        sides: sides.into_iter().collect(),
        rows,
        level,
        length_level,
    })
}

impl PairFigures {
    /// Returns the rows that answer the question: each step with all lengths together, and the
    /// depths.
    pub fn answers(&self) -> (Vec<&PairRow>, Vec<&PairRow>) {
        let stages = [Stage::Write, Stage::Read, Stage::ReadHash, Stage::Hash];
        let files = stages.into_iter().filter_map(|stage| {
            let mut of_stage =
                self.rows.iter().filter(|row| row.stage == stage && row.depth.is_none());
            // All lengths together come last; if there is one length, it is the only row.
            of_stage.next_back()
        });
        (files.collect(), self.rows.iter().filter(|row| row.depth.is_some()).collect())
    }

    /// Returns the row of reading, or of the first step that there is.
    pub fn main_row(&self) -> Option<&PairRow> {
        let (files, deep) = self.answers();
        let reads = files.iter().find(|row| row.stage == Stage::Read);
        reads.or(files.first()).or(deep.first()).copied()
    }
}

/// The series of files by step and length.
type FileSides<'a> = BTreeMap<(u8, u64), BTreeMap<Side, &'a Series>>;

/// Returns the works of a step: each length, all of several lengths, and their processor time.
fn file_works<'a>(stage: Stage, files: &FileSides<'a>) -> Vec<PairWork<'a>> {
    let of_step = files.range((rank(stage), 0)..=(rank(stage), u64::MAX));
    let (lengths, parts): (Vec<u64>, Vec<BTreeMap<Side, &Series>>) =
        of_step.map(|((_, length), sides)| (*length, sides.clone())).unzip();
    let is_detail = lengths.len() > 1;
    let work = |stage, len_bytes, parts, is_detail| PairWork {
        stage,
        len_bytes,
        depth: None,
        sequential: false,
        parts,
        is_detail,
    };
    let each = lengths.iter().zip(&parts);
    let each =
        each.map(|(&length, sides)| work(stage, Some(length), vec![sides.clone()], is_detail));
    let mut works: Vec<PairWork<'a>> = each.collect();
    if is_detail {
        works.push(work(stage, None, parts.clone(), false));
    }
    let mut samples = parts.iter().flat_map(BTreeMap::values).flat_map(|of| of.counting());
    if stage == Stage::ReadHash && samples.all(|sample| sample.cpu_ns.is_some()) {
        let length = lengths.first().filter(|_| !is_detail).copied();
        works.extend((!parts.is_empty()).then(|| work(Stage::Hash, length, parts.clone(), false)));
    }
    works
}

/// The steps of files, in the order of display.
const STEPS: [Stage; 3] = [Stage::Write, Stage::Read, Stage::ReadHash];

fn has_both(sides: &BTreeMap<Side, &Series>) -> bool {
    sides.contains_key(&Side::A) && sides.contains_key(&Side::B)
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

impl PairWork<'_> {
    fn has_control(&self) -> bool {
        self.parts.iter().all(|sides| sides.contains_key(&Side::Control))
    }

    fn row(&self, level: f64) -> PairRow {
        let unproved = |series: &Series| series.factors.cache == Some(Cache::Unknown);
        let mut all = self.parts.iter().flat_map(|sides| sides.values());
        let sides = [Side::A, Side::B, Side::Control].into_iter();
        PairRow {
            stage: self.stage,
            len_bytes: self.len_bytes,
            depth: self.depth,
            sequential: self.sequential,
            cold: self.stage != Stage::Write && !all.any(|series| unproved(series)),
            rates: sides.filter_map(|side| self.rate(side)).collect(),
            a_to_b: self.compared(Side::B, level),
            a_to_control: self.has_control().then(|| self.compared(Side::Control, level)),
        }
    }

    /// Returns the median rate of a side, in bytes per second, and its number of rounds.
    fn rate(&self, side: Side) -> Option<(Side, f64, usize)> {
        let parts: Option<Vec<&Series>> =
            self.parts.iter().map(|sides| sides.get(&side).copied()).collect();
        let parts: Vec<Rounds> = parts?.into_iter().map(|series| self.rounds(series)).collect();
        let rate = |round: &u32| {
            let all: Option<Vec<&(f64, f64)>> = parts.iter().map(|of| of.get(round)).collect();
            let (bytes, times_s): (Vec<f64>, Vec<f64>) = all?.into_iter().copied().unzip();
            Some(bytes.iter().sum::<f64>() / times_s.iter().sum::<f64>())
        };
        let rates: Vec<f64> = parts.first()?.keys().filter_map(rate).collect();
        Some((side, median(&rates)?, rates.len()))
    }

    /// Compares A with another side, round by round. Leaves out rounds that a series lacks.
    fn compared(&self, other: Side, level: f64) -> Compared {
        let parts = self.parts.iter().filter_map(|sides| {
            Some((self.rounds(sides.get(&Side::A)?), self.rounds(sides.get(&other)?)))
        });
        let parts: Vec<(Rounds, Rounds)> = parts.collect();
        let ratio = |round: &u32, (one, other): &(Rounds, Rounds)| {
            let (one, other) = (one.get(round)?, other.get(round)?);
            Some((one.0 / one.1) / (other.0 / other.1))
        };
        let of_round = |round: &u32| -> Option<f64> {
            let ratios: Option<Vec<f64>> = parts.iter().map(|part| ratio(round, part)).collect();
            median(&ratios?)
        };
        let rounds = parts.first().into_iter().flat_map(|(one, _)| one.keys());
        let ratios: Vec<f64> = rounds.filter_map(of_round).collect();
        let ratio = median(&ratios).map(|value| Figure::at_level(value, &ratios, level));
        let finding = ratio.map_or(Finding::NotEnoughData, |ratio| ratio.finding(MARGIN));
        Compared { finding, ratio }
    }

    /// Returns the bytes and the seconds of a series by rounds: the processor time where hashing is
    /// compared, otherwise the elapsed time.
    fn rounds(&self, series: &Series) -> Rounds {
        let bytes_each = if series.unit == Unit::Operations { len_of(series) } else { 1 };
        let mut rounds = Rounds::new();
        for sample in series.counting() {
            let cpu_ns = sample.cpu_ns.filter(|_| self.stage == Stage::Hash);
            let time_ns = cpu_ns.unwrap_or(sample.elapsed_ns).max(1);
            let (bytes, time_s) = rounds.entry(sample.round).or_default();
            *bytes += (sample.amount * bytes_each) as f64;
            *time_s += time_ns as f64 / 1e9;
        }
        rounds
    }
}

/// Bytes and seconds by rounds.
type Rounds = BTreeMap<u32, (f64, f64)>;
