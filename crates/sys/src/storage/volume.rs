//! What holds a folder: a path in; file system, devices, link and encryption out, as far as the
//! system tells.
//!
//! For a record: nothing here names a person, a network or a path, but for the file that a loop
//! device shows, which is for whoever wants it out of the page cache. It judges nothing.

#[cfg_attr(target_os = "linux", path = "volume/linux.rs")]
#[cfg_attr(target_os = "macos", path = "volume/macos.rs")]
mod platform;

use std::io;
use std::path::{Path, PathBuf};

/// What holds a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// The file system by the system's name for it.
    pub file_system: String,
    /// Options it is mounted with, without those that hold names, addresses or paths.
    pub options: Option<String>,
    /// Whether the file system itself enciphers the folder; `None` where it does not tell.
    pub enciphered: Option<bool>,
    /// Bytes that this process may still write.
    pub free_bytes: u64,
    /// Size in bytes.
    pub total_bytes: u64,
    /// The devices beneath, from the one that is mounted to the lowest. None for networks and FUSE.
    pub layers: Vec<Layer>,
}

/// A device beneath a file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The system's name for it: `nvme0n1`.
    pub name: String,
    /// Its maker's name for it.
    pub model: Option<String>,
    /// What it enciphers, as device-mapper names it: `LUKS2`, `PLAIN`.
    pub cipher: Option<String>,
    /// How it is connected.
    pub link: Option<Link>,
    /// The file it shows, if it is a loop device, and whether it goes past the page cache for it.
    pub backing: Option<(PathBuf, bool)>,
    /// Whether the kernel made it up: a loop, a map, a disk of a virtual machine.
    pub made_up: bool,
}

/// A connection, as fast as both ends agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// As people call it: `PCIe 16.0 GT/s x4`, `USB 10000 Mb/s`, `SATA 6.0 Gb/s`.
    pub name: String,
    /// Bytes per second that it cannot exceed: its bits less those of its line code.
    pub bytes_per_s_max: u64,
}

/// Looks at what holds a folder.
///
/// # Errors
/// Whatever the system says of the folder. What it merely does not tell is absent.
pub fn volume(folder: &Path) -> io::Result<Volume> {
    platform::volume(folder)
}
