//! Values as the documents of a job write them: paths, moments, digests, and JSON itself.
//!
//! In: values. Out: compact JSON that is harmless to a terminal; and back. The keys are those of
//! `docs/formats/events.md`.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};
use steadfast::{Tag, Timestamp};

/// Appends a value.
pub(crate) fn write(value: &impl Serialize, out: &mut Vec<u8>) {
    let mut serializer = serde_json::Serializer::with_formatter(out, Harmless);
    value.serialize(&mut serializer).expect("plain values always serialise into memory");
}

/// Compact JSON in which what a terminal would obey is written as `\u….`: control characters and
/// what changes the direction of text.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.find(misleads) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let letter = rest[at..].chars().next().expect("a character was found there");
            write!(writer, "\\u{:04x}", u32::from(letter))?;
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

/// All of them are below U+10000, so one escape holds each.
fn misleads(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// A path in a document of Unicode text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PathText {
    pub(crate) path: String,
    /// The bytes in base64, if `path` could not hold them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path_b64: Option<String>,
}

impl PathText {
    pub(crate) fn of(path: &Path) -> PathText {
        PathText {
            path: path.to_string_lossy().into_owned(),
            path_b64: path.to_str().is_none().then(|| BASE64.encode(path.as_os_str().as_bytes())),
        }
    }

    /// Returns the path, byte for byte; `None` if the base64 is none.
    pub(crate) fn to_path(&self) -> Option<PathBuf> {
        match &self.path_b64 {
            None => Some(PathBuf::from(&self.path)),
            Some(base64) => path_of_base64(base64),
        }
    }
}

/// Reads a path that is not UTF-8; `None` if the base64 is none.
pub(crate) fn path_of_base64(base64: &str) -> Option<PathBuf> {
    let bytes = BASE64.decode(base64).ok()?;
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// A moment in nanoseconds since 1970: a number where 64 bits hold it, a string of digits beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub(crate) struct TagText {
    pub(crate) algorithm: String,
    pub(crate) digest: String,
    pub(crate) length: u64,
    pub(crate) mtime_ns: Nanoseconds,
    pub(crate) tagged_s: i64,
}

impl TagText {
    pub(crate) fn of(tag: &Tag) -> TagText {
        TagText {
            algorithm: tag.algorithm.name().to_owned(),
            digest: tag.digest.to_string(),
            length: tag.length,
            mtime_ns: Nanoseconds(tag.mtime),
            tagged_s: tag.tagged.seconds,
        }
    }

    /// Returns the tag; `None` if the algorithm or the digest is none.
    pub(crate) fn to_tag(&self) -> Option<Tag> {
        let algorithm = self.algorithm.parse().ok()?;
        Some(Tag {
            algorithm,
            digest: digest(&self.digest)?,
            length: self.length,
            mtime: self.mtime_ns.0,
            tagged: Timestamp { seconds: self.tagged_s, nanoseconds: 0 },
        })
    }
}

/// Reads a digest.
pub(crate) fn digest(hex: &str) -> Option<steadfast::Digest> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let pairs = hex.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| match pair {
        [high, low] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
        _ => None,
    });
    steadfast::Digest::from_slice(&bytes.collect::<Option<Vec<u8>>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    fn text(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        write(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn any_name_comes_back() {
        for bytes in [&b"plain"[..], b"\xff\xfe", b"a\nb\"\\", "e\u{202e}a\u{85}".as_bytes()] {
            let path = Path::new(OsStr::from_bytes(bytes));
            let line = text(&PathText::of(path));
            assert!(!line.contains(misleads), "{line}");
            let read: PathText = serde_json::from_str(&line).unwrap();
            assert_eq!(read.to_path().unwrap(), path);
        }
    }

    #[test]
    fn times_beyond_64_bits_come_back() {
        for nanoseconds in [0, -1, i128::from(i64::MAX), i128::from(i64::MAX) + 1, -(1 << 70)] {
            let time = Nanoseconds(Timestamp::from_nanoseconds(nanoseconds));
            let read: Nanoseconds = serde_json::from_str(&text(&time)).unwrap();
            assert_eq!(read, time, "{nanoseconds}");
        }
    }

    #[test]
    fn digests_are_hexadecimal() {
        let digest_of = digest(&"0f".repeat(32)).unwrap();
        assert_eq!(digest_of.to_string(), "0f".repeat(32));
        assert_eq!((digest("0"), digest("zz")), (None, None));
    }
}
