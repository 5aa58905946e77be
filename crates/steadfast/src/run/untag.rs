//! `untag`: walk, store. Removes tags and nothing else.

use steadfast_sys::file::File;

use super::tag_context::TagContext;
use crate::event::{Action, FileError, FileEvent};
use crate::pipeline::{Plan, Task};
use crate::store::StoredTag;
use crate::store::carried::SidecarTags;
use steadfast_manifest::tag::TagPlace;

pub(super) struct UntagTask {
    pub(super) context: TagContext,
}

impl Task for UntagTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        let removed = match self.context.store.tag(file) {
            Ok(StoredTag::Absent) if self.in_catalogue(event, TagPlace::Catalogue) => Ok(true),
            Ok(StoredTag::Impossible) if self.in_catalogue(event, TagPlace::CatalogueAlone) => {
                Ok(true)
            }
            Ok(StoredTag::Absent | StoredTag::Impossible) if self.context.dry_run => Ok(false),
            Ok(StoredTag::Impossible) => Ok(false),
            Ok(_) if self.context.dry_run => Ok(true),
            Ok(found) => {
                if let StoredTag::Whole(tag) = found {
                    event.stored = Some(tag);
                }
                self.context.store.remove(file)
            }
            Err(error) => Err(FileError::from_io("read the tag", &error)),
        };
        match removed {
            Ok(true) => event.action = Some(Action::Removed),
            Ok(false) => {}
            Err(trouble) => event.trouble = Some(trouble),
        }
        let path = event.path.to_path();
        if event.trouble.is_none()
            && SidecarTags::of(&path).is_ok_and(|beside| beside.tag != StoredTag::Absent)
        {
            let name = path.file_name().unwrap_or_default().display();
            let reason = format!("a Mac keeps it in `._{name}`, which Steadfast does not change");
            event.trouble = Some(FileError::new("remove the tag", reason));
        }
        Plan::Done
    }
}

impl UntagTask {
    /// Returns whether only the catalogue has a tag, which is then removed there.
    fn in_catalogue(&self, event: &mut FileEvent, place: TagPlace) -> bool {
        let known = self.context.records.as_ref().and_then(|records| records.tag(&event.path).ok());
        event.stored = known.flatten();
        if event.stored.is_some() {
            event.tag_place = place;
        }
        event.stored.is_some()
    }
}
