//! What files record, as `sys`, which makes system calls, and crates that must not both need it: a
//! time as seconds and nanoseconds since 1970, as one ordered value, and names as bytes.
//!
//! This crate has no calendar, no clock and no dependency.

#![forbid(unsafe_code)]

pub mod names;

/// Nanoseconds in a second.
const SECOND_NS: i128 = 1_000_000_000;

/// A time as seconds and nanoseconds since 1970-01-01T00:00:00 UTC.
///
/// Before 1970 the seconds are negative and the nanoseconds still count forwards, as in `stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Whole seconds, rounded down.
    pub seconds: i64,
    /// Nanoseconds after those seconds, less than 1,000,000,000.
    pub nanoseconds: u32,
}

impl Timestamp {
    /// The earliest time of this type.
    pub const MIN: Self = Self { seconds: i64::MIN, nanoseconds: 0 };
    /// The latest time of this type.
    pub const MAX: Self = Self { seconds: i64::MAX, nanoseconds: 999_999_999 };

    /// Returns the time as nanoseconds since 1970; it always fits.
    #[must_use]
    pub const fn as_nanoseconds(self) -> i128 {
        self.seconds as i128 * SECOND_NS + self.nanoseconds as i128
    }

    /// Makes the time from nanoseconds since 1970; beyond its range, it is [`Timestamp::MIN`] or
    /// [`Timestamp::MAX`].
    #[must_use]
    pub const fn from_nanoseconds(nanoseconds: i128) -> Self {
        if nanoseconds < Self::MIN.as_nanoseconds() {
            return Self::MIN;
        }
        if nanoseconds > Self::MAX.as_nanoseconds() {
            return Self::MAX;
        }
        Self {
            seconds: nanoseconds.div_euclid(SECOND_NS) as i64,
            nanoseconds: nanoseconds.rem_euclid(SECOND_NS) as u32,
        }
    }
}

/// Returns the seconds from a recorded time to the present one; `None` if the recorded one is in
/// the future, because the clock was wrong then. Such a record proves nothing about when something
/// happened, so everything that asks how long ago it was treats it as never.
#[must_use]
pub const fn age_s(recorded_s: i64, now_s: i64) -> Option<i64> {
    if recorded_s > now_s { None } else { Some(now_s.saturating_sub(recorded_s)) }
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, age_s};

    #[test]
    fn a_time_in_the_future_has_no_age() {
        assert_eq!(age_s(10, 10), Some(0));
        assert_eq!(age_s(4, 10), Some(6));
        assert_eq!(age_s(11, 10), None);
        assert_eq!(age_s(i64::MIN, 10), Some(i64::MAX));
    }

    #[test]
    fn nanoseconds_go_there_and_back() {
        for nanoseconds in [
            0,
            1,
            -1,
            999_999_999,
            1_000_000_000,
            -999_999_999,
            -1_000_000_000,
            -1_000_000_001,
            i128::from(i64::MAX),
            i128::from(i64::MIN),
        ] {
            let moment = Timestamp::from_nanoseconds(nanoseconds);
            assert!(moment.nanoseconds < 1_000_000_000, "{moment:?}");
            assert_eq!(moment.as_nanoseconds(), nanoseconds);
        }
    }

    #[test]
    fn one_nanosecond_before_1970_counts_forwards_from_minus_one() {
        let moment = Timestamp::from_nanoseconds(-1);
        assert_eq!(moment, Timestamp { seconds: -1, nanoseconds: 999_999_999 });
    }

    #[test]
    fn order_is_the_order_of_nanoseconds() {
        let nanoseconds = [-1_500_000_000, -1_000_000_000, -1, 0, 1, 1_000_000_000];
        assert!(
            nanoseconds.map(Timestamp::from_nanoseconds).is_sorted(),
            "negative moments must count forwards too"
        );
    }

    #[test]
    fn the_extremes_hold_and_what_is_beyond_stays_there() {
        for extreme in [Timestamp::MIN, Timestamp::MAX] {
            assert_eq!(Timestamp::from_nanoseconds(extreme.as_nanoseconds()), extreme);
        }
        assert_eq!(Timestamp::from_nanoseconds(i128::MIN), Timestamp::MIN);
        assert_eq!(Timestamp::from_nanoseconds(i128::MAX), Timestamp::MAX);
    }
}
