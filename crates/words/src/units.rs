//! Formats bytes, rates, durations, counts and moments for people.
//!
//! In: base units. Out: text with three significant digits, or exact text where the caller asks for
//! it.

use jiff::tz::Offset;
use steadfast::Timestamp;
use strum::{EnumMessage, IntoStaticStr, VariantArray};

/// Seconds in a day.
pub const DAY_S: i64 = 86_400;

/// Nanoseconds in a day.
pub const DAY_NS: f64 = DAY_S as f64 * 1e9;

/// Which multiples of bytes a document shows.
#[derive(EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Powers of 1,000: kB, MB, GB.
    #[default]
    Si,
    /// Powers of 1,024: KiB, MiB, GiB.
    Iec,
}

impl Units {
    fn base(self) -> f64 {
        match self {
            Units::Si => 1000.0,
            Units::Iec => 1024.0,
        }
    }

    fn names(self) -> [&'static str; 7] {
        match self {
            Units::Si => ["B", "kB", "MB", "GB", "TB", "PB", "EB"],
            Units::Iec => ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"],
        }
    }

    /// Returns a number of bytes, as in "98.7 GB".
    pub fn bytes(self, bytes: u64) -> String {
        if (bytes as f64) < self.base() {
            return format!("{bytes} B");
        }
        self.scaled(bytes as f64)
    }

    /// Returns a throughput, as in "2.40 GB/s"; a dash if the time is zero.
    pub fn rate(self, bytes: u64, elapsed_ns: u64) -> String {
        match elapsed_ns {
            0 => "–".to_owned(),
            _ => format!("{}/s", self.scaled(bytes as f64 * 1e9 / elapsed_ns as f64)),
        }
    }

    /// Returns a throughput given in bytes per second; a dash if it is not a positive number.
    pub fn per_second(self, rate: f64) -> String {
        match rate.is_finite() && rate > 0.0 {
            true => format!("{}/s", self.scaled(rate)),
            false => "–".to_owned(),
        }
    }

    /// Returns the ends of an interval in the unit of a throughput, without the name of the unit;
    /// `None` if an end is not a number or too small for that unit.
    pub fn ends_of_rate(self, rate: f64, ends: [f64; 2]) -> Option<[String; 2]> {
        let (step, _) = self.step(rate);
        let ends = ends.map(|end| end / self.base().powi(step as i32));
        let fit = ends.iter().all(|&end| end.is_finite() && end >= 0.095);
        fit.then(|| ends.map(three_digits))
    }

    /// Returns the index of the multiple in which a number is shown, and the number in it.
    fn step(self, mut value: f64) -> (usize, f64) {
        let mut step = 0;
        // From 999.5 on, three digits would read 1000.
        while value >= self.base() - 0.5 && step + 1 < self.names().len() {
            value /= self.base();
            step += 1;
        }
        (step, value)
    }

    fn scaled(self, value: f64) -> String {
        let (step, value) = self.step(value);
        format!("{} {}", three_digits(value), self.names()[step])
    }
}

/// Returns a number of up to three digits before the point, with three significant digits.
fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// Returns a number with three significant digits, or all before the point: "0.042", "1,234".
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size >= 999.5 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(size.round() as u64));
    }
    if size == 0.0 || size >= 0.995 {
        return three_digits(value);
    }
    let places = (2 - size.log10().floor() as i32).clamp(2, 9);
    format!("{value:.*}", places as usize)
}

/// Returns a large number in thousands, millions or billions, as in "4.03 million".
pub fn short(value: f64) -> String {
    match value.abs() {
        size if size < 9_999.5 => digits(value),
        size if size < 999_500.0 => format!("{} thousand", three_digits(value / 1e3)),
        size if size < 999_500_000.0 => format!("{} million", three_digits(value / 1e6)),
        _ => format!("{} billion", digits(value / 1e9)),
    }
}

/// Returns a share of 0 to 1 in percent: "91.3 %". A share below 1 never reads "100.0 %", and a
/// share above 0 never "0.0 %": "99.992 %", "0.00810 %".
pub fn share(share: f64) -> String {
    match 100.0 * share {
        nearly if (99.95..100.0).contains(&nearly) => {
            format!("{:.3} %", (nearly * 1e3).floor() / 1e3)
        }
        hardly if hardly > 0.0 && hardly < 0.05 => format!("{} %", digits(hardly)),
        percent => format!("{percent:.1} %"),
    }
}

/// Returns words with a capital at their beginning.
pub fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Returns a whole number with commas between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number and its noun, as in "1 file" and "1,234 files".
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Returns a duration, as in "41.2 s", "3 min 05 s" or "2 h 03 min".
pub fn duration(elapsed_ns: u64) -> String {
    let seconds = elapsed_ns as f64 / 1e9;
    let whole = seconds.round() as u64;
    if elapsed_ns < 999_500 {
        format!("{} µs", three_digits(elapsed_ns as f64 / 1e3))
    } else if seconds < 0.9995 {
        format!("{} ms", three_digits(seconds * 1e3))
    } else if seconds < 99.95 {
        format!("{} s", three_digits(seconds))
    } else if whole < 3600 {
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        let minutes = (seconds / 60.0).round() as u64;
        format!("{} h {:02} min", minutes / 60, minutes % 60)
    }
}

/// Returns an estimated duration, in whole seconds: "36 s", "3 min 05 s" or "2 h 03 min".
pub fn rough_duration(guess_ns: u64) -> String {
    match (guess_ns + 500_000_000) / 1_000_000_000 {
        seconds @ 0..100 => format!("{seconds} s"),
        _ => duration(guess_ns),
    }
}

/// Returns a share of 0 to 1 in whole percent, as in "91 %".
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Returns an energy, as in "12.3 J".
pub fn energy(energy_nj: u64) -> String {
    let joules = energy_nj as f64 / 1e9;
    match joules {
        ..0.9995 => format!("{:.0} mJ", joules * 1e3),
        ..999.95 => format!("{joules:.1} J"),
        _ => format!("{:.2} kJ", joules / 1e3),
    }
}

/// Seconds of 400 years, after which the Gregorian calendar repeats itself: 146,097 days.
const CYCLE_S: i64 = 146_097 * DAY_S;

/// Returns a moment in UTC, as in "2024-03-01 12:00:05Z". Fractions of a second are dropped.
///
/// A file system can hold any 64-bit number of seconds, but `jiff` supports the years -9999 to 9999
/// only. So the moment is moved by whole cycles into the 400 years from 1970 on, and the years of
/// these cycles are added afterwards.
///
/// # Panics
/// Never: those 400 years are within its range.
pub fn moment(timestamp: Timestamp) -> String {
    let within = jiff::Timestamp::from_second(timestamp.seconds.rem_euclid(CYCLE_S));
    let date = Offset::UTC.to_datetime(within.expect("the year is 1970 to 2369"));
    let year = i64::from(date.year()) + 400 * timestamp.seconds.div_euclid(CYCLE_S);
    format!("{year:04}-{}", date.strftime("%m-%d %H:%M:%SZ"))
}

/// Returns a moment in UTC in words, as in "1 March 2024 at 12:00 UTC".
pub fn day_and_time(timestamp: Timestamp) -> String {
    let within = jiff::Timestamp::from_second(timestamp.seconds.rem_euclid(CYCLE_S));
    let date = Offset::UTC.to_datetime(within.expect("the year is 1970 to 2369"));
    let year = i64::from(date.year()) + 400 * timestamp.seconds.div_euclid(CYCLE_S);
    format!("{} {year} at {}", date.strftime("%-d %B"), date.strftime("%H:%M UTC"))
}

/// Words a moment: in UTC, unless the caller knows the time zone of the reader.
#[derive(Clone, Copy, Debug)]
pub struct MomentWords(pub fn(Timestamp) -> String);

impl Default for MomentWords {
    fn default() -> MomentWords {
        MomentWords(day_and_time)
    }
}

/// Returns a moment in UTC to its nanosecond, as in "2024-03-01 12:00:05.123456789Z".
pub fn moment_exact(timestamp: Timestamp) -> String {
    let mut text = moment(timestamp);
    text.pop();
    format!("{text}.{:09}Z", timestamp.nanoseconds)
}

/// Returns two moments in UTC, with nanoseconds if they would look the same without them.
pub fn moments_apart(one: Timestamp, other: Timestamp) -> [String; 2] {
    let moments = [one, other].map(moment);
    match one != other && moments[0] == moments[1] {
        true => [one, other].map(moment_exact),
        false => moments,
    }
}

/// Seconds of the units in which a time is told, and the names of one and of several of each.
const AGO_STEPS: [(i64, &str, &str); 5] = [
    (365 * 86_400, "a year", "years"),
    (30 * 86_400, "a month", "months"),
    (86_400, "a day", "days"),
    (3_600, "an hour", "hours"),
    (60, "a minute", "minutes"),
];

/// Returns how long ago something was: "2 days ago".
pub fn ago(past_s: i64) -> String {
    match AGO_STEPS.iter().find(|(step_s, ..)| past_s >= *step_s) {
        None => "just now".to_owned(),
        Some((step_s, one, _)) if past_s / step_s == 1 => format!("{one} ago"),
        Some((step_s, _, many)) => format!("{} {many} ago", past_s / step_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_three_digits() {
        for (bytes, si, iec) in [
            (0, "0 B", "0 B"),
            (999, "999 B", "999 B"),
            (1000, "1.00 kB", "1000 B"),
            (1024, "1.02 kB", "1.00 KiB"),
            (999_499, "999 kB", "976 KiB"),
            (999_500, "1.00 MB", "976 KiB"),
            (98_700_000_000, "98.7 GB", "91.9 GiB"),
            (u64::MAX, "18.4 EB", "16.0 EiB"),
        ] {
            assert_eq!(Units::Si.bytes(bytes), si);
            assert_eq!(Units::Iec.bytes(bytes), iec);
        }
        assert_eq!(Units::Si.rate(98_700_000_000, 41_200_000_000), "2.40 GB/s");
        assert_eq!(Units::Si.rate(5, 0), "–");
    }

    #[test]
    fn energies_change_unit_where_people_do() {
        for (energy_nj, text) in [
            (0, "0 mJ"),
            (850_000_000, "850 mJ"),
            (12_340_000_000, "12.3 J"),
            (2_500_000_000_000, "2.50 kJ"),
        ] {
            assert_eq!(energy(energy_nj), text);
        }
    }

    #[test]
    fn durations_change_unit_where_people_do() {
        for (elapsed_ns, text) in [
            (12_300, "12.3 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (850_000_000, "850 ms"),
            (41_200_000_000, "41.2 s"),
            (99_960_000_000, "1 min 40 s"),
            (185_000_000_000, "3 min 05 s"),
            (7_380_000_000_000, "2 h 03 min"),
        ] {
            assert_eq!(duration(elapsed_ns), text);
        }
    }

    #[test]
    fn guesses_are_rough() {
        for (guess_ns, text) in [
            (0, "0 s"),
            (99_400_000_000, "99 s"),
            (99_960_000_000, "1 min 40 s"),
            (7_380_000_000_000, "2 h 03 min"),
        ] {
            assert_eq!(rough_duration(guess_ns), text);
        }
    }

    #[test]
    fn nearly_all_is_not_all() {
        for (parts, text) in [
            (0.9132, "91.3 %"),
            (12_345.0 / 12_346.0, "99.991 %"),
            (1.0, "100.0 %"),
            (0.0, "0.0 %"),
            (1.0 / 12_346.0, "0.00810 %"),
            (1.006, "100.6 %"),
            (-0.41, "-41.0 %"),
        ] {
            assert_eq!(share(parts), text);
        }
    }

    #[test]
    fn counts_have_commas() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(number), text);
        }
        assert_eq!(counted(1, "file", "files"), "1 file");
    }

    #[test]
    fn moments_are_utc_in_the_gregorian_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00Z"),
            (-1, "1969-12-31 23:59:59Z"),
            (951_782_399, "2000-02-28 23:59:59Z"),
            (951_782_400, "2000-02-29 00:00:00Z"),
            (1_709_294_405, "2024-03-01 12:00:05Z"),
            (4_107_542_400, "2100-03-01 00:00:00Z"),
            (253_402_300_800, "10000-01-01 00:00:00Z"),
        ] {
            assert_eq!(moment(Timestamp { seconds, nanoseconds: 0 }), text);
        }
        let early = Timestamp { seconds: -62_135_596_801, nanoseconds: 7 };
        assert_eq!(moment_exact(early), "0000-12-31 23:59:59.000000007Z");
    }

    #[test]
    fn any_moment_has_a_text() {
        for seconds in [i64::MIN, i64::MAX] {
            assert!(moment(Timestamp { seconds, nanoseconds: 0 }).ends_with('Z'));
        }
    }

    #[test]
    fn times_are_told_in_their_largest_unit() {
        let rows = [
            (0, "just now"),
            (-5, "just now"),
            (60, "a minute ago"),
            (7_300, "2 hours ago"),
            (12 * 86_400, "12 days ago"),
            (41 * 86_400, "a month ago"),
            (800 * 86_400, "2 years ago"),
        ];
        for (past_s, told) in rows {
            assert_eq!(ago(past_s), told);
        }
    }
}
