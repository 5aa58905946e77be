//! Parses queries and forms, and encodes values for addresses.
//!
//! In: `name=value&…`, percent-encoded, from anyone. Out: bytes, since file names need not be
//! UTF-8.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode};

/// Most values of one request. No form here has nearly as many.
const FIELDS_MAX: usize = 64;

/// Named values, in the order of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedValues(Vec<(Vec<u8>, Vec<u8>)>);

impl NamedValues {
    /// Parses a query or the body of a form. Returns `None` if it is malformed.
    pub(crate) fn parse(encoded: &[u8]) -> Option<NamedValues> {
        let mut fields = Vec::new();
        for pair in encoded.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
            let split = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let value = pair.get(split + 1..).unwrap_or_default();
            fields.push((decode_form(&pair[..split])?, decode_form(value)?));
            if fields.len() > FIELDS_MAX {
                return None;
            }
        }
        Some(NamedValues(fields))
    }

    /// Returns the first value of a name.
    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.all_bytes(name).next()
    }

    /// Returns all values of a name.
    pub(crate) fn all_bytes(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named = self.0.iter().filter(move |(other, _)| other == name.as_bytes());
        named.map(|(_, value)| value.as_slice())
    }

    /// Returns all values of a name that are UTF-8.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.all_bytes(name).filter_map(|value| std::str::from_utf8(value).ok())
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

/// The bytes of a path that stay as they are in an address. Source: RFC 3986, section 2.3.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Percent-encodes bytes for an address.
pub(crate) fn encode(bytes: &[u8]) -> String {
    percent_encode(bytes, ESCAPED).to_string()
}

/// Decodes the output of [`encode`]. Returns `None` if a `%` is not followed by two digits, which
/// the library would leave as it is.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut escapes = text.split(|byte| *byte == b'%').skip(1);
    let is_digits = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    escapes
        .all(|escape| escape.get(..2).is_some_and(is_digits))
        .then(|| percent_decode(text).collect())
}

/// Decodes a part of a form, in which `+` is a space.
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
        let fields = NamedValues::parse(form.as_bytes()).unwrap();
        assert_eq!(fields.bytes("path"), Some(&all[..]));
        assert_eq!((fields.text("empty"), fields.text("flag")), (Some(""), Some("")));
        assert_eq!((fields.number("a"), fields.text("b")), (Some(1), None));
    }

    #[test]
    fn forms_write_spaces_as_plus() {
        let fields = NamedValues::parse(b"a=x+y%2Bz").unwrap();
        assert_eq!(fields.text("a"), Some("x y+z"));
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for bad in [&b"a=%"[..], b"a=%4", b"a=%zz", b"%q=1"] {
            assert_eq!(NamedValues::parse(bad), None, "{bad:?}");
        }
        assert_eq!(NamedValues::parse(&b"a=1&".repeat(FIELDS_MAX + 1)), None);
    }
}
