//! Writes an audit as JSON lines: one object on each line, the summary last.

use std::collections::BTreeMap;

use steadfast::catalogue::{CatalogueVerification, Duplicates, FailedCheck, FileState, Overdue};
use steadfast::json::PathText;

use super::{AuditRenderer, AuditTally, AuditView};
use crate::catalogue::{run_object, standing_key};
use crate::json::{CountsByName, JsonObject, write_object, write_summary};
use crate::output::Output;

/// Renders JSON lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditJson;

impl AuditRenderer for AuditJson {
    fn begin(&mut self, view: &AuditView<'_>, output: &mut Output) {
        for run in &view.audit.runs {
            write_line("run", run_object(run), output);
        }
        let problems = view.verification.map(|verification| verification.problems.as_slice());
        for problem in problems.unwrap_or_default() {
            write_line("problem", JsonObject::default().field("problem", problem), output);
        }
    }

    fn overdue(&mut self, overdue: &Overdue, output: &mut Output) {
        write_line("overdue", overdue_object(overdue), output);
    }

    fn failure(&mut self, failure: &FailedCheck, output: &mut Output) {
        write_line("failure", failure_object(failure), output);
    }

    fn duplicates(&mut self, duplicates: &Duplicates, output: &mut Output) {
        let Duplicates { tag, paths } = duplicates;
        let paths: Vec<PathText> = paths.iter().map(|path| PathText::of(path)).collect();
        let rest = JsonObject::default()
            .field("algorithm", tag.algorithm.name())
            .field("digest", tag.digest.to_string())
            .field("length", tag.length)
            .field("paths", paths);
        write_line("duplicates", rest, output);
    }

    fn end(&mut self, view: &AuditView<'_>, tally: &AuditTally, output: &mut Output) {
        write_summary(&summary_object(view, tally), &mut output.answer);
    }
}

/// Returns the object of a line of JSON or of a row of CSV: `about`, then the other fields.
pub(super) fn line_object<'a>(about: &'static str, rest: JsonObject<'a>) -> JsonObject<'a> {
    JsonObject::default().field("about", about).fields(rest)
}

fn write_line(about: &'static str, rest: JsonObject<'_>, output: &mut Output) {
    write_object(&line_object(about, rest), &mut output.answer);
}

pub(super) fn overdue_object(overdue: &Overdue) -> JsonObject<'_> {
    JsonObject::at(&overdue.path)
        .field("length", overdue.length)
        .field("last_proof_s", overdue.last_proof.map(|proof| proof.seconds))
        .field("standing", standing_key(overdue.standing))
}

pub(super) fn failure_object(failure: &FailedCheck) -> JsonObject<'_> {
    JsonObject::at(&failure.path)
        .field("run", failure.run)
        .field("at_s", failure.at.seconds)
        .field("standing", standing_key(failure.standing))
        .field("now", failure.now.map(standing_key))
        .field("settled", failure.settled)
        .optional("goes_on", failure.goes_on.then_some(true))
        .optional("repaired_run", failure.repaired_run)
}

fn summary_object<'a>(view: &AuditView<'a>, tally: &AuditTally) -> JsonObject<'a> {
    let audit = view.audit;
    let amount = |(files, bytes): (u64, u64)| {
        JsonObject::default().field("files", files).field("bytes", bytes)
    };
    let windows = audit.windows.iter().zip(view.readings).map(|(window, reading)| {
        JsonObject::default()
            .field("days", window.days)
            .fields(amount((window.entries, window.bytes)))
            .field("runs", reading.runs)
            .field("read_media_bytes", reading.bytes_media)
            .field("read_cache_bytes", reading.bytes_cache)
    });
    let failures = JsonObject::default()
        .field("open", counts(&tally.open))
        .field("settled", counts(&tally.settled));
    let overdue = view.overdue_days.map(|days| {
        let sum = amount((tally.overdue, tally.overdue_bytes));
        JsonObject::default().field("days", days).fields(sum)
    });
    let duplicates = JsonObject::default()
        .field("groups", tally.groups)
        .field("copies", tally.copies)
        .field("bytes", tally.copies_bytes);
    JsonObject::default()
        .field("verb", "audit")
        .field("version", view.version)
        .field("interrupted", tally.interrupted)
        .field("exit_status", tally.exit_status(view.verification))
        .field("root", PathText::of(view.root))
        .field("catalogue", PathText::of(view.file))
        .field("at_s", audit.at.seconds)
        .field("files", audit.entries)
        .field("tagged", audit.tagged)
        .field("bytes", audit.bytes)
        .field("windows", windows.collect::<Vec<_>>())
        .field("never", amount(audit.never))
        .field("oldest_proof_s", audit.oldest_proof.map(|proof| proof.seconds))
        .field("standings", counts(&audit.standings))
        .field("failures", failures)
        .field("overdue", overdue)
        .field("duplicates", duplicates)
        .field("verification", view.verification.map(verification_object))
}

fn verification_object(verification: &CatalogueVerification) -> JsonObject<'_> {
    JsonObject::default()
        .field("sound", verification.is_sound())
        .field("directories", verification.directories)
        .field("files", verification.entries)
        .field("events", verification.events)
        .field("runs", verification.runs)
        .field("problems", verification.problems.len())
}

fn counts(standings: &BTreeMap<FileState, u64>) -> CountsByName {
    CountsByName(
        standings.iter().map(|(standing, count)| (standing_key(*standing), *count)).collect(),
    )
}
