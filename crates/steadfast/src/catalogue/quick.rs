//! A quick look: compares what the file system says with what it said before, and opens nothing.
//!
//! In: a selection. Out: findings: changed, new and missing files. It trusts length, times and
//! inode, so it proves nothing about bytes, and leaves no trace in the catalogue.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_sys::file::Timestamp;

use super::error::DbError;
use super::finding::Say;
use super::observation::Observation;
use super::recorder::{Recorder, RecorderMode, RunStart};
use super::scope::RunScope;
use super::{Catalogue, CatalogueError};
use crate::error::Error;
use crate::event::{FileError, FileEvent, Skipped, Subject};
use crate::selection::Selection;
use crate::store::has_tag;
use crate::verdict::Verdict;
use crate::walk::{Excludes, WalkItem, walk};
use steadfast_manifest::tag::TagPlace;

/// What a quick look came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuickSummary {
    /// Files that were looked at.
    pub files: u64,
    /// Files whose facts differ from the catalogue's.
    pub changed: u64,
    /// Files that the catalogue does not know.
    pub new: u64,
    /// Files that are gone.
    pub missing: u64,
    /// Files with unchanged facts that an earlier run judged badly.
    pub standing: u64,
    /// Files and directories that could not be looked at.
    pub unreadable: u64,
    /// What the walk passed by.
    pub skipped: Skipped,
    /// Whether the look came to the end of every root.
    pub whole: bool,
}

impl Catalogue {
    /// Looks quickly at a selection. `trouble` hears of what could not be looked at.
    ///
    /// # Errors
    /// If a pattern is not well formed, or the catalogue cannot be read.
    pub fn quick(
        self,
        selection: &Selection,
        now: Timestamp,
        stop: &Arc<AtomicBool>,
        say: &mut Say<'_>,
        trouble: &mut dyn FnMut(FileEvent),
    ) -> Result<QuickSummary, Error> {
        let excludes = Excludes::new(&selection.excludes)?;
        let scope = RunScope::of(&self.root, selection);
        let begin = RunStart { verb: "quick", read_from: "", backend: "", now, accepts: false };
        let mode = RecorderMode { writes: false, quick: true, accepts: false };
        let file = self.file.clone();
        let mut recorder =
            Recorder::start(self, scope, &begin, mode).map_err(|fault: DbError| fault.at(&file))?;
        // Whatever the catalogue lacks is worth saying here, even before the first whole run.
        recorder.filling = false;
        recorder.stop_by(Arc::clone(stop));
        let mut summary = QuickSummary::default();
        let mut failed: Option<CatalogueError> = None;
        let (skipped, whole) = walk(selection, &excludes, has_tag, stop, &mut |found| {
            let event = match found {
                WalkItem::File(entry) => {
                    let mut event = FileEvent::new(entry.path.clone());
                    match entry.status() {
                        Ok(status) => event.status = Some(status),
                        Err(error) => {
                            summary.unreadable += 1;
                            event.verdict = Some(Verdict::Unreadable);
                            event.trouble = Some(FileError::from_io("look at", &error));
                            trouble(event.clone());
                        }
                    }
                    event
                }
                WalkItem::Failed(event) => {
                    summary.unreadable += 1;
                    trouble((*event).clone());
                    *event
                }
                WalkItem::Leaves(_) | WalkItem::Notice(_) => return ControlFlow::Continue(()),
            };
            if event.status.is_none() && event.subject == Subject::File {
                return ControlFlow::Continue(());
            }
            match recorder.observe(&Observation::of(&event, TagPlace::Attribute), say) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        let found = |recorder: &Recorder, name| recorder.found.get(name).copied().unwrap_or(0);
        recorder.conclude(whole, say)?;
        Ok(QuickSummary {
            files: recorder.record.files,
            changed: found(&recorder, "changed"),
            new: found(&recorder, "new"),
            missing: found(&recorder, "missing"),
            standing: found(&recorder, "standing"),
            skipped,
            whole: whole && !recorder.cut_short,
            ..summary
        })
    }
}
