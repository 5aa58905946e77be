//! The devices of files: one look-up per directory, since mounts begin at directories.

use std::path::{Path, PathBuf};

use steadfast_sys::file::Status;

/// Caches the device of the last directory, since lists name the files of a directory together.
#[derive(Debug, Default)]
pub(super) struct DeviceCache {
    last: Option<(PathBuf, u64)>,
}

impl DeviceCache {
    /// Returns the device of a file's directory beneath `root`. 0 if the directory does not exist.
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
