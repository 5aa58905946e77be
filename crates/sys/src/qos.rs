//! Quality of service: asks the system for a level, and reports each step with its outcome.
//!
//! A failed step is not fatal. How many workers a level has is decided elsewhere.

pub mod devices;
pub mod process;
pub mod session;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::io;
use std::path::Path;
use std::str::FromStr;

use strum::{Display, IntoStaticStr, VariantArray};

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;

/// How urgent the work of a thread is. The numbers are those of macOS.
#[derive(Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Maintenance that nobody waits for.
    Background = 9,
    /// Work whose progress somebody may check from time to time.
    Utility = 17,
    /// The level that the system gives by default.
    #[default]
    Default = 21,
    /// Work that somebody waits for.
    UserInitiated = 25,
    /// Work that somebody watches.
    UserInteractive = 33,
}

impl Level {
    /// Every level, least urgent first.
    pub const ALL: [Self; 5] = *Self::VARIANTS.as_array().expect("there are five levels");

    /// Returns the level's number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the level's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromStr for Level {
    type Err = ParseLevelError;

    /// Reads a level by its name or its number.
    fn from_str(text: &str) -> Result<Self, ParseLevelError> {
        let named = Self::ALL
            .into_iter()
            .find(|level| level.name() == text || level.number().to_string() == text);
        named.ok_or(ParseLevelError(()))
    }
}

/// A text that names no level. The message lists the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such QoS level, there are: {}", all_levels())]
pub struct ParseLevelError(());

fn all_levels() -> String {
    Level::ALL.map(|level| format!("{level} ({})", level.number())).join(", ")
}

/// One request to the system for a level, and its outcome.
#[derive(Debug)]
pub struct Step {
    /// What was requested.
    pub what: String,
    /// Whether the system did it.
    pub result: io::Result<()>,
}

/// One fact about a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its name, in a word.
    pub what: &'static str,
    /// Its value.
    pub value: String,
}

/// Asks the system to run the calling thread at a level and returns every step taken.
///
/// A step succeeds only if the system afterwards reports the new value. [`Level::Default`] takes no
/// step: the thread stays as it is, and an earlier level stays in force. Lowering needs no
/// privilege. Raising is often refused, and so may be returning from a lower level.
///
/// Linux: scheduling class, nice value, I/O priority and utilisation of the thread. The I/O
/// priority has an effect only if the scheduler of the device honours it ([`devices`]). macOS: the
/// QoS class of the thread, which covers everything.
pub fn apply_to_thread(level: Level) -> Vec<Step> {
    platform::apply_to_thread(level)
}

/// Asks for a level that survives `exec`, and returns every step taken. Call it while the process
/// has one thread.
///
/// Linux: as [`apply_to_thread`]. macOS: of the lower levels `background`, and `utility` if the
/// program is then started by [`launcher`].
pub fn apply_for_exec(level: Level) -> Vec<Step> {
    platform::apply_for_exec(level)
}

/// Returns the command by which a program must be started to have a level, program and arguments;
/// empty if it is started as it is. Its own arguments come after these.
#[must_use]
pub fn launcher(level: Level) -> &'static [&'static str] {
    platform::launcher(level)
}

/// Confines the calling thread to these processors, as far as it may use them.
pub fn confine_thread(cpus: &[usize]) -> Step {
    platform::confine_thread(cpus)
}

/// Returns the facts about the calling thread.
#[must_use]
pub fn thread_facts() -> Vec<Fact> {
    platform::thread_facts()
}

/// Returns what a level asks for and the calling thread does not have, in words.
#[must_use]
pub fn lacking(level: Level) -> Vec<String> {
    platform::lacking(level)
}

/// Returns whether the kernel has utilisation clamps, by the files beneath `root` in place of `/`;
/// `None` on systems other than Linux.
#[must_use]
pub fn has_uclamp(root: &Path) -> Option<bool> {
    platform::has_uclamp(root)
}
