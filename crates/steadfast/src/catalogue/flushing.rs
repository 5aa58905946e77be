//! When a run commits, and the volumes that it flushes before.
//!
//! Takes the times of the run and the directories of its files. Flushes the file systems on which
//! these are.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use steadfast_sys::file::Timestamp;

use super::error::DbError;
use crate::beneath;

/// Interval of commits in seconds. A loss of power loses at most this much.
const COMMIT_EVERY_S: u64 = 1;

/// The longest interval of commits in seconds, if flushing the volume is slow.
const COMMIT_EVERY_S_MAX: u64 = 60;

/// Pause after a flush as a multiple of its time, so flushing takes at most a tenth of a run.
const FLUSH_PAUSE: u64 = 10;

/// The commits of a run, and what has to be flushed before the next one.
#[derive(Debug)]
pub(super) struct VolumeFlush {
    committed: Timestamp,
    /// Devices of the files seen so far, each with one directory on it.
    volumes: Vec<(u64, PathBuf)>,
    /// Whether rows were written for files or attributes that may not be on the medium yet.
    is_due: bool,
    /// How long the last flush took.
    took: Duration,
}

impl VolumeFlush {
    /// Begins at this time of day.
    pub(super) fn new(begin: Timestamp) -> VolumeFlush {
        let (volumes, took) = (Vec::new(), Duration::ZERO);
        VolumeFlush { committed: begin, volumes, is_due: false, took }
    }

    /// Returns whether it is time to commit. If so, the next interval begins now.
    pub(super) fn begin_commit(&mut self, now: Timestamp) -> bool {
        let passed = now.seconds.saturating_sub(self.committed.seconds);
        let passed = passed - i64::from(now.nanoseconds < self.committed.nanoseconds);
        let every = (self.took.as_secs() * FLUSH_PAUSE).clamp(COMMIT_EVERY_S, COMMIT_EVERY_S_MAX);
        let is_time = !(0..every.cast_signed()).contains(&passed);
        if is_time {
            self.committed = now;
        }
        is_time
    }

    /// Adds the device of a file in a directory of the tree.
    pub(super) fn add_volume(&mut self, device: u64, directory: Option<&Path>) {
        if self.volumes.iter().all(|(known, _)| *known != device) {
            self.volumes.push((device, directory.unwrap_or(Path::new("")).to_owned()));
        }
    }

    /// Makes a flush due if rows depend on `changed` files or attributes.
    pub(super) fn require_if(&mut self, changed: bool) {
        self.is_due |= changed;
    }

    /// Flushes the files and attributes on which rows depend. If the catalogue reached the medium
    /// before them, a loss of power would leave missing files or replaced tags.
    pub(super) fn flush(&mut self, root: &Path) -> Result<(), DbError> {
        if !std::mem::take(&mut self.is_due) {
            return Ok(());
        }
        let start = Instant::now();
        for (_, directory) in &self.volumes {
            // The directory may be gone or closed by now. The next run finds its files as they are.
            let Ok(dir) = beneath::directory(root, directory) else { continue };
            dir.sync_volume()
                .map_err(|error| DbError::io("flush the files of the tree", &error))?;
        }
        self.took = start.elapsed();
        Ok(())
    }
}
