//! `show`: walk, report — what the tags say, without reading contents.

use steadfast_sys::file::File;

use super::judge::{Found, Tools};
use crate::event::{FileEvent, Trouble};
use crate::hash::{Contents, Plan, Task};
use crate::store::StoredTag;
use crate::store::carried::Beside;

pub(super) struct ShowTask {
    pub(super) tools: Tools,
}

impl Task for ShowTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        if let Found::Tag(_) = self.tools.look_up_here(file, event) {
            let previous = match event.is_beside {
                true => Beside::of(&event.path.to_path()).map(|beside| beside.previous),
                false => self.tools.store.previous(file),
            };
            match previous {
                Ok(StoredTag::Whole(previous)) => event.previous = Some(previous),
                Ok(StoredTag::Damaged(error)) => {
                    let reason = error.to_string();
                    event.trouble = Some(Trouble { doing: "read the previous tag", reason });
                }
                Ok(StoredTag::Absent | StoredTag::Impossible) => {}
                Err(error) => {
                    event.trouble = Some(Trouble::from_io("read the previous tag", &error));
                }
            }
        }
        Plan::Done
    }

    fn conclude(&self, _file: &File, _event: &mut FileEvent, _contents: Contents) {}
}
