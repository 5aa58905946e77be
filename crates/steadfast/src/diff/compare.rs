//! Compares two files at one path. Pure.
//!
//! Takes what is known of each, and returns a [`Difference`], with the reason if it is unknown.
//! Specified in `docs/reference/diff.md`.

use super::pair::{Difference, Doubt, FileSide, PathKind, PathPair};
use crate::event::FileError;
use crate::reference::Reference;
use crate::verdict::{Verdict, same_mtime};
use steadfast_manifest::tag::Tag;

/// Compares the files that both sides have at one path.
pub(super) fn pair(
    path: std::path::PathBuf,
    mut here: Box<FileSide>,
    mut there: Box<FileSide>,
) -> PathPair {
    ensure_read(&mut here, &mut there);
    let (difference, doubt) = compare(&here, &there);
    let same = difference == Difference::Same || difference == Difference::TagLost;
    PathPair {
        doubt,
        times_differ: same && there.listed.is_none() && times_differ(&here, &there),
        here: Some(here),
        there: Some(there),
        ..PathPair::new(path, PathKind::File, difference)
    }
}

/// Marks a file as unreadable if it was not read because the lengths differed, and the lengths are
/// now equal. If files are to be read, a tag must not decide.
fn ensure_read(here: &mut FileSide, there: &mut FileSide) {
    if here.length != there.length {
        return;
    }
    for side in [here, there].into_iter().filter(|side| side.is_unread) {
        side.trouble.get_or_insert(FileError::new("read it whole", "the file changed meanwhile"));
    }
}

fn compare(here: &FileSide, there: &FileSide) -> (Difference, Option<Doubt>) {
    if here.trouble.is_some() || there.trouble.is_some() {
        return (Difference::Unreadable, None);
    }
    if there.is_list {
        return (Difference::Same, None);
    }
    if here.length.zip(there.length).is_some_and(|(here, there)| here != there) {
        return (Difference::Different, None);
    }
    if let Some(listed) = &there.listed {
        return by_list(here, listed);
    }
    match (&here.actual, &there.actual) {
        (Some(a), Some(b)) if a.algorithm != b.algorithm => unknown(Doubt::Algorithms),
        (Some(a), Some(b)) if !a.same_contents(b) => (Difference::Different, None),
        (Some(_), Some(_)) if tag_is_lost(here, there) => (Difference::TagLost, None),
        (Some(_), Some(_)) => (Difference::Same, None),
        _ => by_tags(here, there),
    }
}

/// Compares a file with its entry in a list.
fn by_list(here: &FileSide, listed: &Reference) -> (Difference, Option<Doubt>) {
    let Some(contents) = contents_of(here) else {
        return match (&here.tag, &here.tag_trouble) {
            (_, Some(_)) => (Difference::Unreadable, None),
            _ if here.verdict.is_some_and(Verdict::differs) => unknown(Doubt::DamagedHere),
            (Some(_), None) => unknown(Doubt::StaleHere),
            (None, None) => unknown(Doubt::NoTagHere),
        };
    };
    let listed = listed.digests.iter().find(|(algorithm, _)| *algorithm == contents.algorithm);
    match listed {
        Some((_, digest)) if *digest == contents.digest => (Difference::Same, None),
        Some(_) => (Difference::Different, None),
        None => unknown(Doubt::Algorithms),
    }
}

fn by_tags(here: &FileSide, there: &FileSide) -> (Difference, Option<Doubt>) {
    if tag_is_lost(here, there) {
        return (Difference::TagLost, None);
    }
    let one_file = here.identity.is_some() && here.identity == there.identity;
    let empty = here.length == Some(0) && there.length == Some(0);
    if one_file || empty {
        return (Difference::Same, None);
    }
    if here.tag_trouble.is_some() || there.tag_trouble.is_some() {
        return (Difference::Unreadable, None);
    }
    if let Some(doubt) = damage_of(here, there) {
        return unknown(doubt);
    }
    match (&here.tag, &there.tag) {
        (None, None) => unknown(Doubt::NoTags),
        (None, Some(_)) => unknown(Doubt::NoTagHere),
        (Some(tag), _) if !describes(tag, here) => unknown(Doubt::StaleHere),
        (_, Some(tag)) if !describes(tag, there) => unknown(Doubt::StaleThere),
        (Some(a), Some(b)) if a.algorithm != b.algorithm => unknown(Doubt::Algorithms),
        (Some(a), Some(b)) if a.same_contents(b) => (Difference::Same, None),
        _ => (Difference::Different, None),
    }
}

/// Returns which side is known not to be what its tag says. Contents that are not read cannot be
/// compared with those of the other side then, which may have been copied from it.
fn damage_of(here: &FileSide, there: &FileSide) -> Option<Doubt> {
    let is_other = |side: &FileSide| side.verdict.is_some_and(Verdict::differs);
    match (is_other(here), is_other(there)) {
        (true, _) => Some(Doubt::DamagedHere),
        (false, true) => Some(Doubt::DamagedThere),
        (false, false) => None,
    }
}

fn unknown(doubt: Doubt) -> (Difference, Option<Doubt>) {
    (Difference::Unknown, Some(doubt))
}

fn tag_is_lost(here: &FileSide, there: &FileSide) -> bool {
    here.tag.is_some() && there.tag.is_none() && there.tag_trouble.is_none()
}

/// Returns whether a tag describes the present contents of the file, according to its status.
fn describes(tag: &Tag, side: &FileSide) -> bool {
    let same_time = side.mtime.is_some_and(|mtime| same_mtime(tag.mtime, mtime));
    side.length == Some(tag.length) && same_time
}

/// Returns the known contents of a side: as read, or else those of a tag that matches its status,
/// unless a check found it damaged.
pub(super) fn contents_of(side: &FileSide) -> Option<&Tag> {
    match (&side.trouble, &side.actual, &side.tag) {
        (Some(_), ..) => None,
        _ if side.is_unread => None,
        (None, Some(actual), _) => Some(actual),
        (None, None, Some(tag)) if describes(tag, side) => {
            Some(tag).filter(|_| !side.verdict.is_some_and(Verdict::differs))
        }
        _ => None,
    }
}

/// Returns whether modification times differ by more than the precision of either file system.
fn times_differ(here: &FileSide, there: &FileSide) -> bool {
    let times = here.mtime.zip(there.mtime);
    times.is_some_and(|(a, b)| !same_mtime(a, b) && !same_mtime(b, a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::FileError;
    use crate::exit_status::ExitStatus;
    use crate::verdict::Verdict;
    use steadfast_digest::{Algorithm, Digest};
    use steadfast_sys::file::Timestamp;

    fn tag(content: u8, length: u64, mtime_ns: i128) -> Tag {
        Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[content; 32]).unwrap(),
            length,
            mtime: Timestamp::from_nanoseconds(mtime_ns),
            tagged: Timestamp::default(),
        }
    }

    /// A file with a tag that matches it.
    fn tagged(content: u8, length: u64, mtime_ns: i128) -> FileSide {
        let tag = tag(content, length, mtime_ns);
        FileSide {
            length: Some(length),
            mtime: Some(tag.mtime),
            tag: Some(tag),
            ..FileSide::default()
        }
    }

    fn untagged(length: u64) -> FileSide {
        FileSide { tag: None, ..tagged(0, length, 5) }
    }

    fn read(content: u8, side: FileSide) -> FileSide {
        let length = side.length.unwrap();
        FileSide { actual: Some(tag(content, length, 5)), ..side }
    }

    fn damaged(side: FileSide) -> FileSide {
        let trouble = FileError::new("read the tag", "damaged");
        FileSide { tag: None, tag_trouble: Some(trouble), ..side }
    }

    fn unreadable(side: FileSide) -> FileSide {
        let trouble = FileError::new("open", "permission denied");
        FileSide { trouble: Some(trouble), ..side }
    }

    #[test]
    fn by_recorded_tags() {
        let stale = |content, length| FileSide {
            mtime: Some(Timestamp::from_nanoseconds(99_000_000_000)),
            ..tagged(content, length, 5)
        };
        let blake = |side: FileSide| {
            let algorithm = Algorithm::Blake3;
            FileSide { tag: side.tag.map(|tag| Tag { algorithm, ..tag }), ..side }
        };
        let other_inode = |side: FileSide, inode| FileSide { identity: Some((1, inode)), ..side };
        let rows = [
            (tagged(1, 9, 5), tagged(1, 9, 5), Difference::Same, None),
            (tagged(1, 9, 5), tagged(2, 9, 5), Difference::Different, None),
            (tagged(1, 9, 5), tagged(1, 8, 5), Difference::Different, None),
            (untagged(9), untagged(8), Difference::Different, None),
            (stale(1, 9), stale(1, 8), Difference::Different, None),
            (tagged(1, 9, 5), untagged(9), Difference::TagLost, None),
            (stale(1, 9), untagged(9), Difference::TagLost, None),
            (untagged(9), untagged(9), Difference::Unknown, Some(Doubt::NoTags)),
            (untagged(9), tagged(1, 9, 5), Difference::Unknown, Some(Doubt::NoTagHere)),
            (stale(1, 9), tagged(1, 9, 5), Difference::Unknown, Some(Doubt::StaleHere)),
            (tagged(1, 9, 5), stale(1, 9), Difference::Unknown, Some(Doubt::StaleThere)),
            (tagged(1, 9, 5), blake(tagged(1, 9, 5)), Difference::Unknown, Some(Doubt::Algorithms)),
            (untagged(0), untagged(0), Difference::Same, None),
            (tagged(1, 0, 5), untagged(0), Difference::TagLost, None),
            (other_inode(untagged(9), 7), other_inode(untagged(9), 7), Difference::Same, None),
            (damaged(untagged(9)), tagged(1, 9, 5), Difference::Unreadable, None),
            (tagged(1, 9, 5), damaged(untagged(9)), Difference::Unreadable, None),
            (tagged(1, 9, 5), damaged(untagged(8)), Difference::Different, None),
            (unreadable(untagged(9)), untagged(8), Difference::Unreadable, None),
        ];
        for (number, (here, there, difference, doubt)) in rows.iter().enumerate() {
            assert_eq!(compare(here, there), (*difference, *doubt), "row {number}");
        }
    }

    #[test]
    fn by_reading() {
        let rows = [
            (read(1, untagged(9)), read(1, untagged(9)), Difference::Same),
            (read(1, untagged(9)), read(2, untagged(9)), Difference::Different),
            (read(1, untagged(9)), read(1, untagged(8)), Difference::Different),
            (read(1, tagged(1, 9, 5)), read(1, untagged(9)), Difference::TagLost),
            (read(1, tagged(1, 9, 5)), read(2, untagged(9)), Difference::Different),
            (read(1, untagged(9)), read(1, tagged(7, 9, 5)), Difference::Same),
            (read(1, tagged(1, 9, 5)), read(1, damaged(untagged(9))), Difference::Same),
            (read(1, untagged(9)), unreadable(untagged(9)), Difference::Unreadable),
        ];
        for (number, (here, there, difference)) in rows.iter().enumerate() {
            assert_eq!(compare(here, there).0, *difference, "row {number}");
        }
    }

    #[test]
    fn a_file_that_was_left_unread_is_not_judged_by_its_tag() {
        let unread = |side| Box::new(FileSide { is_unread: true, ..side });
        let differs = pair("f".into(), unread(tagged(1, 9, 5)), unread(tagged(1, 8, 5)));
        assert_eq!(differs.difference, Difference::Different);
        let read = Box::new(read(1, tagged(1, 9, 5)));
        let same_length = pair("f".into(), unread(tagged(1, 9, 5)), read);
        assert_eq!(same_length.difference, Difference::Unreadable);
        assert!(same_length.here.unwrap().trouble.is_some());
        assert_eq!(contents_of(&unread(tagged(1, 9, 5))), None);
    }

    #[test]
    fn times_are_told_and_coarser_clocks_forgiven() {
        let differ = |a, b| {
            let pair = pair("f".into(), Box::new(tagged(1, 9, a)), Box::new(tagged(1, 9, b)));
            assert_eq!(pair.difference, Difference::Same);
            pair.times_differ
        };
        assert!(!differ(5_123_456_789, 5_123_456_789));
        assert!(!differ(5_123_456_789, 5_000_000_000), "B keeps whole seconds");
        assert!(!differ(5_000_000_000, 5_123_456_789), "A does");
        assert!(differ(5_123_456_789, 9_123_456_789));
    }

    #[test]
    fn coarser_clocks_are_forgiven_without_tags() {
        let linked = |mtime_ns| FileSide {
            mtime: Some(Timestamp::from_nanoseconds(mtime_ns)),
            identity: Some((1, 7)),
            ..untagged(9)
        };
        for (a, b, differ) in [
            (5_123_456_789, 5_000_000_000, false),
            (4_000_000_000, 5_123_456_789, false),
            (5_123_456_789, 6_000_000_000, false),
            (5_123_456_789, 5_123_456_790, true),
        ] {
            let pair = pair("f".into(), Box::new(linked(a)), Box::new(linked(b)));
            assert_eq!((pair.difference, pair.times_differ), (Difference::Same, differ), "{a} {b}");
        }
    }

    #[test]
    fn a_tag_on_a_coarser_clock_still_describes_its_file() {
        let mut there = tagged(1, 9, 5_123_456_789);
        there.mtime = Some(Timestamp::from_nanoseconds(5_123_456_700));
        assert_eq!(compare(&tagged(1, 9, 5_123_456_789), &there), (Difference::Same, None));
    }

    #[test]
    fn statuses_outrank_as_they_should() {
        let copy = |verdict| {
            let side = FileSide { verdict, ..read(1, tagged(1, 9, 5)) };
            pair("f".into(), Box::new(side.clone()), Box::new(side))
        };
        assert_eq!(copy(Some(Verdict::Intact)).exit_status(), ExitStatus::Fine);
        for verdict in [Verdict::Corrupt, Verdict::Suspect] {
            assert_eq!(copy(Some(verdict)).exit_status(), ExitStatus::Changed);
        }
        let here = Box::new(read(1, untagged(9)));
        let doubtful = pair("f".into(), here.clone(), Box::new(read(1, damaged(untagged(9)))));
        assert_eq!(
            (doubtful.difference, doubtful.exit_status()),
            (Difference::Same, ExitStatus::Undetermined)
        );
    }
}
