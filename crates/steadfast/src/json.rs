//! The JSON of events: paths, times, tags and references, as specified in `docs/formats/events.md`.
//!
//! Reports write these values; the results of shards contain them too, and are read again.
//! So they are defined once, below both. Knows no complete document.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Reference, Tag, Timestamp};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};
use steadfast_sys::names::{NameBuf as _, NameBytes as _};

/// Appends a value as compact JSON. Characters that a terminal would interpret are written as
/// `\u….`; `escaped` decides which they are. The text that readers decode is the same either way.
///
/// # Panics
/// If the value cannot be serialized, for example a map whose keys are not strings.
pub fn write_json(value: &impl Serialize, escaped: fn(char) -> bool, out: &mut Vec<u8>) {
    let mut serializer = serde_json::Serializer::with_formatter(out, TerminalSafe { escaped });
    value.serialize(&mut serializer).expect("plain values always serialize into memory");
}

struct TerminalSafe {
    escaped: fn(char) -> bool,
}

impl Formatter for TerminalSafe {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.find(self.escaped) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let letter = rest[at..].chars().next().expect("a character was found there");
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + letter.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        CompactFormatter.write_char_escape(writer, escape)
    }
}

/// A path in a document of Unicode text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathText {
    /// The path, with U+FFFD in place of bytes that are not UTF-8.
    pub path: String,
    /// Its bytes in base64, if `path` is not exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_b64: Option<String>,
}

impl PathText {
    /// Converts a path to text.
    pub fn of(path: &Path) -> PathText {
        PathText {
            path: path.to_string_lossy().into_owned(),
            path_b64: path.to_str().is_none().then(|| BASE64.encode(path.as_bytes())),
        }
    }

    /// Returns the exact path; `None` if the base64 cannot be decoded.
    pub fn to_path(&self) -> Option<PathBuf> {
        match &self.path_b64 {
            None => Some(PathBuf::from(&self.path)),
            Some(base64) => path_of_base64(base64),
        }
    }
}

/// Decodes the bytes of a path; `None` if the base64 cannot be decoded.
pub fn path_of_base64(base64: &str) -> Option<PathBuf> {
    let bytes = BASE64.decode(base64).ok()?;
    Some(PathBuf::from_vec(bytes))
}

/// A time in nanoseconds since 1970: a number if it fits in 64 bits (the years 1677 to 2262),
/// otherwise a string of digits, because most readers of JSON would round a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nanoseconds(pub Timestamp);

impl Serialize for Nanoseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nanoseconds = self.0.as_nanoseconds();
        match i64::try_from(nanoseconds) {
            Ok(nanoseconds) => serializer.serialize_i64(nanoseconds),
            Err(_) => serializer.collect_str(&nanoseconds),
        }
    }
}

impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Nanoseconds, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(i64),
            Digits(String),
        }
        let nanoseconds = match Either::deserialize(deserializer)? {
            Either::Number(nanoseconds) => i128::from(nanoseconds),
            Either::Digits(digits) => digits.parse().map_err(serde::de::Error::custom)?,
        };
        Ok(Nanoseconds(Timestamp::from_nanoseconds(nanoseconds)))
    }
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagText {
    /// The name of the algorithm.
    pub algorithm: Cow<'static, str>,
    /// The digest in hexadecimal.
    pub digest: String,
    /// The length of the file in bytes.
    pub length: u64,
    /// The modification time of the file.
    pub mtime_ns: Nanoseconds,
    /// When the file was tagged, in seconds since 1970.
    pub tagged_s: i64,
}

impl TagText {
    /// Converts a tag to text.
    pub fn of(tag: &Tag) -> TagText {
        TagText {
            algorithm: tag.algorithm.name().into(),
            digest: tag.digest.to_string(),
            length: tag.length,
            mtime_ns: Nanoseconds(tag.mtime),
            tagged_s: tag.tagged.seconds,
        }
    }

    /// Returns the tag; `None` if the algorithm is unknown or the digest is not hexadecimal.
    pub fn to_tag(&self) -> Option<Tag> {
        Some(Tag {
            algorithm: self.algorithm.parse().ok()?,
            digest: self.digest.parse().ok()?,
            length: self.length,
            mtime: self.mtime_ns.0,
            tagged: Timestamp { seconds: self.tagged_s, nanoseconds: 0 },
        })
    }
}

/// The reference that a file was compared with, if that is not its own tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferenceText {
    /// Its source: a kind of attribute, a manifest or a catalogue.
    pub source: Cow<'static, str>,
    /// Digests in hexadecimal, by the name of their algorithm.
    pub digests: BTreeMap<Cow<'static, str>, String>,
    /// The length of the file in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The modification time of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtime_ns: Option<Nanoseconds>,
    /// When it was recorded, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_s: Option<i64>,
}

impl ReferenceText {
    /// Converts a reference to text.
    pub fn of(reference: &Reference) -> ReferenceText {
        let digests = reference.digests.iter();
        ReferenceText {
            source: reference.source.into(),
            digests: digests.map(|(by, digest)| (by.name().into(), digest.to_string())).collect(),
            length: reference.length,
            mtime_ns: reference.mtime.map(|mtime| Nanoseconds(mtime.time)),
            recorded_s: reference.recorded.map(|recorded| recorded.seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        write_json(value, |letter| letter.is_control() || letter == '\u{202e}', &mut out);
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    #[test]
    fn any_name_comes_back() {
        for bytes in [&b"plain"[..], b"\xff\xfe", b"a\nb\"\\", "e\u{202e}a\u{85}".as_bytes()] {
            let path = Path::from_bytes(bytes);
            let line = text(&PathText::of(path));
            assert!(!line.contains(|letter: char| letter.is_control()), "{line}");
            let read: PathText = serde_json::from_str(&line).expect("what was written is read");
            assert_eq!(read.to_path().as_deref(), Some(path));
        }
    }

    #[test]
    fn characters_beyond_16_bits_are_escaped_as_pairs() {
        let mut out = Vec::new();
        write_json(&"a\u{e0001}b", |letter| letter == '\u{e0001}', &mut out);
        assert_eq!(out, b"\"a\\udb40\\udc01b\"");
    }

    #[test]
    fn times_beyond_64_bits_come_back() {
        for nanoseconds in [0, -1, i128::from(i64::MAX), i128::from(i64::MAX) + 1, -(1 << 70)] {
            let time = Nanoseconds(Timestamp::from_nanoseconds(nanoseconds));
            let read = serde_json::from_str::<Nanoseconds>(&text(&time));
            assert_eq!(read.expect("what was written is read"), time, "{nanoseconds}");
        }
    }
}
