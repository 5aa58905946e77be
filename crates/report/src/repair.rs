//! Repairs as documents: what can be done for each damaged file, what was done, and the end.
//!
//! Every name is escaped. `docs/reference/repair.md` specifies the JSON form.

use std::collections::BTreeMap;
use std::path::PathBuf;

use steadfast::repair::{
    LeftAlone, RepairFailure, RepairOutcome, RepairSource, RepairSummary, RepairTarget, Withheld,
};

use steadfast::Verdict;
use steadfast::json::Nanoseconds;

use crate::json::{JsonObject, write_object, write_summary};
use crate::units::{MomentWords, count, counted};
use crate::{advice, escape};

/// Says in a few words why files were not repaired, or cannot be.
pub fn failure_words(failure: RepairFailure) -> &'static str {
    match failure {
        RepairFailure::NoRoom => "there is no room for the repaired file",
        RepairFailure::ReadOnly => "its file system can only be read",
        RepairFailure::NotPermitted => "the rights do not allow it",
        RepairFailure::SourceGone => "what has the good contents is gone",
        RepairFailure::Changed => "something changed while it was repaired",
        RepairFailure::Stopped => "the repair was stopped",
        RepairFailure::NoCopy => "no good copy was found",
        RepairFailure::Other => "it did not succeed",
    }
}

/// Returns what to do about files that were not repaired for a reason; `None` if a copy is missing,
/// or the error says it.
pub fn failure_step(failure: RepairFailure) -> Option<&'static str> {
    Some(match failure {
        RepairFailure::NoRoom => "Make room on its drive, then repair again.",
        RepairFailure::ReadOnly => "Make its drive writable, then repair again.",
        RepairFailure::NotPermitted => "Repair as a user who may write there.",
        RepairFailure::SourceGone => "Connect the drive that has the copy, then repair again.",
        RepairFailure::Changed | RepairFailure::Stopped => "Repair again.",
        RepairFailure::NoCopy | RepairFailure::Other => return None,
    })
}

/// Appends a line about a file. `is_done` says whether the repair was carried out.
pub fn write_file_text(
    target: &RepairTarget,
    outcome: &RepairOutcome,
    is_done: bool,
    moments: MomentWords,
    out: &mut Vec<u8>,
) {
    let pages = outcome.pages.map(|pages| {
        format!("{} of {}; ", count(outcome.damaged_pages), counted(pages, "page", "pages"))
    });
    let what = match (&outcome.fault, is_done) {
        (Some(fault), _) => {
            let left = left_as_it_was(target.verdict);
            format!("{}. {left}", escape::text(&advice::of_error(fault)))
        }
        (None, true) if outcome.tag_alone => "repaired: it has its tag again".to_owned(),
        (None, false) if outcome.tag_alone => "can be repaired: its tag is known".to_owned(),
        (None, true) => format!("repaired{}{}", sources_of(outcome), other_names_of(outcome)),
        (None, false) => {
            format!("can be repaired{}{}", sources_of(outcome), other_names_of(outcome))
        }
    };
    let (verdict, path) = (target.verdict.name(), escape::path(&target.path));
    let (pages, ages) = (pages.unwrap_or_default(), ages_of(target, outcome, moments));
    let line = format!("{verdict:<10}  {path}: {pages}{what}{ages}\n");
    out.extend_from_slice(line.as_bytes());
    write_withheld_text(&outcome.withheld, out);
}

/// Says what became of a file that could not be repaired.
pub(crate) fn left_as_it_was(verdict: Verdict) -> &'static str {
    if verdict == Verdict::Missing { "It stays missing" } else { "The file is untouched" }
}

/// Says when a file changed that may have been edited, and how old the copy is.
fn ages_of(target: &RepairTarget, outcome: &RepairOutcome, moments: MomentWords) -> String {
    let changed = target.changed_at().map(|at| format!("changed on {}", moments.0(at)));
    let copy = outcome.copy_mtime.map(|at| format!("the copy is of {}", moments.0(at)));
    let ages: Vec<String> = changed.into_iter().chain(copy).collect();
    if ages.is_empty() { String::new() } else { format!(" ({})", ages.join("; ")) }
}

/// Appends a line for each thing that was not given back.
pub(crate) fn write_withheld_text(withheld: &[Withheld], out: &mut Vec<u8>) {
    for Withheld { path, what, reason } in withheld {
        let (what, reason) = (escape::text(what), escape::text(reason));
        let line = format!("            {} lacks: {what} ({reason})\n", escape::path(path));
        out.extend_from_slice(line.as_bytes());
    }
}

/// Returns the objects of things that were not given back.
pub(crate) fn withheld_json(withheld: &[Withheld]) -> Vec<JsonObject<'_>> {
    let object = |lack: &Withheld| {
        let object = JsonObject::at(&lack.path).field("what", lack.what.clone());
        object.field("reason", lack.reason.clone())
    };
    withheld.iter().map(object).collect()
}

/// Names the copies that gave something.
fn sources_of(outcome: &RepairOutcome) -> String {
    let names: Vec<String> =
        outcome.sources.iter().map(|source| format!("`{}`", escape::path(&source.path))).collect();
    if names.is_empty() { String::new() } else { format!(" from {}", names.join(" and ")) }
}

/// Names the hard links that were repaired with the file.
fn other_names_of(outcome: &RepairOutcome) -> String {
    let names: Vec<String> =
        outcome.other_names.iter().map(|name| format!("`{}`", escape::path(name))).collect();
    if names.is_empty() { String::new() } else { format!(", also as {}", names.join(" and ")) }
}

/// Appends the end.
pub fn write_summary_text(summary: &RepairSummary, out: &mut Vec<u8>) {
    let files = |number| counted(number, "file", "files");
    let mut text = match (summary.repaired, summary.not_repaired, summary.is_done) {
        // What was left alone, or could not be told, may be damaged.
        (0, 0, _) if !summary.exit_status().is_fine() => "Nothing was repaired.".to_owned(),
        (0, 0, _) => "Nothing is damaged or missing.".to_owned(),
        (repaired, 0, true) => format!("Repaired {}.", files(repaired)),
        (repaired, not, true) => {
            format!("Repaired {}; {} could not be repaired.", files(repaired), count(not))
        }
        (can, not, false) => {
            format!("{} can be repaired, {} cannot. Nothing was written.", files(can), count(not))
        }
    };
    for (failure, files) in &summary.failures {
        let step = failure_step(*failure).map(|step| format!(" {step}")).unwrap_or_default();
        let files = counted(*files, "file", "files");
        text.push_str(&format!(" {files}: {}.{step}", failure_words(*failure)));
    }
    text.push_str(&left_alone(summary.left));
    if !summary.undecided.is_empty() {
        let unknown = files(summary.undecided.len() as u64);
        text.push_str(&format!(" Of {unknown} it could not be told what they should be:"));
    }
    if summary.withheld > 0 {
        let things = counted(summary.withheld, "right or attribute", "rights and attributes");
        text.push_str(&format!(" Not given back: {things}, named above."));
    }
    text.push('\n');
    for path in &summary.undecided {
        text.push_str(&format!("  {}\n", escape::path(path)));
    }
    for (run, place) in &summary.originals {
        text.push_str(&format!(
            "The damaged files are in `{}`. To remove them: \
             steadfast repair --discard {run} PATH\n",
            escape::path(place)
        ));
    }
    out.extend_from_slice(text.as_bytes());
}

/// Returns what was left alone, and what to do about it.
fn left_alone(left: LeftAlone) -> String {
    let mut text = String::new();
    if left.modified > 0 {
        text.push_str(&format!(
            " Edited, so left alone: {}. `steadfast update PATH` accepts edits, and `steadfast \
             repair --to-tag --from BACKUP FILE` undoes one.",
            counted(left.modified, "file", "files")
        ));
    }
    if left.suspect > 0 {
        text.push_str(&format!(
            " Suspect, so left alone: {}. If that was you, `steadfast update --accept-suspect \
             PATH` keeps the change; if not, `steadfast repair --suspect --from BACKUP PATH` \
             undoes it.",
            counted(left.suspect, "file", "files")
        ));
    }
    if left.differs > 0 {
        text.push_str(&format!(
            " Other than a list says, so bring back a copy that fits it: {}.",
            counted(left.differs, "file", "files")
        ));
    }
    if left.findings > 0 {
        text.push_str(&format!(
            " `steadfast check PATH` reports {} besides.",
            counted(left.findings, "finding", "findings")
        ));
    }
    if left.untagged > 0 {
        text.push_str(&format!(
            " Not judged without a tag: {}.",
            counted(left.untagged, "file", "files")
        ));
    }
    text
}

/// Appends an object about a file.
pub fn write_file_json(
    target: &RepairTarget,
    outcome: &RepairOutcome,
    is_done: bool,
    out: &mut Vec<u8>,
) {
    let source = |it: &RepairSource| JsonObject::at(&it.path).field("pages", it.pages);
    let other_name = |name: &PathBuf| JsonObject::at(name);
    let object = JsonObject::at(&target.path)
        .field("verdict", target.verdict.name())
        .field("outcome", outcome_name(outcome, is_done))
        .optional("changed_ns", target.changed_at().map(Nanoseconds))
        .optional("copy_mtime_ns", outcome.copy_mtime.map(Nanoseconds))
        .optional("pages", outcome.pages)
        .optional("damaged_pages", outcome.pages.map(|_| outcome.damaged_pages))
        .optional("tag_alone", outcome.tag_alone.then_some(true))
        .field("sources", outcome.sources.iter().map(source).collect::<Vec<_>>())
        .field("other_names", outcome.other_names.iter().map(other_name).collect::<Vec<_>>())
        .field("withheld", withheld_json(&outcome.withheld))
        .optional("failure", outcome.failure.map(RepairFailure::name))
        .optional("error", outcome.fault.as_ref().map(advice::of_error));
    write_object(&object, out);
}

fn outcome_name(outcome: &RepairOutcome, is_done: bool) -> &'static str {
    match (outcome.is_good(), is_done) {
        (true, true) => "repaired",
        (true, false) => "repairable",
        (false, _) => "not-repaired",
    }
}

fn failures_json(summary: &RepairSummary) -> BTreeMap<&'static str, u64> {
    summary.failures.iter().map(|(failure, files)| (failure.name(), *files)).collect()
}

/// Appends the end, for programs.
pub fn write_summary_json(summary: &RepairSummary, out: &mut Vec<u8>) {
    let place = |(run, path): &(u64, PathBuf)| JsonObject::at(path).field("run", *run);
    let undecided = |path: &PathBuf| JsonObject::at(path);
    let object = JsonObject::default()
        .field("verb", "repair")
        .field("dry_run", !summary.is_done)
        .field("repaired", if summary.is_done { summary.repaired } else { 0 })
        .field("repairable", summary.repaired)
        .field("not_repaired", summary.not_repaired)
        .field("failures", failures_json(summary))
        .field("withheld", summary.withheld)
        .field("undecided", summary.undecided.iter().map(undecided).collect::<Vec<_>>())
        .field("modified", summary.left.modified)
        .field("suspect", summary.left.suspect)
        .field("differs", summary.left.differs)
        .field("findings", summary.left.findings)
        .field("untagged", summary.left.untagged)
        .field("originals", summary.originals.iter().map(place).collect::<Vec<_>>())
        .field("interrupted", summary.interrupted)
        .field("exit_status", summary.exit_status());
    write_summary(&object, out);
}
