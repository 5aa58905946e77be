//! Keeps the machine from going to sleep by itself while something long goes on.

#[cfg_attr(target_os = "linux", path = "awake/linux.rs")]
#[cfg_attr(target_os = "macos", path = "awake/macos.rs")]
mod platform;

use std::io;

/// Keeps the machine awake until it is dropped, or the process ends.
///
/// Closing the lid, the menu and an empty battery still put the machine to sleep; the screen may go
/// dark.
#[derive(Debug)]
pub struct Wakefulness {
    _hold: platform::SleepLock,
}

impl Wakefulness {
    /// Keeps the machine from sleeping because nobody uses it.
    ///
    /// macOS: `caffeinate -i`, which ends with this process whatever becomes of it.
    ///
    /// # Errors
    /// `Unsupported` on Linux, where desktops differ in how they are asked; otherwise the error of
    /// the system.
    pub fn hold() -> io::Result<Self> {
        Ok(Self { _hold: platform::SleepLock::new()? })
    }
}
