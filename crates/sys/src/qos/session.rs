//! Groups of processes among which Linux divides the processors.
//!
//! Scheduling classes and nice values have an effect within a group only. Linux groups by control
//! group, otherwise by session: the lowest thread of one terminal then gets as much as the busiest
//! thread of another. A session of its own can be given less.

#[cfg_attr(target_os = "linux", path = "session/linux.rs")]
#[cfg_attr(target_os = "macos", path = "session/macos.rs")]
pub(super) mod platform;

use std::io;
use std::path::Path;
use std::process::Child;

use super::{Level, Step};

/// The group of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// None: each thread counts by itself.
    Threads,
    /// A session with this nice value.
    Session {
        /// -20 to 19.
        nice: i32,
    },
    /// A control group.
    ControlGroup {
        /// Its name.
        name: String,
        /// Its share relative to its siblings, usually 100.
        weight: Option<u64>,
        /// Whether it runs only when no sibling does.
        idle: bool,
    },
}

/// Returns the group of this process, by the files beneath `root` in place of `/`.
#[must_use]
pub fn grouping(root: &Path) -> Grouping {
    platform::grouping(root)
}

/// Makes a session that this process leads, and gives it the share of the level. Afterwards the
/// process gets no signals from a terminal. Call it where [`grouping`] is by session, in a process
/// that leads no process group.
pub fn lead(level: Level) -> Vec<Step> {
    platform::lead(level)
}

/// Asks for a signal that ends this process when its parent ends. Returns whether the parent still
/// runs.
pub fn end_with_parent(parent: u32) -> bool {
    platform::end_with_parent(parent)
}

/// A child process to which signals are forwarded.
#[derive(Debug)]
pub struct SignalledChild(platform::ChildHandle);

impl SignalledChild {
    /// Takes a child that was not waited for.
    ///
    /// # Errors
    /// If the system has no such handles: Linux before 5.3, macOS.
    pub fn of(child: &Child) -> io::Result<SignalledChild> {
        platform::ChildHandle::of(child).map(SignalledChild)
    }

    /// Sends it a signal of this number.
    ///
    /// # Errors
    /// If it has ended, or there is no such signal.
    pub fn send(&self, signal: i32) -> io::Result<()> {
        self.0.send(signal)
    }
}
