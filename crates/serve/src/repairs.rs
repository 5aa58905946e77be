//! Repairs of damaged files from the parity of their tree: first what can be done, then
//! doing it.
//!
//! In: paths beneath a root. Out: what can be done for each file, or was done. The library proves
//! every file before it replaces one, and keeps the damaged file.

use std::path::{Path, PathBuf};

use steadfast::catalogue::Catalogue;
use steadfast::repair::{
    Copies, RepairMode, RepairMonitor, RepairOutcome, RepairRequest, RepairSummary, RepairTarget,
    repair_files,
};
use steadfast::{CatalogueUse, Event, FileState, Monitor, Options, Selection};
use steadfast_report::escape;

use crate::audits::RootFacts;
use crate::roots::{ServedPath, ServedRoots};

/// Files of one repair.
const FILES_MAX: usize = 1_000;

/// What can be done for one file, or was.
pub(crate) struct MendedFile {
    pub(crate) shown: String,
    /// Why it cannot be repaired; `None` if it can.
    pub(crate) fault: Option<String>,
    /// Where its contents come from.
    pub(crate) sources: Vec<String>,
}

/// A repair, planned or done.
pub(crate) struct MendedFolder {
    pub(crate) files: Vec<MendedFile>,
    pub(crate) summary: RepairSummary,
}

/// Returns the damaged, missing and unreadable files of a root, as paths for a repair.
pub(crate) fn damaged_in(facts: &RootFacts, root: &Path) -> Vec<PathBuf> {
    let is_damaged =
        |state| matches!(state, FileState::Corrupt | FileState::Missing | FileState::Unreadable);
    let damaged = facts.failures.iter().filter(|failure| is_damaged(failure.standing));
    damaged.take(FILES_MAX).map(|failure| root.join(&failure.path)).collect()
}

/// Plans the repair of files beneath a root, or carries it out. Reads them and writes nothing
/// unless `is_agreed`.
///
/// # Errors
/// If the repair cannot begin; the text says why.
pub(crate) fn repair(
    place: &ServedPath,
    paths: Vec<PathBuf>,
    roots: &ServedRoots,
    trees: Option<PathBuf>,
    is_agreed: bool,
) -> Result<MendedFolder, String> {
    let root = roots.root(place).map_err(|error| error.to_string())?;
    let selection = Selection::default().with(|selection| {
        selection.listed = paths;
        selection.within = Some(root.clone());
    });
    let catalogue = Catalogue::find_beneath(&root, &root);
    let options = Options::default().with(|options| {
        options.catalogue = catalogue.map_or(CatalogueUse::Off, CatalogueUse::At);
        options.trees = trees;
    });
    let mode = if is_agreed { RepairMode::Yes } else { RepairMode::Plan };
    let mut listener = RepairListener { files: Vec::new() };
    let said = |error: steadfast::Error| escape::text(&error.to_string());
    let request = RepairRequest { copies: Copies::default(), mode, in_place: false, to_tag: false };
    let summary = repair_files(&selection, &options, &request, &mut listener);
    summary.map(|summary| MendedFolder { files: listener.files, summary }).map_err(said)
}

/// Gathers what becomes of each file.
struct RepairListener {
    files: Vec<MendedFile>,
}

impl RepairListener {
    fn take(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        self.files.push(MendedFile {
            shown: escape::path(&target.path),
            fault: outcome.fault.as_ref().map(|fault| escape::text(&fault.to_string())),
            sources: outcome.sources.iter().map(|source| escape::path(&source.path)).collect(),
        });
    }
}

impl Monitor for RepairListener {
    fn event(&mut self, _: &Event) {}
}

impl RepairMonitor for RepairListener {
    fn planned(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        self.take(target, outcome);
    }

    fn consents(&mut self, _: u64) -> bool {
        false
    }

    fn repaired(&mut self, target: &RepairTarget, outcome: &RepairOutcome) {
        self.take(target, outcome);
    }
}
