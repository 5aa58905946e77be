//! Derives the [`Verdict`] from the stored tag, the actual one, and the evidence of the change
//! time. Pure.
//!
//! Takes the stored tag, the result of reading and [`ChangeEvidence`]; returns a [`Judgement`].
//! `docs/reference/verdicts.md` specifies it and is authoritative.

use steadfast_sys::file::Timestamp;
use strum::{Display, IntoStaticStr, VariantArray};

use steadfast_manifest::tag::Tag;

use crate::exit_status::ExitStatus;

/// The state of one file compared with its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// Other contents, and nothing wrote them: decay.
    Corrupt,
    /// Other contents of the same length with the same modification time, and something wrote to
    /// the file: an edit that kept the date, or decay.
    Suspect,
    /// Other contents and another modification time or length: an edit.
    Modified,
    /// Other contents than those of a list without times: the cause is not known.
    Differs,
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
    Failed {
        /// The length in bytes.
        length: u64,
        /// The modification time.
        mtime: Timestamp,
    },
}

/// What the change time and the inode of a file say about the time since its last proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum ChangeEvidence {
    /// They are those of the last proof: the file system wrote nothing.
    #[strum(serialize = "as recorded")]
    AsRecorded,
    /// No proof recorded them, but the change time is not later than the second of tagging. The
    /// file system wrote nothing, unless in that second.
    #[strum(serialize = "as tagged")]
    AsTagged,
    /// The change time is later, or the inode is another: something was written.
    Later,
    /// There is no record, or the file system keeps no change time that proves something.
    #[strum(serialize = "not known")]
    NotKnown,
}

/// Why a file whose contents differ got its verdict. Of a file that could not be read: what would
/// be the reason if they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
pub enum Reason {
    /// The file system wrote nothing since the last proof.
    #[strum(serialize = "nothing wrote it")]
    NothingWroteIt,
    /// Nor did it set the times, which differ.
    #[strum(serialize = "the times decayed as well")]
    TimesDecayed,
    /// Something wrote to the file, and the modification time is the recorded one.
    #[strum(serialize = "date kept")]
    DateKept,
    /// As [`Reason::DateKept`], and the file is empty now.
    #[strum(serialize = "emptied")]
    Emptied,
    /// As [`Reason::DateKept`], and what is left of the file is as it was.
    #[strum(serialize = "cut off")]
    CutOff,
    /// What the change time says is not known.
    #[strum(serialize = "by the modification time alone")]
    ByMtimeAlone,
    /// The record has no time at all.
    #[strum(serialize = "cause not known")]
    CauseNotKnown,
}

impl Reason {
    /// Returns the name, as JSON carries it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the reason of a name.
    pub fn named(name: &str) -> Option<Reason> {
        Reason::VARIANTS.iter().copied().find(|reason| reason.name() == name)
    }
}

/// The verdict of one file, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is that, if the contents differ and the modification time does not say it.
    pub reason: Option<Reason>,
}

impl Judgement {
    fn new(verdict: Verdict, reason: Reason) -> Judgement {
        Judgement { verdict, reason: Some(reason) }
    }
}

impl From<Verdict> for Judgement {
    fn from(verdict: Verdict) -> Judgement {
        Judgement { verdict, reason: None }
    }
}

/// What became of a file's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LengthNow {
    Same,
    Other,
    Zero,
}

impl LengthNow {
    /// Compares a length with the recorded one; without one, it counts as the same.
    pub(crate) fn of(recorded: Option<u64>, now: u64) -> LengthNow {
        match (recorded, now) {
            (Some(recorded), now) if recorded == now => LengthNow::Same,
            (Some(_), 0) => LengthNow::Zero,
            (Some(_), _) => LengthNow::Other,
            (None, _) => LengthNow::Same,
        }
    }
}

impl Judgement {
    /// Judges one file. The stored tag and the actual one must be of the same algorithm.
    /// `evidence` is asked for only if the contents differ or could not be read.
    pub fn of(
        stored: Stored<'_>,
        reading: Reading<'_>,
        evidence: impl FnOnce() -> ChangeEvidence,
    ) -> Judgement {
        let verdict = match (stored, reading) {
            (Stored::Damaged, _) => Verdict::Unreadable,
            (Stored::Tag(stored), Reading::Failed { length, mtime }) => {
                let same_time = same_mtime(stored.mtime, mtime);
                let length = LengthNow::of(Some(stored.length), length);
                let judged = Judgement::of_difference(same_time, length, evidence());
                return Judgement { verdict: Verdict::Unreadable, ..judged };
            }
            (Stored::Absent, Reading::Failed { .. }) => Verdict::Unreadable,
            (_, Reading::Changed) => Verdict::Unstable,
            (Stored::Absent, _) => Verdict::Untagged,
            (Stored::Tag(stored), Reading::Whole(actual)) => {
                let same_time = same_mtime(stored.mtime, actual.mtime);
                if !stored.same_contents(actual) {
                    let length = LengthNow::of(Some(stored.length), actual.length);
                    return Judgement::of_difference(same_time, length, evidence());
                }
                Verdict::of_same_contents(same_time)
            }
            (Stored::Tag(stored), Reading::Resized { length, mtime }) => {
                let same_time = same_mtime(stored.mtime, mtime);
                let length = LengthNow::of(Some(stored.length), length);
                return Judgement::of_difference(same_time, length, evidence());
            }
        };
        verdict.into()
    }

    /// Judges a file whose contents differ from the recorded ones.
    pub(crate) fn of_difference(
        same_time: bool,
        length: LengthNow,
        evidence: ChangeEvidence,
    ) -> Judgement {
        use ChangeEvidence::{AsRecorded, AsTagged, Later, NotKnown};
        match (same_time, evidence) {
            (true, AsRecorded | AsTagged) => {
                Judgement::new(Verdict::Corrupt, Reason::NothingWroteIt)
            }
            (true, Later) => match length {
                LengthNow::Same => Judgement::new(Verdict::Suspect, Reason::DateKept),
                LengthNow::Other => Judgement::new(Verdict::Modified, Reason::DateKept),
                LengthNow::Zero => Judgement::new(Verdict::Suspect, Reason::Emptied),
            },
            (true, NotKnown) => Judgement::new(Verdict::Corrupt, Reason::ByMtimeAlone),
            (false, AsRecorded) => Judgement::new(Verdict::Corrupt, Reason::TimesDecayed),
            // An edit within the second of tagging has no later change time either.
            (false, AsTagged | Later) => Verdict::Modified.into(),
            (false, NotKnown) => Judgement::new(Verdict::Modified, Reason::ByMtimeAlone),
        }
    }

    /// Returns the judgement of a file that differs from a record without times.
    pub(crate) fn without_times() -> Judgement {
        Judgement::new(Verdict::Differs, Reason::CauseNotKnown)
    }
}

impl Verdict {
    /// Every verdict, in the order in which reports list them.
    pub const ALL: [Verdict; 11] =
        *Verdict::VARIANTS.as_array().expect("there are eleven verdicts");

    /// Judges a file of the recorded contents by its modification time.
    pub(crate) fn of_same_contents(same_time: bool) -> Verdict {
        if same_time { Verdict::Intact } else { Verdict::Touched }
    }

    /// Returns whether the contents are other than the recorded ones.
    pub fn differs(self) -> bool {
        matches!(self, Verdict::Corrupt | Verdict::Suspect | Verdict::Modified | Verdict::Differs)
    }

    /// Returns whether the file may have decayed, as far as is known.
    pub fn is_alarm(self) -> bool {
        matches!(self, Verdict::Corrupt | Verdict::Suspect)
    }

    /// Returns whether it would hide decay to record the present contents unasked.
    pub fn may_be_decay(self) -> bool {
        self.is_alarm() || self == Verdict::Differs
    }

    /// Returns whether a repair mends files of this verdict without being asked to.
    pub fn is_damage(self) -> bool {
        matches!(self, Verdict::Corrupt | Verdict::Missing | Verdict::Unreadable)
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
            Verdict::Modified | Verdict::Differs | Verdict::Missing => ExitStatus::Changed,
            Verdict::Unstable | Verdict::Unreadable => ExitStatus::Undetermined,
            Verdict::Corrupt | Verdict::Suspect => ExitStatus::Corrupt,
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

    fn verdict(stored: Stored<'_>, reading: Reading<'_>) -> Verdict {
        Judgement::of(stored, reading, || ChangeEvidence::NotKnown).verdict
    }

    #[test]
    fn the_table() {
        use ChangeEvidence::{AsRecorded, AsTagged, Later, NotKnown};
        use Reason::{ByMtimeAlone, DateKept, Emptied, NothingWroteIt, TimesDecayed};
        use Verdict::{Corrupt, Intact, Modified, Suspect, Touched};
        let stored = tag(1, 10, 5_500_000_001);
        let (same, other) = (5_500_000_001, 7_000_000_000);
        for evidence in [AsRecorded, AsTagged, Later, NotKnown] {
            let rows = [(same, Intact), (other, Touched)];
            for (mtime, verdict) in rows {
                let actual = tag(1, 10, mtime);
                let reading = Reading::Whole(&actual);
                let judged = Judgement::of(Stored::Tag(&stored), reading, || evidence);
                assert_eq!(judged, verdict.into());
            }
        }
        let rows = [
            (same, 10, AsRecorded, Corrupt, Some(NothingWroteIt)),
            (same, 11, AsRecorded, Corrupt, Some(NothingWroteIt)),
            (same, 10, AsTagged, Corrupt, Some(NothingWroteIt)),
            (same, 10, Later, Suspect, Some(DateKept)),
            (same, 11, Later, Modified, Some(DateKept)),
            (same, 0, Later, Suspect, Some(Emptied)),
            (same, 10, NotKnown, Corrupt, Some(ByMtimeAlone)),
            (same, 11, NotKnown, Corrupt, Some(ByMtimeAlone)),
            (other, 10, AsRecorded, Corrupt, Some(TimesDecayed)),
            (other, 11, AsRecorded, Corrupt, Some(TimesDecayed)),
            (other, 10, AsTagged, Modified, None),
            (other, 10, Later, Modified, None),
            (other, 11, Later, Modified, None),
            (other, 0, Later, Modified, None),
            (other, 10, NotKnown, Modified, Some(ByMtimeAlone)),
        ];
        for (mtime_ns, length, evidence, verdict, reason) in rows {
            let actual = tag(2, length, mtime_ns);
            let mtime = actual.mtime;
            for reading in [Reading::Whole(&actual), Reading::Resized { length, mtime }] {
                let judged = Judgement::of(Stored::Tag(&stored), reading, || evidence);
                let expected = Judgement { verdict, reason };
                assert_eq!(judged, expected, "{mtime_ns} {length} {evidence}");
            }
            let failed = Reading::Failed { length, mtime };
            let judged = Judgement::of(Stored::Tag(&stored), failed, || evidence);
            assert_eq!(judged, Judgement { verdict: Verdict::Unreadable, reason });
        }
    }

    #[test]
    fn without_two_tags() {
        let some = tag(1, 10, 5);
        let whole = Reading::Whole(&some);
        assert_eq!(verdict(Stored::Absent, whole), Verdict::Untagged);
        assert_eq!(verdict(Stored::Damaged, whole), Verdict::Unreadable);
        assert_eq!(verdict(Stored::Damaged, Reading::Changed), Verdict::Unreadable);
        for stored in [Stored::Absent, Stored::Tag(&some)] {
            assert_eq!(verdict(stored, Reading::Changed), Verdict::Unstable);
            let failed = Reading::Failed { length: 10, mtime: some.mtime };
            assert_eq!(verdict(stored, failed), Verdict::Unreadable);
        }
    }

    #[test]
    fn a_coarser_clock_keeps_decay_apart_from_edits() {
        let stored = tag(1, 10, 5_123_456_789);
        let coarser = [5_123_456_700, 5_123_456_000, 5_120_000_000, 5_000_000_000, 4_000_000_000];
        for kept in coarser.into_iter().chain([6_000_000_000]) {
            let reading = tag(2, 10, kept);
            assert_eq!(
                verdict(Stored::Tag(&stored), Reading::Whole(&reading)),
                Verdict::Corrupt,
                "{kept}"
            );
        }
        for other in [5_123_456_788, 8_000_000_000, 5_123_456_790, 5_123_000_000] {
            let reading = tag(2, 10, other);
            assert_eq!(
                verdict(Stored::Tag(&stored), Reading::Whole(&reading)),
                Verdict::Modified,
                "{other}"
            );
        }
        let before_1970 = tag(1, 10, -1_500_000_000);
        let floored = tag(1, 10, -2_000_000_000);
        assert_eq!(verdict(Stored::Tag(&before_1970), Reading::Whole(&floored)), Verdict::Intact);
    }

    #[test]
    fn every_verdict_has_its_status() {
        let statuses: Vec<(&str, u8)> =
            Verdict::ALL.iter().map(|v| (v.name(), v.exit_status(false).code())).collect();
        assert_eq!(
            statuses,
            [
                ("corrupt", 3),
                ("suspect", 3),
                ("modified", 1),
                ("differs", 1),
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
        let expected = [
            " corrupt", " suspect", "modified", " differs", " missing", " touched", "   moved",
            "  intact",
        ];
        assert_eq!(names, expected);
    }
}
