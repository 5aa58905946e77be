//! Figures of `measure hash`: rates of hashing, reading and both, their overlap, and gains.
//!
//! Series are identified by their factors, never by their labels. Series are compared round by
//! round.

use std::cmp::Reverse;

use super::{Curve, curves};
use crate::record::{Cache, Factors, Record, Series, Stage, Workload};
use crate::stats::Figure;

/// Shorter files take as long as the start and end of their run; overlap is visible in longer ones.
const OVERLAP_LEN_BYTES_MIN: u64 = 16_000_000;

/// The engine that moves no bytes.
pub const NULL_ENGINE: &str = "null";

/// Figures from the series of `measure hash`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HashFigures<'a> {
    /// Hashing in memory, in the order of the record.
    pub kernels: Vec<Curve<'a>>,
    /// Time against size of one file: hashing alone, reading alone, both, and the path alone. Then
    /// reading and both at QoS levels, by falling level.
    pub lines: Vec<Curve<'a>>,
    /// Many files in one run.
    pub folders: Vec<Curve<'a>>,
    /// QoS levels, by stage, then by rising level: hashing in memory, and runs of a folder.
    pub levels: Vec<Curve<'a>>,
    /// How far reading and hashing overlap, by the origin of the bytes, and by falling level.
    pub overlaps: Vec<Overlap>,
}

/// How far reading and hashing overlap in one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// The origin of the bytes.
    pub cache: Option<Cache>,
    /// Number of the QoS level, if levels were compared.
    pub qos: Option<u8>,
    /// Length of the shortest file that is included, in bytes.
    pub size_bytes_min: u64,
    /// Share of the shorter of the two times that is hidden by the longer one: 0 if both together
    /// take as long as one after the other, 1 if they take no longer than the longer one. Above 1
    /// if both together are even faster, below 0 if they disturb each other. Absent if hashing
    /// alone was not measured, as at levels.
    pub overlap: Option<Figure>,
    /// Rate of reading and hashing ÷ rate of reading alone.
    pub net_by_read: Figure,
    /// Rate of reading and hashing ÷ rate of hashing alone, if that was measured.
    pub net_by_hash: Option<Figure>,
}

/// Two QoS levels compared, round by round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelRatio {
    /// Hashing in memory, or a run of a folder.
    pub stage: Stage,
    /// The highest and the lowest level.
    pub levels: (u8, u8),
    /// Rate of the highest ÷ rate of the lowest.
    pub ratio: Figure,
}

/// Derives the figures. `None` if the record has no such series.
pub fn of(record: &Record) -> Option<HashFigures<'_>> {
    let all = curves(record, Workload::Hash);
    let is_empty = all.iter().all(|curve| curve.series.samples.is_empty());
    let mut figures = HashFigures { overlaps: overlaps(&all), ..HashFigures::default() };
    for curve in all {
        let Factors { stage, engine, qos, order, drawn_from, busy_threads, .. } = curve.factors;
        let of_stage = matches!(stage, Some(Stage::Hash | Stage::ReadHash));
        let many = curve.series.samples.iter().all(|sample| sample.files.is_some());
        // Earlier versions also read files that they had not made, in an order.
        let made = drawn_from.is_none() && order.is_none() && *stage != Some(Stage::Start);
        let group = match (many || engine.is_none(), qos) {
            (true, Some(_)) if of_stage && busy_threads.is_none() => &mut figures.levels,
            (true, None) if many && made => &mut figures.folders,
            (true, None) if !many && *stage == Some(Stage::Hash) => &mut figures.kernels,
            (false, _) if curve.fit.is_some() && drawn_from.is_none() => &mut figures.lines,
            _ => continue,
        };
        group.push(curve);
    }
    figures.lines.sort_by_key(|line| line.factors.qos.map(Reverse));
    figures
        .levels
        .sort_by_key(|level| (level.factors.stage != Some(Stage::Hash), level.factors.qos));
    (!is_empty).then_some(figures)
}

impl<'a> HashFigures<'a> {
    /// Returns the rate of a kernel as a multiple of that of software alone, for the same
    /// algorithm, as many threads, and one message each. `None` for that kernel itself, and if
    /// there is none to compare.
    pub fn gain(&self, kernel: &Curve<'_>) -> Option<Figure> {
        let software = self.kernels.iter().find(|other| {
            let alike =
                (other.algorithm(), other.threads()) == (kernel.algorithm(), kernel.threads());
            other.backend() == "portable" && other.factors.lanes == Some(1) && alike
        });
        kernel.ratio(software.filter(|software| software.factors != kernel.factors)?)
    }

    /// Returns the rate of a folder that is read and hashed ÷ that of reading alone.
    pub fn folder_by_read(&self, folder: &Curve<'_>) -> Option<Figure> {
        let hashes = folder.factors.stage == Some(Stage::ReadHash);
        let reading = self.folders.iter().find(|other| is_reading_of(other, folder));
        folder.ratio(reading.filter(|_| hashes)?)
    }

    /// Returns the lines of reading and hashing as a check works, those of levels last.
    pub fn checks(&self) -> impl Iterator<Item = &Curve<'a>> {
        let is_check = |of: &&Curve<'_>| of.factors.stage == Some(Stage::ReadHash);
        self.lines.iter().filter(|line| moves_bytes(line)).filter(is_check)
    }

    /// Compares the highest level with the lowest, for each stage that has levels.
    pub fn level_ratios(&self) -> Vec<LevelRatio> {
        let of_stage = self.levels.chunk_by(|one, other| one.factors.stage == other.factors.stage);
        let compared = of_stage.filter_map(|levels| {
            let (low, high) = (levels.first()?, levels.last()?);
            let numbers = (high.factors.qos?, low.factors.qos?);
            let ratio = high.ratio(low).filter(|_| numbers.0 > numbers.1)?;
            Some(LevelRatio { stage: high.factors.stage?, levels: numbers, ratio })
        });
        compared.collect()
    }
}

/// Returns whether bytes were moved, and not the path measured alone.
pub fn moves_bytes(line: &Curve<'_>) -> bool {
    line.factors.engine.as_deref() != Some(NULL_ENGINE)
}

/// Returns the bytes in each cycle of the processor, whose clock was measured after each sample;
/// also the rate in GB/s at a clock of 1 GHz.
pub fn bytes_per_cycle(kernel: &Curve<'_>) -> Option<Figure> {
    let bytes = kernel.series.counting().filter_map(|sample| {
        let cycles = kernel.series.time_ns(sample) * sample.beside?.clock_khz? as f64 / 1e6;
        Some(sample.amount as f64 / cycles)
    });
    Figure::of_rounds(&bytes.collect::<Vec<f64>>())
}

/// Returns whether one series is the other without its hashing.
fn is_reading_of(one: &Curve<'_>, other: &Curve<'_>) -> bool {
    let (one, other) = (one.factors, other.factors);
    let of = |factors: &Factors| (factors.engine.clone(), factors.cache, factors.qos);
    one.stage == Some(Stage::Read) && of(one) == of(other)
}

fn overlaps(all: &[Curve<'_>]) -> Vec<Overlap> {
    let single = |of: &&Curve<'_>| {
        let made = of.factors.engine.is_some() && of.factors.drawn_from.is_none();
        made && moves_bytes(of) && of.series.samples.iter().all(|sample| sample.files.is_none())
    };
    let mut lines: Vec<&Curve<'_>> = all.iter().filter(single).collect();
    lines.sort_by_key(|line| line.factors.qos.map(Reverse));
    let at = |stage: Stage| lines.iter().filter(move |line| line.factors.stage == Some(stage));
    let of_check = |both: &&Curve<'_>| {
        let reading = at(Stage::Read).find(|line| is_reading_of(line, both))?;
        let hashing = at(Stage::Hash).find(|line| line.factors.qos == both.factors.qos);
        overlap(both.series, reading.series, hashing.map(|line| line.series))
    };
    at(Stage::ReadHash).filter_map(of_check).collect()
}

fn overlap(both: &Series, reading: &Series, hashing: Option<&Series>) -> Option<Overlap> {
    let longest = both.samples.iter().map(|sample| sample.amount).max()?;
    let from = OVERLAP_LEN_BYTES_MIN.min(longest);
    let all = || [both, reading].into_iter().chain(hashing);
    // Times of both, of reading and of hashing by rounds, of the sizes that all have: an
    // interrupted round lacks some.
    let mut rounds: Vec<(u32, [f64; 3])> = Vec::new();
    for long in both.counting().filter(|sample| sample.amount >= from) {
        let times = all().map(|series| {
            let mut samples = series.counting();
            let same = samples.find(|of| (of.round, of.amount) == (long.round, long.amount));
            same.map(|of| of.elapsed_ns)
        });
        let Some(times) = times.collect::<Option<Vec<u64>>>() else { continue };
        if rounds.last().is_none_or(|(round, _)| *round != long.round) {
            rounds.push((long.round, [0.0; 3]));
        }
        let (_, sums) = rounds.last_mut()?;
        sums.iter_mut().zip(times).for_each(|(sum, time_ns)| *sum += time_ns as f64);
    }
    let figure = |of: fn(&[f64; 3]) -> f64| {
        Figure::of_rounds(&rounds.iter().map(|(_, sums)| of(sums)).collect::<Vec<f64>>())
    };
    let hidden = |[both, read, hash]: &[f64; 3]| (read + hash - both) / read.min(*hash);
    Some(Overlap {
        cache: both.factors.cache,
        qos: both.factors.qos,
        size_bytes_min: from,
        overlap: hashing.and_then(|_| figure(hidden)),
        net_by_read: figure(|[both, read, _]| read / both)?,
        net_by_hash: hashing.and_then(|_| figure(|[both, _, hash]| hash / both)),
    })
}
