//! What became of the runs of a schedule: one small file for each, and the lock of a run.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast_sys::file::write_private;

use crate::error::{Error, ErrorKind};

/// The last run of a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastRun {
    /// When the last completed run began, in seconds since 1970.
    pub began_s: Option<i64>,
    /// When it ended.
    pub ended_s: Option<i64>,
    /// Its exit status.
    pub status: Option<u8>,
    /// Why nothing was done when the schedule was last started, if so.
    pub skipped: Option<String>,
    /// Since when it has been skipped without a run, in seconds since 1970.
    pub skipped_since_s: Option<i64>,
}

/// The journal of one schedule.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
    name: String,
}

impl Journal {
    /// Names the journal of a schedule in a folder, which need not exist.
    pub fn of(folder: &Path, name: &str) -> Journal {
        Journal { folder: folder.to_owned(), name: name.to_owned() }
    }

    /// Returns the last run. A journal that is damaged or absent has none: the schedule then runs.
    pub fn read(&self) -> LastRun {
        let text = fs::read_to_string(self.file("toml")).unwrap_or_default();
        toml::from_str(&text).unwrap_or_default()
    }

    /// Stores a completed run.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn ran(&self, began_s: i64, ended_s: i64, status: u8) -> Result<(), Error> {
        let (began_s, ended_s) = (Some(began_s), Some(ended_s));
        self.write(&LastRun { began_s, ended_s, status: Some(status), ..LastRun::default() })
    }

    /// Stores that the schedule was started and did nothing.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn skipped(&self, reason: &str, now_s: i64) -> Result<(), Error> {
        let last = self.read();
        let skipped_since_s = last.skipped_since_s.or(Some(now_s));
        self.write(&LastRun { skipped: Some(reason.to_owned()), skipped_since_s, ..last })
    }

    /// Takes the lock of a run; `None` if another process has it. The system releases it when the
    /// file is closed, however the process ends.
    ///
    /// # Errors
    ///
    /// If the lock cannot be made.
    pub fn lock(&self) -> Result<Option<File>, Error> {
        let path = self.file("lock");
        let failed = |error: &io::Error| Error::system("lock", &path, error);
        fs::create_dir_all(&self.folder).map_err(|error| failed(&error))?;
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|error| failed(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(&error)),
        }
    }

    /// Removes the journal, when its schedule is removed.
    pub fn remove(&self) {
        for extension in ["toml", "lock"] {
            // A file that stays is overwritten by the next schedule of this name.
            let _ = fs::remove_file(self.file(extension));
        }
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }

    fn write(&self, run: &LastRun) -> Result<(), Error> {
        let path = self.file("toml");
        let failed = |error: &io::Error| Error::system("write", &path, error);
        fs::create_dir_all(&self.folder).map_err(|error| failed(&error))?;
        let text = toml::to_string(run)
            .map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        write_private(&path, text.as_bytes()).map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_keeps_the_last_run_beside_what_was_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::of(&folder.path().join("new"), "photos");
        assert_eq!(journal.read(), LastRun::default());
        journal.skipped("on battery", 50).unwrap();
        journal.skipped("not mounted", 60).unwrap();
        let read = journal.read();
        assert_eq!(
            (read.skipped.as_deref(), read.skipped_since_s),
            (Some("not mounted"), Some(50))
        );
        journal.ran(100, 200, 3).unwrap();
        let read = journal.read();
        assert_eq!((read.began_s, read.ended_s, read.status), (Some(100), Some(200), Some(3)));
        assert_eq!((&read.skipped, read.skipped_since_s), (&None, None));
        journal.skipped("on battery", 300).unwrap();
        assert_eq!(journal.read().began_s, Some(100), "the run is not forgotten");
        fs::write(folder.path().join("new/photos.toml"), "not = [valid").unwrap();
        assert_eq!(journal.read(), LastRun::default());
    }

    #[test]
    fn one_run_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::of(folder.path(), "photos");
        let held = journal.lock().unwrap();
        assert!(held.is_some());
        assert!(journal.lock().unwrap().is_none());
        drop(held);
        assert!(journal.lock().unwrap().is_some());
    }
}
