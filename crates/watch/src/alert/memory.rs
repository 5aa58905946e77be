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
use steadfast::Standing;
use steadfast_sys::file::age_s;
use steadfast_sys::file::write_private;

use crate::error::{Error, ErrorKind};

/// Seconds after which open trouble is told again: a week, less an hour for timers that vary.
pub(crate) const REMIND_S: i64 = 7 * 86_400 - 3_600;

/// The most troubles of a folder that are remembered one by one. Beyond, only their number is told.
const REMEMBERED_MAX: usize = 20_000;

/// Returns whether the catalogue of the folder has to be read to know of a standing.
pub(crate) fn is_catalogued(standing: Standing) -> bool {
    use Standing::{Drive, Failed, MassChange, NotStarted, RepairData, Unknown, Unmounted};
    let others = [
        Drive,
        Failed,
        MassChange,
        NotStarted,
        RepairData,
        Standing::Unrecorded,
        Unknown,
        Unmounted,
    ];
    !others.contains(&standing)
}

/// Writes and reads a standing by its name.
mod by_name {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use steadfast::Standing;

    pub(super) fn serialize<S: Serializer>(it: &Standing, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(it.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Standing, D::Error> {
        let name = String::deserialize(from)?;
        Standing::of_name(&name).ok_or_else(|| D::Error::custom("no such standing"))
    }
}

/// Something that is wrong: with a file, a folder, or a drive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Trouble {
    /// What it is.
    #[serde(rename = "state", with = "by_name")]
    pub kind: Standing,
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
    /// Trouble that was not told before.
    pub new: OpenTroubles,
    /// Trouble that was told and is due to be told again.
    pub again: OpenTroubles,
    /// Numbers of all open trouble, by its kind.
    pub open: BTreeMap<Standing, u64>,
    /// What was told and is settled.
    pub settled: Vec<Trouble>,
}

impl News {
    /// Returns whether a message is due for an alert on trouble.
    pub fn is_due(&self) -> bool {
        self.has_trouble() || !self.settled.is_empty()
    }

    /// Returns whether there is open trouble to tell.
    pub fn has_trouble(&self) -> bool {
        !self.new.is_empty() || !self.again.is_empty()
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
        let (new, again): (OpenTroubles, OpenTroubles) =
            open.clone().into_iter().partition(|(trouble, _)| is_new(trouble));
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
            new,
            again: if remind { again } else { OpenTroubles::new() },
            open: counts,
            settled: self.of(folder).filter(is_settled).cloned().collect(),
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
    use super::Standing::{Corrupt, Drive, Missing};
    use super::*;

    const DAY_S: i64 = 86_400;
    const FOLDER: &str = "/srv/photos";

    fn troubles(all: &[(Standing, &str)]) -> OpenTroubles {
        let trouble = |(kind, path): &(Standing, &str)| {
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
        // Each night: what is open; how much is told, told again, and what is settled.
        type Night<'a> = (i64, &'a OpenTroubles, Option<(usize, usize, &'a [&'a str])>);
        let nights: [Night<'_>; 9] = [
            (1, &one, Some((1, 0, &[]))),
            (2, &one, None),
            (3, &two, Some((1, 0, &[]))),
            (4, &two, None),
            (9, &two, None),
            (10, &two, Some((0, 2, &[]))),
            (11, &one, Some((0, 0, &["b"]))),
            (12, &nothing, Some((0, 0, &["a"]))),
            (13, &nothing, None),
        ];
        for (day, open, expected) in nights {
            let news = memory.news(FOLDER, open, &all, day * DAY_S);
            let settled: Vec<&str> = news.settled.iter().map(|one| one.path.as_str()).collect();
            let told = news.is_due().then_some((news.new.len(), news.again.len(), &*settled));
            assert_eq!(told, expected, "day {day}");
            if news.has_trouble() {
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
        assert!(!memory.news(FOLDER, &open, &all, 50 * DAY_S).again.is_empty());
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
