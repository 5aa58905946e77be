//! Which files the sets protect, as a run learns it. A file is here by a digest, with a random key,
//! of its path and its tag.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use steadfast_parity::{Member, ProtectedFile};

use super::needed::OtherSets;
use crate::verdict::Verdict;

/// What is known of the protection of one file.
#[derive(Clone, Copy, Default)]
pub(super) struct FileProtection {
    /// A set that stays has it as it is now.
    pub(super) is_kept: bool,
    /// A set will have it as it is now, after it was written anew.
    pub(super) is_pending: bool,
    /// A set that does not stay has it.
    pub(super) is_outdated: bool,
    /// It has a tag, and is to be protected.
    pub(super) is_found: bool,
    /// It was read whole, and a sound set has it.
    pub(super) is_proved: bool,
    tag: u64,
    /// When the first set was made that has it as it is now; 0 if none was seen.
    since_s: u64,
}

/// The latest path at which files with one tag became protected.
#[derive(Clone, Copy, Default)]
struct LatestPath {
    made_s: u64,
    is_proved: bool,
}

/// Which files the sets protect.
#[derive(Default)]
pub(super) struct SetProtection {
    random: RandomState,
    files: HashMap<u64, FileProtection>,
    /// By tag.
    arrivals: HashMap<u64, LatestPath>,
    /// What is wrong with files, by path.
    failed: HashMap<u64, Verdict>,
}

impl SetProtection {
    /// Returns the key of a path and a tag.
    pub(super) fn key(&self, path: &Path, tag: &[u8]) -> u64 {
        self.random.hash_one((path, tag))
    }

    /// Returns the key of a file.
    pub(super) fn key_of(&self, file: &ProtectedFile) -> u64 {
        self.key(&file.path, &file.tag)
    }

    /// Returns the key of a tag alone, or of the marks of a set's pages.
    pub(super) fn digest(&self, value: impl std::hash::Hash) -> u64 {
        self.random.hash_one(value)
    }

    /// Returns what is known of a file.
    pub(super) fn of(&self, key: u64) -> FileProtection {
        self.files.get(&key).copied().unwrap_or_default()
    }

    /// Returns what is known of a file, to add to it.
    pub(super) fn note(&mut self, key: u64) -> &mut FileProtection {
        self.files.entry(key).or_default()
    }

    /// Notes that a set, made at a time, has a file as it is now.
    pub(super) fn note_since(&mut self, key: u64, tag: &[u8], made_s: u64) {
        let tag = self.digest(tag);
        let file = self.note(key);
        file.tag = tag;
        file.since_s = if file.since_s == 0 { made_s } else { made_s.min(file.since_s) };
    }

    /// Notes why a file is not protected.
    pub(super) fn note_failed(&mut self, path: &Path, verdict: Verdict) {
        self.failed.insert(self.digest(path), verdict);
    }

    /// Finds out for each tag when the latest path became protected that has it.
    pub(super) fn note_arrivals(&mut self) {
        for file in self.files.values().filter(|file| file.since_s > 0) {
            let arrival = self.arrivals.entry(file.tag).or_default();
            arrival.made_s = arrival.made_s.max(file.since_s);
        }
    }

    /// Notes that a set that this run made has a file; `is_read` if the file was read for that.
    pub(super) fn note_written(&mut self, key: u64, tag: u64, is_read: bool, made_s: u64) {
        let file = self.note(key);
        file.is_kept = true;
        file.is_proved |= is_read;
        // One that an older set has did not come from another path.
        if !file.is_outdated {
            let arrival = self.arrivals.entry(tag).or_default();
            arrival.made_s = made_s;
            arrival.is_proved |= is_read;
        }
    }

    /// Notes that a file was read whole, and that a sound set has it.
    pub(super) fn note_proved(&mut self, key: u64, tag: &[u8]) {
        self.note(key).is_proved = true;
        let tag = self.digest(tag);
        self.arrivals.entry(tag).or_default().is_proved = true;
    }

    /// Returns when the latest path became protected that has a tag; 0 if none did.
    pub(super) fn arrived_s(&self, tag: &[u8]) -> u64 {
        self.arrivals.get(&self.digest(tag)).map_or(0, |arrival| arrival.made_s)
    }

    /// Returns how many files with tags were found, and how many of them a set has.
    pub(super) fn counts(&self) -> (u64, u64) {
        let found = self.files.values().filter(|file| file.is_found);
        let protected = found.clone().filter(|file| file.is_kept);
        (found.count() as u64, protected.count() as u64)
    }

    /// Returns what other sets have of a file that is at its path.
    pub(super) fn of_present(&self, file: &ProtectedFile) -> OtherSets {
        let known = self.of(self.key_of(file));
        match self.failed.get(&self.digest(&file.path)) {
            _ if known.is_proved => OtherSets::Prove,
            Some(verdict) => OtherSets::Failed(*verdict),
            None if known.is_kept => OtherSets::Have,
            None => OtherSets::Lack,
        }
    }

    /// Returns what other sets have of a file that is not at its path, and was in a set made at a
    /// time: whether one with its tag came to another path since.
    pub(super) fn of_moved(&self, tag: &[u8], made_s: u64) -> OtherSets {
        match self.arrivals.get(&self.digest(tag)) {
            Some(arrival) if arrival.made_s <= made_s => OtherSets::Lack,
            Some(arrival) if arrival.is_proved => OtherSets::Prove,
            Some(_) => OtherSets::Have,
            None => OtherSets::Lack,
        }
    }
}

/// The parts of a file that sets have.
#[derive(Default)]
pub(super) struct FileParts {
    length: u64,
    /// Length in bytes of each part, by its first byte.
    parts: std::collections::BTreeMap<u64, u64>,
}

impl FileParts {
    pub(super) fn add(&mut self, member: &Member) {
        self.length = member.file.length;
        self.parts.insert(member.start, member.length);
    }

    /// Says whether all of the file is there.
    pub(super) fn are_whole(&self) -> bool {
        self.parts.values().sum::<u64>() == self.length
    }
}
