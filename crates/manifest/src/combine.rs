//! Combines several manifests over one tree, so that each file is hashed once.
//!
//! Takes records in any order; returns one record for each path, and where documents disagree.
//! Holds every record at once: the memory is that of the documents.

use std::collections::HashMap;
use std::path::PathBuf;

use steadfast_digest::{Algorithm, Digest};

use crate::{Format, Record, confine};

/// The result of combining documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Combined {
    /// One record for each path, in the order in which the paths were first named.
    pub records: Vec<Record>,
    /// Contradictions between the documents. The first statement counts.
    pub conflicts: Vec<Conflict>,
}

/// Two statements about one file that cannot both be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: PathBuf,
    /// The subject of the contradiction.
    pub about: Dispute,
}

/// The subject of two contradictory statements about one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispute {
    /// The digest of one algorithm: the first and the later one.
    Digest(Algorithm, Digest, Digest),
    /// The length in bytes: the first and the later one.
    Length(u64, u64),
}

/// Combines the records of one path; `./a` and `a` are the same. If two records have a time, the
/// finer one counts, or else the first.
pub fn combine(records: impl IntoIterator<Item = Record>) -> Combined {
    let mut combined = Combined::default();
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    for mut record in records {
        // The stricter rules for Windows formats apply when a file is opened. Here they would
        // separate equal paths.
        let key = confine(&record.path, Format::Gnu).unwrap_or_else(|_| record.path.clone());
        let place = *places.entry(key).or_insert(combined.records.len());
        match combined.records.get_mut(place) {
            Some(first) => join(first, &record, &mut combined.conflicts),
            None => {
                let whole = record.clone();
                record.digests.clear();
                join(&mut record, &whole, &mut combined.conflicts);
                combined.records.push(record);
            }
        }
    }
    combined
}

fn join(first: &mut Record, later: &Record, conflicts: &mut Vec<Conflict>) {
    let mut dispute = |about| conflicts.push(Conflict { path: later.path.clone(), about });
    for &(algorithm, digest) in &later.digests {
        match first.digest(algorithm) {
            Some(known) if *known == digest => {}
            Some(known) => dispute(Dispute::Digest(algorithm, *known, digest)),
            None => first.digests.push((algorithm, digest)),
        }
    }
    if first.parts.is_none() {
        first.parts.clone_from(&later.parts);
    }
    match (first.length, later.length) {
        (Some(known), Some(length)) if known != length => dispute(Dispute::Length(known, length)),
        (known, length) => first.length = known.or(length),
    }
    first.mtime = match (first.mtime, later.mtime) {
        (Some(known), Some(mtime)) if mtime.step < known.step => Some(mtime),
        (known, mtime) => known.or(mtime),
    };
    first.tagged = first.tagged.or(later.tagged);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mtime, Step};

    fn record(path: &str, algorithm: Algorithm, byte: u8) -> Record {
        let digest = Digest::from_slice(&vec![byte; algorithm.digest_len()]).unwrap();
        Record { digests: vec![(algorithm, digest)], ..Record::new(path.into()) }
    }

    #[test]
    fn each_path_comes_once_with_all_its_digests() {
        let combined = combine([
            record("a", Algorithm::Md5, 1),
            record("b", Algorithm::Md5, 2),
            record("./a", Algorithm::Sha1, 3),
            record("b", Algorithm::Md5, 2),
        ]);
        assert_eq!(combined.conflicts, []);
        let [a, b] = &combined.records[..] else { panic!("{combined:?}") };
        assert_eq!(a.digests.len(), 2);
        assert_eq!(a.digest(Algorithm::Sha1).unwrap().as_bytes(), [3; 20]);
        assert_eq!(b.digests.len(), 1);
    }

    #[test]
    fn contradictions_are_told_and_the_first_word_stays() {
        let mut first = record("a", Algorithm::Md5, 1);
        first.length = Some(5);
        let mut later = record("a", Algorithm::Md5, 2);
        later.length = Some(6);
        let combined = combine([first.clone(), later]);
        assert_eq!(combined.records, [first]);
        let about: Vec<Dispute> = combined.conflicts.iter().map(|found| found.about).collect();
        assert!(matches!(about[..], [Dispute::Digest(Algorithm::Md5, ..), Dispute::Length(5, 6)]));
    }

    #[test]
    fn a_document_may_contradict_itself() {
        let mut twice = record("a", Algorithm::Md5, 1);
        twice.digests.push(record("a", Algorithm::Md5, 2).digests[0]);
        let combined = combine([twice]);
        assert_eq!((combined.records[0].digests.len(), combined.conflicts.len()), (1, 1));
    }

    #[test]
    fn the_finer_time_stays() {
        let (mut coarse, mut fine) =
            (record("a", Algorithm::Md5, 1), record("a", Algorithm::Sha1, 1));
        coarse.mtime = Some(Mtime::from_steps(5, Step::Second));
        fine.mtime = Some(Mtime::from_steps(5_000_000_007, Step::Nanosecond));
        let expected = fine.mtime;
        assert_eq!(combine([coarse.clone(), fine.clone()]).records[0].mtime, expected);
        assert_eq!(combine([fine, coarse]).records[0].mtime, expected);
    }
}
