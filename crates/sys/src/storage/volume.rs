//! The volume of a folder: file system, devices, connection and encryption, as far as the system
//! tells.
//!
//! The facts are for records, so they name no person, network or path. The one exception is the
//! file of a loop device, which measurements drop from the page cache.

#[cfg_attr(target_os = "linux", path = "volume/linux.rs")]
#[cfg_attr(target_os = "macos", path = "volume/macos.rs")]
mod platform;

use std::io;
use std::path::{Path, PathBuf};

/// The volume of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// The name that the system gives the file system.
    pub file_system: String,
    /// The mount options, without those that contain names, addresses or paths.
    pub options: Option<String>,
    /// Whether the file system itself encrypts the folder; `None` if it does not tell.
    pub enciphered: Option<bool>,
    /// Bytes that this process may still write.
    pub free_bytes: u64,
    /// Size in bytes.
    pub total_bytes: u64,
    /// The devices beneath, from the mounted one to the lowest. Empty for network and FUSE file
    /// systems.
    pub layers: Vec<Layer>,
}

/// A device beneath a file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The name that the system gives it: `nvme0n1`.
    pub name: String,
    /// The model, by its maker.
    pub model: Option<String>,
    /// Its encryption, as device-mapper names it: `LUKS2`, `PLAIN`.
    pub cipher: Option<String>,
    /// How it is connected.
    pub link: Option<Link>,
    /// For a loop device: its file, and whether it reads the file past the page cache.
    pub backing: Option<(PathBuf, bool)>,
    /// Whether the device is virtual: a loop device, a map, or a disk of a virtual machine.
    pub made_up: bool,
}

/// A connection, with the speed that both ends agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its usual name: `PCIe 16.0 GT/s x4`, `USB 10000 Mb/s`, `SATA 6.0 Gb/s`.
    pub name: String,
    /// The most bytes per second: its bit rate without the bits of its line code.
    pub bytes_per_s_max: u64,
}

/// Returns the volume of a folder.
///
/// # Errors
/// The error of the system for the folder. Facts that the system does not tell are absent.
pub fn volume(folder: &Path) -> io::Result<Volume> {
    platform::volume(folder)
}
