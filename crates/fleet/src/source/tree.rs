//! A tree as a source: the library's own walk, so that a job has the files that a check would see.
//!
//! In: a selection with one root. Out: every regular file, with its length and its device; and
//! directories that could not be listed. Contents are not read. Files are judged by their own tags
//! when their shard runs, so what the tags say now is not written down.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::manifest::Record;
use steadfast::{
    CatalogueUse, Event, FileEvent, Monitor, Options, Selection, Skipped, Subject, Verb,
};
use steadfast_sys::file::Status;

use super::{By, Entry, Found, Sink, Source, Trouble, real};
use crate::error::{Error, ErrorKind};

/// All files beneath one directory.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    selection: Selection,
    options: Options,
}

impl Tree {
    /// Takes a selection of one directory, its patterns included. Setting the options' `stop` ends
    /// the walk.
    ///
    /// # Errors
    /// If it is another selection, or the directory is not there.
    pub fn new(selection: &Selection, options: &Options) -> Result<Tree, Error> {
        let [root] = &selection.roots[..] else {
            return Err(Error::usage("a job is of one PATH"));
        };
        if !selection.listed.is_empty() {
            return Err(Error::usage("a job is of a whole tree: no list goes with it"));
        }
        let root = real(root)?;
        let selection = Selection { roots: vec![root.clone()], ..selection.clone() };
        let options = Options { catalogue: CatalogueUse::Off, ..options.clone() };
        Ok(Tree { root, selection, options })
    }
}

impl Source for Tree {
    fn root(&self) -> &Path {
        &self.root
    }

    fn by(&self) -> By {
        By::Tags
    }

    fn each(&mut self, stop: &AtomicBool, sink: &mut Sink<'_>) -> Result<Skipped, Error> {
        let ended = Arc::new(AtomicBool::new(stop.load(Ordering::Relaxed)));
        let options = Options { stop: Arc::clone(&ended), ..self.options.clone() };
        let mut walk = Walk { root: &self.root, sink, stop, ended, failed: None };
        let summary = steadfast::run::run(Verb::Show, &self.selection, &options, &mut walk)?;
        if let Some(error) = walk.failed {
            return Err(error);
        }
        if summary.interrupted || stop.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "the walk was interrupted"));
        }
        Ok(summary.skipped)
    }
}

/// Listens to the walk.
struct Walk<'a, 'b> {
    root: &'a Path,
    sink: &'a mut Sink<'b>,
    /// Set from outside.
    stop: &'a AtomicBool,
    /// Ends the walk.
    ended: Arc<AtomicBool>,
    failed: Option<Error>,
}

impl Walk<'_, '_> {
    fn found(&self, event: &FileEvent) -> Found {
        let path = event.path.to_path();
        let relative = path.strip_prefix(self.root).unwrap_or(&path).to_owned();
        if event.subject == Subject::Directory {
            let trouble = event.trouble.as_ref();
            let doing = trouble.map_or("open", |trouble| trouble.operation);
            let reason = trouble.map_or(String::new(), |trouble| trouble.reason.clone());
            return Found::Trouble(Trouble { path: relative, doing, reason });
        }
        // What is gone since has no length any more, and its shard will say so.
        let status = Status::of_link(&path).ok();
        Found::File(Entry {
            record: Record {
                path: relative,
                digests: Vec::new(),
                length: None,
                mtime: None,
                tagged: None,
            },
            device: status.map_or(0, |status| status.device),
            bytes: status.map_or(0, |status| status.length),
            checked_s: None,
        })
    }
}

impl Monitor for Walk<'_, '_> {
    fn event(&mut self, event: &Event) {
        let Event::File(event) = event else { return };
        if self.failed.is_some() {
            return;
        }
        let found = self.found(event);
        self.failed = (self.sink)(found).err();
        if self.failed.is_some() || self.stop.load(Ordering::Relaxed) {
            self.ended.store(true, Ordering::Relaxed);
        }
    }
}
