//! Dintch's digest and time: `co.eclecticlight.dintch.hash` and `.time`.
//!
//! The format is not published. Therefore every likely form of a SHA-256 digest is read, and a
//! digest that replaces another takes its form.

use steadfast_digest::{Algorithm, Digest};

use super::{FaultReason, ForeignKind, ForeignTag, text};
use crate::calendar;

/// Bytes of a SHA-256 digest.
const BYTES: usize = 32;
/// Hexadecimal digits of one.
const DIGITS: usize = 2 * BYTES;

/// The form of the digest in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DintchForm {
    /// Its bytes, optionally followed by one NUL.
    Bytes,
    /// Hexadecimal digits from this offset on, after text and before line ends.
    Digits(usize),
}

/// Reads the digest: 32 bytes, or text that ends in 64 hexadecimal digits. Samba appends a NUL to
/// either. A time that cannot be read, or has no zone, counts as absent.
///
/// # Errors
///
/// If there is a time and no digest, or the value contains no digest.
pub fn parse_dintch(hash: Option<&[u8]>, time: Option<&[u8]>) -> Result<ForeignTag, FaultReason> {
    let hash = text::present(hash.ok_or(FaultReason::NoDigest)?)?;
    let digest = match form_of(hash)? {
        DintchForm::Bytes => Digest::from_slice(&hash[..BYTES]).expect("form_of saw 32 bytes"),
        DintchForm::Digits(start) => text::digest(&hash[start..start + DIGITS], Algorithm::Sha256)?,
    };
    if digest.as_bytes().iter().all(|&byte| byte == 0) {
        return Err(FaultReason::Zeroed);
    }
    let tagged = time.and_then(|time| str::from_utf8(text::trimmed(time)).ok());
    Ok(ForeignTag {
        kind: ForeignKind::Dintch,
        algorithm: Algorithm::Sha256,
        digest,
        mtime: None,
        length: None,
        tagged: tagged.and_then(calendar::parse),
    })
}

/// Writes a digest in the form of the value that it replaces. Writes its bytes if there is no such
/// value or it cannot be read.
pub(super) fn print_like(old: Option<&[u8]>, digest: &Digest) -> Vec<u8> {
    let plain = digest.as_bytes();
    match old.map(|old| (old, form_of(old))) {
        Some((old, Ok(DintchForm::Bytes))) => [plain, &old[BYTES..]].concat(),
        Some((old, Ok(DintchForm::Digits(start)))) => {
            let (digits, behind) = old[start..].split_at(DIGITS);
            let upper = digits.iter().any(u8::is_ascii_uppercase);
            let hex = digest.to_string();
            let hex = if upper { hex.to_ascii_uppercase() } else { hex };
            [&old[..start], hex.as_bytes(), behind].concat()
        }
        _ => plain.to_vec(),
    }
}

fn form_of(value: &[u8]) -> Result<DintchForm, FaultReason> {
    let bytes = value.len() == BYTES || value.len() == BYTES + 1 && value[BYTES] == 0;
    // One digest in 10^13 has only printable bytes. A truncated text is more likely.
    if bytes && !value[..BYTES].iter().all(u8::is_ascii_graphic) {
        return Ok(DintchForm::Bytes);
    }
    let text = text::trimmed(value);
    let length = FaultReason::Length { expected: DIGITS, found: text.len() };
    let start = text.len().checked_sub(DIGITS).ok_or(length)?;
    let (before, digits) = text.split_at(start);
    let readable = str::from_utf8(before).is_ok_and(|text| !text.contains(char::is_control));
    if !readable || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(FaultReason::NotHex);
    }
    match before.last().is_some_and(u8::is_ascii_hexdigit) {
        true => Err(length),
        false => Ok(DintchForm::Digits(start)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "9fe92c4232ea01c3e3d37e91721208adeca7572c1d57ed42f10867a9e9e8bf59";

    fn raw() -> Vec<u8> {
        HEX.parse::<Digest>().unwrap().as_bytes().to_vec()
    }

    fn forms() -> Vec<Vec<u8>> {
        let text = |text: String| text.into_bytes();
        vec![
            raw(),
            [raw(), vec![0]].concat(),
            text(HEX.to_owned()),
            text(HEX.to_uppercase()),
            text(format!("{HEX}\0")),
            text(format!("{HEX}\n")),
            text(format!("SHA256 digest: {HEX}")),
            text(format!("Prüfsumme: {HEX}\n")),
        ]
    }

    #[test]
    fn every_form_is_read_and_written_again_as_it_was() {
        let other = Digest::from_slice(&[0xab; 32]).unwrap();
        for value in forms() {
            let tag = parse_dintch(Some(&value), None).unwrap();
            assert_eq!(tag.digest.to_string(), HEX, "{value:?}");
            assert_eq!((tag.mtime, tag.length, tag.tagged), (None, None, None));
            let changed = print_like(Some(&value), &other);
            assert_eq!(parse_dintch(Some(&changed), None).unwrap().digest, other);
            assert_eq!(print_like(Some(&changed), &tag.digest), value);
        }
        let digest: Digest = HEX.parse().unwrap();
        assert_eq!(print_like(None, &digest), raw());
        assert_eq!(print_like(Some(b"cut"), &digest), raw());
    }

    #[test]
    fn faults_are_named() {
        let reason = |value: &[u8]| parse_dintch(Some(value), None).unwrap_err();
        let length = |found| FaultReason::Length { expected: 64, found };
        assert_eq!(reason(b""), FaultReason::Empty);
        assert_eq!(reason(&[0; 32]), FaultReason::Zeroed);
        assert_eq!(reason(&[b'0'; 64]), FaultReason::Zeroed);
        assert_eq!(reason(&raw()[..31]), length(31));
        assert_eq!(reason(&HEX.as_bytes()[..32]), length(32));
        assert_eq!(reason(&HEX.as_bytes()[..63]), length(63));
        assert_eq!(reason(format!("a{HEX}").as_bytes()), length(65));
        assert_eq!(reason([raw(), raw()].concat().as_slice()), FaultReason::NotHex);
        assert_eq!(reason(format!("\x01 {HEX}").as_bytes()), FaultReason::NotHex);
        assert_eq!(parse_dintch(None, Some(b"x")), Err(FaultReason::NoDigest));
    }

    #[test]
    fn a_time_that_cannot_be_read_only_says_less() {
        let tagged = |time: &[u8]| parse_dintch(Some(&raw()), Some(time)).unwrap().tagged;
        assert_eq!(tagged(b"2001-09-09 01:46:40 +0000").unwrap().seconds, 1_000_000_000);
        assert_eq!(tagged(b"2001-09-09T01:46:40Z\0").unwrap().seconds, 1_000_000_000);
        for time in [&b"12 April 2020 at 10:11:12"[..], b"2001-09-09 01:46:40", b"", b"\xff"] {
            assert_eq!(tagged(time), None);
        }
    }
}
