//! One file in a result.
//!
//! In: the event of a file. Out: a row; and from a row the event again, for a renderer.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast_manifest::tag::{Tag, TagPlace};
use steadfast_sys::file::{FileKind, Status};

use crate::event::{FileError, FileEvent, FilePath, Resized, Subject};
use crate::json::{Nanoseconds, PathText, TagText};
use crate::reference::Reference;
use crate::verdict::{Judgement, Reason, Verdict};

/// The source of a reference that the catalogue gave.
pub(super) const CATALOGUE: &str = "catalogue";

/// What is known of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    /// From the root of the check.
    #[serde(flatten)]
    path: PathText,
    /// Whether it is a directory that could not be read.
    pub(super) directory: bool,
    verdict: Option<String>,
    reason: Option<String>,
    /// The digest, length and time of the contents that were read.
    actual: Option<TagText>,
    /// The tag by which the file was judged, and whether the catalogue gave it.
    stored: Option<TagText>,
    by_catalogue: bool,
    /// What failed, and why.
    error: Option<String>,
    status: Option<StatusNumbers>,
    /// Whether the length in `status` decided, so that the file was not read.
    resized: bool,
    bytes_read: u64,
    elapsed_ns: u64,
    /// `cache` or `media`.
    from: Option<String>,
}

/// What the file system said of a file: inode, links, length, modification and change time.
type StatusNumbers = (u64, u64, u64, Nanoseconds, Nanoseconds);

impl Row {
    /// Makes the row of an event; `None` if the event is not of a path beneath the root.
    pub(super) fn of(event: &FileEvent, root: &Path) -> Option<Row> {
        let path = event.path.to_path();
        let reference = event.reference.as_deref().filter(|it| it.source == CATALOGUE);
        let stored = event.stored.or_else(|| reference.and_then(tag_of));
        Some(Row {
            path: PathText::of(path.strip_prefix(root).ok()?),
            directory: event.subject == Subject::Directory,
            verdict: event.verdict.map(|verdict| verdict.name().to_owned()),
            reason: event.reason().map(|reason| reason.name().to_owned()),
            actual: event.actual.as_ref().map(TagText::of),
            stored: stored.as_ref().map(TagText::of),
            by_catalogue: event.stored.is_none() && reference.is_some(),
            error: event.trouble.as_ref().map(|it| format!("{}: {}", it.operation, it.reason)),
            status: event.visit.status.map(|it| {
                (it.inode, it.links, it.length, Nanoseconds(it.mtime), Nanoseconds(it.ctime))
            }),
            resized: event.reading.resized.is_some(),
            bytes_read: event.reading.bytes,
            elapsed_ns: event.reading.elapsed_ns,
            from: event.reading.origin.map(|origin| origin.name().to_owned()),
        })
    }

    /// Returns the path from the root; `None` if it leads elsewhere, or is written in another way
    /// than that by which files are assigned to shards.
    pub(super) fn relative(&self) -> Option<PathBuf> {
        let path = self.path.to_path()?;
        let beneath = path.components().all(|part| matches!(part, Component::Normal(_)));
        let plain = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
        let is_root = path.as_os_str().is_empty();
        (beneath && plain && is_root <= self.directory).then_some(path)
    }

    /// Makes the event again, with its path beneath `root`; `None` if the row is invalid.
    pub(super) fn to_event(&self, root: &Path) -> Option<FileEvent> {
        let mut event = FileEvent::new(FilePath::beneath(root, &self.relative()?));
        if self.directory {
            event.path = FilePath::whole(&event.path.to_path());
            event.subject = Subject::Directory;
        }
        if let Some(name) = &self.verdict {
            let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.name() == *name)?;
            let reason = self.reason.as_deref().and_then(Reason::named);
            event.judged(Judgement { verdict, reason });
        }
        let tag = |text: &Option<TagText>| text.as_ref().map(|text| text.to_tag().ok_or(()));
        event.actual = tag(&self.actual).transpose().ok()?;
        event.stored = tag(&self.stored).transpose().ok()?;
        if self.by_catalogue {
            event.tag_place = TagPlace::CatalogueAlone;
        }
        event.trouble = self.error.as_ref().map(|error| FileError::new("check it", error));
        event.visit.status = self.status.map(status_of);
        let resized = |status: Status| Resized { length: status.length, mtime: status.mtime };
        event.reading.resized = event.visit.status.filter(|_| self.resized).map(resized);
        event.reading.bytes = self.bytes_read;
        event.reading.elapsed_ns = self.elapsed_ns;
        event.reading.origin = self.from.as_deref().and_then(|name| name.parse().ok());
        // Without a verdict, a file would count as checked.
        (event.verdict.is_some() || event.trouble.is_some()).then_some(event)
    }
}

fn status_of((inode, links, length, mtime, ctime): StatusNumbers) -> Status {
    let (kind, mtime, ctime) = (FileKind::Regular, mtime.0, ctime.0);
    let (device, mode, uid, gid, dataless) = (0, 0, 0, 0, false);
    Status { device, inode, kind, length, links, mtime, ctime, mode, uid, gid, dataless }
}

/// Returns the tag that a reference of the catalogue was made of.
fn tag_of(reference: &Reference) -> Option<Tag> {
    let &(algorithm, digest) = reference.digests.first()?;
    let (length, mtime) = (reference.length?, reference.mtime?.time);
    Some(Tag { algorithm, digest, length, mtime, tagged: reference.recorded? })
}
