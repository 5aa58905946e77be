//! A served folder: what is known of it, the run that goes on, and what is said of both.
//!
//! In: what a catalogue proves, and a run of this server. Out: what `steadfast_words` says of it.
//! It reads no file of the folder: a file is as good as the last run that read it.

use std::path::Path;
use std::sync::Arc;

use steadfast::{FolderFacts, FolderState};
use steadfast_report::{progress, units};
use steadfast_watch::{CheckSchedule, FolderStatus};
use steadfast_words::{FolderSaid, GoingView, NextStep};

use crate::kinds::StateKind;
use crate::roots::ServedPath;
use crate::runs::ServedRun;
use crate::words;

/// A served folder as pages show it.
pub(crate) struct ServedFolder {
    pub(crate) place: ServedPath,
    /// The last name of its path.
    pub(crate) name: String,
    /// Its whole path.
    pub(crate) shown: String,
    pub(crate) audit: Arc<FolderState>,
    /// The run of this server in it that goes on.
    pub(crate) run: Option<Arc<ServedRun>>,
    pub(crate) schedule: Option<CheckSchedule>,
    /// How it is with its schedule and its drives.
    pub(crate) status: FolderStatus,
    /// What is said of it.
    pub(crate) said: FolderSaid,
}

/// A folder in the side bar.
#[derive(Clone)]
pub(crate) struct SideFolder {
    pub(crate) name: String,
    pub(crate) address: String,
    /// What was last said of it; `None` if nobody asked yet.
    pub(crate) said: Option<FolderSaid>,
}

impl ServedFolder {
    /// Returns what the catalogue knows, if it could be read.
    pub(crate) fn facts(&self) -> Option<&FolderFacts> {
        self.audit.facts()
    }

    /// Returns the address of its page.
    pub(crate) fn address(&self) -> String {
        format!("/folders/{}", self.place.root)
    }

    /// Returns the address of what there is to do next about it.
    pub(crate) fn target(&self) -> String {
        let address = self.address();
        match (self.said.step, &self.run) {
            (NextStep::Watch, Some(run)) => format!("/runs/{}", run.id),
            (NextStep::Show, Some(run)) if self.said.is_so_far => format!("/runs/{}", run.id),
            (NextStep::LookFirst(_), _) => format!("{address}/many"),
            (NextStep::LookAgain, _) => "/".to_owned(),
            _ => address,
        }
    }
}

/// Returns how far a run of this server is.
pub(crate) fn view_of(run: &ServedRun) -> GoingView {
    let now = run.control.snapshot().progress;
    GoingView {
        does: words::run_does_now(run.request.verb),
        files: now.files,
        all: now.total.map(|(files, _)| files),
        share: progress::share(&now),
        left: progress::remaining_ns(&now).map(units::rough_duration),
        damaged: run.findings().count(StateKind::Damaged),
        is_elsewhere: false,
    }
}

/// Returns the last name of a path, or the whole path of the root of a file system.
pub(crate) fn name_of(path: &Path) -> String {
    let name = path.file_name().map_or(path, Path::new);
    steadfast_report::escape::path(name)
}

/// Facts of ten files, of which one was proved long ago if they are `late`.
#[cfg(test)]
pub(crate) fn facts_for_tests(open: &[(steadfast::FileState, u64)], late: bool) -> FolderFacts {
    use steadfast::catalogue::{Audit, AuditWindow};
    let entries = if late { 9 } else { 10 };
    let windows = FolderFacts::windows(90).map(|days| AuditWindow {
        days,
        entries,
        bytes: 10,
        judged: entries,
    });
    let audit = Audit {
        at: (steadfast::Options::default().now)(),
        entries: 10,
        tagged: 10,
        bytes: 10,
        windows: windows.to_vec(),
        proofs: Vec::new(),
        checked: true,
        never: (0, 0),
        oldest_proof: None,
        standings: Default::default(),
        runs: Vec::new(),
    };
    let mut facts = FolderFacts::of(audit, 90);
    facts.open = open.iter().copied().collect();
    facts
}
