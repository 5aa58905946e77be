//! `show`: walk, report. Reports tags without reading contents.

use steadfast_sys::file::File;

use super::tag_context::{TagContext, TagLookup};
use crate::event::{FileError, FileEvent};
use crate::pipeline::{Plan, Task};
use crate::store::StoredTag;
use crate::store::carried::SidecarTags;

pub(super) struct ShowTask {
    pub(super) context: TagContext,
}

impl Task for ShowTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        if let TagLookup::Tag(_) = self.context.own_tag(file, event) {
            let previous = match event.visit.is_beside {
                true => SidecarTags::of(&event.path.to_path()).map(|beside| beside.previous),
                false => self.context.store.previous(file),
            };
            match previous {
                Ok(StoredTag::Whole(previous)) => event.previous = Some(Box::new(previous)),
                Ok(StoredTag::Damaged(error)) => {
                    event.trouble = Some(FileError::new("read the previous tag", error));
                }
                Ok(StoredTag::Absent | StoredTag::Impossible) => {}
                Err(error) => {
                    event.trouble = Some(FileError::from_io("read the previous tag", &error));
                }
            }
        }
        Plan::Done
    }
}
