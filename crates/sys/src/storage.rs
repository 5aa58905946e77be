//! Storage: the kind of medium of a device, and the volume of a folder.

#[cfg_attr(target_os = "linux", path = "storage/linux.rs")]
#[cfg_attr(target_os = "macos", path = "storage/macos.rs")]
mod platform;
mod volume;

pub use volume::{Disks, Layer, Link, Volume, disks, volume};

/// The kind of medium of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// A disk that rotates: reads out of order cost milliseconds each.
    Rotating,
    /// A medium without moving parts.
    Solid,
    /// The system does not tell, or is known to say the same of every device.
    Unknown,
}

/// Returns the medium beneath a device, as in `Status::device`.
#[must_use]
pub fn medium(device: u64) -> Medium {
    platform::medium(device)
}
