//! The record of one file in a document.

use std::path::PathBuf;

use steadfast_digest::{Algorithm, Digest};
use steadfast_time::Timestamp;
use steadfast_time::names::NameBuf as _;

use crate::parts::PartsDigest;
use crate::tag::Tag;

/// The record of one file in a document. Values that the document lacks are absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The file, as the document names it, byte for byte. Not yet safe to open: see
    /// [`confine`](super::confine).
    pub path: PathBuf,
    /// Digests of the contents, at most one per algorithm. Empty if the document has none that this
    /// program supports.
    pub digests: Vec<(Algorithm, Digest)>,
    /// A digest of parts of the file, if the document has one.
    pub parts: Option<Box<PartsDigest>>,
    /// Length of the file in bytes.
    pub length: Option<u64>,
    /// When the contents were last modified.
    pub mtime: Option<Mtime>,
    /// When the digest was recorded, in whole seconds.
    pub tagged: Option<Timestamp>,
}

impl Record {
    pub(crate) fn new(path: Vec<u8>) -> Record {
        let path = PathBuf::from_vec(path);
        Record { path, digests: Vec::new(), parts: None, length: None, mtime: None, tagged: None }
    }

    /// Makes the record of a tag.
    pub fn of_tag(path: PathBuf, tag: &Tag) -> Record {
        Record {
            path,
            digests: vec![(tag.algorithm, tag.digest)],
            parts: None,
            length: Some(tag.length),
            mtime: Some(Mtime { time: tag.mtime, step: Step::Nanosecond }),
            tagged: Some(Timestamp { seconds: tag.tagged.seconds, nanoseconds: 0 }),
        }
    }

    /// Makes a tag, if the record has everything that a tag needs and its time in nanoseconds. Uses
    /// the first digest, and `tagged` if the record has no time of tagging.
    pub fn to_tag(&self, tagged: Timestamp) -> Option<Tag> {
        let &(algorithm, digest) = self.digests.first()?;
        let mtime = self.mtime.filter(|mtime| mtime.step == Step::Nanosecond)?.time;
        let tagged = self.tagged.unwrap_or(Timestamp { nanoseconds: 0, ..tagged });
        Some(Tag { algorithm, digest, length: self.length?, mtime, tagged })
    }

    /// Returns the digest of one algorithm.
    pub fn digest(&self, algorithm: Algorithm) -> Option<&Digest> {
        let found = self.digests.iter().find(|(known, _)| *known == algorithm);
        found.map(|(_, digest)| digest)
    }
}

/// A modification time in a document, which may be coarser than that of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mtime {
    /// The time.
    pub time: Timestamp,
    /// Its precision.
    pub step: Step,
}

/// The precision of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Nanoseconds.
    Nanosecond,
    /// Milliseconds.
    Millisecond,
    /// Seconds.
    Second,
}

impl Step {
    /// Returns the step in nanoseconds.
    pub const fn nanoseconds(self) -> i128 {
        match self {
            Step::Nanosecond => 1,
            Step::Millisecond => 1_000_000,
            Step::Second => 1_000_000_000,
        }
    }
}

impl Mtime {
    /// Returns whether a file's time equals the recorded one within its precision.
    ///
    /// Before 1970 some tools round down and some towards zero, so either matches.
    pub fn agrees(self, found: Timestamp) -> bool {
        let step = self.step.nanoseconds();
        let (stored, found) = (self.time.as_nanoseconds(), found.as_nanoseconds());
        stored == found || stored == found.div_euclid(step) * step || stored == found / step * step
    }

    pub(crate) fn from_steps(count: i64, step: Step) -> Mtime {
        let time = Timestamp::from_nanoseconds(i128::from(count) * step.nanoseconds());
        Mtime { time, step }
    }

    /// Returns the number of whole steps since 1970, if it fits.
    pub(crate) fn to_steps(self, step: Step) -> Option<i64> {
        i64::try_from(self.time.as_nanoseconds().div_euclid(step.nanoseconds())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, nanoseconds: u32) -> Timestamp {
        Timestamp { seconds, nanoseconds }
    }

    #[test]
    fn a_coarse_time_agrees_within_its_step() {
        let stored = Mtime::from_steps(1_704_164_645_123, Step::Millisecond);
        assert!(stored.agrees(at(1_704_164_645, 123_000_000)));
        assert!(stored.agrees(at(1_704_164_645, 123_999_999)));
        assert!(!stored.agrees(at(1_704_164_645, 124_000_000)));
        assert!(!stored.agrees(at(1_704_164_645, 122_999_999)));
        let exact = Mtime { time: at(5, 7), step: Step::Nanosecond };
        assert!(exact.agrees(at(5, 7)) && !exact.agrees(at(5, 8)));
    }

    #[test]
    fn before_1970_both_roundings_agree() {
        let found = at(-2, 500_000_000);
        assert!(Mtime::from_steps(-2, Step::Second).agrees(found));
        assert!(Mtime::from_steps(-1, Step::Second).agrees(found));
        assert!(!Mtime::from_steps(0, Step::Second).agrees(found));
        assert!(!Mtime::from_steps(-3, Step::Second).agrees(found));
    }

    #[test]
    fn a_tag_goes_into_a_record_and_back() {
        let tag = Tag {
            algorithm: Algorithm::Md5,
            digest: Digest::from_slice(&[7; 16]).unwrap(),
            length: 9,
            mtime: at(5, 7),
            tagged: at(11, 0),
        };
        let mut record = Record::of_tag("a".into(), &tag);
        assert_eq!(record.to_tag(at(99, 1)), Some(tag));
        record.mtime = Some(Mtime::from_steps(5, Step::Second));
        assert_eq!(record.to_tag(at(99, 1)), None, "a coarse time makes no tag");
    }
}
