//! The metadata of a bag: `bagit.txt`, `fetch.txt` and the `Payload-Oxum` of `bag-info.txt`.

use std::fmt;
use std::io::BufRead;

use crate::lines::LineReader;
use crate::{DocumentPlace, Fault, FaultKind};

/// The version of BagIt that a bag follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The 1 in 1.0.
    pub major: u32,
    /// The 97 in 0.97.
    pub minor: u32,
}

impl Version {
    /// The first version that encodes `%` in paths and requires each file in every manifest.
    pub const ENCODES_PERCENT: Version = Version { major: 1, minor: 0 };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The size of the payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oxum {
    /// Bytes of all files of the payload.
    pub bytes: u64,
    /// Files of the payload.
    pub files: u64,
}

impl fmt::Display for Oxum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.bytes, self.files)
    }
}

/// Reads `bagit.txt`.
///
/// # Errors
///
/// The first fault, if the file does not declare a known version and UTF-8.
pub fn declaration(reader: impl BufRead) -> Result<Version, Fault> {
    let mut lines = LineReader::new(reader, b'\n');
    let (mut version, mut encoding) = (None, None);
    while lines.advance()? {
        let Some((label, value)) = label_and_value(lines.line()) else {
            if lines.line().is_empty() {
                continue;
            }
            return Err(lines.fault(1, FaultKind::Syntax, "a label and a value should be here"));
        };
        if label.eq_ignore_ascii_case(b"BagIt-Version") {
            let found = version_of(value);
            version = Some(found.ok_or_else(|| {
                lines.fault(1, FaultKind::Value, "the version is not two numbers")
            })?);
        } else if label.eq_ignore_ascii_case(b"Tag-File-Character-Encoding") {
            let utf8 = [&b"UTF-8"[..], b"UTF8", b"US-ASCII", b"ASCII"];
            if !utf8.iter().any(|known| value.eq_ignore_ascii_case(known)) {
                let what = "the bag's own files are in another encoding than UTF-8";
                return Err(lines.fault(1, FaultKind::Unsupported, what));
            }
            encoding = Some(());
        }
    }
    let lacks = |what| Fault::new(DocumentPlace::Document, FaultKind::Syntax, what);
    let version = version.ok_or_else(|| lacks("`BagIt-Version` is missing"))?;
    encoding.ok_or_else(|| lacks("`Tag-File-Character-Encoding` is missing"))?;
    if version.major > 1 {
        let what = "this program knows the versions of BagIt up to 1";
        return Err(Fault::new(DocumentPlace::Document, FaultKind::Unsupported, what));
    }
    Ok(version)
}

fn version_of(value: &[u8]) -> Option<Version> {
    let (major, minor) = str::from_utf8(value).ok()?.split_once('.')?;
    Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// Reads the `Payload-Oxum` of `bag-info.txt`; `None` if it has none.
///
/// # Errors
/// The first fault.
pub fn oxum(reader: impl BufRead) -> Result<Option<Oxum>, Fault> {
    let mut lines = LineReader::new(reader, b'\n');
    let mut found = None;
    while lines.advance()? {
        let Some((label, value)) = label_and_value(lines.line()) else { continue };
        if label.eq_ignore_ascii_case(b"Payload-Oxum") {
            let what = "`Payload-Oxum` is not bytes and files, as in 123.4";
            let value = oxum_of(value);
            found = Some(value.ok_or_else(|| lines.fault(1, FaultKind::Value, what))?);
        }
    }
    Ok(found)
}

/// Counts the files that `fetch.txt` lists, and reports faulty lines.
pub fn fetched(reader: impl BufRead, mut faulty: impl FnMut(Fault)) -> u64 {
    let mut lines = LineReader::new(reader, b'\n');
    let mut files = 0;
    loop {
        match lines.advance() {
            Ok(true) => files += u64::from(!lines.line().is_empty()),
            Ok(false) => return files,
            Err(fault) => faulty(fault),
        }
    }
}

fn oxum_of(value: &[u8]) -> Option<Oxum> {
    let (bytes, files) = str::from_utf8(value).ok()?.split_once('.')?;
    Some(Oxum { bytes: bytes.parse().ok()?, files: files.parse().ok()? })
}

/// Splits `Label: value`. A line that begins with a blank continues the previous one.
fn label_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    if line.first().is_none_or(|byte| b" \t".contains(byte)) {
        return None;
    }
    let colon = line.iter().position(|&byte| byte == b':')?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_two_numbers() {
        for (text, version) in [
            ("BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n", "0.97"),
            ("\u{feff}BagIt-Version: 1.0\r\nTag-File-Character-Encoding: utf-8\r\n", "1.0"),
        ] {
            assert_eq!(declaration(text.as_bytes()).unwrap().to_string(), version);
        }
        for (text, kind) in [
            ("", FaultKind::Syntax),
            ("BagIt-Version: 1.0\n", FaultKind::Syntax),
            ("BagIt-Version: x\nTag-File-Character-Encoding: UTF-8\n", FaultKind::Value),
            ("BagIt-Version: 2.0\nTag-File-Character-Encoding: UTF-8\n", FaultKind::Unsupported),
            ("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-16\n", FaultKind::Unsupported),
        ] {
            assert_eq!(declaration(text.as_bytes()).unwrap_err().kind, kind, "{text:?}");
        }
        assert!(Version { major: 0, minor: 97 } < Version::ENCODES_PERCENT);
    }

    #[test]
    fn the_count_is_found_among_other_lines() {
        let text = "Source: x\n  Payload-Oxum: 1.1\npayload-oxum : 12.3\n";
        assert_eq!(oxum(text.as_bytes()), Ok(Some(Oxum { bytes: 12, files: 3 })));
        assert_eq!(oxum(&b"Source: x\n"[..]), Ok(None));
        assert_eq!(oxum(&b"Payload-Oxum: 12\n"[..]).unwrap_err().kind, FaultKind::Value);
    }
}
