//! Values that every document of JSON writes alike: paths, moments, tags, counts; and the writing.
//!
//! In: values. Out: compact JSON that is harmless to a terminal. Readers get the exact text.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use base64::Engine as _;
use serde::{Serialize, Serializer};
use serde_json::ser::{CharEscape, Formatter};
use steadfast::{FileEvent, Resized, Tag, Timestamp};

use crate::escape;

/// A path in a document of Unicode text.
#[derive(Debug, Serialize)]
pub(crate) struct PathText {
    pub(crate) path: String,
    /// The bytes in base64, if `path` could not hold them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path_b64: Option<String>,
}

impl PathText {
    pub(crate) fn of(path: &Path) -> PathText {
        let bytes = path.as_os_str().as_bytes();
        let base64 = || base64::engine::general_purpose::STANDARD.encode(bytes);
        PathText {
            path: path.to_string_lossy().into_owned(),
            path_b64: path.to_str().is_none().then(base64),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Contents {
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    length: u64,
    mtime_ns: Nanoseconds,
}

impl Contents {
    pub(crate) fn of(tag: &Tag) -> Contents {
        Contents {
            algorithm: Some(tag.algorithm.name()),
            digest: Some(tag.digest.to_string()),
            length: tag.length,
            mtime_ns: Nanoseconds(tag.mtime),
        }
    }

    /// What is known of a file now: of one that was not read, no digest.
    pub(crate) fn present(event: &FileEvent) -> Option<Contents> {
        let unread = |resized: Resized| Contents {
            algorithm: None,
            digest: None,
            length: resized.length,
            mtime_ns: Nanoseconds(resized.mtime),
        };
        event.actual.as_ref().map(Contents::of).or(event.resized.map(unread))
    }
}

#[derive(Serialize)]
pub(crate) struct TagObject {
    #[serde(flatten)]
    contents: Contents,
    tagged_s: i64,
}

impl TagObject {
    pub(crate) fn of(tag: &Tag) -> TagObject {
        TagObject { contents: Contents::of(tag), tagged_s: tag.tagged.seconds }
    }
}

/// A moment in nanoseconds since 1970: a number where 64 bits hold it (the years 1677 to 2262), a
/// string of digits beyond, where most readers of JSON would round a number.
pub(crate) struct Nanoseconds(pub(crate) Timestamp);

impl Serialize for Nanoseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nanoseconds = self.0.as_nanoseconds();
        match i64::try_from(nanoseconds) {
            Ok(nanoseconds) => serializer.serialize_i64(nanoseconds),
            Err(_) => serializer.collect_str(&nanoseconds),
        }
    }
}

/// Numbers by name, in the given order.
pub(crate) struct Counts(pub(crate) Vec<(&'static str, u64)>);

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

pub(crate) fn write_object(object: &impl Serialize, out: &mut Vec<u8>) {
    write_value(object, out);
    out.push(b'\n');
}

/// Appends a value, harmless to a terminal.
pub(crate) fn write_value(value: &impl Serialize, out: &mut Vec<u8>) {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Harmless);
    value.serialize(&mut serializer).expect("plain values always serialize into memory");
}

/// Compact JSON in which what a terminal would obey is written as `\u….`. Readers get the exact
/// text either way.
pub(crate) struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment;
        while let Some(at) =
            rest.find(|letter: char| letter.is_control() || escape::misleads(letter))
        {
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
        serde_json::ser::CompactFormatter.write_char_escape(writer, escape)
    }
}
