//! Devices of files by their directories: mounts begin at directories, so one look serves all files
//! of a directory.

use std::path::{Path, PathBuf};

use steadfast_sys::file::Status;

/// Remembers the device of the directory that was asked for last: lists name neighbours together.
#[derive(Debug, Default)]
pub(super) struct Devices {
    last: Option<(PathBuf, u64)>,
}

impl Devices {
    /// Returns the device of the directory that a file beneath `root` is in; 0 if it is not there.
    pub(super) fn of(&mut self, root: &Path, path: &Path) -> u64 {
        let parent = path.parent().unwrap_or(Path::new(""));
        match &self.last {
            Some((known, device)) if known == parent => *device,
            _ => {
                let device = Status::of(&root.join(parent)).map_or(0, |status| status.device);
                self.last = Some((parent.to_owned(), device));
                device
            }
        }
    }
}
