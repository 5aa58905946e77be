//! `update`: walk, read, hash, compare, store — new files get a tag, modified ones a new one, and
//! what looks corrupt keeps its tag as evidence.

use steadfast_sys::file::File;

use super::check::stored_algorithm;
use super::judge::{Found, Tools};
use crate::hash::{Algorithms, Contents, Plan, Task};
use crate::monitor::{Action, FileEvent};
use crate::verdict::Verdict;

pub(super) struct UpdateTask {
    pub(super) tools: Tools,
}

impl Task for UpdateTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.tools.look_up(file, event) {
            Found::Tag(tag) => return Plan::Hash(Algorithms::one(tag.algorithm)),
            Found::Nothing if self.tools.dry_run => event.action = Some(Action::Tagged),
            Found::Nothing => return Plan::Hash(Algorithms::one(self.tools.new_algorithm())),
            Found::NoPlace => self.tools.refuse(event),
            Found::Unreadable => {}
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        if event.stored.is_none() {
            return self.tools.tag_first(file, event, contents);
        }
        let algorithm = stored_algorithm(event);
        let verdict = self.tools.judge(event, algorithm, contents);
        let Some(actual) = event.actual else { return };
        match verdict {
            Verdict::Touched => {
                self.tools.write(file, event, &actual, false, Action::Refreshed);
            }
            Verdict::Modified => {
                self.tools.write(file, event, &actual, true, Action::Retagged);
            }
            _ => {}
        }
    }
}
