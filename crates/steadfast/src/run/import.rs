//! `import --attributes` and `export --attributes`: walk, store. Converts the tags of other tools
//! to ours, and ours to theirs. A record with the file's present modification time is accepted as
//! it is; otherwise the file is read, hashed and compared first.

use steadfast_digest::Digest;
use steadfast_sys::file::File;

use super::check::first_foreign;
use super::compare::{algorithms, parts_sink};
use super::judge::judge_undigested;
use super::tag_context::{TagContext, TagLookup};
use crate::event::{Action, FileError, FileEvent};
use crate::pipeline::{ByteSink, Contents, Plan, Task};
use crate::reference::{Reference, agrees};
use crate::store::Replaces;
use crate::store::foreign::{self, ExistingTag, ForeignKind};
use crate::verdict::Verdict;
use steadfast_manifest::tag::Tag;

/// Writes our tag from another tool's record, for files without our tag.
pub(super) struct ImportTask {
    pub(super) context: TagContext,
    /// Whether a digest without a modification time is accepted.
    pub(super) trust: bool,
}

impl Task for ImportTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.context.look_up(file, event) {
            TagLookup::Nothing if self.context.is_ready(file, event) => {}
            TagLookup::Nothing => return Plan::Done,
            TagLookup::Tag(tag) => {
                keep(event, &tag);
                return Plan::Done;
            }
            TagLookup::Unreadable => return Plan::Done,
        }
        let recorded = match event.reference.take() {
            Some(listed) if algorithms(&listed).is_none() => {
                event.reference = Some(listed);
                judge_undigested(event);
                return Plan::Done;
            }
            Some(listed) => Ok(Some(*listed)),
            None => first_foreign(file, event),
        };
        let reference = match recorded {
            Ok(Some(reference)) => reference,
            Ok(None) => {
                event.verdict = Some(Verdict::Untagged);
                return Plan::Done;
            }
            Err(trouble) => {
                event.fail(trouble);
                return Plan::Done;
            }
        };
        let believed = self.believed(event, &reference);
        let algorithms = algorithms(&reference);
        event.reference = Some(Box::new(reference));
        match believed {
            Some(tag) => {
                self.context.write(file, event, &tag, Replaces::Nothing, Action::Tagged);
                Plan::Done
            }
            None if self.context.judge_length(file, event).is_some() => Plan::Done,
            None => match algorithms {
                Some(algorithms) => self.context.plan(algorithms),
                None => Plan::Done,
            },
        }
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        if let Some(hashed) = event.reference.as_deref().and_then(algorithms) {
            self.context.judge_by_reference(file, event, contents, hashed);
        }
        if let (Some(Verdict::Intact | Verdict::Touched), Some(actual)) =
            (event.verdict, event.actual)
        {
            event.verdict = None;
            self.context.write(file, event, &actual, Replaces::Nothing, Action::Tagged);
        }
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        parts_sink(event)
    }
}

impl ImportTask {
    /// Makes a tag from a record that has the modification time of its digest.
    ///
    /// A record without one may be older than the last edit. If it were accepted, that edit would
    /// look like decay.
    fn believed(&self, event: &FileEvent, reference: &Reference) -> Option<Tag> {
        let status = event.visit.status?;
        let &(algorithm, digest): &(_, Digest) = reference.digests.first()?;
        let length = reference.length.unwrap_or(status.length);
        let mtime = match (reference.mtime, reference.recorded) {
            (Some(recorded), _) if agrees(recorded, status.mtime) => status.mtime,
            // Edited since, or copied without its times: only the contents can tell.
            (Some(_), _) => return None,
            (None, Some(recorded)) if recorded > status.mtime => status.mtime,
            (None, _) if self.trust => status.mtime,
            (None, _) => return None,
        };
        let now = super::whole_seconds((self.context.now)());
        let tagged = reference.recorded.map_or(now, super::whole_seconds);
        (length == status.length).then_some(Tag { algorithm, digest, length, mtime, tagged })
    }
}

/// Leaves a tag as it is, unless a list contradicts it.
fn keep(event: &mut FileEvent, tag: &Tag) {
    let listed = event.reference.as_deref().and_then(|reference| {
        reference.digests.iter().find(|(algorithm, _)| *algorithm == tag.algorithm)
    });
    if listed.is_some_and(|(_, digest)| *digest != tag.digest) {
        let reason = "its tag is of other contents than the record";
        event.trouble = Some(FileError::new("import it", reason));
    } else {
        event.action = Some(Action::Kept);
    }
}

/// Writes our tags in another tool's format.
pub(super) struct ExportTask {
    pub(super) context: TagContext,
    pub(super) kind: ForeignKind,
}

impl Task for ExportTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.context.own_tag(file, event) {
            TagLookup::Tag(_) if event.tag_is_current() == Some(false) => {
                let reason = "it is not of the present contents";
                event.trouble = Some(FileError::new("export its tag", reason));
            }
            TagLookup::Tag(tag) => {
                let written = match self.context.dry_run {
                    true => Ok(()),
                    false => foreign::write(file, self.kind, &tag, ExistingTag::Keep),
                };
                match written {
                    Ok(()) => event.action = Some(Action::Exported),
                    Err(trouble) => event.trouble = Some(trouble),
                }
            }
            TagLookup::Nothing => {
                event.verdict = Some(Verdict::Untagged);
                event.trouble = Some(FileError::new("export its tag", "it has none"));
            }
            TagLookup::Unreadable => {}
        }
        Plan::Done
    }
}
