//! What a run observed of one file, and of many files of one directory.
//!
//! A [`FileBatch`] holds the [`ObservedFile`]s of a directory in the order of their names, as many
//! as fit a slice.

use crate::event::{Action, FileEvent, FilePath, Subject};
use crate::verdict::Verdict;
use steadfast_manifest::tag::{Tag, TagPlace};
use steadfast_sys::file::{Ownership, Status, Timestamp};

use super::entry::{FileFacts, FileRecord, FileRow, RecordedBelongings};
use crate::belongings::Attributes;
use crate::file_state::FileState;

/// The observation of one file.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// Its path, as the user would write it.
    pub path: &'a FilePath,
    /// Whether it is a file or a directory.
    pub subject: Subject,
    /// Its status at the end; `None` if the file could not be opened.
    pub status: Option<Status>,
    /// Its verdict, if it was judged.
    pub verdict: Option<Verdict>,
    /// What was done to its tag; `None` in a dry run.
    pub action: Option<Action>,
    /// The tag by which it was judged.
    pub stored: Option<Tag>,
    /// The tag of its present contents, if they were read.
    pub actual: Option<Tag>,
    /// The place of `stored`.
    pub place: TagPlace,
    /// Its attributes, if they were read after its status, in the catalogue's form.
    pub attributes: Option<&'a [u8]>,
}

impl<'a> Observation<'a> {
    /// Makes the observation of an event.
    pub fn of(event: &'a FileEvent, place: TagPlace) -> Observation<'a> {
        Observation {
            path: &event.path,
            subject: event.subject,
            status: event.visit.status,
            verdict: event.verdict,
            action: event.action,
            stored: event.stored,
            actual: event.visit.written.as_deref().copied().or(event.actual),
            place,
            attributes: event.visit.attributes.as_deref(),
        }
    }
}

/// An observed file, as a batch keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObservedFile {
    name_start: u32,
    name_len: u16,
    /// Its row, unless the known row contradicts it.
    pub(super) record: FileRecord,
    pub(super) verdict: Option<Verdict>,
    pub(super) action: Option<Action>,
    pub(super) place: TagPlace,
    /// The tag that the file had, if the run set another one.
    pub(super) before: Option<Tag>,
    /// Whether `record.facts` are known.
    pub(super) has_facts: bool,
    /// What belongs to it, if that was read.
    belongings: Option<SeenBelongings>,
}

/// What belongs to an observed file. Its attributes follow its name.
#[derive(Clone, Copy, Debug)]
struct SeenBelongings {
    ownership: Ownership,
    links: u64,
    attributes_len: usize,
}

impl ObservedFile {
    /// Returns whether the file was judged, or read for a new tag.
    pub(super) fn is_checked(&self) -> bool {
        self.verdict.is_some() || self.changed_tag()
    }

    /// Returns the tag that the file had when the run met it.
    pub(super) fn own_tag(&self) -> Option<Tag> {
        if self.changed_tag() { self.before } else { self.record.tag }
    }

    /// Makes the observation of a file that waited for the end of the run.
    pub(super) fn waited(
        record: FileRecord,
        verdict: Option<Verdict>,
        action: Option<Action>,
        place: TagPlace,
        before: Option<Tag>,
    ) -> ObservedFile {
        let before = before.filter(|_| action.is_some());
        let (name_start, name_len) = (0, 0);
        ObservedFile {
            name_start,
            name_len,
            record,
            verdict,
            action,
            place,
            before,
            has_facts: true,
            belongings: None,
        }
    }

    /// Makes the observation of a known file that cannot be reached.
    pub(super) fn unreadable(known: &FileRecord) -> ObservedFile {
        let record = FileRecord { standing: FileState::Unreadable, ..*known };
        let verdict = Some(Verdict::Unreadable);
        let seen = ObservedFile::waited(record, verdict, None, TagPlace::Attribute, None);
        ObservedFile { has_facts: false, ..seen }
    }

    /// Returns whether the run set or removed the tag.
    pub(super) fn changed_tag(&self) -> bool {
        use Action::{Refreshed, Removed, Retagged, Tagged};
        matches!(self.action, Some(Tagged | Retagged | Refreshed | Removed))
    }
}

/// Observed files of one directory that are not settled yet.
#[derive(Debug, Default)]
pub(super) struct FileBatch {
    /// The names, each followed by the attributes of the file.
    names: Vec<u8>,
    seen: Vec<ObservedFile>,
    /// Whether comparing records suffices to detect that nothing changed.
    plain: bool,
    checked: usize,
}

impl FileBatch {
    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.seen.clear();
        self.checked = 0;
    }

    /// Returns the last name.
    pub(super) fn last(&self) -> Option<&[u8]> {
        self.seen.last().map(|seen| self.name(seen))
    }

    pub(super) fn name(&self, seen: &ObservedFile) -> &[u8] {
        &self.names[seen.name_start as usize..][..usize::from(seen.name_len)]
    }

    /// Returns what belongs to a file, if that was read.
    pub(super) fn belongings(&self, seen: &ObservedFile) -> Option<RecordedBelongings> {
        let SeenBelongings { ownership, links, attributes_len } = seen.belongings?;
        let start = seen.name_start as usize + usize::from(seen.name_len);
        let attributes = &self.names[start..][..attributes_len];
        let FileFacts { mtime, ctime, .. } = seen.record.facts;
        Some(RecordedBelongings {
            seen_ctime: ctime,
            mtime,
            links,
            ownership,
            attributes: Attributes::decode(attributes).map(|_| attributes.into()),
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &ObservedFile)> {
        self.seen.iter().map(|seen| (self.name(seen), seen))
    }

    /// Adds a file.
    pub(super) fn push(&mut self, name: &[u8], observation: &Observation<'_>) {
        let changed = matches!(
            observation.action,
            Some(Action::Tagged | Action::Retagged | Action::Refreshed | Action::Removed)
        );
        let tag = match observation.action {
            Some(Action::Removed) => None,
            _ if changed => observation.actual,
            _ => observation.stored,
        };
        let standing = match observation.verdict {
            Some(verdict) if !changed => FileState::of(verdict).unwrap_or(FileState::Fine),
            _ => FileState::Fine,
        };
        // Reported in every run, whatever the contents.
        let gone = observation.place.is_loss() && !changed;
        let standing = if gone && standing.proves() { FileState::TagLost } else { standing };
        let facts = observation.status.as_ref().map(FileFacts::from);
        let seen = ObservedFile {
            name_start: u32::try_from(self.names.len()).expect("a batch is far below 4 GiB"),
            name_len: u16::try_from(name.len()).expect("file names have at most 765 bytes"),
            record: FileRecord { facts: facts.unwrap_or(NO_FACTS), tag, standing },
            verdict: observation.verdict,
            action: observation.action,
            place: observation.place,
            before: observation.stored.filter(|_| changed),
            has_facts: facts.is_some(),
            belongings: observation.status.zip(observation.attributes).map(
                |(status, attributes)| SeenBelongings {
                    ownership: status.ownership(),
                    links: status.links,
                    attributes_len: attributes.len(),
                },
            ),
        };
        let is_restored = seen.action == Some(Action::Restored);
        let plain = seen.has_facts && !changed && !gone && !is_restored;
        self.plain = plain && (self.plain || self.seen.is_empty());
        self.checked += usize::from(seen.is_checked());
        self.names.extend_from_slice(name);
        self.names.extend_from_slice(observation.attributes.unwrap_or_default());
        self.seen.push(seen);
    }

    /// Returns whether all files were judged; `None` if only some were.
    pub(super) fn all_checked(&self) -> Option<bool> {
        match self.checked {
            0 => Some(false),
            checked if checked == self.seen.len() => Some(true),
            _ => None,
        }
    }

    /// Returns whether nothing changed: the files are as the rows of their slice, and nothing was
    /// done to them.
    pub(super) fn is_as(&self, rows: &[FileRow]) -> bool {
        let is_same = |((name, seen), row): ((&[u8], &ObservedFile), &FileRow)| {
            let ctime = seen.record.facts.ctime;
            row.name == name
                && row.record == seen.record
                && row.own.as_ref().is_some_and(|own| own.seen_ctime == ctime)
        };
        (self.plain || self.is_empty())
            && self.len() == rows.len()
            && self.iter().zip(rows).all(is_same)
    }
}

/// Used if the file system returned no facts.
const NO_FACTS: FileFacts = FileFacts { length: 0, mtime: EPOCH, ctime: EPOCH, inode: 0 };
const EPOCH: Timestamp = Timestamp { seconds: 0, nanoseconds: 0 };
