//! Quality of service: a level in, what the system made of it out.
//!
//! Every step is reported with its outcome and none is fatal. It does not know what the thread is
//! for, nor how many workers go with a level: that is policy, kept elsewhere.

pub mod devices;
pub mod process;
pub mod session;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;

/// Names how urgent a thread's work is; the numbers are those macOS gives the levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Maintenance nobody waits for.
    Background = 9,
    /// Work whose progress someone may look at now and then.
    Utility = 17,
    /// What the system does unasked.
    #[default]
    Default = 21,
    /// Work someone waits for.
    UserInitiated = 25,
    /// Work someone watches happen.
    UserInteractive = 33,
}

impl Level {
    /// Every level, least urgent first.
    pub const ALL: [Self; 5] = [
        Self::Background,
        Self::Utility,
        Self::Default,
        Self::UserInitiated,
        Self::UserInteractive,
    ];

    /// Returns the level's number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the level's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Background => "background",
            Self::Utility => "utility",
            Self::Default => "default",
            Self::UserInitiated => "user-initiated",
            Self::UserInteractive => "user-interactive",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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

/// Says that a text names no level, and which ones there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such QoS level, there are: {}", all_levels())]
pub struct ParseLevelError(());

fn all_levels() -> String {
    Level::ALL.map(|level| format!("{level} ({})", level.number())).join(", ")
}

/// Holds one thing that was asked of the system for a level, and its answer.
#[derive(Debug)]
pub struct Step {
    /// What was asked for.
    pub what: String,
    /// Whether the system did it.
    pub result: io::Result<()>,
}

/// Holds one thing that the system says of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is of, in a word.
    pub what: &'static str,
    /// What it is.
    pub value: String,
}

/// Asks the system to run the calling thread at a level and returns every step taken.
///
/// A step is done only if the system afterwards says the same. [`Level::Default`] takes none: it
/// leaves the thread as it is and takes back no other level. Lowering needs no privilege; raising
/// is often refused, and coming back from a lower level may be too.
///
/// Linux: scheduling class, nice value, I/O priority and utilisation of the thread; the I/O
/// priority only counts where the device's scheduler honours it ([`devices`]). macOS: the thread's
/// QoS class, which covers all.
pub fn apply_to_thread(level: Level) -> Vec<Step> {
    platform::apply_to_thread(level)
}

/// Asks for a level in such a way that a program has it which this process becomes by `exec`, and
/// returns every step taken. To be called from the only thread.
///
/// Linux: as [`apply_to_thread`]. macOS: of the lower levels `background` only.
pub fn apply_for_exec(level: Level) -> Vec<Step> {
    platform::apply_for_exec(level)
}

/// Confines the calling thread to those of the processors that it may use.
pub fn confine_thread(cpus: &[usize]) -> Step {
    platform::confine_thread(cpus)
}

/// Returns what the system says of the calling thread.
#[must_use]
pub fn thread_facts() -> Vec<Fact> {
    platform::thread_facts()
}

/// Returns whether the kernel can be told how much use of a processor a thread is worth, as the
/// files beneath `root` in place of `/` say; `None` where there is no such thing.
#[must_use]
pub fn has_uclamp(root: &Path) -> Option<bool> {
    platform::has_uclamp(root)
}
