//! What changed in a tree, by names and status only, before anything is written; and the consent
//! to many changes at once.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::recording::ShownPaths;
use super::renamed::{NewNames, RenamedFile};
use super::{Options, SuspectUse, Verb, engine_of, open_catalogue, run_as};
use crate::beneath::presence_of;
use crate::catalogue::{Catalogue, CatalogueReader, MovedElsewhere, TreeList, real_of};
use crate::error::Error;
use crate::event::{FileEvent, FilePath};
use crate::file_state::FileState;
use crate::finding::Finding;
use crate::monitor::{Event, Monitor, Progress};
use crate::selection::Selection;
use crate::store::xattr::Xattr;

/// Share of the files that may be missing or modified at once without an alarm.
const ALARM_SHARE: f64 = 0.05;

/// A tree with fewer files has no alarm: a few of them are a large share.
const ALARM_FILES_MIN: u64 = 40;

/// What changed since the catalogue was last told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeChanges {
    /// Files in the catalogue; without one, selected files with a tag.
    pub files: u64,
    /// Files that are gone, relative to the root of the catalogue's tree.
    pub missing: Vec<PathBuf>,
    /// How many of these no earlier run reported.
    pub newly_missing: u64,
    /// How many of the others no run that accepts changes has covered since they were reported.
    pub unanswered: u64,
    /// Files that were renamed. Those that only seem so are also in `missing`.
    pub renamed: Vec<RenamedFile>,
    /// Files that seem edited, or were found modified and not tagged since.
    pub edited: Vec<PathBuf>,
    /// How many of these no earlier run read since they were edited.
    pub newly_edited: u64,
    /// How many files were found suspect, and are so still.
    pub suspect: u64,
    /// Folders and files that could not be looked at, as the selection names them.
    pub unreadable: Vec<PathBuf>,
}

impl TreeChanges {
    /// Returns whether so many files are newly missing or edited at once that it is an alarm:
    /// another volume may be mounted, or somebody encrypted the files.
    pub fn are_alarming(&self) -> bool {
        self.is_large(self.newly_missing + self.newly_edited)
    }

    /// Returns whether a run that accepts changes needs consent. That an earlier run reported
    /// missing files does not accept them.
    pub fn need_consent(&self) -> bool {
        self.is_large(self.count())
    }

    /// Returns how many files are missing or edited and not accepted.
    pub fn count(&self) -> u64 {
        self.newly_missing + self.unanswered + self.edited.len() as u64
    }

    /// Leaves out missing files that were moved to other trees.
    pub fn leave_out(&mut self, moved: &[MovedElsewhere]) {
        let moved: HashSet<&PathBuf> = moved.iter().map(|one| &one.from).collect();
        let before = self.missing.len();
        self.missing.retain(|path| !moved.contains(path));
        let left = self.missing.len();
        // Most of them are not known to be missing yet.
        self.newly_missing = self.newly_missing.saturating_sub((before - left) as u64);
        self.unanswered = self.unanswered.min(left as u64 - self.newly_missing);
    }

    /// Leaves out renamed and edited files beneath folders that could not be looked at whole. A run
    /// that writes tags refuses them, because it cannot tell whether a repair was cut off there.
    pub fn leave_out_unreadable(&mut self) {
        let is_there = |path: &Path| !self.unreadable.iter().any(|above| path.starts_with(above));
        self.renamed.retain(|one| is_there(&one.to));
        self.edited.retain(|path| is_there(path));
    }

    fn is_large(&self, changed: u64) -> bool {
        are_many(changed, self.files)
    }
}

/// Returns whether so many of a tree's files are missing or edited that it is an alarm.
pub(crate) fn are_many(changed: u64, files: u64) -> bool {
    files >= ALARM_FILES_MIN && are_alarming(changed, files)
}

/// Returns whether such a share of some files of a tree is missing or edited.
pub(crate) fn are_alarming(changed: u64, files: u64) -> bool {
    changed as f64 > ALARM_SHARE * files as f64
}

/// Compares the length and times of files with what is recorded, and reads no contents: with the
/// catalogue, or else with the tags of the files. `None` if nothing is recorded.
///
/// # Errors
/// If the catalogue cannot be read, or is of another tree.
pub fn changes(selection: &Selection, options: &Options) -> Result<Option<TreeChanges>, Error> {
    let reading = Options { dry_run: true, ..options.clone() };
    match open_catalogue::open(Verb::check(), selection, &reading)? {
        Some(session) => of_catalogue(session.into_catalogue(), selection, options).map(Some),
        None => of_tags(selection, &reading),
    }
}

fn of_catalogue(
    catalogue: Catalogue,
    selection: &Selection,
    options: &Options,
) -> Result<TreeChanges, Error> {
    let (root, file) = (catalogue.root().to_owned(), catalogue.file().to_owned());
    let mut changes = TreeChanges { files: catalogue.entries()?, ..TreeChanges::default() };
    let (mut gone, mut new) = (Vec::new(), NewNames::of(&catalogue, &root));
    let mut say = |finding: Finding| match finding {
        Finding::Missing { path, known, .. } => gone.push((path, known)),
        Finding::New { path, .. } => new.add(path),
        Finding::Changed { path, change } if change.length || change.mtime => {
            changes.edited.push(root.join(&path));
            changes.newly_edited += 1;
            if change.inode {
                new.add(path);
            }
        }
        Finding::FileState { path, standing: FileState::Modified } => {
            changes.edited.push(root.join(path));
        }
        Finding::FileState { standing: FileState::Suspect, .. } => changes.suspect += 1,
        Finding::Unreadable { path, .. } => changes.unreadable.push(root.join(path)),
        _ => {}
    };
    let now = (options.now)();
    let mut unreadable = Vec::new();
    let mut trouble = |event: FileEvent| {
        if !event.reading.dataless {
            unreadable.push(event.path.to_path());
        }
    };
    let _ = catalogue.quick(selection, now, &options.controls.stop, &mut say, &mut trouble)?;
    changes.unreadable.append(&mut unreadable);
    if gone.is_empty() {
        return Ok(changes);
    }
    let catalogue = Catalogue::open_reader(&file)?;
    let reader = CatalogueReader::beside(&catalogue)?;
    let mut recorded = Vec::new();
    for (path, is_recorded) in gone {
        let known = reader.known_file(&FilePath::whole(&root.join(&path)))?;
        let renamed = known.and_then(|known| new.take(&path, &known));
        let is_there = renamed.as_ref().is_some_and(|renamed| renamed.is_certain);
        changes.renamed.extend(renamed);
        if is_there {
            continue;
        }
        match is_recorded {
            true => recorded.push(path.clone()),
            false => changes.newly_missing += 1,
        }
        changes.missing.push(path);
    }
    changes.unanswered = catalogue.unanswered(&recorded)?;
    Ok(changes)
}

/// What a run has to visit that only accepts.
pub(crate) struct ToBeAccepted {
    pub(crate) selection: Selection,
    paths: ShownPaths,
}

impl ToBeAccepted {
    /// Passes the events of the run on to a monitor, with paths as the user writes them.
    pub(crate) fn as_written<'a>(&'a self, monitor: &'a mut dyn Monitor) -> AsWritten<'a> {
        AsWritten { paths: &self.paths, monitor }
    }
}

/// Passes events on with paths as the user writes them.
pub(crate) struct AsWritten<'a> {
    paths: &'a ShownPaths,
    monitor: &'a mut dyn Monitor,
}

impl Monitor for AsWritten<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let mut event = event.clone();
        match &mut event {
            Event::File(file) => {
                file.path = FilePath::whole(&self.paths.as_written(&file.path.to_path()));
            }
            Event::Finding(found) => found.path = self.paths.as_written(&found.path),
            Event::Notice(notice) => {
                notice.path = notice.path.as_ref().map(|path| self.paths.as_written(path));
            }
        }
        self.monitor.event(&event)
    }

    fn progress(&mut self, progress: &Progress) {
        self.monitor.progress(progress);
    }
}

/// Returns what of a selection a run has to visit that only accepts: the names that are gone, and
/// files whose tags another program replaced. Looks at names, status and tags, and reads no
/// contents. `None` if the whole selection has to be visited: without a catalogue, or if a part is
/// not mounted.
///
/// A file that was renamed is not gone, and is left out: the next run that reads it finds it.
///
/// # Errors
/// As [`changes`].
pub(crate) fn to_be_accepted(
    selection: &Selection,
    options: &Options,
) -> Result<Option<ToBeAccepted>, Error> {
    let is_gone = |path: &PathBuf| presence_of(path).is_lost();
    let all: Vec<PathBuf> = selection.roots.iter().chain(&selection.listed).cloned().collect();
    if all.iter().any(is_gone) {
        // A name that is gone needs no reading.
        return Ok(None);
    }
    let reading = Options { dry_run: true, ..options.clone() };
    let Some(session) = open_catalogue::open(Verb::check(), selection, &reading)? else {
        return Ok(None);
    };
    let catalogue = session.into_catalogue();
    let (root, file) = (catalogue.root().to_owned(), catalogue.file().to_owned());
    let (mut gone, mut new, mut is_whole) = (Vec::new(), NewNames::of(&catalogue, &root), true);
    let mut say = |finding: Finding| match finding {
        Finding::Missing { path, .. } => gone.push(path),
        Finding::New { path, .. } => new.add(path),
        Finding::Unmounted { .. } => is_whole = false,
        _ => {}
    };
    let now = (options.now)();
    let stop = &options.controls.stop;
    let _ = catalogue.quick(selection, now, stop, &mut say, &mut |_| {})?;
    let catalogue = Catalogue::open_reader(&file)?;
    let reader = CatalogueReader::beside(&catalogue)?;
    let mut listed = Vec::new();
    for path in gone {
        let whole = root.join(&path);
        let known = reader.known_file(&FilePath::whole(&whole))?;
        let renamed = known.and_then(|known| new.take(&path, &known));
        if !renamed.is_some_and(|renamed| renamed.is_certain) {
            listed.push(whole);
        }
    }
    catalogue.failures(&mut |failure| {
        if !failure.settled && failure.standing == FileState::TagReplaced {
            listed.push(root.join(failure.path));
        }
        ControlFlow::Continue(())
    })?;
    let all: Vec<PathBuf> = all.iter().filter_map(|one| real_of(one)).collect();
    listed.retain(|path: &PathBuf| all.iter().any(|one| path.starts_with(one)));
    let paths = ShownPaths::of(&root, selection);
    let selection =
        Selection { roots: Vec::new(), listed, within: vec![root], ..selection.clone() };
    Ok(Some(ToBeAccepted { selection, paths }).filter(|_| is_whole))
}

/// Compares files with their tags. What is missing has no tag any more.
fn of_tags(selection: &Selection, options: &Options) -> Result<Option<TreeChanges>, Error> {
    let mut changes = TreeChanges::default();
    let mut compare = |event: &Event| {
        let Event::File(file) = event else { return };
        let (Some(tag), Some(status)) = (file.stored, file.visit.status) else { return };
        changes.files += 1;
        if (status.length, status.mtime) != (tag.length, tag.mtime) {
            changes.edited.push(file.path.to_path());
            changes.newly_edited += 1;
        }
    };
    let options = Options { allow_empty: true, trace: None, survey: false, ..options.clone() };
    let (engine, store) = (engine_of(&options), Arc::new(Xattr));
    let _ = run_as(Verb::Show, None, selection, &options, engine, store, &mut compare)?;
    Ok((changes.files > 0).then_some(changes))
}

/// Ends a run that accepts contents before it writes anything, if too many files changed at once
/// and the caller does not accept any number of them.
///
/// # Errors
/// `TooManyChanges`; also those of [`changes`].
pub(crate) fn ensure_consent(
    verb: Verb,
    selection: &Selection,
    options: &Options,
) -> Result<(), Error> {
    let (asks, takes_suspects) = match verb {
        Verb::Update(update) => (!update.accept_many, update.accept_suspect != SuspectUse::Leave),
        Verb::Retag(retag) => (!retag.accept_many, retag.accept),
        _ => (false, false),
    };
    if !asks {
        return Ok(());
    }
    let Some(mut changes) = changes(selection, options)? else { return Ok(()) };
    if verb.accepts_missing() {
        (changes.newly_missing, changes.unanswered) = (0, 0);
    } else if changes.need_consent()
        && let (Some(list), Some(file)) =
            (&options.catalogue.trees, open_catalogue::file_of(selection, options)?)
    {
        let catalogue = Catalogue::open_reader(&file)?;
        let (others, seen_s) = (TreeList::at(list).read(), catalogue.last_walk_s()?);
        changes.leave_out(&catalogue.moved_elsewhere(&changes.missing, &others, seen_s)?);
    }
    // Malware may put the dates back of what it wrote.
    let suspects = if takes_suspects { changes.suspect } else { 0 };
    let all = changes.count() + suspects;
    match changes.is_large(all) {
        true => Err(Error::too_many_changes(all, changes.files)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_an_unreadable_folder_is_left_out() {
        let renamed = |to: &str| RenamedFile { from: "a".into(), to: to.into(), is_certain: true };
        let mut changes = TreeChanges {
            renamed: vec![renamed("/root/rotten/b"), renamed("/root/c")],
            edited: vec!["/root/rotten/d".into(), "/root/rotten.txt".into()],
            unreadable: vec!["/root/rotten".into()],
            ..TreeChanges::default()
        };
        changes.leave_out_unreadable();
        assert_eq!(changes.renamed, [renamed("/root/c")]);
        assert_eq!(changes.edited, [PathBuf::from("/root/rotten.txt")]);
    }
}
