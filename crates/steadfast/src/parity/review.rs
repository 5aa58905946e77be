//! Which of the stored sets are as the tree is now.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_manifest::tag::Tag;
use steadfast_parity::{Member, ProtectedFile, Redundancy};

use super::folder::{ParityFolder, SetFault, StoredSet};
use super::identity::SetId;
use super::place::{ParityPlace, system};
use super::protected;
use super::scope::ParityScope;
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

    pub(super) fn remove(&mut self, path: &Path) {
        self.digests.remove(&self.key.hash_one(path));
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

/// Sets that are less than half full: if there are more of them than this, the smallest are merged.
/// So files that are added day by day are read again once in this many days, with few others.
const OPEN_SETS_MAX: usize = 16;

/// A set that is not as the tree is.
pub(super) struct StaleSet {
    pub(super) id: SetId,
    /// The files of it that are gone, which nothing else may be able to restore: their places in
    /// [`Review::gone`].
    pub(super) gone: Vec<usize>,
}

/// A file of the sets that is gone from the tree, or was renamed.
pub(super) struct GoneFile {
    pub(super) file: ProtectedFile,
    /// The sets that it is in.
    pub(super) sets: Vec<SetId>,
    /// Whether it was found by another path.
    pub(super) is_moved: bool,
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
    pub(super) gone: Vec<GoneFile>,
    /// Sets that cannot be opened, and stay.
    pub(super) unreadable: Vec<(SetId, io::Error)>,
    /// The place of each path in `gone`.
    gone_at: HashMap<PathBuf, usize>,
    /// The places of those with a tag.
    gone_tags: HashMap<Vec<u8>, Vec<usize>>,
    stale_ids: HashSet<SetId>,
    /// Whether some file of the sets is in the tree, whatever its state.
    has_found: bool,
    cut: HashMap<PathBuf, CutParts>,
    /// Sets of whole files that are less than half full, with the number of their pages.
    open: Vec<(u32, SetId)>,
    /// Of sets without files that are gone, digests of the marks of all pages.
    complete: HashSet<u64>,
    /// Sets that stay although files of theirs are gone, with the same digest.
    lacking: Vec<(SetId, u64)>,
    key: RandomState,
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
pub(super) struct ReviewRule<'a> {
    /// The redundancy that is asked for; `None` for whatever they have.
    pub(super) redundancy: Option<Redundancy>,
    /// Whether every parity page is read.
    pub(super) proves: bool,
    /// Whether files that are gone are let go of.
    pub(super) forgets: bool,
    /// The part of the tree that is looked at; files elsewhere count as unchanged.
    pub(super) scope: Option<&'a ParityScope>,
}

impl Review {
    /// Looks at all sets.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub(super) fn of(
        place: &ParityPlace,
        folder: &ParityFolder,
        rule: ReviewRule<'_>,
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
                    review.stale.push(StaleSet { id, gone: Vec::new() });
                }
                Err(SetFault::Unreadable(error)) => review.unreadable.push((id, error)),
            }
        }
        review.settle_renamed();
        review.settle_cut();
        review.merge_open(folder);
        review.stale_ids = review.stale.iter().map(|set| set.id).collect();
        if rule.forgets && !review.gone.is_empty() && !review.has_found {
            let message = "none of the files that this parity protects is in the tree: is it the \
                           parity of another tree, or is the tree not mounted? Nothing was removed";
            return Err(Error::usage(message).at(&place.folder()));
        }
        Ok(review)
    }

    fn add(&mut self, place: &ParityPlace, id: SetId, stored: &StoredSet, rule: ReviewRule<'_>) {
        let index = stored.set.index();
        let members = index.members();
        let (mut changed, mut gone) = (false, Vec::new());
        for member in members {
            if rule.scope.is_some_and(|scope| !scope.covers(&member.file.path)) {
                self.has_found = true;
                continue;
            }
            let state = state_of(place, &member.file);
            self.has_found |= !matches!(state, MemberState::Gone);
            match state {
                MemberState::AsProtected | MemberState::Unknown => {}
                MemberState::Changed => changed = true,
                MemberState::Gone => gone.push(self.note_gone(id, &member.file)),
            }
        }
        let origin = stored.set.header().origin;
        self.redundancy = self.redundancy.max(Some(origin.redundancy));
        let is_weaker = rule.redundancy.is_some_and(|wanted| wanted != origin.redundancy);
        let is_whole = stored.set.damaged_blocks() == 0
            && stored.set.has_its_length()
            && !(rule.proves && stored.damaged_parity() > 0);
        if changed || is_weaker || !is_whole || (!gone.is_empty() && rule.forgets) {
            let gone = if rule.forgets { Vec::new() } else { gone };
            return self.stale.push(StaleSet { id, gone });
        }
        let pages = self.key.hash_one(index.marks());
        match gone.is_empty() {
            true => _ = self.complete.insert(pages),
            false => self.lacking.push((id, pages)),
        }
        match members {
            [part] if part.length < part.file.length => self.add_part(id, part),
            _ => {
                self.kept += 1;
                members.iter().for_each(|member| _ = self.covered.insert(&member.file.path));
                let pages = index.geometry().pages();
                if gone.is_empty() && pages < origin.redundancy.pages_max() / 2 {
                    self.open.push((pages, id));
                }
            }
        }
    }

    /// Notes that a file of a set is gone, and returns its place among those that are.
    fn note_gone(&mut self, id: SetId, file: &ProtectedFile) -> usize {
        let next = self.gone.len();
        let at = *self.gone_at.entry(file.path.clone()).or_insert(next);
        match self.gone.get_mut(at) {
            Some(gone) => gone.sets.push(id),
            None => {
                self.gone_tags.entry(file.tag.clone()).or_default().push(at);
                self.gone.push(GoneFile { file: file.clone(), sets: vec![id], is_moved: false });
            }
        }
        at
    }

    fn add_part(&mut self, id: SetId, part: &Member) {
        let cut = self.cut.entry(part.file.path.clone()).or_default();
        cut.length = part.file.length;
        cut.parts.insert(part.start, part.length);
        cut.sets.push(id);
    }

    /// A set that has files by old names goes if the same pages are in one with their new names:
    /// a run ended after it had written that.
    fn settle_renamed(&mut self) {
        for (id, pages) in std::mem::take(&mut self.lacking) {
            if !self.complete.contains(&pages) {
                continue;
            }
            self.stale.push(StaleSet { id, gone: Vec::new() });
            self.kept = self.kept.saturating_sub(1);
            for gone in &mut self.gone {
                gone.sets.retain(|set| *set != id);
                gone.is_moved |= gone.sets.is_empty();
            }
            self.cut.retain(|_, cut| !cut.sets.contains(&id));
        }
    }

    /// A cut file is covered if all its parts are there; otherwise it is made anew.
    fn settle_cut(&mut self) {
        for (path, cut) in std::mem::take(&mut self.cut) {
            if cut.parts.values().sum::<u64>() == cut.length {
                self.covered.insert(&path);
                self.kept += cut.sets.len() as u64;
                continue;
            }
            let gone: Vec<usize> = self.gone_at.get(&path).copied().into_iter().collect();
            self.stale.extend(cut.sets.into_iter().map(|id| StaleSet { id, gone: gone.clone() }));
        }
    }

    /// Gives up the smallest of too many open sets, as many as one set has room for.
    fn merge_open(&mut self, folder: &ParityFolder) {
        if self.open.len() <= OPEN_SETS_MAX {
            return;
        }
        self.open.sort_unstable();
        let mut room = self.redundancy.unwrap_or_default().pages_max();
        for (pages, id) in std::mem::take(&mut self.open) {
            let Some(left) = room.checked_sub(pages) else { break };
            let Ok(stored) = folder.set(&id) else { continue };
            room = left;
            let members = stored.set.index().members();
            members.iter().for_each(|member| self.covered.remove(&member.file.path));
            self.kept -= 1;
            self.stale.push(StaleSet { id, gone: Vec::new() });
        }
    }

    /// Returns the members of stale sets that are outside of the part that is looked at, and so are
    /// not found by walking it.
    pub(super) fn paths_outside(
        &self,
        scope: Option<&ParityScope>,
        folder: &ParityFolder,
    ) -> Vec<PathBuf> {
        let Some(scope) = scope else { return Vec::new() };
        let mut paths = Vec::new();
        for set in &self.stale {
            let Ok(stored) = folder.set(&set.id) else { continue };
            let members = stored.set.index().members().iter().map(|member| &member.file.path);
            paths.extend(members.filter(|path| !scope.covers(path)).cloned());
        }
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Returns the place in `gone` of a file that had this tag: the same contents and time.
    pub(super) fn gone_with(&self, tag: &Tag) -> Option<usize> {
        let places = self.gone_tags.get(tag.encode().as_bytes())?;
        places.iter().copied().find(|at| !self.gone[*at].is_moved)
    }

    /// Says whether a set is one that does not stay.
    pub(super) fn is_stale(&self, id: &SetId) -> bool {
        self.stale_ids.contains(id)
    }
}
