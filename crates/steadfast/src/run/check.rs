//! `check`: walk, read, hash, compare. Every tagged file gets a verdict; a file without our tag is
//! judged by another tool's tag. Nothing is written.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use steadfast_digest::Algorithm;
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{File, Status};

use super::compare::algorithms;
use super::judge::read_nevertheless;
use super::tag_context::{TagContext, TagLookup};
use crate::appledouble;
use crate::event::{Action, FileError, FileEvent};
use crate::pipeline::{Algorithms, ByteSink, Contents, Plan, Task};
use crate::reference::Reference;
use crate::store::foreign;
use crate::verdict::Verdict;

pub(super) struct CheckTask {
    pub(super) context: TagContext,
}

impl Task for CheckTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.context.look_up(file, event) {
            TagLookup::Tag(tag) => self.plan(file, event, &tag),
            TagLookup::Nothing => foreign_plan(&self.context, file, event),
            TagLookup::Unreadable => Plan::Done,
        }
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        if let Some(hashed) = event.reference.as_deref().and_then(algorithms) {
            return self.context.judge_by_reference(file, event, contents, hashed);
        }
        let algorithm = stored_algorithm(event);
        self.context.judge(file, event, algorithm, contents);
        self.context.find_earlier_tag(file, event);
        self.context.locate(file, event);
        self.context.check_leaves(event);
    }

    fn give_up(&self, file: &File, event: &mut FileEvent) {
        self.context.judge_unread(file, event);
    }
}

impl CheckTask {
    /// Plans to compare a file with its tag. It is not read if its length decides.
    pub(super) fn plan(&self, file: &File, event: &mut FileEvent, tag: &Tag) -> Plan {
        if self.context.judge_length(file, event).is_some()
            && !self.context.may_be_earlier(file, event)
        {
            self.context.locate(file, event);
            return Plan::Done;
        }
        read_nevertheless(event);
        Plan::Hash { algorithms: Algorithms::one(tag.algorithm), settled: false }
    }
}

/// A file whose contents were read back and proved to be those of a tag.
pub(crate) struct ProvedFile {
    /// Its status afterwards.
    pub(crate) status: Status,
    pub(crate) tag: Tag,
}

impl ProvedFile {
    /// Says whether a file with this status and tag is still as it was proved.
    fn is_still(&self, status: &Status, stored: &Tag) -> bool {
        self.status == *status
            && (status.length, status.mtime) == (stored.length, stored.mtime)
            && self.tag.same_contents(stored)
    }
}

/// A verb that does not read again what was just proved, and records that it was.
pub(super) struct ProvedTask {
    task: Arc<dyn Task>,
    context: TagContext,
    /// By device and inode.
    proved: HashMap<(u64, u64), ProvedFile>,
}

impl ProvedTask {
    pub(super) fn new(
        task: Arc<dyn Task>,
        context: TagContext,
        proved: Vec<ProvedFile>,
    ) -> ProvedTask {
        let by_identity =
            proved.into_iter().map(|file| ((file.status.device, file.status.inode), file));
        ProvedTask { task, context, proved: by_identity.collect() }
    }

    /// Says whether the file of an event is one that was proved by its tag, and is unchanged.
    fn is_proved(&self, event: &FileEvent) -> bool {
        let (Some(status), Some(stored)) = (event.visit.status, event.stored) else { return false };
        let proved = self.proved.get(&(status.device, status.inode));
        proved.is_some_and(|proved| proved.is_still(&status, &stored))
    }
}

impl Task for ProvedTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        let plan = self.task.open(file, event);
        let relies = matches!(plan, Plan::Hash { .. }) || event.action == Some(Action::Kept);
        let (true, Some(stored), true) = (relies, event.stored, self.is_proved(event)) else {
            return plan;
        };
        let Tag { algorithm, digest, length, mtime, .. } = stored;
        event.actual = Some(self.context.tag_of(algorithm, digest, length, mtime));
        event.verdict = Some(Verdict::Intact);
        self.context.check_leaves(event);
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        self.task.conclude(file, event, contents);
    }

    fn give_up(&self, file: &File, event: &mut FileEvent) {
        self.task.give_up(file, event);
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        self.task.sink(event)
    }
}

/// Plans to check a file by another tool's tag, if it has one.
fn foreign_plan(context: &TagContext, file: &File, event: &mut FileEvent) -> Plan {
    let trouble = match first_foreign(file, event) {
        Ok(Some(reference)) => {
            let algorithms = algorithms(&reference);
            event.reference = Some(Box::new(reference));
            if context.judge_length(file, event).is_some() {
                return Plan::Done;
            }
            let algorithms = algorithms.expect("a foreign tag has a digest");
            return Plan::Hash { algorithms, settled: false };
        }
        Ok(None) => {
            event.verdict = Some(Verdict::Untagged);
            return Plan::Done;
        }
        Err(trouble) => trouble,
    };
    event.fail(trouble);
    Plan::Done
}

/// Returns the first whole tag of another tool: at the file, or in its AppleDouble sidecar.
pub(super) fn first_foreign(
    file: &File,
    event: &FileEvent,
) -> Result<Option<Reference>, FileError> {
    let trouble = |error: io::Error| FileError::from_io("read other tools' tags", &error);
    let mut tags = foreign::read(file).map_err(trouble)?;
    if tags.is_empty() {
        tags = sidecar_tags(event).map_err(trouble)?;
    }
    // A half pair of one tool must not hide the whole tag of another.
    let mut first_fault = None;
    for tag in &tags {
        match tag {
            Ok(tag) => return Ok(Some(Reference::of_foreign(tag))),
            Err(fault) if fault.is_signature() => {}
            Err(fault) => {
                first_fault.get_or_insert(fault);
            }
        }
    }
    match first_fault {
        Some(fault) => Err(FileError::new("read another tool's tag", fault)),
        None => Ok(None),
    }
}

/// Returns the tags that macOS keeps beside a file if it cannot keep them at the file.
fn sidecar_tags(event: &FileEvent) -> io::Result<foreign::ForeignTags> {
    match appledouble::open_beside(&event.path.to_path())? {
        Some((file, double)) => foreign::tags_of(&file, &double),
        None => Ok(Vec::new()),
    }
}

/// Returns the algorithm that a file with a tag was hashed with.
pub(super) fn stored_algorithm(event: &FileEvent) -> Algorithm {
    event.stored.expect("only files with a tag are hashed").algorithm
}

#[cfg(test)]
mod tests {
    use steadfast_digest::Digest;
    use steadfast_sys::file::Timestamp;

    use super::*;

    #[test]
    fn a_proved_file_that_changed_since_is_read_again() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let status = Status::of(file.path()).unwrap();
        let later = |time: Timestamp| Timestamp { seconds: time.seconds + 1, ..time };
        let (length, mtime) = (status.length, status.mtime);
        let digest = Digest::from_slice(&[1; 32]).unwrap();
        let tag = Tag { algorithm: Algorithm::Sha256, digest, length, mtime, tagged: mtime };
        let proved = ProvedFile { status, tag };
        assert!(proved.is_still(&status, &tag));

        let written = Status { ctime: later(status.ctime), ..status };
        let touched = Status { mtime: later(mtime), ..written };
        let tag_of_touched = Tag { mtime: touched.mtime, ..tag };
        let other = Tag { digest: Digest::from_slice(&[2; 32]).unwrap(), ..tag };
        let timed = Tag { mtime: later(mtime), ..tag };
        for (what, status, stored) in [
            ("written", written, tag),
            ("touched", touched, tag),
            ("touched and tagged again", touched, tag_of_touched),
            ("a tag of other contents", status, other),
            ("a tag of another time", status, timed),
        ] {
            assert!(!proved.is_still(&status, &stored), "{what}");
        }
    }
}
