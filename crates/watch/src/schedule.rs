//! A schedule: which folder is checked how often, and at which pace.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use steadfast::catalogue::CataloguedTree;
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

use crate::error::{Error, ErrorKind};

/// The longest cover in days: ten years.
const COVER_DAYS_MAX: u32 = 3_650;

/// How often a schedule runs.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    Display,
    EnumMessage,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Every {
    /// Once a day.
    Night,
    /// Once a week, on Sunday.
    Week,
    /// Once a month, on the first.
    Month,
}

impl Every {
    /// Returns the shortest interval between two runs, in seconds.
    pub fn shortest_s(self) -> i64 {
        match self {
            Every::Month => 28 * 86_400,
            every => every.interval_s(),
        }
    }

    /// Returns the longest interval between two runs, in seconds.
    pub fn interval_s(self) -> i64 {
        match self {
            Every::Night => 86_400,
            Every::Week => 7 * 86_400,
            Every::Month => 31 * 86_400,
        }
    }
}

/// A time of day in local time, as `02:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.hour, self.minute)
    }
}

impl FromStr for TimeOfDay {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeOfDay, String> {
        let usage = || "a time of day has hours and minutes, as in 02:00".to_owned();
        let (hour, minute) = text.split_once(':').ok_or_else(usage)?;
        let number = |digits: &str, max: u8| {
            let plain = digits.len() <= 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
            digits.parse().ok().filter(|number| plain && *number <= max).ok_or_else(usage)
        };
        let minute = Some(minute).filter(|minute| minute.len() == 2).ok_or_else(usage)?;
        Ok(TimeOfDay { hour: number(hour, 23)?, minute: number(minute, 59)? })
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = String;

    fn try_from(text: String) -> Result<TimeOfDay, String> {
        text.parse()
    }
}

impl From<TimeOfDay> for String {
    fn from(time: TimeOfDay) -> String {
        time.to_string()
    }
}

/// What starts a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Display, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum TimerKind {
    /// A systemd timer of the user.
    SystemdUser,
    /// A systemd timer of the system.
    SystemdSystem,
    /// A launch agent of macOS.
    Launchd,
    /// A marked block in the user's crontab.
    Crontab,
    /// The scheduler of a NAS, or the user. Nothing is installed.
    Manual,
}

/// Which folder is checked how often, and at which pace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSchedule {
    /// Its name: letters, digits and hyphens. Names of timers are made of it.
    pub name: String,
    /// The root of the catalogued tree, absolute.
    pub directory: PathBuf,
    /// How often it runs.
    pub every: Every,
    /// When it starts.
    pub at: TimeOfDay,
    /// Days within which every byte is read once.
    pub cover_days: u32,
    /// Seconds after which a run ends; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time_s: Option<u64>,
    /// Whether new and edited files are tagged too.
    #[serde(default)]
    pub update: bool,
    /// Whether repair data is kept up to date.
    #[serde(default)]
    pub parity: bool,
    /// Whether files whose decay is proved are mended in the same run.
    #[serde(default)]
    pub repair: bool,
    /// Whether files are read from the medium; absent for where that costs little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_medium: Option<bool>,
    /// What starts it.
    pub timer: TimerKind,
    /// When it was made, in seconds since 1970.
    pub made_s: i64,
    /// When the catalogue of its folder was made: with the next value, the tree that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_made_s: Option<i64>,
    /// The folder of that tree and its volume, as in the list of trees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_volume: Option<String>,
}

impl CheckSchedule {
    /// Checks the values.
    ///
    /// # Errors
    ///
    /// If one is not valid. The message says which values are.
    pub fn validate(&self) -> Result<(), Error> {
        let usage = |message: String| Err(Error::new(ErrorKind::Usage, message));
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let name = &self.name;
        if name.is_empty() || name.len() > 64 || !name.bytes().all(letter) {
            return usage(format!("`{name}` is not a name of lower-case letters, digits and `-`"));
        }
        if !self.directory.is_absolute() || self.directory.to_str().is_none() {
            let shown = self.directory.display();
            return usage(format!(
                "`{shown}` cannot be scheduled: timers need an absolute path in UTF-8"
            ));
        }
        if self.directory.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_control) {
            return usage("a path with control characters cannot be scheduled".to_owned());
        }
        if self.cover_days == 0 || self.cover_days > COVER_DAYS_MAX {
            return usage(format!("a cover is from 1 to {COVER_DAYS_MAX} days, as in 30d"));
        }
        if i64::from(self.cover_days) * 86_400 < self.every.interval_s() {
            let (cover, every) = (self.cover_days, self.every);
            return usage(format!("{cover} days cannot be covered by one run every {every}"));
        }
        if self.max_time_s == Some(0) {
            return usage("a time limit must be longer than 0".to_owned());
        }
        Ok(())
    }

    /// A schedule for tests.
    #[cfg(test)]
    pub(crate) fn sample() -> CheckSchedule {
        CheckSchedule {
            name: "photos".into(),
            directory: "/srv/photos".into(),
            every: Every::Night,
            at: TimeOfDay { hour: 2, minute: 0 },
            cover_days: 30,
            max_time_s: None,
            update: false,
            parity: false,
            repair: false,
            from_medium: None,
            timer: TimerKind::Manual,
            made_s: 0,
            tree_made_s: None,
            tree_volume: None,
        }
    }

    /// Makes it one for a tree.
    #[must_use]
    pub fn made_for(self, tree: &CataloguedTree) -> CheckSchedule {
        let (made_s, volume) = (tree.made.seconds, tree.volume.to_string());
        CheckSchedule { tree_made_s: Some(made_s), tree_volume: Some(volume), ..self }
    }

    /// Returns how well a tree of the list fits it: `None` if it was made for another one. At its
    /// place, the catalogue may have been made anew, or bound to a folder that was restored.
    pub(crate) fn fitness_of(&self, tree: &CataloguedTree) -> Option<u8> {
        let is_place = tree.root == self.directory;
        let has_mark = self.tree_made_s.map(|made_s| made_s == tree.made.seconds);
        let has_folder = self.tree_volume.as_ref().map(|volume| *volume == tree.volume.to_string());
        match (has_mark, has_folder) {
            (Some(true), _) if is_place => Some(3),
            (Some(true), Some(true)) => Some(2),
            (_, Some(true)) | (_, None) if is_place => Some(1),
            _ => None,
        }
    }

    /// Returns the cover in seconds.
    pub fn cover_s(&self) -> i64 {
        i64::from(self.cover_days) * 86_400
    }
}

/// Makes a name from the last component of a path that differs from all names in `taken`.
pub fn name_of(directory: &Path, taken: &[&str]) -> String {
    let last = directory.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let mut name: String = last.chars().map(plain).take(40).collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    let name = match name.trim_matches('-') {
        "" => "root",
        name => name,
    };
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(&name.as_str())).expect("the numbers do not end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day() {
        for (text, hour, minute) in [("02:00", 2, 0), ("2:05", 2, 5), ("23:59", 23, 59)] {
            assert_eq!(text.parse(), Ok(TimeOfDay { hour, minute }));
        }
        for text in ["", "2", "24:00", "02:60", "02:5", "-1:00", "+2:00", "02:000", "a:bc"] {
            assert!(text.parse::<TimeOfDay>().is_err(), "{text}");
        }
        assert_eq!(TimeOfDay { hour: 2, minute: 5 }.to_string(), "02:05");
    }

    #[test]
    fn names_are_plain_and_differ() {
        assert_eq!(name_of(Path::new("/home/a/My Photos (2)"), &[]), "my-photos-2");
        assert_eq!(name_of(Path::new("/"), &[]), "root");
        assert_eq!(name_of(Path::new("/x/été"), &[]), "t");
        assert_eq!(name_of(Path::new("/x/a"), &["a", "a-2"]), "a-3");
    }

    #[test]
    fn values_that_no_timer_can_hold_are_refused() {
        CheckSchedule::sample().validate().unwrap();
        let refused = [
            CheckSchedule { name: "a b".into(), ..CheckSchedule::sample() },
            CheckSchedule { name: String::new(), ..CheckSchedule::sample() },
            CheckSchedule { name: "../x".into(), ..CheckSchedule::sample() },
            CheckSchedule { directory: "photos".into(), ..CheckSchedule::sample() },
            CheckSchedule { directory: "/a\nb".into(), ..CheckSchedule::sample() },
            CheckSchedule { cover_days: 0, ..CheckSchedule::sample() },
            CheckSchedule { cover_days: 6, every: Every::Week, ..CheckSchedule::sample() },
            CheckSchedule { max_time_s: Some(0), ..CheckSchedule::sample() },
        ];
        for schedule in refused {
            assert_eq!(schedule.validate().unwrap_err().kind(), ErrorKind::Usage, "{schedule:?}");
        }
    }
}
