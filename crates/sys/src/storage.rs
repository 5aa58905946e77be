//! Storage: the kind of medium of a device, the volume of a folder, and where a folder lies.

#[cfg_attr(target_os = "linux", path = "storage/linux.rs")]
#[cfg_attr(target_os = "macos", path = "storage/macos.rs")]
mod platform;
mod place;
mod tree;
mod volume;

pub use place::{PlacedFolder, StoragePlace, storage_place};
pub use tree::{bytes_in_tree, is_in_tree};
pub use volume::{Layer, Link, Volume, volume};

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
