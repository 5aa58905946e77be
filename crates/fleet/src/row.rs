//! One file as a part and a result tell it: the keys of `docs/formats/events.md`.
//!
//! In: what a run said of a file. Out: a row; and from a row the same again, for whoever renders
//! it. A result leaves out what two runs over the same files would not say alike.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use steadfast::event::FileError;
use steadfast::json::{Nanoseconds, PathText, ReferenceText, TagText, path_of_base64};
use steadfast::store::foreign::{ForeignKind, ForeignTime, Resolution};
use steadfast::{
    Algorithm, Digest, FileEvent, FilePath, Judgement, Reason, Reference, Resized, Subject, Tag,
    Timestamp, Verdict,
};
use steadfast_sys::file::{FileKind, Status};

use crate::source::By;

/// What is known of one file. Paths are relative to the job's root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
// Over 15 fields: it is a line of the part format, field by field.
pub struct Row {
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    /// `directory` where it is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Why it is that, if the contents differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    algorithm: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mtime_ns: Option<Nanoseconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stored: Option<TagText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<ReferenceText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    // What differs from run to run is in a part only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes_read: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    elapsed_ns: Option<u64>,
    /// `cache` or `media`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    // What the catalogue keeps of a file besides, where the job is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inode: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ctime_ns: Option<Nanoseconds>,
}

impl Row {
    /// Makes the row of an event, whose path begins with `root`.
    pub(crate) fn of(event: &FileEvent, root: &Path) -> Row {
        let path = event.path.to_path();
        let relative = path.strip_prefix(root).unwrap_or(&path);
        let PathText { path, path_b64 } = PathText::of(relative);
        let actual = event.actual.as_ref();
        let read = actual.is_some() || event.reading.bytes > 0;
        Row {
            path,
            path_b64,
            kind: (event.subject == Subject::Directory).then(|| "directory".to_owned()),
            verdict: event.verdict.map(|verdict| verdict.name().to_owned()),
            reason: event.reason().map(|reason| reason.name().to_owned()),
            algorithm: actual.map(|tag| tag.algorithm.name().to_owned()),
            digest: actual.map(|tag| tag.digest.to_string()),
            length: event.extent().map(|(length, _)| length),
            mtime_ns: event.extent().map(|(_, mtime)| Nanoseconds(mtime)),
            stored: event.stored.as_ref().map(TagText::of),
            reference: event.reference.as_deref().map(ReferenceText::of),
            error: event.trouble.as_ref().map(ToString::to_string),
            bytes_read: read.then_some(event.reading.bytes),
            elapsed_ns: read.then_some(event.reading.elapsed_ns),
            from: event.reading.origin.map(|origin| origin.name().to_owned()),
            inode: None,
            ctime_ns: None,
        }
    }

    /// Adds what a catalogue keeps of a file besides.
    pub(crate) fn with_status(self, status: Option<Status>) -> Row {
        Row {
            inode: status.map(|status| status.inode),
            ctime_ns: status.map(|status| Nanoseconds(status.ctime)),
            ..self
        }
    }

    /// Leaves out what differs from run to run.
    pub(crate) fn without_reading(self) -> Row {
        Row { bytes_read: None, elapsed_ns: None, from: None, inode: None, ctime_ns: None, ..self }
    }

    /// Returns what the file system said of the file, as far as a catalogue keeps it.
    pub(crate) fn status(&self) -> Option<Status> {
        Some(Status {
            device: 0,
            inode: self.inode?,
            kind: FileKind::Regular,
            length: self.length?,
            links: 1,
            mtime: self.mtime_ns?.0,
            ctime: self.ctime_ns?.0,
            mode: 0,
            uid: 0,
            gid: 0,
            dataless: false,
        })
    }

    /// Returns the path from the root.
    pub(crate) fn relative(&self) -> Option<PathBuf> {
        match &self.path_b64 {
            None => Some(PathBuf::from(&self.path)),
            Some(base64) => path_of_base64(base64),
        }
    }

    /// Says whether it is about a file.
    pub(crate) fn is_file(&self) -> bool {
        self.kind.is_none()
    }

    /// Returns the length of the contents that were judged.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns the verdict.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        let name = self.verdict.as_deref()?;
        Verdict::ALL.into_iter().find(|verdict| verdict.name() == name)
    }

    /// Makes the event again, with its path beneath `root`; `None` if the row makes no sense.
    pub(crate) fn to_event(&self, root: &Path) -> Option<FileEvent> {
        let relative = self.relative()?;
        let path = root.join(&relative);
        let path = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if self.is_file() => {
                FilePath { parent: Arc::from(parent), name: name.to_owned() }
            }
            _ => FilePath::whole(&path),
        };
        let mut event = FileEvent::new(path);
        if !self.is_file() {
            event.subject = Subject::Directory;
        }
        if let Some(verdict) = self.verdict() {
            let reason = self.reason.as_deref().and_then(Reason::named);
            event.judged(Judgement { verdict, reason });
        }
        if self.verdict.is_some() && event.verdict.is_none() {
            return None;
        }
        event.actual = self.actual();
        if let (None, Some(length), Some(mtime)) = (&self.digest, self.length, self.mtime_ns) {
            event.reading.resized = Some(Resized { length, mtime: mtime.0 });
        }
        event.stored = self.stored.as_ref().and_then(TagText::to_tag);
        event.reference = self.reference.as_ref().map(|text| Box::new(reference(text)));
        event.trouble = self.error.as_deref().map(trouble);
        event.reading.bytes = self.bytes_read.unwrap_or(0);
        event.reading.elapsed_ns = self.elapsed_ns.unwrap_or(0);
        event.reading.origin = self.from.as_deref().and_then(|name| name.parse().ok());
        Some(event)
    }

    /// The tag that the present contents would get.
    fn actual(&self) -> Option<Tag> {
        Some(Tag {
            algorithm: self.algorithm.as_deref()?.parse().ok()?,
            digest: self.digest.as_deref()?.parse().ok()?,
            length: self.length?,
            mtime: self.mtime_ns?.0,
            tagged: Timestamp { seconds: 0, nanoseconds: 0 },
        })
    }
}

/// Reads a reference. A source that is not known is "another tool".
fn reference(text: &ReferenceText) -> Reference {
    let known = ForeignKind::ALL.map(ForeignKind::name).into_iter();
    let mut known = known.chain([By::Manifest.name(), By::Catalogue.name()]);
    let digests = text.digests.iter().filter_map(|(name, hex)| {
        Some((name.parse::<Algorithm>().ok()?, hex.parse::<Digest>().ok()?))
    });
    let digests: Vec<(Algorithm, Digest)> = digests.collect();
    Reference {
        source: known.find(|name| *name == text.source).unwrap_or("another tool"),
        digests,
        length: text.length,
        mtime: text.mtime_ns.map(|time| ForeignTime { time: time.0, resolution: Resolution::Tick }),
        recorded: text.recorded_s.map(|seconds| Timestamp { seconds, nanoseconds: 0 }),
    }
}

/// What runs of a check were doing when something went wrong.
const DOINGS: [&str; 9] = [
    "open",
    "read the tag",
    "read the list",
    "read it whole",
    "read another tool's tag",
    "read other tools' tags",
    "read",
    "compare it",
    "ask the catalogue",
];

/// Takes apart what a trouble says: "cannot open: permission denied".
fn trouble(text: &str) -> FileError {
    let known = DOINGS.into_iter().find_map(|doing| {
        let reason = text.strip_prefix("cannot ")?.strip_prefix(doing)?.strip_prefix(": ")?;
        Some(FileError::new(doing, reason))
    });
    known.unwrap_or_else(|| FileError::new("judge it", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line;
    use steadfast::Origin;

    fn tag(byte: u8) -> Tag {
        Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[byte; 32]).unwrap(),
            length: 9,
            mtime: Timestamp { seconds: 5, nanoseconds: 7 },
            tagged: Timestamp { seconds: 0, nanoseconds: 0 },
        }
    }

    fn event() -> FileEvent {
        let parent = Arc::from(Path::new("/root/d"));
        let mut event = FileEvent::new(FilePath { parent, name: "f".into() });
        event.verdict = Some(Verdict::Corrupt);
        event.stored = Some(tag(1));
        event.actual = Some(tag(2));
        event.reference = Some(Box::new(Reference::of_tag("catalogue", &tag(1))));
        event.trouble = Some(trouble("cannot read it whole: the file changed meanwhile"));
        (event.reading.bytes, event.reading.elapsed_ns, event.reading.origin) =
            (9, 11, Some(Origin::Media));
        event
    }

    #[test]
    fn an_event_goes_into_a_row_and_back() {
        let row = Row::of(&event(), Path::new("/root"));
        assert_eq!(row.relative().unwrap(), Path::new("d/f"));
        let mut out = Vec::new();
        line::write(&row, &mut out);
        let read: Row = serde_json::from_slice(&out).unwrap();
        assert_eq!(read, row);
        let (again, event) = (read.to_event(Path::new("/elsewhere")).unwrap(), event());
        assert_eq!(again.path.to_path(), Path::new("/elsewhere/d/f"));
        assert_eq!((again.verdict, again.stored), (event.verdict, event.stored));
        assert_eq!((again.actual, again.reference), (event.actual, event.reference));
        assert_eq!((again.trouble, again.reading.origin), (event.trouble, event.reading.origin));
    }

    #[test]
    fn a_row_without_its_reading_says_nothing_of_it() {
        let row = Row::of(&event(), Path::new("/root")).without_reading();
        let mut out = Vec::new();
        line::write(&row, &mut out);
        let text = String::from_utf8(out).unwrap();
        for key in ["bytes_read", "elapsed_ns", "from", "inode"] {
            assert!(!text.contains(key), "{text}");
        }
        assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
    }

    #[test]
    fn a_verdict_that_is_none_makes_no_event() {
        let mut row = Row::of(&event(), Path::new("/root"));
        row.verdict = Some("splendid".to_owned());
        assert!(row.to_event(Path::new("/root")).is_none());
    }
}
