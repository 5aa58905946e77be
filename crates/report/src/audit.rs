//! Documents about what can be proved of a tree: a page to print and sign, JSON lines, CSV.
//!
//! In: an [`Audit`], then streams of files: overdue, failed, with the same contents. Out: bytes,
//! which the caller writes. Memory is bounded for any tree. `docs/reference/audit.md` specifies the
//! JSON and CSV forms. Knows no clock: the audit contains its time.

mod csv;
mod json;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use steadfast::catalogue::{
    Audit, CatalogueVerification, Duplicates, FailedCheck, FileState, Overdue, RunRecord,
};
use steadfast::{ExitStatus, Origin};

use crate::output::Output;
use crate::units::DAY_S;

pub use csv::AuditCsv;
pub use json::AuditJson;
pub use text::AuditText;

/// An audit, as documents show it.
#[derive(Clone, Copy, Debug)]
pub struct AuditView<'a> {
    /// The root of the tree.
    pub root: &'a Path,
    /// The catalogue.
    pub file: &'a Path,
    /// The version of this program.
    pub version: &'a str,
    /// What can be proved.
    pub audit: &'a Audit,
    /// What runs read within each window of the audit, in the order of the windows.
    pub readings: &'a [WindowReading],
    /// The days after which a proof is overdue, if this was asked for.
    pub overdue_days: Option<u32>,
    /// The verification of the catalogue itself, if this was asked for.
    pub verification: Option<&'a CatalogueVerification>,
}

/// What the runs of the last days read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowReading {
    /// Runs that judged any file.
    pub runs: u64,
    /// Bytes that were read from the medium, past the page cache.
    pub bytes_media: u64,
    /// Bytes that were read through the page cache.
    pub bytes_cache: u64,
}

impl WindowReading {
    /// Makes an empty reading for each window.
    pub fn of(audit: &Audit) -> Vec<WindowReading> {
        vec![WindowReading::default(); audit.windows.len()]
    }

    /// Adds a run to the windows within which it began.
    pub fn add(readings: &mut [WindowReading], audit: &Audit, run: &RunRecord) {
        for (window, reading) in audit.windows.iter().zip(readings) {
            let since = audit.at.seconds.saturating_sub(i64::from(window.days) * DAY_S);
            let is_within = (since..=audit.at.seconds).contains(&run.started.seconds);
            if !is_within || run.bytes == 0 {
                continue;
            }
            reading.runs += 1;
            let sum = match run.read_from {
                Some(Origin::Media) => &mut reading.bytes_media,
                _ => &mut reading.bytes_cache,
            };
            *sum = sum.saturating_add(run.bytes);
        }
    }
}

/// A part of an audit that is a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditPart {
    /// Files whose last proof is too long ago.
    Overdue,
    /// Checks that ever failed.
    Failures,
    /// Files with the same contents.
    Duplicates,
}

/// The sums of the streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditTally {
    /// Files that are overdue.
    pub overdue: u64,
    /// Their bytes.
    pub overdue_bytes: u64,
    /// Open failures, by state.
    pub open: BTreeMap<FileState, u64>,
    /// Failures that have been settled since.
    pub settled: BTreeMap<FileState, u64>,
    /// Groups of files with the same contents.
    pub groups: u64,
    /// Files in those beyond the first of each.
    pub copies: u64,
    /// Bytes of these.
    pub copies_bytes: u64,
    /// Whether the catalogue knows no file with a tag, so that nothing can be proved.
    pub proves_nothing: bool,
    /// Whether the streams were interrupted.
    pub interrupted: bool,
}

impl AuditTally {
    /// Counts a file that is overdue.
    pub fn count_overdue(&mut self, overdue: &Overdue) {
        self.overdue += 1;
        self.overdue_bytes = self.overdue_bytes.saturating_add(overdue.length);
    }

    /// Counts a failure, unless it counts under another name of its file.
    pub fn count_failure(&mut self, failure: &FailedCheck) {
        let by_standing = match failure.settled {
            true => &mut self.settled,
            false if failure.goes_on => return,
            false => &mut self.open,
        };
        *by_standing.entry(failure.standing).or_default() += 1;
    }

    /// Counts a group of files with the same contents.
    pub fn count_duplicates(&mut self, duplicates: &Duplicates) {
        let copies = duplicates.paths.len().saturating_sub(1) as u64;
        self.groups += 1;
        self.copies += copies;
        let bytes = duplicates.tag.length.saturating_mul(copies);
        self.copies_bytes = self.copies_bytes.saturating_add(bytes);
    }

    /// Returns the exit status.
    pub fn exit_status(&self, verification: Option<&CatalogueVerification>) -> ExitStatus {
        let damaged = verification.is_some_and(|verification| !verification.is_sound());
        let alarms = [FileState::Corrupt, FileState::Suspect];
        if alarms.iter().any(|state| self.open.contains_key(state)) {
            ExitStatus::Corrupt
        } else if self.interrupted {
            ExitStatus::Interrupted
        } else if !self.open.is_empty() || self.overdue > 0 {
            ExitStatus::Changed
        } else {
            ExitStatus::Undetermined.only_if(damaged || self.proves_nothing)
        }
    }
}

/// Writes one kind of document of an audit, piece by piece.
pub trait AuditRenderer {
    /// Appends the beginning: everything that is known before the streams.
    fn begin(&mut self, view: &AuditView<'_>, output: &mut Output);

    /// Appends the beginning of a stream, if it has one.
    fn begin_part(&mut self, _part: AuditPart, _output: &mut Output) {}

    /// Appends a file that is overdue.
    fn overdue(&mut self, overdue: &Overdue, output: &mut Output);

    /// Appends a failure.
    fn failure(&mut self, failure: &FailedCheck, output: &mut Output);

    /// Appends files with the same contents.
    fn duplicates(&mut self, duplicates: &Duplicates, output: &mut Output);

    /// Appends the end of a stream, if it has one.
    fn end_part(&mut self, _part: AuditPart, _tally: &AuditTally, _output: &mut Output) {}

    /// Appends the end, if the document has one.
    fn end(&mut self, _view: &AuditView<'_>, _tally: &AuditTally, _output: &mut Output) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use steadfast::Timestamp;

    fn failure(standing: FileState, now: Option<FileState>) -> FailedCheck {
        let at = Timestamp { seconds: 5, nanoseconds: 0 };
        let settled = now.is_none_or(FileState::proves);
        FailedCheck {
            path: PathBuf::from("a"),
            run: 1,
            at,
            standing,
            now,
            settled,
            length: None,
            goes_on: false,
            repaired_run: None,
        }
    }

    fn status(failures: &[(FileState, Option<FileState>)]) -> u8 {
        let mut tally = AuditTally::default();
        for (standing, now) in failures {
            tally.count_failure(&failure(*standing, *now));
        }
        tally.exit_status(None).code()
    }

    #[test]
    fn the_status_is_that_of_what_is_not_settled() {
        use FileState::{Corrupt, Fine, Missing, Modified, TagReplaced, Touched, Unreadable};
        let rows: [(&[_], u8); 8] = [
            (&[], 0),
            (&[(Corrupt, Some(Fine)), (Modified, Some(Touched)), (Missing, None)], 0),
            (&[(Modified, Some(Modified))], 1),
            (&[(Unreadable, Some(Unreadable))], 1),
            (&[(TagReplaced, Some(TagReplaced))], 1),
            (&[(Missing, Some(Missing)), (Corrupt, Some(Fine))], 1),
            (&[(Modified, Some(Modified)), (Corrupt, Some(Corrupt))], 3),
            (&[(Corrupt, Some(Missing))], 3),
        ];
        for (failures, expected) in rows {
            assert_eq!(status(failures), expected, "{failures:?}");
        }
    }

    #[test]
    fn a_damaged_catalogue_and_an_interruption_have_their_status() {
        let damaged = CatalogueVerification {
            problems: vec!["odd".to_owned()],
            ..CatalogueVerification::default()
        };
        let sound = CatalogueVerification::default();
        let mut tally = AuditTally::default();
        assert_eq!(tally.exit_status(Some(&sound)).code(), 0);
        assert_eq!(tally.exit_status(Some(&damaged)).code(), 2);
        tally.overdue = 1;
        assert_eq!(tally.exit_status(Some(&damaged)).code(), 1, "1 outranks 2");
        tally.interrupted = true;
        assert_eq!(tally.exit_status(None).code(), 130);
        tally.count_failure(&failure(FileState::Corrupt, Some(FileState::Corrupt)));
        assert_eq!(tally.exit_status(None).code(), 3, "decay is told even then");
    }
}
