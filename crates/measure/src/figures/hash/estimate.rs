//! Estimates how long a check of a folder takes, from runs over some of its files.
//!
//! Short files have a cost per file, longer ones a cost per byte. The start of a run is counted
//! once.

use std::collections::BTreeMap;

use super::{Figure, by_round};
use crate::record::{Files, Series, Stage};
use crate::stats::{Estimate, median};

/// Files up to this mean length are counted by number, longer ones by bytes.
const BY_FILE_LEN_BYTES_MAX: f64 = 65_536.0;

/// The least share of a set's time that is assigned to its files, however long the start of the run
/// seems to have taken.
const NET_SHARE_MIN: f64 = 0.05;

/// The estimated time for checking a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// The files in the folder.
    pub all: Files,
    /// The time, in seconds.
    pub time_s: Figure,
    /// The part of it for starting and ending the run, in seconds.
    pub start_s: f64,
    /// By rising length.
    pub classes: Vec<ClassForecast>,
    /// Bytes that were read for the estimate; files that were read again count again.
    pub read_bytes: u64,
    /// Share of those bytes that the page cache had before; absent if the system did not report it.
    pub cached_share: Option<f64>,
}

/// Files of about one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassForecast {
    /// Their number and bytes.
    pub files: Files,
    /// Time for all of them, in seconds.
    pub time_s: f64,
    /// Sets that were drawn.
    pub sets: usize,
}

/// One run over a set.
#[derive(Clone, Copy)]
struct Set {
    class: usize,
    files: f64,
    bytes: f64,
    /// Without the start and end of the run.
    net_s: f64,
}

pub(super) fn forecast(series: &[&Series]) -> Option<Forecast> {
    let start = series.iter().find(|series| series.factors.stage == Some(Stage::Start))?;
    let starts = by_round(start, |sample| sample.elapsed_ns as f64 / 1e9);
    let start_s = median(&starts.concat())?;
    let drawn: Vec<(Files, &Series)> =
        series.iter().filter_map(|series| Some((series.factors.drawn_from?, *series))).collect();
    let classes: Vec<Files> = drawn.iter().map(|(files, _)| *files).collect();
    let rounds = sets(&drawn, start_s);
    let time_of = |sets: &[Set]| {
        let times = (0..classes.len()).map(|class| class_time_s(sets, class, classes[class]));
        Some(start_s + times.sum::<Option<f64>>()?)
    };
    let all = rounds.concat();
    let value = time_of(&all)?;
    let by_round: Vec<f64> = rounds.iter().filter_map(|round| time_of(round)).collect();
    let samples = || drawn.iter().flat_map(|(_, series)| &series.samples);
    let read_bytes: u64 = samples().map(|sample| sample.amount).sum();
    let cached = samples().map(|sample| sample.cached_bytes).sum::<Option<u64>>();
    Some(Forecast {
        all: classes.iter().fold(Files::default(), |sum, class| Files {
            files: sum.files + class.files,
            bytes: sum.bytes + class.bytes,
        }),
        time_s: Figure { value, interval: Estimate::of_rounds(value, &by_round) },
        start_s,
        classes: classes
            .iter()
            .enumerate()
            .filter_map(|(class, &files)| {
                let sets = all.iter().filter(|set| set.class == class).count();
                Some(ClassForecast { files, time_s: class_time_s(&all, class, files)?, sets })
            })
            .collect(),
        read_bytes,
        cached_share: cached.map(|cached| cached as f64 / read_bytes.max(1) as f64),
    })
}

/// Combines the sets of all classes by rounds.
fn sets(drawn: &[(Files, &Series)], start_s: f64) -> Vec<Vec<Set>> {
    let mut rounds: BTreeMap<u32, Vec<Set>> = BTreeMap::new();
    for (class, (_, series)) in drawn.iter().enumerate() {
        for sample in series.counting() {
            let elapsed_s = sample.elapsed_ns as f64 / 1e9;
            rounds.entry(sample.round).or_default().push(Set {
                class,
                files: sample.files.unwrap_or(1) as f64,
                bytes: sample.amount as f64,
                net_s: (elapsed_s - start_s).max(NET_SHARE_MIN * elapsed_s),
            });
        }
    }
    rounds.into_values().collect()
}

/// Returns the time for all files of a class, in seconds; `None` if it has no set.
fn class_time_s(sets: &[Set], class: usize, files: Files) -> Option<f64> {
    let of_class = sets.iter().filter(|set| set.class == class);
    let by_file = files.bytes as f64 <= BY_FILE_LEN_BYTES_MAX * files.files as f64;
    let times = of_class.map(|set| match by_file || set.bytes == 0.0 {
        true => set.net_s / set.files * files.files as f64,
        false => set.net_s / set.bytes * files.bytes as f64,
    });
    median(&times.collect::<Vec<f64>>())
}
