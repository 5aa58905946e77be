//! `retag`: walk, read, hash, compare, store — tags are made to fit the present contents, and moved
//! to another algorithm if one is named. What looks corrupt is left alone unless it is accepted.

use steadfast_sys::file::File;

use super::judge::{Found, Tools};
use crate::event::{Action, FileEvent};
use crate::hash::{Algorithms, ByteSink, Contents, Plan, Task};
use crate::store::Replaces;
use crate::tag::Tag;
use crate::verdict::Verdict;

pub(super) struct RetagTask {
    pub(super) tools: Tools,
    pub(super) accept: bool,
}

impl Task for RetagTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.tools.look_up(file, event) {
            Found::Tag(tag) => {
                let verdict = Tools::judge_length(event);
                if verdict.is_some_and(|verdict| self.keeps(verdict, event, &tag))
                    && !self.tools.may_be_earlier(file, event)
                {
                    return Plan::Done;
                }
                Tools::read_nevertheless(event);
                let wanted = self.tools.algorithm.unwrap_or(tag.algorithm);
                return self.tools.plan(Algorithms::two(tag.algorithm, wanted));
            }
            Found::Unreadable if self.accept => {
                (event.verdict, event.trouble) = (None, None);
                return self.tools.plan(Algorithms::one(self.tools.new_algorithm()));
            }
            Found::Nothing | Found::NoPlace => event.verdict = Some(Verdict::Untagged),
            Found::Unreadable => {}
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let second = match &contents {
            Contents::Whole { digests, .. } => digests.second,
            _ => None,
        };
        let Some(stored) = event.stored else {
            return self.replace_unreadable(file, event, contents);
        };
        let verdict = self.tools.judge(event, stored.algorithm, contents);
        self.tools.look_back(file, event);
        let Some(actual) = event.actual else { return };
        let moved = second.zip(self.tools.algorithm);
        let new = moved.map_or(actual, |(digest, algorithm)| {
            self.tools.tag_of(algorithm, digest, actual.length, actual.mtime)
        });
        match verdict {
            _ if self.keeps(verdict, event, &stored) => {}
            // The catalogue vouches for the contents, and what is at the file is no tag.
            Verdict::Intact if self.accept && event.trouble.is_some() => {
                self.tools.write(file, event, &new, Replaces::DamagedKept, Action::Retagged);
            }
            Verdict::Intact if moved.is_none() => event.action = Some(Action::Kept),
            Verdict::Touched if moved.is_none() => {
                self.tools.write(file, event, &new, Replaces::Tag(stored), Action::Refreshed);
            }
            _ => {
                self.tools.write(file, event, &new, Replaces::TagKept(stored), Action::Retagged);
            }
        }
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        let wanted = self.tools.algorithm.or(event.stored.map(|tag| tag.algorithm));
        self.tools.leaves(event, wanted.unwrap_or(self.tools.new_algorithm()))
    }
}

impl RetagTask {
    /// Says whether a file of this verdict keeps its tag whatever it holds.
    fn keeps(&self, verdict: Verdict, event: &FileEvent, stored: &Tag) -> bool {
        match verdict {
            _ if self.accept => false,
            Verdict::Corrupt => true,
            Verdict::Intact | Verdict::Touched | Verdict::Modified => {
                self.tools.is_disputed(event, stored)
            }
            _ => false,
        }
    }

    /// Replaces a tag that is none; its bytes are kept beside the new one.
    fn replace_unreadable(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        self.tools.judge(event, self.tools.new_algorithm(), contents);
        if let Some(actual) = event.actual {
            event.verdict = None;
            self.tools.write(file, event, &actual, Replaces::DamagedKept, Action::Retagged);
        }
    }
}
