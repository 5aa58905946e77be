//! A quick look: compares the present status of files with the recorded one, and opens no file.
//!
//! Returns findings: changed, new and missing files. It trusts length, times and inode, so it
//! proves nothing about bytes, and it writes nothing to the catalogue.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast_sys::file::Timestamp;

use super::error::DbError;
use super::observation::Observation;
use super::recorder::{Recorder, RecorderMode, RunStart};
use super::scope::RunScope;
use super::{Catalogue, CatalogueError};
use crate::error::Error;
use crate::event::{FileEvent, Skipped, Subject, Visit};
use crate::finding::Say;
use crate::selection::Selection;
use crate::store::has_tag;
use crate::verb_kind::VerbKind;
use crate::walk::{Entry, Excludes, WalkItem, walk};
use steadfast_manifest::tag::TagPlace;

/// The result of a quick look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuickSummary {
    /// Files that were examined.
    pub files: u64,
    /// Files whose facts differ from the catalogue.
    pub changed: u64,
    /// Files that the catalogue does not know.
    pub new: u64,
    /// Files that are gone.
    pub missing: u64,
    /// Files with unchanged facts that an earlier run found bad.
    pub standing: u64,
    /// Files and directories that could not be examined.
    pub unreadable: u64,
    /// Entries that the walk skipped.
    pub skipped: Skipped,
    /// Whether every root was walked completely.
    pub whole: bool,
}

impl Catalogue {
    /// Takes a quick look at a selection. Passes files that could not be examined to `trouble`.
    ///
    /// # Errors
    ///
    /// If a pattern is not valid, or the catalogue cannot be read.
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
        let begin =
            RunStart { verb: VerbKind::Quick, read_from: None, backend: "", now, accepts: false };
        let mode =
            RecorderMode { writes: false, quick: true, accepts: false, believes_empty: false };
        let file = self.file.clone();
        let mut recorder =
            Recorder::start(self, scope, &begin, mode).map_err(|fault: DbError| fault.at(&file))?;
        // Files that the catalogue lacks are reported even before the first complete run.
        recorder.before.nothing_whole = false;
        recorder.stop_by(Arc::clone(stop));
        let mut summary = QuickSummary::default();
        let mut failed: Option<CatalogueError> = None;
        let (skipped, whole) = walk(selection, &excludes, has_tag, stop, &mut |found| {
            let event = match found {
                WalkItem::File(entry) => status_event(&entry),
                WalkItem::Failed(event) => *event,
                WalkItem::Leaves(_)
                | WalkItem::EmptyFolder(_)
                | WalkItem::Ours(..)
                | WalkItem::Notice(_) => {
                    return ControlFlow::Continue(());
                }
            };
            if event.verdict.is_some() {
                summary.unreadable += u64::from(!event.reading.dataless);
                trouble(event.clone());
            }
            if event.visit.status.is_none() && event.subject == Subject::File {
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
        let found =
            |recorder: &Recorder, name| recorder.counts.findings.get(name).copied().unwrap_or(0);
        recorder.conclude(whole, say)?;
        Ok(QuickSummary {
            files: recorder.record.files,
            changed: found(&recorder, "changed"),
            new: found(&recorder, "new"),
            missing: found(&recorder, "missing"),
            standing: found(&recorder, "standing"),
            skipped,
            whole: whole && !recorder.early_end.cut_short,
            ..summary
        })
    }
}

/// Looks at a file without opening it.
fn status_event(entry: &Entry) -> FileEvent {
    let path = entry.path.clone();
    match entry.status() {
        // Taking contents off the machine changes a file's times and no bytes.
        Ok(status) if status.dataless => FileEvent::dataless(path, Subject::File),
        Ok(status) => {
            let visit = Visit { status: Some(status), ..Visit::default() };
            FileEvent { visit, ..FileEvent::new(path) }
        }
        Err(error) => FileEvent::unread(path, Subject::File, "look at", &error),
    }
}
