//! The end of a run: its document, or why there is none.

use std::path::{Path, PathBuf};

use steadfast::catalogue::{Audit, Catalogue};
use steadfast::{Summary, Timestamp, TreeChanges};
use steadfast_report::Units;
use steadfast_report::document::Document;
use steadfast_report::pace::PaceHistory;
use steadfast_report::run::{RunFacts, RunReport};
use steadfast_report::timeline::Timeline;

/// Periods of the coverage in a document, in days.
pub(crate) const COVERAGE_DAYS: [u32; 7] = [1, 7, 30, 90, 180, 365, 730];

/// How a run ended.
#[derive(Clone, Debug)]
pub(crate) enum RunEnd {
    /// It ended by itself or was stopped.
    Done(Box<(Summary, Document)>),
    /// It failed, for this reason.
    Failed(String),
    /// It stopped before it wrote anything: it would have accepted too much at once.
    TooMany(MassChange),
}

/// So many changes at once that they are accepted only by somebody who has looked.
#[derive(Clone, Debug, Default)]
pub(crate) struct MassChange {
    /// Files of the folder.
    pub(crate) files: u64,
    /// Changed files, and files that are gone, by their paths from the root.
    pub(crate) edited: Vec<PathBuf>,
    pub(crate) missing: Vec<PathBuf>,
    /// The number of the question that lists them.
    pub(crate) answer: Option<String>,
}

impl MassChange {
    /// Takes what the library found, in a folder at `root`.
    pub(super) fn of(changes: TreeChanges, root: &Path) -> MassChange {
        let below = |path: PathBuf| match path.strip_prefix(root) {
            Ok(below) => below.to_owned(),
            Err(_) => path,
        };
        MassChange {
            files: changes.files,
            edited: changes.edited.into_iter().map(below).collect(),
            missing: changes.missing.into_iter().map(below).collect(),
            answer: None,
        }
    }

    /// Returns how many there are.
    pub(crate) fn count(&self) -> u64 {
        (self.edited.len() + self.missing.len()) as u64
    }
}

/// The data of a document.
pub(super) struct Collected<'a> {
    pub(super) report: RunReport,
    pub(super) view: Summary,
    pub(super) timeline: &'a Timeline,
    pub(super) paces: &'a PaceHistory,
    pub(super) begun: Timestamp,
    pub(super) command: String,
}

impl Collected<'_> {
    /// Makes the document. Includes the coverage if the run updated a catalogue.
    pub(super) fn end(self, catalogue: Option<&Path>, now: Timestamp) -> RunEnd {
        let kept = catalogue.filter(|_| self.view.catalogued);
        let audit = kept.and_then(|file| coverage(file, now));
        let facts = RunFacts {
            command: self.command,
            made_by: format!("steadfast {}", env!("CARGO_PKG_VERSION")),
            begun: self.begun,
            units: Units::default(),
        };
        let mut document = self.report.document(&facts, &self.view, audit.as_ref(), self.timeline);
        document.sections.extend(self.paces.section(facts.units));
        RunEnd::Done(Box::new((self.view, document)))
    }
}

fn coverage(catalogue: &Path, now: Timestamp) -> Option<Audit> {
    let catalogue = Catalogue::open_reader(catalogue).ok()?;
    catalogue.audit(&COVERAGE_DAYS, now).ok()
}
