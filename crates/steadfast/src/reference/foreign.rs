//! Compares a file's time with the one that another tool recorded. Pure.
//!
//! `crates/manifest/ATTRIBUTES.md` specifies it, and the verdicts, and is authoritative.

use steadfast_sys::file::Timestamp;

use steadfast_manifest::foreign::{ForeignTime, Resolution};

use crate::verdict::same_mtime;

/// The step in which cshatag compares times: what SMB keeps.
const TICK_NS: i128 = 100;

/// The largest error of a float of seconds. Until 2106 its step is at most 2⁻²¹ s, 477 ns: half a
/// step is lost when the float is computed, and half when its shortest text is printed.
const FLOAT_ERROR_NS: u128 = 480;

/// Returns whether a file's time equals the stored one within its precision, or within that of a
/// coarser file system.
pub(crate) fn agrees(stored: ForeignTime, actual: Timestamp) -> bool {
    let (stored_ns, actual_ns) = (stored.time.as_nanoseconds(), actual.as_nanoseconds());
    match stored.resolution {
        Resolution::Tick => {
            let same_tick = stored_ns.div_euclid(TICK_NS) == actual_ns.div_euclid(TICK_NS);
            same_tick || same_mtime(stored.time, actual)
        }
        Resolution::Float => {
            let apart = stored_ns.abs_diff(actual_ns);
            apart <= FLOAT_ERROR_NS || same_mtime(stored.time, actual)
        }
        Resolution::Millisecond => {
            let step = |ns: i128| ns.div_euclid(1_000_000);
            step(stored_ns) == step(actual_ns) || same_mtime(stored.time, actual)
        }
        Resolution::Second => {
            stored.time.seconds == actual.seconds || same_mtime(stored.time, actual)
        }
    }
}

#[cfg(test)]
mod tests {
    use steadfast_digest::{Algorithm, Digest};
    use steadfast_manifest::foreign::{ForeignKind, ForeignTag};
    use steadfast_manifest::tag::Tag;

    use super::*;
    use crate::reference::{Computed, Reference};
    use crate::verdict::{ChangeEvidence, Verdict};

    const MTIME_NS: i128 = 1_704_164_645_123_456_789;

    fn digest(content: u8) -> Digest {
        Digest::from_slice(&[content; 32]).unwrap()
    }

    fn actual(content: u8, length: u64, mtime_ns: i128) -> Tag {
        Tag {
            algorithm: Algorithm::Sha256,
            digest: digest(content),
            length,
            mtime: Timestamp::from_nanoseconds(mtime_ns),
            tagged: Timestamp { seconds: 0, nanoseconds: 0 },
        }
    }

    fn stored(mtime: Option<(i128, Resolution)>, tagged_ns: Option<i128>) -> ForeignTag {
        ForeignTag {
            kind: ForeignKind::Shatag,
            algorithm: Algorithm::Sha256,
            digest: digest(1),
            mtime: mtime.map(|(at, resolution)| ForeignTime {
                time: Timestamp::from_nanoseconds(at),
                resolution,
            }),
            length: None,
            tagged: tagged_ns.map(Timestamp::from_nanoseconds),
        }
    }

    fn judge(stored: &ForeignTag, actual: &Tag) -> Verdict {
        let digests = [(actual.algorithm, actual.digest)];
        let Tag { length, mtime, .. } = *actual;
        let found = Computed { digests: &digests, has_parts: None, length, mtime };
        Reference::of_foreign(stored).judge(&found, || ChangeEvidence::NotKnown).verdict
    }

    #[test]
    fn with_a_time_the_table_is_that_of_our_own_tags() {
        let stored = stored(Some((MTIME_NS, Resolution::Tick)), None);
        let later = MTIME_NS + 60_000_000_000;
        for (content, mtime_ns, verdict) in [
            (1, MTIME_NS, Verdict::Intact),
            (1, later, Verdict::Touched),
            (2, MTIME_NS, Verdict::Corrupt),
            (2, later, Verdict::Modified),
        ] {
            assert_eq!(judge(&stored, &actual(content, 9, mtime_ns)), verdict);
        }
    }

    #[test]
    fn another_length_is_other_contents() {
        let stored =
            ForeignTag { length: Some(9), ..stored(Some((MTIME_NS, Resolution::Tick)), None) };
        assert_eq!(judge(&stored, &actual(1, 9, MTIME_NS)), Verdict::Intact);
        assert_eq!(judge(&stored, &actual(1, 8, MTIME_NS)), Verdict::Corrupt);
        let other = Tag { algorithm: Algorithm::Blake3, ..actual(1, 9, MTIME_NS) };
        assert_eq!(judge(&stored, &other), Verdict::Unreadable, "nothing to compare by");
    }

    #[test]
    fn without_a_time_only_a_later_tagging_tells_decay() {
        for (tagged_ns, verdict) in [
            (None, Verdict::Differs),
            (Some(MTIME_NS - 1), Verdict::Modified),
            (Some(MTIME_NS), Verdict::Modified),
            (Some(MTIME_NS + 1), Verdict::Corrupt),
        ] {
            let stored = stored(None, tagged_ns);
            assert_eq!(judge(&stored, &actual(2, 9, MTIME_NS)), verdict);
            assert_eq!(judge(&stored, &actual(1, 9, MTIME_NS)), Verdict::Intact);
        }
    }

    #[test]
    fn a_stored_time_outranks_the_moment_of_tagging() {
        let edited = MTIME_NS + 60_000_000_000;
        let stored = stored(Some((MTIME_NS, Resolution::Second)), Some(edited + 1));
        assert_eq!(judge(&stored, &actual(2, 9, edited)), Verdict::Modified);
    }

    #[test]
    fn times_are_compared_as_exactly_as_they_were_written() {
        use Resolution::{Float, Millisecond, Second, Tick};
        let second = 1_704_164_645_000_000_000;
        for (at, resolution, actual_ns, same) in [
            (MTIME_NS, Tick, MTIME_NS + 10, true),
            (MTIME_NS, Tick, MTIME_NS + 11, false),
            (MTIME_NS, Tick, MTIME_NS - 89, true),
            (MTIME_NS, Tick, MTIME_NS - 90, false),
            (MTIME_NS, Tick, second, true),
            (1_704_164_645_123_456_700, Float, MTIME_NS, true),
            (1_704_164_645_123_456_700, Float, MTIME_NS + 1_000, false),
            (1_704_164_645_123_456_700, Float, MTIME_NS - 1_000, false),
            (1_704_164_645_123_456_700, Float, second, true),
            (second + 123_000_000, Millisecond, MTIME_NS, true),
            (second + 123_000_000, Millisecond, second + 123_999_999, true),
            (second + 123_000_000, Millisecond, second + 124_000_000, false),
            (second + 123_000_000, Millisecond, second + 122_999_999, false),
            (second + 123_000_000, Millisecond, second, true),
            (second, Second, second, true),
            (second, Second, MTIME_NS, true),
            (second, Second, second + 999_999_999, true),
            (second, Second, second + 1_000_000_000, true),
            (second, Second, second + 1_000_000_001, false),
            (second, Second, second + 2_000_000_000, false),
            (second, Second, second - 1, false),
        ] {
            let stored = stored(Some((at, resolution)), None);
            let verdict = judge(&stored, &actual(2, 9, actual_ns));
            let expected = if same { Verdict::Corrupt } else { Verdict::Modified };
            assert_eq!(verdict, expected, "{at} {resolution:?} {actual_ns}");
        }
    }

    /// Python computes a file's time from its parts in floating point and prints the result.
    #[test]
    fn a_time_that_python_printed_is_the_files() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let (seconds, nanoseconds) = (state % (1 << 32), (state >> 32) % 1_000_000_000);
            let printed = format!("{:?}", seconds as f64 + 1e-9 * nanoseconds as f64);
            let time = [("user.shatag.ts", printed.as_bytes())];
            let digest = [("user.shatag.sha256", &[b'1'; 64][..])];
            let attributes = digest.into_iter().chain(time);
            let attributes = attributes.map(|(name, value)| (name.as_bytes(), value));
            let [Ok(stored)] = crate::store::foreign::of_attributes(attributes)[..] else {
                panic!("{printed}");
            };
            let mtime_ns = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
            assert_eq!(judge(&stored, &actual(2, 9, mtime_ns)), Verdict::Corrupt, "{printed}");
            let other = mtime_ns + 3_000_000_000;
            assert_eq!(judge(&stored, &actual(2, 9, other)), Verdict::Modified, "{printed}");
        }
    }
}
