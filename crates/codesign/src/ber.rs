//! Reads ASN.1 in the basic encoding rules (BER), which include the distinguished ones (DER).
//!
//! Apple's signatures begin with elements of indefinite length; the certificates and attributes
//! inside are DER. A length that could have been encoded shorter is accepted: signed bytes are
//! compared as they are in the file, so rejecting it would gain nothing. Tags above 30 are
//! rejected, since nothing here uses them.

use std::borrow::Cow;
use std::fmt;

use jiff::civil::{DateTime, date};

/// Tags of universal types, with the bit for constructed ones.
pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OCTET_STRING: u8 = 0x04;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const UTF8_STRING: u8 = 0x0c;
pub(crate) const UTC_TIME: u8 = 0x17;
pub(crate) const GENERALIZED_TIME: u8 = 0x18;
pub(crate) const BMP_STRING: u8 = 0x1e;
pub(crate) const SEQUENCE: u8 = 0x30;
pub(crate) const SET: u8 = 0x31;

const CONSTRUCTED: u8 = 0x20;

/// The deepest nesting of elements of indefinite length, and of pieces of strings.
const DEPTH_MAX: u32 = 16;

/// Returns the tag of a context-specific element that holds elements.
pub(crate) const fn context(number: u8) -> u8 {
    0x80 | CONSTRUCTED | number
}

/// Returns the tag of a context-specific element that holds a value.
pub(crate) const fn context_primitive(number: u8) -> u8 {
    0x80 | number
}

/// Why bytes cannot be read. A lower-case fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// One element: its tag, its content, and all of its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) tag: u8,
    /// Without the two zero bytes that end an indefinite length.
    pub(crate) content: &'a [u8],
    /// With the header, and with the two zero bytes if they are there.
    pub(crate) whole: &'a [u8],
}

/// A sequence of elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BerReader<'a> {
    rest: &'a [u8],
}

impl<'a> BerReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> BerReader<'a> {
        BerReader { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads the next element.
    pub(crate) fn any(&mut self) -> Result<Element<'a>, Malformed> {
        let element = parse(self.rest, 0)?;
        self.rest = &self.rest[element.whole.len()..];
        Ok(element)
    }

    /// Reads the next element, which must have this tag.
    pub(crate) fn expect(&mut self, tag: u8) -> Result<Element<'a>, Malformed> {
        match self.optional(tag)? {
            Some(element) => Ok(element),
            None if self.is_empty() => Err(Malformed("an element is missing")),
            None => Err(Malformed("an element has another type than it must")),
        }
    }

    /// Reads the next element if it has this tag.
    ///
    /// An octet string may come in pieces and then has another tag; both tags are accepted.
    pub(crate) fn optional(&mut self, tag: u8) -> Result<Option<Element<'a>>, Malformed> {
        match self.rest.first() {
            Some(&first) if first == tag => self.any().map(Some),
            Some(&first) if tag == OCTET_STRING && first == OCTET_STRING | CONSTRUCTED => {
                self.any().map(Some)
            }
            _ => Ok(None),
        }
    }
}

impl<'a> Element<'a> {
    /// Returns the elements inside.
    pub(crate) fn children(&self) -> BerReader<'a> {
        BerReader::new(self.content)
    }

    /// Returns the bytes of a string; pieces are joined.
    pub(crate) fn octets(&self) -> Result<Cow<'a, [u8]>, Malformed> {
        if self.tag & CONSTRUCTED == 0 {
            return Ok(Cow::Borrowed(self.content));
        }
        let mut whole = Vec::new();
        join(self, &mut whole, 0)?;
        Ok(Cow::Owned(whole))
    }

    /// Returns the bytes of a bit string without unused bits.
    pub(crate) fn bits(&self) -> Result<&'a [u8], Malformed> {
        match self.content.split_first() {
            Some((0, bytes)) => Ok(bytes),
            _ => Err(Malformed("a bit string is not made of whole bytes")),
        }
    }

    /// Returns the magnitude of a number that is not negative, without leading zeros.
    pub(crate) fn magnitude(&self) -> Result<&'a [u8], Malformed> {
        match self.content.first() {
            None => Err(Malformed("a number has no bytes")),
            Some(first) if first & 0x80 != 0 => Err(Malformed("a number is negative")),
            Some(_) => {
                let zeros = self.content.iter().take_while(|&&byte| byte == 0).count();
                Ok(&self.content[zeros..])
            }
        }
    }

    /// Returns a number that fits 64 bits.
    pub(crate) fn number(&self) -> Result<u64, Malformed> {
        let bytes = self.magnitude()?;
        if bytes.len() > 8 {
            return Err(Malformed("a number is larger than 64 bits"));
        }
        Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Returns an object identifier in its dotted form.
    pub(crate) fn oid(&self) -> Result<String, Malformed> {
        dotted(self.content).ok_or(Malformed("an object identifier is cut short or too large"))
    }

    /// Returns text; invalid characters are replaced.
    pub(crate) fn text(&self) -> String {
        if self.tag == BMP_STRING {
            let pairs = self.content.chunks_exact(2);
            let units: Vec<u16> =
                pairs.map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            return String::from_utf16_lossy(&units);
        }
        String::from_utf8_lossy(self.content).into_owned()
    }

    /// Returns a time in seconds since 1970, from either form.
    pub(crate) fn time(&self) -> Result<i64, Malformed> {
        let text = std::str::from_utf8(self.content).ok();
        let seconds = match (self.tag, text) {
            (UTC_TIME, Some(text)) => utc_time(text),
            (GENERALIZED_TIME, Some(text)) => generalized_time(text),
            _ => None,
        };
        seconds.ok_or(Malformed("a time cannot be read"))
    }
}

/// Reads the first element.
fn parse(bytes: &[u8], depth: u32) -> Result<Element<'_>, Malformed> {
    let cut_short = Malformed("an element is cut short");
    let &tag = bytes.first().ok_or(cut_short)?;
    if tag & 0x1f == 0x1f {
        return Err(Malformed("a tag is larger than any that signatures use"));
    }
    let &first = bytes.get(1).ok_or(cut_short)?;
    if first == 0x80 {
        return parse_indefinite(bytes, tag, depth);
    }
    let (header_len, content_len) = if first < 0x80 {
        (2, usize::from(first))
    } else {
        let count = usize::from(first & 0x7f);
        if count > 4 {
            return Err(Malformed("a length has more than four bytes"));
        }
        let length = bytes.get(2..2 + count).ok_or(cut_short)?;
        (2 + count, length.iter().fold(0_usize, |len, &byte| len << 8 | usize::from(byte)))
    };
    let end = header_len.checked_add(content_len).ok_or(cut_short)?;
    let whole = bytes.get(..end).ok_or(cut_short)?;
    Ok(Element { tag, content: &whole[header_len..], whole })
}

/// Reads an element of indefinite length.
fn parse_indefinite(bytes: &[u8], tag: u8, depth: u32) -> Result<Element<'_>, Malformed> {
    if tag & CONSTRUCTED == 0 {
        return Err(Malformed("a plain value has no length"));
    }
    if depth >= DEPTH_MAX {
        return Err(Malformed("elements lie too deep in each other"));
    }
    let mut end = 2;
    loop {
        let rest = &bytes[end..];
        if rest.starts_with(&[0, 0]) {
            let whole = &bytes[..end + 2];
            return Ok(Element { tag, content: &bytes[2..end], whole });
        }
        end += parse(rest, depth + 1)?.whole.len();
    }
}

/// Appends the pieces of a string.
fn join(element: &Element<'_>, whole: &mut Vec<u8>, depth: u32) -> Result<(), Malformed> {
    if depth >= DEPTH_MAX {
        return Err(Malformed("pieces of a string lie too deep in each other"));
    }
    let mut pieces = element.children();
    while let Some(piece) = pieces.optional(OCTET_STRING)? {
        if piece.tag & CONSTRUCTED == 0 {
            whole.extend_from_slice(piece.content);
        } else {
            join(&piece, whole, depth + 1)?;
        }
    }
    match pieces.is_empty() {
        true => Ok(()),
        false => Err(Malformed("a string has a piece that is no string")),
    }
}

/// Returns the dotted form of an object identifier; `None` if the bytes are not one.
pub(crate) fn dotted(bytes: &[u8]) -> Option<String> {
    // The longest known in certificates has 13 bytes. The limit keeps the text short.
    if bytes.is_empty() || bytes.len() > 64 {
        return None;
    }
    let mut text = String::new();
    let mut arc: u64 = 0;
    for &byte in bytes {
        if arc >> 57 != 0 {
            return None;
        }
        arc = arc << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            continue;
        }
        if text.is_empty() {
            let first = (arc / 40).min(2);
            text = format!("{first}.{}", arc - first * 40);
        } else {
            text.push('.');
            text.push_str(&arc.to_string());
        }
        arc = 0;
    }
    // If the last byte announces another, the identifier is cut short.
    (bytes[bytes.len() - 1] & 0x80 == 0).then_some(text)
}

/// Returns the bytes of an object identifier in dotted form; `None` if it is not one.
pub(crate) fn undotted(text: &str) -> Option<Vec<u8>> {
    let arcs: Vec<u64> = text.split('.').map(|arc| arc.parse().ok()).collect::<Option<_>>()?;
    let (&first, rest) = arcs.split_first()?;
    let (&second, rest) = rest.split_first()?;
    if first > 2 || (first < 2 && second >= 40) {
        return None;
    }
    let mut bytes = Vec::new();
    for arc in std::iter::once((first * 40).checked_add(second)?).chain(rest.iter().copied()) {
        let groups = (64 - arc.leading_zeros()).div_ceil(7).max(1);
        for group in (0..groups).rev() {
            let more = if group > 0 { 0x80 } else { 0 };
            bytes.push((arc >> (group * 7)) as u8 & 0x7f | more);
        }
    }
    Some(bytes)
}

/// Reads `YYMMDDhhmmssZ`; years from 50 on are of the last century.
fn utc_time(text: &str) -> Option<i64> {
    let century = if text.get(..2)? >= "50" { "19" } else { "20" };
    generalized_time(&format!("{century}{text}"))
}

/// Reads `YYYYMMDDhhmmss[.f]Z`, the only form that certificates and time stamps may have (RFC 5280,
/// section 4.1.2.5; RFC 3161, section 2.4.2). Fractions of a second are ignored.
pub(crate) fn generalized_time(text: &str) -> Option<i64> {
    let (seconds, _) =
        text.strip_suffix('Z').map(|text| text.split_once('.').unwrap_or((text, "")))?;
    if seconds.len() != 14 || !seconds.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let time = DateTime::strptime("%Y%m%d%H%M%S", seconds).ok()?;
    Some(time.duration_since(date(1970, 1, 1).at(0, 0, 0, 0)).as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indefinite_lengths_end_where_their_zeros_are() {
        let bytes = [0x30, 0x80, 0x30, 0x80, 0x02, 0x01, 0x07, 0, 0, 0x04, 0x00, 0, 0, 0xff];
        let element = BerReader::new(&bytes).any().expect("an element");
        assert_eq!(element.whole.len(), bytes.len() - 1);
        let mut children = element.children();
        let inner = children.expect(SEQUENCE).expect("the inner one");
        assert_eq!(inner.children().expect(INTEGER).expect("a number").number(), Ok(7));
        assert!(children.expect(OCTET_STRING).expect("a string").content.is_empty());
        assert!(children.is_empty());
    }

    #[test]
    fn strings_in_pieces_come_back_whole() {
        let bytes = [0x24, 0x80, 0x04, 2, b'a', b'b', 0x24, 3, 0x04, 1, b'c', 0, 0];
        let element = BerReader::new(&bytes).expect(OCTET_STRING).expect("a string");
        assert_eq!(&*element.octets().expect("whole"), b"abc");
        let wrong = [0x24, 3, 0x02, 1, 0];
        let element = BerReader::new(&wrong).expect(OCTET_STRING).expect("a string");
        assert!(element.octets().is_err());
    }

    #[test]
    fn what_is_cut_short_is_refused_at_every_length() {
        let bytes = [0x30, 0x80, 0x30, 0x81, 3, 0x02, 1, 7, 0, 0];
        for length in 0..bytes.len() {
            assert!(BerReader::new(&bytes[..length]).any().is_err(), "length {length}");
        }
        assert!(BerReader::new(&bytes).any().is_ok());
    }

    #[test]
    fn depth_is_bounded() {
        let bytes = [0x30, 0x80].repeat(100_000);
        let fault = BerReader::new(&bytes).any().expect_err("too deep");
        assert_eq!(fault.to_string(), "elements lie too deep in each other");
        assert!(BerReader::new(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0]).any().is_err());
        assert!(BerReader::new(&[0x04, 0x80, 0, 0]).any().is_err());
    }

    #[test]
    fn object_identifiers_go_both_ways() {
        for text in ["1.2.840.113635.100.6.1.13", "2.5.4.3", "2.999.1", "0.0", "1.39.0.128"] {
            let bytes = undotted(text).expect("bytes");
            assert_eq!(dotted(&bytes).as_deref(), Some(text));
        }
        let known = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x01, 0x0d];
        assert_eq!(undotted("1.2.840.113635.100.6.1.13").as_deref(), Some(&known[..]));
        assert_eq!(dotted(&[]), None);
        assert_eq!(dotted(&[0x2a, 0x86]), None);
        assert_eq!(dotted(&[0xff; 12]), None);
        for text in ["", "1", "1.40.1", "3.1", "1.2.", "1.x"] {
            assert_eq!(undotted(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_seconds() {
        let utc = |text: &str| utc_time(text);
        assert_eq!(utc("700101000000Z"), Some(0));
        assert_eq!(utc("240229235959Z"), Some(1_709_251_199));
        assert_eq!(utc("491231235959Z"), Some(2_524_607_999));
        assert_eq!(utc("500101000000Z"), Some(-631_152_000));
        assert_eq!(generalized_time("20350209214036Z"), Some(2_054_670_036));
        assert_eq!(generalized_time("20260915101112.5Z"), Some(1_789_467_072));
        // A certificate that never ends (RFC 5280, section 4.1.2.5).
        assert_eq!(generalized_time("99991231235959Z"), Some(253_402_300_799));
        assert_eq!(generalized_time("00000101000000Z"), Some(-62_167_219_200));
        for wrong in [
            "",
            "240229235959",
            "241329235959Z",
            "24022923595Z",
            "240229235959Zx",
            "2402292359Z",
            "230230000000Z",
            "240229235959+0100",
            "-40229235959Z",
            "\u{e9}\u{e9}",
            "2\u{e9}",
        ] {
            assert_eq!(utc(wrong), None, "{wrong}");
        }
    }
}
