//! Which of the stored sets are as the tree is now.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use steadfast_manifest::tag::Tag;
use steadfast_parity::{ProtectedFile, Redundancy};
use steadfast_sys::file::Timestamp;

use super::folder::{ParityFolder, SetFault, StoredSet};
use super::identity::SetId;
use super::made::ParityOptions;
use super::needed::Recorded;
use super::place::{ParityPlace, system};
use super::protection::{FileParts, SetProtection};
use super::recorded::TreeRecords;
use super::scope::ParityScope;
use crate::error::Error;
use crate::event::FileError;

/// Sets that are less than half full: if there are more of them than this, the smallest are merged.
/// So files that are added day by day are read again once in this many days, with few others.
const OPEN_SETS_MAX: usize = 16;

/// What a run is to do, and where.
#[derive(Clone, Copy)]
pub(super) struct ParityTask<'a> {
    pub(super) place: &'a ParityPlace,
    pub(super) folder: &'a ParityFolder,
    pub(super) options: &'a ParityOptions,
    pub(super) records: &'a TreeRecords<'a>,
    /// The part of the tree that is looked at; `None` for all. Files elsewhere count as unchanged.
    pub(super) scope: Option<&'a ParityScope>,
    /// How long earlier sets are kept.
    pub(super) keep_earlier: Duration,
    /// Whether every parity page is read.
    pub(super) proves: bool,
    pub(super) begun: Instant,
}

/// A file of the sets that is recorded, and missing or without a tag.
pub(super) struct LostFile {
    pub(super) file: ProtectedFile,
    /// Whether something is at its path.
    pub(super) is_there: bool,
    /// The sets that it is in, and when the latest of them was made.
    pub(super) sets: Vec<SetId>,
    made_s: u64,
    /// Whether it was found by another path.
    pub(super) is_moved: bool,
    /// Why it is not released, although missing files are.
    pub(super) why_kept: Option<FileError>,
}

/// What is known of the stored sets.
#[derive(Default)]
pub(super) struct Review {
    pub(super) protection: SetProtection,
    /// Sets that stay.
    pub(super) kept: u64,
    /// The redundancy of the sets; of several, the highest.
    pub(super) redundancy: Option<Redundancy>,
    /// When the newest set was made.
    pub(super) newest_s: u64,
    /// Sets that are not as the tree is.
    pub(super) outdated: BTreeSet<SetId>,
    /// Sets that cannot be used, and stay.
    pub(super) faulty: Vec<(SetId, SetFault)>,
    /// Files with another name, time, mode or owner than a set has, by set and by path there.
    pub(super) renamed: BTreeMap<SetId, Vec<(PathBuf, ProtectedFile)>>,
    pub(super) lost: Vec<LostFile>,
    /// The places of these by tag.
    lost_by_tag: HashMap<u64, Vec<usize>>,
    /// Of the sets that stay, the latest with the same pages: by their marks, when it was made.
    by_pages: HashMap<u64, (u64, SetId)>,
    /// Tags of files whose paths have other contents, by length and modification time.
    overwritten: HashMap<(u64, Timestamp), Vec<Tag>>,
    /// Files with the length and the time of one of these, by its tag.
    similar: HashMap<u64, PathBuf>,
}

/// A review that has not seen all sets yet.
#[derive(Default)]
struct Reviewer {
    review: Review,
    sets: Vec<ReviewedSet>,
    /// Files that are cut over several sets, by file and redundancy, and the places of the sets.
    cut: HashMap<(u64, u8), (FileParts, Vec<usize>)>,
    /// Whether some file of the sets is in the tree, whatever its state; and whether one is gone.
    has_found: bool,
    has_gone: bool,
}

/// What the review found of one set.
struct ReviewedSet {
    id: SetId,
    made_s: u64,
    /// The key of its pages.
    pages: u64,
    /// The number of its pages, if it is one of whole files, less than half full, and complete.
    open_pages: Option<u32>,
    is_outdated: bool,
    /// Files that it has as they are now.
    files: Vec<u64>,
}

impl Review {
    /// Looks at all sets.
    ///
    /// # Errors
    /// If the folder cannot be listed; `Usage` if files are released and none is in the tree.
    pub(super) fn of(task: &ParityTask<'_>) -> Result<Review, Error> {
        let mut reviewer = Reviewer::default();
        let ids = task.folder.ids();
        for id in ids.map_err(|error| system("list the parity", error, task.place))? {
            if task.options.run.controls.stop.load(Ordering::Relaxed) {
                break;
            }
            match task.folder.set(&id) {
                Ok(stored) => reviewer.add(task, id, &stored),
                Err(fault) => reviewer.review.faulty.push((id, fault)),
            }
        }
        if task.records.releases() && reviewer.has_gone && !reviewer.has_found {
            let message = "none of the files that this parity protects is in the tree: is it the \
                           parity of another tree, or is the tree not mounted? Nothing was removed";
            return Err(Error::usage(message).at(&task.place.folder()));
        }
        Ok(reviewer.finish())
    }

    /// Returns the members of outdated sets that are outside of the part that is looked at, and so
    /// are not found by walking it.
    pub(super) fn paths_outside(&self, task: &ParityTask<'_>) -> BTreeSet<PathBuf> {
        let Some(scope) = task.scope else { return BTreeSet::new() };
        let stored = self.outdated.iter().filter_map(|id| task.folder.set(id).ok());
        let paths = stored.flat_map(|stored| {
            let members = stored.set.index().members().iter();
            members.map(|member| member.file.path.clone()).collect::<Vec<_>>()
        });
        paths.filter(|path| !scope.covers(path)).collect()
    }

    fn note_overwritten(&mut self, file: &ProtectedFile) {
        // Times in whole seconds are shared by many files, so they show nothing.
        if let Ok(tag) = Tag::decode(&file.tag)
            && tag.length > 0
            && tag.mtime.nanoseconds != 0
        {
            self.overwritten.entry((tag.length, tag.mtime)).or_default().push(tag);
        }
    }

    /// Notes that a file may be one of those whose paths have other contents now, which decayed and
    /// was renamed. Decay keeps the time, and a file that lost its tag gets a new one by any verb
    /// that writes tags.
    pub(super) fn note_similar(&mut self, path: &Path, tag: &Tag) {
        let Some(overwritten) = self.overwritten.get(&(tag.length, tag.mtime)) else { return };
        let is_other = |was: &&Tag| {
            was.algorithm == tag.algorithm && was.digest != tag.digest && was.tagged <= tag.tagged
        };
        for was in overwritten.iter().filter(is_other) {
            let key = self.protection.digest(was.encode().as_bytes());
            self.similar.entry(key).or_insert_with(|| path.to_owned());
        }
    }

    /// Returns a file that may be the one with a tag, decayed.
    pub(super) fn similar(&self, tag: &[u8]) -> Option<&PathBuf> {
        self.similar.get(&self.protection.digest(tag))
    }

    /// Notes that a file of a set made at a time is not at its path.
    fn note_lost(&mut self, id: SetId, made_s: u64, lost: LostFile) {
        let tag = self.protection.digest(&*lost.file.tag);
        let places = self.lost_by_tag.entry(tag).or_default();
        let known = places.iter().find(|at| self.lost[**at].file.path == lost.file.path).copied();
        let at = known.unwrap_or(self.lost.len());
        if known.is_none() {
            places.push(at);
            self.lost.push(lost);
        }
        let lost = &mut self.lost[at];
        lost.sets.push(id);
        lost.made_s = lost.made_s.max(made_s);
    }

    /// Returns the place of a lost file that had this tag: the same contents and time.
    pub(super) fn lost_with(&self, tag: &Tag) -> Option<usize> {
        let places = self.lost_by_tag.get(&self.protection.digest(tag.encode().as_bytes()))?;
        places.iter().copied().find(|at| !self.lost[*at].is_moved)
    }

    /// Returns a set that stays, has the pages of another one, and was made later.
    pub(super) fn later_with_pages(&self, stored: &StoredSet) -> Option<SetId> {
        let pages = self.protection.digest(stored.set.index().marks());
        let (made_s, id) = self.by_pages.get(&pages)?;
        (*made_s > stored.set.header().origin.made_s).then_some(*id)
    }
}

impl Reviewer {
    fn add(&mut self, task: &ParityTask<'_>, id: SetId, stored: &StoredSet) {
        let (index, origin) = (stored.set.index(), stored.set.header().origin);
        let (members, made_s) = (index.members(), origin.made_s);
        let review = &mut self.review;
        let (mut files, mut renamed) = (Vec::new(), Vec::new());
        let (mut is_outdated, mut is_complete) = (false, true);
        for file in members.iter().map(|member| &member.file) {
            let key = review.protection.key_of(file);
            if task.scope.is_some_and(|scope| !scope.covers(&file.path)) {
                self.has_found = true;
                files.push(key);
                continue;
            }
            let recorded = task.records.of(file);
            match &recorded {
                Recorded::Lost { is_there: false, .. } | Recorded::Released { is_there: false } => {
                    self.has_gone = true;
                }
                _ => self.has_found = true,
            }
            match recorded {
                Recorded::Here(now) if now == *file => {
                    review.protection.note_since(key, &file.tag, made_s);
                    files.push(key);
                }
                Recorded::Unclear(_) => files.push(key),
                Recorded::Here(now) => renamed.push((file.path.clone(), now)),
                Recorded::Disputed(_) | Recorded::Edited => {
                    review.note_overwritten(file);
                    is_outdated = true;
                }
                Recorded::Released { .. } => is_outdated = true,
                Recorded::Lost { is_there, why_kept } => {
                    let (file, sets, is_moved) = (file.clone(), Vec::new(), false);
                    let lost = LostFile { file, is_there, sets, made_s, is_moved, why_kept };
                    review.note_lost(id, made_s, lost);
                    is_complete = false;
                }
            }
        }
        review.redundancy = review.redundancy.max(Some(origin.redundancy));
        review.newest_s = review.newest_s.max(made_s);
        is_outdated |= task.options.redundancy.is_some_and(|wanted| wanted != origin.redundancy)
            || stored.set.damaged_blocks() > 0
            || !stored.set.has_its_length()
            || task.proves && stored.damaged_parity() > 0;
        let pages = index.geometry().pages();
        let is_open =
            is_complete && renamed.is_empty() && pages < origin.redundancy.pages_max() / 2;
        let mut open_pages = is_open.then_some(pages);
        if let [part] = members
            && part.length < part.file.length
        {
            let now = renamed.first().map_or(&part.file, |(_, now)| now);
            let key = (review.protection.key_of(now), origin.redundancy.percent());
            let (parts, sets) = self.cut.entry(key).or_default();
            if !is_outdated {
                parts.add(part);
            }
            sets.push(self.sets.len());
            open_pages = None;
        }
        if !renamed.is_empty() {
            review.renamed.insert(id, renamed);
        }
        let pages = review.protection.digest(index.marks());
        self.sets.push(ReviewedSet { id, made_s, pages, open_pages, is_outdated, files });
    }

    fn finish(mut self) -> Review {
        self.release_moved();
        // A cut file is kept if all its parts are; otherwise it is made anew.
        for (parts, sets) in std::mem::take(&mut self.cut).into_values() {
            if !parts.are_whole() || sets.iter().any(|at| self.sets[*at].is_outdated) {
                sets.into_iter().for_each(|at| self.sets[at].is_outdated = true);
            }
        }
        self.merge_open();
        let mut review = self.review;
        for ReviewedSet { id, made_s, pages, is_outdated, files, .. } in self.sets {
            let renamed = review.renamed.get(&id).into_iter().flatten();
            let pending: Vec<u64> = renamed.map(|(_, now)| review.protection.key_of(now)).collect();
            if is_outdated {
                review.renamed.remove(&id);
                review.outdated.insert(id);
                for key in files.into_iter().chain(pending) {
                    review.protection.note(key).is_outdated = true;
                }
                continue;
            }
            review.kept += 1;
            files.into_iter().for_each(|key| review.protection.note(key).is_kept = true);
            pending.into_iter().for_each(|key| review.protection.note(key).is_pending = true);
            let latest = review.by_pages.entry(pages).or_insert((made_s, id));
            *latest = (*latest).max((made_s, id));
        }
        review
    }

    /// Sets of files that are by another path in a set that was made later are outdated: a run
    /// ended after it had written that.
    fn release_moved(&mut self) {
        if self.review.lost.is_empty() && self.sets.iter().all(|set| !set.is_outdated) {
            return;
        }
        self.review.protection.note_arrivals();
        let mut outdated: HashSet<SetId> = HashSet::new();
        for lost in &mut self.review.lost {
            if self.review.protection.arrived_s(&lost.file.tag) > lost.made_s {
                lost.is_moved = true;
                outdated.extend(&lost.sets);
            }
        }
        for set in self.sets.iter_mut().filter(|set| outdated.contains(&set.id)) {
            set.is_outdated = true;
        }
    }

    /// Gives up the smallest of too many open sets, as many as one set has room for.
    fn merge_open(&mut self) {
        let open = self.sets.iter_mut().filter(|set| !set.is_outdated);
        let open = open.filter_map(|set| Some((set.open_pages?, set)));
        let mut open: Vec<(u32, &mut ReviewedSet)> = open.collect();
        if open.len() <= OPEN_SETS_MAX {
            return;
        }
        open.sort_unstable_by_key(|(pages, set)| (*pages, set.id));
        let mut room = self.review.redundancy.unwrap_or_default().pages_max();
        for (pages, set) in open {
            let Some(left) = room.checked_sub(pages) else { break };
            room = left;
            set.is_outdated = true;
        }
    }
}
