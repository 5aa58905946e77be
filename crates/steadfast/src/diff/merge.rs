//! Two sources in path order → pairs.
//!
//! In: the entries of both sides. Out: each path once, to the teller. Knows nothing of trees: only
//! that both sources keep the order of `Path`, component by component, bytes within them.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Teller;
use super::compare::{contents_of, pair};
use super::moves::{Moves, Where};
use super::pair::{Difference, Doubt, Kind, Pair, Side};
use super::source::{Entry, Found, Source, Taken};
use crate::error::Error;
use crate::event::{FileError, Notice};

/// How a merge ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Both sources are at their ends.
    Whole,
    /// It was told to stop.
    Stopped,
}

/// How long one look for an entry may take: short, so that the sources' bounded queues never fill
/// meanwhile, and that a stop is heard.
const PATIENCE: Duration = Duration::from_millis(5);

/// Entries between two looks at the clock.
const PROGRESS_ENTRIES: u32 = 256;

/// One side and its next entry.
struct Reading<'a> {
    source: &'a mut dyn Source,
    head: Option<Entry>,
    over: bool,
    /// Directories of unknown contents around the latest entry, the outermost first.
    hidden: Vec<PathBuf>,
}

impl<'a> Reading<'a> {
    fn of(source: &'a mut dyn Source) -> Reading<'a> {
        Reading { source, head: None, over: false, hidden: Vec::new() }
    }

    /// Looks for the next entry; says whether it is known what comes next.
    fn fill(&mut self) -> Result<bool, Error> {
        if self.head.is_none() && !self.over {
            match self.source.take(PATIENCE)? {
                Taken::Entry(entry) => self.head = Some(entry),
                Taken::Pending => return Ok(false),
                Taken::End => self.over = true,
            }
        }
        Ok(true)
    }

    fn hides(&self, path: &Path) -> bool {
        self.hidden.iter().any(|directory| path.starts_with(directory))
    }

    fn hide(&mut self, directory: &Path) {
        // Both sides are past whatever does not enclose this one.
        self.hidden.retain(|outer| directory.starts_with(outer) && directory != outer);
        self.hidden.push(directory.to_owned());
    }
}

/// Two sources on their way to their ends.
pub(super) struct Merge<'a> {
    here: Reading<'a>,
    there: Reading<'a>,
    moves: Moves,
}

impl<'a> Merge<'a> {
    pub(super) fn new(here: &'a mut dyn Source, there: &'a mut dyn Source) -> Merge<'a> {
        Merge { here: Reading::of(here), there: Reading::of(there), moves: Moves::new() }
    }

    /// Goes through both sources.
    ///
    /// # Errors
    /// If a source lacks entries: what was told until then is true, the rest is not known.
    pub(super) fn run(&mut self, teller: &mut Teller<'_>) -> Result<Ended, Error> {
        let mut entries = 0_u32;
        loop {
            if teller.stopped() {
                return Ok(Ended::Stopped);
            }
            let known = self.here.fill()? & self.there.fill()?;
            entries = entries.wrapping_add(1);
            if !known || entries.is_multiple_of(PROGRESS_ENTRIES) {
                let (here, there) = (&self.here.source, &self.there.source);
                teller.progress(|| here.bytes() + there.bytes());
            }
            if known && !self.step(teller) {
                return Ok(Ended::Whole);
            }
        }
    }

    /// Tells the rest, and returns what the reader should know of how it went.
    pub(super) fn finish(mut self, teller: &mut Teller<'_>) -> Vec<Notice> {
        for (path, side, file) in self.moves.leftovers() {
            teller.tell(&only(side, path, file));
        }
        let passed = self.moves.passed();
        let text = format!(
            "{passed} files that only one side has were too many to look for them elsewhere: they \
             may have been moved"
        );
        (passed > 0).then_some(Notice::new(text)).into_iter().collect()
    }

    /// Deals with the entry, or the two, that come first; false at the end of both sides.
    fn step(&mut self, teller: &mut Teller<'_>) -> bool {
        let order = match (&self.here.head, &self.there.head) {
            (None, None) => return false,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            // What hides others comes before what it hides, on the other side too.
            (Some(here), Some(there)) => {
                let kept = |entry: &Entry| matches!(entry.found, Found::File(_));
                here.path.cmp(&there.path).then(kept(here).cmp(&kept(there)))
            }
        };
        let here = if order.is_le() { self.here.head.take() } else { None };
        let there = if order.is_ge() { self.there.head.take() } else { None };
        match (here, there) {
            (Some(Entry { path, found: Found::File(here) }), Some(there)) => {
                if let Found::File(there) = there.found {
                    teller.tell(&pair(path, here, there));
                }
            }
            (Some(here), there) => {
                self.alone(Where::Here, here, teller);
                if let Some(there) = there {
                    self.alone(Where::There, there, teller);
                }
            }
            (None, Some(there)) => self.alone(Where::There, there, teller),
            (None, None) => {}
        }
        true
    }

    /// Deals with an entry that has no counterpart.
    fn alone(&mut self, side: Where, entry: Entry, teller: &mut Teller<'_>) {
        let Entry { path, found } = entry;
        let file = match found {
            Found::File(file) => file,
            Found::Hidden(trouble) => {
                self.side(side).hide(&path);
                return teller.tell(&hidden(side, path, trouble));
            }
        };
        if self.side(side.other()).hides(&path) {
            let mut pair = only(side, path, file);
            (pair.difference, pair.doubt) = (Difference::Unknown, Some(Doubt::Hidden));
            return teller.tell(&pair);
        }
        let Some(contents) = contents_of(&file).copied() else {
            return teller.tell(&only(side, path, file));
        };
        if let Some(other) = self.moves.take(side.other(), &contents) {
            return teller.tell(&moved(side, (path, file), other));
        }
        if let Err((path, file)) = self.moves.keep(side, path, file, &contents) {
            teller.tell(&only(side, path, file));
        }
    }

    fn side(&mut self, side: Where) -> &mut Reading<'a> {
        match side {
            Where::Here => &mut self.here,
            Where::There => &mut self.there,
        }
    }
}

/// A pair of which one side is missing.
fn lone(side: Where, path: PathBuf, kind: Kind, difference: Difference, file: Box<Side>) -> Pair {
    let (here, there) = match side {
        Where::Here => (Some(file), None),
        Where::There => (None, Some(file)),
    };
    Pair { path, moved_to: None, kind, difference, doubt: None, times_differ: false, here, there }
}

pub(super) fn only_of(side: Where) -> Difference {
    match side {
        Where::Here => Difference::OnlyHere,
        Where::There => Difference::OnlyThere,
    }
}

fn only(side: Where, path: PathBuf, file: Box<Side>) -> Pair {
    lone(side, path, Kind::File, only_of(side), file)
}

fn hidden(side: Where, path: PathBuf, trouble: FileError) -> Pair {
    let file = Box::new(Side { trouble: Some(trouble), ..Side::default() });
    lone(side, path, Kind::Directory, Difference::Unreadable, file)
}

fn moved(side: Where, one: (PathBuf, Box<Side>), other: (PathBuf, Box<Side>)) -> Pair {
    let ((path, here), (moved_to, there)) = match side {
        Where::Here => (one, other),
        Where::There => (other, one),
    };
    Pair {
        path,
        moved_to: Some(moved_to),
        kind: Kind::File,
        difference: Difference::Moved,
        doubt: None,
        times_differ: false,
        here: Some(here),
        there: Some(there),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{DiffMonitor, DiffSummary};
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;
    use std::vec;

    use crate::tag::Tag;
    use steadfast_digest::{Algorithm, Digest};
    use steadfast_sys::file::Timestamp;

    /// A list in path order that is now and then not ready.
    struct List {
        entries: vec::IntoIter<Entry>,
        takes: u32,
        fails: bool,
    }

    impl Source for List {
        fn take(&mut self, _patience: Duration) -> Result<Taken, Error> {
            self.takes += 1;
            if self.takes.is_multiple_of(3) {
                return Ok(Taken::Pending);
            }
            match self.entries.next() {
                Some(entry) => Ok(Taken::Entry(entry)),
                None if self.fails => Err(crate::diff::defect()),
                None => Ok(Taken::End),
            }
        }

        fn bytes(&self) -> u64 {
            0
        }
    }

    type Line = (String, Difference, Option<Doubt>);

    #[derive(Default)]
    struct Told(Vec<Line>);

    impl DiffMonitor for Told {
        fn pair(&mut self, pair: &Pair) {
            let path = match &pair.moved_to {
                Some(moved_to) => format!("{} -> {}", pair.path.display(), moved_to.display()),
                None => pair.path.display().to_string(),
            };
            self.0.push((path, pair.difference, pair.doubt));
        }

        fn notice(&mut self, _notice: &Notice) {}
    }

    fn file(path: &str, content: u8) -> Entry {
        let mtime = Timestamp { seconds: 5, nanoseconds: 0 };
        let tag = Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[content; 32]).unwrap(),
            length: 9,
            mtime,
            tagged: mtime,
        };
        let side = Side { length: Some(9), mtime: Some(mtime), tag: Some(tag), ..Side::default() };
        Entry { path: path.into(), found: Found::File(Box::new(side)) }
    }

    fn hidden(path: &str) -> Entry {
        let trouble = FileError { operation: "open", reason: "permission denied".to_owned() };
        Entry { path: path.into(), found: Found::Hidden(trouble) }
    }

    fn merged(
        here: Vec<Entry>,
        there: Vec<Entry>,
        fails: bool,
    ) -> (Vec<Line>, Result<Ended, Error>, DiffSummary) {
        let (stop, start) = (AtomicBool::new(false), Instant::now());
        let mut told = Told::default();
        let summary = DiffSummary::default();
        let mut teller = Teller { summary, monitor: &mut told, stop: &stop, start, told: start };
        let list = |entries: Vec<Entry>| List { entries: entries.into_iter(), takes: 0, fails };
        let (mut here, mut there) = (list(here), list(there));
        let mut merge = Merge::new(&mut here, &mut there);
        let ended = merge.run(&mut teller);
        merge.finish(&mut teller);
        let summary = teller.summary;
        (told.0, ended, summary)
    }

    fn plain(told: &[Line]) -> Vec<(&str, Difference)> {
        told.iter().map(|(path, difference, _)| (path.as_str(), *difference)).collect()
    }

    #[test]
    fn paths_meet_in_the_order_of_components() {
        // As bytes, "a-b" and "a.b" come before "a/b"; as components, after it.
        let here = vec![file("a/b", 1), file("a/d", 2), file("a-b", 3), file("b", 4)];
        let there = vec![file("a/b", 1), file("a-b", 7), file("a.b", 8), file("b", 4)];
        let (told, ended, summary) = merged(here, there, false);
        assert_eq!(ended.unwrap(), Ended::Whole);
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
        assert_eq!(summary.exit_status(), 1);
    }

    #[test]
    fn moves_are_told_once_whichever_side_comes_first() {
        let here = vec![file("a", 1), file("m", 3), file("z", 2)];
        let there = vec![file("b", 2), file("c", 1), file("m", 3)];
        let (told, ..) = merged(here, there, false);
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
        let (told, _, summary) = merged(here, there, false);
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
        let (told, ..) = merged(here, there, false);
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
        let (told, ended, _) = merged(vec![file("a", 1)], vec![file("a", 1), file("b", 2)], true);
        assert!(ended.is_err());
        assert_eq!(plain(&told), [("a", Difference::Same)]);
    }
}
