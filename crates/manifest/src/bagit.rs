//! The manifests of a BagIt bag, and what the bag says of itself.
//!
//! Paths are relative to the bag.
//!
//! Source: RFC 8493. LF, CR and `%` in names stand as `%0A`, `%0D` and `%25`; before version 1.0
//! only the first two did.

mod declaration;
mod write;

use std::io::BufRead;

use steadfast_digest::Algorithm;

pub use self::declaration::{Oxum, Version, declaration, fetched, oxum};
pub(crate) use self::write::Lines;
pub use self::write::documents;
use crate::lines::{LineReader, skip_blanks};
use crate::sums::{digest_of, told_by_length};
use crate::{Fault, FaultKind, Record};

/// Reads records line by line.
pub struct Records<R> {
    lines: LineReader<R>,
    algorithm: Option<Algorithm>,
    version: Version,
}

impl<R: BufRead> Records<R> {
    /// Without an algorithm the length of a digest tells it.
    pub fn new(reader: R, algorithm: Option<Algorithm>, version: Version) -> Records<R> {
        Records { lines: LineReader::new(reader, b'\n'), algorithm, version }
    }

    fn record(&self) -> Result<Record, Fault> {
        let line = self.lines.line();
        let fault = |at: usize, kind, what| self.lines.fault(at + 1, kind, what);
        let end = line.iter().position(|byte| b" \t".contains(byte));
        let end =
            end.ok_or_else(|| fault(0, FaultKind::Syntax, "a digest and a path should be here"))?;
        let hex = &line[..end];
        let algorithm = self.algorithm.or_else(|| told_by_length(hex.len()));
        let algorithm = algorithm
            .ok_or_else(|| fault(0, FaultKind::Value, "the digest has the wrong length"))?;
        let digest = digest_of(hex, algorithm)
            .map_err(|fault| self.lines.fault(1, FaultKind::Value, fault.to_string()))?;
        let path = skip_blanks(&line[end..]);
        let path = path.strip_prefix(b"*").unwrap_or(path);
        let at = line.len() - path.len();
        if path.is_empty() || path.contains(&0) {
            return Err(fault(at, FaultKind::Value, "there is no path"));
        }
        let digests = vec![(algorithm, digest)];
        Ok(Record { digests, ..Record::new(decode(path, self.version)) })
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = Result<Record, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.lines.advance() {
                Ok(true) if self.lines.line().is_empty() => {}
                Ok(true) => return Some(self.record()),
                Ok(false) => return None,
                Err(fault) => return Some(Err(fault)),
            }
        }
    }
}

/// Undoes the encoding of paths. What is no such encoding stands for itself.
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

/// Returns what a manifest's name says: whether it lists the bag's own files, and the name of its
/// algorithm, `sha256` of `manifest-sha256.txt`.
pub fn algorithm_of(name: &str) -> Option<(bool, &str)> {
    let (tag, rest) = match name.strip_prefix("tagmanifest-") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix("manifest-")?),
    };
    Some((tag, rest.strip_suffix(".txt")?))
}
