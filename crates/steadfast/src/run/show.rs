//! `show`: walk, report — what the tags say, without reading contents.

use steadfast_sys::file::File;

use super::judge::{Found, Tools};
use crate::hash::{Contents, Plan, Task};
use crate::monitor::FileEvent;
use crate::store::StoredTag;

pub(super) struct ShowTask {
    pub(super) tools: Tools,
}

impl Task for ShowTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        if let Found::Tag(_) = self.tools.look_up(file, event)
            && let Ok(StoredTag::Whole(previous)) = self.tools.store.previous(file)
        {
            event.previous = Some(previous);
        }
        Plan::Done
    }

    fn conclude(&self, _file: &File, _event: &mut FileEvent, _contents: Contents) {}
}
