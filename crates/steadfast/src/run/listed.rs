//! `check` of a list: by the reference of each file, or by the file's tag if the list has none.

use steadfast_sys::file::File;

use super::check::CheckTask;
use super::compare::CompareTask;
use crate::event::FileEvent;
use crate::pipeline::{ByteSink, Contents, Plan, Task};

/// Checks every file of a list.
pub(super) struct ListedTask {
    pub(super) by_tag: CheckTask,
    pub(super) by_list: CompareTask,
}

impl Task for ListedTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match event.reference {
            Some(_) => self.by_list.open(file, event),
            None => self.by_tag.open(file, event),
        }
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        match event.reference {
            Some(_) => self.by_list.conclude(file, event, contents),
            None => self.by_tag.conclude(file, event, contents),
        }
    }

    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        self.by_list.sink(event)
    }
}
