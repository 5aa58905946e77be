//! The schedules of a user: one TOML file in the folder of their configuration.
//!
//! The file is never looked for inside a tree, because trees are hostile and timers run commands.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast::COVER_DAYS;
use steadfast_sys::file::write_private;

use crate::error::{Error, ErrorKind};
use crate::journal::Journal;
use crate::schedule::{CheckSchedule, Every, TimeOfDay, TimerKind, name_of};
use crate::timer::{self, TimerHost};

/// The schedules in one file, in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleList {
    file: PathBuf,
    metrics: Option<PathBuf>,
    schedules: Vec<CheckSchedule>,
}

/// The file.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScheduleDocument {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metrics: Option<PathBuf>,
    #[serde(default, rename = "schedule")]
    schedules: Vec<CheckSchedule>,
}

impl ScheduleList {
    /// Reads the file; a file that does not exist has no schedules.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not valid. The message names the line.
    pub fn read(file: &Path) -> Result<ScheduleList, Error> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::system("read", file, &error)),
        };
        let invalid = |reason: String| {
            let message = format!("`{}` is not valid: {reason}", file.display());
            Error::new(ErrorKind::Config, message)
        };
        let document: ScheduleDocument =
            toml::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        if document.metrics.as_ref().is_some_and(|metrics| metrics.is_relative()) {
            return Err(invalid("`metrics` is not an absolute path".to_owned()));
        }
        let metrics = document.metrics;
        let mut schedules = document.schedules;
        for schedule in &schedules {
            schedule.validate().map_err(|error| invalid(error.to_string()))?;
        }
        schedules.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some(pair) = schedules.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(invalid(format!("two schedules are named `{}`", pair[0].name)));
        }
        Ok(ScheduleList { file: file.to_owned(), metrics, schedules })
    }

    /// Returns the schedules.
    pub fn schedules(&self) -> &[CheckSchedule] {
        &self.schedules
    }

    /// Returns the schedule of a folder.
    pub fn of_folder(&self, directory: &Path) -> Option<&CheckSchedule> {
        self.schedules.iter().find(|schedule| schedule.directory == directory)
    }

    /// Returns the schedule of a folder, or a new one with a name of its own, to be changed as the
    /// user wishes. A change of a schedule does not begin its cover anew.
    pub fn draft(&self, directory: &Path, timer: TimerKind, now_s: i64) -> CheckSchedule {
        let taken: Vec<&str> = self.schedules.iter().map(|one| one.name.as_str()).collect();
        self.of_folder(directory).cloned().unwrap_or_else(|| CheckSchedule {
            name: name_of(directory, &taken),
            directory: directory.to_owned(),
            every: Every::Night,
            at: TimeOfDay { hour: 2, minute: 0 },
            cover_days: COVER_DAYS,
            max_time_s: None,
            update: false,
            parity: false,
            repair: false,
            from_medium: None,
            timer,
            made_s: now_s,
            tree_made_s: None,
            tree_volume: None,
        })
    }

    /// Returns the file of metrics that every run writes, if one was set.
    pub fn metrics(&self) -> Option<&Path> {
        self.metrics.as_deref()
    }

    /// Sets the file of metrics, or none, and writes the file of schedules.
    ///
    /// # Errors
    ///
    /// If the path is not absolute and UTF-8, or the file of schedules cannot be written.
    pub fn set_metrics(&mut self, metrics: Option<PathBuf>) -> Result<(), Error> {
        if metrics.as_ref().is_some_and(|path| path.is_relative() || path.to_str().is_none()) {
            let message = "a file of metrics needs an absolute path in UTF-8";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        self.metrics = metrics;
        self.write()
    }

    /// Returns the schedule of a name, or the one for a directory.
    ///
    /// # Errors
    ///
    /// If there is none. The message lists the names.
    pub fn find(&self, name: &str) -> Result<&CheckSchedule, Error> {
        let path = fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
        let fits = |schedule: &&CheckSchedule| schedule.name == name || schedule.directory == path;
        self.schedules.iter().find(fits).ok_or_else(|| {
            let names: Vec<&str> = self.schedules.iter().map(|s| s.name.as_str()).collect();
            let names = match names.is_empty() {
                true => "there are none: `steadfast schedule add DIR` makes one".to_owned(),
                false => format!("there are: {}", names.join(", ")),
            };
            Error::new(ErrorKind::Name, format!("no schedule is `{name}`; {names}"))
        })
    }

    /// Adds a schedule, or replaces the one of its name, and writes the file.
    ///
    /// # Errors
    ///
    /// If the schedule is not valid, or the file cannot be written.
    pub fn put(&mut self, schedule: CheckSchedule) -> Result<(), Error> {
        schedule.validate()?;
        self.schedules.retain(|other| other.name != schedule.name);
        self.schedules.push(schedule);
        self.schedules.sort_by(|one, other| one.name.cmp(&other.name));
        self.write()
    }

    /// Removes a schedule by its name and writes the file. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn remove(&mut self, name: &str) -> Result<bool, Error> {
        let before = self.schedules.len();
        self.schedules.retain(|schedule| schedule.name != name);
        let removed = self.schedules.len() < before;
        if removed {
            self.write()?;
        }
        Ok(removed)
    }

    /// Adds a schedule, or replaces the one of its name, and its timer.
    ///
    /// # Errors
    ///
    /// If it is not valid, or the timer cannot be made. Then there is no schedule of this name, as
    /// one that nothing starts would look like protection.
    pub fn establish(&mut self, schedule: CheckSchedule, host: &TimerHost) -> Result<(), Error> {
        schedule.validate()?;
        let before = self.schedules.iter().find(|one| one.name == schedule.name);
        if let Some(before) = before.filter(|before| before.timer != schedule.timer) {
            timer::uninstall(before, host)?;
        }
        self.put(schedule.clone())?;
        let Err(error) = timer::install(&schedule, host) else { return Ok(()) };
        let _ = timer::uninstall(&schedule, host);
        self.remove(&schedule.name)?;
        let message = format!("the timer could not be made, so there is no schedule: {error}");
        Err(Error::new(error.kind(), message))
    }

    /// Removes a schedule, its timer, and its journal, which is in the folder `journals`.
    ///
    /// # Errors
    ///
    /// As [`ScheduleList::find`]; also if the timer cannot be removed.
    pub fn dissolve(&mut self, name: &str, host: &TimerHost, journals: &Path) -> Result<(), Error> {
        let schedule = self.find(name)?.clone();
        timer::uninstall(&schedule, host)?;
        self.remove(&schedule.name)?;
        Journal::of(journals, &schedule.name).remove();
        Ok(())
    }

    fn write(&self) -> Result<(), Error> {
        let failed = |error: &io::Error| Error::system("write", &self.file, error);
        let document =
            ScheduleDocument { metrics: self.metrics.clone(), schedules: self.schedules.clone() };
        let text = toml::to_string(&document)
            .map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        write_private(&self.file, text.as_bytes()).map_err(|error| failed(&error))
    }
}
