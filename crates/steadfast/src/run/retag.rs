//! `retag`: walk, read, hash, compare, store. Replaces tags by those of the present contents, and
//! by another algorithm if one is named. Files that look corrupt keep their tags unless that is
//! accepted.

use steadfast_sys::file::File;

use super::judge::read_nevertheless;
use super::tag_context::{TagContext, TagLookup};
use crate::event::{Action, FileEvent};
use crate::pipeline::{Algorithms, ByteSink, Contents, Plan, Task};
use crate::store::Replaces;
use crate::verdict::Verdict;
use steadfast_manifest::tag::Tag;

pub(super) struct RetagTask {
    pub(super) context: TagContext,
    pub(super) accept: bool,
}

impl Task for RetagTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.context.look_up(file, event) {
            TagLookup::Tag(tag) => {
                let verdict = self.context.judge_length(file, event);
                if verdict.is_some_and(|verdict| self.keeps(verdict, event, &tag))
                    && !self.context.may_be_earlier(file, event)
                {
                    return Plan::Done;
                }
                read_nevertheless(event);
                let wanted = self.context.algorithm.unwrap_or(tag.algorithm);
                return self.context.plan(Algorithms::two(tag.algorithm, wanted));
            }
            TagLookup::Unreadable if self.accept => {
                (event.verdict, event.trouble) = (None, None);
                return self.context.plan(Algorithms::one(self.context.new_algorithm()));
            }
            TagLookup::Nothing | TagLookup::NoPlace => event.verdict = Some(Verdict::Untagged),
            TagLookup::Unreadable => {}
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let Some(stored) = event.stored else {
            return self.replace_unreadable(file, event, contents);
        };
        let actual = self.context.judge(file, event, stored.algorithm, contents);
        self.context.find_earlier_tag(file, event);
        let Some(verdict) = event.verdict else { return };
        let moved = contents.digests.second.zip(self.context.algorithm);
        let new = moved.map_or(actual, |(digest, algorithm)| {
            self.context.tag_of(algorithm, digest, actual.length, actual.mtime)
        });
        match verdict {
            _ if self.keeps(verdict, event, &stored) => {}
            // The catalogue confirms the contents, and the attribute is not a tag.
            Verdict::Intact if self.accept && event.trouble.is_some() => {
                self.context.write(file, event, &new, Replaces::DamagedKept, Action::Retagged);
            }
            Verdict::Intact if moved.is_none() => event.action = Some(Action::Kept),
            Verdict::Touched if moved.is_none() => {
                self.context.write(file, event, &new, Replaces::Tag(stored), Action::Refreshed);
            }
            _ => {
                self.context.write(file, event, &new, Replaces::TagKept(stored), Action::Retagged);
            }
        }
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        let wanted = self.context.algorithm.or(event.stored.map(|tag| tag.algorithm));
        self.context.leaves(event, wanted.unwrap_or(self.context.new_algorithm()))
    }
}

impl RetagTask {
    /// Returns whether a file of this verdict keeps its tag whatever it contains.
    fn keeps(&self, verdict: Verdict, event: &FileEvent, stored: &Tag) -> bool {
        match verdict {
            _ if self.accept => false,
            Verdict::Corrupt | Verdict::Suspect => true,
            Verdict::Intact | Verdict::Touched | Verdict::Modified => {
                self.context.is_disputed(event, stored)
            }
            _ => false,
        }
    }

    /// Replaces an attribute that is not a valid tag; its bytes are kept beside the new tag.
    fn replace_unreadable(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let actual = self.context.judge(file, event, self.context.new_algorithm(), contents);
        event.verdict = None;
        self.context.write(file, event, &actual, Replaces::DamagedKept, Action::Retagged);
    }
}
