//! The event of one file: the walk, the pipeline and the verbs fill it in, and a monitor receives
//! it.
//!
//! Contains the types that all stages share.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::{self, Dataless, FileKind, Status, Timestamp};
use strum::{IntoStaticStr, VariantArray};

use crate::advice::{Advice, with_advice};
use crate::error::Error;
use crate::exit_status::ExitStatus;
use crate::pages::Damage;
use crate::read::Origin;
use crate::reference::Reference;
use crate::verdict::{Judgement, Reason, Verdict, same_mtime};
use steadfast_manifest::tag::{Tag, TagError, TagPlace};

/// Where a file is: its directory's path as the user would write it, and its name.
///
/// Kept in two parts because a million files share few directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath {
    /// Path of the directory; empty for the current one.
    pub parent: Arc<Path>,
    /// Name within it; empty if the path is the directory itself.
    pub name: OsString,
}

impl FilePath {
    /// Makes a path without a separate name, as for a root.
    pub fn whole(path: &Path) -> FilePath {
        FilePath { parent: Arc::from(path), name: OsString::new() }
    }

    /// Makes the path of a file beneath a folder.
    #[cfg(feature = "json")]
    pub(crate) fn beneath(folder: &Path, path: &Path) -> FilePath {
        let path = folder.join(path);
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => {
                FilePath { parent: Arc::from(parent), name: name.to_owned() }
            }
            _ => FilePath::whole(&path),
        }
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
    /// A directory, or a root that could not be opened.
    Directory,
}

/// What a run did to a file's tag, or would do in a dry run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Action {
    /// Gave the file its first tag.
    Tagged,
    /// Replaced the tag by one of the present contents; the previous tag is kept beside it.
    Retagged,
    /// Replaced the tag of unchanged contents, to record their new modification time.
    Refreshed,
    /// Restored the tag that the catalogue had and the file had lost.
    Restored,
    /// Left an existing tag as it was, without reading the file.
    Kept,
    /// Removed the tag.
    Removed,
    /// Wrote the tag in another tool's format.
    Exported,
}

impl Action {
    /// Every action, in the order in which summaries list them.
    pub const ALL: [Action; 7] = *Action::VARIANTS.as_array().expect("there are seven actions");

    /// Returns the name in lower case, as JSON carries it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Why an operation on one file failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The operation, as an infinitive: "read", "set the tag".
    pub operation: &'static str,
    /// Why it failed, a lower-case fragment.
    pub reason: String,
    /// The kind of the system's error, if it was the system that refused.
    pub kind: Option<io::ErrorKind>,
    /// What to do next, which the reason does not say.
    pub advice: Option<Box<Advice>>,
}

impl FileError {
    /// Makes an error.
    pub fn new(operation: &'static str, reason: impl ToString) -> FileError {
        FileError { operation, reason: reason.to_string(), kind: None, advice: None }
    }

    /// Makes the error of a failed system call, with advice if there is any.
    pub fn from_io(operation: &'static str, error: &io::Error) -> FileError {
        let reason = match file::advice(error) {
            Some(advice) => format!("{} ({advice})", reason_of(error)),
            None => reason_of(error),
        };
        FileError { kind: Some(error.kind()), ..FileError::new(operation, reason) }
    }

    /// Returns the error with what to do next.
    #[must_use]
    pub fn advise(self, advice: Advice) -> FileError {
        FileError { advice: Some(Box::new(advice)), ..self }
    }

    /// Returns the error without what to do next.
    pub fn message(&self) -> String {
        format!("cannot {}: {}", self.operation, self.reason)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&with_advice(&self.message(), self.advice.as_ref()))
    }
}

/// Returns the system's message, without the number and in lower case.
fn reason_of(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !text.starts_with("I/O") => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// The result for one file at the end of its path.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileEvent {
    /// Where the file is.
    pub path: FilePath,
    /// File or directory.
    pub subject: Subject,
    /// The verdict, if the run judged the file.
    pub verdict: Option<Verdict>,
    /// What the run did to its tag, if anything.
    pub action: Option<Action>,
    /// The tag that was stored when the run reached the file.
    pub stored: Option<Tag>,
    /// The tag before that one, if the run looked for it. If the contents differ from the tag, an
    /// earlier tag that matches them.
    pub previous: Option<Box<Tag>>,
    /// The tag of the present contents, if the file was read.
    pub actual: Option<Tag>,
    /// Where the stored tag was.
    pub tag_place: TagPlace,
    /// Why the stored attribute is not a valid tag, if the run found that.
    pub tag_error: Option<TagError>,
    /// The reference that the file was compared with, if that is not its own tag.
    pub reference: Option<Box<Reference>>,
    /// The damaged pages of a corrupt file, if leaves are kept for its tag.
    pub damage: Option<Box<Damage>>,
    /// The present path of a file that moved.
    pub moved_to: Option<PathBuf>,
    /// How the file was read, or why it was not.
    pub reading: FileReading,
    /// The error, if there was one.
    pub trouble: Option<FileError>,
    /// What the stages of the run know of the file.
    pub(crate) visit: Visit,
}

/// How a file was read, or why it was not.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct FileReading {
    /// Bytes read for this event.
    pub bytes: u64,
    /// Time spent opening and reading the file, and its share of the hashing, in nanoseconds.
    pub elapsed_ns: u64,
    /// Where the bytes were read from, if any were read.
    pub origin: Option<Origin>,
    /// Whether the contents were read for an earlier path of the same file (a hard link).
    pub linked: bool,
    /// Whether the file has the digest of parts of its reference, if that has one and it is known.
    pub has_parts: Option<bool>,
    /// The status of a file that was not read, because its length decided the verdict.
    pub resized: Option<Resized>,
    /// Whether the file was skipped because its contents are not on this machine. False if that
    /// counts as a failure, which is then in `trouble`.
    pub dataless: bool,
    /// Whether the file has a resource fork, which no digest of the file covers.
    pub has_resource_fork: bool,
}

/// The state of the run's work on one file, which the stages pass on with its event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visit {
    /// Why the file got its verdict, if its contents differ.
    pub(crate) reason: Option<Reason>,
    /// The status of the file at the end of the run's work on it.
    pub(crate) status: Option<Status>,
    /// Its attributes for the catalogue, read after `status`, if they were read and are short.
    pub(crate) attributes: Option<Box<[u8]>>,
    /// Device and inode of a file with several names, to recognise it under the next one.
    pub(crate) identity: Option<Box<(u64, u64)>>,
    /// The tag that was written, if one was.
    pub(crate) written: Option<Box<Tag>>,
    /// Whether the stored tag was in the AppleDouble file beside the file, which is never written.
    pub(crate) is_beside: bool,
    /// Whether its file system keeps no attributes, and no catalogue has the file's tag.
    pub(crate) has_no_place: bool,
    /// Whether the error applies to the whole file system, and was already reported for another
    /// file.
    pub(crate) repeats_trouble: bool,
    /// What is in place of a missing file, or of a directory above it.
    pub(crate) instead: Option<FileKind>,
}

impl FileEvent {
    /// Makes an event with a path only.
    pub fn new(path: FilePath) -> FileEvent {
        FileEvent {
            path,
            subject: Subject::File,
            verdict: None,
            action: None,
            stored: None,
            previous: None,
            actual: None,
            tag_place: TagPlace::Attribute,
            tag_error: None,
            reference: None,
            damage: None,
            moved_to: None,
            reading: FileReading::default(),
            trouble: None,
            visit: Visit::default(),
        }
    }

    /// Makes the event of a file or directory that could not be opened or read.
    pub fn unreadable(path: FilePath, subject: Subject, trouble: FileError) -> FileEvent {
        let mut event = FileEvent { subject, ..FileEvent::new(path) };
        event.fail(trouble);
        event
    }

    /// Makes the event of a file or directory that could not be opened, listed or read.
    pub(crate) fn unread(
        path: FilePath,
        subject: Subject,
        operation: &'static str,
        error: &std::io::Error,
    ) -> FileEvent {
        let dataless = Dataless::is(error);
        let mut event = FileEvent::unreadable(path, subject, FileError::from_io(operation, error));
        event.reading.dataless = dataless;
        event
    }

    /// Makes the event of a file or directory that is not on this machine.
    pub(crate) fn dataless(path: FilePath, subject: Subject) -> FileEvent {
        FileEvent::unread(path, subject, "read", &std::io::Error::other(Dataless))
    }

    /// Notes that the contents are not on this machine.
    pub(crate) fn note_dataless(&mut self) {
        self.fail(FileError::new("read", Dataless));
        self.reading.dataless = true;
    }

    /// Turns contents that are not on this machine into a failure, or into an event without a
    /// verdict.
    pub(crate) fn apply_dataless(&mut self, fails: bool) {
        if self.reading.dataless && !fails {
            (self.verdict, self.trouble) = (None, None);
        }
        self.reading.dataless &= !fails;
    }

    /// Makes the event of a missing file.
    pub fn missing(path: FilePath) -> FileEvent {
        FileEvent { verdict: Some(Verdict::Missing), ..FileEvent::new(path) }
    }

    /// Returns why the file got its verdict, if its contents differ.
    pub fn reason(&self) -> Option<Reason> {
        self.visit.reason
    }

    /// Notes the outcome of judging the file.
    pub fn judged(&mut self, judgement: Judgement) {
        (self.verdict, self.visit.reason) = (Some(judgement.verdict), judgement.reason);
    }

    /// Notes that a file that kept its date was cut off and is otherwise the same: no edit does
    /// that.
    pub(crate) fn note_cut_off(&mut self) {
        if (self.verdict, self.reason()) == (Some(Verdict::Modified), Some(Reason::DateKept)) {
            (self.verdict, self.visit.reason) = (Some(Verdict::Suspect), Some(Reason::CutOff));
        }
    }

    /// Returns when the file was last changed, as far as the system says: the time at which
    /// something wrote to a suspect file.
    pub fn changed_at(&self) -> Option<Timestamp> {
        self.visit.status.map(|status| status.ctime)
    }

    /// Notes that the file or its tag could not be read, and why.
    pub fn fail(&mut self, trouble: FileError) {
        self.verdict = Some(Verdict::Unreadable);
        self.trouble = Some(trouble);
    }

    /// Notes that the file changed while it was read.
    pub(crate) fn note_change(&mut self) {
        let reason = "the file changed meanwhile".to_owned();
        self.verdict = Some(Verdict::Unstable);
        self.trouble = Some(FileError::new("read it whole", reason));
    }

    /// Returns whether the stored tag has the file's present length and modification time, as
    /// verdicts compare times; `None` without a tag or a file.
    pub fn tag_is_current(&self) -> Option<bool> {
        let (tag, status) = (self.stored?, self.visit.status?);
        Some(tag.length == status.length && same_mtime(tag.mtime, status.mtime))
    }

    /// Returns whether the error applies to the whole file system, and was already reported for
    /// another file.
    pub fn repeats_trouble(&self) -> bool {
        self.visit.repeats_trouble
    }

    /// Returns what is in place of a missing file, or of a directory above it, if anything is.
    pub fn instead(&self) -> Option<FileKind> {
        self.visit.instead
    }

    /// Returns the length that the file had at the end of the run's work on it, in bytes.
    pub fn length(&self) -> Option<u64> {
        self.visit.status.map(|status| status.length)
    }

    /// Returns the length and the modification time of the contents that were judged.
    pub fn extent(&self) -> Option<(u64, Timestamp)> {
        let read = self.actual.map(|tag| (tag.length, tag.mtime));
        read.or(self.reading.resized.map(|resized| (resized.length, resized.mtime)))
    }

    /// Returns the digest of the present contents, if the file was read.
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

/// A circumstance that is not the result of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// The path, if it concerns one.
    pub path: Option<PathBuf>,
    /// The text, a lower-case fragment.
    pub text: String,
    /// What to do next, which the text does not say.
    pub advice: Option<Advice>,
    /// The exit status that it requires. A notice with a status other than `Fine` is shown even if
    /// only findings are requested.
    pub status: ExitStatus,
}

impl Notice {
    /// Makes a notice of information, without a path.
    pub fn new(text: impl Into<String>) -> Notice {
        Notice { path: None, text: text.into(), advice: None, status: ExitStatus::Fine }
    }

    /// Makes a notice of something that prevents a success: [`ExitStatus::Undetermined`].
    pub fn failure(text: impl Into<String>) -> Notice {
        Notice { status: ExitStatus::Undetermined, ..Notice::new(text) }
    }

    /// Makes the notice of an error that prevents a success.
    pub fn of(error: &Error) -> Notice {
        Notice::failure(error.message()).advise(error.advice().cloned())
    }

    /// Returns the notice with what to do next.
    #[must_use]
    pub fn advise(self, advice: impl Into<Option<Advice>>) -> Notice {
        Notice { advice: advice.into(), ..self }
    }

    /// Returns the notice with a path.
    #[must_use]
    pub fn at(self, path: &Path) -> Notice {
        Notice { path: Some(path.to_owned()), ..self }
    }
}

impl fmt::Display for Notice {
    /// Writes the text, and what to do next in plain words.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&with_advice(&self.text, self.advice.as_ref()))
    }
}

/// What the walk skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
// What an earlier version did not count is not in its results.
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Skipped {
    /// Symbolic links, which are never followed.
    pub symlinks: u64,
    /// Pipes, sockets and devices.
    pub special: u64,
    /// Files and directories that the user excluded.
    pub excluded: u64,
    /// Files whose contents are not on this machine: reading them would download them.
    pub dataless: u64,
    /// Directories whose contents are not on this machine.
    pub dataless_directories: u64,
    /// Directories that macOS keeps for itself at the root of a volume, or shows twice.
    pub system_folders: u64,
    /// Resource forks: the second stream of files on macOS, which no digest covers.
    pub resource_forks: u64,
    /// AppleDouble files, which contain attributes of their neighbours and are not data.
    pub sidecars: u64,
    /// Files of leaves beside their files, and drafts of them.
    pub leaves: u64,
    /// Directories on another file system.
    pub other_file_systems: u64,
}

impl Skipped {
    /// Returns these counts, with those that are known only after opening each file from `run`.
    pub(crate) fn with_files_of(self, run: Skipped) -> Skipped {
        let Skipped { dataless, dataless_directories, resource_forks, .. } = run;
        Skipped { dataless, dataless_directories, resource_forks, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn what_is_not_here_is_a_failure_only_where_it_is_to_be_one() {
        let path = || FilePath::whole(Path::new("a"));
        let mut skipped = FileEvent::dataless(path(), Subject::File);
        assert_eq!(
            skipped.trouble.as_ref().map(ToString::to_string).as_deref(),
            Some("cannot read: its contents are not on this machine")
        );
        skipped.apply_dataless(false);
        assert_eq!(
            (skipped.verdict, &skipped.trouble, skipped.reading.dataless),
            (None, &None, true)
        );
        let mut failed = FileEvent::new(path());
        failed.note_dataless();
        failed.apply_dataless(true);
        assert_eq!((failed.verdict, failed.reading.dataless), (Some(Verdict::Unreadable), false));
        let denied = io::Error::from_raw_os_error(13);
        assert!(!FileEvent::unread(path(), Subject::File, "open", &denied).reading.dataless);
    }

    #[test]
    fn reasons_are_fragments_without_numbers() {
        let denied = io::Error::from_raw_os_error(13);
        assert_eq!(
            FileError::from_io("open", &denied).to_string(),
            "cannot open: permission denied"
        );
    }

    #[test]
    fn an_event_is_small_because_thousands_wait_for_their_turn() {
        // Nine lines of a processor's cache: 9 MiB for a window of 16,384 files.
        assert!(size_of::<FileEvent>() <= 576, "{}", size_of::<FileEvent>());
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
