//! What became of the runs of a schedule: one small file for each, and the lock of a run.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast_sys::file::{age_s, write_private};

use crate::error::{Error, ErrorKind};
use crate::schedule::CheckSchedule;

/// Seconds beyond an interval that are no news: the machine was off, or the folder away, for two
/// nights. Less by a few hours, for timers that vary.
const GRACE_S: i64 = 2 * 86_400 - 6 * 3_600;

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
    /// Why it tagged and protected nothing, if too much had changed.
    pub alarm: Option<String>,
    /// Why nothing was done when the schedule was last started, if so.
    pub skipped: Option<String>,
    /// When it was last started, whether it ran or was skipped, in seconds since 1970.
    pub started_s: Option<i64>,
}

impl LastRun {
    /// Returns for how many seconds nothing has started the schedule, if that is too long: its
    /// timer does not work.
    pub fn unstarted_s(&self, schedule: &CheckSchedule, now_s: i64) -> Option<i64> {
        too_long(schedule, self.started_s.or(self.began_s), now_s)
    }

    /// Returns for how many seconds there has been no complete run, if that is too long.
    pub fn not_run_s(&self, schedule: &CheckSchedule, now_s: i64) -> Option<i64> {
        too_long(schedule, self.began_s, now_s)
    }
}

/// Returns the seconds since `last_s`, or since the schedule was made, if a run was missed and two
/// days have passed since.
fn too_long(schedule: &CheckSchedule, last_s: Option<i64>, now_s: i64) -> Option<i64> {
    let since_s = last_s.and_then(|last_s| age_s(last_s, now_s));
    let since_s = since_s.or_else(|| age_s(schedule.made_s, now_s));
    since_s.filter(|since_s| *since_s > schedule.every.interval_s() + GRACE_S)
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
    pub fn ran(
        &self,
        began_s: i64,
        ended_s: i64,
        status: u8,
        alarm: Option<&str>,
    ) -> Result<(), Error> {
        self.write(&LastRun {
            began_s: Some(began_s),
            ended_s: Some(ended_s),
            status: Some(status),
            alarm: alarm.map(str::to_owned),
            skipped: None,
            started_s: Some(began_s),
        })
    }

    /// Stores that the schedule was started and did nothing.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn skipped(&self, reason: &str, now_s: i64) -> Result<(), Error> {
        let last = self.read();
        let skipped = Some(reason.to_owned());
        self.write(&LastRun { skipped, started_s: Some(now_s), ..last })
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
    use crate::schedule::{Every, TimeOfDay, TimerKind};

    #[test]
    fn a_journal_keeps_the_last_run_beside_what_was_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::of(&folder.path().join("new"), "photos");
        assert_eq!(journal.read(), LastRun::default());
        journal.skipped("on battery", 50).unwrap();
        journal.skipped("not mounted", 60).unwrap();
        let read = journal.read();
        assert_eq!((read.skipped.as_deref(), read.started_s), (Some("not mounted"), Some(60)));
        journal.ran(100, 200, 3, Some("too many")).unwrap();
        let read = journal.read();
        assert_eq!((read.began_s, read.ended_s, read.status), (Some(100), Some(200), Some(3)));
        assert_eq!((&read.skipped, read.started_s), (&None, Some(100)));
        journal.skipped("on battery", 300).unwrap();
        let read = journal.read();
        assert_eq!(read.began_s, Some(100), "the run is not forgotten");
        assert_eq!(read.alarm.as_deref(), Some("too many"), "nor is its alarm");
        fs::write(folder.path().join("new/photos.toml"), "not = [valid").unwrap();
        assert_eq!(journal.read(), LastRun::default());
    }

    #[test]
    fn a_schedule_is_late_after_two_days_more_than_its_interval() {
        const DAY_S: i64 = 86_400;
        let schedule = |every| CheckSchedule {
            name: "photos".into(),
            directory: "/srv/photos".into(),
            every,
            at: TimeOfDay { hour: 2, minute: 0 },
            cover_days: 60,
            max_time_s: None,
            update: false,
            parity: false,
            timer: TimerKind::Manual,
            made_s: 100 * DAY_S,
        };
        let last = |began: Option<i64>, started: Option<i64>| LastRun {
            began_s: began.map(|day| day * DAY_S),
            started_s: started.map(|day| day * DAY_S),
            ..LastRun::default()
        };
        // Last run, last start, today; days without a start and without a run, if too many.
        type Row = (Every, Option<i64>, Option<i64>, i64, Option<i64>, Option<i64>);
        let rows: [Row; 10] = [
            (Every::Night, None, None, 102, None, None),
            (Every::Night, None, None, 103, Some(3), Some(3)),
            (Every::Night, Some(110), Some(110), 112, None, None),
            (Every::Night, Some(110), Some(110), 115, Some(5), Some(5)),
            // Its folder was away: it was started, and did not run.
            (Every::Night, Some(110), Some(115), 115, None, Some(5)),
            (Every::Week, Some(110), Some(110), 118, None, None),
            (Every::Week, Some(110), Some(110), 119, Some(9), Some(9)),
            (Every::Month, Some(110), Some(110), 143, Some(33), Some(33)),
            // The clock was set back.
            (Every::Night, Some(110), Some(110), 50, None, None),
            (Every::Night, Some(3_750), Some(3_750), 115, Some(15), Some(15)),
        ];
        for row in rows {
            let (every, began, started, today, unstarted, not_run) = row;
            let (schedule, last) = (schedule(every), last(began, started));
            let days = |seconds: Option<i64>| seconds.map(|seconds| seconds / DAY_S);
            let now_s = today * DAY_S;
            assert_eq!(days(last.unstarted_s(&schedule, now_s)), unstarted, "{row:?}");
            assert_eq!(days(last.not_run_s(&schedule, now_s)), not_run, "{row:?}");
        }
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
