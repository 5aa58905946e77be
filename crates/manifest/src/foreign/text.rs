//! Digests and times as the tools write them: hexadecimal and decimal text.

use steadfast_digest::{Algorithm, Digest};
use steadfast_time::Timestamp;

use super::{FaultReason, ForeignTime, Resolution, VALUE_LEN_MAX};

/// Digits of a fraction that are kept: nanoseconds.
const FRACTION_DIGITS: usize = 9;

/// The longest number that is read: a signed 64-bit count of seconds and a generous fraction.
const NUMBER_LEN_MAX: usize = 48;

/// Refuses an empty value.
pub(super) fn present(value: &[u8]) -> Result<&[u8], FaultReason> {
    match value {
        [] => Err(FaultReason::Empty),
        _ if value.len() > VALUE_LEN_MAX => Err(FaultReason::TooLong),
        _ if value.iter().all(|&byte| byte == 0) => Err(FaultReason::Zeroed),
        _ if trimmed(value).is_empty() => Err(FaultReason::Empty),
        _ => Ok(value),
    }
}

/// Removes what some tools append to a text: a NUL, line ends, blanks.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !b"\0\n\r\t ".contains(byte));
    &text[..end.map_or(0, |last| last + 1)]
}

/// Reads a digest of exactly the length for its algorithm.
pub(super) fn digest(text: &[u8], algorithm: Algorithm) -> Result<Digest, FaultReason> {
    let expected = 2 * algorithm.digest_len();
    if text.len() != expected {
        return Err(FaultReason::Length { expected, found: text.len() });
    }
    if text.iter().all(|&digit| digit == b'0') {
        return Err(FaultReason::Zeroed);
    }
    let text = str::from_utf8(text).map_err(|_| FaultReason::NotHex)?;
    text.parse().map_err(|_| FaultReason::NotHex)
}

/// Reads a whole number.
pub(super) fn number(value: &[u8]) -> Option<u64> {
    let digits = str::from_utf8(trimmed(value)).ok()?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// Reads seconds since 1970, with or without a decimal fraction. The form determines the precision.
///
/// `.5` is half a second. cshatag writes nine digits of the fraction; a float that Python printed
/// has fewer or more.
pub(super) fn seconds(value: &[u8]) -> Option<ForeignTime> {
    let text = trimmed(value);
    if text.len() > NUMBER_LEN_MAX {
        return None;
    }
    let text = str::from_utf8(text).ok()?;
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
    let (whole, fraction) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    if !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let whole = number(whole.as_bytes())?;
    let kept = fraction.bytes().chain(std::iter::repeat(b'0')).take(FRACTION_DIGITS);
    let nanoseconds = kept.fold(0, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    let whole = match negative {
        false => i128::from(whole.cast_signed()),
        true => i128::from(whole),
    };
    // cshatag prints the negative seconds of times before 1970 as unsigned numbers.
    let total = whole * 1_000_000_000 + nanoseconds;
    let resolution = match fraction.len() {
        0 => Resolution::Second,
        FRACTION_DIGITS => Resolution::Tick,
        _ => Resolution::Float,
    };
    let time = Timestamp::from_nanoseconds(if negative { -total } else { total });
    Some(ForeignTime { time, resolution })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(i128, Resolution)> {
        let found = seconds(text.as_bytes())?;
        Some((found.time.as_nanoseconds(), found.resolution))
    }

    #[test]
    fn a_fraction_is_a_fraction_whatever_its_length() {
        use Resolution::{Float, Second, Tick};
        for (text, nanoseconds, resolution) in [
            ("1704164645.123456789", 1_704_164_645_123_456_789, Tick),
            ("1704164645.1234567", 1_704_164_645_123_456_700, Float),
            ("1795176793.718788", 1_795_176_793_718_788_000, Float),
            ("1704164645.0", 1_704_164_645_000_000_000, Float),
            ("1704164645", 1_704_164_645_000_000_000, Second),
            ("0000000000.000000000", 0, Tick),
            ("-1.5", -1_500_000_000, Float),
            ("12.12345678901", 12_123_456_789, Float),
            // The second before the last one of 1969, and half of that, from cshatag.
            ("18446744073709551614.500000000", -1_500_000_000, Tick),
            ("1704164645.123456789\0", 1_704_164_645_123_456_789, Tick),
        ] {
            assert_eq!(read(text), Some((nanoseconds, resolution)), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let long = "1".repeat(NUMBER_LEN_MAX + 1);
        for text in
            ["", "-", ".", "1.", ".5", "1,5", "1.5e9", "1e-05", "+1", "--1", "1.-5", "nan", &long]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("99999999999999999999"), None, "beyond 64 bits");
        assert_eq!(seconds(b"\xff\xfe"), None);
    }

    #[test]
    fn the_longest_value_and_the_longest_number_are_read() {
        let longest = [b'a'; VALUE_LEN_MAX];
        assert_eq!(present(&longest), Ok(&longest[..]));
        assert_eq!(present(&[b'a'; VALUE_LEN_MAX + 1]), Err(FaultReason::TooLong));
        let longest = format!("1.{}", "0".repeat(NUMBER_LEN_MAX - 2));
        assert_eq!(read(&longest), Some((1_000_000_000, Resolution::Float)));
        assert_eq!(read(&format!("{longest}0")), None);
    }
}
