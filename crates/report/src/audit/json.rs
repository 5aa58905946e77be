//! An audit, as programs read it: one JSON object on each line, the summary last.

use std::collections::BTreeMap;

use serde::Serialize;
use steadfast::catalogue::{CatalogueVerification, Duplicates, FailedCheck, FileState, Overdue};
use steadfast_events::PathText;

use super::{AuditRenderer, AuditTally, AuditView};
use crate::catalogue::{RunObject, standing_key};
use crate::json::{CountsByName, write_object, write_summary};
use crate::output::Output;

/// Renders JSON lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditJson;

impl AuditRenderer for AuditJson {
    fn begin(&mut self, view: &AuditView<'_>, output: &mut Output) {
        for run in &view.audit.runs {
            write_line("run", RunObject::of(run), output);
        }
        let problems = view.verification.map(|verification| verification.problems.as_slice());
        for problem in problems.unwrap_or_default() {
            write_line("problem", ProblemObject { problem }, output);
        }
    }

    fn overdue(&mut self, overdue: &Overdue, output: &mut Output) {
        write_line("overdue", OverdueObject::of(overdue), output);
    }

    fn failure(&mut self, failure: &FailedCheck, output: &mut Output) {
        write_line("failure", FailureObject::of(failure), output);
    }

    fn duplicates(&mut self, duplicates: &Duplicates, output: &mut Output) {
        let Duplicates { tag, paths } = duplicates;
        let rest = DuplicatesObject {
            algorithm: tag.algorithm.name(),
            digest: tag.digest.to_string(),
            length: tag.length,
            paths: paths.iter().map(|path| PathText::of(path)).collect(),
        };
        write_line("duplicates", rest, output);
    }

    fn end(&mut self, view: &AuditView<'_>, tally: &AuditTally, output: &mut Output) {
        write_summary(&AuditSummary::of(view, tally), &mut output.answer);
    }
}

/// A line says first what it is about.
#[derive(Serialize)]
pub(super) struct AuditLine<T> {
    pub(super) about: &'static str,
    #[serde(flatten)]
    pub(super) rest: T,
}

fn write_line(about: &'static str, rest: impl Serialize, output: &mut Output) {
    write_object(&AuditLine { about, rest }, &mut output.answer);
}

#[derive(Serialize)]
struct ProblemObject<'a> {
    problem: &'a str,
}

#[derive(Serialize)]
pub(super) struct OverdueObject {
    #[serde(flatten)]
    path: PathText,
    length: u64,
    last_proof_s: Option<i64>,
    standing: &'static str,
}

impl OverdueObject {
    pub(super) fn of(overdue: &Overdue) -> OverdueObject {
        OverdueObject {
            path: PathText::of(&overdue.path),
            length: overdue.length,
            last_proof_s: overdue.last_proof.map(|proof| proof.seconds),
            standing: standing_key(overdue.standing),
        }
    }
}

#[derive(Serialize)]
pub(super) struct FailureObject {
    #[serde(flatten)]
    path: PathText,
    run: i64,
    at_s: i64,
    standing: &'static str,
    now: Option<&'static str>,
    settled: bool,
}

impl FailureObject {
    pub(super) fn of(failure: &FailedCheck) -> FailureObject {
        FailureObject {
            path: PathText::of(&failure.path),
            run: failure.run,
            at_s: failure.at.seconds,
            standing: standing_key(failure.standing),
            now: failure.now.map(standing_key),
            settled: failure.settled,
        }
    }
}

#[derive(Serialize)]
struct DuplicatesObject {
    algorithm: &'static str,
    digest: String,
    length: u64,
    paths: Vec<PathText>,
}

#[derive(Serialize)]
struct AuditSummary<'a> {
    verb: &'static str,
    version: &'a str,
    interrupted: bool,
    exit_status: u8,
    root: PathText,
    catalogue: PathText,
    at_s: i64,
    files: u64,
    tagged: u64,
    bytes: u64,
    windows: Vec<WindowObject>,
    never: AmountObject,
    oldest_proof_s: Option<i64>,
    standings: CountsByName,
    failures: FailuresObject,
    overdue: Option<OverdueSum>,
    duplicates: DuplicatesSum,
    verification: Option<VerificationObject>,
}

impl<'a> AuditSummary<'a> {
    fn of(view: &AuditView<'a>, tally: &'a AuditTally) -> AuditSummary<'a> {
        let audit = view.audit;
        let (files, bytes) = audit.never;
        AuditSummary {
            verb: "audit",
            version: view.version,
            interrupted: tally.interrupted,
            exit_status: tally.exit_status(view.verification),
            root: PathText::of(view.root),
            catalogue: PathText::of(view.file),
            at_s: audit.at.seconds,
            files: audit.entries,
            tagged: audit.tagged,
            bytes: audit.bytes,
            windows: WindowObject::all(view),
            never: AmountObject { files, bytes },
            oldest_proof_s: audit.oldest_proof.map(|proof| proof.seconds),
            standings: counts(&audit.standings),
            failures: FailuresObject { open: counts(&tally.open), settled: counts(&tally.settled) },
            overdue: view.overdue_days.map(|days| OverdueSum {
                days,
                files: tally.overdue,
                bytes: tally.overdue_bytes,
            }),
            duplicates: DuplicatesSum {
                groups: tally.groups,
                copies: tally.copies,
                bytes: tally.copies_bytes,
            },
            verification: view.verification.map(VerificationObject::of),
        }
    }
}

#[derive(Serialize)]
struct WindowObject {
    days: u32,
    files: u64,
    bytes: u64,
    runs: u64,
    read_media_bytes: u64,
    read_cache_bytes: u64,
}

impl WindowObject {
    fn all(view: &AuditView<'_>) -> Vec<WindowObject> {
        let windows = view.audit.windows.iter().zip(view.readings);
        windows
            .map(|(window, reading)| WindowObject {
                days: window.days,
                files: window.entries,
                bytes: window.bytes,
                runs: reading.runs,
                read_media_bytes: reading.bytes_media,
                read_cache_bytes: reading.bytes_cache,
            })
            .collect()
    }
}

#[derive(Serialize)]
struct AmountObject {
    files: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct FailuresObject {
    open: CountsByName,
    settled: CountsByName,
}

#[derive(Serialize)]
struct OverdueSum {
    days: u32,
    files: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct DuplicatesSum {
    groups: u64,
    copies: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct VerificationObject {
    sound: bool,
    directories: u64,
    files: u64,
    events: u64,
    runs: u64,
    problems: usize,
}

impl VerificationObject {
    fn of(verification: &CatalogueVerification) -> VerificationObject {
        VerificationObject {
            sound: verification.is_sound(),
            directories: verification.directories,
            files: verification.entries,
            events: verification.events,
            runs: verification.runs,
            problems: verification.problems.len(),
        }
    }
}

fn counts(standings: &BTreeMap<FileState, u64>) -> CountsByName {
    CountsByName(
        standings.iter().map(|(standing, count)| (standing_key(*standing), *count)).collect(),
    )
}
