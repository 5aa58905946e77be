//! Writes records as the manifests of a bag.
//!
//! Takes records whose paths begin with `data/`, and returns the lines of one manifest, or all tag
//! files of a bag. Does not move the payload.

use std::io::Write;

use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_time::names::NameBytes as _;

use super::Oxum;
use crate::write::{Put, chosen, confined, known_length};
use crate::{Error, ErrorKind, Format, Record};

/// Writes the lines of one manifest, all of one algorithm.
pub(crate) struct BagitLines {
    pub(crate) algorithm: Option<Algorithm>,
}

impl Put for BagitLines {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        let (algorithm, digest) = chosen(record, self.algorithm)?;
        let path = confined(record, Format::Bagit)?;
        let path = path.as_bytes();
        if path.starts_with(b"*") || path.starts_with(b" ") || path.starts_with(b"\t") {
            let why = "a path that begins with a blank or `*` is lost in a manifest";
            return Err(Error::unwritable(&record.path, why));
        }
        self.algorithm = Some(algorithm);
        write!(out, "{digest}  ")?;
        out.write_all(&super::encode(path))?;
        Ok(out.write_all(b"\n")?)
    }
}

/// Makes the files that turn a directory with `data/` into a bag of version 1.0: their names and
/// bytes. There is a manifest for each algorithm that every record has.
///
/// `date` is the `Bagging-Date`, as YYYY-MM-DD.
///
/// # Errors
///
/// If a record is not beneath `data/`, lacks its length, or has no algorithm in common with the
/// others.
pub fn documents(records: &[Record], date: Option<&str>) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let first =
        records.first().ok_or_else(|| Error::new(ErrorKind::Empty, "a bag needs a payload"))?;
    let unwritable = |record: &Record, why| Err(Error::unwritable(&record.path, why));
    let mut oxum = Oxum::default();
    for record in records {
        if !record.path.starts_with("data") {
            return unwritable(record, "the payload of a bag is in `data`");
        }
        oxum.bytes = oxum.bytes.saturating_add(known_length(record)?);
        oxum.files += 1;
    }
    let by_all = |known: Algorithm| records.iter().all(|record| record.digest(known).is_some());
    let names = first.digests.iter().map(|(known, _)| *known);
    let algorithms: Vec<Algorithm> = names.filter(|known| by_all(*known)).collect();
    if algorithms.is_empty() {
        return unwritable(first, "no algorithm is common to all files");
    }
    let date = date.map(|date| format!("Bagging-Date: {date}\n")).unwrap_or_default();
    let info = format!("Bag-Software-Agent: steadfast\n{date}Payload-Oxum: {oxum}\n");
    let declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
    let mut files = vec![
        ("bagit.txt".to_owned(), declaration.as_bytes().to_vec()),
        ("bag-info.txt".to_owned(), info.into_bytes()),
    ];
    for algorithm in &algorithms {
        let (mut lines, mut bytes) = (BagitLines { algorithm: Some(*algorithm) }, Vec::new());
        for record in records {
            lines.put(record, &mut bytes)?;
        }
        files.push((format!("manifest-{}.txt", label(*algorithm)), bytes));
    }
    let tag_manifests: Vec<_> =
        algorithms.iter().map(|algorithm| tag_manifest(*algorithm, &files)).collect();
    files.extend(tag_manifests);
    Ok(files)
}

fn tag_manifest(algorithm: Algorithm, files: &[(String, Vec<u8>)]) -> (String, Vec<u8>) {
    let line = |(name, bytes): &(String, Vec<u8>)| {
        let mut hasher = AlgorithmHasher::new(algorithm);
        hasher.update(bytes);
        format!("{}  {name}\n", hasher.finalize())
    };
    let lines: String = files.iter().map(line).collect();
    (format!("tagmanifest-{}.txt", label(algorithm)), lines.into_bytes())
}

/// The name of an algorithm in the name of a manifest: lower case, letters and digits only.
fn label(algorithm: Algorithm) -> String {
    algorithm.name().replace('-', "")
}
