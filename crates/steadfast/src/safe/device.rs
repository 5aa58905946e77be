//! The device that a place is on, and how far a reading of it proves what is on the medium.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use steadfast_sys::cache;
use steadfast_sys::file::{File, Status};
use steadfast_sys::storage::disks;
use strum::IntoStaticStr;

use crate::catalogue::keeps_inodes;
use crate::read::direct::Direct;
use crate::read::{Engine as _, Origin};

/// File systems whose contents come from a server, which may answer from its memory, or from
/// another program.
const SERVERS: [&str; 12] = [
    "nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "webdav", "9p", "ceph", "afs",
    "virtiofs",
];

/// File systems in memory, or on top of others. Of an empty file nothing is read that would
/// show it.
const NOT_ON_A_MEDIUM: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "overlay"];

/// What a reading of a copy proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Grade {
    /// The bytes came from the medium.
    Medium,
    /// They came from a server or another program, past the cache of this machine.
    Server,
    /// They may have come from a cache.
    Cache,
}

impl Grade {
    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Whether two places are on different devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Apartness {
    /// They share no device.
    Apart,
    /// The system does not tell.
    Untold,
    /// They share one.
    Same,
}

/// The device of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The number of its volume, while that is mounted.
    number: u64,
    names: BTreeSet<String>,
    are_real: bool,
    is_cached: bool,
    is_server: bool,
    keeps_inodes: bool,
}

impl Device {
    /// Returns the device that a folder is on.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn of(folder: &Path) -> io::Result<Device> {
        let file = File::open(folder)?;
        let name = file.file_system()?.name;
        let disks = disks(folder)?;
        Ok(Device {
            number: file.status()?.device,
            names: disks.names,
            are_real: disks.are_real,
            is_cached: disks.are_cached || NOT_ON_A_MEDIUM.contains(&&*name),
            is_server: SERVERS.contains(&&*name) || name.starts_with("fuse"),
            keeps_inodes: keeps_inodes(&name),
        })
    }

    #[cfg(test)]
    pub(super) fn real(number: u64, names: &[&str]) -> Device {
        Device { are_real: true, ..Device::untold(number, names) }
    }

    #[cfg(test)]
    pub(super) fn untold(number: u64, names: &[&str]) -> Device {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Device {
            number,
            names,
            are_real: false,
            is_cached: false,
            is_server: false,
            keeps_inodes: true,
        }
    }

    /// Returns whether a place on this device is apart from one on another.
    pub fn apartness(&self, other: &Device) -> Apartness {
        match self.number == other.number || !self.names.is_disjoint(&other.names) {
            true => Apartness::Same,
            false if self.are_real && other.are_real => Apartness::Apart,
            false => Apartness::Untold,
        }
    }

    /// Returns what is known of the device of a file on the volume of this number, whose folder is
    /// on this device: if that is another volume, no more than that.
    pub(super) fn of_volume(self, number: u64) -> Device {
        Device { number, are_real: self.are_real && self.number == number, ..self }
    }

    /// Returns whether files there keep their inodes.
    pub(crate) fn keeps_inodes(&self) -> bool {
        self.keeps_inodes
    }

    /// Returns whether files there have a change time that only a change sets.
    pub(super) fn keeps_change_times(&self) -> bool {
        self.keeps_inodes && !self.is_server
    }

    /// Returns the names of the devices, for a report.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns what a reading proves that came from `origin`.
    pub(crate) fn grade(&self, origin: Origin) -> Grade {
        match origin {
            _ if self.is_cached => Grade::Cache,
            _ if self.is_server => Grade::Server,
            Origin::Media => Grade::Medium,
            Origin::Cache => Grade::Cache,
        }
    }
}

/// A file that is prepared to be read past the cache.
pub(crate) struct UncachedFile<'a> {
    file: &'a File,
    status: Status,
    prepared: Origin,
    is_uncached: bool,
}

impl UncachedFile<'_> {
    /// Drops what is cached of a file, and prepares to read it past the cache.
    pub(crate) fn prepare(file: &File) -> io::Result<UncachedFile<'_>> {
        let _ = cache::drop_cached(file);
        let status = file.status()?;
        let prepared = Direct.prepare(file, &status)?;
        // Servers do not tell, but what is not in the cache did not come from there.
        let is_uncached = cache::cached_bytes(file, status.length).is_ok_and(|bytes| bytes == 0);
        Ok(UncachedFile { file, status, prepared, is_uncached })
    }

    /// Returns where the bytes came from, after the whole file was read.
    pub(crate) fn origin(&self) -> Origin {
        Direct.confirm(self.file, &self.status, self.prepared)
    }

    /// Returns what reading the whole file proved.
    pub(crate) fn grade(&self, device: &Device) -> Grade {
        if self.status.length == 0 {
            return device.grade(Origin::Media);
        }
        match device.grade(self.origin()) {
            Grade::Server if !self.is_uncached => Grade::Cache,
            grade => grade,
        }
    }
}
