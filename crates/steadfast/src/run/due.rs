//! The files that are due, as a list for a run, in the catalogue's order, and the time limit of the
//! run.
//!
//! Takes a choice. Returns files, the longest unchecked first, and whether the catalogue could be
//! read to the end of that choice.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use steadfast_sys::file::Timestamp;

use super::DueChoice;
use crate::advice::Advice;
use crate::beneath::Places;
use crate::catalogue::{Catalogue, CatalogueError, Due, DueOptions};
use crate::error::Error;
use crate::event::Notice;
use crate::walk::Listed;

/// The time limit of a run.
pub(super) struct TimeLimit {
    pub(super) deadline: Instant,
    /// Files that were due when the run began.
    pub(super) files_due: u64,
    /// Set when the run ends early, for tasks that work on one file for a long time.
    pub(super) stop: Arc<AtomicBool>,
}

/// Files that are due.
pub(super) struct DueList {
    due: Due,
    places: Places,
    /// Parts that are not mounted, by their paths from the root. Their files stay due.
    unmounted: Vec<PathBuf>,
    outcome: ListEnd,
}

/// How reading the list ended.
#[derive(Clone, Default)]
pub(super) struct ListEnd {
    error: Arc<Mutex<Option<CatalogueError>>>,
}

impl DueList {
    /// Looks up the due files in an open catalogue.
    pub(super) fn begin(
        catalogue: &Catalogue,
        choice: DueChoice,
        (beneath, unmounted): (PathBuf, Vec<PathBuf>),
        now: Timestamp,
    ) -> Result<(DueList, ListEnd), Error> {
        let reader = catalogue.beside()?;
        let before_run = if choice.resume { reader.unfinished_run()? } else { None };
        let seconds =
            |duration: std::time::Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        let options = DueOptions {
            older_than_s: choice.older_than.map(seconds),
            max_bytes: choice.max_bytes,
            before_run,
            beneath,
        };
        let due = reader.due(&options, now)?;
        let outcome = ListEnd::default();
        let root = catalogue.root();
        let places = Places::beneath(root);
        let places = places.map_err(|error| Error::system("open", error).at(root))?;
        Ok((DueList { due, places, unmounted, outcome: outcome.clone() }, outcome))
    }

    /// Returns the total number of due files.
    pub(super) fn files(&self) -> u64 {
        self.due.total().0
    }
}

impl DueList {
    fn is_unmounted(&self, path: &Path) -> bool {
        self.unmounted.iter().any(|part| path.starts_with(part))
    }

    /// Returns the notice for a run in which no file is due. This is a success, because the
    /// catalogue knows when every file was judged.
    pub(super) fn if_empty(&self) -> Notice {
        match (self.due.known(), self.due.total().0) {
            (0, _) => {
                Notice::failure("the catalogue knows no file with a tag here").advise(Advice::Tag)
            }
            (_, 0) => Notice::new("nothing is due"),
            _ if !self.unmounted.is_empty() => Notice::failure(
                "no file was judged: what is due is not mounted, or the time was over before",
            ),
            _ => Notice::failure("the time was over before the first file: none was judged"),
        }
    }
}

impl Iterator for DueList {
    type Item = Listed;

    fn next(&mut self) -> Option<Listed> {
        loop {
            match self.due.next() {
                Ok(Some(entry)) if self.is_unmounted(&entry.path) => self.due.give_back(&entry),
                Ok(entry) => {
                    let entry = entry?;
                    if self.places.presence(&entry.path).is_lost() {
                        self.due.give_back(&entry);
                    }
                    return Some(Listed::File { path: entry.path, reference: None });
                }
                Err(error) => {
                    let place = self.outcome.error.lock();
                    *place.unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return None;
                }
            }
        }
    }
}

impl ListEnd {
    /// Returns an error if the list could not be read to its end.
    pub(super) fn ensure_whole(&self) -> Result<(), Error> {
        let error = self.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), |error| Err(error.into()))
    }
}
