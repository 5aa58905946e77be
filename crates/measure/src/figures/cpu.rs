//! Figures of `measure cpu`: rates by kernel, threads and level, and shares of another record.
//!
//! A rate is that of one thread by its processor time, also with four threads: the loops of each ÷
//! the mean of their times. Shares of another record compare rates of the same number of threads at
//! the highest level.

use std::collections::BTreeMap;

use super::{Curve, MARGIN, compare, curves};
use crate::record::{Record, Sample, Series, Unit, Workload};
use crate::stats::{Figure, Finding, level_of_each, median};

/// The rate of one thread alone, as a share, below which several threads slow each other down.
pub const CROWDED_SHARE: f64 = 0.9;

/// Figures from the series of `measure cpu`.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuFigures<'a> {
    /// Each kernel, level and number of threads, in that order.
    pub rates: Vec<Curve<'a>>,
    /// One thread at the lowest level compared with one at the highest.
    pub levels: Option<LevelsCompared>,
    /// Threads at the lowest level compared with those at the highest that ran beside them.
    pub contended: Option<LevelsCompared>,
    /// The records of the comparison, if there is one.
    against: Option<[&'a Record; 2]>,
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

/// Derives figures from a record, and compares them with another one if there is one; `None` if it
/// has no loops.
pub fn of<'a>(record: &'a Record, other: Option<&'a Record>) -> Option<CpuFigures<'a>> {
    let mut rates = loops(record);
    rates.sort_by_key(|rate| place_of(rate));
    let levels = levels(&rates, is_alone);
    let contended = self::levels(&rates, is_mixed);
    let against = other.map(|other| [record, other]);
    (!rates.is_empty()).then_some(CpuFigures { rates, levels, contended, against })
}

impl<'a> CpuFigures<'a> {
    /// Returns the name of the other record.
    pub fn against(&self) -> Option<&'a str> {
        self.against.map(|[_, other]| other.name.as_deref().unwrap_or(&other.machine.cpu))
    }

    /// Returns the rates of one thread with none beside it.
    pub fn alone(&self) -> impl Iterator<Item = &Curve<'a>> {
        self.rates.iter().filter(|rate| is_alone(rate))
    }

    /// Returns a rate as a share of that of one thread alone at this level.
    pub fn of_one_thread(&self, rate: &Curve<'_>) -> Option<Figure> {
        let same_level = |found: &Curve<'_>| found.factors.qos == rate.factors.qos;
        share_of(rate, find(&self.rates, rate, |found| is_alone(found) && same_level(found))?)
    }

    /// Returns a rate as a share of that at the highest level of this record.
    pub fn of_high(&self, rate: &Curve<'_>) -> Option<Figure> {
        share_of(rate, find(&self.rates, rate, |found| runs_alike(found, rate))?)
    }

    /// Returns a rate as a share of the other record's at its highest level.
    pub fn of_other(&self, rate: &Curve<'_>) -> Option<Figure> {
        let [record, other] = self.against?;
        let theirs = loops(other);
        let high = find(&theirs, rate, |found| runs_alike(found, rate))?;
        compare::ratio((record, rate.series), (other, high.series))
    }

    /// Returns whether several threads slowed each other down, because they share processors or
    /// heat.
    pub fn is_crowded(&self, rate: &Curve<'_>) -> bool {
        let is_apart = rate.threads() == 1 || is_mixed(rate);
        !is_apart && self.of_one_thread(rate).is_some_and(|share| share.value < CROWDED_SHARE)
    }
}

/// Returns whether threads of another level ran beside these.
pub fn is_mixed(rate: &Curve<'_>) -> bool {
    rate.factors.busy_threads.is_some()
}

fn is_alone(rate: &Curve<'_>) -> bool {
    rate.threads() == 1 && !is_mixed(rate)
}

fn loops(record: &Record) -> Vec<Curve<'_>> {
    let mut loops = curves(record, Workload::Cpu);
    loops.retain(|of| of.series.unit == Unit::Loops);
    loops
}

fn share_of(rate: &Curve<'_>, of: &Curve<'_>) -> Option<Figure> {
    rate.ratio(of).filter(|_| !std::ptr::eq::<Series>(rate.series, of.series))
}

/// Compares the lowest level with the highest, among the series that fit. One comparison of all
/// kernels makes one claim, where one for each would make several.
fn levels(all: &[Curve<'_>], fits: impl Fn(&Curve<'_>) -> bool) -> Option<LevelsCompared> {
    let fitting: Vec<&Curve<'_>> = all.iter().filter(|rate| fits(rate)).collect();
    let of_levels = || fitting.iter().filter_map(|rate| rate.factors.qos);
    let (low, high) = (of_levels().min()?, of_levels().max()?);
    let at = |level: u8| fitting.iter().filter(move |rate| rate.factors.qos == Some(level));
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let mut kernels = Vec::new();
    for slow in at(low).filter(|_| low < high) {
        let same = |fast: &&&Curve<'_>| fast.algorithm() == slow.algorithm();
        let Some(fast) = at(high).find(same) else { continue };
        let (slow, fast) = (slow.series, fast.series);
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

/// Returns whether as many threads ran, beside as many others.
fn runs_alike(one: &Curve<'_>, other: &Curve<'_>) -> bool {
    let of = |rate: &Curve<'_>| (rate.threads(), rate.factors.busy_threads);
    of(one) == of(other)
}

/// The order of display: the kernels of this version, then unknown ones; levels falling.
fn place_of(rate: &Curve<'_>) -> (usize, String, std::cmp::Reverse<u8>, u32) {
    let kernels = crate::workload::cpu::kernels::Kernel::ALL;
    let known = kernels.iter().position(|known| known.name() == rate.algorithm());
    let level = std::cmp::Reverse(rate.factors.qos.unwrap_or(0));
    (known.unwrap_or(kernels.len()), rate.algorithm().to_owned(), level, rate.threads())
}

/// Finds the series of the highest level among those of the same kernel that match.
fn find<'c, 'a>(
    all: &'c [Curve<'a>],
    rate: &Curve<'_>,
    fits: impl Fn(&Curve<'_>) -> bool,
) -> Option<&'c Curve<'a>> {
    let same = |found: &&Curve<'_>| found.algorithm() == rate.algorithm() && fits(found);
    all.iter().filter(same).max_by_key(|found| found.factors.qos)
}
