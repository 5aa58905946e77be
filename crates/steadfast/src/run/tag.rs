//! `tag`: walk, read, hash, store — every file without a tag gets one; a tag that is there stays.

use steadfast_sys::file::File;

use super::judge::{Found, Tools};
use crate::hash::{Algorithms, Contents, Plan, Task};
use crate::monitor::{Action, FileEvent};

pub(super) struct TagTask {
    pub(super) tools: Tools,
}

impl Task for TagTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match self.tools.look_up(file, event) {
            Found::Tag(_) => event.action = Some(Action::Kept),
            Found::NoPlace => self.tools.refuse(event),
            Found::Unreadable => {}
            Found::Nothing if self.tools.dry_run => event.action = Some(Action::Tagged),
            Found::Nothing => return self.tools.plan(Algorithms::one(self.tools.new_algorithm())),
        }
        Plan::Done
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        self.tools.tag_first(file, event, contents);
    }
}
