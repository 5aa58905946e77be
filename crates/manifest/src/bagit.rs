//! The manifests of a BagIt bag and its declaration.
//!
//! Paths are relative to the bag.
//!
//! Source: RFC 8493. LF, CR and `%` in names are encoded as `%0A`, `%0D` and `%25`; before version
//! 1.0, `%` was not.

mod declaration;
mod write;

use std::io::BufRead;

use steadfast_digest::Algorithm;

pub use self::declaration::{Oxum, Version, declaration, fetched, oxum};
pub(crate) use self::write::BagitLines;
pub use self::write::documents;
use crate::lines::{TextLine, line_records, skip_blanks};
use crate::sums::parse_digest;
use crate::{Fault, FaultKind, Record};

/// Reads records line by line. Without an algorithm, the length of a digest determines it.
pub fn records<R: BufRead>(
    reader: R,
    algorithm: Option<Algorithm>,
    version: Version,
) -> impl Iterator<Item = Result<Record, Fault>> {
    line_records(reader, b'\n', move |line| match line.bytes.is_empty() {
        true => Ok(None),
        false => record(line, algorithm, version).map(Some),
    })
}

fn record(
    line: TextLine<'_>,
    algorithm: Option<Algorithm>,
    version: Version,
) -> Result<Record, Fault> {
    let end = line.bytes.iter().position(|byte| b" \t".contains(byte));
    let end =
        end.ok_or_else(|| line.fault(1, FaultKind::Syntax, "a digest and a path should be here"))?;
    let digest = parse_digest(&line.bytes[..end], algorithm)
        .map_err(|fault| line.fault(1, FaultKind::Value, fault.to_string()))?;
    let path = skip_blanks(&line.bytes[end..]);
    let path = path.strip_prefix(b"*").unwrap_or(path);
    if path.is_empty() || path.contains(&0) {
        let column = line.bytes.len() - path.len() + 1;
        return Err(line.fault(column, FaultKind::Value, "there is no path"));
    }
    Ok(Record { digests: vec![digest], ..Record::new(decode(path, version)) })
}

/// Decodes a path. A `%` that starts no known code stays as it is.
fn decode(path: &[u8], version: Version) -> Vec<u8> {
    let mut plain = Vec::with_capacity(path.len());
    let mut rest = path;
    while let [byte, after @ ..] = rest {
        let (byte, after) = match rest {
            [b'%', b'0', b'a' | b'A', after @ ..] => (b'\n', after),
            [b'%', b'0', b'd' | b'D', after @ ..] => (b'\r', after),
            [b'%', b'2', b'5', after @ ..] if version >= Version::ENCODES_PERCENT => (b'%', after),
            _ => (*byte, after),
        };
        plain.push(byte);
        rest = after;
    }
    plain
}

/// Encodes a path as manifests do: LF, CR and `%`.
pub fn encode(path: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(path.len());
    for byte in path {
        match byte {
            b'%' => encoded.extend_from_slice(b"%25"),
            b'\n' => encoded.extend_from_slice(b"%0A"),
            b'\r' => encoded.extend_from_slice(b"%0D"),
            other => encoded.push(*other),
        }
    }
    encoded
}

/// Parses the name of a manifest: whether it lists the bag's own files, and the name of its
/// algorithm, `sha256` for `manifest-sha256.txt`.
pub fn algorithm_of(name: &str) -> Option<(bool, &str)> {
    let (tag, rest) = match name.strip_prefix("tagmanifest-") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix("manifest-")?),
    };
    Some((tag, rest.strip_suffix(".txt")?))
}
