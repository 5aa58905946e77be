//! Where a folder lies: followed through views, images and stacked devices down to disks.

#[cfg_attr(target_os = "linux", path = "place/linux.rs")]
#[cfg_attr(target_os = "macos", path = "place/macos.rs")]
mod platform;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Where a folder lies, as far as the system tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoragePlace {
    /// The folder within its file system; then the folders that are mounted beneath it, and those
    /// that it shows: the branches of a pool, the layers of an overlay, the source of a view.
    pub folders: Vec<PlacedFolder>,
    /// Names of all devices beneath. Two folders that share one may be lost together.
    pub devices: BTreeSet<String>,
    /// The identifier that the file system has on its medium.
    pub uuid: Option<String>,
    /// Whether each lowest device is one of the machine's, and not made up, for example for a
    /// virtual machine. Otherwise two names can be one device.
    pub are_real: bool,
    /// Whether a program, an overlay or a network is between the folder and its devices.
    pub is_view: bool,
    /// Whether that is a program or a network, which may answer from their own memory.
    pub is_served: bool,
    /// Whether a file on the way is read through the page cache, so that reading it past the cache
    /// of its own file system proves nothing.
    pub is_cached: bool,
    /// Whether it is gone when the machine is switched off.
    pub in_memory: bool,
    /// Whether a file on the way has no name any more, so that it is gone when it is closed.
    pub is_deleted: bool,
    /// Whether it is a share of this machine, of a folder that is not known.
    pub is_own_share: bool,
}

/// A folder within a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedFolder {
    /// What tells the file system from others, through whatever device it is mounted.
    pub file_system: String,
    /// The device or the number by which it is mounted.
    pub mounted_as: String,
    /// The path within it. Relative in a root of which the system does not tell where it is.
    pub path: PathBuf,
    /// Whether files there are those of the place itself, with their inodes, and not shown by it
    /// under other numbers.
    pub is_own: bool,
}

impl StoragePlace {
    /// Returns whether it is proved that a file of one place may be a file of the other, by other
    /// numbers: one file system through two devices, or a view and what it shows.
    #[must_use]
    pub fn shares_files(&self, other: &StoragePlace) -> bool {
        let is_one = |a: &PlacedFolder, b: &PlacedFolder| {
            let is_nested = is_within(&a.path, &b.path) || is_within(&b.path, &a.path);
            let by_numbers = a.mounted_as == b.mounted_as && a.is_own && b.is_own;
            a.file_system == b.file_system
                && !by_numbers
                && (is_nested || a.mounted_as != b.mounted_as)
        };
        let any = |a: &PlacedFolder| other.folders.iter().any(|b| is_one(a, b));
        self.is_own_share || other.is_own_share || self.folders.iter().any(any)
    }

    /// Returns whether a path beneath this folder is, or shows, what another folder has or shows.
    #[must_use]
    pub fn is_beneath(&self, below: &Path, other: &StoragePlace) -> bool {
        let shows = |it: &PlacedFolder| {
            let path = it.path.join(below);
            let has =
                |of: &PlacedFolder| it.file_system == of.file_system && is_within(&path, &of.path);
            other.folders.iter().any(has)
        };
        self.folders.iter().any(shows)
    }

    /// Returns whether both are one file system as it is mounted, so that device and inode tell
    /// their files apart.
    #[must_use]
    pub fn is_one_mount(&self, other: &StoragePlace) -> bool {
        let mounted = |place: &StoragePlace| {
            let own = place.folders.first()?;
            Some((own.file_system.clone(), own.mounted_as.clone()))
        };
        mounted(self).is_some_and(|own| mounted(other) == Some(own))
    }

    /// Returns whether the file systems have one identifier: a clone, or two ways to one disk.
    #[must_use]
    pub fn has_uuid_of(&self, other: &StoragePlace) -> bool {
        self.uuid.is_some() && self.uuid == other.uuid
    }
}

/// Returns whether a folder of a file system may have a path. A root of unknown place may have any.
fn is_within(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder) || (path.is_absolute() && folder.is_relative())
}

/// Follows a folder down to the devices that it lies on.
///
/// # Errors
/// The error of the system for the folder. What the system does not tell is absent.
pub fn storage_place(folder: &Path) -> io::Result<StoragePlace> {
    platform::storage_place(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folders: &[(&str, &str, &str, bool)]) -> StoragePlace {
        let folders = folders.iter().map(|&(file_system, mounted_as, path, is_own)| {
            let (file_system, mounted_as) = (file_system.to_owned(), mounted_as.to_owned());
            PlacedFolder { file_system, mounted_as, path: path.into(), is_own }
        });
        StoragePlace { folders: folders.collect(), ..StoragePlace::default() }
    }

    #[test]
    fn what_shows_another_folder_shares_its_files() {
        let own = |path| place(&[("sda+0", "sda", path, true)]);
        let view = place(&[("2b", "2b", "/card", true), ("sda+0", "sda", "/photos/card", false)]);
        for (folder, shares) in
            [("/photos/card", true), ("/photos", true), ("/photos/card/in", true), ("/phot", false)]
        {
            assert_eq!(view.shares_files(&own(folder)), shares, "{folder}");
            assert_eq!(own(folder).shares_files(&view), shares, "{folder}");
        }
        assert!(own("/").is_beneath(Path::new("photos/card/x"), &view));
        assert!(view.is_beneath(Path::new("x"), &own("/photos/card")));
        assert!(!own("/").is_beneath(Path::new("photos/x"), &view));
        assert!(own("/photos/card/in").is_beneath(Path::new(""), &view));
        assert!(!own("/a").shares_files(&own("/a")), "inodes tell these apart");
        let again = place(&[("sda+0", "loop1", "/b", true)]);
        assert!(again.shares_files(&own("/a")), "one file system by two devices");
        assert!(!again.is_one_mount(&own("/a")) && own("/b").is_one_mount(&own("/a")));
        let shown = |path| place(&[("sda+0", "sda", path, false)]);
        assert!(!own("root/a").is_beneath(Path::new(""), &own("root/b")), "both in one root");
        assert!(own("root/a/b").is_beneath(Path::new("x"), &own("root/a")));
        assert!(!own("root/a").shares_files(&shown("root/b")) && own("a").shares_files(&shown("")));
        assert!(own("/a").is_beneath(Path::new(""), &own("a")), "that root may have it");
        assert!(own("/a").shares_files(&shown("a")) && own("a").shares_files(&shown("/a")));
        let share = StoragePlace { is_own_share: true, ..place(&[("30", "30", "/", true)]) };
        assert!(share.shares_files(&own("/a")) && own("/a").shares_files(&share));
    }
}
