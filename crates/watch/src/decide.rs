//! Decides what a schedule does now. Pure.
//!
//! Takes the facts of the moment; returns the limits of a run, or why there is none.

use steadfast_sys::file::age_s;
use strum::{Display, IntoStaticStr};

use crate::pace::bytes_due;
use crate::schedule::CheckSchedule;

/// Load for each processor above which a run waits.
const LOAD_MAX: f64 = 1.5;

/// Seconds by which a run may be early: at most a quarter of a day. A timer that fires early by an
/// hour, as at the end of summer time, still counts; one at another time of day does not.
const EARLY_S: i64 = 6 * 3_600;

/// Seconds without a run after which battery and load no longer prevent one: at most a week, less a
/// quarter of a day for timers that vary. A weekly or monthly run is therefore never put off: its
/// timer would start it again only after another week or month.
const PATIENCE_S: i64 = 7 * 86_400 - 6 * 3_600;

/// Whether the folder is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mounted {
    /// The folder is on the volume of its catalogue.
    Yes,
    /// It is not there, or on another volume. The text says why.
    No(String),
    /// That cannot be told, because it or its catalogue cannot be read. The text says why.
    Unknown(String),
}

/// The facts of the moment.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Seconds since 1970.
    pub now_s: i64,
    /// When the last completed run began, in seconds since 1970; `None` if there was none.
    pub last_run_s: Option<i64>,
    /// When the schedule was made, in seconds since 1970.
    pub made_s: i64,
    /// Whether the folder is there.
    pub mounted: Mounted,
    /// Whether the machine runs on its battery, if that is known.
    pub on_battery: Option<bool>,
    /// Load average for each processor, if known.
    pub load: Option<f64>,
    /// Whether another run of the schedule is in progress.
    pub in_progress: bool,
    /// Bytes of all tagged files in the catalogue.
    pub total_bytes: u64,
    /// Whether the user asked for the run, so that it does not wait.
    pub forced: bool,
}

/// Why a schedule does nothing now.
#[derive(Clone, Debug, PartialEq, Eq, Display, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum SkipReason {
    /// It ran not long ago.
    #[strum(to_string = "not due yet")]
    NotDue,
    /// Another run of it is in progress.
    #[strum(to_string = "another run is in progress")]
    InProgress,
    /// The folder is not there.
    #[strum(to_string = "not mounted: {0}")]
    NotMounted(String),
    /// The folder cannot be judged.
    #[strum(to_string = "it cannot be judged: {0}")]
    Unknown(String),
    /// The machine runs on its battery.
    #[strum(to_string = "on battery")]
    Battery,
    /// The machine is busy.
    #[strum(to_string = "the machine is busy")]
    Busy,
}

/// What a schedule does now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleDecision {
    /// Check the longest-unchecked files.
    Run {
        /// Bytes to read at most, beyond the first file.
        max_bytes: u64,
        /// Seconds after which the run ends; `None` for no limit.
        max_time_s: Option<u64>,
    },
    /// Do nothing.
    Skip(SkipReason),
}

/// Decides what a schedule does now.
///
/// A folder that is not there is never judged. Battery and load only delay a run: after a week, or
/// a tenth of the cover, without one, it is made all the same.
pub fn decide(schedule: &CheckSchedule, conditions: &Conditions) -> ScheduleDecision {
    let skip = ScheduleDecision::Skip;
    let interval_s = schedule.every.interval_s();
    let since_s = conditions.last_run_s.and_then(|last_s| age_s(last_s, conditions.now_s));
    let waited_s = since_s.or_else(|| age_s(conditions.made_s, conditions.now_s));
    if conditions.in_progress {
        return skip(SkipReason::InProgress);
    }
    match &conditions.mounted {
        Mounted::Yes => {}
        Mounted::No(why) => return skip(SkipReason::NotMounted(why.clone())),
        Mounted::Unknown(why) => return skip(SkipReason::Unknown(why.clone())),
    }
    if !conditions.forced {
        if since_s.is_some_and(|since_s| since_s < schedule.every.shortest_s() - EARLY_S) {
            return skip(SkipReason::NotDue);
        }
        // The slack of the cover must not be waited for: other nights are lost too.
        let patience_s = PATIENCE_S.min(schedule.cover_s() / 10);
        let patient = waited_s.is_some_and(|waited_s| waited_s < patience_s);
        if patient && conditions.on_battery == Some(true) {
            return skip(SkipReason::Battery);
        }
        if patient && conditions.load.is_some_and(|load| load > LOAD_MAX) {
            return skip(SkipReason::Busy);
        }
    }
    let elapsed_s = waited_s.unwrap_or_default().max(interval_s);
    let max_bytes = bytes_due(conditions.total_bytes, elapsed_s, schedule.cover_s());
    ScheduleDecision::Run { max_bytes, max_time_s: schedule.max_time_s }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Every;

    const DAY_S: i64 = 86_400;
    const NOW_S: i64 = 20_000 * DAY_S;

    fn schedule() -> CheckSchedule {
        let made_s = NOW_S - 100 * DAY_S;
        CheckSchedule { max_time_s: Some(7_200), made_s, ..CheckSchedule::sample() }
    }

    fn fine() -> Conditions {
        Conditions {
            now_s: NOW_S,
            last_run_s: Some(NOW_S - DAY_S),
            made_s: NOW_S - 100 * DAY_S,
            mounted: Mounted::Yes,
            on_battery: Some(false),
            load: Some(0.1),
            in_progress: false,
            total_bytes: 1_000_000,
            forced: false,
        }
    }

    /// From one start of a timer to the next are 28 to 31 days, an hour more or less.
    #[test]
    fn a_check_every_month_is_made_every_month() {
        for every in [Every::Week, Every::Month] {
            let schedule = CheckSchedule { every, cover_days: 31, ..schedule() };
            let days = if every == Every::Week { 7..=7 } else { 28..=31 };
            for since_s in days.flat_map(|days| [-3_600, 0, 3_600].map(|hour| days * DAY_S + hour))
            {
                let conditions = Conditions {
                    last_run_s: Some(NOW_S - since_s),
                    on_battery: Some(true),
                    load: Some(9.0),
                    ..fine()
                };
                let decision = decide(&schedule, &conditions);
                let ScheduleDecision::Run { max_bytes, .. } = decision else {
                    panic!("every {every}, after {since_s} s: {decision:?}")
                };
                let is_all = max_bytes == conditions.total_bytes;
                assert_eq!(is_all, every == Every::Month, "{max_bytes}");
            }
        }
    }

    /// A last run in the future says nothing: the time since the schedule was made counts.
    #[test]
    fn a_clock_that_was_set_back_neither_stops_nor_hurries_a_schedule() {
        let back = Conditions { last_run_s: Some(NOW_S + DAY_S), ..fine() };
        let ScheduleDecision::Run { max_bytes, .. } = decide(&schedule(), &back) else {
            panic!("it is due")
        };
        assert_eq!(max_bytes, back.total_bytes, "as after a hundred days without a run");
        let new = Conditions { made_s: NOW_S - DAY_S, on_battery: Some(true), ..back.clone() };
        assert_eq!(decide(&schedule(), &new), ScheduleDecision::Skip(SkipReason::Battery));
        // If it was made in the future as well, nobody knows how long it has waited.
        let unknown = Conditions { made_s: NOW_S + DAY_S, on_battery: Some(true), ..back };
        let ScheduleDecision::Run { max_bytes, .. } = decide(&schedule(), &unknown) else {
            panic!("it does not wait")
        };
        let night = decide(&schedule(), &fine());
        let ScheduleDecision::Run { max_bytes: of_night, .. } = night else { panic!("{night:?}") };
        assert_eq!(max_bytes, of_night, "as much as in any night");
    }

    #[test]
    fn each_condition_has_its_answer() {
        let not_there = Mounted::No("the volume is another one".into());
        let rows: Vec<(&str, Conditions, Option<SkipReason>)> = vec![
            ("fine", fine(), None),
            ("first", Conditions { last_run_s: None, ..fine() }, None),
            ("unknown power", Conditions { on_battery: None, load: None, ..fine() }, None),
            (
                "an hour ago",
                Conditions { last_run_s: Some(NOW_S - 3_600), ..fine() },
                Some(SkipReason::NotDue),
            ),
            ("23 hours ago", Conditions { last_run_s: Some(NOW_S - 82_800), ..fine() }, None),
            ("clock set back", Conditions { last_run_s: Some(NOW_S + DAY_S), ..fine() }, None),
            ("battery", Conditions { on_battery: Some(true), ..fine() }, Some(SkipReason::Battery)),
            ("busy", Conditions { load: Some(2.0), ..fine() }, Some(SkipReason::Busy)),
            (
                "battery for a week",
                Conditions {
                    on_battery: Some(true),
                    last_run_s: Some(NOW_S - 7 * DAY_S),
                    ..fine()
                },
                None,
            ),
            (
                "busy for a tenth of the cover",
                Conditions { load: Some(9.0), last_run_s: Some(NOW_S - 3 * DAY_S), ..fine() },
                None,
            ),
            (
                "asked for on battery",
                Conditions { on_battery: Some(true), load: Some(9.0), forced: true, ..fine() },
                None,
            ),
            (
                "asked for an hour ago",
                Conditions { last_run_s: Some(NOW_S - 3_600), forced: true, ..fine() },
                None,
            ),
            (
                "not mounted, even if asked for",
                Conditions { mounted: not_there, forced: true, ..fine() },
                Some(SkipReason::NotMounted("the volume is another one".into())),
            ),
            (
                "in progress",
                Conditions { in_progress: true, forced: true, ..fine() },
                Some(SkipReason::InProgress),
            ),
        ];
        for (name, conditions, expected) in rows {
            match (decide(&schedule(), &conditions), expected) {
                (ScheduleDecision::Run { max_time_s, max_bytes }, None) => {
                    assert_eq!(max_time_s, Some(7_200), "{name}");
                    assert!(max_bytes > 30_000, "{name}: {max_bytes}");
                }
                (ScheduleDecision::Skip(reason), Some(expected)) => {
                    assert_eq!(reason, expected, "{name}")
                }
                (decision, expected) => panic!("{name}: {decision:?} instead of {expected:?}"),
            }
        }
    }
}
