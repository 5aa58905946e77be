//! ASC MHL: the hash lists of film productions (`.mhl`), and the chain of a history.
//!
//! A hash list gives a record for each `hash` element; `directoryhash` elements describe no file.
//! Lists of the earlier MHL 1 are read, too. Memory is constant, and no entity is expanded.
//!
//! Source: ASC MHL 2.0, `ASCMHL.xsd` and `ASCMHLDirectory.xsd` of `ascmitc/mhl`.

mod elements;
mod write;

use std::io::BufRead;

use steadfast_digest::{Algorithm, Digest};

use self::elements::{XmlElement, XmlElements};
pub use self::write::{IGNORED, MhlGeneration, MhlPlace, chain_document, list_name};
use crate::lines::step_records;
use crate::{Fault, FaultKind, Mtime, Record, Step, calendar};

/// The folder of a history, beside the files that it describes.
pub const FOLDER: &str = "ascmhl";

/// The name of a chain in its folder.
pub const CHAIN: &str = "ascmhl_chain.xml";

/// The digits of C4 identifiers, in order.
const C4_DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// The length of a C4 identifier with its prefix.
const C4_LEN: usize = 90;

/// A list that a chain or another list names, with the digest of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedList {
    /// Its path: beside the chain, or beneath the root of the list that names it.
    pub path: String,
    /// The SHA-512 of its bytes, which a C4 identifier spells in its own way.
    pub digest: Digest,
    /// Its number in the chain.
    pub number: Option<u32>,
}

/// Reads records element by element.
pub(crate) fn records<R: BufRead>(reader: R) -> impl Iterator<Item = Result<Record, Fault>> {
    let mut elements = XmlElements::new(reader);
    step_records(move || record(&mut elements))
}

/// Returns the next record. An outer error ends the document, an inner one does not.
fn record<R: BufRead>(
    elements: &mut XmlElements<R>,
) -> Result<Option<Result<Record, Fault>>, Fault> {
    let mut open: Option<(Record, Option<Fault>)> = None;
    while let Some(element) = elements.step()? {
        let (record, fault) = match (&mut open, &element) {
            (None, XmlElement::Start { name, .. }) if name == "hash" => {
                open = Some((Record::new(Vec::new()), None));
                continue;
            }
            (None, XmlElement::Start { name, .. }) if name != "hashlist" && name != "hashes" => {
                elements.skip()?;
                continue;
            }
            (Some((record, fault)), _) => (record, fault),
            _ => continue,
        };
        match element {
            XmlElement::End { name, .. } if name == "hash" => {
                let (record, fault) = open.take().unwrap_or((Record::new(Vec::new()), None));
                let fault = fault.or_else(|| {
                    let lacks = record.path.as_os_str().is_empty() || record.digests.is_empty();
                    lacks.then(|| elements.fault(FaultKind::Value, "a file without path or digest"))
                });
                return Ok(Some(fault.map_or(Ok(record), Err)));
            }
            XmlElement::Start { name, .. } if name == "metadata" => elements.skip()?,
            XmlElement::Start { .. } => {}
            XmlElement::End { name, attributes, text } => {
                let attribute = |wanted: &str| {
                    attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| &**value)
                };
                if attribute("action") == Some("failed") {
                    let what = "its check had failed when the list was made: nothing to compare";
                    fault.get_or_insert(elements.fault(FaultKind::Value, what));
                } else if let Err(what) = value(record, &name, &attribute, text.trim()) {
                    fault.get_or_insert(elements.fault(FaultKind::Value, what));
                }
            }
        }
    }
    Ok(None)
}

/// Takes what an element says of a file.
fn value<'a>(
    record: &mut Record,
    name: &str,
    attribute: &dyn Fn(&str) -> Option<&'a str>,
    text: &str,
) -> Result<(), &'static str> {
    let mut length = |text: &str| {
        record.length = Some(text.parse().map_err(|_| "a length that is none")?);
        Ok::<(), &'static str>(())
    };
    let time = |text: &str| {
        let time = calendar::parse(text).ok_or("a time that is none")?;
        Ok::<_, &'static str>(Some(Mtime { time, step: Step::Second }))
    };
    match name {
        "path" | "file" => {
            if let Some(text) = attribute("size") {
                length(text)?;
            }
            if let Some(text) = attribute("lastmodificationdate") {
                record.mtime = time(text)?;
            }
            record.path = text.into();
        }
        "size" => length(text)?,
        "lastmodificationdate" => record.mtime = time(text)?,
        _ => {
            let Some(algorithm) = algorithm_of(name) else { return Ok(()) };
            let digest = digest_of(algorithm, name, text).ok_or("a digest that is none")?;
            if record.digest(algorithm).is_none() {
                record.digests.push((algorithm, digest));
            }
        }
    }
    Ok(())
}

/// Returns the algorithm of an element. C4 is SHA-512, spelt in another way.
pub fn algorithm_of(name: &str) -> Option<Algorithm> {
    Some(match name {
        "c4" => Algorithm::Sha512,
        "md5" => Algorithm::Md5,
        "sha1" => Algorithm::Sha1,
        "xxh128" => Algorithm::Xxh3_128,
        "xxh3" => Algorithm::Xxh3_64,
        // MHL 1 has two names, and spells the digest of one from its last byte on.
        "xxh64" | "xxhash64be" | "xxhash64" => Algorithm::Xxh64,
        _ => return None,
    })
}

/// Returns the name of the element of an algorithm; `None` if the format has none.
pub fn element_of(algorithm: Algorithm) -> Option<&'static str> {
    let names = ["c4", "md5", "sha1", "xxh128", "xxh3", "xxh64"];
    names.into_iter().find(|name| algorithm_of(name) == Some(algorithm))
}

fn digest_of(algorithm: Algorithm, name: &str, text: &str) -> Option<Digest> {
    match name {
        "c4" => c4_digest(text),
        "xxhash64" => {
            let mut bytes = text.parse::<Digest>().ok()?.as_bytes().to_vec();
            bytes.reverse();
            Digest::from_slice(&bytes).filter(|_| bytes.len() == algorithm.digest_len())
        }
        _ => text.parse().ok().filter(|it: &Digest| it.as_bytes().len() == algorithm.digest_len()),
    }
}

/// Spells a digest as an element does: C4, or hexadecimal.
fn spelt(algorithm: Algorithm, digest: &Digest) -> String {
    match algorithm {
        Algorithm::Sha512 => c4_of(digest),
        _ => digest.to_string(),
    }
}

/// Spells a SHA-512 as a C4 identifier: `c4` and 88 digits of base 58.
pub fn c4_of(digest: &Digest) -> String {
    let mut number = digest.as_bytes().to_vec();
    let mut digits = vec![0; C4_LEN - 2];
    for digit in digits.iter_mut().rev() {
        let mut rest = 0;
        for byte in &mut number {
            let value = rest << 8 | u32::from(*byte);
            *byte = (value / 58) as u8;
            rest = value % 58;
        }
        *digit = C4_DIGITS[rest as usize];
    }
    format!("c4{}", String::from_utf8_lossy(&digits))
}

/// Reads a C4 identifier.
fn c4_digest(text: &str) -> Option<Digest> {
    let digits = text.strip_prefix("c4").filter(|_| text.len() == C4_LEN)?;
    let mut number = [0_u8; 64];
    for digit in digits.bytes() {
        let mut carry = C4_DIGITS.iter().position(|known| *known == digit)? as u32;
        for byte in number.iter_mut().rev() {
            let value = u32::from(*byte) * 58 + carry;
            *byte = value as u8;
            carry = value >> 8;
        }
        if carry > 0 {
            return None;
        }
    }
    Digest::from_slice(&number)
}

/// Reads the lists of a chain.
///
/// # Errors
/// If it is no chain.
pub fn chain(reader: impl BufRead) -> Result<Vec<NamedList>, Fault> {
    named_lists(reader, "ascmhldirectory", "hashlist")
}

/// Reads the lists of nested histories that a list refers to.
///
/// # Errors
/// If it is no hash list.
pub fn references(reader: impl BufRead) -> Result<Vec<NamedList>, Fault> {
    named_lists(reader, "hashlist", "hashlistreference")
}

/// Reads the patterns of what a list leaves out.
///
/// # Errors
/// If it is no hash list.
pub fn ignored(reader: impl BufRead) -> Result<Vec<String>, Fault> {
    let mut elements = XmlElements::new(reader);
    let mut patterns = Vec::new();
    while let Some(element) = elements.step()? {
        match element {
            XmlElement::Start { name }
                if ["hashlist", "processinfo", "ignore", "pattern"].contains(&&*name) => {}
            XmlElement::Start { .. } => elements.skip()?,
            XmlElement::End { name, text, .. } if name == "pattern" => patterns.push(text),
            // What follows are the hashes of all files.
            XmlElement::End { name, .. } if name == "processinfo" => break,
            XmlElement::End { .. } => {}
        }
    }
    Ok(patterns)
}

fn named_lists(reader: impl BufRead, root: &str, each: &str) -> Result<Vec<NamedList>, Fault> {
    let mut elements = XmlElements::new(reader);
    let (mut lists, mut path, mut digest) = (Vec::new(), None, None);
    let mut is_inside = false;
    while let Some(element) = elements.step()? {
        match element {
            XmlElement::Start { name } if name == each => is_inside = true,
            XmlElement::Start { name } if name == root || name == "references" || is_inside => {}
            XmlElement::Start { .. } => elements.skip()?,
            XmlElement::End { name, attributes, .. } if name == each => {
                let number = attributes.iter().find(|(name, _)| name == "sequencenr");
                let number = number.and_then(|(_, number)| number.parse().ok());
                let (Some(path), Some(digest)) = (path.take(), digest.take()) else {
                    return Err(elements.fault(FaultKind::Value, "a list without path or C4"));
                };
                lists.push(NamedList { path, digest, number });
                is_inside = false;
            }
            XmlElement::End { name, text, .. } if name == "path" => path = Some(text),
            XmlElement::End { name, text, .. } if name == "c4" => digest = c4_digest(text.trim()),
            XmlElement::End { .. } => {}
        }
    }
    Ok(lists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_digest::AlgorithmHasher;

    #[test]
    fn c4_identifiers_are_those_of_their_specification() {
        let digest = AlgorithmHasher::new(Algorithm::Sha512).finalize();
        let empty = "c459dsjfscH38cYeXXYogktxf4Cd9ibshE3BHUo6a58hBXmRQdZrAkZzsWcbWtDg5oQstpDuni4\
                     Hirj75GEmTc1sFT";
        assert_eq!(c4_of(&digest), empty);
        assert_eq!(c4_digest(empty), Some(digest));
        for wrong in ["", "c4", &empty[..89], &empty.replace('c', "0"), &empty.replace('5', "é")] {
            assert_eq!(c4_digest(wrong), None, "{wrong}");
        }
        assert_eq!(c4_digest(&format!("c4{}", "z".repeat(88))), None, "more than 64 bytes");
    }

    #[test]
    fn mhl_1_spells_xxh64_in_two_ways() {
        let hash = |name: &str, text: &str| {
            let list = format!(
                "<hashlist version=\"1.1\"><hash><file>a</file><{name}>{text}</{name}></hash>\
                 </hashlist>"
            );
            records(list.as_bytes()).next().unwrap().map(|record| record.digests)
        };
        let digests = hash("xxhash64be", "ef46db3751d8e999").unwrap();
        assert_eq!(digests[0].0, Algorithm::Xxh64);
        assert_eq!(hash("xxhash64", "99e9d85137db46ef").unwrap(), digests);
        assert!(hash("xxhash64", "99e9d85137db46").is_err());
    }

    #[test]
    fn a_list_that_is_cut_or_hostile_ends_with_a_fault() {
        let whole = "<hashlist version=\"2.0\"><hashes><hash><path size=\"1\">a&amp;&#x62;</path>\
                     <md5 action=\"original\">0cc175b9c0f1b6a831c399e269772661</md5></hash>\
                     <directoryhash><path>d</path></directoryhash></hashes></hashlist>";
        let read = |text: &str| records(text.as_bytes()).collect::<Vec<_>>();
        let found = read(whole);
        assert_eq!(found.len(), 1, "{found:?}");
        let record = found[0].as_ref().unwrap();
        assert_eq!((record.path.to_str(), record.length), (Some("a&b"), Some(1)));
        for at in 0..whole.len() {
            assert!(read(&whole[..at]).iter().any(Result::is_err), "cut at {at}");
        }
        for (from, to) in [
            ("&amp;", "&other;"),
            ("<hashlist version=\"2.0\">", "<!DOCTYPE x [<!ENTITY a \"b\">]><hashlist>"),
            ("original", "failed"),
            ("size=\"1\"", "size=\"-1\""),
            ("0cc175", "0cc1"),
            ("<hashlist version", "<other version"),
        ] {
            assert!(read(&whole.replace(from, to)).iter().any(Result::is_err), "{to}");
        }
        assert!(read(&whole.replace("a&amp;", &"a".repeat(200_000)))[0].is_err(), "too long");
    }
}
