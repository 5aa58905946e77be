//! The path of a check and its parts: time by size, folders, and the overlap of reading and
//! hashing.

use std::cmp::Reverse;

use super::Figure;
use crate::record::{Cache, Factors, Sample, Series, Stage};
use crate::stats::{LineFit, Point};

/// Shorter files take as long as the start and end of their run; overlap is visible in longer ones.
const OVERLAP_LEN_BYTES_MIN: u64 = 16_000_000;

/// The engine that moves no bytes.
pub const NULL_ENGINE: &str = "null";

/// Time by size of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct PathLine {
    /// Hashing, reading, or both.
    pub stage: Stage,
    /// `memory`, `buffered`, or [`NULL_ENGINE`].
    pub engine: String,
    /// The origin of the bytes, as far as proved.
    pub cache: Option<Cache>,
    /// Number of the QoS level, if levels were compared.
    pub qos: Option<u8>,
    /// The line: its rate, and the cost of each file, including the start and end of a run.
    pub line: LineFit,
    /// Shortest and longest file, in bytes.
    pub sizes_bytes: (u64, u64),
    /// The measured bytes and seconds, in the order of measurement.
    pub points: Vec<Point>,
}

impl PathLine {
    /// Returns whether bytes were moved, and not the path measured alone.
    pub fn moves_bytes(&self) -> bool {
        self.engine != NULL_ENGINE
    }

    /// Returns whether it was measured as a check works: by reading and hashing.
    pub fn is_check(&self) -> bool {
        self.stage == Stage::ReadHash && self.moves_bytes()
    }

    /// Returns the rate of the line with its interval; `None` if it has no rate.
    pub fn rate(&self) -> Option<Figure> {
        self.line.rate_per_s
    }
}

/// Many files in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderRate {
    /// Reading, or reading and hashing.
    pub stage: Stage,
    /// `buffered`, or `null`, which moves no bytes.
    pub engine: String,
    /// The origin of the bytes, as far as proved.
    pub cache: Option<Cache>,
    /// Files in each run.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes per second.
    pub rate: Figure,
    /// Rate ÷ that of reading alone; absent for reading itself.
    pub net_by_read: Option<Figure>,
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

/// Returns the series of runs of one file each, or of such messages in memory; those of levels
/// last, by falling level.
fn of_sizes<'a>(series: &[&'a Series]) -> Vec<&'a Series> {
    let has_sizes = |series: &&&Series| {
        let Factors { engine, drawn_from, .. } = &series.factors;
        let single = series.samples.iter().all(|sample| sample.files.is_none());
        engine.is_some() && drawn_from.is_none() && single
    };
    let mut found: Vec<&Series> = series.iter().filter(has_sizes).copied().collect();
    found.sort_by_key(|series| series.factors.qos.map(Reverse));
    found
}

fn line(series: &Series) -> Option<PathLine> {
    let point = |sample: &&Sample| Point::of(sample.amount, series.time_ns(sample) as u64);
    let samples: Vec<&Sample> = series.counting().collect();
    let rounds = samples.chunk_by(|one, other| one.round == other.round);
    let rounds: Vec<Vec<Point>> = rounds.map(|round| round.iter().map(point).collect()).collect();
    let sizes = series.samples.iter().map(|sample| sample.amount);
    Some(PathLine {
        stage: series.factors.stage?,
        engine: series.factors.engine.clone()?,
        cache: series.factors.cache,
        qos: series.factors.qos,
        line: LineFit::of_rounds(&rounds)?,
        sizes_bytes: (sizes.clone().min()?, sizes.max()?),
        points: rounds.concat(),
    })
}

pub(super) fn lines(series: &[&Series]) -> Vec<PathLine> {
    of_sizes(series).into_iter().filter_map(line).collect()
}

pub(super) fn folders(series: &[&Series]) -> Vec<FolderRate> {
    let many = |series: &&&Series| {
        // Earlier versions also read files that they had not made, in an order.
        let Factors { qos, drawn_from, order, stage, .. } = &series.factors;
        let many = series.samples.iter().all(|sample| sample.files.is_some());
        let made = drawn_from.is_none() && order.is_none();
        many && qos.is_none() && made && *stage != Some(Stage::Start)
    };
    let folders: Vec<&Series> = series.iter().filter(many).copied().collect();
    let folder = |series: &&Series| {
        let factors = &series.factors;
        let reading = match factors.stage? {
            Stage::ReadHash => folders.iter().find(|other| is_reading_of(other, series)),
            _ => None,
        };
        let sample = series.samples.first()?;
        Some(FolderRate {
            stage: factors.stage?,
            engine: factors.engine.clone()?,
            cache: factors.cache,
            files: sample.files?,
            bytes: sample.amount,
            rate: Figure::rate_of(series)?,
            net_by_read: reading.and_then(|reading| Figure::ratio(series, reading)),
        })
    };
    folders.iter().filter_map(folder).collect()
}

/// Returns whether one series is the other without its hashing.
fn is_reading_of(one: &Series, other: &Series) -> bool {
    let (one, other) = (&one.factors, &other.factors);
    let of = |factors: &Factors| (factors.engine.clone(), factors.cache, factors.qos);
    one.stage == Some(Stage::Read) && of(one) == of(other)
}

pub(super) fn overlaps(series: &[&Series]) -> Vec<Overlap> {
    let series = of_sizes(series);
    let moving = |series: &&&Series| series.factors.engine.as_deref() != Some(NULL_ENGINE);
    let at = |stage: Stage| {
        let of_stage = move |series: &&&Series| series.factors.stage == Some(stage);
        series.iter().filter(moving).filter(of_stage).copied()
    };
    let overlap = |both: &Series| {
        let reading = at(Stage::Read).find(|series| is_reading_of(series, both))?;
        let hashing = at(Stage::Hash).find(|series| series.factors.qos == both.factors.qos);
        overlap(both, reading, hashing)
    };
    at(Stage::ReadHash).filter_map(overlap).collect()
}

fn overlap(both: &Series, reading: &Series, hashing: Option<&Series>) -> Option<Overlap> {
    let longest = both.samples.iter().map(|sample| sample.amount).max()?;
    let from = OVERLAP_LEN_BYTES_MIN.min(longest);
    let all = || [both, reading].into_iter().chain(hashing);
    // Times of both, of reading and of hashing by rounds, of the sizes that all have: an
    // interrupted round lacks some.
    let mut rounds: Vec<(u32, [f64; 3])> = Vec::new();
    for long in both.counting().filter(|sample| sample.amount >= from) {
        let is_same = |of: &&Sample| (of.round, of.amount) == (long.round, long.amount);
        let times = all().map(|series| series.counting().find(is_same).map(|of| of.elapsed_ns));
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
