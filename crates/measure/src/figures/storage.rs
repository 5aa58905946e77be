//! Figures of writing and reading files: rates, and impossible values.
//!
//! The rate is that of the line of time against length, by elapsed time. What other programs did
//! meanwhile stands beside it.

use super::{Curve, curves};
use crate::record::{Cache, Record, Sample, Series, Stage, Unit, Workload};

/// Shorter files are left out, because their time hardly depends on their bytes.
pub const ANALYSED_LEN_BYTES_MIN: u64 = 10_000;

/// A series of files up to this length is in the range of small files, where memory often serves
/// instead of the disk.
pub const SMALL_ZONE_LEN_BYTES_MAX: u64 = 2_000_000;

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

/// Derives the figures of each series of `write` or of `read`, in the order of the record.
pub fn of(record: &Record, workload: Workload) -> Vec<Curve<'_>> {
    let mut files = curves(record, workload);
    files.retain(|of| {
        let stage = matches!(of.factors.stage, Some(Stage::Write | Stage::Read));
        stage && of.series.unit == Unit::Bytes && !of.points.is_empty()
    });
    files
}

/// Returns the mean number of processors that other programs had meanwhile, if the system tells.
pub fn others(files: &Curve<'_>) -> Option<f64> {
    share_of_time(files, |sample| sample.beside?.others_ns)
}

/// Returns the share of the time for which the measurement waited for a processor, if the system
/// tells.
pub fn queued(files: &Curve<'_>) -> Option<f64> {
    share_of_time(files, |sample| sample.queued_ns)
}

/// Returns how many files were left out because they are shorter than 10 kB.
pub fn left_out(files: &Curve<'_>) -> usize {
    counted(files.series).count() - files.points.len()
}

/// Returns the sum of some times ÷ the time of all samples; `None` if one of them is not known.
fn share_of_time(files: &Curve<'_>, of: impl Fn(&Sample) -> Option<u64>) -> Option<f64> {
    let samples = analysed(files.series);
    let part_ns: Option<Vec<u64>> = samples.iter().map(|sample| of(sample)).collect();
    let all_ns: u64 = samples.iter().map(|sample| sample.elapsed_ns).sum();
    Some(part_ns?.iter().sum::<u64>() as f64 / all_ns.max(1) as f64)
}

/// Returns whether all files are so short that they may have been served from memory. The rate is
/// then not that of the disk.
pub fn is_cache_prone(series: &Series) -> bool {
    counted(series).all(|sample| sample.amount <= SMALL_ZONE_LEN_BYTES_MAX)
}

/// Returns the samples from which the rate is derived: shorter files than 10 kB are left out unless
/// all are short.
pub(super) fn analysed(series: &Series) -> Vec<&Sample> {
    let least = if is_cache_prone(series) { 1 } else { ANALYSED_LEN_BYTES_MIN };
    counted(series).filter(|sample| sample.amount >= least).collect()
}

/// Samples other than warm-ups.
fn counted(series: &Series) -> impl Iterator<Item = &Sample> {
    series.counting().filter(|sample| sample.amount > 0)
}

/// Finds rates that are not those of the storage. Reads that were meant to be warm are all
/// accepted.
pub fn impossible(record: &Record, files: &Curve<'_>) -> Vec<Impossible> {
    let (series, is_read) = (files.series, files.factors.stage == Some(Stage::Read));
    if is_read && files.factors.cache == Some(Cache::Warm) {
        return Vec::new();
    }
    let place = series.place.and_then(|place| record.places.get(place));
    let link = place.and_then(|place| place.link_bytes_per_s_max).map(|rate| rate as f64);
    let through_cache = is_read && files.backend() != "direct";
    let cached = |sample: &Sample| through_cache && sample.cached_bytes.is_some_and(|of| of > 0);
    let above = |sample: &Sample| link.is_some_and(|link| sample.per_second() > link);
    let found = |why: Why, is: &dyn Fn(&Sample) -> bool| {
        let samples = analysed(series).into_iter().filter(|sample| is(sample));
        let rates: Vec<f64> = samples.map(Sample::per_second).collect();
        let fastest_per_s = rates.iter().copied().fold(0.0, f64::max);
        (!rates.is_empty()).then_some(Impossible { why, files: rates.len(), fastest_per_s })
    };
    let found = [found(Why::Cached, &cached), found(Why::AboveLink(link.unwrap_or(0.0)), &above)];
    found.into_iter().flatten().collect()
}
