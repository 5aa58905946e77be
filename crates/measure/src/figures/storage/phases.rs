//! Phases of one rate, and the steps between them with a cause where there is evidence.
//!
//! A full cache and a hot disk look alike in the rates. They differ in whether idling restores the
//! rate, whether the step comes after the same number of bytes each time, and in the rate of
//! hashing in memory meanwhile.

use std::ops::Range;

use super::point;
use crate::record::{Record, Sample, Series, Stage};
use crate::stats::{self, Cause, Change, Direction, Evidence, Point};

/// A gap between two files in which a disk can settle, in nanoseconds.
const IDLE_NS_MIN: u64 = 2_000_000_000;

/// A rate has recovered if it is at least this share of the former one.
const RECOVERED: f64 = 0.9;

/// Files after a gap that must be as fast as before, for the rate to count as recovered.
const FILES_SEEN_MIN: usize = 3;

/// A part of a series in which the rate did not step.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its files among those that count, by index.
    pub files: Range<usize>,
    /// Bytes of the series before it.
    pub from_bytes: u64,
    /// Bytes in it.
    pub bytes: u64,
    /// Its bytes ÷ its time.
    pub rate_overall_per_s: f64,
    /// Rate of its line, if its files have more than one length.
    pub rate_per_s: Option<f64>,
}

/// A step of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseStep {
    /// Bytes of the series before it.
    pub at_bytes: u64,
    /// Rate after it ÷ rate before it, corrected for the lengths of files.
    pub ratio: f64,
    /// Its cause, if there is evidence.
    pub cause: Cause,
    /// The evidence.
    pub evidence: Evidence,
}

/// Finds phases and steps. Both are empty if a file took no time.
pub(super) fn of(
    record: &Record,
    series: &Series,
    samples: &[&Sample],
    points: &[Point],
    core: &[&Series],
) -> (Vec<Phase>, Vec<PhaseStep>) {
    let Some(found) = stats::segments(points) else { return (Vec::new(), Vec::new()) };
    let phase = |segment: &stats::Segment| Phase {
        files: segment.range.clone(),
        from_bytes: segment.amount_before as u64,
        bytes: segment.amount as u64,
        rate_overall_per_s: segment.rate_overall_per_s,
        rate_per_s: segment.line.and_then(|line| line.rate_per_s()),
    };
    let phases: Vec<Phase> = found.segments.iter().map(phase).collect();
    let beside = PhaseEvidence { record, series, samples, points, core };
    let mut earlier: Vec<f64> = Vec::new();
    let step = |(index, change): (usize, &Change)| {
        let (before, after) = (&phases[index].files, &phases[index + 1].files);
        let mut evidence = beside.evidence(before, after);
        // Bytes since the last rest are in a disk's cache.
        let since_idle = beside.bytes_since_idle(change.index);
        if change.ratio < 1.0 {
            let near = |&amount: &f64| (amount - since_idle).abs();
            evidence.earlier_at_amount =
                earlier.iter().copied().min_by(|a, b| near(a).total_cmp(&near(b)));
            earlier.push(since_idle);
        }
        let seen = Change { at_amount: since_idle, ..*change };
        PhaseStep {
            at_bytes: change.at_amount as u64,
            ratio: change.ratio,
            cause: stats::cause(&seen, &evidence),
            evidence,
        }
    };
    let mut steps: Vec<PhaseStep> = found.changes.iter().enumerate().map(step).collect();
    name_first_of_many(&beside, &found.changes, &mut steps);
    (phases, steps)
}

/// Gives the first step the cause of later ones at the same place, because it had no earlier step
/// to compare with.
fn name_first_of_many(beside: &PhaseEvidence<'_>, changes: &[Change], steps: &mut [PhaseStep]) {
    let Some(named) = steps.iter().position(|step| step.cause == Cause::CacheExhausted) else {
        return;
    };
    let amount = beside.bytes_since_idle(changes[named].index);
    for index in 0..named {
        let mut evidence = steps[index].evidence;
        if changes[index].ratio < 1.0 && evidence.earlier_at_amount.is_none() {
            evidence.earlier_at_amount = Some(amount);
            let since_idle = beside.bytes_since_idle(changes[index].index);
            let seen = Change { at_amount: since_idle, ..changes[index] };
            steps[index].cause = stats::cause(&seen, &evidence);
            steps[index].evidence = evidence;
        }
    }
}

/// Measurements beside the files.
struct PhaseEvidence<'a> {
    record: &'a Record,
    series: &'a Series,
    samples: &'a [&'a Sample],
    points: &'a [Point],
    core: &'a [&'a Series],
}

impl PhaseEvidence<'_> {
    fn evidence(&self, before: &Range<usize>, after: &Range<usize>) -> Evidence {
        let direction = match self.series.factors.stage {
            Some(Stage::Write) => Direction::Write,
            _ => Direction::Read,
        };
        let of_two =
            |figure: &dyn Fn(&Range<usize>) -> Option<f64>| Some((figure(before)?, figure(after)?));
        let ratio = |(before, after): (f64, f64)| after / before;
        let rise = |(before, after): (f64, f64)| after - before;
        Evidence {
            in_core_ratio: of_two(&|files| self.core_rate(files)).map(ratio),
            frequency_ratio: of_two(&|files| {
                self.median_of(files, |beside| beside.frequency_khz.map(|khz| khz as f64))
            })
            .map(ratio),
            temperature_rise_k: of_two(&|files| {
                let of = |beside: &crate::record::Beside| {
                    beside.temperature_millidegrees.map(|degrees| degrees as f64 / 1e3)
                };
                self.median_of(files, of)
            })
            .map(rise),
            load_rise: of_two(&|files| self.share_of(files, |beside| beside.others_ns)).map(rise),
            steal_rise: of_two(&|files| {
                let share = self.share_of(files, |beside| beside.stolen_ns)?;
                Some(share / f64::from(self.record.machine.logical_cpus.max(1)))
            })
            .map(rise),
            recovered_after_idle: self.recovered(before, after),
            ..Evidence::none(direction)
        }
    }

    /// Returns the median rate of hashing in memory while these files were timed.
    fn core_rate(&self, files: &Range<usize>) -> Option<f64> {
        let (first, last) = (self.samples[files.start], self.samples[files.end - 1]);
        // Hashing follows each file.
        let until = match self.samples.get(files.end) {
            Some(next) => next.start_ns,
            None => last.start_ns + last.elapsed_ns + IDLE_NS_MIN,
        };
        let within = |sample: &&Sample| (first.start_ns..until).contains(&sample.start_ns);
        let samples = self.core.iter().flat_map(|series| &series.samples).filter(within);
        stats::median(&samples.map(|sample| point(sample).rate_per_s()).collect::<Vec<f64>>())
    }

    fn median_of(
        &self,
        files: &Range<usize>,
        figure: impl Fn(&crate::record::Beside) -> Option<f64>,
    ) -> Option<f64> {
        let besides = self.samples[files.clone()].iter().filter_map(|sample| sample.beside);
        stats::median(&besides.filter_map(|beside| figure(&beside)).collect::<Vec<f64>>())
    }

    /// Returns a time measured beside these files ÷ their own time, if it was measured for all of
    /// them.
    fn share_of(
        &self,
        files: &Range<usize>,
        figure: impl Fn(&crate::record::Beside) -> Option<u64>,
    ) -> Option<f64> {
        let samples = &self.samples[files.clone()];
        let taken: Option<u64> =
            samples.iter().map(|sample| sample.beside.as_ref().and_then(&figure)).sum();
        let elapsed: u64 = samples.iter().map(|sample| sample.elapsed_ns).sum();
        Some(taken? as f64 / elapsed as f64)
    }

    /// Returns whether a pause before a file was long enough for a disk to settle.
    fn is_after_idle(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|before| self.samples[before]) else {
            return false;
        };
        let end_ns = before.start_ns + before.elapsed_ns;
        self.samples[index].start_ns.saturating_sub(end_ns) >= IDLE_NS_MIN
    }

    /// Returns the bytes of the series before a file, since the last rest.
    fn bytes_since_idle(&self, index: usize) -> f64 {
        let since = (0..=index).rev().find(|&index| self.is_after_idle(index)).unwrap_or(0);
        // A step directly after a rest has no bytes before it: the rest restored the rate.
        self.points[since..index].iter().map(|point| point.amount).sum()
    }

    /// Returns whether files after the next rest were as fast as those before the step.
    fn recovered(&self, before: &Range<usize>, after: &Range<usize>) -> Option<bool> {
        let rest = (after.start + 1..self.samples.len()).find(|&at| self.is_after_idle(at))?;
        let line = stats::robust(&self.points[before.clone()])?;
        let fresh = &self.points[rest..(rest + FILES_SEEN_MIN).min(self.points.len())];
        if fresh.len() < FILES_SEEN_MIN {
            return None;
        }
        let ratios: Vec<f64> =
            fresh.iter().map(|point| line.time_s(point.amount) / point.time_s).collect();
        Some(stats::median(&ratios)? >= RECOVERED)
    }
}
