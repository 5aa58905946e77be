//! Other processes: plans the changes that lower a process to a level, makes them, and reverts
//! them.
//!
//! Nothing is raised except by reverting a change. The caller keeps the changes.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::io;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;

use super::Level;

/// A process. Its start distinguishes it from a later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub number: u32,
    /// When it started, by the system, without blanks.
    pub started: String,
}

/// A thread of a process. Its start distinguishes it from a later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadIdentity {
    /// Its number.
    pub number: u32,
    /// When it started, as the system tells it, without blanks.
    pub started: String,
}

/// A setting of a thread: its new value and its old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadChange {
    /// The thread.
    pub thread: ThreadIdentity,
    /// The name of the setting.
    pub what: String,
    /// The old value, without blanks.
    pub before: String,
    /// The new value, without blanks.
    pub after: String,
}

/// The changes that lower a process with these threads.
#[derive(Clone, Debug, Default)]
pub struct LoweringPlan {
    /// The changes, thread by thread.
    pub changes: Vec<ThreadChange>,
    /// The threads that were examined.
    pub seen: Vec<ThreadIdentity>,
    /// What stays unchanged, and why.
    pub left_alone: Vec<String>,
}

/// What a thread has used of the processors until a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadTimes {
    /// Its number.
    pub number: u32,
    /// Processor time, in nanoseconds.
    pub cpu_ns: u64,
    /// How long it was ready to run and waited for a processor, in nanoseconds.
    pub queued_ns: u64,
    /// The processor that it was on last.
    pub processor: usize,
}

/// The outcome of reverting a change.
#[derive(Debug)]
pub enum Reverted {
    /// The setting has its old value.
    Done,
    /// Somebody changed the setting since. It stays unchanged; this is its value.
    Otherwise(String),
    /// The thread has ended.
    Gone,
}

impl Process {
    /// Finds the process of a number.
    ///
    /// # Errors
    /// If there is none, or it is a thread of the kernel.
    pub fn find(number: u32) -> io::Result<Process> {
        platform::find(number)
    }

    /// Returns the level that comes closest to the settings of its most urgent thread.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn level(&self) -> io::Result<Level> {
        platform::level(self)
    }

    /// Returns what each of its threads has used until now.
    ///
    /// # Errors
    /// If it has ended, or the system does not tell.
    pub fn times(&self) -> io::Result<Vec<ThreadTimes>> {
        platform::times(self)
    }

    /// Plans the changes after which no thread is above a level. Settings below the level stay.
    /// With `slower`, threads are confined to these processors.
    ///
    /// # Errors
    /// If the system does not tell, or has no such level for processes.
    pub fn plan(&self, level: Level, slower: Option<&[usize]>) -> io::Result<LoweringPlan> {
        platform::plan(self, level, slower)
    }

    /// Makes a change.
    ///
    /// # Errors
    /// If the thread has ended, or the system refuses.
    pub fn change(&self, change: &ThreadChange) -> io::Result<()> {
        platform::change(self, change)
    }

    /// Reverts a change, if the setting still has the new value.
    ///
    /// # Errors
    /// If the system refuses, or the change is not valid.
    pub fn revert(&self, change: &ThreadChange) -> io::Result<Reverted> {
        platform::revert(self, change)
    }

    /// Finds the changed settings that newer threads inherited, as changes to revert. They follow
    /// from the changes of the first thread. `seen` are the threads at the time of the changes.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn inherited(
        &self,
        changes: &[ThreadChange],
        seen: &[ThreadIdentity],
    ) -> io::Result<Vec<ThreadChange>> {
        platform::inherited(self, changes, seen)
    }
}

impl ThreadChange {
    /// Describes the new value, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        platform::describe(&self.what, &self.after)
    }

    /// Describes the old value, for people.
    #[must_use]
    pub fn describe_before(&self) -> String {
        platform::describe(&self.what, &self.before)
    }

    /// Says whether the system lets anybody make it, and only root take it back: Linux of the
    /// scheduling class and the nice value.
    #[must_use]
    pub fn needs_root_to_reset(&self) -> bool {
        cfg!(target_os = "linux") && matches!(self.what.as_str(), "class" | "nice")
    }
}
