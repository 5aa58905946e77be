//! Which of the stored sets are as the tree is now.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_parity::{Member, ProtectedFile, Redundancy};

use super::folder::{ParityFolder, SetFault, StoredSet};
use super::identity::SetId;
use super::place::{ParityPlace, system};
use super::protected;
use crate::beneath;
use crate::error::Error;
use crate::store::{StoredTag, tag_at};

/// A set of paths, of which only digests with a random key are held.
#[derive(Default)]
pub(super) struct PathSet {
    key: RandomState,
    digests: HashSet<u64>,
}

impl PathSet {
    pub(super) fn insert(&mut self, path: &Path) -> bool {
        self.digests.insert(self.key.hash_one(path))
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        self.digests.contains(&self.key.hash_one(path))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }
}

/// How a member of a set is found in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberState {
    /// With the tag, the mode and the owner that the set has of it.
    AsProtected,
    /// With others.
    Changed,
    /// Not at all.
    Gone,
    /// That cannot be told.
    Unknown,
}

/// Looks for a member in the tree. Its contents are not read.
pub(super) fn state_of(place: &ParityPlace, member: &ProtectedFile) -> MemberState {
    let file = match beneath::file(place.root(), &member.path) {
        Ok(file) => file,
        Err(error) => return state_of_unopened(&error),
    };
    let tag = match tag_at(&file, &place.root().join(&member.path)) {
        Ok(StoredTag::Whole(tag)) => tag,
        // The catalogue may have it. The file is then read again, and gives the same set.
        Ok(_) => return MemberState::Changed,
        Err(_) => return MemberState::Unknown,
    };
    match protected(member.path.clone(), &tag, &file) {
        Ok(now) if now == *member => MemberState::AsProtected,
        Ok(_) => MemberState::Changed,
        Err(_) => MemberState::Unknown,
    }
}

fn state_of_unopened(error: &io::Error) -> MemberState {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    match error.kind() {
        NotFound | NotADirectory => MemberState::Gone,
        // Something else has its name.
        InvalidInput => MemberState::Changed,
        _ => MemberState::Unknown,
    }
}

/// A set that is not as the tree is.
pub(super) struct StaleSet {
    pub(super) id: SetId,
    /// Whether it has files that are gone, which nothing else may be able to restore.
    pub(super) has_gone: bool,
}

/// What is known of the stored sets.
#[derive(Default)]
pub(super) struct Review {
    /// The files that sets protect as they are now.
    pub(super) covered: PathSet,
    /// Sets that stay.
    pub(super) kept: u64,
    /// The redundancy of the sets; of several, the highest.
    pub(super) redundancy: Option<Redundancy>,
    pub(super) stale: Vec<StaleSet>,
    /// Files of the sets that are gone from the tree.
    pub(super) gone: Vec<PathBuf>,
    /// Sets that cannot be opened, and stay.
    pub(super) unreadable: Vec<(SetId, io::Error)>,
    seen_gone: PathSet,
    /// Whether some file of the sets is in the tree, whatever its state.
    has_found: bool,
    cut: HashMap<PathBuf, CutParts>,
}

/// The parts of a file that is cut over several sets.
#[derive(Default)]
struct CutParts {
    length: u64,
    /// Length in bytes of each part, by its first byte.
    parts: BTreeMap<u64, u64>,
    sets: Vec<SetId>,
}

/// By what sets are judged.
#[derive(Clone, Copy)]
pub(super) struct ReviewRule {
    /// The redundancy that is asked for; `None` for whatever they have.
    pub(super) redundancy: Option<Redundancy>,
    /// Whether every parity page is read.
    pub(super) proves: bool,
    /// Whether files that are gone are let go of.
    pub(super) forgets: bool,
}

impl Review {
    /// Looks at all sets.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub(super) fn of(
        place: &ParityPlace,
        folder: &ParityFolder,
        rule: ReviewRule,
        stop: &AtomicBool,
    ) -> Result<Review, Error> {
        let mut review = Review::default();
        let ids = folder.ids().map_err(|error| system("list the parity", error, place))?;
        for id in ids {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            match folder.set(&id) {
                Ok(stored) => review.add(place, id, &stored, rule),
                Err(SetFault::Damaged(_)) => {
                    review.stale.push(StaleSet { id, has_gone: false });
                }
                Err(SetFault::Unreadable(error)) => review.unreadable.push((id, error)),
            }
        }
        review.settle_cut();
        if rule.forgets && !review.gone.is_empty() && !review.has_found {
            let message = "none of the files that this parity protects is in the tree: is it the \
                           parity of another tree, or is the tree not mounted? Nothing was removed";
            return Err(Error::usage(message).at(&place.folder()));
        }
        Ok(review)
    }

    fn add(&mut self, place: &ParityPlace, id: SetId, stored: &StoredSet, rule: ReviewRule) {
        let members = stored.set.index().members();
        let (mut changed, mut gone) = (false, false);
        for member in members {
            let state = state_of(place, &member.file);
            self.has_found |= !matches!(state, MemberState::Gone);
            match state {
                MemberState::AsProtected | MemberState::Unknown => {}
                MemberState::Changed => changed = true,
                MemberState::Gone => {
                    gone = true;
                    if self.seen_gone.insert(&member.file.path) {
                        self.gone.push(member.file.path.clone());
                    }
                }
            }
        }
        let origin = stored.set.header().origin;
        self.redundancy = self.redundancy.max(Some(origin.redundancy));
        let is_weaker = rule.redundancy.is_some_and(|wanted| wanted != origin.redundancy);
        let is_whole = stored.set.damaged_blocks() == 0
            && stored.set.has_its_length()
            && !(rule.proves && stored.damaged_parity() > 0);
        if changed || is_weaker || !is_whole || (gone && rule.forgets) {
            let has_gone = gone && !rule.forgets;
            return self.stale.push(StaleSet { id, has_gone });
        }
        match members {
            [part] if part.length < part.file.length => self.add_part(id, part),
            _ => self.keep(members),
        }
    }

    fn keep(&mut self, members: &[Member]) {
        self.kept += 1;
        for member in members {
            self.covered.insert(&member.file.path);
        }
    }

    fn add_part(&mut self, id: SetId, part: &Member) {
        let cut = self.cut.entry(part.file.path.clone()).or_default();
        cut.length = part.file.length;
        cut.parts.insert(part.start, part.length);
        cut.sets.push(id);
    }

    /// A cut file is covered if all its parts are there; otherwise it is made anew.
    fn settle_cut(&mut self) {
        for (path, cut) in std::mem::take(&mut self.cut) {
            if cut.parts.values().sum::<u64>() == cut.length {
                self.covered.insert(&path);
                self.kept += cut.sets.len() as u64;
                continue;
            }
            let has_gone = self.seen_gone.contains(&path);
            self.stale.extend(cut.sets.into_iter().map(|id| StaleSet { id, has_gone }));
        }
    }
}
