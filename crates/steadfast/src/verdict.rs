//! Derives the [`Verdict`] from the stored tag and the actual one. Pure.
//!
//! Takes the stored tag and the result of reading; returns the verdict and its exit status.
//! `docs/verdicts.md` specifies it and is authoritative.

use steadfast_sys::file::Timestamp;
use strum::{Display, IntoStaticStr, VariantArray};

use steadfast_manifest::tag::Tag;

use crate::exit_status::ExitStatus;

/// The state of one file compared with its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// Other contents with the same modification time: decay.
    Corrupt,
    /// Other contents and another modification time: an edit.
    Modified,
    /// A tag is known, but the file is gone.
    Missing,
    /// The bytes or the tag could not be read.
    Unreadable,
    /// The file changed while it was read.
    Unstable,
    /// No tag to compare with.
    Untagged,
    /// Same contents, another modification time.
    Touched,
    /// The tagged contents are at another path.
    Moved,
    /// Same contents, same modification time.
    Intact,
}

/// The stored tag of a file.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a> {
    /// Nothing.
    Absent,
    /// A complete tag.
    Tag(&'a Tag),
    /// Bytes that are not a tag, or could not be read.
    Damaged,
}

/// The result of reading a file's contents.
#[derive(Clone, Copy, Debug)]
pub enum Reading<'a> {
    /// All bytes were read and the file did not change: the tag of these contents.
    Whole(&'a Tag),
    /// The length or the times of the file changed during the read.
    Changed,
    /// The length differs from the recorded one, so the bytes were not read.
    Resized {
        /// The length in bytes.
        length: u64,
        /// The modification time.
        mtime: Timestamp,
    },
    /// Not all bytes could be read.
    Failed,
}

impl Verdict {
    /// Every verdict, in the order in which reports list them.
    pub const ALL: [Verdict; 9] = *Verdict::VARIANTS.as_array().expect("there are nine verdicts");

    /// Judges one file. The stored tag and the actual one must be of the same algorithm.
    pub fn of(stored: Stored<'_>, reading: Reading<'_>) -> Verdict {
        let (same_contents, same_time) = match (stored, reading) {
            (_, Reading::Failed) | (Stored::Damaged, _) => return Verdict::Unreadable,
            (_, Reading::Changed) => return Verdict::Unstable,
            (Stored::Absent, _) => return Verdict::Untagged,
            (Stored::Tag(stored), Reading::Whole(actual)) => {
                (stored.same_contents(actual), same_mtime(stored.mtime, actual.mtime))
            }
            (Stored::Tag(stored), Reading::Resized { mtime, .. }) => {
                (false, same_mtime(stored.mtime, mtime))
            }
        };
        Verdict::of_comparison(same_contents, same_time)
    }

    /// Judges a file by the comparison of its contents and modification time with the recorded
    /// ones.
    pub(crate) fn of_comparison(same_contents: bool, same_time: bool) -> Verdict {
        match (same_contents, same_time) {
            (true, true) => Verdict::Intact,
            (true, false) => Verdict::Touched,
            (false, false) => Verdict::Modified,
            (false, true) => Verdict::Corrupt,
        }
    }

    /// Returns whether the verdict compares the file with a record, and so proves something.
    pub fn judges(self) -> bool {
        !matches!(self, Verdict::Untagged | Verdict::Unstable | Verdict::Unreadable)
    }

    /// Returns the exit status of this verdict in a check.
    ///
    /// `require_tags` changes that of a file without a tag from 0 to 1.
    pub fn exit_status(self, require_tags: bool) -> ExitStatus {
        match self {
            Verdict::Intact | Verdict::Touched | Verdict::Moved => ExitStatus::Fine,
            Verdict::Untagged => ExitStatus::Changed.only_if(require_tags),
            Verdict::Modified | Verdict::Missing => ExitStatus::Changed,
            Verdict::Unstable | Verdict::Unreadable => ExitStatus::Undetermined,
            Verdict::Corrupt => ExitStatus::Corrupt,
        }
    }

    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Precisions of file systems coarser than nanoseconds: SMB and NTFS 100 ns, some FUSE and network
/// servers 1 µs, exFAT 10 ms, HFS+ and ext3 1 s, FAT 2 s.
const COARSE_CLOCKS_NS: [i128; 5] = [100, 1_000, 10_000_000, 1_000_000_000, FAT_STEP_NS];

/// The only precision to which some systems also round up.
const FAT_STEP_NS: i128 = 2_000_000_000;

/// Returns whether a file's time equals the stored one, exactly or within the precision of a
/// coarser file system. Otherwise decay of a tree that was copied to such a file system would look
/// like an edit.
pub(crate) fn same_mtime(stored: Timestamp, actual: Timestamp) -> bool {
    if stored == actual {
        return true;
    }
    let (stored, actual) = (stored.as_nanoseconds(), actual.as_nanoseconds());
    let rounded_up = (stored.div_euclid(FAT_STEP_NS) + 1) * FAT_STEP_NS;
    actual == rounded_up
        || COARSE_CLOCKS_NS.iter().any(|step| stored.div_euclid(*step) * step == actual)
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_digest::{Algorithm, Digest};

    fn tag(content: u8, length: u64, mtime_ns: i128) -> Tag {
        Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[content; 32]).unwrap(),
            length,
            mtime: Timestamp::from_nanoseconds(mtime_ns),
            tagged: Timestamp { seconds: 0, nanoseconds: 0 },
        }
    }

    #[test]
    fn the_table() {
        let stored = tag(1, 10, 5_500_000_001);
        let rows = [
            (tag(1, 10, 5_500_000_001), Verdict::Intact),
            (tag(1, 10, 7_000_000_000), Verdict::Touched),
            (tag(2, 10, 7_000_000_000), Verdict::Modified),
            (tag(2, 10, 5_500_000_001), Verdict::Corrupt),
            (tag(1, 11, 5_500_000_001), Verdict::Corrupt),
            (tag(1, 11, 7_000_000_000), Verdict::Modified),
        ];
        for (actual, verdict) in rows {
            assert_eq!(Verdict::of(Stored::Tag(&stored), Reading::Whole(&actual)), verdict);
        }
    }

    #[test]
    fn without_two_tags() {
        let some = tag(1, 10, 5);
        let whole = Reading::Whole(&some);
        assert_eq!(Verdict::of(Stored::Absent, whole), Verdict::Untagged);
        assert_eq!(Verdict::of(Stored::Damaged, whole), Verdict::Unreadable);
        assert_eq!(Verdict::of(Stored::Damaged, Reading::Changed), Verdict::Unreadable);
        for stored in [Stored::Absent, Stored::Tag(&some)] {
            assert_eq!(Verdict::of(stored, Reading::Changed), Verdict::Unstable);
            assert_eq!(Verdict::of(stored, Reading::Failed), Verdict::Unreadable);
        }
    }

    #[test]
    fn a_coarser_clock_keeps_decay_apart_from_edits() {
        let stored = tag(1, 10, 5_123_456_789);
        let coarser = [5_123_456_700, 5_123_456_000, 5_120_000_000, 5_000_000_000, 4_000_000_000];
        for kept in coarser.into_iter().chain([6_000_000_000]) {
            let reading = tag(2, 10, kept);
            assert_eq!(
                Verdict::of(Stored::Tag(&stored), Reading::Whole(&reading)),
                Verdict::Corrupt,
                "{kept}"
            );
        }
        for other in [5_123_456_788, 8_000_000_000, 5_123_456_790, 5_123_000_000] {
            let reading = tag(2, 10, other);
            assert_eq!(
                Verdict::of(Stored::Tag(&stored), Reading::Whole(&reading)),
                Verdict::Modified,
                "{other}"
            );
        }
        let before_1970 = tag(1, 10, -1_500_000_000);
        let floored = tag(1, 10, -2_000_000_000);
        assert_eq!(
            Verdict::of(Stored::Tag(&before_1970), Reading::Whole(&floored)),
            Verdict::Intact
        );
    }

    #[test]
    fn every_verdict_has_its_status() {
        let statuses: Vec<(&str, u8)> =
            Verdict::ALL.iter().map(|v| (v.name(), v.exit_status(false).code())).collect();
        assert_eq!(
            statuses,
            [
                ("corrupt", 3),
                ("modified", 1),
                ("missing", 1),
                ("unreadable", 2),
                ("unstable", 2),
                ("untagged", 0),
                ("touched", 0),
                ("moved", 0),
                ("intact", 0)
            ]
        );
        assert_eq!(Verdict::Untagged.exit_status(true), ExitStatus::Changed);
    }

    #[test]
    fn a_verdict_without_a_comparison_judges_nothing() {
        let judging = Verdict::ALL.iter().filter(|verdict| verdict.judges());
        let names: Vec<String> = judging.map(|verdict| format!("{verdict:>8}")).collect();
        let expected = [" corrupt", "modified", " missing", " touched", "   moved", "  intact"];
        assert_eq!(names, expected);
    }
}
