//! Compares two records, series by series.
//!
//! Series with the same factors and unit are compared. The records were made at different times, so
//! the interval of a ratio includes the spread of both.

use super::hash::Figure;
use crate::record::{Factors, Record, Series, Unit, Workload};
use crate::stats::{Bootstrap, median, percent_of};

/// A series that two records have.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The workload that measured it.
    pub workload: Workload,
    /// Its label in the first record.
    pub label: String,
    /// The unit.
    pub unit: Unit,
    /// Rate in the first record, in units per second: median over rounds of total amount ÷ total
    /// time.
    pub one_per_s: f64,
    /// The same in the second.
    pub other_per_s: f64,
    /// First ÷ second.
    pub ratio: Figure,
}

/// Compares the series that two records have in common, in the order of the first.
pub fn of(one: &Record, other: &Record) -> Vec<Compared> {
    let partners = partners(one, other);
    let pairs = one.series.iter().zip(partners);
    pairs.filter_map(|(series, partner)| compared(series, partner?)).collect()
}

fn compared(series: &Series, partner: &Series) -> Option<Compared> {
    let (ours, theirs) = (by_round(series), by_round(partner));
    let (one_per_s, other_per_s) = (median(&ours)?, median(&theirs)?);
    let value = one_per_s / other_per_s;
    let percent = percent_of(&ours, &theirs, &Bootstrap::new(series.resampling_seed()));
    let interval = percent.map(|percent| percent.scaled(0.01));
    value.is_finite().then(|| Compared {
        workload: series.workload,
        label: series.label.clone(),
        unit: series.unit,
        one_per_s,
        other_per_s,
        ratio: Figure { value, interval },
    })
}

/// A degree of similarity of two series of one kind. Series in several folders differ only in this.
type Alike = fn(&Series, &Series) -> bool;

const ALIKE: [Alike; 3] = [
    |one, other| (&one.label, one.place) == (&other.label, other.place),
    |one, other| one.label == other.label,
    |_, _| true,
];

/// Finds the series of the other record for each of the first. The most similar ones are paired
/// first, and equally similar ones in their order, so that no series is compared twice.
fn partners<'a>(one: &Record, other: &'a Record) -> Vec<Option<&'a Series>> {
    let kinds = |record: &Record| -> Vec<(Workload, Unit, Factors)> {
        record.series.iter().map(kind).collect()
    };
    let (ours, theirs) = (kinds(one), kinds(other));
    let mut partners = vec![None; one.series.len()];
    let mut taken = vec![false; other.series.len()];
    for alike in ALIKE {
        for (index, series) in one.series.iter().enumerate() {
            if partners[index].is_some() {
                continue;
            }
            let free = (0..other.series.len()).find(|&place| {
                let same = ours[index] == theirs[place] && alike(series, &other.series[place]);
                !taken[place] && same
            });
            if let Some(place) = free {
                taken[place] = true;
                partners[index] = Some(&other.series[place]);
            }
        }
    }
    partners
}

/// Returns the properties that two series must share: all except those of a machine.
fn kind(series: &Series) -> (Workload, Unit, Factors) {
    let factors = Factors { capabilities: None, drawn_from: None, ..series.factors.clone() };
    (series.workload, series.unit, factors)
}

/// Returns the rate of each round, or the published one.
fn by_round(series: &Series) -> Vec<f64> {
    if let Some(stated) = series.stated {
        return vec![stated.per_second];
    }
    let mut rounds: Vec<(u32, u64, u64)> = Vec::new();
    for sample in series.counting() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published;

    /// Makes a record of published figures: label, place and rate of each, all of one kind.
    fn record(figures: &[(&str, usize, f64)]) -> Record {
        let mut record = published::records().remove(0);
        let like = record.series.remove(0);
        let series = figures.iter().map(|&(label, place, per_second)| Series {
            label: label.to_owned(),
            place: Some(place),
            stated: Some(crate::record::Stated { per_second }),
            ..like.clone()
        });
        record.series = series.collect();
        record
    }

    fn ratios(one: &Record, other: &Record) -> Vec<(String, f64)> {
        of(one, other).into_iter().map(|found| (found.label, found.ratio.value)).collect()
    }

    #[test]
    fn twins_are_compared_with_their_own_likes() {
        let record = record(&[("a", 0, 2.0), ("a", 0, 3.0), ("b", 0, 5.0)]);
        assert!(ratios(&record, &record).iter().all(|(_, ratio)| *ratio == 1.0));
    }

    #[test]
    fn what_is_most_alike_is_compared_first() {
        let one = record(&[("a", 0, 2.0), ("b", 0, 3.0)]);
        let other = record(&[("b", 1, 6.0), ("c", 0, 8.0)]);
        // `b` has a partner in another folder, and `a` takes the one that is left.
        assert_eq!(ratios(&one, &other), [("a".to_owned(), 0.25), ("b".to_owned(), 0.5)]);
    }

    #[test]
    fn nothing_is_compared_twice() {
        let (two, one) = (record(&[("a", 0, 2.0), ("a", 0, 3.0)]), record(&[("a", 0, 4.0)]));
        assert_eq!(ratios(&two, &one), [("a".to_owned(), 0.5)]);
    }
}
