//! Sleep on macOS: the system's own `caffeinate`, so that no framework is linked for one call.

use std::io;
use std::process::{Child, Command, Stdio};

/// A running `caffeinate`.
#[derive(Debug)]
pub(super) struct SleepLock(Child);

impl SleepLock {
    /// Starts it: against idle sleep of the machine (`-i`) and of disks (`-m`), until this process
    /// ends (`-w`).
    pub(super) fn new() -> io::Result<Self> {
        let this = std::process::id().to_string();
        let child = Command::new("/usr/bin/caffeinate")
            .args(["-i", "-m", "-w", &this])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }
}

impl Drop for SleepLock {
    fn drop(&mut self) {
        // If it has ended already, there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
