//! Times as text: `2020-04-12 10:11:12 +0000` and its ISO 8601 variants.
//!
//! The form is checked here; the calendar is `jiff`'s. Local time is never used: a text without a
//! zone is accepted only if its format says that it is in UTC.

use jiff::civil::{DateTime, date};
use steadfast_time::Timestamp;

const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);

/// The first and the last second, from 1970, of the years 0 to 9999, which have four digits.
const PRINTABLE_S: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// Reads `YYYY-MM-DD HH:MM:SS` with a zone: `Z`, `+0000` or `+00:00`. A `T` may separate date and
/// time, and a fraction of a second may precede the zone; the fraction is dropped.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let (seconds, zone) = parse_front(text)?;
    let zone = match zone.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => zone,
    };
    Some(Timestamp { seconds: seconds - offset(zone.trim_start_matches(' '))?, nanoseconds: 0 })
}

/// Reads `YYYY-MM-DD HH:MM:SS` in UTC.
pub(crate) fn parse_utc(text: &str) -> Option<Timestamp> {
    let (seconds, rest) = parse_front(text)?;
    rest.is_empty().then_some(Timestamp { seconds, nanoseconds: 0 })
}

/// Prints a time in UTC, to the second. Before the year 0 and after 9999, prints the nearest time
/// that can be read again, because a tag with such a time is damaged or forged.
pub(crate) fn print(time: Timestamp) -> String {
    let seconds = time.seconds.clamp(*PRINTABLE_S.start(), *PRINTABLE_S.end());
    let text = print_utc(seconds).expect("the seconds were brought into range");
    format!("{text} +0000")
}

/// Prints seconds since 1970 as [`parse_utc`] reads them; `None` outside of the years 0 to 9999.
pub(crate) fn print_utc(seconds: i64) -> Option<String> {
    if !PRINTABLE_S.contains(&seconds) {
        return None;
    }
    let time = EPOCH.checked_add(jiff::SignedDuration::from_secs(seconds)).ok()?;
    let (year, month, day) = (time.year(), time.month(), time.day());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    Some(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"))
}

/// Reads date and time. Returns seconds since 1970 as if in UTC, and the rest of the text.
fn parse_front(text: &str) -> Option<(i64, &str)> {
    let (day, rest) = (text.get(..10)?, text.get(10..)?);
    let rest = rest.strip_prefix(['T', ' '])?;
    let (time, rest) = (rest.get(..8)?, rest.get(8..)?);
    let [year, month, day] = fields(day, '-', [4, 2, 2])?;
    let [hour, minute, second] = fields(time, ':', [2, 2, 2])?;
    // A leap second counts as the first of the next minute, as in POSIX.
    let leap = i64::from(second == 60);
    let second = if second == 60 { 59 } else { second as i8 };
    let time =
        DateTime::new(year, month as i8, day as i8, hour as i8, minute as i8, second, 0).ok()?;
    Some((time.duration_since(EPOCH).as_secs() + leap, rest))
}

/// Returns the seconds by which a zone is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let (sign, digits) = match zone.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, zone.strip_prefix('+')?),
    };
    let [hours, minutes] = match digits.contains(':') {
        true => fields(digits, ':', [2, 2])?,
        false => [number(digits.get(..2)?, 2)?, number(digits.get(2..)?, 2)?],
    };
    let seconds = (i64::from(hours) * 60 + i64::from(minutes)) * 60;
    (hours < 24 && minutes < 60).then_some(sign * seconds)
}

/// Splits a text into exactly `N` numbers of given lengths.
fn fields<const N: usize>(text: &str, separator: char, lengths: [usize; N]) -> Option<[i16; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (into, length) in numbers.iter_mut().zip(lengths) {
        *into = number(parts.next()?, length)?;
    }
    parts.next().is_none().then_some(numbers)
}

/// Reads exactly this many digits, at most four.
fn number(digits: &str, length: usize) -> Option<i16> {
    let plain = digits.len() == length && digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i64> {
        parse(text).map(|time| time.seconds)
    }

    #[test]
    fn known_moments() {
        for (text, at) in [
            ("1970-01-01 00:00:00 +0000", 0),
            ("1969-12-31 23:59:59 +0000", -1),
            ("2001-09-09T01:46:40Z", 1_000_000_000),
            ("2020-02-29T12:00:00+00:00", 1_582_977_600),
            ("2020-02-29T13:30:00+0130", 1_582_977_600),
            ("2020-02-29 04:00:00.123 -08:00", 1_582_977_600),
        ] {
            assert_eq!(seconds(text), Some(at), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "2020-02-29",
            "2020-02-29 12:00:00",
            "2019-02-29 12:00:00 +0000",
            "2020-13-01 12:00:00 +0000",
            "2020-00-01 12:00:00 +0000",
            "2020-04-31 12:00:00 +0000",
            "2020-02-29 24:00:00 +0000",
            "2020-02-29 12:60:00 +0000",
            "2020-02-29 12:00:00 +2400",
            "2020-02-29 12:00:00 +00",
            "2020-02-29 12:00:00 UTC",
            "2020-02-29x12:00:00 +0000",
            "20é0-02-29 12:00:00 +0000",
            "2020-02-29 12:00:00 +0é00",
            "+020-02-29 12:00:00 +0000",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn a_leap_second_is_the_next_second() {
        assert_eq!(seconds("2016-12-31 23:59:60 +0000"), Some(1_483_228_800));
        assert_eq!(seconds("2016-12-31 23:59:61 +0000"), None);
    }

    #[test]
    fn text_without_a_zone_is_universal_time_where_that_is_asked_for() {
        for (text, seconds) in [
            ("1970-01-01 00:00:00", 0),
            ("2024-02-29 23:59:59", 1_709_251_199),
            ("1969-12-31 23:59:59", -1),
            ("2000-03-01 00:00:00", 951_868_800),
            ("0000-01-01 00:00:00", -62_167_219_200),
            ("9999-12-31 23:59:59", 253_402_300_799),
        ] {
            assert_eq!(parse_utc(text), Some(Timestamp { seconds, nanoseconds: 0 }), "{text}");
            assert_eq!(print_utc(seconds).as_deref(), Some(text));
        }
        for text in ["", "2024-02-29", "2024-13-01 00:00:00", "2024-02-29 24:00:00", "x-y a:b:c"] {
            assert_eq!(parse_utc(text), None, "{text}");
        }
        for seconds in PRINTABLE_S.step_by(13 * 86_400 + 7_919) {
            let text = print_utc(seconds).unwrap();
            assert_eq!(parse_utc(&text).map(|time| time.seconds), Some(seconds), "{text}");
        }
        for seconds in [i64::MIN, -62_167_219_201, 253_402_300_800, i64::MAX] {
            assert_eq!(print_utc(seconds), None, "{seconds}");
        }
    }

    /// Counts days one by one by the rule of the Gregorian calendar, without a formula.
    #[test]
    fn every_day_of_ten_thousand_years_is_the_next_one() {
        let is_leap = |year: i32| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let mut seconds = *PRINTABLE_S.start();
        for year in 0..=9999 {
            let february = if is_leap(year) { 29 } else { 28 };
            let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1..).zip(lengths) {
                for day in 1..=length {
                    let text = format!("{year:04}-{month:02}-{day:02} 00:00:00");
                    assert_eq!(print_utc(seconds).as_ref(), Some(&text));
                    assert_eq!(parse_utc(&text).map(|time| time.seconds), Some(seconds), "{text}");
                    seconds += 86_400;
                }
            }
        }
        assert_eq!(seconds, PRINTABLE_S.end() + 1);
    }

    #[test]
    fn a_moment_that_has_no_four_digit_year_is_printed_as_the_nearest_that_has() {
        let print = |seconds| print(Timestamp { seconds, nanoseconds: 0 });
        assert_eq!(print(i64::MAX), "9999-12-31 23:59:59 +0000");
        assert_eq!(print(i64::MIN), "0000-01-01 00:00:00 +0000");
    }

    #[test]
    fn a_printed_moment_reads_as_itself() {
        for at in [0, -1, 1_582_977_600, 951_782_400, 4_107_542_400, -62_135_596_800] {
            let time = Timestamp { seconds: at, nanoseconds: 0 };
            assert_eq!(parse(&print(time)), Some(time));
        }
    }
}
