//! The path of a check and its parts: time by size, folders, and the overlap of reading and
//! hashing.

use super::{Figure, by_round};
use crate::record::{Cache, Factors, Series, Stage};
use crate::stats::{LineFit, Point, rates_of_rounds};

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
    /// The line: its rate, and the cost of each file, including the start and end of a run.
    pub line: LineFit,
    /// Shortest and longest file, in bytes.
    pub sizes_bytes: (u64, u64),
    /// The measured bytes and seconds, in the order of measurement.
    pub points: Vec<Point>,
}

/// Time by size of one file at a QoS level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelLine {
    /// Number of the level.
    pub qos: u8,
    /// Reading and hashing.
    pub net: PathLine,
    /// Rate of reading alone at the same level.
    pub read: Option<Figure>,
    /// Rate of reading and hashing ÷ rate of reading alone, both by their lines.
    pub net_by_read: Option<Figure>,
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
        let value = self.line.line.rate_per_s()?;
        Some(Figure { value, interval: self.line.rate_per_s })
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
    /// Length of the shortest file that is included, in bytes.
    pub size_bytes_min: u64,
    /// Share of the shorter of the two times that is hidden by the longer one: 0 if both together
    /// take as long as one after the other, 1 if they take no longer than the longer one. Above 1
    /// if both together are even faster, below 0 if they disturb each other.
    pub overlap: Figure,
    /// Rate of reading and hashing ÷ rate of reading alone.
    pub net_by_read: Figure,
    /// Rate of reading and hashing ÷ rate of hashing alone.
    pub net_by_hash: Figure,
}

/// Returns whether a series has runs of one file each, or such messages in memory, at the level of
/// the session.
fn is_line(series: &Series) -> bool {
    series.factors.qos.is_none() && has_sizes(series)
}

/// Returns whether a series has runs of one file each, or such messages in memory.
fn has_sizes(series: &Series) -> bool {
    let Factors { engine, drawn_from, .. } = &series.factors;
    let single = series.samples.iter().all(|sample| sample.files.is_none());
    engine.is_some() && drawn_from.is_none() && single
}

/// Returns the bytes and seconds of a series by rounds.
fn points(series: &Series) -> Vec<Vec<Point>> {
    by_round(series, |sample| Point::of(sample.amount, series.time_ns(sample) as u64))
}

fn line(series: &Series) -> Option<PathLine> {
    let rounds = points(series);
    let line = LineFit::of_rounds(&rounds)?;
    let sizes = series.samples.iter().map(|sample| sample.amount);
    Some(PathLine {
        stage: series.factors.stage?,
        engine: series.factors.engine.clone()?,
        cache: series.factors.cache,
        line,
        sizes_bytes: (sizes.clone().min()?, sizes.max()?),
        points: rounds.concat(),
    })
}

pub(super) fn lines(series: &[&Series]) -> Vec<PathLine> {
    series.iter().filter(|series| is_line(series)).filter_map(|series| line(series)).collect()
}

/// Returns the lines of reading and hashing at levels, by falling level.
pub(super) fn level_lines(series: &[&Series]) -> Vec<LevelLine> {
    let at_level = |series: &&&Series| series.factors.qos.is_some() && has_sizes(series);
    let all: Vec<&Series> = series.iter().filter(at_level).copied().collect();
    let nets = all.iter().filter(|series| series.factors.stage == Some(Stage::ReadHash));
    let level_line = |net: &&Series| {
        let reads =
            |read: &&&Series| read.factors.qos == net.factors.qos && is_reading_of(read, net);
        let reading = all.iter().find(reads);
        // Both took turns in every round.
        let net_by_read = reading.and_then(|read| {
            let [(_, net), (_, read)] =
                [rates_of_rounds(&points(net))?, rates_of_rounds(&points(read))?];
            Figure::of_rounds(
                net.iter().zip(&read).filter_map(|(net, read)| Some((*net)? / (*read)?)),
            )
        });
        Some(LevelLine {
            qos: net.factors.qos?,
            net: line(net)?,
            read: reading.and_then(|read| line(read)?.rate()),
            net_by_read,
        })
    };
    let mut lines: Vec<LevelLine> = nets.filter_map(level_line).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.qos));
    lines
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
    one.stage == Some(Stage::Read) && (&one.engine, one.cache) == (&other.engine, other.cache)
}

/// Times of one round, for the same files.
struct Times {
    read_s: f64,
    hash_s: f64,
    both_s: f64,
}

pub(super) fn overlaps(series: &[&Series]) -> Vec<Overlap> {
    let lines: Vec<&Series> = series.iter().filter(|series| is_line(series)).copied().collect();
    let hashing = lines.iter().find(|series| series.factors.stage == Some(Stage::Hash));
    let both = lines.iter().filter(|series| {
        let factors = &series.factors;
        factors.stage == Some(Stage::ReadHash) && factors.engine.as_deref() != Some(NULL_ENGINE)
    });
    let overlap = |both: &&Series| {
        let reading = lines.iter().find(|series| is_reading_of(series, both))?;
        overlap(reading, hashing?, both)
    };
    both.filter_map(overlap).collect()
}

fn overlap(reading: &Series, hashing: &Series, both: &Series) -> Option<Overlap> {
    let longest = both.samples.iter().map(|sample| sample.amount).max()?;
    let from = OVERLAP_LEN_BYTES_MIN.min(longest);
    let mut rounds: Vec<u32> = both.samples.iter().map(|sample| sample.round).collect();
    rounds.dedup();
    let times = rounds.into_iter().filter_map(|round| {
        let sizes = |series: &Series| -> Vec<(u64, u64)> {
            let of_round = series.counting().filter(|sample| sample.round == round);
            let long = of_round.filter(|sample| sample.amount >= from);
            let mut sizes: Vec<_> = long.map(|sample| (sample.amount, sample.elapsed_ns)).collect();
            sizes.sort_unstable();
            sizes
        };
        let (read, hash, both) = (sizes(reading), sizes(hashing), sizes(both));
        // Only the sizes that all three have, because an interrupted round lacks some.
        let has = |sizes: &[(u64, u64)], size: u64| sizes.iter().any(|(other, _)| *other == size);
        let sum = |of: &[(u64, u64)]| -> f64 {
            let shared = of
                .iter()
                .filter(|(size, _)| has(&read, *size) && has(&hash, *size) && has(&both, *size));
            shared.map(|(_, elapsed_ns)| *elapsed_ns as f64 / 1e9).sum()
        };
        let times = Times { read_s: sum(&read), hash_s: sum(&hash), both_s: sum(&both) };
        (times.both_s > 0.0).then_some(times)
    });
    let times: Vec<Times> = times.collect();
    let figure = |of: fn(&Times) -> f64| Figure::of_rounds(times.iter().map(of));
    Some(Overlap {
        cache: both.factors.cache,
        size_bytes_min: from,
        overlap: figure(|times| {
            let Times { read_s, hash_s, both_s } = times;
            (read_s + hash_s - both_s) / read_s.min(*hash_s)
        })?,
        net_by_read: figure(|times| times.read_s / times.both_s)?,
        net_by_hash: figure(|times| times.hash_s / times.both_s)?,
    })
}
