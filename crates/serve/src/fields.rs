//! Bytes of an address or a form → named values, and values → an address.
//!
//! In: `name=value&…`, percent-encoded, from anyone. Out: bytes, since names of files need not be
//! UTF-8. Knows nothing of what the values mean.

use std::fmt::Write as _;

/// Values that one request may name: far more than any form here has.
const FIELDS_MAX: usize = 64;

/// Named values, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(Vec<u8>, Vec<u8>)>);

impl Fields {
    /// Reads a query or the body of a form; `None` for what is neither.
    pub(crate) fn parse(encoded: &[u8]) -> Option<Fields> {
        let mut fields = Vec::new();
        for pair in encoded.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            let split = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let value = pair.get(split + 1..).unwrap_or_default();
            fields.push((decode_form(&pair[..split])?, decode_form(value)?));
            if fields.len() > FIELDS_MAX {
                return None;
            }
        }
        Some(Fields(fields))
    }

    /// Returns the first value of a name.
    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        let found = self.0.iter().find(|(other, _)| other == name.as_bytes());
        found.map(|(_, value)| value.as_slice())
    }

    /// Returns all values of a name.
    pub(crate) fn all_bytes(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named = self.0.iter().filter(move |(other, _)| other == name.as_bytes());
        named.map(|(_, value)| value.as_slice())
    }

    /// Returns all values of a name that are UTF-8.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(other, _)| other == name.as_bytes());
        named.filter_map(|(_, value)| std::str::from_utf8(value).ok())
    }

    /// Returns the first value of a name, if it is UTF-8.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(name)?).ok()
    }

    /// Returns the first value of a name as a number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

/// Writes bytes so that they stand for themselves in an address: all but letters, digits and
/// `-._~/` as `%XX`.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            // Writing to a `String` cannot fail.
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

/// Reads what [`encode`] wrote; `None` for a `%` without two digits.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = after;
            continue;
        }
        let (&[high, low], after) = after.split_first_chunk::<2>()?;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(high)? * 16 + digit(low)?).ok()?);
        rest = after;
    }
    Some(bytes)
}

/// The same, where `+` stands for a space, as forms have it.
fn decode_form(text: &[u8]) -> Option<Vec<u8>> {
    let spaced: Vec<u8> = text.iter().map(|&byte| if byte == b'+' { b' ' } else { byte }).collect();
    decode(&spaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_go_through_an_address() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(encode(&all).as_bytes()), Some(all.clone()));
        let form = format!("a=1&path={}&empty=&flag", encode(&all));
        let fields = Fields::parse(form.as_bytes()).unwrap();
        assert_eq!(fields.bytes("path"), Some(&all[..]));
        assert_eq!((fields.text("empty"), fields.text("flag")), (Some(""), Some("")));
        assert_eq!((fields.number("a"), fields.text("b")), (Some(1), None));
    }

    #[test]
    fn forms_write_spaces_as_plus() {
        let fields = Fields::parse(b"a=x+y%2Bz").unwrap();
        assert_eq!(fields.text("a"), Some("x y+z"));
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for bad in [&b"a=%"[..], b"a=%4", b"a=%zz", b"%q=1"] {
            assert_eq!(Fields::parse(bad), None, "{bad:?}");
        }
        assert_eq!(Fields::parse(&b"a=1&".repeat(FIELDS_MAX + 1)), None);
    }
}
