//! Block devices, their I/O schedulers, and whether those honour the I/O priority of a thread.
//!
//! In which order a device itself serves requests is not known.

use std::fs;
use std::path::Path;

use strum::IntoStaticStr;

/// Which part of an I/O priority a scheduler honours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Honours {
    /// Classes and the levels within them: bfq, cfq.
    ClassesAndLevels,
    /// Classes only, so that idle comes last: mq-deadline.
    Classes,
    /// Nothing: none, kyber, noop, deadline.
    Nothing,
    /// Not known: the scheduler is another one.
    Unknown,
}

impl Honours {
    /// Returns the name, as documents have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns what a scheduler of this name honours.
    ///
    /// Source: `Documentation/block/ioprio.rst` of Linux 5.14, from which on mq-deadline has
    /// queues for classes.
    #[must_use]
    pub fn of(scheduler: &str) -> Honours {
        match scheduler {
            "bfq" | "cfq" => Self::ClassesAndLevels,
            "mq-deadline" => Self::Classes,
            "none" | "kyber" | "noop" | "deadline" => Self::Nothing,
            _ => Self::Unknown,
        }
    }
}

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    /// Its name, as in `/dev`.
    pub name: String,
    /// The scheduler in use; `None` for devices that have none, as those of volumes.
    pub scheduler: Option<String>,
    /// Which part of an I/O priority it honours.
    pub honours: Honours,
}

/// Returns the block devices that are not empty, by name, from the files beneath `root` in place of
/// `/`. Empty if the system has no such files.
#[must_use]
pub fn block_devices(root: &Path) -> Vec<BlockDevice> {
    let Ok(entries) = fs::read_dir(root.join("sys/block")) else { return Vec::new() };
    let mut devices: Vec<BlockDevice> = entries
        .flatten()
        .filter_map(|entry| {
            let folder = entry.path();
            // Loop devices and card readers are listed although they hold nothing.
            let sectors = fs::read_to_string(folder.join("size")).ok()?;
            if sectors.trim() == "0" {
                return None;
            }
            let offered = fs::read_to_string(folder.join("queue/scheduler")).unwrap_or_default();
            let scheduler = in_use(&offered).map(str::to_owned);
            let honours = scheduler.as_deref().map_or(Honours::Nothing, Honours::of);
            let name = entry.file_name().to_string_lossy().into_owned();
            Some(BlockDevice { name, scheduler, honours })
        })
        .collect();
    devices.sort_by(|a, b| a.name.cmp(&b.name));
    devices
}

/// The scheduler in brackets, or the only one.
fn in_use(offered: &str) -> Option<&str> {
    let bracketed = |word: &&str| word.starts_with('[') && word.ends_with(']');
    let chosen = offered.split_whitespace().find(bracketed);
    let only = || Some(offered.trim()).filter(|one| !one.is_empty() && !one.contains(' '));
    chosen.map(|word| word.trim_matches(['[', ']'])).or_else(only)
}
