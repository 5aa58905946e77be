//! What was told to a channel, so that it is told nothing twice and nothing is forgotten.
//!
//! Each channel has a memory of its own: one that cannot be reached for a time holds up no other,
//! and gets the news of that time in one message. Which schedule noticed something is no part of
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast::FileState;
use steadfast_sys::file::age_s;
use steadfast_sys::file::write_private;
use strum::IntoStaticStr;

use crate::error::{Error, ErrorKind};

/// Seconds after which open trouble is told again: a week, less an hour for timers that vary.
pub(crate) const REMIND_S: i64 = 7 * 86_400 - 3_600;

/// The most troubles of a folder that are remembered one by one. Beyond, only their number is told.
const REMEMBERED_MAX: usize = 20_000;

/// What is wrong with a file, a folder, or a drive. The worst comes first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TroubleKind {
    /// A file is corrupt.
    Corrupt,
    /// A drive says that it fails or is worn out.
    Drive,
    /// A file cannot be read.
    Unreadable,
    /// A folder cannot be listed, or a file not be looked at.
    Unlisted,
    /// Too many files changed or disappeared at once.
    #[serde(rename = "mass change")]
    #[strum(serialize = "mass change")]
    MassChange,
    /// The folder cannot be judged.
    Unknown,
    /// The check could not be made.
    Failed,
    /// Repair data is damaged.
    #[serde(rename = "repair data")]
    #[strum(serialize = "repair data")]
    RepairData,
    /// A repair was cut off, or a part of the folder is not mounted.
    Unfinished,
    /// A file was written by something that kept its date, or is corrupt.
    Suspect,
    /// A file has other contents than a list.
    Differs,
    /// A file is missing.
    Missing,
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
    /// The folder is not there.
    Unmounted,
    /// Its timer does not start the check.
    #[serde(rename = "not started")]
    #[strum(serialize = "not started")]
    NotStarted,
    /// The check of the folder is overdue.
    Overdue,
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

    /// Returns whether the catalogue of the folder has to be read to know of it.
    pub(crate) fn is_catalogued(self) -> bool {
        use TroubleKind::{Drive, Failed, MassChange, NotStarted, RepairData, Unknown, Unmounted};
        let others = [Drive, Failed, MassChange, NotStarted, RepairData, Unknown, Unmounted];
        !others.contains(&self)
    }

    /// Returns its name, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Something that is wrong: with a file, a folder, or a drive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Trouble {
    /// What it is.
    #[serde(rename = "state")]
    pub kind: TroubleKind,
    /// The path from the root of the folder, or the name of the drive; empty for the folder itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// The folder; empty for a drive, which may be beneath several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
}

/// What is known of an open trouble.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TroubleFacts {
    /// Since when, in seconds since 1970, if that is known.
    pub since_s: Option<i64>,
    /// More in a sentence, or nothing.
    pub text: String,
}

/// Everything that is wrong with a folder and its drives.
pub type OpenTroubles = BTreeMap<Trouble, TroubleFacts>;

/// What was told to a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Trouble that was told and was open then.
    told: BTreeSet<Trouble>,
    /// When open trouble of each folder was last told, in seconds since 1970.
    told_s: BTreeMap<String, i64>,
    /// The latest mended files of each folder that were told, by when they were mended.
    pub(crate) mended_s: BTreeMap<String, i64>,
    /// The same of files that were moved to other folders.
    pub(crate) moved_s: BTreeMap<String, i64>,
    /// When it was last told that all is well.
    pub(crate) well_s: Option<i64>,
}

/// What there is to tell of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Trouble that was not told before, or that is due to be told again.
    pub new: OpenTroubles,
    /// Numbers of all open trouble, by its kind.
    pub open: BTreeMap<TroubleKind, u64>,
    /// What was told and is settled.
    pub settled: Vec<Trouble>,
    /// Whether open trouble is told again.
    pub remind: bool,
}

impl News {
    /// Returns whether a message is due for an alert on trouble.
    pub fn is_due(&self) -> bool {
        !self.new.is_empty() || !self.settled.is_empty()
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
        let text = serde_json::to_string(self)
            .map_err(|error| Error::new(ErrorKind::Config, error.to_string()))?;
        write_private(file, text.as_bytes()).map_err(|error| failed(&error))
    }

    /// Compares open trouble of a folder with what was told. `is_known` says of a trouble whether
    /// it was looked for now, so that it is settled if it is not open.
    pub fn news(
        &self,
        folder: &str,
        open: &OpenTroubles,
        is_known: &dyn Fn(&Trouble) -> bool,
        now_s: i64,
    ) -> News {
        let since_s = self.told_s.get(folder).and_then(|told_s| age_s(*told_s, now_s));
        let remind = !open.is_empty()
            && self.told_s.contains_key(folder)
            && since_s.is_none_or(|since_s| since_s >= REMIND_S);
        let is_overfull = open.len() > REMEMBERED_MAX && self.of(folder).count() >= REMEMBERED_MAX;
        let is_new = |trouble: &Trouble| !self.told.contains(trouble) && !is_overfull;
        let new = open.iter().filter(|(trouble, _)| remind || is_new(trouble));
        let mut counts = BTreeMap::new();
        for trouble in open.keys() {
            *counts.entry(trouble.kind).or_insert(0) += 1;
        }
        let subjects: BTreeSet<&str> = open.keys().map(|one| one.path.as_str()).collect();
        let is_settled = |trouble: &&Trouble| {
            // A file that is in another trouble now is not whole again.
            let is_other = !trouble.path.is_empty() && subjects.contains(trouble.path.as_str());
            is_known(trouble) && !open.contains_key(*trouble) && !is_other
        };
        News {
            new: new.map(|(trouble, facts)| (trouble.clone(), facts.clone())).collect(),
            open: counts,
            settled: self.of(folder).filter(is_settled).cloned().collect(),
            remind,
        }
    }

    /// Remembers that open trouble of a folder was told.
    pub fn remember_open(&mut self, folder: &str, open: &OpenTroubles, now_s: i64) {
        let paths: BTreeSet<&str> = open.keys().map(|one| one.path.as_str()).collect();
        let is_other = |one: &Trouble| {
            let is_there = !one.path.is_empty() && paths.contains(one.path.as_str());
            is_of(one, folder) && is_there && !open.contains_key(one)
        };
        self.told.retain(|one| !is_other(one));
        self.told.extend(open.keys().take(REMEMBERED_MAX).cloned());
        self.told_s.insert(folder.to_owned(), now_s);
    }

    /// Forgets troubles of a folder that were told to be settled.
    pub fn forget_settled(&mut self, folder: &str, settled: &[Trouble]) {
        self.told.retain(|one| !settled.contains(one));
        if self.of(folder).next().is_none() {
            self.told_s.remove(folder);
        }
    }

    fn of<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a Trouble> {
        self.told.iter().filter(move |trouble| is_of(trouble, folder))
    }
}

/// Returns whether a trouble is of a folder, or of a drive, which may be beneath any.
fn is_of(trouble: &Trouble, folder: &str) -> bool {
    trouble.folder.is_empty() || trouble.folder == folder
}

#[cfg(test)]
mod tests {
    use super::TroubleKind::{Corrupt, Drive, Missing};
    use super::*;

    const DAY_S: i64 = 86_400;
    const FOLDER: &str = "/srv/photos";

    fn troubles(all: &[(TroubleKind, &str)]) -> OpenTroubles {
        let trouble = |(kind, path): &(TroubleKind, &str)| {
            let folder = if *kind == Drive { "" } else { FOLDER };
            Trouble { kind: *kind, path: (*path).into(), folder: folder.into() }
        };
        all.iter().map(|one| (trouble(one), TroubleFacts::default())).collect()
    }

    fn all(_: &Trouble) -> bool {
        true
    }

    #[test]
    fn trouble_is_told_once_then_weekly_then_settled() {
        let mut memory = Memory::default();
        let nothing = troubles(&[]);
        assert!(!memory.news(FOLDER, &nothing, &all, 0).is_due());
        let one = troubles(&[(Corrupt, "a")]);
        let two = troubles(&[(Corrupt, "a"), (Missing, "b")]);
        // Each night: what is open; what is told, whether again, and what is settled.
        type Night<'a> = (i64, &'a OpenTroubles, Option<(usize, bool, &'a [&'a str])>);
        let nights: [Night<'_>; 9] = [
            (1, &one, Some((1, false, &[]))),
            (2, &one, None),
            (3, &two, Some((1, false, &[]))),
            (4, &two, None),
            (9, &two, None),
            (10, &two, Some((2, true, &[]))),
            (11, &one, Some((0, false, &["b"]))),
            (12, &nothing, Some((0, false, &["a"]))),
            (13, &nothing, None),
        ];
        for (day, open, expected) in nights {
            let news = memory.news(FOLDER, open, &all, day * DAY_S);
            let settled: Vec<&str> = news.settled.iter().map(|one| one.path.as_str()).collect();
            let told = news.is_due().then_some((news.new.len(), news.remind, &*settled));
            assert_eq!(told, expected, "day {day}");
            if !news.new.is_empty() {
                memory.remember_open(FOLDER, open, day * DAY_S);
            }
            memory.forget_settled(FOLDER, &news.settled);
        }
    }

    #[test]
    fn a_file_that_becomes_worse_is_not_settled() {
        let mut memory = Memory::default();
        memory.remember_open(FOLDER, &troubles(&[(Missing, "a")]), 0);
        let news = memory.news(FOLDER, &troubles(&[(Corrupt, "a")]), &all, DAY_S);
        assert_eq!((news.new.len(), news.settled.len()), (1, 0));
    }

    #[test]
    fn a_drive_beneath_two_folders_is_told_once_and_what_was_not_asked_stays() {
        let mut memory = Memory::default();
        let open = troubles(&[(Drive, "sda failing")]);
        memory.remember_open(FOLDER, &open, 0);
        assert!(!memory.news("/srv/music", &open, &all, DAY_S).is_due());
        let asleep = |trouble: &Trouble| trouble.kind != Drive;
        assert!(!memory.news(FOLDER, &troubles(&[]), &asleep, DAY_S).is_due());
        memory.remember_open(FOLDER, &troubles(&[(Missing, "a")]), DAY_S);
        assert_eq!(memory.news("/srv/music", &troubles(&[]), &all, DAY_S).settled.len(), 1);
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_silence_reminders() {
        let mut memory = Memory::default();
        let open = troubles(&[(Missing, "a")]);
        memory.remember_open(FOLDER, &open, 100 * DAY_S);
        assert!(memory.news(FOLDER, &open, &all, 50 * DAY_S).remind);
    }

    #[test]
    fn a_memory_is_kept_and_a_damaged_one_tells_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/photos.json");
        assert_eq!(Memory::read(&file), Memory::default());
        let mut memory = Memory::default();
        memory.remember_open(FOLDER, &troubles(&[(Missing, "a\n\"b")]), 100);
        memory.write(&file).unwrap();
        assert_eq!(Memory::read(&file), memory);
        fs::write(&file, "{").unwrap();
        assert_eq!(Memory::read(&file), Memory::default());
    }
}
