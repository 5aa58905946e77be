//! Other processes: a number and a level in, the changes that lower it out, each of which can be
//! made and taken back.
//!
//! Nothing is raised here but what a change of ours lowered. It keeps nothing: who wants to take
//! changes back keeps them.

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

/// A process, told from a later one of the same number by when it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub number: u32,
    /// When it started, as the system tells it, without blanks.
    pub started: String,
}

/// A thread of a process, likewise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadIdentity {
    /// Its number.
    pub number: u32,
    /// When it started, as the system tells it, without blanks.
    pub started: String,
}

/// One thing that one thread is to have, and what it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadChange {
    /// Whose it is.
    pub thread: ThreadIdentity,
    /// The name of what changes.
    pub what: String,
    /// What it was, without blanks.
    pub before: String,
    /// What it is to be, without blanks.
    pub after: String,
}

/// What lowering a process takes, as long as it has these threads.
#[derive(Clone, Debug, Default)]
pub struct LoweringPlan {
    /// The changes, thread by thread.
    pub changes: Vec<ThreadChange>,
    /// The threads that were looked at.
    pub seen: Vec<ThreadIdentity>,
    /// What is left as it is, and why.
    pub left_alone: Vec<String>,
}

/// What became of a change that was to be taken back.
#[derive(Debug)]
pub enum Reverted {
    /// It is as it was before.
    Done,
    /// Somebody changed it since: it is left as it is, which is said here.
    Otherwise(String),
    /// The thread is no more.
    Gone,
}

impl Process {
    /// Finds the process of a number.
    ///
    /// # Errors
    /// If there is none, or it is the kernel's own.
    pub fn find(number: u32) -> io::Result<Process> {
        platform::find(number)
    }

    /// Returns the level of its most urgent thread, as far as what it has makes a level.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn level(&self) -> io::Result<Level> {
        platform::level(self)
    }

    /// Says what has to change for no thread to be above a level. Threads below it, and what of a
    /// thread is below it, stay. With `slower`, threads are confined to those of the processors.
    ///
    /// # Errors
    /// If the system does not tell, or has no such level for processes.
    pub fn plan(&self, level: Level, slower: Option<&[usize]>) -> io::Result<LoweringPlan> {
        platform::plan(self, level, slower)
    }

    /// Makes a change.
    ///
    /// # Errors
    /// If the thread is no more, or the system refuses.
    pub fn change(&self, change: &ThreadChange) -> io::Result<()> {
        platform::change(self, change)
    }

    /// Takes a change back, if it still stands.
    ///
    /// # Errors
    /// If the system refuses, or the change is none.
    pub fn revert(&self, change: &ThreadChange) -> io::Result<Reverted> {
        platform::revert(self, change)
    }

    /// Finds what threads have inherited that began after changes were made: the changes to take
    /// back there, in terms of those of the first thread. `seen` are the threads of that time.
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
    /// Says what it makes of the thread, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        platform::describe(&self.what, &self.after)
    }

    /// Says what it makes of the thread when it is taken back, for people.
    #[must_use]
    pub fn describe_before(&self) -> String {
        platform::describe(&self.what, &self.before)
    }

    /// Says whether the system lets anybody make it, and only root take it back: Linux of the
    /// scheduling class and the nice value.
    #[must_use]
    pub fn is_taken_back_by_root(&self) -> bool {
        cfg!(target_os = "linux") && matches!(self.what.as_str(), "class" | "nice")
    }
}
