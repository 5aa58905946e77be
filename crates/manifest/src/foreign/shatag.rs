//! The pair of shatag and cshatag: `user.shatag.sha256` and `user.shatag.ts`.
//!
//! Takes both values, and returns the tag or its fault. Source: cshatag 2.2.1 and its `master`,
//! `check.go`; shatag 0.4.1, `shatag/base.py`.

use steadfast_digest::Algorithm;
use steadfast_time::Timestamp;

use super::{FaultReason, ForeignKind, ForeignTag, Resolution, text};

/// Hexadecimal digits of SHA-256.
const DIGITS: usize = 64;

/// Reads the pair. Ignores bytes after the 64 digits, as cshatag does: its versions before 1.1
/// wrote a NUL there.
///
/// # Errors
///
/// If one of the two is missing, or is not a digest or a time.
pub fn parse_shatag(digest: Option<&[u8]>, time: Option<&[u8]>) -> Result<ForeignTag, FaultReason> {
    let digest = text::present(digest.ok_or(FaultReason::NoDigest)?)?;
    let time = text::present(time.ok_or(FaultReason::NoTime)?)?;
    let digits = digest.get(..DIGITS).unwrap_or(digest);
    Ok(ForeignTag {
        kind: ForeignKind::Shatag,
        algorithm: Algorithm::Sha256,
        digest: text::digest(digits, Algorithm::Sha256)?,
        mtime: Some(text::seconds(time).ok_or(FaultReason::NotTime)?),
        length: None,
        tagged: None,
    })
}

/// Prints a time in the form of the value that it replaces, because neither tool accepts the
/// other's form. Uses the form of cshatag if there is no such value or it cannot be read.
pub(super) fn print_time_like(old: Option<&[u8]>, time: Timestamp) -> String {
    match old.and_then(text::seconds).map(|old| old.resolution) {
        // As Python computes the time of a file from its parts.
        Some(Resolution::Float) => {
            format!("{:?}", time.seconds as f64 + 1e-9 * f64::from(time.nanoseconds))
        }
        Some(Resolution::Second) => time.seconds.to_string(),
        // Seconds before 1970 are printed as the unsigned number with the same bits.
        _ => {
            format!("{:010}.{:09}", time.seconds.cast_unsigned(), time.nanoseconds)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &[u8] = b"9fe92c4232ea01c3e3d37e91721208adeca7572c1d57ed42f10867a9e9e8bf59";
    const TIME: &[u8] = b"1704164645.123456789";

    fn reason(digest: &[u8], time: &[u8]) -> FaultReason {
        parse_shatag(Some(digest), Some(time)).unwrap_err()
    }

    #[test]
    fn both_halves_make_a_tag() {
        let tag = parse_shatag(Some(HEX), Some(TIME)).unwrap();
        assert_eq!(tag.digest.to_string().as_bytes(), HEX);
        let mtime = tag.mtime.unwrap().time;
        assert_eq!(mtime.as_nanoseconds(), 1_704_164_645_123_456_789);
        assert_eq!((tag.length, tag.tagged), (None, None));
        for tail in [&b"\0"[..], b"\n", b"anything"] {
            assert_eq!(parse_shatag(Some(&[HEX, tail].concat()), Some(TIME)), Ok(tag));
        }
        let upper = HEX.to_ascii_uppercase();
        assert_eq!(parse_shatag(Some(&upper), Some(TIME)), Ok(tag));
    }

    #[test]
    fn faults_are_named() {
        let cut = FaultReason::Length { expected: 64, found: 63 };
        assert_eq!(reason(&HEX[..63], TIME), cut);
        assert_eq!(reason(b"", TIME), FaultReason::Empty);
        assert_eq!(reason(b"\n", TIME), FaultReason::Empty);
        assert_eq!(reason(&[0; 64], TIME), FaultReason::Zeroed);
        assert_eq!(reason(&[b'0'; 64], TIME), FaultReason::Zeroed);
        assert_eq!(reason(&[b'g'; 64], TIME), FaultReason::NotHex);
        assert_eq!(reason(HEX, b""), FaultReason::Empty);
        assert_eq!(reason(HEX, &[0; 20]), FaultReason::Zeroed);
        assert_eq!(reason(HEX, b"yesterday"), FaultReason::NotTime);
        assert_eq!(parse_shatag(None, Some(TIME)), Err(FaultReason::NoDigest));
        assert_eq!(parse_shatag(Some(HEX), None), Err(FaultReason::NoTime));
    }

    #[test]
    fn a_printed_time_reads_as_itself() {
        for nanoseconds in [0, 5, 1_704_164_645_123_456_789, -1, -1_500_000_000] {
            let time = Timestamp::from_nanoseconds(nanoseconds);
            let printed = print_time_like(None, time);
            let read = text::seconds(printed.as_bytes()).unwrap();
            assert_eq!((read.time, read.resolution), (time, Resolution::Tick));
        }
    }

    #[test]
    fn a_time_is_printed_in_the_form_of_the_old_one() {
        let time = Timestamp::from_nanoseconds(1_704_164_645_123_456_789);
        for (old, printed) in [
            (None, "1704164645.123456789"),
            (Some(&b"0000000001.000000000"[..]), "1704164645.123456789"),
            (Some(b"yesterday"), "1704164645.123456789"),
            (Some(b"1.0"), "1704164645.1234567"),
            (Some(b"1"), "1704164645"),
        ] {
            assert_eq!(print_time_like(old, time), printed);
        }
        let early = Timestamp::from_nanoseconds(-1_500_000_000);
        assert_eq!(print_time_like(None, early), "18446744073709551614.500000000");
        assert_eq!(print_time_like(Some(b"-2.5"), early), "-1.5");
        let whole = Timestamp { seconds: 1_704_164_645, nanoseconds: 0 };
        assert_eq!(print_time_like(Some(b"2.5"), whole), "1704164645.0");
    }
}
