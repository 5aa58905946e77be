//! `tag`: walk, read, hash, store — every file without a tag gets one; a tag that is there stays.
//! Where leaves of pages are asked for, files that lack them are read too.

use steadfast_sys::file::File;

use super::judge::judge_length;
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
                if judge_length(event).is_some() {
                    return Plan::Done;
                }
                return Plan::Hash { algorithms: Algorithms::one(tag.algorithm), settled: false };
            }
            TagLookup::Tag(_) if event.trouble.is_some() => {
                event.verdict = Some(Verdict::Unreadable);
            }
            TagLookup::Tag(_) => event.action = Some(Action::Kept),
            TagLookup::NoPlace => self.context.refuse(event),
            TagLookup::Unreadable => {}
            TagLookup::Nothing => return self.context.plan_first(file, event),
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let Some(stored) = event.stored else {
            return self.context.tag_first(file, event, contents);
        };
        // Read for its leaves alone: the tag stands, and what disagrees with it is told.
        self.context.judge(event, stored.algorithm, contents);
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
    /// Says whether a tagged file is to be read for the leaves of its pages.
    fn lacks_leaves(&self, event: &FileEvent, tag: &Tag) -> bool {
        let keeper = self.context.pages.as_ref().filter(|_| !self.context.dry_run);
        keeper.is_some_and(|keeper| keeper.is_asked() && keeper.wants(event, tag.algorithm))
    }
}
