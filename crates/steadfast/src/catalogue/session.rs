//! The catalogue of one run. Every run opens its catalogue through a session, for recording or for
//! queries.
//!
//! A session has checked that the catalogue belongs to the present tree, and knows which part of
//! the tree the run covers. It provides the reader for the workers and the recorder of the run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::place::real_of;
use super::recorder::{Recorder, RunStart};
use super::{
    Catalogue, CatalogueError, CatalogueErrorKind, CatalogueReader, LockRequest, RunScope,
};
use crate::event::Notice;
use crate::moving::is_renamed;
use crate::selection::Selection;

/// An open catalogue and the part of its tree that a run covers.
#[derive(Debug)]
pub struct CatalogueSession {
    catalogue: Catalogue,
    scope: RunScope,
    /// Selected paths that are known and do not exist, as selected.
    gone: HashSet<PathBuf>,
    /// Mount points of volumes that are not mounted, as device and inode.
    unmounted: Vec<(u64, u64)>,
    notice: Option<Notice>,
    /// Whether the files of an empty tree are missing.
    all_lost: bool,
}

impl CatalogueSession {
    /// Makes a catalogue and opens it to record its first run.
    ///
    /// # Errors
    /// As [`Catalogue::create`].
    pub fn create(
        root: &Path,
        file: Option<&Path>,
        lock: &LockRequest<'_>,
    ) -> Result<CatalogueSession, CatalogueError> {
        Ok(CatalogueSession::of(Catalogue::create(root, file, lock)?))
    }

    /// Opens a catalogue to record a run.
    ///
    /// # Errors
    /// As [`Catalogue::open_writer`] and [`Catalogue::guard`].
    pub fn write(file: &Path, lock: &LockRequest<'_>) -> Result<CatalogueSession, CatalogueError> {
        CatalogueSession::guarded(Catalogue::open_writer(file, lock)?)
    }

    /// Opens a catalogue to record a run, or only to read it if its volume is read-only or full.
    /// [`CatalogueSession::notice`] then says so. `all_lost`: whether an empty tree has lost its
    /// files, rather than not being mounted.
    ///
    /// # Errors
    /// As [`CatalogueSession::write`].
    pub fn write_or_read(
        file: &Path,
        lock: &LockRequest<'_>,
        all_lost: bool,
    ) -> Result<CatalogueSession, CatalogueError> {
        let text = match Catalogue::open_writer(file, lock) {
            Ok(catalogue) => {
                catalogue.guard_as(all_lost)?;
                return Ok(CatalogueSession { all_lost, ..CatalogueSession::of(catalogue) });
            }
            Err(error) => match error.kind() {
                CatalogueErrorKind::Full => {
                    "no space is left on the volume of the catalogue: this run reads it and leaves \
                     no record in it"
                }
                CatalogueErrorKind::ReadOnly => {
                    "the catalogue cannot be written here: this run leaves no record in it"
                }
                _ => return Err(error),
            },
        };
        let catalogue = Catalogue::open_reader(file)?;
        catalogue.guard_as(all_lost)?;
        let notice = Some(Notice::new(text).at(file));
        Ok(CatalogueSession { notice, all_lost, ..CatalogueSession::of(catalogue) })
    }

    /// Opens a catalogue to read it. A run on it makes findings and records nothing.
    ///
    /// # Errors
    /// As [`Catalogue::open_reader`] and [`Catalogue::guard`].
    pub fn read(file: &Path) -> Result<CatalogueSession, CatalogueError> {
        CatalogueSession::guarded(Catalogue::open_reader(file)?)
    }

    fn guarded(catalogue: Catalogue) -> Result<CatalogueSession, CatalogueError> {
        catalogue.guard()?;
        Ok(CatalogueSession::of(catalogue))
    }

    fn of(catalogue: Catalogue) -> CatalogueSession {
        let scope = RunScope::files_beneath(catalogue.root());
        let (gone, unmounted) = (HashSet::new(), Vec::new());
        CatalogueSession { catalogue, scope, gone, unmounted, notice: None, all_lost: false }
    }

    /// Makes it the session of a run that walks a selection. Without this call, a run covers single
    /// files, named by paths that begin with the tree's root.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn covering(self, selection: &Selection) -> Result<CatalogueSession, CatalogueError> {
        let (mut gone, mut relative) = (HashSet::new(), Vec::new());
        let root = self.catalogue.root();
        let parts = self.catalogue.unmounted_parts()?;
        let parts: Vec<PathBuf> = parts.into_iter().map(|(part, _)| root.join(part)).collect();
        // What is at or beneath a mount point is not the file that the catalogue knows.
        let is_hidden_later =
            |real: &PathBuf| parts.iter().any(|part| real.starts_with(part) && real != part);
        let paths = selection.roots.iter().chain(&selection.listed);
        let places = self.catalogue.places();
        let mut places = places.map_err(|fault| fault.at(self.catalogue.file()))?;
        for path in paths.filter(|_| !selection.exact) {
            let hidden = || {
                let typed = Some(path).filter(|_| !parts.is_empty())?;
                let real = real_of(typed).filter(is_hidden_later)?;
                Some((real.strip_prefix(root).ok()?.to_owned(), false))
            };
            let lost = self.catalogue.lost_path(path, &mut places)?;
            if lost.is_some() && is_renamed(path) {
                continue;
            }
            if let Some((known, is_walked)) = lost.or_else(hidden) {
                gone.extend(Some(path.clone()).filter(|_| !is_walked));
                relative.push(known);
            }
        }
        let scope = RunScope::of(root, selection).with_absent(relative);
        let parts = parts.iter().filter_map(|part| part.strip_prefix(root).ok());
        let unmounted = parts.filter_map(|part| places.presence(part).status());
        let unmounted = unmounted.map(|status| (status.device, status.inode)).collect();
        Ok(CatalogueSession { scope, gone, unmounted, ..self })
    }

    /// Makes it the session of a run over a list of files, named by paths that begin as the
    /// selection does. Files that the run does not visit are not missing.
    #[must_use]
    pub fn covering_list(self, selection: &Selection) -> CatalogueSession {
        let scope = RunScope::of(self.catalogue.root(), selection).without_walks();
        CatalogueSession { scope, ..self }
    }

    /// Makes it the session of a run over single files beneath a path from the root, which reports
    /// the parts there that are not mounted. Returns these too.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn reporting_unmounted(
        self,
        beneath: &Path,
    ) -> Result<(CatalogueSession, Vec<PathBuf>), CatalogueError> {
        let parts = self.catalogue.unmounted_parts()?.into_iter().map(|(part, _)| part);
        let is_there = |part: &PathBuf| part.starts_with(beneath) || beneath.starts_with(part);
        let parts: Vec<PathBuf> = parts.filter(is_there).collect();
        let scope = self.scope.with_absent(parts.clone());
        Ok((CatalogueSession { scope, ..self }, parts))
    }

    /// Returns the selection without the paths that are known and do not exist, and without parts
    /// that are not mounted. The recorder reports these; a walk could only report that it cannot
    /// open them, or find what the volume hides later.
    pub fn walked(&self, selection: &Selection) -> Selection {
        let mut walked = selection.clone();
        walked.roots.retain(|path| !self.gone.contains(path));
        walked.listed.retain(|path| !self.gone.contains(path));
        walked.unmounted.clone_from(&self.unmounted);
        walked
    }

    /// Returns the open catalogue.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Returns a notice about how the catalogue was opened, if there is one.
    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }

    /// Opens a reader for tags of files that have none themselves.
    ///
    /// # Errors
    ///
    /// As [`CatalogueReader::open`].
    pub fn reader(&self) -> Result<CatalogueReader, CatalogueError> {
        CatalogueReader::open(&self.catalogue, self.scope.clone())
    }

    /// Starts to record a run.
    ///
    /// # Errors
    /// As [`Catalogue::recorder`].
    pub fn record(self, start: &RunStart<'_>) -> Result<Recorder, CatalogueError> {
        let mut recorder = self.catalogue.recorder(self.scope, start)?;
        if self.all_lost {
            recorder.believe_empty();
        }
        Ok(recorder)
    }

    /// Ends the session and keeps the catalogue.
    pub(crate) fn into_catalogue(self) -> Catalogue {
        self.catalogue
    }
}
