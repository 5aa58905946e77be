//! A tree as a source: uses the library's walk, so that a job has the same files as a check.
//!
//! In: a selection with one root. Out: every regular file with its length and device, and the
//! directories that cannot be listed. Reads no contents, and does not copy tags: shards are
//! compared with the tags at the time of their run.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::manifest::Record;
use steadfast::{
    CatalogueUse, Event, FileEvent, Monitor, Options, Run, Selection, Skipped, Subject, Verb,
};
use steadfast_sys::file::Status;

use super::{By, JobFile, JobSource, SourceFailure, SourceItem, SourceSink, real};
use crate::error::{Error, ErrorKind};

/// All files beneath one directory.
#[derive(Debug)]
pub struct TreeSource {
    root: PathBuf,
    selection: Selection,
    options: Options,
}

impl TreeSource {
    /// Takes a selection of one directory with its patterns.
    ///
    /// # Errors
    /// If it is another selection, or the directory does not exist.
    pub fn new(selection: &Selection, options: &Options) -> Result<TreeSource, Error> {
        let [root] = &selection.roots[..] else {
            return Err(Error::usage("a job is of one PATH"));
        };
        if !selection.listed.is_empty() {
            return Err(Error::usage("a job is of a whole tree: no list goes with it"));
        }
        let root = real(root)?;
        let selection = selection.clone().with(|selection| selection.roots = vec![root.clone()]);
        let options = options.clone().with(|options| options.catalogue.choice = CatalogueUse::Off);
        Ok(TreeSource { root, selection, options })
    }
}

impl JobSource for TreeSource {
    fn root(&self) -> &Path {
        &self.root
    }

    fn by(&self) -> By {
        By::Tags
    }

    fn each(&mut self, stop: &AtomicBool, sink: &mut SourceSink<'_>) -> Result<Skipped, Error> {
        let mut walk = TreeWalk { root: &self.root, sink, stop, failed: None };
        let options = self.options.clone().with(|options| options.controls.stop = Arc::default());
        let summary = Run::of(Verb::Show, self.selection.clone(), options).run(&mut walk)?;
        if let Some(error) = walk.failed {
            return Err(error);
        }
        if summary.interrupted || stop.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "the walk was interrupted"));
        }
        Ok(summary.skipped)
    }
}

/// Monitors the walk.
struct TreeWalk<'a, 'b> {
    root: &'a Path,
    sink: &'a mut SourceSink<'b>,
    /// Set by the caller to stop.
    stop: &'a AtomicBool,
    failed: Option<Error>,
}

impl TreeWalk<'_, '_> {
    fn found(&self, event: &FileEvent) -> SourceItem {
        let path = event.path.to_path();
        let relative = path.strip_prefix(self.root).unwrap_or(&path).to_owned();
        if event.subject == Subject::Directory {
            let trouble = event.trouble.as_ref();
            let doing = trouble.map_or("open", |trouble| trouble.operation);
            let reason = trouble.map_or(String::new(), |trouble| trouble.reason.clone());
            return SourceItem::Failure(SourceFailure { path: relative, doing, reason });
        }
        // A file that was removed meanwhile has no length. Its shard will report it.
        let status = Status::of_link(&path).ok();
        SourceItem::File(JobFile {
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

impl Monitor for TreeWalk<'_, '_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        let Event::File(event) = event else { return ControlFlow::Continue(()) };
        if self.failed.is_none() {
            let found = self.found(event);
            self.failed = (self.sink)(found).err();
        }
        match self.failed.is_some() || self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
