//! Figures of writing and reading files: rates, and impossible values.
//!
//! The rate is that of the line of time against length, by elapsed time. What other programs did
//! meanwhile stands beside it.

use super::hash::Figure;
use crate::record::{Cache, Record, Sample, Series, Stage, Unit, Workload};
use crate::stats::{self, LineFit, Point};

/// Shorter files are left out, because their time hardly depends on their bytes.
pub const ANALYSED_LEN_BYTES_MIN: u64 = 10_000;

/// A series of files up to this length is in the range of small files, where memory often serves
/// instead of the disk.
pub const SMALL_ZONE_LEN_BYTES_MAX: u64 = 2_000_000;

/// Figures of the series of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageFigures {
    /// Each series of files, in the order of the record.
    pub series: Vec<SeriesFigures>,
}

/// Figures of one series of files.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesFigures {
    /// What it is called.
    pub label: String,
    /// Reading or writing.
    pub stage: Stage,
    /// The origin of its bytes, as far as proved.
    pub cache: Option<Cache>,
    /// Index of its folder.
    pub place: Option<usize>,
    /// Files that count.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Files that were left out because they are shorter than 10 kB.
    pub too_small: usize,
    /// Whether all files are so short that they may have been served from memory. The rate is then
    /// not that of the disk.
    pub is_cache_prone: bool,
    /// Time against length, with intervals over whole sets; absent if all files have one length.
    pub line: Option<LineFit>,
    /// Bytes of all files ÷ time of all files.
    pub rate_overall_per_s: Figure,
    /// Rates that cannot be those of the storage.
    pub impossible: Vec<Impossible>,
    /// How many processors other programs had meanwhile, if the system tells.
    pub others: Option<f64>,
    /// Share of the time for which the measurement waited for a processor, if the system tells.
    pub queued: Option<f64>,
    /// `points[i]`: length, time and preceding bytes of each file that counts, for charts.
    pub points: Vec<TimedFile>,
}

impl SeriesFigures {
    /// Returns the rate: that of the line, or of all bytes ÷ all time if there is none.
    pub fn rate(&self) -> Option<Figure> {
        match &self.line {
            Some(line) => line.rate_per_s,
            None => Some(self.rate_overall_per_s),
        }
    }
}

/// A timed file of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedFile {
    /// Its set, or round.
    pub round: u32,
    /// Its length and time.
    pub point: Point,
    /// When it began, in seconds after the record's beginning.
    pub start_s: f64,
    /// Bytes of the series before it.
    pub bytes_before: u64,
}

/// Files whose rates are not those of the storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impossible {
    /// The reason.
    pub why: Why,
    /// How many files.
    pub files: usize,
    /// The fastest of them, in bytes per second.
    pub fastest_per_s: f64,
}

/// Why a rate is not that of the storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// The page cache held bytes of the file before it was read.
    Cached,
    /// It exceeds what the link to the device can carry, in bytes per second.
    AboveLink(f64),
}

/// Derives the figures of `write` or of `read`. `None` if the record has no such series.
pub fn of(record: &Record, workload: Workload) -> Option<StorageFigures> {
    let files = record.series.iter().filter(|series| {
        series.workload == workload
            && series.unit == Unit::Bytes
            && matches!(series.factors.stage, Some(Stage::Write | Stage::Read))
    });
    let series: Vec<SeriesFigures> = files.filter_map(|series| of_series(record, series)).collect();
    (!series.is_empty()).then_some(StorageFigures { series })
}

fn of_series(record: &Record, series: &Series) -> Option<SeriesFigures> {
    let is_cache_prone = is_cache_prone(series)?;
    let samples = analysed(series);
    let rounds = samples.chunk_by(|one, other| one.round == other.round);
    let point = |sample: &&Sample| Point::of(sample.amount, sample.elapsed_ns);
    let rounds: Vec<Vec<Point>> = rounds.map(|round| round.iter().map(point).collect()).collect();
    let overall: Option<Vec<f64>> = rounds.iter().map(|one| stats::rate_overall(one)).collect();
    let mut bytes = 0;
    let timed = samples.iter().map(|sample| {
        let bytes_before = bytes;
        bytes += sample.amount;
        let (point, start_s) = (point(sample), sample.start_ns as f64 / 1e9);
        TimedFile { round: sample.round, point, start_s, bytes_before }
    });
    let points: Vec<TimedFile> = timed.collect();
    Some(SeriesFigures {
        label: series.label.clone(),
        stage: series.factors.stage?,
        cache: series.factors.cache,
        place: series.place,
        files: samples.len(),
        bytes,
        too_small: counted(series).count() - samples.len(),
        is_cache_prone,
        line: LineFit::of_rounds(&rounds),
        rate_overall_per_s: Figure::from_rounds(stats::rate_overall(&rounds.concat())?, &overall?),
        impossible: impossible(record, series, &samples),
        others: share_of_time(&samples, |sample| sample.beside?.others_ns),
        queued: share_of_time(&samples, |sample| sample.queued_ns),
        points,
    })
}

/// Returns the sum of some times ÷ the time of all samples; `None` if one of them is not known.
fn share_of_time(samples: &[&Sample], of: impl Fn(&Sample) -> Option<u64>) -> Option<f64> {
    let part_ns: Option<Vec<u64>> = samples.iter().map(|sample| of(sample)).collect();
    let all_ns: u64 = samples.iter().map(|sample| sample.elapsed_ns).sum();
    Some(part_ns?.iter().sum::<u64>() as f64 / all_ns.max(1) as f64)
}

/// Returns whether all files are so short that they may have been served from memory. `None` if
/// there are none.
fn is_cache_prone(series: &Series) -> Option<bool> {
    let longest = counted(series).map(|sample| sample.amount).max()?;
    Some(longest <= SMALL_ZONE_LEN_BYTES_MAX)
}

/// Returns the samples from which the rate is derived: shorter files than 10 kB are left out unless
/// all are short.
pub(super) fn analysed(series: &Series) -> Vec<&Sample> {
    let least = match is_cache_prone(series) {
        Some(false) => ANALYSED_LEN_BYTES_MIN,
        _ => 1,
    };
    counted(series).filter(|sample| sample.amount >= least).collect()
}

/// Samples other than warm-ups.
fn counted(series: &Series) -> impl Iterator<Item = &Sample> {
    series.counting().filter(|sample| sample.amount > 0)
}

/// Finds rates that are not those of the storage. Reads that were meant to be warm are all
/// accepted.
fn impossible(record: &Record, series: &Series, samples: &[&Sample]) -> Vec<Impossible> {
    let is_read = series.factors.stage == Some(Stage::Read);
    if is_read && series.factors.cache == Some(Cache::Warm) {
        return Vec::new();
    }
    let place = series.place.and_then(|place| record.places.get(place));
    let is_direct = series.factors.backend.as_deref() == Some("direct");
    let link = place.and_then(|place| place.link_bytes_per_s_max).map(|rate| rate as f64);
    let above = |bound: Option<f64>, rate: f64| bound.is_some_and(|bound| rate > bound);
    let cached = |sample: &Sample, _| {
        is_read && !is_direct && sample.cached_bytes.is_some_and(|bytes| bytes > 0)
    };
    let found = [
        found(Why::Cached, samples, cached),
        found(Why::AboveLink(link.unwrap_or(0.0)), samples, |_, rate| above(link, rate)),
    ];
    found.into_iter().flatten().collect()
}

fn found(why: Why, samples: &[&Sample], is: impl Fn(&Sample, f64) -> bool) -> Option<Impossible> {
    let rates = samples.iter().filter_map(|sample| {
        let rate = sample.per_second();
        is(sample, rate).then_some(rate)
    });
    let rates: Vec<f64> = rates.collect();
    let fastest_per_s = rates.iter().copied().fold(0.0, f64::max);
    (!rates.is_empty()).then_some(Impossible { why, files: rates.len(), fastest_per_s })
}
