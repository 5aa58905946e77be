//! A tree with a catalogue → one PREMIS document: every tagged file, its last verification, and its
//! failures.
//!
//! The schema requires all objects before all events, so the catalogue is read twice instead of
//! being held in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast::catalogue::{
    Catalogue, CatalogueError, CatalogueReader, FailedCheck, FileState, Overdue, RepairedFile,
    RunRecord,
};
use steadfast::{FilePath, Tag, Timestamp, VerbKind};
use steadfast_report::audit::AuditTally;
use steadfast_report::premis::{PremisEvents, PremisHappening, PremisObjects};

use crate::exit;
use crate::outlet::Outlet;

use super::tree_catalogue::each_run;

/// A time after all verifications, at which every tagged file is overdue.
const NEVER: Timestamp = Timestamp { seconds: i64::MAX, nanoseconds: 0 };

/// Writes the document of the files below a directory, and counts their failures.
///
/// # Errors
/// If the catalogue cannot be read.
pub(crate) fn write_tree(
    catalogue: &Catalogue,
    beneath: &Path,
    outlet: &mut Outlet,
) -> anyhow::Result<AuditTally> {
    let runs = CatalogueRuns::of(catalogue)?;
    let mut tags = Tags::of(catalogue)?;
    let mut objects = PremisObjects::begin(catalogue.root(), &mut outlet.pending.answer);
    catalogue.overdue(0, NEVER, &mut |file| {
        if file.path.starts_with(beneath)
            && let Some(tag) = tags.find(&file.path)
        {
            let length = Some(tag.length);
            objects.file(&file.path, Some(&tag), length, &mut outlet.pending.answer);
        }
        tags.flow(outlet)
    })?;
    let mut events = objects.events();
    catalogue.overdue(0, NEVER, &mut |file| {
        if file.path.starts_with(beneath)
            && let Some(tag) = tags.find(&file.path)
        {
            write_proof(&file, &tag, &runs, &mut events, &mut outlet.pending.answer);
        }
        tags.flow(outlet)
    })?;
    let mut tally = AuditTally::default();
    let mut last = (PathBuf::new(), 0);
    catalogue.failures(&mut |failure| {
        let again = last.1 == failure.run && last.0 == failure.path;
        if !again && failure.path.starts_with(beneath) {
            tally.count_failure(&failure);
            // A file without a record or a tag has no object.
            if failure.now.is_some() && tags.find(&failure.path).is_some() {
                write_failure(&failure, &runs, &mut events, &mut outlet.pending.answer);
            }
            last = (failure.path, failure.run);
        }
        tags.flow(outlet)
    })?;
    catalogue.repairs(&mut |file| {
        let RepairedFile { path, run, at, sources } = &file;
        if path.starts_with(beneath)
            && tags.find(path).is_some()
            && let Some(run) = runs.by_id.get(run)
        {
            let happening = PremisHappening::Recovery { sources };
            events.event(path, run, *at, happening, &mut outlet.pending.answer);
        }
        tags.flow(outlet)
    })?;
    tags.failed.map_or(Ok(()), Err)?;
    tally.interrupted = exit::was_signalled();
    // An incomplete document must be recognisable: without its end it is not valid XML.
    if !tally.interrupted {
        events.end(&mut outlet.pending.answer);
    }
    Ok(tally)
}

/// Writes the last verification of a file. A run that made the tag compared it with nothing.
fn write_proof(
    file: &Overdue,
    tag: &Tag,
    runs: &CatalogueRuns,
    events: &mut PremisEvents,
    out: &mut Vec<u8>,
) {
    let Some(at) = file.last_proof else { return };
    let Some(run) = runs.begun_at(at) else { return };
    let compares = matches!(run.kind(), Some(VerbKind::Check | VerbKind::Repair));
    let made_it = !compares && tag.tagged.seconds >= run.started.seconds;
    let happening = if made_it {
        PremisHappening::DigestCalculation { tag, before: None }
    } else {
        let standing = if file.standing.proves() { file.standing } else { FileState::Fine };
        PremisHappening::FixityCheck { standing }
    };
    events.event(&file.path, run, at, happening, out);
}

fn write_failure(
    failure: &FailedCheck,
    runs: &CatalogueRuns,
    events: &mut PremisEvents,
    out: &mut Vec<u8>,
) {
    let FailedCheck { path, at, standing, .. } = failure;
    if standing.proves() {
        return;
    }
    let Some(run) = runs.by_id.get(&failure.run) else { return };
    events.event(path, run, *at, PremisHappening::FixityCheck { standing: *standing }, out);
}

/// All runs of a catalogue.
struct CatalogueRuns {
    by_id: BTreeMap<i64, RunRecord>,
    /// The last run that started in each second.
    by_start: BTreeMap<i64, i64>,
}

impl CatalogueRuns {
    fn of(catalogue: &Catalogue) -> anyhow::Result<CatalogueRuns> {
        let mut runs = CatalogueRuns { by_id: BTreeMap::new(), by_start: BTreeMap::new() };
        each_run(catalogue, &mut |mut run| {
            runs.by_start.entry(run.started.seconds).or_insert(run.id);
            run.counts.clear();
            runs.by_id.insert(run.id, run);
        })?;
        Ok(runs)
    }

    fn begun_at(&self, at: Timestamp) -> Option<&RunRecord> {
        self.by_id.get(self.by_start.get(&at.seconds)?)
    }
}

/// The tags of files, looked up in the order of the catalogue.
struct Tags {
    records: CatalogueReader,
    root: PathBuf,
    /// The directory of the last file, relative to the root, and as the lookup needs it.
    parent: Option<(PathBuf, Arc<Path>)>,
    failed: Option<CatalogueError>,
}

impl Tags {
    fn of(catalogue: &Catalogue) -> anyhow::Result<Tags> {
        let root = catalogue.root().to_owned();
        let records = CatalogueReader::beside(catalogue)?;
        Ok(Tags { records, root, parent: None, failed: None })
    }

    fn find(&mut self, path: &Path) -> Option<Tag> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        let shared = match &self.parent {
            Some((last, shared)) if last == parent => Arc::clone(shared),
            _ => {
                let whole = if parent.as_os_str().is_empty() {
                    self.root.clone()
                } else {
                    self.root.join(parent)
                };
                let shared: Arc<Path> = Arc::from(whole);
                self.parent = Some((parent.to_owned(), Arc::clone(&shared)));
                shared
            }
        };
        let found = self.records.tag(&FilePath { parent: shared, name: name.to_owned() });
        found.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            None
        })
    }

    /// Returns whether to continue.
    fn flow(&self, outlet: &mut Outlet) -> ControlFlow<()> {
        if self.failed.is_some() { ControlFlow::Break(()) } else { flow(outlet) }
    }
}

/// Writes if much is pending, and returns whether to continue.
pub(super) fn flow(outlet: &mut Outlet) -> ControlFlow<()> {
    if outlet.is_full() {
        outlet.pour();
    }
    match outlet.is_closed() || exit::was_signalled() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}
