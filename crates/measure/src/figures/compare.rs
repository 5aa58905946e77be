//! Compares two records, series by series.
//!
//! Series with the same factors and unit are compared by the rates that the sections of the page
//! show. The records were made at different times, so what disturbed one of them may have lasted
//! for all of it: a session is one sample, however many rounds it has.

use super::Curve;
use crate::record::{Factors, Record, Series, Unit, Workload};
use crate::stats::{self, Figure, Finding, median};

/// How far the fastest rounds by processor time of two sessions of one machine lie apart, as a
/// share. The place of code and data in memory, which each process has anew, makes as much.
pub const BAND: f64 = 0.05;

/// A difference between records that is irrelevant, as a share: up to this, they count as alike.
pub const APART_MARGIN: f64 = 0.1;

/// Sessions of each side that a comparison by elapsed time needs.
pub const SESSIONS_MIN: usize = 3;

/// A series that two records have.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The workload that measured it.
    pub workload: Workload,
    /// Its label in the first record.
    pub label: String,
    /// The unit.
    pub unit: Unit,
    /// Rate in the first record, in units per second: by processor time that of its fastest round.
    pub one_per_s: f64,
    /// The same in the second.
    pub other_per_s: f64,
    /// First ÷ second. There is an interval by processor time if the fastest rounds of both agree,
    /// by elapsed time with [`SESSIONS_MIN`] sessions on both sides.
    pub ratio: Figure,
    /// Whether the rates are by processor time.
    pub by_processor_time: bool,
}

impl Compared {
    /// Returns whether the first is faster or slower, as far as its interval tells.
    pub fn finding(&self) -> Finding {
        self.ratio.finding(APART_MARGIN)
    }
}

/// Compares the series that two records have in common, in the order of the first.
pub fn of(one: &Record, other: &Record) -> Vec<Compared> {
    let pairs = one.series.iter().zip(partners(one, other));
    let compared = pairs.filter_map(|(series, partner)| {
        let partner = partner?;
        let (ours, theirs) = (rates(one, series)?, rates(other, partner)?);
        let ratio = Some(ours.by(&theirs)).filter(|ratio| ratio.value.is_finite())?;
        Some(Compared {
            workload: series.workload,
            label: series.label.clone(),
            unit: series.unit,
            one_per_s: ours.rate(),
            other_per_s: theirs.rate(),
            ratio,
            by_processor_time: matches!(
                (&ours, &theirs),
                (Rates::Processor(..), Rates::Processor(..))
            ),
        })
    });
    compared.collect()
}

/// Returns the ratio of a series to that of another record.
pub(super) fn ratio(
    (one, series): (&Record, &Series),
    (other, of): (&Record, &Series),
) -> Option<Figure> {
    Some(rates(one, series)?.by(&rates(other, of)?))
}

/// The rate of a series, and what stands for its uncertainty.
enum Rates {
    /// By processor time, of the fastest round; the range of the fastest rounds, if they agree.
    Processor(f64, Option<(f64, f64)>),
    /// By elapsed time, of all rounds; the rates of sessions.
    Elapsed(f64, Vec<f64>),
}

impl Rates {
    fn rate(&self) -> f64 {
        match self {
            Rates::Processor(rate, _) | Rates::Elapsed(rate, _) => *rate,
        }
    }

    /// Returns the ratio of two rates.
    ///
    /// Its interval reaches from the slowest of this side ÷ the fastest of the other to the
    /// opposite, and is wider by what lies between sessions. By processor time it is that of the
    /// fastest rounds, if they agree on both sides, and [`BAND`]; by elapsed time that of the
    /// sessions, and their spread.
    fn by(&self, other: &Rates) -> Figure {
        let value = self.rate() / other.rate();
        let ranges = match (self, other) {
            (Rates::Processor(_, ours), Rates::Processor(_, theirs)) => ours.zip(*theirs),
            (Rates::Elapsed(_, ours), Rates::Elapsed(_, theirs)) => {
                let ends = |of: &[f64]| {
                    let least = of.iter().copied().fold(f64::MAX, f64::min);
                    (least, of.iter().copied().fold(0.0, f64::max))
                };
                let enough = ours.len().min(theirs.len()) >= SESSIONS_MIN;
                enough.then(|| (ends(ours), ends(theirs)))
            }
            _ => None,
        };
        let interval = ranges.map(|((low, high), (other_low, other_high))| {
            let spread = match self {
                Rates::Processor(..) => 1.0,
                Rates::Elapsed(..) => (high / low).max(other_high / other_low),
            };
            let apart = spread.max(1.0 + BAND);
            // The ratio of all rounds can lie outside.
            ((low / other_high / apart).min(value), (high / other_low * apart).max(value))
        });
        Figure { value, interval }
    }
}

/// Returns the rates of a series, by its rule; as stated, if a publication gives no samples.
fn rates(record: &Record, series: &Series) -> Option<Rates> {
    let curve = Curve::of(series);
    let (rate, known) = (curve.rate?.value, curve.rates_of_rounds());
    let rates_of = |of: &[(u32, f64)]| of.iter().map(|(_, rate)| *rate).collect::<Vec<f64>>();
    if series.is_by_processor_time() && series.stated.is_none() {
        let rates = rates_of(&known);
        let fastest = rates.iter().copied().fold(0.0, f64::max);
        return Some(Rates::Processor(fastest, stats::fastest(&rates, BAND)));
    }
    let sessions =
        known.chunk_by(|one, other| record.session_of(one.0) == record.session_of(other.0));
    Some(Rates::Elapsed(rate, sessions.filter_map(|of| median(&rates_of(of))).collect()))
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
