//! Reads XML property lists: the part of XML that they use.
//!
//! Declarations, comments and the document type are skipped. Only XML's predefined entities are
//! known, so no entity can expand.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

use super::{DEPTH_MAX, Value, malformed};
use crate::error::Error;

/// Reads a document that holds one value; returns how many bytes follow its end, which Apple's
/// parser ignores.
pub(super) fn parse(bytes: &[u8]) -> Result<(Value, usize), Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        // What is not text may follow the end.
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).expect("valid up to there"),
    };
    let mut reader = XmlReader { text, at: 0 };
    let root = reader.tag()?;
    if root.name != "plist" || root.kind != XmlTagKind::Open {
        return Err(reader.error("no `plist` element"));
    }
    let first = reader.tag()?;
    let value = reader.value(first, 0)?;
    reader.close("plist")?;
    let end = reader.at;
    let blank = reader.skip_between().is_ok() && reader.at == bytes.len();
    Ok((value, if blank { 0 } else { bytes.len() - end }))
}

struct XmlReader<'a> {
    text: &'a str,
    at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum XmlTagKind {
    Open,
    Close,
    Empty,
}

#[derive(Clone, Copy)]
struct XmlTag<'a> {
    name: &'a str,
    kind: XmlTagKind,
}

impl<'a> XmlReader<'a> {
    fn error(&self, reason: &'static str) -> Error {
        malformed(reason, self.at)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Passes over white space, declarations, comments and the document type.
    fn skip_between(&mut self) -> Result<(), Error> {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let rest = self.rest();
            if rest.starts_with("<!--") {
                self.skip_past("-->")?;
            } else if rest.starts_with("<?") {
                self.skip_past("?>")?;
            } else if rest.starts_with("<!DOCTYPE") {
                self.skip_doctype()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_past(&mut self, end: &str) -> Result<(), Error> {
        let found = self.rest().find(end).ok_or_else(|| self.error("no end"))?;
        self.at += found + end.len();
        Ok(())
    }

    /// A document type with definitions of its own is rejected: it could define entities.
    fn skip_doctype(&mut self) -> Result<(), Error> {
        let end = self.rest().find(['>', '[']).ok_or_else(|| self.error("no end"))?;
        if self.rest().as_bytes()[end] == b'[' {
            return Err(self.error("a document type of its own"));
        }
        self.at += end + 1;
        Ok(())
    }

    /// Reads the next tag.
    fn tag(&mut self) -> Result<XmlTag<'a>, Error> {
        self.skip_between()?;
        let inner = self.rest().strip_prefix('<').ok_or_else(|| self.error("no tag"))?;
        let end = inner.find('>').ok_or_else(|| self.error("a tag without an end"))?;
        let inner = &inner[..end];
        let (inner, kind) = match (inner.strip_prefix('/'), inner.strip_suffix('/')) {
            (Some(inner), _) => (inner, XmlTagKind::Close),
            (None, Some(inner)) => (inner, XmlTagKind::Empty),
            (None, None) => (inner, XmlTagKind::Open),
        };
        // Attributes after the name are ignored; only `plist` has one, its version.
        let name = inner.split_ascii_whitespace().next().unwrap_or("");
        self.at += end + 2;
        Ok(XmlTag { name, kind })
    }

    fn close(&mut self, name: &str) -> Result<(), Error> {
        let tag = self.tag()?;
        match tag.kind == XmlTagKind::Close && tag.name == name {
            true => Ok(()),
            false => Err(self.error("an element is not closed")),
        }
    }

    /// Reads the value that opened with a tag.
    fn value(&mut self, tag: XmlTag<'a>, depth: usize) -> Result<Value, Error> {
        if depth > DEPTH_MAX {
            return Err(self.error("nested too deep"));
        }
        let empty = match tag.kind {
            XmlTagKind::Open => false,
            XmlTagKind::Empty => true,
            XmlTagKind::Close => return Err(self.error("no value")),
        };
        match tag.name {
            "dict" if empty => Ok(Value::Map(Vec::new())),
            "dict" => self.dictionary(depth),
            "array" if empty => Ok(Value::List(Vec::new())),
            "array" => self.array(depth),
            "true" | "false" => {
                if !empty {
                    self.close(tag.name)?;
                }
                Ok(Value::Boolean(tag.name == "true"))
            }
            "string" | "data" | "integer" | "real" | "date" => {
                let text = if empty { String::new() } else { self.text_of(tag.name)? };
                self.scalar(tag.name, text)
            }
            _ => Err(self.error("an element that plists do not have")),
        }
    }

    fn dictionary(&mut self, depth: usize) -> Result<Value, Error> {
        let mut entries = Vec::new();
        loop {
            let tag = self.tag()?;
            let key = match (tag.name, tag.kind) {
                ("dict", XmlTagKind::Close) => return Ok(Value::Map(entries)),
                ("key", XmlTagKind::Open) => self.text_of("key")?,
                ("key", XmlTagKind::Empty) => String::new(),
                _ => return Err(self.error("no key")),
            };
            let tag = self.tag()?;
            entries.push((key, self.value(tag, depth + 1)?));
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Error> {
        let mut values = Vec::new();
        loop {
            let tag = self.tag()?;
            if tag.name == "array" && tag.kind == XmlTagKind::Close {
                return Ok(Value::List(values));
            }
            values.push(self.value(tag, depth + 1)?);
        }
    }

    fn scalar(&self, name: &str, text: String) -> Result<Value, Error> {
        let value = match name {
            "string" => Some(Value::Text(text)),
            "date" => Some(Value::Date(text)),
            "data" => data(&text).map(Value::Data),
            "real" => text.trim().parse().ok().map(Value::Real),
            _ => integer(text.trim()).map(Value::Integer),
        };
        value.ok_or_else(|| self.error("an element holds what it cannot"))
    }

    /// Reads the text up to the end of an element.
    fn text_of(&mut self, name: &str) -> Result<String, Error> {
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find(['<', '&']).ok_or_else(|| self.error("an element has no end"))?;
            text.push_str(&rest[..end]);
            self.at += end;
            let rest = self.rest();
            if rest.starts_with('&') {
                text.push(self.entity()?);
            } else if rest.starts_with("<!--") {
                self.skip_past("-->")?;
            } else if let Some(inner) = rest.strip_prefix("<![CDATA[") {
                let end = inner.find("]]>").ok_or_else(|| self.error("no end"))?;
                text.push_str(&inner[..end]);
                self.at += "<![CDATA[".len() + end + "]]>".len();
            } else {
                self.close(name)?;
                return Ok(text);
            }
        }
    }

    fn entity(&mut self) -> Result<char, Error> {
        // The longest is `&#x10ffff;`.
        let inner = &self.rest()[1..];
        let end = inner.bytes().take(12).position(|letter| letter == b';');
        let unknown = || self.error("an entity that XML does not have");
        let name = &inner[..end.ok_or_else(unknown)?];
        let letter = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => {
                let number = name.strip_prefix('#').ok_or_else(unknown)?;
                let code = match number.strip_prefix('x') {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => number.parse(),
                };
                code.ok().and_then(char::from_u32)
            }
        };
        let letter = letter.ok_or_else(unknown)?;
        self.at += name.len() + 2;
        Ok(letter)
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
            "<string>&#xd800;</string>",
            "<data>!</data>",
            "<set/>",
            "<integer>1.5</integer>",
            "<integer>--1</integer>",
            "</dict>",
            "<true/><true/>",
            "<array><true/></dict>",
            "text",
            "<string>&\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
        ] {
            assert!(value(inner).is_err(), "{inner}");
        }
        assert!(parse(b"\xff\xfe").is_err());
        let bomb = b"<!DOCTYPE plist [<!ENTITY a \"aa\">]><plist><string>&a;</string></plist>";
        assert!(parse(bomb).is_err());
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
