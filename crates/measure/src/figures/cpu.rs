//! Figures of `measure cpu`: rates by kernel, threads and level, and percentages of another record.
//!
//! A rate is that of one thread by its processor time, also with four threads: the loops of each ÷
//! the mean of their times. Percentages compare rates of the same number of threads at the highest
//! level.

use std::collections::BTreeMap;

use super::MARGIN;
use super::compare;
use super::hash::{Elapsed, Figure};
use crate::record::{Record, Sample, Series, Unit, Workload};
use crate::stats::{Finding, level_of_each, median};

/// The rate of one thread alone, as a share, below which several threads slow each other down.
pub const CROWDED_SHARE: f64 = 0.9;

/// Figures from the series of `measure cpu`.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuFigures {
    /// Each kernel, level and number of threads, in that order.
    pub rates: Vec<LoopRate>,
    /// One thread at the lowest level compared with one at the highest.
    pub levels: Option<LevelsCompared>,
    /// Threads at the lowest level compared with those at the highest that ran beside them.
    pub contended: Option<LevelsCompared>,
    /// The record of the comparison, if there is one.
    pub against: Option<String>,
}

/// Threads at the lowest level compared with as many at the highest, by the median kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelsCompared {
    /// Number of the lowest level.
    pub low: u8,
    /// Number of the highest level.
    pub high: u8,
    /// The median of the kernels, each by its median round. The interval is from the rounds, each
    /// by its median kernel.
    pub share: Figure,
    /// The finding for the lowest level.
    pub finding: Finding,
}

/// Loops of one kernel at one level.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopRate {
    /// The kernel's name.
    pub kernel: String,
    /// Number of the QoS level, if one was requested.
    pub qos: Option<u8>,
    /// Simultaneous threads.
    pub threads: u32,
    /// Threads at another level that ran beside them; `None` if levels were not mixed.
    pub busy_threads: Option<u32>,
    /// Loops per second of one thread.
    pub rate: Figure,
    /// The elapsed time beside it, unless levels were mixed: then the rate is by elapsed time.
    pub elapsed: Option<Elapsed>,
    /// The rate as a share of that of one thread alone at this level.
    pub of_one_thread: Option<Figure>,
    /// The rate as a share of that at the highest level of this record.
    pub of_own_high: Option<Figure>,
    /// The rate as a percentage of the other record's at its highest level.
    pub of_other_percent: Option<Figure>,
}

impl LoopRate {
    /// Returns whether several threads slowed each other down, because they share processors or
    /// heat.
    pub fn is_crowded(&self) -> bool {
        let alone = self.threads == 1 || self.busy_threads.is_some();
        !alone && self.of_one_thread.is_some_and(|share| share.value < CROWDED_SHARE)
    }
}

/// Derives figures from a record; `None` if it has no loops.
pub fn of(record: &Record) -> Option<CpuFigures> {
    compared(record, None)
}

/// Derives figures from a record and compares them with another one.
pub fn against(record: &Record, other: &Record) -> Option<CpuFigures> {
    compared(record, Some(other))
}

fn compared(record: &Record, other: Option<&Record>) -> Option<CpuFigures> {
    let mut all: Vec<&Series> = series_of(record).collect();
    all.sort_by_key(|series| place_of(series));
    let rates: Vec<LoopRate> = all
        .iter()
        .filter_map(|series| {
            let alone = find(&all, series, |found| {
                threads(found) == 1 && found.factors.qos == series.factors.qos && !is_mixed(found)
            });
            let high = find(&all, series, |found| runs_alike(found, series));
            let not_itself = |found: &&Series| !std::ptr::eq::<Series>(*found, *series);
            Some(LoopRate {
                kernel: kernel(series).to_owned(),
                qos: series.factors.qos,
                threads: threads(series),
                busy_threads: series.factors.busy_threads,
                rate: Figure::rate_of(series)?,
                elapsed: Elapsed::of(series),
                of_one_thread: alone
                    .filter(not_itself)
                    .and_then(|alone| Figure::ratio(series, alone)),
                of_own_high: high.filter(not_itself).and_then(|high| Figure::ratio(series, high)),
                of_other_percent: other.and_then(|other| percent(record, series, other)),
            })
        })
        .collect();
    let name = |other: &Record| other.name.clone().unwrap_or_else(|| other.machine.cpu.clone());
    let levels = self::levels(&all, |series| threads(series) == 1 && !is_mixed(series));
    let contended = self::levels(&all, is_mixed);
    (!rates.is_empty()).then(|| CpuFigures { rates, levels, contended, against: other.map(name) })
}

/// Compares the lowest level with the highest, among the series that fit. One comparison of all
/// kernels makes one claim, where one for each would make several.
fn levels(all: &[&Series], fits: impl Fn(&Series) -> bool) -> Option<LevelsCompared> {
    let fitting: Vec<&Series> = all.iter().copied().filter(|series| fits(series)).collect();
    let of_levels = || fitting.iter().filter_map(|series| series.factors.qos);
    let (low, high) = (of_levels().min()?, of_levels().max()?);
    let at = |level: u8| fitting.iter().filter(move |series| series.factors.qos == Some(level));
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut kernels = Vec::new();
    for slow in at(low).filter(|_| low < high) {
        let Some(fast) = at(high).find(|fast| kernel(fast) == kernel(slow)) else { continue };
        let ratio = |(sample, other): (&Sample, &Sample)| {
            (sample.round, slow.per_second(sample) / fast.per_second(other))
        };
        let ratios: Vec<(u32, f64)> = slow.paired(fast).map(ratio).collect();
        kernels.extend(median(&ratios.iter().map(|(_, ratio)| *ratio).collect::<Vec<f64>>()));
        ratios.iter().for_each(|(round, ratio)| rounds.entry(*round).or_default().push(*ratio));
    }
    let ratios: Option<Vec<f64>> = rounds.values().map(|ratios| median(ratios)).collect();
    let share = Figure::at_level(median(&kernels)?, &ratios?, level_of_each(1));
    Some(LevelsCompared { low, high, share, finding: share.finding(MARGIN) })
}

fn series_of(record: &Record) -> impl Iterator<Item = &Series> {
    let loops = |series: &&Series| series.workload == Workload::Cpu && series.unit == Unit::Loops;
    record.series.iter().filter(loops)
}

fn kernel(series: &Series) -> &str {
    series.factors.algorithm.as_deref().unwrap_or_default()
}

/// Returns whether as many threads ran, beside as many others.
fn runs_alike(one: &Series, other: &Series) -> bool {
    (threads(one), one.factors.busy_threads) == (threads(other), other.factors.busy_threads)
}

fn is_mixed(series: &Series) -> bool {
    series.factors.busy_threads.is_some()
}

fn threads(series: &Series) -> u32 {
    series.factors.threads.unwrap_or(1)
}

/// The order of display: the kernels of this version, then unknown ones; levels falling.
fn place_of(series: &Series) -> (usize, String, std::cmp::Reverse<u8>, u32) {
    let kernels = crate::workload::cpu::kernels::Kernel::ALL;
    let known = kernels.iter().position(|known| known.name() == kernel(series));
    let level = std::cmp::Reverse(series.factors.qos.unwrap_or(0));
    (known.unwrap_or(kernels.len()), kernel(series).to_owned(), level, threads(series))
}

/// Finds the series of the highest level among those of the same kernel that match.
fn find<'a>(
    all: &[&'a Series],
    series: &Series,
    fits: impl Fn(&Series) -> bool,
) -> Option<&'a Series> {
    let same = |found: &&&Series| kernel(found) == kernel(series) && fits(found);
    all.iter().filter(same).max_by_key(|found| found.factors.qos).copied()
}

fn percent(record: &Record, series: &Series, other: &Record) -> Option<Figure> {
    let theirs: Vec<&Series> = series_of(other).collect();
    let high = find(&theirs, series, |found| runs_alike(found, series))?;
    Some(compare::ratio((record, series), (other, high))?.scaled(100.0))
}
