//! What comparing two trees says: of each path, and at the end.
//!
//! In: conclusions. Out: plain values for whoever renders them. Decides nothing but what a
//! difference means for the exit status.

use std::path::PathBuf;

use steadfast_digest::Algorithm;
use steadfast_sys::file::Timestamp;
use strum::{IntoStaticStr, VariantArray};

use crate::event::{FileError, FileEvent, Skipped};
use crate::read::Origin;
use crate::reference::Reference;
use crate::verdict::{Verdict, worse_status};
use steadfast_manifest::tag::Tag;

/// How B differs from A at one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Difference {
    /// Other contents: the lengths or the digests differ. Certain.
    Different,
    /// Only A has it.
    OnlyHere,
    /// Only B has it.
    OnlyThere,
    /// A's file has a tag, B's has none.
    TagLost,
    /// A has the contents at this path only, B at another path only.
    Moved,
    /// One of the files, or its tag, could not be read.
    Unreadable,
    /// Both are there, and tags do not tell whether they are the same.
    Unknown,
    /// The same contents.
    Same,
}

impl Difference {
    /// Every difference, in the order in which reports list them.
    pub const ALL: [Difference; 8] =
        *Difference::VARIANTS.as_array().expect("there are eight differences");

    /// Returns the name in lower case, as JSON carries it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the exit status that it asks for.
    pub fn exit_status(self) -> u8 {
        match self {
            Difference::Same => 0,
            Difference::Unreadable | Difference::Unknown => 2,
            _ => 1,
        }
    }
}

/// Why nothing can be told of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Doubt {
    /// Neither file has a tag.
    NoTags,
    /// Only B's file has a tag.
    NoTagHere,
    /// A's file was changed after it was tagged.
    StaleHere,
    /// B's file was changed after it was tagged.
    StaleThere,
    /// The digests are of different algorithms.
    Algorithms,
    /// The directory that would hold the other file could not be read.
    Hidden,
}

impl Doubt {
    /// Returns the name in lower case, as JSON carries it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathKind {
    /// A regular file.
    #[default]
    File,
    /// A directory; told only if it cannot be read.
    Directory,
    /// A symbolic link: not followed, and compared by what it names.
    Symlink,
    /// A pipe, socket or device.
    Special,
}

/// One path on both sides.
#[derive(Clone, Debug)]
pub struct PathPair {
    /// The path beneath both directories; of a move, the one beneath A.
    pub path: PathBuf,
    /// Of a move, the path beneath B.
    pub moved_to: Option<PathBuf>,
    /// What is there.
    pub kind: PathKind,
    /// How B differs.
    pub difference: Difference,
    /// Why it is unknown, if it is.
    pub doubt: Option<Doubt>,
    /// Whether the contents are the same and the modification times are not.
    pub times_differ: bool,
    /// What is known of A's file, if A has one.
    pub here: Option<Box<FileSide>>,
    /// What is known of B's file, if B has one.
    pub there: Option<Box<FileSide>>,
}

impl PathPair {
    /// Makes a pair of which no side is known yet.
    pub(super) fn new(path: PathBuf, kind: PathKind, difference: Difference) -> PathPair {
        PathPair {
            path,
            moved_to: None,
            kind,
            difference,
            doubt: None,
            times_differ: false,
            here: None,
            there: None,
        }
    }

    /// Returns the exit status that the pair asks for.
    ///
    /// A faithful copy of a file that decayed is no good news: it counts as a difference.
    pub fn exit_status(&self) -> u8 {
        let sides = self.here.iter().chain(&self.there);
        let of_sides = sides.map(|side| match side.verdict {
            Some(Verdict::Corrupt) => 1,
            _ if side.trouble.is_some() || side.tag_trouble.is_some() => 2,
            _ => 0,
        });
        of_sides.fold(self.difference.exit_status(), worse_status)
    }
}

/// What is known of the file on one side.
#[derive(Clone, Debug, Default)]
pub struct FileSide {
    /// Length in bytes.
    pub length: Option<u64>,
    /// When the contents were last modified.
    pub mtime: Option<Timestamp>,
    /// Its tag.
    pub tag: Option<Tag>,
    /// What it holds, if it was read.
    pub actual: Option<Tag>,
    /// What its contents say of its own tag, if both are known.
    pub verdict: Option<Verdict>,
    /// Why the file could not be read.
    pub trouble: Option<FileError>,
    /// Why its tag could not be read, although the file could.
    pub tag_trouble: Option<FileError>,
    /// What a list says of it, if this side is a list.
    pub(super) listed: Option<Box<Reference>>,
    /// Whether it is the list itself, which no list names.
    pub(super) is_list: bool,
    /// Device and inode.
    pub(super) identity: Option<(u64, u64)>,
    pub(super) from_cache: bool,
    /// Whether it was not read although the comparison reads, because the other file had another
    /// length.
    pub(super) is_unread: bool,
}

impl FileSide {
    /// Takes what a finished event knows.
    pub(super) fn of(event: FileEvent) -> FileSide {
        let failed = matches!(event.verdict, Some(Verdict::Unreadable | Verdict::Unstable));
        let (trouble, tag_trouble) = match failed {
            true => (event.trouble, None),
            false => (None, event.trouble),
        };
        let status = event.status;
        FileSide {
            length: event.actual.map(|tag| tag.length).or(status.map(|status| status.length)),
            mtime: event.actual.map(|tag| tag.mtime).or(status.map(|status| status.mtime)),
            tag: event.stored,
            actual: event.actual,
            verdict: event.verdict,
            trouble,
            tag_trouble,
            listed: None,
            is_list: false,
            identity: status.map(|status| (status.device, status.inode)),
            is_unread: event.resized.is_some(),
            from_cache: event.actual.is_some() && event.origin != Some(Origin::Media),
        }
    }
}

/// The end of a comparison, in numbers.
#[derive(Clone, Debug, Default)]
pub struct DiffSummary {
    /// Whether files were read; else tags were believed.
    pub read: bool,
    /// The algorithm that contents were compared by, if they were read.
    pub algorithm: Option<Algorithm>,
    /// Regular files of A.
    pub files_here: u64,
    /// Regular files of B.
    pub files_there: u64,
    /// Bytes read on both sides.
    pub bytes: u64,
    /// Files that were read through the page cache, or may have been.
    pub files_from_cache: u64,
    /// Time that the comparison took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Threads that hashed, on both sides together.
    pub workers: usize,
    /// The SHA-256 backend and its lanes.
    pub backend: String,
    /// How bytes were read: the engine's name.
    pub engine: &'static str,
    /// Pairs per difference, indexed as [`Difference::ALL`].
    pub(super) differences: [u64; 8],
    /// Pairs with the same contents and different modification times.
    pub times_differ: u64,
    /// What the walk of A passed by.
    pub skipped_here: Skipped,
    /// What the walk of B passed by.
    pub skipped_there: Skipped,
    /// Whether it was told to stop before its end.
    pub interrupted: bool,
    pub(super) status: u8,
}

impl DiffSummary {
    /// Returns how many pairs differ in this way.
    pub fn differences(&self, difference: Difference) -> u64 {
        let at = Difference::ALL.iter().position(|other| *other == difference);
        at.map_or(0, |at| self.differences[at])
    }

    /// Returns the exit status: 0 faithful, 1 different, 2 could not tell, 130 interrupted.
    pub fn exit_status(&self) -> u8 {
        if self.interrupted { 130 } else { self.status }
    }

    /// Makes the exit status at least as grave; 1 outranks 2.
    pub fn raise_status(&mut self, status: u8) {
        self.status = worse_status(self.status, status);
    }

    /// Counts one pair.
    pub fn count(&mut self, pair: &PathPair) {
        if let Some(at) = Difference::ALL.iter().position(|other| *other == pair.difference) {
            self.differences[at] += 1;
        }
        if pair.kind == PathKind::File {
            self.files_here += u64::from(pair.here.is_some());
            // The list names other files, never itself.
            self.files_there += u64::from(pair.there.as_ref().is_some_and(|side| !side.is_list));
        }
        self.times_differ += u64::from(pair.times_differ);
        let sides = pair.here.iter().chain(&pair.there);
        self.files_from_cache += sides.filter(|side| side.from_cache).count() as u64;
        self.raise_status(pair.exit_status());
    }
}
