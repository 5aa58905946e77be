//! Records of a file other than its own tag: a line of a manifest, an attribute of another tool,
//! the catalogue.
//!
//! Takes a [`Reference`] and the result of reading; returns a [`Verdict`] by the table of
//! `docs/reference/verdicts.md`, as far as the reference has enough data. Knows no formats.

mod foreign;

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::Timestamp;

use crate::manifest::{Record, Step};
use crate::verdict::{ChangeEvidence, Judgement, LengthNow, Verdict};
use steadfast_manifest::foreign::{ForeignTag, ForeignTime, Resolution};
use steadfast_manifest::parts::PartsDigest;
use steadfast_manifest::tag::Tag;

pub(crate) use foreign::agrees;

/// A record of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its source, as in reports: "manifest", "catalogue", "dintch", "shatag".
    pub source: &'static str,
    /// Digests of the file's contents, one for each algorithm, the strongest first.
    pub digests: Vec<(Algorithm, Digest)>,
    /// A digest of parts of the file, if the record has no better one.
    pub parts: Option<Box<PartsDigest>>,
    /// Length in bytes.
    pub length: Option<u64>,
    /// When the contents were last modified, with the recorded precision.
    pub mtime: Option<ForeignTime>,
    /// When it was recorded.
    pub recorded: Option<Timestamp>,
}

/// The result of reading a file, for comparison with a [`Reference`].
#[derive(Clone, Copy, Debug)]
pub struct Computed<'a> {
    /// The computed digests.
    pub digests: &'a [(Algorithm, Digest)],
    /// Whether the file has the record's digest of parts; `None` if that is not known.
    pub has_parts: Option<bool>,
    /// Length in bytes.
    pub length: u64,
    /// The file's modification time before and after reading.
    pub mtime: Timestamp,
}

impl Reference {
    /// Makes a reference of a tag that is not stored with its file.
    pub fn of_tag(source: &'static str, tag: &Tag) -> Reference {
        Reference {
            source,
            digests: vec![(tag.algorithm, tag.digest)],
            parts: None,
            length: Some(tag.length),
            mtime: Some(ForeignTime { time: tag.mtime, resolution: Resolution::Tick }),
            recorded: Some(tag.tagged),
        }
    }

    /// Makes a reference of another tool's tag.
    pub fn of_foreign(tag: &ForeignTag) -> Reference {
        Reference {
            source: tag.kind.name(),
            digests: vec![(tag.algorithm, tag.digest)],
            parts: None,
            length: tag.length,
            mtime: tag.mtime,
            recorded: tag.tagged,
        }
    }

    /// Makes a reference of a manifest's record.
    pub fn of_record(record: Record) -> Reference {
        let resolution = |step| match step {
            Step::Nanosecond => Resolution::Tick,
            Step::Millisecond => Resolution::Millisecond,
            Step::Second => Resolution::Second,
        };
        let mtime = record
            .mtime
            .map(|mtime| ForeignTime { time: mtime.time, resolution: resolution(mtime.step) });
        let Record { mut digests, parts, length, tagged, .. } = record;
        digests.sort_by_key(|(algorithm, _)| weakness(*algorithm));
        let parts = parts.filter(|_| digests.is_empty());
        Reference { source: "manifest", digests, parts, length, mtime, recorded: tagged }
    }

    /// Judges a file by its length alone, if that differs from the record.
    pub(crate) fn judge_length(
        &self,
        length: u64,
        mtime: Timestamp,
        evidence: impl FnOnce() -> ChangeEvidence,
    ) -> Option<Judgement> {
        let differs = self.length.is_some_and(|recorded| recorded != length);
        differs.then(|| {
            self.judge(&Computed { digests: &[], has_parts: None, length, mtime }, evidence)
        })
    }

    /// Judges a file that was read completely. At least one digest must have an algorithm of both.
    ///
    /// Without a recorded modification time, the record's own time stands for it: a file that was
    /// modified since was edited. Without that, the cause of a difference is not known.
    /// `evidence` is asked for only if the contents differ.
    pub fn judge(
        &self,
        found: &Computed<'_>,
        evidence: impl FnOnce() -> ChangeEvidence,
    ) -> Judgement {
        let common = self.digests.iter().filter_map(|(algorithm, digest)| {
            let computed = found.digests.iter().find(|(other, _)| other == algorithm);
            computed.map(|(_, computed)| computed == digest)
        });
        let (mut compared, mut same) =
            (false, self.length.is_none_or(|length| length == found.length));
        for equal in common.chain(found.has_parts) {
            compared = true;
            same &= equal;
        }
        if !compared && same {
            // Nothing was proved, and the verdict must not suggest otherwise.
            return Verdict::Unreadable.into();
        }
        let same_time = match (self.mtime, self.recorded) {
            (Some(mtime), _) => agrees(mtime, found.mtime),
            (None, _) if same => true,
            (None, Some(recorded)) => recorded > found.mtime,
            (None, None) => return Judgement::without_times(),
        };
        if same {
            return Verdict::of_same_contents(same_time).into();
        }
        let length = LengthNow::of(self.length, found.length);
        Judgement::of_difference(same_time, length, evidence())
    }
}

/// Orders algorithms, the strongest first: only two digests of a record are compared.
fn weakness(algorithm: Algorithm) -> usize {
    const STRONGEST_FIRST: [Algorithm; 8] = [
        Algorithm::Sha256,
        Algorithm::Sha512,
        Algorithm::Sha384,
        Algorithm::Blake3,
        Algorithm::Blake2b,
        Algorithm::Sha1,
        Algorithm::Md5,
        Algorithm::Xxh3_128,
    ];
    let place = STRONGEST_FIRST.iter().position(|known| *known == algorithm);
    place.unwrap_or(STRONGEST_FIRST.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(byte: u8) -> Digest {
        Digest::from_slice(&[byte; 32]).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp { seconds, nanoseconds: 0 }
    }

    fn reference(mtime: Option<i64>, recorded: Option<i64>) -> Reference {
        Reference {
            source: "manifest",
            digests: vec![(Algorithm::Sha256, digest(1)), (Algorithm::Blake3, digest(2))],
            parts: None,
            length: Some(10),
            mtime: mtime
                .map(|mtime| ForeignTime { time: at(mtime), resolution: Resolution::Second }),
            recorded: recorded.map(at),
        }
    }

    #[test]
    fn the_table() {
        let same = [(Algorithm::Sha256, digest(1))];
        let other = [(Algorithm::Sha256, digest(9))];
        let rows = [
            (None, None, &same, 10, Verdict::Intact),
            (None, None, &other, 10, Verdict::Differs),
            (None, None, &same, 11, Verdict::Differs),
            (None, Some(99), &other, 10, Verdict::Modified),
            (None, Some(101), &other, 10, Verdict::Corrupt),
            (None, Some(101), &same, 10, Verdict::Intact),
            (Some(100), None, &same, 10, Verdict::Intact),
            (Some(100), None, &other, 10, Verdict::Corrupt),
            (Some(90), None, &same, 10, Verdict::Touched),
            (Some(90), None, &other, 10, Verdict::Modified),
            (Some(90), Some(101), &other, 10, Verdict::Modified),
        ];
        for (row, (mtime, recorded, digests, length, verdict)) in rows.into_iter().enumerate() {
            let found = Computed { digests, has_parts: None, length, mtime: at(100) };
            let judged = reference(mtime, recorded).judge(&found, || ChangeEvidence::NotKnown);
            assert_eq!(judged.verdict, verdict, "row {row}");
        }
    }

    #[test]
    fn every_common_digest_counts_and_one_there_must_be() {
        let not_known = || ChangeEvidence::NotKnown;
        let both = [(Algorithm::Sha256, digest(1)), (Algorithm::Blake3, digest(7))];
        let found = Computed { digests: &both, has_parts: None, length: 10, mtime: at(0) };
        assert_eq!(reference(None, None).judge(&found, not_known).verdict, Verdict::Differs);
        let none = [(Algorithm::Md5, digest(1))];
        let found = Computed { digests: &none, has_parts: None, length: 10, mtime: at(0) };
        assert_eq!(reference(None, None).judge(&found, not_known).verdict, Verdict::Unreadable);
        for (has_parts, verdict) in [(true, Verdict::Intact), (false, Verdict::Differs)] {
            let found = Computed { has_parts: Some(has_parts), ..found };
            assert_eq!(reference(None, None).judge(&found, not_known).verdict, verdict);
        }
    }

    #[test]
    fn the_strongest_digest_of_a_record_comes_first() {
        use Algorithm::{Blake2b, Blake3, Crc32, Md5, Sha1, Sha256, Sha384, Sha512, Xxh3_128};
        let strongest = [Sha256, Sha512, Sha384, Blake3, Blake2b, Sha1, Md5, Xxh3_128, Crc32];
        let digests = strongest.iter().rev().map(|&of| (of, digest(1))).collect();
        let path = "file".into();
        let record = Record { path, digests, parts: None, length: None, mtime: None, tagged: None };
        let digests = Reference::of_record(record).digests;
        assert_eq!(digests.into_iter().map(|(of, _)| of).collect::<Vec<_>>(), strongest);
    }
}
