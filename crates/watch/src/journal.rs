//! What became of the runs of a schedule: one small file for each, and the lock of a run.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast_sys::file::{age_s, make_private_folder, open_private, write_private};

use crate::error::{Error, ErrorKind};
use crate::schedule::CheckSchedule;

/// Seconds that are no news: the folder is away for two nights, or a timer is late by as much. Less
/// by a few hours, for timers that vary.
const GRACE_S: i64 = 2 * 86_400 - 6 * 3_600;

/// The most places that could not be looked at, and damaged sets, that a journal keeps.
pub(crate) const KEPT_MAX: usize = 100;

/// The last run of a schedule, and what became of its later starts.
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
    /// Folders and files that it could not look at, as far as they are kept.
    pub unreadable: Vec<String>,
    /// The repair data that is verified next comes after this set.
    pub verified_set: Option<String>,
    /// Sets of repair data that were found damaged.
    pub damaged_sets: Vec<String>,
    /// Whether it found damage that the catalogue does not know.
    pub is_unrecorded: bool,
    /// Why nothing was done when the schedule was last started, if so.
    pub skipped: Option<String>,
    /// Why the check could not be made when the schedule was last started, if so.
    pub failure: Option<String>,
    /// When it was last started, whether it ran or was skipped, in seconds since 1970.
    pub started_s: Option<i64>,
    /// When its folder was first found not to be there since the last run.
    pub away_s: Option<i64>,
    /// Files that runs mended lately, the last one last.
    pub mended: Vec<MendedPath>,
    /// Files that were moved to other catalogued folders lately.
    pub moved: Vec<MovedPath>,
}

/// A file that was moved to another catalogued folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedPath {
    /// Its former path from the root.
    pub path: String,
    /// Where it is.
    pub to: String,
    /// When that was found, in seconds since 1970.
    pub at_s: i64,
}

/// Seconds for which a journal keeps what was mended, for channels that were not told.
const MENDED_KEPT_S: i64 = 7 * 86_400;

fn is_late(at_s: i64, now_s: i64) -> bool {
    age_s(at_s, now_s).is_some_and(|age_s| age_s < MENDED_KEPT_S)
}

/// A file that a run mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MendedPath {
    /// Its path from the root.
    pub path: String,
    /// When, in seconds since 1970.
    pub at_s: i64,
    /// The number of the repair that keeps the damaged file.
    pub repair: u64,
}

impl LastRun {
    /// Returns for how many seconds nothing has started the schedule, if that is too long: its
    /// timer does not work. A machine that was on for less time, `awake_s`, could not start it.
    pub fn unstarted_s(&self, schedule: &CheckSchedule, now_s: i64, awake_s: i64) -> Option<i64> {
        let last_s = self.started_s.or(self.began_s);
        let since_s = last_s.and_then(|last_s| age_s(last_s, now_s));
        let since_s = since_s.or_else(|| age_s(schedule.made_s, now_s));
        let limit_s = schedule.every.interval_s() + GRACE_S;
        since_s.filter(|since_s| (*since_s).min(awake_s) > limit_s)
    }

    /// Returns whether something started the schedule when it was due last, which then starts it
    /// again.
    pub fn was_started_lately(&self, schedule: &CheckSchedule, now_s: i64) -> bool {
        let age_s = self.started_s.and_then(|started_s| age_s(started_s, now_s));
        age_s.is_some_and(|age_s| age_s < schedule.every.interval_s() + GRACE_S)
    }

    /// Returns what was mended, without what is old by now.
    pub fn mended_lately(&self, now_s: i64) -> Vec<MendedPath> {
        self.mended.iter().filter(|one| is_late(one.at_s, now_s)).cloned().collect()
    }

    /// Returns what was moved away, without what is old by now.
    pub fn moved_lately(&self, now_s: i64) -> Vec<MovedPath> {
        self.moved.iter().filter(|one| is_late(one.at_s, now_s)).cloned().collect()
    }

    /// Returns whether the folder has been away for so long that it is news.
    pub fn is_long_away(&self, now_s: i64) -> bool {
        self.away_s.and_then(|away_s| age_s(away_s, now_s)).is_some_and(|age_s| age_s > GRACE_S)
    }
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

    /// Changes what is stored.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn change(&self, change: impl FnOnce(&mut LastRun)) -> Result<(), Error> {
        let mut last = self.read();
        change(&mut last);
        self.write(&last)
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
        make_private_folder(&self.folder).map_err(|error| failed(&error))?;
        // Whoever can read a lock can take it.
        let file = open_private(&path).map_err(|error| failed(&error))?;
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
        let text = toml::to_string(run)
            .map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        write_private(&path, text.as_bytes()).map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Every;

    #[test]
    fn a_journal_keeps_the_last_run_beside_what_was_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::of(&folder.path().join("new"), "photos");
        assert_eq!(journal.read(), LastRun::default());
        let run = LastRun { began_s: Some(100), alarm: Some("many".into()), ..LastRun::default() };
        journal.change(|last| *last = run.clone()).unwrap();
        journal.change(|last| last.skipped = Some("on battery".into())).unwrap();
        assert_eq!(journal.read(), LastRun { skipped: Some("on battery".into()), ..run });
        fs::write(folder.path().join("new/photos.toml"), "not = [valid").unwrap();
        assert_eq!(journal.read(), LastRun::default());
    }

    #[test]
    fn a_schedule_is_late_after_two_days_more_than_its_interval() {
        const DAY_S: i64 = 86_400;
        let schedule = |every| CheckSchedule {
            every,
            cover_days: 60,
            made_s: 100 * DAY_S,
            ..CheckSchedule::sample()
        };
        // Last start, today, days for which the machine was on; days without a start, if too many.
        type Row = (Every, Option<i64>, i64, i64, Option<i64>);
        let rows: [Row; 11] = [
            (Every::Night, None, 102, 90, None),
            (Every::Night, None, 103, 90, Some(3)),
            (Every::Night, Some(110), 112, 90, None),
            (Every::Night, Some(110), 115, 90, Some(5)),
            // It was off for four days, and started yesterday.
            (Every::Night, Some(110), 115, 1, None),
            (Every::Week, Some(110), 118, 90, None),
            (Every::Week, Some(110), 119, 90, Some(9)),
            (Every::Month, Some(110), 143, 90, Some(33)),
            // The clock was set back.
            (Every::Night, Some(110), 50, 90, None),
            (Every::Night, Some(3_750), 115, 90, Some(15)),
            (Every::Night, Some(115), 115, 90, None),
        ];
        for row in rows {
            let (every, started, today, awake, unstarted) = row;
            let last = LastRun { started_s: started.map(|day| day * DAY_S), ..LastRun::default() };
            let found = last.unstarted_s(&schedule(every), today * DAY_S, awake * DAY_S);
            assert_eq!(found.map(|seconds| seconds / DAY_S), unstarted, "{row:?}");
        }
        let last = LastRun { away_s: Some(110 * DAY_S), ..LastRun::default() };
        assert!(!last.is_long_away(111 * DAY_S) && last.is_long_away(112 * DAY_S));
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
