//! Compares two records, series by series.
//!
//! Series with the same factors and unit are compared by the rates that the sections of the page
//! show. The records were made at different times, so what disturbed one of them may have lasted
//! for all of it: a session is one sample, however many rounds it has.

use super::hash::Figure;
use super::storage;
use crate::record::{Factors, Record, Sample, Series, Unit, Workload};
use crate::stats::{self, Finding, Point, median, rates_of_rounds};

/// How far rates by processor time of two sessions of one machine lie apart, as a share. The place
/// of code and data in memory, which each process has anew, makes as much.
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
    /// Rate in the first record, in units per second.
    pub one_per_s: f64,
    /// The same in the second.
    pub other_per_s: f64,
    /// First ÷ second, with its range by processor time; by elapsed time there is one only with
    /// [`SESSIONS_MIN`] sessions on both sides.
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
        let ratio = ours.by(&theirs).filter(|ratio| ratio.value.is_finite())?;
        Some(Compared {
            workload: series.workload,
            label: series.label.clone(),
            unit: series.unit,
            one_per_s: ours.rate,
            other_per_s: theirs.rate,
            ratio,
            by_processor_time: ours.by_processor_time && theirs.by_processor_time,
        })
    });
    compared.collect()
}

/// Returns the ratio of a series to that of another record.
pub(super) fn ratio(
    (one, series): (&Record, &Series),
    (other, of): (&Record, &Series),
) -> Option<Figure> {
    rates(one, series)?.by(&rates(other, of)?)
}

/// The rate of a series, and what stands for its uncertainty.
struct Rates {
    rate: f64,
    by_processor_time: bool,
    /// By processor time, the rates of rounds; otherwise those of sessions.
    samples: Vec<f64>,
}

impl Rates {
    /// Returns the ratio of two rates.
    ///
    /// Its interval reaches from the slowest sample of this side ÷ the fastest of the other to the
    /// opposite, and is wider by what lies between sessions: by processor time [`BAND`], by elapsed
    /// time the spread between the sessions of a side. By processor time only the faster half of
    /// the rounds counts: another program in the other half of a core takes up to a third of the
    /// rate of some rounds, and nothing makes a round faster.
    fn by(&self, other: &Rates) -> Option<Figure> {
        let value = self.rate / other.rate;
        let by_processor_time = self.by_processor_time && other.by_processor_time;
        let enough = |rates: &Rates| match by_processor_time {
            true => rates.samples.len() >= stats::ROUNDS_MIN,
            false => !rates.by_processor_time && rates.samples.len() >= SESSIONS_MIN,
        };
        let interval = || {
            let ((low, high), (other_low, other_high)) = (
                range(&self.samples, by_processor_time)?,
                range(&other.samples, by_processor_time)?,
            );
            let spread = (high / low).max(other_high / other_low);
            let apart = if by_processor_time { 1.0 + BAND } else { spread.max(1.0 + BAND) };
            // The ratio of all rounds can lie outside.
            let (least, most) = (low / other_high / apart, high / other_low * apart);
            Some((least.min(value), most.max(value)))
        };
        let interval = (enough(self) && enough(other)).then(interval).flatten();
        Some(Figure { value, interval })
    }
}

/// Returns the least and the greatest of some rates, or of the faster half of them.
fn range(samples: &[f64], faster_half: bool) -> Option<(f64, f64)> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let first = if faster_half { sorted.len() / 2 } else { 0 };
    Some((*sorted.get(first)?, *sorted.last()?))
}

/// Returns the rates of a series; as stated, if a publication gives no samples.
fn rates(record: &Record, series: &Series) -> Option<Rates> {
    let by_processor_time = series.is_by_processor_time();
    if let Some(stated) = series.stated {
        return Some(Rates {
            rate: stated.per_second,
            by_processor_time: false,
            samples: Vec::new(),
        });
    }
    let counting: Vec<&Sample> = match series.workload {
        Workload::Read | Workload::Write => storage::analysed(series),
        _ => series.counting().collect(),
    };
    let rounds: Vec<&[&Sample]> =
        counting.chunk_by(|one, other| one.round == other.round).collect();
    let point = |sample: &&Sample| Point::of(sample.amount, series.time_ns(sample) as u64);
    let points: Vec<Vec<Point>> =
        rounds.iter().map(|round| round.iter().map(point).collect()).collect();
    let (rate, of_rounds) = rates_of_rounds(&points)?;
    let known = rounds.iter().zip(of_rounds);
    let known: Vec<(u32, f64)> =
        known.filter_map(|(round, rate)| Some((round.first()?.round, rate?))).collect();
    let samples = match by_processor_time {
        true => known.into_iter().map(|(_, rate)| rate).collect(),
        false => {
            let sessions =
                known.chunk_by(|one, other| record.session_of(one.0) == record.session_of(other.0));
            let session =
                |of: &[(u32, f64)]| median(&of.iter().map(|(_, rate)| *rate).collect::<Vec<f64>>());
            sessions.filter_map(session).collect()
        }
    };
    Some(Rates { rate, by_processor_time, samples })
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
