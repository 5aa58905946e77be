//! Amounts as people write them: `500G`, `64KiB`, `30d`.
//!
//! In: an argument. Out: bytes or a duration, or why it is none. Decimal prefixes are decimal, as
//! everywhere in the output; binary ones carry their `i`.

use std::time::Duration;

/// Prefixes of bytes, each with its factor.
const PREFIXES: [(&str, u64); 8] = [
    ("k", 1_000),
    ("ki", 1 << 10),
    ("m", 1_000_000),
    ("mi", 1 << 20),
    ("g", 1_000_000_000),
    ("gi", 1 << 30),
    ("t", 1_000_000_000_000),
    ("ti", 1 << 40),
];

/// Units of time, in seconds. A month and a year are no fixed time and are not here.
const TIMES: [(&str, u64); 5] =
    [("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("w", 7 * 86_400)];

/// Reads a number of bytes: digits, and `k`, `M`, `G`, `T` or `Ki`, `Mi`, `Gi`, `Ti`, with or
/// without a `B`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let unit = unit.to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let factor = match unit {
        "" => 1,
        _ => factor_of(&PREFIXES, unit)
            .ok_or("a size is a number and k, M, G, T or Ki, Mi, Gi, Ti, as in 500G")?,
    };
    scaled(number, factor).filter(|&bytes| bytes > 0).ok_or_else(|| "out of range".to_owned())
}

/// Reads a rate: bytes with a unit, with or without `/s`. `50` is likely to mean megabytes.
pub(super) fn rate(text: &str) -> Result<u64, String> {
    const USAGE: &str = "a rate has a unit, as in 50MB, 50MB/s or 800kB: bytes in a second";
    let bytes_per_s = text.strip_suffix("/s").unwrap_or(text);
    match split(bytes_per_s)? {
        (_, "") => Err(USAGE.to_owned()),
        _ => bytes(bytes_per_s).map_err(|error| format!("{error}; {USAGE}")),
    }
}

/// Reads a duration: digits and `s`, `m`, `h`, `d` or `w`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let factor = factor_of(&TIMES, unit).ok_or("a time is a number and s, m, h, d or w, as 30d")?;
    let seconds = scaled(number, factor).ok_or("out of range")?;
    Ok(Duration::from_secs(seconds))
}

/// Reads a duration that is not zero.
pub(super) fn time_limit(text: &str) -> Result<Duration, String> {
    let duration = duration(text)?;
    if duration.is_zero() {
        return Err("the time must be longer than 0, as in 30s or 2h".to_owned());
    }
    Ok(duration)
}

fn factor_of(units: &[(&str, u64)], unit: &str) -> Option<u64> {
    units.iter().find(|(name, _)| *name == unit).map(|&(_, factor)| factor)
}

/// Parts a number, of which the fraction is optional, from what follows it.
fn split(text: &str) -> Result<(&str, &str), String> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    if number.is_empty() {
        return Err("it does not begin with a number".to_owned());
    }
    Ok((number, unit.trim_start()))
}

/// Multiplies exactly: `1.5` and 1,000,000 are 1,500,000.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut sum = whole.checked_mul(factor)?;
    let mut share = factor;
    for digit in fraction.bytes() {
        share /= 10;
        sum = sum.checked_add(share * u64::from(digit.checked_sub(b'0').filter(|d| *d <= 9)?))?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let rows = [
            ("1", 1),
            ("500G", 500_000_000_000),
            ("500GB", 500_000_000_000),
            ("64KiB", 65_536),
            ("1.5M", 1_500_000),
            ("2 TB", 2_000_000_000_000),
            ("0.25ki", 256),
        ];
        for (text, expected) in rows {
            let read = bytes(text).unwrap();
            assert!(read.abs_diff(expected) <= 4, "{text}: {read}");
        }
        for text in ["", "G", "5X", "-1", "1e9", "99999999999999T", "0", "1..2", "5 apples"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!(rate("200MB/s").unwrap(), 200_000_000);
        assert_eq!(rate("50B").unwrap(), 50);
        for text in ["50", "50/s", "0MB", "0"] {
            assert!(rate(text).unwrap_err().contains("50MB/s"), "{text}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(duration("30d").unwrap(), Duration::from_secs(30 * 86_400));
        assert_eq!(duration("1.5h").unwrap(), Duration::from_secs(5_400));
        assert_eq!(duration("0s").unwrap(), Duration::ZERO);
        assert_eq!(time_limit("1s").unwrap(), Duration::from_secs(1));
        for text in ["0s", "0.0h", "0w", "0.4s"] {
            assert!(time_limit(text).is_err(), "{text}");
        }
        for text in ["30", "1y", "d", "1month", "9999999999999999999w"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
