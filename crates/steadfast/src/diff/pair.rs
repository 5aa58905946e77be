//! The results of a comparison: of each path, and of the whole.
//!
//! Plain values for renderers. The only decision here is the exit status of a difference.

use std::path::PathBuf;

use steadfast_digest::Algorithm;
use steadfast_sys::file::Timestamp;
use strum::{IntoStaticStr, VariantArray};

use crate::event::{FileError, FileEvent, Skipped};
use crate::exit_status::ExitStatus;
use crate::monitor::HashingMeans;
use crate::read::Origin;
use crate::reference::Reference;
use crate::verdict::Verdict;
use steadfast_manifest::tag::Tag;

/// How B differs from A at one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Difference {
    /// The contents differ: the lengths or the digests are different. Certain.
    Different,
    /// Only A has it.
    OnlyHere,
    /// Only B has it.
    OnlyThere,
    /// A's file has a tag, B's has none.
    TagLost,
    /// A has the contents only at this path, B only at another one.
    Moved,
    /// One of the files, or its tag, could not be read.
    Unreadable,
    /// Both have the file, and tags do not determine whether the contents are the same.
    Unknown,
    /// The same contents.
    Same,
}

impl Difference {
    /// Every difference, in the order in which reports list them.
    pub const ALL: [Difference; 8] =
        *Difference::VARIANTS.as_array().expect("there are eight differences");

    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns its exit status.
    pub fn exit_status(self) -> ExitStatus {
        match self {
            Difference::Same => ExitStatus::Fine,
            Difference::Unreadable | Difference::Unknown => ExitStatus::Undetermined,
            _ => ExitStatus::Changed,
        }
    }
}

/// Why a pair could not be compared.
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
    /// A check found A's file other than its tag.
    DamagedHere,
    /// A check found B's file other than its tag.
    DamagedThere,
    /// The digests are of different algorithms.
    Algorithms,
    /// The directory that would hold the other file could not be read.
    Hidden,
}

impl Doubt {
    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathKind {
    /// A regular file.
    #[default]
    File,
    /// A directory. Reported only if it cannot be read.
    Directory,
    /// A symbolic link. Not followed; compared by its target.
    Symlink,
    /// A pipe, socket or device.
    Special,
}

/// One path on both sides.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PathPair {
    /// The path beneath both directories; for a move, the one beneath A.
    pub path: PathBuf,
    /// For a move, the path beneath B.
    pub moved_to: Option<PathBuf>,
    /// Its kind.
    pub kind: PathKind,
    /// The difference.
    pub difference: Difference,
    /// The reason if the difference is unknown.
    pub doubt: Option<Doubt>,
    /// Whether the contents are the same and the modification times differ.
    pub times_differ: bool,
    /// A's file, if there is one.
    pub here: Option<Box<FileSide>>,
    /// B's file, if there is one.
    pub there: Option<Box<FileSide>>,
}

impl PathPair {
    /// Makes a pair without the facts of its sides.
    pub fn new(path: PathBuf, kind: PathKind, difference: Difference) -> PathPair {
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

    /// Returns the exit status of the pair.
    ///
    /// A faithful copy of a corrupt or suspect file counts as a difference.
    pub fn exit_status(&self) -> ExitStatus {
        let sides = self.here.iter().chain(&self.there);
        let of_sides = sides.map(|side| match side.verdict {
            _ if side.is_damaged() => ExitStatus::Changed,
            _ if side.trouble.is_some() || side.tag_trouble.is_some() => ExitStatus::Undetermined,
            _ => ExitStatus::Fine,
        });
        of_sides.fold(self.difference.exit_status(), ExitStatus::max)
    }
}

/// The file on one side, as far as known.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileSide {
    /// Length in bytes.
    pub length: Option<u64>,
    /// When the contents were last modified.
    pub mtime: Option<Timestamp>,
    /// Its tag.
    pub tag: Option<Tag>,
    /// Its contents as a tag, if it was read.
    pub actual: Option<Tag>,
    /// The verdict of its contents against its own tag: of this reading, or the open one of the
    /// last check.
    pub verdict: Option<Verdict>,
    /// Why the file could not be read.
    pub trouble: Option<FileError>,
    /// Why its tag could not be read, although the file could.
    pub tag_trouble: Option<FileError>,
    /// Its entry in a list, if this side is a list.
    pub(super) listed: Option<Box<Reference>>,
    /// Whether it is the list itself, which has no entry.
    pub(super) is_list: bool,
    /// Device and inode.
    pub(super) identity: Option<(u64, u64)>,
    pub(super) from_cache: bool,
    /// Whether it was not read in spite of [`Trees::read`](super::Trees), because the other file
    /// has another length.
    pub(super) is_unread: bool,
}

impl FileSide {
    /// Returns whether it is known to be other than its tag, although nothing is known to have
    /// written it.
    pub fn is_damaged(&self) -> bool {
        self.verdict.is_some_and(Verdict::is_alarm)
    }

    /// Takes the facts from a finished event.
    pub(super) fn of(event: FileEvent) -> FileSide {
        let failed = matches!(event.verdict, Some(Verdict::Unreadable | Verdict::Unstable));
        let (trouble, tag_trouble) = match failed {
            true => (event.trouble, None),
            false => (None, event.trouble),
        };
        let status = event.visit.status;
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
            is_unread: event.reading.resized.is_some(),
            from_cache: event.actual.is_some() && event.reading.origin != Some(Origin::Media),
        }
    }
}

/// The summary of a comparison.
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct DiffSummary {
    /// Whether files were read. Otherwise tags were trusted.
    pub read: bool,
    /// The algorithm of the comparison, if files were read.
    pub algorithm: Option<Algorithm>,
    /// Regular files of A.
    pub files_here: u64,
    /// Regular files of B.
    pub files_there: u64,
    /// Bytes read on both sides.
    pub bytes: u64,
    /// Files that were read through the page cache, or may have been.
    pub files_from_cache: u64,
    /// Time of the comparison, in nanoseconds.
    pub elapsed_ns: u64,
    /// By what both sides were read and hashed.
    pub means: HashingMeans,
    /// Counts of pairs, indexed as [`Difference::ALL`].
    pub(super) differences: [u64; 8],
    /// Pairs with the same contents and different modification times.
    pub times_differ: u64,
    /// Files of A and of B that are known to be damaged, whether or not the other side is the same.
    pub damaged: [u64; 2],
    /// Entries that the walk of A skipped.
    pub skipped_here: Skipped,
    /// Entries that the walk of B skipped.
    pub skipped_there: Skipped,
    /// Whether the comparison was stopped before its end.
    pub interrupted: bool,
    pub(super) status: ExitStatus,
}

impl DiffSummary {
    /// Returns the number of pairs with this difference.
    pub fn differences(&self, difference: Difference) -> u64 {
        let at = Difference::ALL.iter().position(|other| *other == difference);
        at.map_or(0, |at| self.differences[at])
    }

    /// Returns the exit status: `Fine` if the copy is faithful, `Changed` if it differs.
    pub fn exit_status(&self) -> ExitStatus {
        self.status.max(ExitStatus::Interrupted.only_if(self.interrupted))
    }

    /// Raises the exit status if this one is more severe.
    pub fn raise_status(&mut self, status: ExitStatus) {
        self.status.raise(status);
    }

    /// Counts one pair.
    pub fn count(&mut self, pair: &PathPair) {
        if let Some(at) = Difference::ALL.iter().position(|other| *other == pair.difference) {
            self.differences[at] += 1;
        }
        if pair.kind == PathKind::File {
            self.files_here += u64::from(pair.here.is_some());
            // The list has entries for other files, not for itself.
            self.files_there += u64::from(pair.there.as_ref().is_some_and(|side| !side.is_list));
        }
        self.times_differ += u64::from(pair.times_differ);
        for (count, side) in self.damaged.iter_mut().zip([&pair.here, &pair.there]) {
            *count += u64::from(side.as_ref().is_some_and(|side| side.is_damaged()));
        }
        let sides = pair.here.iter().chain(&pair.there);
        self.files_from_cache += sides.filter(|side| side.from_cache).count() as u64;
        self.raise_status(pair.exit_status());
    }
}
