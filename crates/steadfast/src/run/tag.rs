//! `tag`: walk, read, hash, store. Every file without a tag gets one; existing tags stay. If leaves
//! of pages are requested, files without leaves are read too.

use steadfast_sys::file::File;

use super::tag_context::{TagContext, TagLookup};
use crate::event::{Action, FileEvent};
use crate::pipeline::{Algorithms, ByteSink, Contents, Plan, Task};
use crate::verdict::Verdict;
use steadfast_manifest::tag::Tag;

pub(super) struct TagTask {
    pub(super) context: TagContext,
}

impl Task for TagTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.context.look_up(file, event) {
            TagLookup::Tag(tag) if event.trouble.is_none() && self.lacks_leaves(event, &tag) => {
                if self.context.judge_length(file, event).is_some() {
                    return Plan::Done;
                }
                return Plan::Hash { algorithms: Algorithms::one(tag.algorithm), settled: false };
            }
            TagLookup::Tag(_) if event.trouble.is_some() => {
                event.verdict = Some(Verdict::Unreadable);
            }
            TagLookup::Tag(_) => event.action = Some(Action::Kept),
            TagLookup::Unreadable => {}
            TagLookup::Nothing => return self.context.plan_first(file, event),
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let Some(stored) = event.stored else {
            return self.context.tag_first(file, event, contents);
        };
        // Read only for its leaves: the tag stays, and a difference is reported.
        self.context.judge(file, event, stored.algorithm, contents);
        if let Some(Verdict::Intact | Verdict::Touched) = event.verdict {
            (event.verdict, event.action) = (None, Some(Action::Kept));
        }
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        let algorithm = event.stored.map_or(self.context.new_algorithm(), |tag| tag.algorithm);
        self.context.leaves(event, algorithm)
    }
}

impl TagTask {
    /// Returns whether a tagged file should be read for the leaves of its pages.
    fn lacks_leaves(&self, event: &FileEvent, tag: &Tag) -> bool {
        let keeper = self.context.pages.as_ref().filter(|_| !self.context.dry_run);
        keeper.is_some_and(|keeper| keeper.is_asked() && keeper.wants(event, tag.algorithm))
    }
}
