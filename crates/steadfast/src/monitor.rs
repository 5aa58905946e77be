//! What a run says, and to whom.
//!
//! In: outcomes, in walk order. Out: [`Event`]s to one [`Monitor`], and the [`Summary`] at the end.
//! Knows nothing of terminals or documents: a renderer is a monitor of another crate.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::{Status, Timestamp};

use crate::catalogue::{Finding, TagPlace};
use crate::cost::{Account, Bound, Cost};
use crate::pages::Damage;
use crate::read::Origin;
use crate::reference::Reference;
use crate::tag::{Tag, TagError};
use crate::verdict::{Verdict, same_mtime, worse_status};

/// Listens to a run. Calls come from the thread that called the run, one at a time.
pub trait Monitor {
    /// Hears of one file, directory or circumstance, in walk order.
    fn event(&mut self, event: &Event);

    /// Hears how far the run is, about ten times a second.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// What became of one file, or of a directory that could not be walked.
    File(Box<FileEvent>),
    /// What only the catalogue knows of a file, beside its verdict.
    Finding(Box<Noted>),
    /// A circumstance that the reader should know of; no file was judged by it.
    Notice(Notice),
}

/// Where a file is: its directory's path as the user would write it, and its name.
///
/// Kept in two parts because a million files share few directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath {
    /// Path of the directory; empty for the current one.
    pub parent: Arc<Path>,
    /// Name within it; empty when the path itself is meant.
    pub name: OsString,
}

impl FilePath {
    /// Makes a path that is its own parent, as a root is.
    pub fn whole(path: &Path) -> FilePath {
        FilePath { parent: Arc::from(path), name: OsString::new() }
    }

    /// Returns the whole path.
    pub fn to_path(&self) -> PathBuf {
        if self.name.is_empty() {
            return self.parent.to_path_buf();
        }
        self.parent.join(&self.name)
    }
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A regular file.
    File,
    /// A directory, or a root that could not be opened at all.
    Directory,
}

/// What a run did to a file's tag, or would do in a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Gave the file its first tag.
    Tagged,
    /// Replaced the tag by one of the present contents; the previous tag is kept beside it.
    Retagged,
    /// Replaced the tag of unchanged contents, to record their new modification time.
    Refreshed,
    /// Left an existing tag as it was, without reading the file.
    Kept,
    /// Removed the tag.
    Removed,
    /// Wrote the tag as another tool has it.
    Exported,
    /// Put the tag back that the catalogue had and the file had lost.
    Restored,
}

impl Action {
    /// Every action, in the order in which summaries list them.
    pub const ALL: [Action; 7] = [
        Action::Tagged,
        Action::Retagged,
        Action::Refreshed,
        Action::Restored,
        Action::Kept,
        Action::Removed,
        Action::Exported,
    ];

    /// Returns the name in lower case, as JSON carries it.
    pub fn name(self) -> &'static str {
        match self {
            Action::Tagged => "tagged",
            Action::Retagged => "retagged",
            Action::Refreshed => "refreshed",
            Action::Kept => "kept",
            Action::Removed => "removed",
            Action::Restored => "restored",
            Action::Exported => "exported",
        }
    }
}

/// What went wrong with one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What was being done, as an infinitive: "read", "set the tag".
    pub doing: &'static str,
    /// Why it failed, a lower-case fragment.
    pub reason: String,
}

impl Trouble {
    /// Makes trouble of a failed system call.
    pub fn from_io(doing: &'static str, error: &std::io::Error) -> Trouble {
        Trouble { doing, reason: reason_of(error) }
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot {}: {}", self.doing, self.reason)
    }
}

/// The system's words, without the number and in lower case.
fn reason_of(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !text.starts_with("I/O") => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// What is known of one file at the end of its path.
#[derive(Clone, Debug)]
pub struct FileEvent {
    /// Where the file is.
    pub path: FilePath,
    /// File or directory.
    pub subject: Subject,
    /// What became of the file, if the run judged it.
    pub verdict: Option<Verdict>,
    /// What the run did to its tag, if anything.
    pub action: Option<Action>,
    /// The tag that was stored when the run came by.
    pub stored: Option<Tag>,
    /// The tag before that one, where the run looked for it; of a file whose contents differ from
    /// its tag, an earlier tag of the contents that it has.
    pub previous: Option<Tag>,
    /// What the file holds now, if it was read.
    pub actual: Option<Tag>,
    /// What the file system says of a file that was not read, because its length decided.
    pub resized: Option<Resized>,
    /// The tag that was written, if one was.
    pub(crate) written: Option<Tag>,
    /// Where the stored tag was.
    pub tag_place: TagPlace,
    /// Whether the stored tag was in the AppleDouble file beside the file, which is never written.
    pub(crate) is_beside: bool,
    /// Why what is stored is no tag, where the run found that.
    pub tag_error: Option<TagError>,
    /// Whether its file system keeps no attributes, and no catalogue has the file's tag.
    pub(crate) has_no_place: bool,
    /// Whether the trouble is that of the whole file system, and was told of another file there.
    pub is_told: bool,
    /// What the file was compared with, where that is no tag of its own.
    pub reference: Option<Box<Reference>>,
    /// Which pages of a corrupt file are damaged, where leaves are kept for its tag.
    pub damage: Option<Box<Damage>>,
    /// Where the contents are now, of a file that moved.
    pub moved_to: Option<PathBuf>,
    /// What the file system said of the file at the end of what the run did to it.
    pub(crate) status: Option<Status>,
    /// Device and inode of a file with several names, to know it again under the next.
    pub(crate) identity: Option<(u64, u64)>,
    /// Whether the contents were read for an earlier path of the same file (a hard link).
    pub linked: bool,
    /// Bytes read for this event.
    pub bytes_read: u64,
    /// Time spent opening and reading the file, and its share of the hashing, in nanoseconds.
    pub elapsed_ns: u64,
    /// Where the bytes came from, if any were read.
    pub origin: Option<Origin>,
    /// What went wrong.
    pub trouble: Option<Trouble>,
}

impl FileEvent {
    /// Makes an event that says nothing yet but where.
    pub fn new(path: FilePath) -> FileEvent {
        FileEvent {
            path,
            subject: Subject::File,
            verdict: None,
            action: None,
            stored: None,
            previous: None,
            actual: None,
            resized: None,
            written: None,
            tag_place: TagPlace::Attribute,
            is_beside: false,
            tag_error: None,
            has_no_place: false,
            is_told: false,
            reference: None,
            damage: None,
            moved_to: None,
            status: None,
            identity: None,
            linked: false,
            bytes_read: 0,
            elapsed_ns: 0,
            origin: None,
            trouble: None,
        }
    }

    /// Says whether the stored tag is of the file's present length and modification time, as
    /// verdicts compare times; `None` without a tag or a file.
    pub fn tag_is_current(&self) -> Option<bool> {
        let (tag, status) = (self.stored?, self.status?);
        Some(tag.length == status.length && same_mtime(tag.mtime, status.mtime))
    }

    /// Returns the length and the modification time of the contents that were judged.
    pub fn extent(&self) -> Option<(u64, Timestamp)> {
        let read = self.actual.map(|tag| (tag.length, tag.mtime));
        read.or(self.resized.map(|resized| (resized.length, resized.mtime)))
    }

    /// Returns the digest that the file has now, if it was read.
    pub fn digest(&self) -> Option<(Algorithm, Digest)> {
        self.actual.map(|tag| (tag.algorithm, tag.digest))
    }
}

/// A file whose length is not the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resized {
    /// Its length in bytes.
    pub length: u64,
    /// Its modification time.
    pub mtime: Timestamp,
}

/// Something that no verdict tells, and where.
#[derive(Clone, Debug)]
pub struct Noted {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// What was found there.
    pub finding: Finding,
}

/// A circumstance that is no file's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The path it is about, if any.
    pub path: Option<PathBuf>,
    /// What the reader should know, a lower-case fragment.
    pub text: String,
    /// The exit status that it asks for. A notice that asks for another than 0 is told even where
    /// the reader wants to hear of findings only.
    pub status: u8,
}

impl Notice {
    /// Makes a notice of information, about no path.
    pub fn new(text: impl Into<String>) -> Notice {
        Notice { path: None, text: text.into(), status: 0 }
    }

    /// Makes a notice of something that prevents a success: status 2.
    pub fn failure(text: impl Into<String>) -> Notice {
        Notice { status: 2, ..Notice::new(text) }
    }

    /// Says which path it is about.
    #[must_use]
    pub fn at(self, path: &Path) -> Notice {
        Notice { path: Some(path.to_owned()), ..self }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Files whose outcome is known.
    pub files: u64,
    /// Bytes read, those of files under way included.
    pub bytes: u64,
    /// Bytes of files that needed no reading.
    pub bytes_passed: u64,
    /// Files and bytes that the survey found in the whole tree, once it has counted them.
    pub total: Option<(u64, u64)>,
    /// Time since the run began, without that in which it was held, in nanoseconds.
    pub elapsed_ns: u64,
    /// What binds the run so far.
    pub bound: Option<Bound>,
    /// Time so far of the threads that hash, by stage.
    pub cost: Cost,
}

/// What the walk passed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Symbolic links: never followed.
    pub symlinks: u64,
    /// Pipes, sockets and devices.
    pub special: u64,
    /// Files and directories that the reader excluded.
    pub excluded: u64,
    /// Files whose contents are not on this machine: reading them would download them.
    pub dataless: u64,
    /// AppleDouble files: the attributes of their neighbours, not data.
    pub sidecars: u64,
    /// Files of leaves that are kept beside their files, and drafts of them.
    pub leaves: u64,
    /// Directories on another file system.
    pub other_file_systems: u64,
}

/// The end of a run, in numbers.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The verb that ran.
    pub verb: &'static str,
    /// Whether nothing was written because nothing should be.
    pub dry_run: bool,
    /// Files that an event spoke of.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes read past the page cache, straight from the medium.
    pub bytes_from_media: u64,
    /// Time that the run took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Threads that hashed.
    pub workers: usize,
    /// The SHA-256 backend and its lanes, as in "x86_shani x2".
    pub backend: String,
    /// How bytes were read: the engine's name.
    pub engine: &'static str,
    /// Events per verdict, indexed as [`Verdict::ALL`].
    pub(crate) verdicts: [u64; 9],
    /// Events per action, indexed as [`Action::ALL`].
    pub(crate) actions: [u64; 7],
    /// What no verdict tells, by name: new, returned, tag lost, tag damaged, tag replaced,
    /// unmounted, extra.
    pub findings: BTreeMap<&'static str, u64>,
    /// Whether the run kept a catalogue.
    pub catalogued: bool,
    /// Files whose tag should have been written or removed and could not be.
    pub failed: u64,
    /// What the walk passed by.
    pub skipped: Skipped,
    /// Where the time went.
    pub account: Account,
    /// Whether the run was told to stop before its end.
    pub interrupted: bool,
    /// Files that were due and are not checked, of a run whose time was up.
    pub still_due: Option<u64>,
    /// Exit status that the events ask for.
    pub(crate) status: u8,
}

impl Summary {
    /// Returns how many files got a verdict.
    pub fn verdicts(&self, verdict: Verdict) -> u64 {
        position(&Verdict::ALL, &verdict).map_or(0, |at| self.verdicts[at])
    }

    /// Returns how many files an action was taken on.
    pub fn actions(&self, action: Action) -> u64 {
        position(&Action::ALL, &action).map_or(0, |at| self.actions[at])
    }

    /// Returns the process's exit status: 0 nothing wrong, 1 modified or missing, 2 could not
    /// tell, 3 corrupt, 130 interrupted (unless something is corrupt: then 3).
    pub fn exit_status(&self) -> u8 {
        if self.interrupted && self.status != 3 { 130 } else { self.status }
    }

    /// Counts one file's event. `status` is what the verb makes of it.
    pub fn count(&mut self, event: &FileEvent, status: u8) {
        self.files += u64::from(event.subject == Subject::File);
        self.bytes += event.bytes_read;
        if event.origin == Some(Origin::Media) {
            self.bytes_from_media += event.bytes_read;
        }
        if let Some(at) = event.verdict.and_then(|verdict| position(&Verdict::ALL, &verdict)) {
            self.verdicts[at] += 1;
        }
        if let Some(at) = event.action.and_then(|action| position(&Action::ALL, &action)) {
            self.actions[at] += 1;
        }
        let told = matches!(event.verdict, Some(Verdict::Unreadable | Verdict::Unstable));
        self.failed += u64::from(event.trouble.is_some() && !told);
        self.raise_status(status);
    }

    /// Returns how many files were compared with a record of them.
    pub fn judged(&self) -> u64 {
        let counts = Verdict::ALL.into_iter().filter(|verdict| verdict.judges());
        counts.map(|verdict| self.verdicts(verdict)).sum()
    }

    /// Returns what to say of a run that ended with status 0 and proves nothing: it found no file,
    /// which `no_file` tells, or it is a check and no file has a tag. If such runs are `allowed`,
    /// that is no failure.
    pub fn unproved(&self, no_file: Notice, allowed: bool) -> Option<Notice> {
        if self.interrupted || self.status != 0 {
            return None;
        }
        let checks = matches!(self.verb, "check" | "retag");
        let notice = match self.files {
            0 if self.findings.is_empty() => no_file,
            1.. if checks && self.verdicts(Verdict::Untagged) == self.files => {
                Notice::failure(NO_TAG)
            }
            _ => return None,
        };
        Some(Notice { status: if allowed { 0 } else { notice.status }, ..notice })
    }

    /// Counts what no verdict tells.
    pub fn note(&mut self, finding: &Finding) {
        *self.findings.entry(finding.name()).or_default() += 1;
        self.raise_status(finding.exit_status());
    }

    /// Makes the exit status at least as grave.
    pub fn raise_status(&mut self, status: u8) {
        self.status = worse_status(self.status, status);
    }
}

/// What to say of a check that found files and judged none.
const NO_TAG: &str = "no file here has a tag, so nothing was judged. If they had tags, a copy or \
                      another tool dropped them; otherwise make them with `steadfast tag`";

fn position<T: PartialEq>(all: &[T], one: &T) -> Option<usize> {
    all.iter().position(|other| other == one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn reasons_are_fragments_without_numbers() {
        let denied = io::Error::from_raw_os_error(13);
        assert_eq!(Trouble::from_io("open", &denied).to_string(), "cannot open: permission denied");
    }

    #[test]
    fn corruption_outranks_interruption() {
        let mut summary = Summary { interrupted: true, ..Summary::default() };
        summary.raise_status(1);
        assert_eq!(summary.exit_status(), 130);
        summary.raise_status(3);
        assert_eq!(summary.exit_status(), 3);
    }

    #[test]
    fn a_path_is_its_parent_and_name() {
        let path = FilePath { parent: Arc::from(Path::new("a/b")), name: "c".into() };
        assert_eq!(path.to_path(), Path::new("a/b/c"));
        assert_eq!(FilePath::whole(Path::new("a")).to_path(), Path::new("a"));
        let here = FilePath { parent: Arc::from(Path::new("")), name: "c".into() };
        assert_eq!(here.to_path(), Path::new("c"));
    }
}
