//! Figures of `measure hash`: rates of hashing, reading and both, their overlap, and gains.
//!
//! Series are identified by their factors, never by their labels. Series are compared round by
//! round.

mod path;

use crate::record::{Factors, Record, Sample, Series, Stage, Workload};
use crate::stats::median;

pub use crate::stats::Figure;
pub use path::{FolderRate, NULL_ENGINE, Overlap, PathLine};

/// Figures from the series of `measure hash`.
#[derive(Clone, Debug, PartialEq)]
pub struct HashFigures {
    /// Hashing in memory, in the order of the record.
    pub kernels: Vec<KernelRate>,
    /// Time against size of one file: hashing alone, reading alone, both, and the path alone. Then
    /// reading and both at QoS levels, by falling level.
    pub lines: Vec<PathLine>,
    /// Many files in one run.
    pub folders: Vec<FolderRate>,
    /// How far reading and hashing overlap, by the origin of the bytes, and by falling level.
    pub overlaps: Vec<Overlap>,
    /// QoS levels, by stage, then by rising level.
    pub levels: Vec<LevelRate>,
    /// For each stage, the highest level's rate as a multiple of the lowest's.
    pub level_ratios: Vec<LevelRatio>,
}

impl Figure {
    /// Returns the figure that a publication states for a series.
    pub(super) fn stated(series: &Series) -> Option<Figure> {
        series.stated.map(|stated| Figure { value: stated.per_second, interval: None })
    }

    /// Returns the rate of a series: as stated, or the median of its samples.
    pub(super) fn rate_of(series: &Series) -> Option<Figure> {
        let rates = series.counting().map(|sample| series.per_second(sample));
        Figure::stated(series).or_else(|| Figure::of_rounds(&rates.collect::<Vec<f64>>()))
    }

    /// Returns the median over rounds of one series' rate ÷ another's.
    pub(super) fn ratio(one: &Series, other: &Series) -> Option<Figure> {
        let ratio = |(sample, of)| one.per_second(sample) / other.per_second(of);
        Figure::of_rounds(&one.paired(other).map(ratio).collect::<Vec<f64>>())
    }
}

/// The elapsed time beside a rate by processor time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// Median rate by elapsed time, in units per second.
    pub per_second: f64,
    /// Median share of the elapsed time for which the threads waited for a processor.
    pub waited: f64,
}

impl Elapsed {
    /// Returns the elapsed time of a series whose rate is by processor time.
    pub(super) fn of(series: &Series) -> Option<Elapsed> {
        let by_processor = series.is_by_processor_time();
        let samples: Vec<&Sample> = series.counting().filter(|_| by_processor).collect();
        let waited =
            |sample: &&Sample| (1.0 - series.time_ns(sample) / sample.elapsed_ns as f64).max(0.0);
        let rates: Vec<f64> = samples.iter().map(|sample| sample.per_second()).collect();
        let waited: Vec<f64> = samples.iter().map(waited).collect();
        Some(Elapsed { per_second: median(&rates)?, waited: median(&waited)? })
    }
}

/// The rate of one kernel in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelRate {
    /// The algorithm's name.
    pub algorithm: String,
    /// The backend.
    pub backend: String,
    /// Messages at once in each thread.
    pub lanes: u32,
    /// Threads.
    pub threads: u32,
    /// Bytes per second of all threads together, by processor time.
    pub rate: Figure,
    /// The elapsed time beside it.
    pub elapsed: Option<Elapsed>,
    /// Bytes in each cycle of the processor, whose clock was measured after each sample; also the
    /// rate in GB/s at a clock of 1 GHz.
    pub bytes_per_cycle: Option<Figure>,
    /// The rate as a multiple of that of software alone, for the same algorithm, as many threads,
    /// and one message each. Absent for that kernel itself, and if there is none to compare.
    pub gain: Option<Figure>,
}

/// The rate at a QoS level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelRate {
    /// Hashing in memory, or a run of a folder.
    pub stage: Stage,
    /// Number of the level.
    pub qos: u8,
    /// Threads at that level.
    pub threads: u32,
    /// Bytes per second.
    pub rate: Figure,
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
pub fn of(record: &Record) -> Option<HashFigures> {
    let series: Vec<&Series> = record
        .series
        .iter()
        .filter(|series| series.workload == Workload::Hash && !series.samples.is_empty())
        .collect();
    if series.is_empty() {
        return None;
    }
    let levels = levels(&series);
    Some(HashFigures {
        kernels: kernels(&series),
        lines: path::lines(&series),
        folders: path::folders(&series),
        overlaps: path::overlaps(&series),
        level_ratios: level_ratios(&series),
        levels,
    })
}

/// Returns whether a series is of a kernel in memory, at no particular level.
fn is_kernel(factors: &Factors) -> bool {
    factors.stage == Some(Stage::Hash) && factors.engine.is_none() && factors.qos.is_none()
}

fn kernels(series: &[&Series]) -> Vec<KernelRate> {
    let kernels: Vec<&&Series> =
        series.iter().filter(|series| is_kernel(&series.factors)).collect();
    let software = |of: &Factors| {
        kernels.iter().find(|series| {
            let factors = &series.factors;
            factors.backend.as_deref() == Some("portable")
                && factors.lanes == Some(1)
                && (&factors.algorithm, factors.threads) == (&of.algorithm, of.threads)
        })
    };
    let kernel = |series: &&&Series| {
        let factors = &series.factors;
        let compared = software(factors).filter(|software| software.factors != *factors);
        Some(KernelRate {
            algorithm: factors.algorithm.clone()?,
            backend: factors.backend.clone()?,
            lanes: factors.lanes?,
            threads: factors.threads?,
            rate: Figure::rate_of(series)?,
            elapsed: Elapsed::of(series),
            bytes_per_cycle: {
                let bytes = series.counting().filter_map(|sample| {
                    let cycles = series.time_ns(sample) * sample.beside?.clock_khz? as f64 / 1e6;
                    Some(sample.amount as f64 / cycles)
                });
                Figure::of_rounds(&bytes.collect::<Vec<f64>>())
            },
            gain: compared.and_then(|software| Figure::ratio(series, software)),
        })
    };
    kernels.iter().filter_map(kernel).collect()
}

/// Returns the series of a stage at levels, by rising level: kernels, and runs of a folder with
/// nothing beside them.
fn at_levels<'a>(series: &[&'a Series], stage: Stage) -> Vec<(u8, &'a Series)> {
    let found = series.iter().filter(|series| {
        let Factors { stage: of, engine, busy_threads, .. } = &series.factors;
        let many = series.samples.iter().all(|sample| sample.files.is_some());
        *of == Some(stage) && busy_threads.is_none() && (engine.is_none() || many)
    });
    let mut found: Vec<(u8, &Series)> =
        found.filter_map(|series| Some((series.factors.qos?, *series))).collect();
    found.sort_by_key(|(qos, _)| *qos);
    found
}

fn levels(series: &[&Series]) -> Vec<LevelRate> {
    let level = |stage: Stage, (qos, series): (u8, &Series)| {
        let threads = series.factors.threads?;
        Some(LevelRate { stage, qos, threads, rate: Figure::rate_of(series)? })
    };
    let of = |stage| at_levels(series, stage).into_iter().filter_map(move |at| level(stage, at));
    of(Stage::Hash).chain(of(Stage::ReadHash)).collect()
}

fn level_ratios(series: &[&Series]) -> Vec<LevelRatio> {
    let of = |stage: Stage| {
        let levels = at_levels(series, stage);
        let ((lowest, low), (highest, high)) = (levels.first()?, levels.last()?);
        let ratio = Figure::ratio(high, low).filter(|_| lowest < highest)?;
        Some(LevelRatio { stage, levels: (*highest, *lowest), ratio })
    };
    [Stage::Hash, Stage::ReadHash].into_iter().filter_map(of).collect()
}
