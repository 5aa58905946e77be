//! Groups of processes that share the processors as one: nothing in, which group this process is
//! in out.
//!
//! Within a group, scheduling classes and nice values say who goes first; between groups they say
//! nothing. Linux groups by control group, and else by session: the lowest thread of one terminal
//! then gets as much as the busiest of another. A session of its own can be told to have less. It
//! does not know what the process is for.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::io;
use std::path::Path;
use std::process::Child;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;

use super::{Level, Step};

/// What this process shares the processors with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Nothing: each thread is for itself.
    Threads,
    /// A session, of this nice value.
    Session {
        /// -20 to 19.
        nice: i32,
    },
    /// A control group.
    ControlGroup {
        /// Its name.
        name: String,
        /// Its share against its siblings', usually 100.
        weight: Option<u64>,
        /// Whether it only runs when no sibling wants to.
        idle: bool,
    },
}

/// Returns what this process shares the processors with, as the files beneath `root` in place of
/// `/` tell.
#[must_use]
pub fn grouping(root: &Path) -> Grouping {
    platform::grouping(root)
}

/// Makes a session that this process leads, and gives that the level's share of the processors.
/// From then on the process has no terminal to be signalled from. To be called where
/// [`grouping`] is by session, by a process that leads no group of processes.
pub fn lead(level: Level) -> Vec<Step> {
    platform::lead(level)
}

/// Asks for a signal to end this process when its parent ends. Returns whether there still is one.
pub fn end_with_parent(parent: u32) -> bool {
    platform::end_with_parent(parent)
}

/// A child that is sent the signals that this process gets.
#[derive(Debug)]
pub struct SignalledChild(platform::ChildHandle);

impl SignalledChild {
    /// Takes a child that was not waited for yet.
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
