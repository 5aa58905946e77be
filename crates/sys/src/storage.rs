//! What a file system lies on: a device's number in, the kind of medium out; a folder in, what
//! holds it out.

#[cfg_attr(target_os = "linux", path = "storage/linux.rs")]
#[cfg_attr(target_os = "macos", path = "storage/macos.rs")]
mod platform;
mod volume;

pub use volume::{Layer, Link, Volume, volume};

/// What moves when bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Platters and a head: reads in order are cheap, others cost milliseconds each.
    Rotating,
    /// Nothing.
    Solid,
    /// The system does not say, or is known to say so of whatever it has.
    Unknown,
}

/// Returns the medium beneath a device, as in `Status::device`.
#[must_use]
pub fn medium(device: u64) -> Medium {
    platform::medium(device)
}
