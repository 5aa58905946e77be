//! What stores a folder, and how to empty the caches of its files.
//!
//! [`Place`] is for the record. [`Site`] empties the caches of a file and proves it. Facts that the
//! system does not tell are unknown. Writes nothing.

use std::fs;
use std::io;
use std::path::Path;

use steadfast_sys::cache::{cached_bytes, drop_cached};
use steadfast_sys::file::{File, FileKind, Status};
use steadfast_sys::storage::{self, Layer, Medium, Volume};

use crate::error::Error;
use crate::record::Place;

/// File systems that keep everything in memory.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];

/// File systems on other machines.
const OF_NETWORKS: [&str; 8] = ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "smbfs", "afpfs"];

/// FUSE file systems that encrypt.
const ENCIPHERING: [&str; 4] = ["fuse.gocryptfs", "fuse.encfs", "fuse.cryfs", "fuse.securefs"];

/// FUSE file systems on other machines. Whether their connection is encrypted depends on options
/// that the system does not show.
const REACHING: [&str; 3] = ["fuse.sshfs", "fuse.rclone", "fuse.smbnetfs"];

/// How deep loop devices on files of loop devices are followed.
const DEPTH_MAX: usize = 4;

/// A folder, and how to read its files from the storage and not from memory.
#[derive(Debug)]
pub struct Site {
    /// The facts for the record.
    pub place: Place,
    /// Whether its files are stored on this machine.
    pub is_local: bool,
    /// Whether a FUSE program, another machine or ZFS stores its files or the files beneath. Their
    /// caches cannot be emptied here.
    is_behind_memory: bool,
    warnings: Vec<String>,
    /// The files of loop devices, which have their own pages in memory.
    beneath: Vec<File>,
}

/// Returns the facts about a folder.
///
/// # Errors
/// As [`Site::examine`].
pub fn examine(folder: &Path) -> Result<Place, Error> {
    Ok(Site::examine(folder)?.place)
}

impl Site {
    /// Examines a folder.
    ///
    /// # Errors
    /// If it is not a folder, or cannot be examined. A symlink is refused, because a record must
    /// name the measured folder.
    pub fn examine(folder: &Path) -> Result<Site, Error> {
        // Without this, the symlinks `link/` and `link/.` would be followed.
        let folder = folder.components().as_path();
        let look = |doing: &str, error| Error::system(doing, error).at(folder);
        let status = Status::of_link(folder).map_err(|error| look("look at it", error))?;
        match status.kind {
            FileKind::Directory => {}
            FileKind::Symlink => {
                return Err(Error::usage("is a symlink: name the folder itself").at(folder));
            }
            _ => return Err(Error::usage("is not a folder").at(folder)),
        }
        let volume = storage::volume(folder).map_err(|error| look("look at its volume", error))?;
        let name = &*volume.file_system;
        let reaches = OF_NETWORKS.contains(&name) || REACHING.contains(&name);
        let mut site = Site {
            place: place(folder, &volume, status.device),
            is_local: !reaches,
            is_behind_memory: hides(name),
            warnings: Vec::new(),
            beneath: Vec::new(),
        };
        if IN_MEMORY.contains(&name) {
            site.warn("its files are in memory: this measures no storage");
        } else if reaches {
            site.warn("another machine keeps its files and may answer from its memory");
        } else if name.starts_with("fuse") {
            site.warn("a program keeps its files (FUSE) and may answer from its memory");
        }
        site.dig(&volume, 0);
        Ok(site)
    }

    /// Returns warnings about figures of this folder.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Drops a file from the page cache, and returns how many of its bytes are still in memory;
    /// `None` if that is not known, as on FUSE file systems and other machines. Also drops the
    /// files of loop devices.
    pub fn empty_caches(&self, file: &File, length: u64) -> Option<u64> {
        // If dropping fails, the count shows it.
        let _ = drop_cached(file);
        for beneath in &self.beneath {
            let _ = drop_cached(beneath);
        }
        let cached = cached_bytes(file, length).ok();
        cached.filter(|_| !self.is_behind_memory)
    }

    /// Records the alignment that direct reads of a file need here.
    pub fn note_alignment(&mut self, file: &File) {
        self.place.direct_alignment_bytes = match file.direct_alignment() {
            Ok(alignment) => Some(alignment.map_or(0, |alignment| alignment.offset)),
            Err(_) => None,
        };
    }

    fn warn(&mut self, warning: &str) {
        let warning = format!("`{}`: {warning}", self.place.path);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Follows loop devices to their files, and to the volumes of those.
    fn dig(&mut self, volume: &Volume, depth: usize) {
        let virtual_disk = |layer: &Layer| layer.made_up && layer.name.starts_with("vd");
        if volume.layers.iter().any(virtual_disk) {
            self.warn("a virtual disk: the host may answer from its memory");
        }
        for (path, direct) in volume.layers.iter().filter_map(|layer| layer.backing.as_ref()) {
            if !direct {
                match open_regular(path) {
                    Ok(file) => self.beneath.push(file),
                    Err(_) => self.warn("a loop device whose file has pages in memory: warm reads"),
                }
            }
            if depth >= DEPTH_MAX {
                continue;
            }
            // A FUSE file system may consist of this file only, mounted in a folder of another one.
            let holder = storage::volume(path).or_else(|error| match path.parent() {
                Some(parent) => storage::volume(parent),
                None => Err(error),
            });
            let Ok(holder) = holder else { continue };
            let is_hidden = hides(&holder.file_system);
            if is_hidden {
                self.is_behind_memory = true;
                self.warn("its device is a file that a program or another machine keeps");
            }
            let device = self.place.device.take().unwrap_or_default();
            let below = device_of(&holder).map_or(String::new(), |device| format!(" on {device}"));
            self.place.device = Some(format!("{device} on {}{below}", holder.file_system));
            self.place.encryption = match (&*self.place.encryption, encryption_of(&holder)) {
                ("none seen", None) if is_hidden => "unknown".to_owned(),
                (_, None) => self.place.encryption.clone(),
                ("none seen" | "unknown", Some(below)) => below,
                (above, Some(below)) => format!("{above} over {below}"),
            };
            if IN_MEMORY.contains(&&*holder.file_system) {
                self.place.medium = Some("memory".to_owned());
                self.warn("its device is a file in memory: this measures no storage");
            }
            self.dig(&holder, depth + 1);
        }
    }
}

fn open_regular(path: &Path) -> io::Result<File> {
    // The kernel appends a mark to the path of a deleted file. Another file may have that name.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    File::open(path)
}

fn place(folder: &Path, volume: &Volume, device: u64) -> Place {
    let link = volume.layers.iter().rev().find_map(|layer| layer.link.clone());
    let medium = match storage::medium(device) {
        Medium::Rotating => Some("rotating"),
        Medium::Solid => Some("solid"),
        Medium::Unknown if IN_MEMORY.contains(&&*volume.file_system) => Some("memory"),
        Medium::Unknown if volume.layers.last().is_some_and(|layer| layer.made_up) => {
            Some("virtual")
        }
        Medium::Unknown => None,
    };
    Place {
        path: folder.display().to_string(),
        file_system: volume.file_system.clone(),
        mount_options: volume.options.clone(),
        device: device_of(volume),
        medium: medium.map(str::to_owned),
        link_bytes_per_s_max: link.as_ref().map(|link| link.bytes_per_s_max),
        link: link.map(|link| link.name),
        encryption: encryption_of(volume).unwrap_or_else(|| unseen(volume)),
        direct_alignment_bytes: None,
        free_bytes: volume.free_bytes,
        total_bytes: volume.total_bytes,
    }
}

/// Lists the devices, the mounted one first.
fn device_of(volume: &Volume) -> Option<String> {
    let named = volume.layers.iter().map(|layer| match &layer.model {
        Some(model) => format!("{} ({model})", layer.name),
        None => layer.name.clone(),
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| named.join(" on "))
}

/// Lists the visible layers of encryption, the highest first.
fn encryption_of(volume: &Volume) -> Option<String> {
    let name = &*volume.file_system;
    let options = volume.options.as_deref().unwrap_or_default();
    let mut seen = Vec::new();
    if volume.enciphered == Some(true) {
        seen.push("fscrypt".to_owned());
    }
    if ENCIPHERING.contains(&name) || name == "ecryptfs" {
        seen.push(name.to_owned());
    }
    if options.split(',').any(|option| option == "seal") {
        seen.push(format!("{name} sealed"));
    }
    let ciphers = volume.layers.iter().filter_map(|layer| layer.cipher.as_ref());
    seen.extend(ciphers.map(|cipher| format!("dm-crypt {cipher}")));
    (!seen.is_empty()).then(|| seen.join(" over "))
}

/// Returns the text if no encryption is visible.
fn unseen(volume: &Volume) -> String {
    let name = &*volume.file_system;
    // On macOS nothing is known.
    let untold = volume.layers.is_empty() && !IN_MEMORY.contains(&name);
    if hides(name) || untold { "unknown" } else { "none seen" }.to_owned()
}

/// Returns whether a file system hides how it stores files and has its own cache: FUSE, other
/// machines, ZFS.
fn hides(name: &str) -> bool {
    name.starts_with("fuse") || OF_NETWORKS.contains(&name) || name == "zfs"
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use steadfast_sys::file::Dir;

    use super::*;

    fn volume(file_system: &str, layers: Vec<Layer>) -> Volume {
        Volume { file_system: file_system.to_owned(), layers, ..Volume::default() }
    }

    fn encryption(volume: &Volume) -> String {
        place(Path::new("/x"), volume, 0).encryption
    }

    #[test]
    fn nothing_is_proved_cold_behind_the_memory_of_others() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), [7; 5000]).unwrap();
        let file = Dir::open(folder.path()).unwrap().open_file(OsStr::new("file")).unwrap();
        let mut site = Site::examine(folder.path()).unwrap();
        site.is_behind_memory = false;
        assert!(site.empty_caches(&file, 5000).is_some());
        site.is_behind_memory = true;
        assert_eq!(site.empty_caches(&file, 5000), None);
    }

    #[test]
    fn encryption_is_what_can_be_seen_and_nothing_else() {
        let disk = || Layer { name: "sda".into(), ..Layer::default() };
        let luks = || Layer { name: "dm-0".into(), cipher: Some("LUKS2".into()), ..disk() };
        assert_eq!(encryption(&volume("ext4", vec![disk()])), "none seen");
        assert_eq!(encryption(&volume("ext4", vec![luks(), disk()])), "dm-crypt LUKS2");
        let both = Volume { enciphered: Some(true), ..volume("ext4", vec![luks(), disk()]) };
        assert_eq!(encryption(&both), "fscrypt over dm-crypt LUKS2");
        assert_eq!(encryption(&volume("fuse.gocryptfs", vec![])), "fuse.gocryptfs");
        assert_eq!(encryption(&volume("fuse.passthrough", vec![])), "unknown");
        assert_eq!(encryption(&volume("fuse.sshfs", vec![])), "unknown");
        assert_eq!(encryption(&volume("cifs", vec![])), "unknown");
        assert_eq!(encryption(&volume("apfs", vec![])), "unknown");
        let sealed = Volume { options: Some("rw,seal".into()), ..volume("cifs", vec![]) };
        assert_eq!(encryption(&sealed), "cifs sealed");
    }

    #[test]
    fn a_symlink_and_a_file_are_refused() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("link")).unwrap();
        fs::write(root.path().join("file"), "").unwrap();
        for name in ["link", "file"] {
            let error = examine(&root.path().join(name)).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage, "{error}");
        }
        assert!(examine(root.path()).unwrap().total_bytes > 0);
    }
}
