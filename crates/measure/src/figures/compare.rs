//! Compares two records, series by series.
//!
//! Series with the same factors and unit are compared by the rates that the sections of the page
//! show: fitted rates where lengths differ, medians otherwise. The records were made at different
//! times, so the intervals include the spread of both.

use super::MARGIN;
use super::hash::Figure;
use super::storage;
use crate::record::{Factors, Record, Sample, Series, Unit, Workload};
use crate::stats::{self, Finding, Point, RatesApart, Ratios, level_of_found, rates_apart};

/// A series that two records have.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The workload that measured it.
    pub workload: Workload,
    /// Its label in the first record.
    pub label: String,
    /// The unit.
    pub unit: Unit,
    /// Rate in the first record, in units per second.
    pub one_per_s: f64,
    /// The same in the second.
    pub other_per_s: f64,
    /// First ÷ second.
    pub ratio: Figure,
    /// First ÷ second by processor time, where the processor is what was measured. Other programs
    /// change it less than the ratio by wall time.
    pub ratio_by_cpu_time: Option<Figure>,
}

impl Compared {
    /// Returns whether the first is faster or slower, as far as its interval tells.
    pub fn finding(&self) -> Finding {
        stats::finding(self.ratio.interval.as_ref(), MARGIN)
    }
}

/// Compares the series that two records have in common, in the order of the first.
///
/// All intervals have one level, by [`level_of_found`]: a page claims a difference where there is
/// none in 5 of 100 cases, however many series it has.
pub fn of(one: &Record, other: &Record) -> Vec<Compared> {
    let pairs = one.series.iter().zip(partners(one, other));
    let pairs = pairs.filter_map(|(series, partner)| SeriesPair::of(series, partner?));
    let pairs: Vec<SeriesPair<'_>> = pairs.collect();
    let measured = pairs.iter().flat_map(|pair| [&pair.ratios, &pair.by_cpu_time]).flatten();
    let level = level_of_found(&measured.map(Ratios::chance).collect::<Vec<f64>>());
    pairs.into_iter().map(|pair| pair.at(level)).collect()
}

/// A series of each record, before it is known at which level they are compared.
struct SeriesPair<'a> {
    series: &'a Series,
    one_per_s: f64,
    other_per_s: f64,
    ratios: Option<Ratios>,
    by_cpu_time: Option<Ratios>,
}

impl<'a> SeriesPair<'a> {
    fn of(series: &'a Series, partner: &Series) -> Option<SeriesPair<'a>> {
        let (one_per_s, other_per_s, ratios) = match (series.stated, partner.stated) {
            (None, None) => {
                let found = rates([series, partner], |sample| Some(sample.elapsed_ns))?;
                (found.one_per_s, found.other_per_s, found.ratios)
            }
            _ => {
                let rate = |series| Figure::rate_of(series).map(|rate| rate.value);
                (rate(series)?, rate(partner)?, None)
            }
        };
        let by_processor =
            matches!(series.workload, Workload::Hash | Workload::Cipher | Workload::Cpu);
        let by_cpu_time = || rates([series, partner], |sample| sample.cpu_ns)?.ratios;
        let by_cpu_time = by_processor.then(by_cpu_time).flatten();
        let finite = (one_per_s / other_per_s).is_finite();
        finite.then_some(SeriesPair { series, one_per_s, other_per_s, ratios, by_cpu_time })
    }

    fn at(self, level: f64) -> Compared {
        let interval = |ratios: &Ratios| ratios.interval(level);
        Compared {
            workload: self.series.workload,
            label: self.series.label.clone(),
            unit: self.series.unit,
            one_per_s: self.one_per_s,
            other_per_s: self.other_per_s,
            ratio: Figure {
                value: self.one_per_s / self.other_per_s,
                interval: self.ratios.as_ref().and_then(interval),
            },
            ratio_by_cpu_time: self
                .by_cpu_time
                .map(|ratios| Figure { value: ratios.point(), interval: interval(&ratios) }),
        }
    }
}

/// Returns the rates of two measured series by the time that `time_ns` returns.
fn rates(sides: [&Series; 2], time_ns: impl Fn(&Sample) -> Option<u64>) -> Option<RatesApart> {
    let [ours, theirs] = sides.map(|series| rounds(series, &time_ns));
    rates_apart([&ours?, &theirs?])
}

/// Returns amounts and times by rounds; `None` if a sample has no such time.
fn rounds(series: &Series, time_ns: impl Fn(&Sample) -> Option<u64>) -> Option<Vec<Vec<Point>>> {
    let samples: Vec<&Sample> = match series.workload {
        Workload::Read | Workload::Write => storage::analysed(series),
        _ => series.counting().collect(),
    };
    let point = |sample: &&Sample| {
        let time_ns = time_ns(sample).filter(|&time_ns| time_ns > 0)?;
        Some(Point::of(sample.amount, time_ns))
    };
    let rounds = samples.chunk_by(|one, other| one.round == other.round);
    rounds.map(|round| round.iter().map(point).collect()).collect()
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
