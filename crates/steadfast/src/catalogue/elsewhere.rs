//! Where files that are missing in one tree are now: in other catalogued trees.
//!
//! A file has moved there if it is the missing one by digest and time (`identity.rs`), and was not
//! known there while that was still here. A copy that was there before is no move: the loss of its
//! original is news.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast_manifest::tag::Tag;
use steadfast_sys::file::FileKind;

use super::runs::{RunRecord, RunState};
use super::{Catalogue, CatalogueError, CatalogueReader, CataloguedTree};
use crate::beneath::presence_of;
use crate::event::FilePath;
use crate::identity::{
    CandidateFile, Ground, Identification, NameState, Observed, WhichFile, identity,
};

/// Missing files that are looked for at a time.
pub(super) const SOUGHT_MAX: usize = 10_000;

/// Runs that are read at a time.
const RUNS_READ: u32 = 64;

/// A file that was moved to another tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedElsewhere {
    /// Where it was, from the root of its former tree.
    pub from: PathBuf,
    /// Where it is: an absolute path.
    pub to: PathBuf,
}

impl Catalogue {
    /// Looks in other trees for files that are gone from this one, and were there at a time in
    /// seconds since 1970. `gone` are paths from the root. Opens none of the files.
    ///
    /// # Errors
    /// If this catalogue cannot be read. Another one that cannot be read has none of them.
    pub fn moved_elsewhere(
        &self,
        gone: &[PathBuf],
        others: &[CataloguedTree],
        seen_s: i64,
    ) -> Result<Vec<MovedElsewhere>, CatalogueError> {
        let is_apart = |other: &&CataloguedTree| {
            !other.root.starts_with(&self.root) && !self.root.starts_with(&other.root)
        };
        let others: Vec<&CataloguedTree> = others.iter().filter(is_apart).collect();
        let mut moved = Vec::new();
        if gone.is_empty() || others.is_empty() {
            return Ok(moved);
        }
        let reader = CatalogueReader::beside(self)?;
        let mut sought = Vec::new();
        for path in gone.iter().take(SOUGHT_MAX) {
            let known = reader.known_file(&FilePath::whole(&self.root.join(path)))?;
            sought.extend(known.and_then(|known| known.tag).map(|tag| (path.clone(), tag)));
        }
        for other in others {
            let found =
                if sought.is_empty() { None } else { arrivals(other, seen_s, &sought).ok() };
            for (to, tag) in found.into_iter().flatten() {
                if let Some(at) = which_of(&sought, &to, &tag) {
                    moved.push(MovedElsewhere { from: sought.swap_remove(at).0, to });
                }
            }
        }
        Ok(moved)
    }

    /// Returns when the last run began that met every file, in seconds since 1970; the beginning of
    /// time if none did.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn last_walk_s(&self) -> Result<i64, CatalogueError> {
        let mut before = i64::MAX;
        loop {
            let runs = self.runs(before, RUNS_READ)?;
            let is_walk = |run: &&RunRecord| {
                run.state == RunState::Whole && run.files >= run.totals.entries.cast_unsigned()
            };
            if let Some(walk) = runs.iter().find(is_walk) {
                return Ok(walk.started.seconds);
            }
            let Some(last) = runs.last() else { return Ok(i64::MIN) };
            before = last.id;
        }
    }
}

/// Returns which of the missing files a file of another tree is, which was not known there while
/// they were still here. Inodes show nothing there.
fn which_of(sought: &[(PathBuf, Tag)], to: &Path, tag: &Tag) -> Option<usize> {
    let candidates: Vec<CandidateFile<'_>> = sought
        .iter()
        .map(|(path, lost)| CandidateFile {
            is_namesake: path.file_name() == to.file_name(),
            ..CandidateFile::tagged(lost, NameState::Gone)
        })
        .collect();
    // Of several with the same contents, any may be it.
    let found = identity(&Observed::tagged(tag, sought.len()), &candidates);
    match found {
        Identification { answer: WhichFile::Moved(at), ground: Ground::DigestAndTime } => Some(at),
        _ => None,
    }
}

/// Returns files of another tree with some contents that are there, and that it met after a time.
fn arrivals(
    other: &CataloguedTree,
    after_s: i64,
    sought: &[(PathBuf, Tag)],
) -> Result<Vec<(PathBuf, Tag)>, CatalogueError> {
    let catalogue = other.open()?;
    let digests: Vec<_> = sought.iter().map(|(_, tag)| tag.digest).collect();
    let mut found = Vec::new();
    catalogue.look_up(&digests, &[], &mut |entry| {
        if entry.standing.proves() {
            found.push((catalogue.root.join(entry.path), entry.tag));
        }
        ControlFlow::Continue(())
    })?;
    let reader = CatalogueReader::beside(&catalogue)?;
    let mut arrived = Vec::new();
    for (path, tag) in found {
        let first_run = reader.known_file(&FilePath::whole(&path))?.map(|known| known.first_run);
        let runs = first_run.map(|run| catalogue.runs(run + 1, 1)).transpose()?;
        let met = runs.and_then(|mut runs| runs.pop()).map(|run| run.started.seconds);
        let is_there = presence_of(&path).status().is_some_and(|status| {
            let extent = (status.kind, status.length, status.mtime);
            extent == (FileKind::Regular, tag.length, tag.mtime)
        });
        if is_there && met.is_some_and(|met_s| met_s > after_s) {
            arrived.push((path, tag));
        }
    }
    Ok(arrived)
}
