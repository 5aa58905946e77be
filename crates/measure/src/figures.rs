//! Figures that are derived from a record on reading: rates with intervals, and ratios.
//!
//! Every workload has its figures in one form: a [`Curve`] for each series, which has the one rate
//! that all pages show. Plain numbers in base units; empty if the record has no series of a
//! workload. [`hosts`] and [`compare`] take several records. Pure: the same record gives the same
//! figures.

pub mod cipher;
pub mod compare;
pub mod cpu;
pub mod hash;
pub mod hosts;
pub mod pair;
pub mod queue;
pub mod storage;

use crate::record::{Factors, Record, Sample, Series, Workload};
use crate::stats::{self, Figure, LineFit, Point, median};

/// A difference in rate that is irrelevant, as a share: up to this, sides count as alike.
pub const MARGIN: f64 = 0.02;

/// A series with its figures: time by amount, in the unit and at the level of the series.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve<'a> {
    /// What was measured.
    pub series: &'a Series,
    /// What it differs in from the others.
    pub factors: &'a Factors,
    /// How its rate is found.
    pub rule: Rule,
    /// The rate of the series in its unit per second, by its rule.
    pub rate: Option<Figure>,
    /// Time by amount, where amounts differ by intention.
    pub fit: Option<LineFit>,
    /// The samples from which the figures are derived, in order.
    pub points: Vec<TimedPoint>,
}

/// A sample of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedPoint {
    /// Its round.
    pub round: u32,
    /// Its amount and its time.
    pub point: Point,
    /// When it began, in seconds after the record's beginning.
    pub start_s: f64,
    /// The amount of the series before it.
    pub before: u64,
}

/// How the rate of a series is found. This is the one place that decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// As a publication states it.
    Stated,
    /// 1 ÷ the slope of the line of time by amount.
    Line,
    /// All amounts ÷ all times.
    Overall,
    /// The median of the samples.
    Median,
}

impl Rule {
    /// Returns the rule of a series.
    pub fn of(series: &Series) -> Rule {
        let mut amounts = series.counting().map(|sample| sample.amount);
        let first = amounts.next();
        let is_by_size = match series.workload {
            Workload::Read | Workload::Write => true,
            // Runs of one file each, or such messages in memory.
            Workload::Hash => {
                series.factors.engine.is_some()
                    && series.counting().all(|sample| sample.files.is_none())
            }
            _ => false,
        };
        match series.workload {
            _ if series.stated.is_some() => Rule::Stated,
            _ if is_by_size && amounts.any(|amount| Some(amount) != first) => Rule::Line,
            Workload::Read | Workload::Write => Rule::Overall,
            _ => Rule::Median,
        }
    }
}

impl<'a> Curve<'a> {
    /// Derives the figures of a series.
    pub fn of(series: &'a Series) -> Curve<'a> {
        let mut before = 0;
        let points = counting(series).into_iter().map(|sample| {
            let amount_before = before;
            before += sample.amount;
            TimedPoint {
                round: sample.round,
                point: Point::of(sample.amount, series.time_ns(sample) as u64),
                start_s: sample.start_ns as f64 / 1e9,
                before: amount_before,
            }
        });
        let points = points.collect();
        let (factors, rule) = (&series.factors, Rule::of(series));
        let mut curve = Curve { series, factors, rule, rate: None, fit: None, points };
        if rule == Rule::Line {
            curve.fit = LineFit::of_rounds(&curve.rounds());
        }
        curve.rate = match (rule, &curve.fit) {
            (Rule::Line, Some(fit)) => fit.rate_per_s,
            (Rule::Line | Rule::Overall, _) => curve.overall(),
            (Rule::Stated, _) => {
                series.stated.map(|stated| Figure { value: stated.per_second, interval: None })
            }
            (Rule::Median, _) => {
                let rates = series.counting().map(|sample| series.per_second(sample));
                Figure::of_rounds(&rates.collect::<Vec<f64>>())
            }
        };
        curve
    }

    /// Returns the points by rounds.
    pub fn rounds(&self) -> Vec<Vec<Point>> {
        let rounds = self.points.chunk_by(|one, other| one.round == other.round);
        rounds.map(|round| round.iter().map(|timed| timed.point).collect()).collect()
    }

    /// Returns the rate of each round by the rule of the series, without rounds that have none.
    pub fn rates_of_rounds(&self) -> Vec<(u32, f64)> {
        let rounds = self.points.chunk_by(|one, other| one.round == other.round);
        let rates = rounds.enumerate().filter_map(|(at, round)| {
            let points: Vec<Point> = round.iter().map(|timed| timed.point).collect();
            let rate = match (&self.fit, self.rule) {
                (Some(fit), _) => fit.rates_of_rounds[at]?,
                (None, Rule::Median) => {
                    median(&points.iter().map(|point| point.rate_per_s()).collect::<Vec<f64>>())?
                }
                (None, _) => stats::rate_overall(&points)?,
            };
            Some((round[0].round, rate))
        });
        rates.collect()
    }

    /// Returns all amounts ÷ all times.
    pub fn overall(&self) -> Option<Figure> {
        let rounds = self.rounds();
        let of_rounds: Option<Vec<f64>> =
            rounds.iter().map(|round| stats::rate_overall(round)).collect();
        Some(Figure::from_rounds(stats::rate_overall(&rounds.concat())?, &of_rounds?))
    }

    /// Returns the rate as a number, 0 if there is none.
    pub fn per_second(&self) -> f64 {
        self.rate.map_or(0.0, |rate| rate.value)
    }

    /// Returns the sum of the amounts.
    pub fn amount(&self) -> u64 {
        self.points.last().map_or(0, |last| last.before + last.point.amount as u64)
    }

    /// Returns the least and the greatest amount of a sample.
    pub fn amounts(&self) -> (f64, f64) {
        let amounts = || self.points.iter().map(|timed| timed.point.amount);
        (amounts().fold(f64::INFINITY, f64::min), amounts().fold(0.0, f64::max))
    }

    /// Returns the median over rounds of this series' rate ÷ another's.
    pub fn ratio(&self, other: &Curve<'_>) -> Option<Figure> {
        let of = |(sample, of)| self.series.per_second(sample) / other.series.per_second(of);
        Figure::of_rounds(&self.series.paired(other.series).map(of).collect::<Vec<f64>>())
    }

    /// Returns the elapsed time beside a rate by processor time.
    pub fn elapsed(&self) -> Option<Elapsed> {
        let (series, by_processor) = (self.series, self.series.is_by_processor_time());
        let samples = || series.counting().filter(|_| by_processor);
        let waited =
            |sample: &Sample| (1.0 - series.time_ns(sample) / sample.elapsed_ns as f64).max(0.0);
        let rates: Vec<f64> = samples().map(Sample::per_second).collect();
        let waited: Vec<f64> = samples().map(waited).collect();
        Some(Elapsed { per_second: median(&rates)?, waited: median(&waited)? })
    }

    /// Returns the name of the algorithm.
    pub fn algorithm(&self) -> &'a str {
        self.factors.algorithm.as_deref().unwrap_or_default()
    }

    /// Returns the name of what computed it.
    pub fn backend(&self) -> &'a str {
        self.factors.backend.as_deref().unwrap_or_default()
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> u32 {
        self.factors.threads.unwrap_or(1)
    }
}

/// Returns the fastest of some curves.
pub fn fastest<'c, 'a>(curves: impl Iterator<Item = &'c Curve<'a>>) -> Option<&'c Curve<'a>>
where
    'a: 'c,
{
    curves.max_by(|one, other| one.per_second().total_cmp(&other.per_second()))
}

/// The elapsed time beside a rate by processor time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elapsed {
    /// Median rate by elapsed time, in units per second.
    pub per_second: f64,
    /// Median share of the elapsed time for which the threads waited for a processor.
    pub waited: f64,
}

/// Derives the figures of every series of a workload that has a rate, in the order of the record.
pub fn curves(record: &Record, workload: Workload) -> Vec<Curve<'_>> {
    let series = record.series.iter().filter(|series| series.workload == workload);
    series.map(Curve::of).filter(|curve| curve.rate.is_some() || curve.fit.is_some()).collect()
}

/// Returns the samples that count: of files, those that are not too short to tell of bytes.
fn counting(series: &Series) -> Vec<&Sample> {
    match series.workload {
        Workload::Read | Workload::Write => storage::analysed(series),
        _ => series.counting().collect(),
    }
}
