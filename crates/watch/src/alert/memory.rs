//! What was told of a folder, so that nothing is told twice and nothing is forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast::{FileState, age_s};
use steadfast_sys::file::write_private;
use strum::IntoStaticStr;

use crate::error::{Error, ErrorKind};

/// Seconds after which open trouble is told again: a week, less an hour for timers that vary.
const REMIND_S: i64 = 7 * 86_400 - 3_600;

/// The most troubles that are remembered one by one. Beyond, only their number is told.
const REMEMBERED_MAX: usize = 20_000;

/// What is wrong with a file, or with a folder. The worst comes first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TroubleKind {
    /// A file is corrupt.
    Corrupt,
    /// A file was written by something that kept its date, or is corrupt.
    Suspect,
    /// A file has other contents than a list.
    Differs,
    /// A file is missing.
    Missing,
    /// A file cannot be read.
    Unreadable,
    /// A file has lost its tag.
    #[serde(rename = "tag lost")]
    #[strum(serialize = "tag lost")]
    TagLost,
    /// A file has the tag of other contents.
    #[serde(rename = "tag replaced")]
    #[strum(serialize = "tag replaced")]
    TagReplaced,
    /// A file was changed.
    Modified,
    /// A file changed while it was read.
    Unstable,
    /// A file has another time.
    Touched,
    /// The check of the folder is overdue.
    Overdue,
    /// The folder is not there.
    Unmounted,
    /// The folder cannot be judged.
    Unknown,
    /// Its timer does not start the check.
    #[serde(rename = "not started")]
    #[strum(serialize = "not started")]
    NotStarted,
    /// The check could not be made.
    Failed,
    /// Too many files changed or disappeared at once.
    #[serde(rename = "mass change")]
    #[strum(serialize = "mass change")]
    MassChange,
}

impl TroubleKind {
    /// Returns the trouble that an open failure of a file is; `None` if it is none.
    pub fn of_file(state: FileState) -> Option<TroubleKind> {
        Some(match state {
            FileState::Fine => return None,
            FileState::Touched => TroubleKind::Touched,
            FileState::Modified => TroubleKind::Modified,
            FileState::Corrupt => TroubleKind::Corrupt,
            FileState::Suspect => TroubleKind::Suspect,
            FileState::Differs => TroubleKind::Differs,
            FileState::Unreadable => TroubleKind::Unreadable,
            FileState::Unstable => TroubleKind::Unstable,
            FileState::Missing => TroubleKind::Missing,
            FileState::TagLost => TroubleKind::TagLost,
            FileState::TagReplaced => TroubleKind::TagReplaced,
        })
    }

    /// Returns its name, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Something that is wrong: a file and its state, or a condition of the folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Trouble {
    /// What it is.
    #[serde(rename = "state")]
    pub kind: TroubleKind,
    /// The path from the root of the folder; empty for the folder itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
}

/// What was told of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Trouble that was told and was open then.
    told: Vec<Trouble>,
    /// When open trouble was last told, in seconds since 1970.
    told_s: Option<i64>,
}

/// What there is to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Trouble that was not told before.
    pub new: Vec<Trouble>,
    /// Numbers of all open trouble, by its kind.
    pub open: BTreeMap<TroubleKind, u64>,
    /// How much was told and is settled.
    pub settled: u64,
    /// Whether open trouble is due to be told again.
    pub remind: bool,
}

impl News {
    /// Returns whether a message is due for an alert on trouble.
    pub fn is_due(&self) -> bool {
        !self.new.is_empty() || self.settled > 0 || self.remind
    }

    /// Returns how much is open.
    pub fn open_count(&self) -> u64 {
        self.open.values().sum()
    }
}

impl Memory {
    /// Reads a memory; one that is absent or damaged is empty, so that trouble is told again.
    pub fn read(file: &Path) -> Memory {
        let text = fs::read_to_string(file).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Stores the memory.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        let failed = |error: &io::Error| Error::system("write", file, error);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        let text = serde_json::to_string(self)
            .map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        write_private(file, text.as_bytes()).map_err(|error| failed(&error))
    }

    /// Returns the trouble that was told and was open then.
    pub fn told(&self) -> &[Trouble] {
        &self.told
    }

    /// Compares open trouble with what was told.
    pub fn news(&self, open: &BTreeSet<Trouble>, now_s: i64) -> News {
        let told: BTreeSet<&Trouble> = self.told.iter().collect();
        let is_overfull = open.len() > REMEMBERED_MAX && self.told.len() >= REMEMBERED_MAX;
        let new = open.iter().filter(|trouble| !told.contains(trouble) && !is_overfull);
        let mut counts = BTreeMap::new();
        for trouble in open {
            *counts.entry(trouble.kind).or_insert(0) += 1;
        }
        let since_s = self.told_s.and_then(|told_s| age_s(told_s, now_s));
        News {
            new: new.cloned().collect(),
            open: counts,
            settled: self.told.iter().filter(|trouble| !open.contains(trouble)).count() as u64,
            remind: !open.is_empty() && since_s.is_none_or(|since| since >= REMIND_S),
        }
    }

    /// Remembers that open trouble was told.
    pub fn tell(&mut self, open: &BTreeSet<Trouble>, now_s: i64) {
        self.told = open.iter().take(REMEMBERED_MAX).cloned().collect();
        self.told_s = Some(now_s);
    }
}

#[cfg(test)]
mod tests {
    use super::TroubleKind::{Corrupt, Missing};
    use super::*;

    const DAY_S: i64 = 86_400;

    fn troubles(all: &[(TroubleKind, &str)]) -> BTreeSet<Trouble> {
        let trouble =
            |(kind, path): &(TroubleKind, &str)| Trouble { kind: *kind, path: (*path).into() };
        all.iter().map(trouble).collect()
    }

    #[test]
    fn trouble_is_told_once_then_weekly_then_settled() {
        let mut memory = Memory::default();
        let nothing = troubles(&[]);
        assert!(!memory.news(&nothing, 0).is_due());
        let one = troubles(&[(Corrupt, "a")]);
        let two = troubles(&[(Corrupt, "a"), (Missing, "b")]);
        // Each night: what is open, and what is told of it.
        type Night<'a> = (i64, &'a BTreeSet<Trouble>, Option<(usize, u64, u64)>);
        let nights: [Night<'_>; 9] = [
            (1, &one, Some((1, 1, 0))),
            (2, &one, None),
            (3, &two, Some((1, 2, 0))),
            (4, &two, None),
            (9, &two, None),
            (10, &two, Some((0, 2, 0))),
            (11, &one, Some((0, 1, 1))),
            (12, &nothing, Some((0, 0, 1))),
            (13, &nothing, None),
        ];
        for (day, open, expected) in nights {
            let news = memory.news(open, day * DAY_S);
            let told = news.is_due().then(|| (news.new.len(), news.open_count(), news.settled));
            assert_eq!(told, expected, "day {day}");
            if news.is_due() {
                memory.tell(open, day * DAY_S);
            }
        }
    }

    #[test]
    fn a_file_that_becomes_worse_is_new() {
        let mut memory = Memory::default();
        memory.tell(&troubles(&[(Missing, "a")]), 0);
        let news = memory.news(&troubles(&[(Corrupt, "a")]), DAY_S);
        assert_eq!((news.new.len(), news.settled), (1, 1));
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_silence_reminders() {
        let mut memory = Memory::default();
        memory.tell(&troubles(&[(Missing, "a")]), 100 * DAY_S);
        assert!(memory.news(&troubles(&[(Missing, "a")]), 50 * DAY_S).remind);
    }

    #[test]
    fn a_memory_is_kept_and_a_damaged_one_tells_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/photos.json");
        assert_eq!(Memory::read(&file), Memory::default());
        let mut memory = Memory::default();
        memory.tell(&troubles(&[(Missing, "a\n\"b")]), 100);
        memory.write(&file).unwrap();
        assert_eq!(Memory::read(&file), memory);
        fs::write(&file, "{").unwrap();
        assert_eq!(Memory::read(&file), Memory::default());
    }
}
