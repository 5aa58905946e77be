//! Two records beside each other: what both measured, and how the rates compare.
//!
//! In: two records. Out: [`Compared`], one for each series that both have: same workload, same
//! factors, same unit. The records were made apart, so the interval of a ratio allows for the
//! spread of both.

use super::hash::Figure;
use crate::record::{Factors, Record, Series, Unit, Workload};
use crate::stats::{Bootstrap, median, percent_of};

/// Draws the rounds again.
const SEED: u64 = 1;

/// A series that two records have.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What measured.
    pub workload: Workload,
    /// What it is called in the first record.
    pub label: String,
    /// What is counted.
    pub unit: Unit,
    /// Rate in the first record, in units per second: median over rounds of all ÷ time of all.
    pub one_per_s: f64,
    /// The same in the second.
    pub other_per_s: f64,
    /// First ÷ second.
    pub ratio: Figure,
}

/// Compares what two records have in common, in the order of the first.
pub fn of(one: &Record, other: &Record) -> Vec<Compared> {
    let compared = one.series.iter().filter_map(|series| {
        let same = |found: &&Series| {
            found.workload == series.workload
                && found.unit == series.unit
                && what(&found.factors) == what(&series.factors)
        };
        // Series of one kind in several folders differ by their labels or folders only.
        let alike = |found: &&Series| {
            same(found) && (&found.label, found.place) == (&series.label, series.place)
        };
        let found = other.series.iter().find(alike).or_else(|| other.series.iter().find(same))?;
        let (ours, theirs) = (by_round(series), by_round(found));
        let (one_per_s, other_per_s) = (median(&ours)?, median(&theirs)?);
        let percent = percent_of(&ours, &theirs, &Bootstrap::new(series.seed.unwrap_or(SEED)));
        let interval = percent.map(|percent| percent.scaled(0.01));
        let ratio = Figure { value: one_per_s / other_per_s, interval };
        let (workload, unit) = (series.workload, series.unit);
        ratio.value.is_finite().then(|| Compared {
            workload,
            label: series.label.clone(),
            unit,
            one_per_s,
            other_per_s,
            ratio,
        })
    });
    compared.collect()
}

/// What makes series the same: everything but what a machine brings with it.
fn what(factors: &Factors) -> Factors {
    Factors { capabilities: None, drawn_from: None, ..factors.clone() }
}

/// Returns a rate for each round, or the one that is stated.
fn by_round(series: &Series) -> Vec<f64> {
    if let Some(stated) = series.stated {
        return vec![stated.per_second];
    }
    let mut rounds: Vec<(u32, u64, u64)> = Vec::new();
    for sample in series.samples.iter().filter(|sample| !sample.warm_up) {
        match rounds.last_mut() {
            Some((round, amount, elapsed_ns)) if *round == sample.round => {
                *amount += sample.amount;
                *elapsed_ns += sample.elapsed_ns;
            }
            _ => rounds.push((sample.round, sample.amount, sample.elapsed_ns)),
        }
    }
    let rate = |&(_, amount, elapsed_ns): &(u32, u64, u64)| amount as f64 * 1e9 / elapsed_ns as f64;
    rounds.iter().map(rate).collect()
}
