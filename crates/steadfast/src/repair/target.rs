//! Which files are to be repaired: a check, and what it found corrupt, missing or unreadable.
//!
//! Files that were edited, or may have been, are among them only if they are asked for.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast_digest::Digest;
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{Status, Timestamp};

use super::gone::GoneFiles;
use crate::advice::Advice;
use crate::beneath;
use crate::byte_ranges::ByteRanges;
use crate::catalogue::{
    Catalogue, CatalogueError, CatalogueReader, LOOKUP_MAX, LookupMatch, real_of,
};
use crate::error::Error;
use crate::event::{FileEvent, FilePath, Notice, Subject};
use crate::finding::Finding;
use crate::monitor::{Event, Monitor, Progress};
use crate::run::{CheckOptions, Options, Verb};
use crate::selection::Selection;
use crate::store::xattr::Xattr;
use crate::store::{Store as _, StoredTag};
use crate::unguarded::run;
use crate::verdict::{Reason, Verdict, same_mtime};

/// Targets that are kept in memory; further ones are counted, for another run.
const TARGETS_MAX: usize = 100_000;

/// Damaged parts of a target that are kept in memory: 1 KiB. A file with more is read again.
const DAMAGED_PARTS_MAX: usize = 64;

/// Targets whose former names are looked for by inode, which reads all entries of the catalogue.
const BY_INODE_MAX: usize = 64;

/// Files with the contents of a target that are opened.
const DUPLICATES_MAX: usize = 8;

/// Other names of a file that are kept in memory.
const NAMES_MAX: usize = 64;

/// Names of one inode that are asked for.
const FORMER_NAMES_MAX: usize = 8;

/// A file that is not as its tag says.
#[derive(Clone, Debug)]
pub struct RepairTarget {
    /// The path as the user would write it.
    pub path: PathBuf,
    /// What the check said of it.
    pub verdict: Verdict,
    /// The tag: what the file should be.
    pub tag: Tag,
    /// The root of its tree: that of the catalogue, or else what was selected. A real path.
    pub root: PathBuf,
    /// The path beneath the root.
    pub relative: PathBuf,
    /// The path beneath what was selected; empty if the file itself was.
    pub(super) selected: PathBuf,
    /// Paths beneath the root that the file had before it was renamed, the last one first. Another
    /// file may be there now.
    pub(super) former: Vec<PathBuf>,
    /// The catalogue, if the tree has one.
    pub(super) catalogue: Option<PathBuf>,
    /// Paths beneath the root that the catalogue has of files with the contents, and whether they
    /// were found so: these come first.
    pub(super) duplicates: Vec<(PathBuf, bool)>,
    /// Those of the inode that it has of the file, which may be other names of it.
    pub(super) names: Vec<PathBuf>,
    /// What the file was when the check had read it. A file that is anything else by now was
    /// changed since, and is left alone. `None` if it is missing, or could not be opened.
    pub(super) status: Option<Status>,
    /// Whether the file lost the tag, or has a damaged one: a record of the catalogue or of the
    /// parity has it.
    pub(super) lacks_tag: bool,
    /// The parts that the check found damaged or unreadable by the leaves of the file.
    pub(super) damage: Option<ByteRanges>,
    /// When the file was modified when it was last proved, if the catalogue knows that.
    pub(super) proved_mtime: Option<Timestamp>,
}

impl RepairTarget {
    /// Returns the real path of what was selected.
    pub(super) fn selected_path(&self) -> PathBuf {
        let path = self.root.join(&self.relative);
        let above = path.ancestors().nth(self.selected.components().count());
        above.unwrap_or(&self.root).to_owned()
    }

    /// Returns when the file was last changed, if it may have been edited.
    pub fn changed_at(&self) -> Option<Timestamp> {
        self.status.filter(|_| !self.verdict.is_damage()).map(|status| status.ctime)
    }

    /// Returns the modification time that the repaired file gets: that of its last proof. The tag
    /// keeps an earlier one if the date alone was changed since.
    pub(super) fn mtime(&self) -> Timestamp {
        self.proved_mtime.unwrap_or(self.tag.mtime)
    }

    /// Says whether the file still is what the check read. A file of which the check knows nothing
    /// counts as such.
    pub(super) fn is_as_checked(&self, now: &Status) -> bool {
        self.status.is_none_or(|checked| checked == *now)
    }
}

/// Returns the damage that the event of a check has; `None` if it has none, or too many parts.
pub(super) fn damage_of(event: &FileEvent) -> Option<ByteRanges> {
    let damage = event.damage.as_deref().filter(|_| event.visit.status.is_some())?;
    let parts: ByteRanges = damage.damaged().chain(damage.unreadable()).collect();
    (parts.count() <= DAMAGED_PARTS_MAX).then_some(parts)
}

/// What a check found that a repair leaves alone, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftAlone {
    /// Files that were edited.
    pub modified: u64,
    /// Files that something wrote to, which kept their dates.
    pub suspect: u64,
    /// Files with other contents than a record without times.
    pub differs: u64,
    /// Files without a tag.
    pub untagged: u64,
    /// Findings besides verdicts that fail a check, as a tag that another program replaced.
    pub findings: u64,
}

impl LeftAlone {
    /// Returns whether everything with a tag is as tagged.
    pub(super) fn is_fine(self) -> bool {
        (self.modified, self.suspect, self.differs, self.findings) == (0, 0, 0, 0)
    }
}

/// What a check found to repair.
#[derive(Debug, Default)]
pub(super) struct FoundTargets {
    /// The files, in walk order.
    pub(super) targets: Vec<RepairTarget>,
    /// Damaged files beyond those that one run repairs, or without a tag.
    pub(super) more: u64,
    /// Files and directories of which the check could not tell what they should be.
    pub(super) undecided: Vec<PathBuf>,
    /// What is not as the tags say, and is left alone.
    pub(super) left: LeftAlone,
    /// Folders in which a move was cut off.
    pub(super) moving: Vec<PathBuf>,
    /// Whether something kept the check from telling all.
    pub(super) is_incomplete: bool,
    /// Whether the check was told to stop before its end.
    pub(super) interrupted: bool,
}

/// Which contents files are to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RepairGoal {
    /// Those of their tags, also for edited files that are themselves selected if `edited`, and
    /// for all suspect files if `suspects`: otherwise only for those that are themselves selected.
    Tag { edited: bool, suspects: bool },
    /// Those of their tags, for files of which it is proved that nothing wrote to them. All others
    /// are left alone.
    Proved,
    /// Those of the tag before the present one, for files that are themselves selected. Other files
    /// are left alone.
    Previous,
}

/// Checks a selection and returns the files that can be asked to be repaired. `all_lost` is
/// [`CheckOptions::all_lost`].
///
/// `monitor` hears of progress and notices.
///
/// # Errors
/// As those of [`run`].
pub(super) fn find_targets(
    selection: &Selection,
    options: &Options,
    (goal, all_lost): (RepairGoal, bool),
    monitor: &mut dyn Monitor,
) -> Result<FoundTargets, Error> {
    let given =
        selection.roots.iter().chain(&selection.listed).map(|path| SelectedRoot::of(path, options));
    let given = given.collect::<Result<Vec<_>, _>>()?;
    if goal == RepairGoal::Previous
        && let Some(folder) = given.iter().find(|given| beneath::is_folder(&given.real))
    {
        let message = "earlier contents are restored only of files that are named themselves";
        return Err(Error::usage(message).at(&folder.shown));
    }
    let mut finder = Finder { given, goal, found: FoundTargets::default(), monitor };
    let check = Verb::Check(CheckOptions { all_lost, ..CheckOptions::default() });
    let summary = run(check, selection, options, &mut finder)?;
    if !summary.interrupted && matches!(goal, RepairGoal::Tag { .. }) {
        finder.add_missing();
    }
    ask_catalogues(&mut finder.found.targets);
    Ok(FoundTargets { interrupted: summary.interrupted, ..finder.found })
}

/// A path as selected, and the tree that it is in.
pub(super) struct SelectedRoot {
    shown: PathBuf,
    /// The real path of it, or of what it was.
    real: PathBuf,
    /// The root of the tree.
    pub(super) root: PathBuf,
    pub(super) catalogue: Option<PathBuf>,
    /// Files that only the parity misses.
    gone: GoneFiles,
}

impl SelectedRoot {
    /// Notes that a file is as its tag says.
    fn see(&mut self, path: &Path, tag: &Tag) {
        if let Ok(selected) = path.strip_prefix(&self.shown) {
            self.gone.see(&self.real.join(selected), tag);
        }
    }

    /// Returns the tag that the parity recorded of a file without a readable tag. A file with
    /// another modification time was edited since.
    pub(super) fn recorded(&self, path: &Path, status: &Status) -> Option<Tag> {
        let selected = path.strip_prefix(&self.shown).ok()?;
        let is_given = selected.as_os_str().is_empty();
        let real = if is_given { self.real.clone() } else { self.real.join(selected) };
        self.gone.recorded(&real, status)
    }

    pub(super) fn of(path: &Path, options: &Options) -> Result<SelectedRoot, Error> {
        let nowhere = || Error::usage("there is no such folder").at(path);
        let real = real_of(path).ok_or_else(nowhere)?;
        let catalogue = options.catalogue.choice.of(&real);
        let root = match &catalogue {
            Some(file) => Some(Catalogue::open_reader(file)?.root().to_owned()),
            None => None,
        };
        // A file is in its folder, also one that is gone.
        let folder = || match beneath::is_folder(&real) {
            true => real.clone(),
            false => real.parent().unwrap_or(&real).to_owned(),
        };
        let root = root.filter(|root| real.starts_with(root)).unwrap_or_else(folder);
        let shown = if path == Path::new(".") { PathBuf::new() } else { path.to_owned() };
        let gone = match catalogue {
            Some(_) => GoneFiles::default(),
            None => GoneFiles::beneath(&real),
        };
        Ok(SelectedRoot { shown, real, root, catalogue, gone })
    }
}

/// Gathers targets from the events of a check.
struct Finder<'a> {
    given: Vec<SelectedRoot>,
    goal: RepairGoal,
    found: FoundTargets,
    monitor: &'a mut dyn Monitor,
}

impl Monitor for Finder<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(file) => self.file(file),
            Event::Notice(Notice { advice: Some(Advice::GiveNamesBack(folder)), .. }) => {
                self.found.moving.push(folder.clone());
                return self.monitor.event(event);
            }
            Event::Notice(notice) => {
                self.found.is_incomplete |= !notice.status.is_fine();
                return self.monitor.event(event);
            }
            // Its files may be missing, or on a volume that is not mounted.
            Event::Finding(found) if matches!(found.finding, Finding::Unmounted { .. }) => {
                self.found.undecided.push(found.path.clone());
            }
            // The tags are given back.
            Event::Finding(found) if matches!(found.finding, Finding::TagLost { .. }) => {}
            Event::Finding(found) => {
                if matches!(found.finding, Finding::Overwritten { .. }) {
                    // The next check does not say it again.
                    let text = "its contents are gone: another file was renamed to this name";
                    self.monitor.notice(Notice::new(text).at(&found.path));
                }
                self.found.left.findings += u64::from(!found.finding.exit_status().is_fine());
            }
        }
        ControlFlow::Continue(())
    }

    fn progress(&mut self, progress: &Progress) {
        self.monitor.progress(progress);
    }
}

impl Finder<'_> {
    fn is_given(&self, path: &Path) -> bool {
        self.given.iter().any(|given| given.shown == path)
    }

    fn file(&mut self, event: &FileEvent) {
        let Some(verdict) = event.verdict else { return };
        let path = event.path.to_path();
        let is_here = !matches!(verdict, Verdict::Missing | Verdict::Moved);
        if let Some(tag) = event.stored.filter(|_| is_here) {
            self.given.iter_mut().for_each(|given| given.see(&path, &tag));
        }
        let (edited, suspects) = match self.goal {
            RepairGoal::Tag { edited, suspects } => (edited, suspects),
            RepairGoal::Previous | RepairGoal::Proved => (false, false),
        };
        let (mut lacks_tag, mut tag) = (event.tag_place.is_loss(), event.stored);
        let is_without = matches!(verdict, Verdict::Untagged | Verdict::Unreadable);
        if let Some(status) = event.visit.status.filter(|_| is_without && tag.is_none()) {
            tag = self.given.iter().find_map(|given| given.recorded(&path, &status));
            lacks_tag = tag.is_some();
        }
        match verdict {
            _ if self.goal == RepairGoal::Previous => return self.previous(event, path, verdict),
            Verdict::Corrupt if self.goal == RepairGoal::Proved => {
                let proof = [Reason::NothingWroteIt, Reason::TimesDecayed];
                if !event.reason().is_some_and(|reason| proof.contains(&reason)) {
                    return self.found.left.suspect += 1;
                }
            }
            _ if self.goal == RepairGoal::Proved => return,
            Verdict::Intact | Verdict::Touched | Verdict::Untagged if lacks_tag => {}
            Verdict::Unreadable => {
                let is_asked_for = match tag.map(|tag| edit_of(event, &tag)) {
                    Some(Some(Verdict::Suspect)) => suspects || self.is_given(&path),
                    Some(Some(_)) => edited && self.is_given(&path),
                    Some(None) | None => true,
                };
                if !is_asked_for {
                    return self.found.undecided.push(path);
                }
            }
            Verdict::Corrupt | Verdict::Missing => {}
            Verdict::Suspect if suspects || self.is_given(&path) => {}
            Verdict::Suspect => return self.found.left.suspect += 1,
            Verdict::Modified | Verdict::Differs if edited && self.is_given(&path) => {}
            Verdict::Modified => return self.found.left.modified += 1,
            Verdict::Differs => return self.found.left.differs += 1,
            Verdict::Untagged => return self.found.left.untagged += 1,
            Verdict::Unstable => return self.found.undecided.push(path),
            _ => return,
        }
        let target = tag
            .filter(|_| event.subject == Subject::File && (event.tag_error.is_none() || lacks_tag))
            .and_then(|tag| target_of(&self.given, path.clone(), verdict, tag))
            .map(|target| {
                let (status, damage) = (event.visit.status, damage_of(event));
                RepairTarget { status, damage, lacks_tag, ..target }
            });
        match target {
            Some(_) if self.found.targets.len() == TARGETS_MAX => self.found.more += 1,
            Some(target) => self.found.targets.push(target),
            None => {
                // Another tool's record says so, and is no tag to repair it by.
                self.found.more += u64::from(verdict.is_alarm());
                self.found.undecided.push(path);
            }
        }
    }

    /// Adds a file that is to have the contents of the tag before its present one.
    fn previous(&mut self, event: &FileEvent, path: PathBuf, verdict: Verdict) {
        let target = event
            .stored
            .filter(|_| event.subject == Subject::File && self.is_given(&path))
            .and_then(|tag| target_of(&self.given, path.clone(), verdict, tag));
        let previous = target.as_ref().and_then(tag_before);
        match target.zip(previous) {
            Some((target, tag)) => {
                self.found.targets.push(RepairTarget { status: event.visit.status, tag, ..target });
            }
            None => {
                let notice = Notice::failure("no tag before its present one is known").at(&path);
                self.notice(notice);
                self.found.undecided.push(path);
            }
        }
    }

    /// Adds the files of which only parity knows that they are missing.
    fn add_missing(&mut self) {
        for number in 0..self.given.len() {
            let mut gone = std::mem::take(&mut self.given[number].gone);
            for notice in std::mem::take(&mut gone.passed) {
                self.notice(notice);
            }
            if let Some(doubt) = gone.doubt.take() {
                self.notice(doubt);
            }
            for target in &mut self.found.targets {
                let root = target.root.clone();
                let former = gone.paths_of(&target.tag);
                let former = former.filter_map(|path| Some(path.strip_prefix(&root).ok()?.into()));
                target.former.extend(former);
            }
            for (real, tag) in gone.missing() {
                let given = &self.given[number];
                let Ok(selected) = real.strip_prefix(&given.real) else { continue };
                let is_given = selected.as_os_str().is_empty();
                let path = if is_given { given.shown.clone() } else { given.shown.join(selected) };
                let is_known = self.found.targets.iter().any(|target| target.path == path);
                let target =
                    target_of(&self.given, path, Verdict::Missing, tag).filter(|_| !is_known);
                self.found.targets.extend(target);
            }
        }
    }
}

/// Returns what an unreadable file would be if its contents differ, in case something wrote to it:
/// suspect or modified. `None` if its decay is proved, or its date is the tag's and nothing else is
/// known.
fn edit_of(event: &FileEvent, tag: &Tag) -> Option<Verdict> {
    match event.reason() {
        Some(Reason::NothingWroteIt | Reason::TimesDecayed) => None,
        Some(Reason::DateKept | Reason::Emptied | Reason::CutOff) => Some(Verdict::Suspect),
        Some(Reason::ByMtimeAlone | Reason::CauseNotKnown) | None => {
            let mtime = event.visit.status?.mtime;
            (!same_mtime(tag.mtime, mtime)).then_some(Verdict::Modified)
        }
    }
}

/// Returns the tag of other contents that a file had before its present one: the one that is kept
/// beside that, or the latest in the catalogue.
fn tag_before(target: &RepairTarget) -> Option<Tag> {
    let is_other = |tag: &Tag| !tag.same_contents(&target.tag);
    let file = beneath::file(&target.root, &target.relative).ok()?;
    if let Ok(StoredTag::Whole(tag)) = Xattr.previous(&file)
        && is_other(&tag)
    {
        return Some(tag);
    }
    let catalogue = Catalogue::open_reader(target.catalogue.as_deref()?).ok()?;
    let path = FilePath::whole(&catalogue.root().join(&target.relative));
    let tags = CatalogueReader::beside(&catalogue).ok()?.tags_so_far(&path).ok()?;
    tags.into_iter().find(is_other)
}

/// Notes what catalogues know of targets, after the check that recorded where files moved. One that
/// cannot be asked knows nothing.
pub(super) fn ask_catalogues(targets: &mut [RepairTarget]) {
    let mut asked = 0;
    for targets in targets.chunk_by_mut(|one, next| one.catalogue == next.catalogue) {
        let catalogue = targets[0].catalogue.as_deref().map(Catalogue::open_reader);
        let Some(Ok(catalogue)) = catalogue else { continue };
        for target in targets.iter_mut() {
            let proved = catalogue.proved_mtime(&target.relative, &target.tag);
            target.proved_mtime = proved.ok().flatten();
            let mut former = catalogue.former_paths(&target.relative).unwrap_or_default();
            let inode = target.status.filter(|_| former.is_empty() && asked < BY_INODE_MAX);
            if let Some(status) = inode {
                // The name that it came from may be outside of what was checked.
                asked += 1;
                let names = catalogue.names_of_inode(status.inode, FORMER_NAMES_MAX);
                former.extend(names.unwrap_or_default());
            }
            target.former.extend(former.into_iter().filter(|path| *path != target.relative));
        }
        for targets in targets.chunks_mut(LOOKUP_MAX) {
            let _ = find_alike(&catalogue, targets);
        }
    }
}

/// Notes the other files with the contents of targets. Reads the catalogue once for all of them.
fn find_alike(catalogue: &Catalogue, targets: &mut [RepairTarget]) -> Result<(), CatalogueError> {
    let mut inodes = Vec::with_capacity(targets.len());
    for target in targets.iter() {
        inodes.push(catalogue.inode_of(&target.relative)?);
    }
    let mut by_digest: HashMap<Digest, Vec<LookupMatch>> = HashMap::new();
    let mut by_inode: HashMap<u64, Vec<PathBuf>> = HashMap::new();
    by_digest.extend(targets.iter().map(|target| (target.tag.digest, Vec::new())));
    by_inode.extend(inodes.iter().flatten().map(|inode| (*inode, Vec::new())));
    let digests: Vec<Digest> = by_digest.keys().copied().collect();
    catalogue.look_up(&digests, &[], &mut |entry| {
        let names = by_inode.get_mut(&entry.inode).filter(|names| names.len() < NAMES_MAX);
        names.into_iter().for_each(|names| names.push(entry.path.clone()));
        if let Some(alike) = by_digest.get_mut(&entry.tag.digest) {
            let proved = alike.partition_point(|one| one.standing.proves());
            alike.insert(if entry.standing.proves() { proved } else { alike.len() }, entry);
            // One may be the target itself.
            alike.truncate(DUPLICATES_MAX + 1);
        }
        ControlFlow::Continue(())
    })?;
    for (target, inode) in targets.iter_mut().zip(inodes) {
        let names = inode.and_then(|inode| by_inode.get(&inode)).into_iter().flatten();
        target.names = names.filter(|path| **path != target.relative).cloned().collect();
        let alike = by_digest.get(&target.tag.digest).into_iter().flatten();
        let alike = alike.filter(|entry| entry.tag.same_contents(&target.tag));
        let alike = alike.map(|entry| (entry.path.clone(), entry.standing.proves()));
        target.duplicates = alike.filter(|(path, _)| *path != target.relative).collect();
    }
    Ok(())
}

/// Makes the target of a file that a check found; `None` if it is beneath nothing that was given.
pub(super) fn target_of(
    given: &[SelectedRoot],
    path: PathBuf,
    verdict: Verdict,
    tag: Tag,
) -> Option<RepairTarget> {
    given.iter().find_map(|given| {
        let selected = path.strip_prefix(&given.shown).ok()?.to_owned();
        let is_given = selected.as_os_str().is_empty();
        let real = if is_given { given.real.clone() } else { given.real.join(&selected) };
        let relative = real.strip_prefix(&given.root).ok()?.to_owned();
        Some(RepairTarget {
            path: path.clone(),
            verdict,
            tag,
            root: given.root.clone(),
            relative,
            selected,
            former: Vec::new(),
            catalogue: given.catalogue.clone(),
            duplicates: Vec::new(),
            names: Vec::new(),
            status: None,
            lacks_tag: false,
            damage: None,
            proved_mtime: None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::files::Silent;
    use super::*;
    use crate::verdict::Judgement;
    use steadfast_digest::Algorithm;

    #[test]
    fn an_edited_file_that_cannot_be_read_is_no_target_unless_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "edited").unwrap();
        let status = steadfast_sys::file::File::open(&file).unwrap().status().unwrap();
        let found = |mtime, reason, (folder, edited, suspects): (Option<&Path>, bool, bool)| {
            let digest = Digest::from_slice(&[1; 32]).unwrap();
            let (length, tagged) = (status.length, status.mtime);
            let tag = Tag { algorithm: Algorithm::Sha256, digest, length, mtime, tagged };
            let mut event = FileEvent::new(FilePath::whole(&file));
            event.judged(Judgement { verdict: Verdict::Unreadable, reason });
            (event.stored, event.visit.status) = (Some(tag), Some(status));
            let given = SelectedRoot::of(folder.unwrap_or(&file), &Options::default()).unwrap();
            let goal = RepairGoal::Tag { edited, suspects };
            let (found, monitor) = (FoundTargets::default(), &mut Silent);
            let mut finder = Finder { given: vec![given], goal, found, monitor };
            finder.file(&event);
            assert_eq!(finder.found.targets.len() + finder.found.undecided.len(), 1);
            finder.found.targets.len() == 1
        };
        let earlier = Timestamp { seconds: 1, nanoseconds: 0 };
        let (unasked, to_tag) = ((None, false, false), (None, true, false));
        let (in_folder, suspects) =
            ((Some(folder.path()), true, false), (Some(folder.path()), false, true));
        assert!(found(status.mtime, None, unasked));
        assert!(found(status.mtime, Some(Reason::ByMtimeAlone), in_folder));
        assert!(found(status.mtime, Some(Reason::NothingWroteIt), in_folder));
        assert!(found(earlier, Some(Reason::TimesDecayed), in_folder));
        assert!(!found(earlier, None, unasked));
        assert!(!found(earlier, None, in_folder));
        assert!(!found(earlier, None, suspects));
        assert!(found(earlier, None, to_tag));
        assert!(!found(status.mtime, Some(Reason::DateKept), in_folder));
        assert!(found(status.mtime, Some(Reason::DateKept), suspects));
        assert!(found(status.mtime, Some(Reason::DateKept), unasked), "named itself");
    }
}
