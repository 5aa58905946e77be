//! The pace of a schedule: how many bytes a run reads so that every byte is read within the cover.

use std::path::Path;

use steadfast::Options;
use steadfast::VerbKind;
use steadfast::catalogue::{Catalogue, RunState};

use crate::error::Error;
use crate::schedule::CheckSchedule;

/// Share of the cover that is planned. The rest is slack for skipped nights and growth.
const PLANNED_SHARE: f64 = 0.8;

/// Returns how many bytes a run reads: the part of `total_bytes` for the time since the last run.
///
/// After skipped nights, a run therefore reads what these would have read. Files are read the
/// longest-unchecked first, so every byte comes round within the cover while runs keep this pace.
/// Without an earlier run, `elapsed_s` is that of the interval.
pub fn bytes_due(total_bytes: u64, elapsed_s: i64, cover_s: i64) -> u64 {
    let share = elapsed_s.max(0) as f64 / (cover_s.max(1) as f64 * PLANNED_SHARE);
    let bytes = total_bytes as f64 * share.min(1.0);
    (bytes.ceil() as u64).clamp(1, total_bytes.max(1))
}

/// The latest runs of a catalogue that are read for the rate of earlier checks.
const RUNS_READ: u32 = 64;

/// The least bytes of a check that says something of the rate.
const MEASURED_BYTES_MIN: u64 = 100_000_000;

/// Whether a schedule can reach its cover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverForecast {
    /// Bytes of the folder.
    pub total_bytes: u64,
    /// The rate of earlier checks, if one is known.
    pub bytes_per_s: Option<f64>,
    /// Bytes of each run.
    pub run_bytes: u64,
    /// Seconds of each run at the measured rate; `None` if no rate is known.
    pub run_s: Option<f64>,
    /// Days in which every byte is read, under the limit on time; `None` if no rate is known.
    pub cover_days: Option<f64>,
    /// Whether the cover is reached, as far as is known.
    pub is_reached: bool,
}

impl CoverForecast {
    /// Predicts the runs of a schedule at the rate of earlier checks of its folder.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn of(schedule: &CheckSchedule, catalogue: &Path) -> Result<CoverForecast, Error> {
        let catalogue = Catalogue::open_reader(catalogue)?;
        let audit = catalogue.audit(&[], (Options::default().now)())?;
        let runs = catalogue.runs(i64::MAX, RUNS_READ)?;
        let mut checks = runs
            .iter()
            .filter(|run| run.kind() == Some(VerbKind::Check) && run.state == RunState::Whole);
        let rate = checks.find_map(|run| {
            let seconds = run.latest.seconds - run.started.seconds;
            let is_measured = run.bytes > MEASURED_BYTES_MIN && seconds > 0;
            is_measured.then(|| run.bytes as f64 / seconds as f64)
        });
        let interval_s = schedule.every.interval_s();
        Ok(forecast(audit.bytes, interval_s, schedule.cover_s(), rate, schedule.max_time_s))
    }
}

/// Predicts runs over `total_bytes`, one every `interval_s` seconds.
///
/// `bytes_per_s` is the rate of earlier checks, and `max_time_s` the limit of a run.
pub fn forecast(
    total_bytes: u64,
    interval_s: i64,
    cover_s: i64,
    bytes_per_s: Option<f64>,
    max_time_s: Option<u64>,
) -> CoverForecast {
    let run_bytes = bytes_due(total_bytes, interval_s, cover_s);
    let rate = bytes_per_s.filter(|rate| *rate > 0.0);
    let run_s = rate.map(|rate| run_bytes as f64 / rate);
    let days_of_runs = |runs: f64| runs.max(1.0) * interval_s as f64 / 86_400.0;
    let cover_days = rate.map(|rate| {
        let limited = max_time_s
            .map_or(run_bytes as f64, |limit| (limit as f64 * rate).min(run_bytes as f64));
        days_of_runs((total_bytes as f64 / limited.max(1.0)).ceil())
    });
    let is_reached = cover_days.is_none_or(|days| days * 86_400.0 <= cover_s as f64);
    CoverForecast { total_bytes, bytes_per_s: rate, run_bytes, run_s, cover_days, is_reached }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_S: i64 = 86_400;

    #[test]
    fn a_run_reads_its_part_and_makes_up_for_skipped_nights() {
        let night = bytes_due(3_000, DAY_S, 30 * DAY_S);
        assert!((100..130).contains(&night), "{night}");
        assert!(bytes_due(3_000, 4 * DAY_S, 30 * DAY_S).abs_diff(4 * night) <= 4);
        assert_eq!(bytes_due(3_000, 90 * DAY_S, 30 * DAY_S), 3_000, "never more than there is");
        assert_eq!(bytes_due(3_000, -5, 30 * DAY_S), 1, "the clock was set back");
        assert_eq!(bytes_due(0, DAY_S, 30 * DAY_S), 1);
    }

    #[test]
    fn a_limit_that_is_too_short_is_told() {
        let terabytes = 11_200_000_000_000;
        let limit =
            |minutes: u64| forecast(terabytes, DAY_S, 30 * DAY_S, Some(132e6), Some(minutes * 60));
        let enough = limit(60);
        assert!(enough.is_reached, "{enough:?}");
        assert!((50.0..60.0).contains(&(enough.run_s.unwrap() / 60.0)), "{enough:?}");
        let short = limit(30);
        assert!(!short.is_reached, "{short:?}");
        assert!((45.0..49.0).contains(&short.cover_days.unwrap()), "{short:?}");
        let unknown = forecast(terabytes, DAY_S, 30 * DAY_S, None, Some(1));
        assert!(unknown.is_reached && unknown.cover_days.is_none());
    }
}
