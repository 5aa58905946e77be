//! What the catalogues of the roots prove, cached for a moment.
//!
//! In: a root. Out: its audit, its open failures, and how it stands, by the rules of `status`.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use steadfast::catalogue::{Audit, Catalogue, CatalogueError, CatalogueErrorKind, FailedCheck};
use steadfast::{FileState, Options};
use steadfast_report::escape;
use steadfast_report::status::FolderFacts;

use crate::lock::lock;

/// How long an audit is cached, so that several tabs that load at once cause one audit.
const CACHE_LIFE: Duration = Duration::from_secs(2);

/// Open failures that are kept: about a megabyte with long paths.
const FAILURES_MAX: usize = 5_000;

/// What is known of a root.
#[derive(Clone, Debug)]
pub(crate) enum RootAudit {
    /// The root has no catalogue.
    None,
    /// The root is only a part of a catalogued tree.
    Above,
    /// The folder or its volume is not there, for this reason.
    Away(String),
    /// The catalogue cannot be read, for this reason.
    Unreadable(String),
    /// What the catalogue proves.
    Known(Box<RootFacts>),
}

/// What a catalogue knows of its root.
#[derive(Clone, Debug)]
pub(crate) struct RootFacts {
    pub(crate) audit: Audit,
    /// The figures of `status`.
    pub(crate) status: FolderFacts,
    /// Files with an open failure, by state.
    pub(crate) open: BTreeMap<FileState, u64>,
    /// These files, in walk order, up to a limit.
    pub(crate) failures: Vec<FailedCheck>,
}

impl RootFacts {
    /// Returns whether a file has no tag, was never proved, or was not proved lately.
    pub(crate) fn is_late(&self) -> bool {
        self.status.is_overdue || self.unproved() > 0 || self.audit.tagged == 0
    }

    /// Returns how many files have no tag or were never proved.
    pub(crate) fn unproved(&self) -> u64 {
        self.audit.entries.saturating_sub(self.audit.tagged) + self.audit.never.0
    }

    /// Returns the share of bytes that was proved within the cover, from 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        let proved = self.audit.windows.first().map_or(0, |window| window.entries);
        proved as f64 / self.audit.entries.max(1) as f64
    }

    #[cfg(test)]
    pub(crate) fn for_tests(open: &[(FileState, u64)], late: bool) -> RootFacts {
        let audit = Audit {
            at: (Options::default().now)(),
            entries: 10,
            tagged: 10,
            bytes: 10,
            windows: Vec::new(),
            proofs: Vec::new(),
            never: (0, 0),
            oldest_proof: None,
            standings: BTreeMap::new(),
            runs: Vec::new(),
        };
        let status = FolderFacts { is_overdue: late, ..FolderFacts::default() };
        RootFacts { audit, status, open: open.iter().copied().collect(), failures: Vec::new() }
    }
}

/// The latest audits by index of the root, with the moment of each.
#[derive(Default)]
pub(crate) struct RootAudits(Mutex<HashMap<usize, (Instant, Arc<RootAudit>)>>);

impl RootAudits {
    /// Returns the audit of a root. Waits for the disk.
    pub(crate) fn of(&self, root: usize, path: &Path, cover_days: u32) -> Arc<RootAudit> {
        if let Some((made, audit)) = lock(&self.0).get(&root)
            && made.elapsed() < CACHE_LIFE
        {
            return Arc::clone(audit);
        }
        self.keep(root, audit(path, cover_days))
    }

    /// Forgets what was known of a root, because a run has ended since.
    pub(crate) fn forget(&self, root: usize) {
        lock(&self.0).remove(&root);
    }

    /// Keeps what was found out about a root.
    pub(crate) fn keep(&self, root: usize, audit: RootAudit) -> Arc<RootAudit> {
        let audit = Arc::new(audit);
        lock(&self.0).insert(root, (Instant::now(), Arc::clone(&audit)));
        audit
    }

    /// Returns the latest audit of a root, however old, without waiting for the disk.
    pub(crate) fn latest(&self, root: usize) -> Option<Arc<RootAudit>> {
        lock(&self.0).get(&root).map(|(_, audit)| Arc::clone(audit))
    }
}

fn audit(path: &Path, cover_days: u32) -> RootAudit {
    let Some(file) = Catalogue::find(path) else { return RootAudit::None };
    let facts = Catalogue::open_reader(&file).and_then(|catalogue| {
        if catalogue.root() != path {
            return Ok(None);
        }
        catalogue.guard()?;
        facts(&catalogue, cover_days).map(Some)
    });
    match facts {
        Ok(Some(facts)) => RootAudit::Known(Box::new(facts)),
        Ok(None) => RootAudit::Above,
        Err(error) => {
            let reason = escape::text(&error.to_string());
            match error.kind() {
                CatalogueErrorKind::OtherVolume | CatalogueErrorKind::EmptyRoot => {
                    RootAudit::Away(reason)
                }
                _ => RootAudit::Unreadable(reason),
            }
        }
    }
}

fn facts(catalogue: &Catalogue, cover_days: u32) -> Result<RootFacts, CatalogueError> {
    let windows = FolderFacts::windows(cover_days);
    let audit = catalogue.audit(&windows, (Options::default().now)())?;
    let mut status = FolderFacts::of(&audit, cover_days);
    let mut found = OpenFailures::default();
    catalogue.failures(&mut |failure| {
        status.add(&failure);
        found.add(failure);
        ControlFlow::Continue(())
    })?;
    let OpenFailures { open, failures, .. } = found;
    Ok(RootFacts { audit, status, open, failures })
}

/// Gathers open failures, one for each file: its latest.
#[derive(Default)]
struct OpenFailures {
    open: BTreeMap<FileState, u64>,
    failures: Vec<FailedCheck>,
    last: Option<(std::path::PathBuf, FileState)>,
}

impl OpenFailures {
    fn add(&mut self, failure: FailedCheck) {
        if failure.settled {
            return;
        }
        let is_again = self.last.as_ref().is_some_and(|(path, _)| *path == failure.path);
        if let (true, Some((_, before))) = (is_again, &self.last) {
            *self.open.entry(*before).or_default() -= 1;
            self.failures.pop_if(|last| last.path == failure.path);
        }
        *self.open.entry(failure.standing).or_default() += 1;
        self.open.retain(|_, count| *count > 0);
        self.last = Some((failure.path.clone(), failure.standing));
        if self.failures.len() < FAILURES_MAX {
            self.failures.push(failure);
        }
    }
}
