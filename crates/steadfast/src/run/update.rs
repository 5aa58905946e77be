//! `update`: walk, read, hash, compare, store. New files get a tag, modified ones a new one. Files
//! that look corrupt keep their tag as evidence.

use steadfast_sys::file::File;

use super::judge::read_nevertheless;
use super::options::{SuspectUse, UpdateOptions};
use super::tag_context::{TagContext, TagLookup};
use crate::event::{Action, FileEvent};
use crate::pipeline::{Algorithms, ByteSink, Contents, Plan, Task};
use crate::store::Replaces;
use crate::verdict::Verdict;
use steadfast_manifest::tag::Tag;

pub(super) struct UpdateTask {
    pub(super) context: TagContext,
    pub(super) options: UpdateOptions,
}

impl Task for UpdateTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.context.look_up(file, event) {
            TagLookup::Tag(tag) => {
                let verdict = self.context.judge_length(file, event);
                if verdict.is_some_and(|verdict| self.keeps(verdict, event, &tag))
                    && !self.context.may_be_earlier(file, event)
                {
                    self.context.locate(file, event);
                    return Plan::Done;
                }
                read_nevertheless(event);
                return self.context.plan(Algorithms::one(tag.algorithm));
            }
            TagLookup::Nothing | TagLookup::NoPlace if self.accepts_suspect_alone() => {
                event.verdict = Some(Verdict::Untagged);
            }
            TagLookup::Nothing => return self.context.plan_first(file, event),
            TagLookup::NoPlace => self.context.refuse(event),
            TagLookup::Unreadable => {}
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let Some(stored) = event.stored else {
            return self.context.tag_first(file, event, contents);
        };
        let actual = self.context.judge(file, event, stored.algorithm, contents);
        self.context.find_earlier_tag(file, event);
        let Some(verdict) = event.verdict else { return };
        match verdict {
            _ if self.keeps(verdict, event, &stored) => {}
            Verdict::Touched => {
                self.context.write(file, event, &actual, Replaces::Tag(stored), Action::Refreshed);
            }
            Verdict::Modified | Verdict::Suspect => {
                let replaces = Replaces::TagKept(stored);
                self.context.write(file, event, &actual, replaces, Action::Retagged);
            }
            _ if self.options.restore_tags => self.context.restore(file, event),
            _ => {}
        }
        self.context.locate(file, event);
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        let algorithm = event.stored.map_or(self.context.new_algorithm(), |tag| tag.algorithm);
        self.context.leaves(event, algorithm)
    }
}

impl UpdateTask {
    fn accepts_suspect_alone(&self) -> bool {
        self.options.accept_suspect == SuspectUse::AcceptAlone
    }

    /// Returns whether a file of this verdict keeps its tag whatever it contains.
    fn keeps(&self, verdict: Verdict, event: &FileEvent, stored: &Tag) -> bool {
        match verdict {
            Verdict::Suspect if self.options.accept_suspect != SuspectUse::Leave => {
                self.context.is_disputed(event, stored)
            }
            Verdict::Corrupt | Verdict::Suspect => true,
            Verdict::Touched | Verdict::Modified if self.accepts_suspect_alone() => true,
            Verdict::Touched | Verdict::Modified => self.context.is_disputed(event, stored),
            _ => false,
        }
    }
}
