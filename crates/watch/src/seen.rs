//! What was last known of each folder, for when its drive is away: its catalogue is away with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use steadfast::catalogue::Readers;
use steadfast::{FileState, FolderFacts, Standing};
use steadfast_sys::file::write_private;

use crate::folder::SeenFolder;
use crate::places::WatchPlaces;

/// Seconds after which an unchanged state is written again, with its new age.
const AGE_S: i64 = 3_600;

impl SeenFolder {
    fn of(facts: &FolderFacts) -> SeenFolder {
        SeenFolder {
            at_s: facts.audit.at.seconds,
            files: facts.audit.entries,
            damaged: facts.count(&[FileState::Corrupt]),
            is_fine: facts.standing() == Standing::Fine,
        }
    }

    /// Returns whether another look says nothing new.
    fn is_as(&self, before: &SeenFolder) -> bool {
        let same = SeenFolder { at_s: before.at_s, ..*self } == *before;
        same && (0..AGE_S).contains(&(self.at_s - before.at_s))
    }
}

impl WatchPlaces {
    /// Returns what was last known of a folder.
    pub fn seen(&self, root: &Path) -> Option<SeenFolder> {
        self.all_seen().remove(&*root.to_string_lossy())
    }

    /// Keeps what is known of a folder that is there. If that cannot be written, it is not known
    /// later, which harms nothing else.
    pub fn note_seen(&self, root: &Path, facts: &FolderFacts) {
        let (mut all, now) = (self.all_seen(), SeenFolder::of(facts));
        let name = root.to_string_lossy().into_owned();
        if all.get(&name).is_some_and(|before| now.is_as(before)) {
            return;
        }
        all.insert(name, now);
        if let Ok(text) = toml::to_string(&all) {
            let _ = write_private(&self.seen_file(), text.as_bytes());
        }
    }

    /// Returns whether others can read a catalogue and this was not noted before, and notes it.
    pub fn notes_readers(&self, catalogue: &Path) -> bool {
        if matches!(Readers::of(catalogue), None | Some(Readers::Owner)) {
            return false;
        }
        let file = self.state.join("readers");
        let line = format!("{catalogue:?}\n");
        let noted = std::fs::read_to_string(&file).unwrap_or_default();
        let is_new = !noted.lines().any(|one| one == line.trim_end());
        if is_new {
            let _ = write_private(&file, (noted + &line).as_bytes());
        }
        is_new
    }

    fn seen_file(&self) -> PathBuf {
        self.state.join("seen.toml")
    }

    fn all_seen(&self) -> BTreeMap<String, SeenFolder> {
        let text = std::fs::read_to_string(self.seen_file()).unwrap_or_default();
        toml::from_str(&text).unwrap_or_default()
    }
}
