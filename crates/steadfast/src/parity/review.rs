//! Which of the stored sets are as the tree is now.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_manifest::tag::Tag;
use steadfast_parity::{Member, ProtectedFile, Redundancy};
use steadfast_sys::file::Timestamp;

use super::folder::{ParityFolder, SetFault, StoredSet};
use super::forgetting::Forgetting;
use super::identity::SetId;
use super::known::CataloguedFiles;
use super::member::{FileKeys, MemberState, state_with};
use super::place::{ParityPlace, system};
use super::scope::ParityScope;
use crate::error::Error;
use crate::event::FileError;

/// Sets that are less than half full: if there are more of them than this, the smallest are merged.
/// So files that are added day by day are read again once in this many days, with few others.
const OPEN_SETS_MAX: usize = 16;

/// A file of the sets that is not at its path any more, or has no tag there.
pub(super) struct DisplacedMember {
    pub(super) file: ProtectedFile,
    /// Whether something is at its path.
    pub(super) is_untagged: bool,
    /// The sets that it is in, and when the latest of them was made.
    pub(super) sets: Vec<SetId>,
    made_s: u64,
    /// Whether it was found by another path.
    pub(super) is_moved: bool,
    /// Why it is not let go of, although missing files are.
    pub(super) why_kept: Option<FileError>,
}

/// The files of the sets that are not at their paths any more.
#[derive(Default)]
pub(super) struct DisplacedMembers {
    pub(super) members: Vec<DisplacedMember>,
    /// The place of each path and tag among them.
    places: HashMap<u64, usize>,
    /// The places of those with a tag.
    by_tag: HashMap<u64, Vec<usize>>,
    /// Tags of files whose paths have other contents, by their length and modification time.
    overwritten: HashMap<(u64, Timestamp), Vec<Tag>>,
    /// Where a file has the length and the time of one of these, by the key of its contents.
    pub(super) perhaps_decayed: HashMap<u64, PathBuf>,
}

/// Which files the sets protect, by their keys.
#[derive(Default)]
pub(super) struct ProtectedKeys {
    /// Those that they protect as they are now.
    pub(super) held: HashSet<u64>,
    /// Those that they will, after names, times and modes were written anew.
    pub(super) pending: HashSet<u64>,
    /// Files of stale sets that are as protected.
    pub(super) held_by_stale: HashSet<u64>,
    /// When the path became protected that is the latest to have a tag, by the tag.
    pub(super) arrived: HashMap<u64, u64>,
    /// The tag of each file that is as protected, and when the first set was made that has it.
    first_made: HashMap<u64, (u64, u64)>,
}

/// What is known of the stored sets.
#[derive(Default)]
pub(super) struct Review {
    pub(super) keys: FileKeys,
    pub(super) protected: ProtectedKeys,
    /// Sets that stay.
    pub(super) kept: u64,
    /// The redundancy of the sets; of several, the highest.
    pub(super) redundancy: Option<Redundancy>,
    /// When the newest set was made.
    pub(super) newest_s: u64,
    /// Sets that are not as the tree is.
    pub(super) stale: Vec<SetId>,
    pub(super) displaced: DisplacedMembers,
    /// Sets that cannot be used, and stay.
    pub(super) faulty: Vec<(SetId, SetFault)>,
    /// Files with another time, mode or owner than a set has, by set and by path there.
    pub(super) restyled: BTreeMap<SetId, Vec<(PathBuf, ProtectedFile)>>,
    /// Sets of the same pages, by a digest of their marks, with the time at which they were made.
    pub(super) by_pages: HashMap<u64, Vec<(SetId, u64)>>,
    stale_ids: HashSet<SetId>,
    /// Whether some file of the sets is in the tree, whatever its state.
    has_found: bool,
    has_gone: bool,
    records: Vec<SetRecord>,
    cut: HashMap<(u64, u8), CutParts>,
}

/// What the review found of one set.
struct SetRecord {
    id: SetId,
    /// The number of its pages, if it is one of whole files, less than half full, and complete.
    open_pages: Option<u32>,
    is_stale: bool,
    held: Vec<u64>,
    pending: Vec<u64>,
}

/// The parts of a file that is cut over several sets.
#[derive(Default)]
struct CutParts {
    length: u64,
    /// Length in bytes of each part, by its first byte.
    parts: BTreeMap<u64, u64>,
    /// The places of their sets among the records.
    records: Vec<usize>,
}

/// By what sets are judged.
#[derive(Clone, Copy)]
pub(super) struct ReviewRule<'a> {
    /// The redundancy that is asked for; `None` for whatever they have.
    pub(super) redundancy: Option<Redundancy>,
    /// Whether every parity page is read.
    pub(super) proves: bool,
    /// What is let go of.
    pub(super) forgetting: &'a Forgetting,
    /// What the catalogue knows.
    pub(super) known: &'a CataloguedFiles,
    /// The part of the tree that is looked at; files elsewhere count as unchanged.
    pub(super) scope: Option<&'a ParityScope>,
}

impl DisplacedMembers {
    fn note_overwritten(&mut self, file: &ProtectedFile) {
        if let Ok(tag) = Tag::decode(&file.tag)
            && tag.length > 0
            && tag.mtime.nanoseconds != 0
        {
            self.overwritten.entry((tag.length, tag.mtime)).or_default().push(tag);
        }
    }
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
                Err(fault) => review.faulty.push((id, fault)),
            }
        }
        if rule.forgetting.is_any() && review.has_gone && !review.has_found {
            let message = "none of the files that this parity protects is in the tree: is it the \
                           parity of another tree, or is the tree not mounted? Nothing was removed";
            return Err(Error::usage(message).at(&place.folder()));
        }
        review.settle_moved();
        review.settle_cut();
        review.merge_open();
        review.settle_records();
        Ok(review)
    }

    fn add(&mut self, place: &ParityPlace, id: SetId, stored: &StoredSet, rule: ReviewRule<'_>) {
        let index = stored.set.index();
        let members = index.members();
        let origin = stored.set.header().origin;
        let made_s = origin.made_s;
        let (mut held, mut pending, mut restyled) = (Vec::new(), Vec::new(), Vec::new());
        let (mut is_stale, mut is_complete) = (false, true);
        for Member { file, .. } in members {
            let key = self.keys.of(file);
            if rule.scope.is_some_and(|scope| !scope.covers(&file.path)) {
                self.has_found = true;
                held.push(key);
                continue;
            }
            let state = state_with(place, Some(rule.known), file);
            self.has_found |= state != MemberState::Gone;
            self.has_gone |= state == MemberState::Gone;
            match state {
                MemberState::AsProtected => {
                    let tag = self.keys.of_tag(&file.tag);
                    let first = self.protected.first_made.entry(key).or_insert((tag, made_s));
                    first.1 = first.1.min(made_s);
                    held.push(key);
                }
                MemberState::Unknown(_) => held.push(key),
                MemberState::Restyled(now) => {
                    pending.push(self.keys.of(&now));
                    restyled.push((file.path.clone(), now));
                }
                MemberState::Changed { .. } => {
                    self.displaced.note_overwritten(file);
                    is_stale = true;
                }
                MemberState::Gone | MemberState::Untagged => {
                    let is_untagged = state == MemberState::Untagged;
                    is_stale |= self.note_displaced((id, made_s), file, is_untagged, rule);
                    is_complete = false;
                }
            }
        }
        self.redundancy = self.redundancy.max(Some(origin.redundancy));
        self.newest_s = self.newest_s.max(made_s);
        let is_weaker = rule.redundancy.is_some_and(|wanted| wanted != origin.redundancy);
        let is_whole = stored.set.damaged_blocks() == 0
            && stored.set.has_its_length()
            && !(rule.proves && stored.damaged_parity() > 0);
        is_stale |= is_weaker || !is_whole;
        self.by_pages.entry(self.keys.of_pages(index.marks())).or_default().push((id, made_s));
        let pages = index.geometry().pages();
        let is_open =
            is_complete && restyled.is_empty() && pages < origin.redundancy.pages_max() / 2;
        let mut open_pages = is_open.then_some(pages);
        if let [part] = members
            && part.length < part.file.length
        {
            let key = pending.first().or(held.first()).copied();
            let key = key.unwrap_or_else(|| self.keys.of(&part.file));
            let cut = self.cut.entry((key, origin.redundancy.percent())).or_default();
            cut.length = part.file.length;
            if !is_stale {
                cut.parts.insert(part.start, part.length);
            }
            cut.records.push(self.records.len());
            open_pages = None;
        }
        if !restyled.is_empty() && !is_stale {
            self.restyled.insert(id, restyled);
        }
        self.records.push(SetRecord { id, open_pages, is_stale, held, pending });
    }

    /// Notes that a file of a set is not at its path, and returns whether it is let go of.
    fn note_displaced(
        &mut self,
        (id, made_s): (SetId, u64),
        file: &ProtectedFile,
        is_untagged: bool,
        rule: ReviewRule<'_>,
    ) -> bool {
        let forgetting = rule.forgetting;
        let (is_let_go, why_kept) = match is_untagged {
            true => (forgetting.names(&file.path), None),
            false => match forgetting.lets_go_of(file, rule.known) {
                Ok(is_let_go) => (is_let_go, None),
                Err(why) => (false, Some(why)),
            },
        };
        if is_let_go {
            return true;
        }
        let next = self.displaced.members.len();
        let at = *self.displaced.places.entry(self.keys.of(file)).or_insert(next);
        if at == next {
            let tag = self.keys.of_tag(&file.tag);
            self.displaced.by_tag.entry(tag).or_default().push(at);
            let (file, sets) = (file.clone(), Vec::new());
            let is_moved = false;
            let gone = DisplacedMember { file, is_untagged, sets, made_s, is_moved, why_kept };
            self.displaced.members.push(gone);
        }
        let displaced = &mut self.displaced.members[at];
        displaced.sets.push(id);
        displaced.made_s = displaced.made_s.max(made_s);
        false
    }

    /// Sets of files that are by another path in a set that was made later go: a run ended after it
    /// had written that.
    fn settle_moved(&mut self) {
        for (tag, made_s) in std::mem::take(&mut self.protected.first_made).into_values() {
            let arrived = self.protected.arrived.entry(tag).or_default();
            *arrived = made_s.max(*arrived);
        }
        let mut stale: HashSet<SetId> = HashSet::new();
        for file in &mut self.displaced.members {
            let arrived = self.protected.arrived.get(&self.keys.of_tag(&file.file.tag));
            if arrived.is_some_and(|made_s| *made_s > file.made_s) {
                file.is_moved = true;
                stale.extend(&file.sets);
            }
        }
        for record in self.records.iter_mut().filter(|record| stale.contains(&record.id)) {
            record.is_stale = true;
        }
    }

    /// A cut file is held if all its parts are; otherwise it is made anew.
    fn settle_cut(&mut self) {
        for cut in std::mem::take(&mut self.cut).into_values() {
            let is_whole = cut.parts.values().sum::<u64>() == cut.length;
            if !is_whole || cut.records.iter().any(|at| self.records[*at].is_stale) {
                cut.records.into_iter().for_each(|at| self.records[at].is_stale = true);
            }
        }
    }

    /// Gives up the smallest of too many open sets, as many as one set has room for.
    fn merge_open(&mut self) {
        let open = self.records.iter_mut().filter(|record| !record.is_stale);
        let open = open.filter_map(|record| Some((record.open_pages?, record)));
        let mut open: Vec<(u32, &mut SetRecord)> = open.collect();
        if open.len() <= OPEN_SETS_MAX {
            return;
        }
        open.sort_unstable_by_key(|(pages, record)| (*pages, record.id));
        let mut room = self.redundancy.unwrap_or_default().pages_max();
        for (pages, record) in open {
            let Some(left) = room.checked_sub(pages) else { break };
            room = left;
            record.is_stale = true;
        }
    }

    /// Gathers what the sets that stay have.
    fn settle_records(&mut self) {
        for record in std::mem::take(&mut self.records) {
            if record.is_stale {
                self.restyled.remove(&record.id);
                self.protected.held_by_stale.extend(record.held);
                self.protected.held_by_stale.extend(record.pending);
                self.stale.push(record.id);
                self.stale_ids.insert(record.id);
                continue;
            }
            self.kept += 1;
            self.protected.held.extend(record.held);
            self.protected.pending.extend(record.pending);
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
        for id in &self.stale {
            let Ok(stored) = folder.set(id) else { continue };
            let members = stored.set.index().members().iter().map(|member| &member.file.path);
            paths.extend(members.filter(|path| !scope.covers(path)).cloned());
        }
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Notes that a file may be one of those whose paths have other contents now, which decayed and
    /// was renamed. Decay keeps the time, and a file that lost its tag gets a new one by any verb
    /// that writes tags. Times in whole seconds are shared by many files, so they show nothing.
    pub(super) fn note_perhaps_decayed(&mut self, path: &Path, tag: &Tag) {
        let age = (tag.length, tag.mtime);
        let Some(overwritten) = self.displaced.overwritten.get(&age) else { return };
        let is_other = |was: &&Tag| {
            was.algorithm == tag.algorithm && was.digest != tag.digest && was.tagged <= tag.tagged
        };
        for was in overwritten.iter().filter(is_other) {
            let key = self.keys.of_tag(was.encode().as_bytes());
            self.displaced.perhaps_decayed.entry(key).or_insert_with(|| path.to_owned());
        }
    }

    /// Returns the place in `displaced` of a file that had this tag: the same contents and time.
    pub(super) fn displaced_with(&self, tag: &Tag) -> Option<usize> {
        let places = self.displaced.by_tag.get(&self.keys.of_tag(tag.encode().as_bytes()))?;
        places.iter().copied().find(|at| !self.displaced.members[*at].is_moved)
    }

    /// Says whether a set is one that does not stay.
    pub(super) fn is_stale(&self, id: &SetId) -> bool {
        self.stale_ids.contains(id)
    }
}
