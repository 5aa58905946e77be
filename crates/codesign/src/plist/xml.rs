//! Reads XML property lists.
//!
//! Declarations, comments and the document type are skipped. No entity can be defined, so none can
//! expand.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use roxmltree::{Document, Node, ParsingOptions};

use super::{DEPTH_MAX, Value, malformed};
use crate::error::Error;

/// The most elements and texts, of about 100 bytes of memory each. The seal of a file has twenty.
const NODES_MAX: u32 = 4 << 20;

/// How a list ends.
const END: &str = "</plist>";

/// Reads a document that holds one value; returns how many bytes follow its end, which Apple's
/// parser ignores.
pub(super) fn parse(bytes: &[u8]) -> Result<(Value, usize), Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        // What is not text may follow the end.
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).expect("valid up to there"),
    };
    let end = text.find(END).ok_or_else(|| malformed("no end of a `plist` element", text.len()))?;
    let (text, after) = text.split_at(end + END.len());
    if let Some(at) = text.find("<!ENTITY") {
        return Err(malformed("an entity of its own", at));
    }
    let options = ParsingOptions { allow_dtd: true, nodes_limit: NODES_MAX, entity_resolver: None };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| Error::malformed(format!("a property list: {error}")))?;
    let root = document.root_element();
    let mut values = elements(root)?.into_iter();
    match (root.tag_name().name(), values.next(), values.next()) {
        ("plist", Some(only), None) => {
            let whole = text.len() + after.len() == bytes.len();
            let trailing = if whole && is_blank(after) { 0 } else { bytes.len() - text.len() };
            Ok((value(only, 0)?, trailing))
        }
        _ => Err(malformed("not one value in a `plist` element", 0)),
    }
}

/// Returns whether only white space and comments follow.
fn is_blank(mut rest: &str) -> bool {
    loop {
        rest = rest.trim_ascii_start();
        match rest.strip_prefix("<!--").map(|comment| comment.split_once("-->")) {
            Some(Some((_, after))) => rest = after,
            Some(None) => return false,
            None => return rest.is_empty(),
        }
    }
}

/// Returns the elements in an element that has no text.
fn elements<'a, 'i>(node: Node<'a, 'i>) -> Result<Vec<Node<'a, 'i>>, Error> {
    let is_text =
        |node: &Node<'_, '_>| node.is_text() && !node.text().unwrap_or("").trim_ascii().is_empty();
    if let Some(text) = node.children().find(is_text) {
        return Err(malformed("text where a value must be", text.range().start));
    }
    Ok(node.children().filter(Node::is_element).collect())
}

fn value(node: Node<'_, '_>, depth: usize) -> Result<Value, Error> {
    let error = |reason| malformed(reason, node.range().start);
    if depth > DEPTH_MAX {
        return Err(error("nested too deep"));
    }
    if node.tag_name().namespace().is_some() {
        return Err(error("a name space"));
    }
    match node.tag_name().name() {
        "dict" => {
            let mut entries = Vec::new();
            for pair in elements(node)?.chunks(2) {
                let [key, inner] = pair else { return Err(error("a key without a value")) };
                if key.tag_name().name() != "key" {
                    return Err(error("no key"));
                }
                entries.push((text_of(*key)?, value(*inner, depth + 1)?));
            }
            Ok(Value::Map(entries))
        }
        "array" => {
            let values = elements(node)?.into_iter().map(|inner| value(inner, depth + 1));
            Ok(Value::List(values.collect::<Result<_, _>>()?))
        }
        name @ ("true" | "false") if node.children().next().is_none() => {
            Ok(Value::Boolean(name == "true"))
        }
        name @ ("string" | "data" | "integer" | "real" | "date") => {
            scalar(name, text_of(node)?).ok_or_else(|| error("an element holds what it cannot"))
        }
        _ => Err(error("an element that plists do not have")),
    }
}

fn scalar(name: &str, text: String) -> Option<Value> {
    match name {
        "string" => Some(Value::Text(text)),
        "date" => Some(Value::Date(text)),
        "data" => data(&text).map(Value::Data),
        "real" => text.trim().parse().ok().map(Value::Real),
        _ => integer(text.trim()).map(Value::Integer),
    }
}

/// Returns the text of an element without elements; comments in it are skipped.
fn text_of(node: Node<'_, '_>) -> Result<String, Error> {
    match node.children().find(Node::is_element) {
        Some(inner) => Err(malformed("an element in a text", inner.range().start)),
        None => Ok(node.children().filter(Node::is_text).filter_map(|text| text.text()).collect()),
    }
}

/// Decodes base64 with white space in it. As for Apple's reader, padding may be missing, and the
/// last letter may carry bits that are no part of a byte.
fn data(text: &str) -> Option<Vec<u8>> {
    const ENGINE: GeneralPurpose =
        GeneralPurpose::new(&STANDARD, NO_PAD.with_decode_allow_trailing_bits(true));
    let letters: String = text.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
    ENGINE.decode(letters.trim_end_matches('=')).ok()
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    // Both parsers would accept a second sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let number = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse::<i128>().ok()?,
    };
    Some(if negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(inner: &str) -> Result<Value, Error> {
        let whole = format!("<?xml version=\"1.0\"?>\n<plist version=\"1.0\">{inner}</plist>\n");
        parse(whole.as_bytes()).map(|(value, trailing_len)| {
            assert_eq!(trailing_len, 0, "{inner}");
            value
        })
    }

    #[test]
    fn what_follows_the_end_is_counted() {
        for (after, expected) in [
            (&b""[..], 0),
            (b"\n <!-- blank -->\n", 0),
            (b"more", 4),
            (b"\n</plist>", 9),
            (b"\0", 1),
            (b"\xff\xfe", 2),
            (b"<!-- no end", 11),
            (b"<plist><false/></plist>", 23),
        ] {
            let bytes = [b"<plist><true/></plist>", after].concat();
            assert_eq!(parse(&bytes).unwrap(), (Value::Boolean(true), expected), "{after:?}");
        }
    }

    #[test]
    fn every_kind_of_value() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (inner, expected) in [
            ("<true/>", Value::Boolean(true)),
            ("<false></false>", Value::Boolean(false)),
            ("<integer> -12 </integer>", Value::Integer(-12)),
            ("<integer>0x10</integer>", Value::Integer(16)),
            ("<real>20</real>", Value::Real(20.0)),
            ("<string/>", text("")),
            ("<string>a&amp;&lt;&gt;&quot;&apos;&#65;&#x42;</string>", text("a&<>\"'AB")),
            ("<string>a<!-- no -->b<![CDATA[<&]]></string>", text("ab<&")),
            ("<data>\n\tZm9v\n</data>", Value::Data(b"foo".to_vec())),
            ("<date>2001-01-01T00:00:00Z</date>", Value::Date("2001-01-01T00:00:00Z".to_owned())),
            (
                "<array><true/> <dict/></array>",
                Value::List(vec![Value::Boolean(true), Value::Map(Vec::new())]),
            ),
            (
                "<dict><key>k</key><array/></dict>",
                Value::Map(vec![("k".to_owned(), Value::List(Vec::new()))]),
            ),
        ] {
            assert_eq!(value(inner).unwrap(), expected, "{inner}");
        }
    }

    #[test]
    fn what_is_no_plist_is_told() {
        for inner in [
            "",
            "<true>",
            "<dict><true/></dict>",
            "<dict><key>a</key></dict>",
            "<string>a",
            "<string>&nbsp;</string>",
            "<data>!</data>",
            "<set/>",
            "<integer>1.5</integer>",
            "<integer>--1</integer>",
            "</dict>",
            "<true/><true/>",
            "<array><true/></dict>",
            "text",
            "<string>&\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
            "<string>a<true/></string>",
            "<array>a<true/></array>",
            "<x:true xmlns:x=\"y\"/>",
        ] {
            assert!(value(inner).is_err(), "{inner}");
        }
        assert!(parse(b"\xff\xfe").is_err());
        let bomb = b"<!DOCTYPE plist [<!ENTITY a \"aa\">]><plist><string>&a;</string></plist>";
        assert!(parse(bomb).is_err());
        let behind =
            b"<!-- <!DOCTYPE> --><!DOCTYPE plist [<!ENTITY a \"aa\">]><plist><true/></plist>";
        assert!(parse(behind).is_err());
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| {
            value(&format!("{}{}", "<array>".repeat(depth), "</array>".repeat(depth)))
        };
        assert!(nested(DEPTH_MAX).is_ok());
        assert!(nested(DEPTH_MAX + 2).is_err());
        assert!(nested(1_000_000).is_err());
    }

    #[test]
    fn data_is_base64_with_or_without_padding() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9v\n\tYg", b"foob"),
            ("Zm9vYh", b"foob"),
            ("Zg=", b"f"),
            ("Zg===", b"f"),
            ("Zm9vYmE=", b"fooba"),
            ("Zm9vYmFy", b"foobar"),
            ("+/+/", &[0xfb, 0xff, 0xbf]),
        ] {
            assert_eq!(data(text).as_deref(), Some(bytes), "{text}");
        }
        for text in ["Z", "Zg=a", "Zm9vY", "Z!==", "Zm\u{e9}"] {
            assert_eq!(data(text), None, "{text}");
        }
    }
}
