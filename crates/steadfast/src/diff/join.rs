//! Joins two sources in path order.
//!
//! Takes the entries of both sides and reports each path once. Requires both sources to be in the
//! order of `Path`: component by component, and by bytes within a component.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::PairReporter;
use super::compare::{contents_of, pair};
use super::moves::{Moves, WhichSide};
use super::pair::{Difference, Doubt, FileSide, PathKind, PathPair};
use super::source::{DiffSource, EntryContent, NextEntry, SideEntry};
use crate::error::Error;
use crate::event::{FileError, Notice};

/// The end of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JoinEnd {
    /// Both sources were read to their ends.
    Whole,
    /// The user stopped it.
    Stopped,
}

/// How long to wait for one entry. It is short, so the bounded queue of the other source does not
/// fill up, and a stop is noticed.
const PATIENCE: Duration = Duration::from_millis(5);

/// Entries between two checks of the clock.
const PROGRESS_ENTRIES: u32 = 256;

/// One side and its next entry.
struct JoinSide<'a> {
    source: &'a mut dyn DiffSource,
    head: Option<SideEntry>,
    over: bool,
    /// Directories above the last entry that could not be read, the outermost first.
    hidden: Vec<PathBuf>,
}

impl<'a> JoinSide<'a> {
    fn of(source: &'a mut dyn DiffSource) -> JoinSide<'a> {
        JoinSide { source, head: None, over: false, hidden: Vec::new() }
    }

    /// Reads the next entry if there is none. Returns whether the next entry, or the end, is known.
    fn fill(&mut self) -> Result<bool, Error> {
        if self.head.is_none() && !self.over {
            match self.source.take(PATIENCE)? {
                NextEntry::Entry(entry) => self.head = Some(entry),
                NextEntry::Pending => return Ok(false),
                NextEntry::End => self.over = true,
            }
        }
        Ok(true)
    }

    fn hides(&self, path: &Path) -> bool {
        self.hidden.iter().any(|directory| path.starts_with(directory))
    }

    fn hide(&mut self, directory: &Path) {
        // Both sides have passed every directory that does not contain this one.
        self.hidden.retain(|outer| directory.starts_with(outer) && directory != outer);
        self.hidden.push(directory.to_owned());
    }
}

/// Two sources and their next entries.
pub(super) struct Join<'a> {
    here: JoinSide<'a>,
    there: JoinSide<'a>,
    moves: Moves,
}

impl<'a> Join<'a> {
    pub(super) fn new(here: &'a mut dyn DiffSource, there: &'a mut dyn DiffSource) -> Join<'a> {
        Join { here: JoinSide::of(here), there: JoinSide::of(there), moves: Moves::new() }
    }

    /// Reads both sources to their ends.
    ///
    /// # Errors
    ///
    /// If a source lacks entries. What was reported before is correct.
    pub(super) fn run(&mut self, reporter: &mut PairReporter<'_>) -> Result<JoinEnd, Error> {
        let mut entries = 0_u32;
        loop {
            if reporter.stopped() {
                return Ok(JoinEnd::Stopped);
            }
            let known = self.here.fill()? & self.there.fill()?;
            entries = entries.wrapping_add(1);
            if !known || entries.is_multiple_of(PROGRESS_ENTRIES) {
                let (here, there) = (&self.here.source, &self.there.source);
                reporter.progress(|| here.bytes() + there.bytes());
            }
            if known && !self.step(reporter) {
                return Ok(JoinEnd::Whole);
            }
        }
    }

    /// Reports the rest, and returns notices for the user.
    pub(super) fn finish(mut self, reporter: &mut PairReporter<'_>) -> Vec<Notice> {
        for (path, side, file) in self.moves.leftovers() {
            reporter.report(&only(side, path, file));
        }
        let passed = self.moves.passed();
        let text = format!(
            "{passed} files that only one side has were too many to look for them elsewhere: they \
             may have been moved"
        );
        (passed > 0).then_some(Notice::new(text)).into_iter().collect()
    }

    /// Handles the first entry, or both entries of the same path. Returns false at the end of both
    /// sides.
    fn step(&mut self, reporter: &mut PairReporter<'_>) -> bool {
        let order = match (&self.here.head, &self.there.head) {
            (None, None) => return false,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            // A directory that hides entries comes before them, also on the other side.
            (Some(here), Some(there)) => {
                let kept = |entry: &SideEntry| matches!(entry.found, EntryContent::File(_));
                here.path.cmp(&there.path).then(kept(here).cmp(&kept(there)))
            }
        };
        let here = if order.is_le() { self.here.head.take() } else { None };
        let there = if order.is_ge() { self.there.head.take() } else { None };
        match (here, there) {
            (Some(SideEntry { path, found: EntryContent::File(here) }), Some(there)) => {
                if let EntryContent::File(there) = there.found {
                    reporter.report(&pair(path, here, there));
                }
            }
            (Some(here), there) => {
                self.alone(WhichSide::Here, here, reporter);
                if let Some(there) = there {
                    self.alone(WhichSide::There, there, reporter);
                }
            }
            (None, Some(there)) => self.alone(WhichSide::There, there, reporter),
            (None, None) => {}
        }
        true
    }

    /// Handles an entry without a counterpart.
    fn alone(&mut self, side: WhichSide, entry: SideEntry, reporter: &mut PairReporter<'_>) {
        let SideEntry { path, found } = entry;
        let file = match found {
            EntryContent::File(file) => file,
            EntryContent::Hidden(trouble) => {
                self.side(side).hide(&path);
                return reporter.report(&hidden(side, path, trouble));
            }
        };
        if self.side(side.other()).hides(&path) {
            let mut pair = only(side, path, file);
            (pair.difference, pair.doubt) = (Difference::Unknown, Some(Doubt::Hidden));
            return reporter.report(&pair);
        }
        let Some(contents) = contents_of(&file).copied() else {
            return reporter.report(&only(side, path, file));
        };
        if let Some(other) = self.moves.take(side.other(), (&path, &contents)) {
            return reporter.report(&moved(side, (path, file), other));
        }
        if let Err((path, file)) = self.moves.keep(side, path, file, &contents) {
            reporter.report(&only(side, path, file));
        }
    }

    fn side(&mut self, side: WhichSide) -> &mut JoinSide<'a> {
        match side {
            WhichSide::Here => &mut self.here,
            WhichSide::There => &mut self.there,
        }
    }
}

/// A pair without one of its sides.
fn lone(
    side: WhichSide,
    path: PathBuf,
    kind: PathKind,
    difference: Difference,
    file: Box<FileSide>,
) -> PathPair {
    let (here, there) = match side {
        WhichSide::Here => (Some(file), None),
        WhichSide::There => (None, Some(file)),
    };
    PathPair { here, there, ..PathPair::new(path, kind, difference) }
}

pub(super) fn only_of(side: WhichSide) -> Difference {
    match side {
        WhichSide::Here => Difference::OnlyHere,
        WhichSide::There => Difference::OnlyThere,
    }
}

fn only(side: WhichSide, path: PathBuf, file: Box<FileSide>) -> PathPair {
    lone(side, path, PathKind::File, only_of(side), file)
}

fn hidden(side: WhichSide, path: PathBuf, trouble: FileError) -> PathPair {
    let file = Box::new(FileSide { trouble: Some(trouble), ..FileSide::default() });
    lone(side, path, PathKind::Directory, Difference::Unreadable, file)
}

fn moved(
    side: WhichSide,
    one: (PathBuf, Box<FileSide>),
    other: (PathBuf, Box<FileSide>),
) -> PathPair {
    let ((path, here), (moved_to, there)) = match side {
        WhichSide::Here => (one, other),
        WhichSide::There => (other, one),
    };
    PathPair {
        moved_to: Some(moved_to),
        here: Some(here),
        there: Some(there),
        ..PathPair::new(path, PathKind::File, Difference::Moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{DiffMonitor, DiffSummary};
    use crate::exit_status::ExitStatus;
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;
    use std::vec;

    use steadfast_digest::{Algorithm, Digest};
    use steadfast_manifest::tag::Tag;
    use steadfast_sys::file::Timestamp;

    /// A list in path order that is sometimes not ready.
    struct SlowSource {
        entries: vec::IntoIter<SideEntry>,
        takes: u32,
        fails: bool,
    }

    impl DiffSource for SlowSource {
        fn take(&mut self, _patience: Duration) -> Result<NextEntry, Error> {
            self.takes += 1;
            if self.takes.is_multiple_of(3) {
                return Ok(NextEntry::Pending);
            }
            match self.entries.next() {
                Some(entry) => Ok(NextEntry::Entry(entry)),
                None if self.fails => Err(crate::diff::defect()),
                None => Ok(NextEntry::End),
            }
        }

        fn bytes(&self) -> u64 {
            0
        }
    }

    type ToldPair = (String, Difference, Option<Doubt>);

    #[derive(Default)]
    struct ToldPairs(Vec<ToldPair>);

    impl DiffMonitor for ToldPairs {
        fn pair(&mut self, pair: &PathPair) {
            let path = match &pair.moved_to {
                Some(moved_to) => format!("{} -> {}", pair.path.display(), moved_to.display()),
                None => pair.path.display().to_string(),
            };
            self.0.push((path, pair.difference, pair.doubt));
        }

        fn notice(&mut self, _notice: &Notice) {}
    }

    fn file(path: &str, content: u8) -> SideEntry {
        let mtime = Timestamp { seconds: 5, nanoseconds: 0 };
        let tag = Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[content; 32]).unwrap(),
            length: 9,
            mtime,
            tagged: mtime,
        };
        let side =
            FileSide { length: Some(9), mtime: Some(mtime), tag: Some(tag), ..FileSide::default() };
        SideEntry { path: path.into(), found: EntryContent::File(Box::new(side)) }
    }

    fn hidden(path: &str) -> SideEntry {
        let trouble = FileError::new("open", "permission denied");
        SideEntry { path: path.into(), found: EntryContent::Hidden(trouble) }
    }

    fn joined(
        here: Vec<SideEntry>,
        there: Vec<SideEntry>,
        fails: bool,
    ) -> (Vec<ToldPair>, Result<JoinEnd, Error>, DiffSummary) {
        let (stop, start) = (AtomicBool::new(false), Instant::now());
        let mut told = ToldPairs::default();
        let summary = DiffSummary::default();
        let mut reporter =
            PairReporter { summary, monitor: &mut told, stop: &stop, start, told: start };
        let list =
            |entries: Vec<SideEntry>| SlowSource { entries: entries.into_iter(), takes: 0, fails };
        let (mut here, mut there) = (list(here), list(there));
        let mut join = Join::new(&mut here, &mut there);
        let ended = join.run(&mut reporter);
        join.finish(&mut reporter);
        let summary = reporter.summary;
        (told.0, ended, summary)
    }

    fn plain(told: &[ToldPair]) -> Vec<(&str, Difference)> {
        told.iter().map(|(path, difference, _)| (path.as_str(), *difference)).collect()
    }

    #[test]
    fn paths_meet_in_the_order_of_components() {
        // As bytes, "a-b" and "a.b" come before "a/b"; as components, after it.
        let here = vec![file("a/b", 1), file("a/d", 2), file("a-b", 3), file("b", 4)];
        let there = vec![file("a/b", 1), file("a-b", 7), file("a.b", 8), file("b", 4)];
        let (told, ended, summary) = joined(here, there, false);
        assert_eq!(ended.unwrap(), JoinEnd::Whole);
        assert_eq!(
            plain(&told),
            [
                ("a/b", Difference::Same),
                ("a-b", Difference::Different),
                ("b", Difference::Same),
                ("a/d", Difference::OnlyHere),
                ("a.b", Difference::OnlyThere),
            ]
        );
        assert_eq!((summary.files_here, summary.files_there), (4, 4));
        assert_eq!(summary.exit_status(), ExitStatus::Changed);
    }

    #[test]
    fn moves_are_told_once_whichever_side_comes_first() {
        let here = vec![file("a", 1), file("m", 3), file("z", 2)];
        let there = vec![file("b", 2), file("c", 1), file("m", 3)];
        let (told, ..) = joined(here, there, false);
        assert_eq!(
            plain(&told),
            [("a -> c", Difference::Moved), ("m", Difference::Same), ("z -> b", Difference::Moved)]
        );
    }

    #[test]
    fn what_an_unreadable_directory_may_hold_is_not_missing() {
        let here = vec![file("a", 1), hidden("d"), hidden("d/e"), file("d2", 2), file("f", 3)];
        let there =
            vec![file("a", 1), file("d", 5), file("d/e/x", 6), file("d/z", 7), file("d2", 2)];
        let (told, _, summary) = joined(here, there, false);
        let unknown = (Difference::Unknown, Some(Doubt::Hidden));
        let expected = [
            ("a", (Difference::Same, None)),
            ("d", (Difference::Unreadable, None)),
            ("d", unknown),
            ("d/e", (Difference::Unreadable, None)),
            ("d/e/x", unknown),
            ("d/z", unknown),
            ("d2", (Difference::Same, None)),
            ("f", (Difference::OnlyHere, None)),
        ];
        let found: Vec<_> = told.iter().map(|(path, a, b)| (path.as_str(), (*a, *b))).collect();
        assert_eq!(found, expected);
        assert_eq!(summary.differences(Difference::OnlyThere), 0);
    }

    #[test]
    fn a_directory_whose_list_breaks_off_hides_the_rest() {
        let here = vec![file("d/a", 1), hidden("d"), file("d/c", 3), file("e", 5)];
        let there = vec![file("d/a", 1), file("d/b", 2), file("d/c", 3), file("e", 5)];
        let (told, ..) = joined(here, there, false);
        assert_eq!(
            plain(&told),
            [
                ("d/a", Difference::Same),
                ("d", Difference::Unreadable),
                ("d/b", Difference::Unknown),
                ("d/c", Difference::Same),
                ("e", Difference::Same),
            ]
        );
    }

    #[test]
    fn a_source_that_breaks_off_is_an_error_and_no_pile_of_findings() {
        let (told, ended, _) = joined(vec![file("a", 1)], vec![file("a", 1), file("b", 2)], true);
        assert!(ended.is_err());
        assert_eq!(plain(&told), [("a", Difference::Same)]);
    }
}
