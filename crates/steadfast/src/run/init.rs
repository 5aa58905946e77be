//! `init`: walk, read, hash, compare, store. A file without a tag gets one; a file with a tag is
//! compared with it. What the catalogue knows to be proved is not read again, so an interrupted
//! `init` goes on where it was.

use steadfast_sys::file::File;

use super::check::CheckTask;
use super::tag_context::TagLookup;
use crate::event::{Action, FileEvent};
use crate::evidence::LastProof;
use crate::pipeline::{ByteSink, Contents, Plan, Task};

pub(super) struct InitTask {
    pub(super) check: CheckTask,
}

impl Task for InitTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        let context = &self.check.context;
        match context.look_up(file, event) {
            TagLookup::Tag(_) if event.trouble.is_none() && self.is_proved(event) => {
                event.action = Some(Action::Kept);
                Plan::Done
            }
            TagLookup::Tag(tag) => self.check.plan(file, event, &tag),
            TagLookup::Nothing => context.plan_first(file, event),
            TagLookup::Unreadable => Plan::Done,
        }
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        match event.stored {
            Some(_) => self.check.conclude(file, event, contents),
            None => self.check.context.tag_first(file, event, contents),
        }
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        let context = &self.check.context;
        let algorithm = event.stored.map_or(context.new_algorithm(), |tag| tag.algorithm);
        context.leaves(event, algorithm)
    }
}

impl InitTask {
    /// Returns whether the catalogue has a proof of a file, and nothing wrote to the file since.
    fn is_proved(&self, event: &FileEvent) -> bool {
        let (Some(status), Some(tag)) = (event.visit.status, event.stored) else { return false };
        let Some(LastProof::Recorded { ctime, inode, mtime }) =
            self.check.context.last_proof(event)
        else {
            return false;
        };
        (ctime, inode, mtime) == (status.ctime, status.inode, status.mtime)
            && tag.length == status.length
    }
}
