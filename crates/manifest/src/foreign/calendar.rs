//! Moments as people write them: `2020-04-12 10:11:12 +0000` and its ISO 8601 relatives.
//!
//! In: text with a zone, or a moment. Out: the other. Knows no local time: a text without a zone is
//! no moment.

use steadfast_time::Timestamp;

const DAY_S: i64 = 86_400;

/// Reads `YYYY-MM-DD HH:MM:SS` with a zone: `Z`, `+0000` or `+00:00`. A `T` may stand between day
/// and hour, a fraction of a second before the zone; the fraction is dropped.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let (day, rest) = (text.get(..10)?, text.get(10..)?);
    let rest = rest.strip_prefix(['T', ' '])?;
    let (time, zone) = (rest.get(..8)?, rest.get(8..)?);
    let zone = match zone.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => zone,
    };
    let [year, month, day] = fields(day, '-', [4, 2, 2])?;
    let [hour, minute, second] = fields(time, ':', [2, 2, 2])?;
    let days = days_from_civil(year, month, day);
    let sound = civil_from_days(days) == (year, month, day);
    if !sound || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days * DAY_S + hour * 3600 + minute * 60 + second;
    Some(Timestamp { seconds: seconds - offset(zone.trim_start_matches(' '))?, nanoseconds: 0 })
}

/// Prints a moment in universal time, to the second.
pub(super) fn print(time: Timestamp) -> String {
    let (year, month, day) = civil_from_days(time.seconds.div_euclid(DAY_S));
    let second = time.seconds.rem_euclid(DAY_S);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} +0000")
}

/// The seconds that a zone is ahead of universal time.
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
        false => {
            let (hours, minutes) = (digits.get(..2)?, digits.get(2..)?);
            [number(hours, 2)?, number(minutes, 2)?]
        }
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Splits a text into exactly `N` numbers of given lengths.
fn fields<const N: usize>(text: &str, separator: char, lengths: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (into, length) in numbers.iter_mut().zip(lengths) {
        *into = number(parts.next()?, length)?;
    }
    parts.next().is_none().then_some(numbers)
}

fn number(digits: &str, length: usize) -> Option<i64> {
    let plain = digits.len() == length && digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Days from 1970-01-01 to a day of the Gregorian calendar.
///
/// Source: Howard Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of the Gregorian calendar so many days after 1970-01-01.
///
/// Source: Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
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
    fn a_printed_moment_reads_as_itself() {
        for at in [0, -1, 1_582_977_600, 951_782_400, 4_107_542_400, -62_135_596_800] {
            let time = Timestamp { seconds: at, nanoseconds: 0 };
            assert_eq!(parse(&print(time)), Some(time));
        }
    }
}
