//! `update`: walk, read, hash, compare, store — new files get a tag, modified ones a new one, and
//! what looks corrupt keeps its tag as evidence.

use steadfast_sys::file::File;

use super::judge::{Found, Tools};
use crate::event::{Action, FileEvent};
use crate::hash::{Algorithms, ByteSink, Contents, Plan, Task};
use crate::store::Replaces;
use crate::tag::Tag;
use crate::verdict::Verdict;

pub(super) struct UpdateTask {
    pub(super) tools: Tools,
}

impl Task for UpdateTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.tools.look_up(file, event) {
            Found::Tag(tag) => {
                let verdict = Tools::judge_length(event);
                if verdict.is_some_and(|verdict| self.keeps(verdict, event, &tag))
                    && !self.tools.may_be_earlier(file, event)
                {
                    self.tools.locate(file, event);
                    return Plan::Done;
                }
                Tools::read_nevertheless(event);
                return self.tools.plan(Algorithms::one(tag.algorithm));
            }
            Found::Nothing => return self.tools.plan_first(file, event),
            Found::NoPlace => self.tools.refuse(event),
            Found::Unreadable => {}
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let Some(stored) = event.stored else {
            return self.tools.tag_first(file, event, contents);
        };
        let verdict = self.tools.judge(event, stored.algorithm, contents);
        self.tools.look_back(file, event);
        let Some(actual) = event.actual else { return };
        match verdict {
            _ if self.keeps(verdict, event, &stored) => {}
            Verdict::Touched => {
                self.tools.write(file, event, &actual, Replaces::Tag(stored), Action::Refreshed);
            }
            Verdict::Modified => {
                let replaces = Replaces::TagKept(stored);
                self.tools.write(file, event, &actual, replaces, Action::Retagged);
            }
            _ => self.tools.restore(file, event),
        }
        self.tools.locate(file, event);
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        let algorithm = event.stored.map_or(self.tools.new_algorithm(), |tag| tag.algorithm);
        self.tools.leaves(event, algorithm)
    }
}

impl UpdateTask {
    /// Says whether a file of this verdict keeps its tag whatever it holds.
    fn keeps(&self, verdict: Verdict, event: &FileEvent, stored: &Tag) -> bool {
        match verdict {
            Verdict::Corrupt => true,
            Verdict::Touched | Verdict::Modified => self.tools.is_disputed(event, stored),
            _ => false,
        }
    }
}
