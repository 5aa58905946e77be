//! `check`: walk, read, hash, compare. Every tagged file gets a verdict; a file without our tag is
//! judged by another tool's tag. Nothing is written.

use std::io;

use steadfast_digest::Algorithm;
use steadfast_sys::file::File;

use super::compare::algorithms;
use super::judge::{judge_length, read_nevertheless};
use super::tag_context::{TagContext, TagLookup};
use crate::appledouble;
use crate::event::{FileError, FileEvent};
use crate::pipeline::{Algorithms, Contents, Plan, Task};
use crate::reference::Reference;
use crate::store::foreign;
use crate::verdict::Verdict;

pub(super) struct CheckTask {
    pub(super) context: TagContext,
}

impl Task for CheckTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.context.look_up(file, event) {
            TagLookup::Tag(tag) => {
                if judge_length(event).is_some() && !self.context.may_be_earlier(file, event) {
                    self.context.locate(file, event);
                    return Plan::Done;
                }
                read_nevertheless(event);
                return Plan::Hash { algorithms: Algorithms::one(tag.algorithm), settled: false };
            }
            TagLookup::Nothing | TagLookup::NoPlace => return foreign_plan(file, event),
            TagLookup::Unreadable => {}
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        if event.reference.is_some() {
            return self.context.judge_by_reference(event, contents);
        }
        let algorithm = stored_algorithm(event);
        self.context.judge(event, algorithm, contents);
        self.context.look_back(file, event);
        self.context.locate(file, event);
        self.context.look_at_leaves(event);
    }
}

/// Plans to check a file by another tool's tag, if it has one.
fn foreign_plan(file: &File, event: &mut FileEvent) -> Plan {
    let trouble = match first_foreign(file, event) {
        Ok(Some(reference)) => {
            let algorithms = algorithms(&reference);
            event.reference = Some(Box::new(reference));
            if judge_length(event).is_some() {
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
