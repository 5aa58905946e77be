//! Finds a run's files: by a walk, or from a list.
//!
//! Takes a selection, or a root and a list. Returns entries, and how the search ended. Runs on its
//! own thread beside the pipeline.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::event::{FileError, FileEvent, FilePath, Skipped, Subject};
use crate::pages::{Kept, is_draft};
use crate::selection::Selection;
use crate::shard::ShardFilter;
use crate::store::has_tag;
use crate::store::pages;
use crate::walk::{Beneath, Entry, Excludes, Listed, Sink, WalkItem, walk};

/// How the search for files ended.
#[derive(Clone, Copy, Default)]
pub(super) struct WalkEnd {
    pub(super) skipped: Skipped,
    /// Whether it reached the end of every root, or of the list.
    pub(super) whole: bool,
}

/// Finds the files of a run.
pub(super) trait EntrySource: Send {
    /// Passes every entry to the sink, until the sink breaks or `stop` is set.
    fn find(self: Box<Self>, stop: &AtomicBool, sink: &mut Sink<'_>) -> WalkEnd;
}

/// Every file beneath the roots of a selection.
pub(super) struct WalkSource {
    pub(super) selection: Selection,
    pub(super) excludes: Arc<Excludes>,
    /// Whether leaves beside their files are read too, so that torn ones are reported.
    pub(super) reads_leaves: bool,
}

impl EntrySource for WalkSource {
    fn find(self: Box<Self>, stop: &AtomicBool, sink: &mut Sink<'_>) -> WalkEnd {
        let mut heed = |found| match found {
            WalkItem::Leaves(entry) if self.reads_leaves => match torn(&entry, stop) {
                Some(event) => sink(WalkItem::Failed(Box::new(event))),
                None => ControlFlow::Continue(()),
            },
            WalkItem::File(entry) if !self.covers(&entry) => ControlFlow::Continue(()),
            found => sink(found),
        };
        let (skipped, whole) = walk(&self.selection, &self.excludes, has_tag, stop, &mut heed);
        WalkEnd { skipped, whole }
    }
}

impl WalkSource {
    /// Returns whether the run covers a file that the walk found.
    fn covers(&self, entry: &Entry) -> bool {
        let Some(ShardFilter { shard, found }) = &self.selection.shard else { return true };
        found.fetch_add(1, Ordering::Relaxed);
        let (path, root) = (entry.path.to_path(), self.selection.roots.first());
        let relative = root.and_then(|root| path.strip_prefix(root).ok());
        shard.has(relative.unwrap_or(&path))
    }
}

/// Returns an event if the leaves beside a file are torn or damaged.
fn torn(entry: &Entry, stop: &AtomicBool) -> Option<FileEvent> {
    // A draft of a killed run is replaced by the next run.
    if is_draft(&entry.path.name) {
        return None;
    }
    let read = || entry.open().and_then(Kept::read)?.ensure_whole(stop);
    let error = read().err().filter(|error| error.kind() != io::ErrorKind::Interrupted)?;
    let error = pages::trouble(&error, true);
    Some(FileEvent::unreadable(entry.path.clone(), Subject::File, error))
}

/// The files of a list, beneath one root.
pub(super) struct ListSource {
    pub(super) root: PathBuf,
    /// Whether the path of the root has no link. One that was planted meanwhile is not followed.
    pub(super) is_real: bool,
    pub(super) list: Box<dyn Iterator<Item = Listed> + Send>,
}

impl EntrySource for ListSource {
    fn find(mut self: Box<Self>, stop: &AtomicBool, sink: &mut Sink<'_>) -> WalkEnd {
        let whole = match Beneath::new(&self.root, self.is_real) {
            Ok(mut beneath) => beneath.each(&mut self.list, stop, sink),
            Err(error) => {
                let error = FileError::from_io("open", &error);
                let path = FilePath::whole(&self.root);
                let event = FileEvent::unreadable(path, Subject::Directory, error);
                sink(WalkItem::Failed(Box::new(event))) == ControlFlow::Continue(())
            }
        };
        WalkEnd { skipped: Skipped::default(), whole }
    }
}
