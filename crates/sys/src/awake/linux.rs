//! Sleep on Linux: not prevented.

use std::io;

/// A lock that cannot be made.
#[derive(Debug)]
pub(super) enum SleepLock {}

impl SleepLock {
    /// Refuses: servers do not sleep, and desktops have their own ways.
    pub(super) fn new() -> io::Result<Self> {
        let reason = "Linux desktops differ in how they are kept awake";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }
}
