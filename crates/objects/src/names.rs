//! Percent-encodes and decodes names of objects.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The bytes that are not escaped in a signed address. Source: RFC 3986, section 2.3.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The same in a path, which also keeps slashes.
const ESCAPED_IN_PATH: &AsciiSet = &ESCAPED.remove(b'/');

/// Escapes a name or a value of a query.
pub(crate) fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// Escapes an object's name as the path of an address.
pub(crate) fn escape_path(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED_IN_PATH).to_string()
}

/// Decodes an escaped name. Returns `None` if the result is not UTF-8, as all names of objects are.
///
/// With `plus_is_blank`, a plus is a space, as in forms, listings and inventories.
pub(crate) fn unescape(text: &str, plus_is_blank: bool) -> Option<String> {
    let blanks = if plus_is_blank { text.replace('+', " ") } else { text.to_owned() };
    percent_decode_str(&blanks).decode_utf8().ok().map(|name| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for name in ["a b+c/é&=%.txt", "/lead//two/../x~_-", "100%", "日本"] {
            let spelt = escape_path(name);
            assert!(spelt.bytes().all(|byte| byte.is_ascii_graphic()), "{spelt}");
            assert_eq!(unescape(&spelt, false).as_deref(), Some(name));
            assert_eq!(unescape(&escape(name), true).as_deref(), Some(name));
        }
        assert_eq!(escape("a/b c"), "a%2Fb%20c");
        assert_eq!(escape_path("a/b c+"), "a/b%20c%2B");
    }

    #[test]
    fn a_plus_is_read_as_it_is_told() {
        assert_eq!(unescape("a+b%2B", true).as_deref(), Some("a b+"));
        assert_eq!(unescape("a+b%2B", false).as_deref(), Some("a+b+"));
        assert_eq!(unescape("%FF", true), None);
    }
}
