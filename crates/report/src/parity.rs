//! Parity as documents: files that are not protected, sets, and the end.
//!
//! Every name is escaped. `docs/reference/parity.md` specifies the JSON form.

use serde::Serialize;
use steadfast::ExitStatus;
use steadfast::Verdict;
use steadfast::parity::{NeededSet, NotProtected, ParityMade, SetReport, SetTotals};
use steadfast::with_advice;

use crate::advice::{of_error, typed};
use crate::escape;
use crate::json::{JsonObject, write_object, write_summary};
use crate::units::{Units, count, counted};

/// Bytes of a page of each of the sixteen columns: so much more of a burst a set can lose for each
/// page that its weakest column can lose.
const COLUMNS_LEN_BYTES: u64 = 16 * 4096;

/// Appends a line about a file that is not protected.
pub fn write_not_protected_text(file: &NotProtected, out: &mut Vec<u8>) {
    let why = match (&file.trouble, file.verdict) {
        (Some(trouble), Verdict::Missing) => {
            format!("still protected: {}", escape::text(&of_error(trouble)))
        }
        (Some(trouble), _) => escape::text(&of_error(trouble)).to_string(),
        (None, Verdict::Missing) => "still protected: it can be restored".to_owned(),
        (None, _) => "not protected".to_owned(),
    };
    let line = format!("{:<10}  {}: {why}\n", file.verdict.name(), escape::path(&file.path));
    out.extend_from_slice(line.as_bytes());
}

/// Appends an object about a file that is not protected.
pub fn write_not_protected_json(file: &NotProtected, out: &mut Vec<u8>) {
    let object = JsonObject::at(&file.path)
        .field("verdict", file.verdict.name())
        .field("protected", matches!(file.verdict, Verdict::Missing | Verdict::Untagged))
        .optional("error", file.trouble.as_ref().map(of_error));
    write_object(&object, out);
}

/// Appends a line about a set that stays because it is still needed, or cannot be used.
pub fn write_needed_text(set: &NeededSet, out: &mut Vec<u8>) {
    let why = with_advice(&set.to_string(), set.advice().as_ref().map(typed));
    let line = format!("needed      {}: {}\n", escape::path(&set.path), escape::text(&why));
    out.extend_from_slice(line.as_bytes());
}

/// Appends an object about a set that stays because it is still needed, or cannot be used.
pub fn write_needed_json(set: &NeededSet, out: &mut Vec<u8>) {
    let files = set.files.iter();
    let files: Vec<JsonObject<'_>> =
        files.map(|file| JsonObject::at(&file.path).field("why", file.why.as_str())).collect();
    let object = JsonObject::at(&set.path)
        .field("still_needed", true)
        .field("files", files)
        .field("more", set.more)
        .optional("error", set.fault.as_deref());
    write_object(&object, out);
}

/// Appends the end of making parity.
pub fn write_made_text(made: &ParityMade, out: &mut Vec<u8>) {
    let files = |number| counted(number, "file", "files");
    let mut text = format!(
        "Protected {}: {} made, {} kept, {} removed. Read {}.",
        files(made.files),
        counted(made.sets_made, "set", "sets"),
        count(made.sets_kept),
        count(made.sets_removed),
        Units::Si.bytes(made.bytes_read)
    );
    let mut add = |number: u64, what: &str| {
        if number > 0 {
            text.push_str(&format!(" {} {what}.", files(number)));
        }
    };
    add(made.moved, "renamed, not read again");
    add(made.not_protected, "not protected");
    add(made.missing, "missing");
    add(made.untagged, "without a tag: `steadfast tag PATH` makes them");
    if made.sets_needed > 0 {
        let sets = counted(made.sets_needed, "older set stays", "older sets stay");
        text.push_str(&format!(" {sets}: still needed."));
    }
    if made.sets_earlier > 0 {
        let sets = counted(made.sets_earlier, "set", "sets");
        text.push_str(&format!(" {sets} of edited files kept for a time."));
    }
    if made.interrupted {
        text.push_str(" Interrupted: not all is protected yet.");
    } else if made.time_up {
        text.push_str(" The time is up: not all is protected yet, the next run goes on.");
    }
    text.push('\n');
    out.extend_from_slice(text.as_bytes());
}

/// Appends the end of making parity, for programs.
pub fn write_made_json(verb: &'static str, made: &ParityMade, out: &mut Vec<u8>) {
    write_end(verb, made, made.exit_status(), out);
}

/// Appends a line about a set.
pub fn write_set_text(set: &SetReport, out: &mut Vec<u8>) {
    let word = if set.is_whole() { "intact" } else { "damaged" };
    let mut parts = vec![
        counted(set.members, "file", "files"),
        Units::Si.bytes(set.bytes),
        format!("{} % parity", set.redundancy_percent),
    ];
    parts.extend(set.is_earlier.then(|| "as before an edit".to_owned()));
    let mut add = |number: u64, one: &str, many: &str| {
        if number > 0 {
            parts.push(counted(number, one, many));
        }
    };
    add(set.changed, "changed file", "changed files");
    add(set.missing, "missing file", "missing files");
    add(set.damaged_blocks, "damaged block of the index", "damaged blocks of the index");
    let damaged = set.damaged_pages.unwrap_or(0);
    if damaged > 0 {
        let (damaged, pages) = (count(damaged), count(set.parity_pages));
        parts.push(format!("{damaged} of {pages} parity pages damaged"));
    }
    if let Some(lost) = set.lost_pages.filter(|lost| *lost > 0) {
        parts.push(counted(lost, "page of files lost", "pages of files lost"));
    }
    parts.push(match u64::try_from(set.strength) {
        Ok(0) if set.fault.is_some() => String::new(),
        Ok(pages) => {
            format!("can lose any piece of {} more", Units::Si.bytes(pages * COLUMNS_LEN_BYTES))
        }
        Err(_) => "too much is lost to rebuild all of it".to_owned(),
    });
    parts.retain(|part| !part.is_empty());
    parts.extend(set.fault.as_deref().map(|fault| escape::text(fault).to_string()));
    let line = format!("{word:<10}  {}  ({})\n", set.set, parts.join("; "));
    out.extend_from_slice(line.as_bytes());
}

/// Appends an object about a set.
pub fn write_set_json(set: &SetReport, out: &mut Vec<u8>) {
    let object = JsonObject::default()
        .field("set", set.set.as_str())
        .field("whole", set.is_whole())
        .field("earlier", set.is_earlier)
        .field("redundancy_percent", set.redundancy_percent)
        .field("members", set.members)
        .field("changed", set.changed)
        .field("missing", set.missing)
        .field("bytes", set.bytes)
        .field("parity_bytes", set.parity_bytes)
        .field("parity_pages", set.parity_pages)
        .optional("damaged_pages", set.damaged_pages)
        .optional("lost_pages", set.lost_pages)
        .field("damaged_blocks", set.damaged_blocks)
        .field("strength", set.strength)
        .optional("error", set.fault.as_deref());
    write_object(&object, out);
}

/// Appends the end of looking at sets.
pub fn write_totals_text(totals: &SetTotals, out: &mut Vec<u8>) {
    let earlier = match totals.earlier_sets {
        0 => String::new(),
        sets => format!(
            " {} of files before they were edited: {}.",
            counted(sets, "earlier set", "earlier sets"),
            Units::Si.bytes(totals.earlier_bytes)
        ),
    };
    let line = format!(
        "{}, {} damaged: {} of parity for {} of files.{earlier}{}\n",
        counted(totals.sets, "set", "sets"),
        count(totals.damaged),
        Units::Si.bytes(totals.parity_bytes),
        Units::Si.bytes(totals.bytes),
        if totals.interrupted { " Interrupted." } else { "" }
    );
    out.extend_from_slice(line.as_bytes());
}

/// Appends the end of looking at sets, for programs.
pub fn write_totals_json(verb: &'static str, totals: &SetTotals, out: &mut Vec<u8>) {
    write_end(verb, totals, totals.exit_status(), out);
}

/// The end of a verb: what it counted, between its name and its exit status.
#[derive(Serialize)]
struct ParityEnd<'a, T> {
    verb: String,
    #[serde(flatten)]
    counts: &'a T,
    exit_status: ExitStatus,
}

fn write_end(verb: &str, counts: &impl Serialize, exit_status: ExitStatus, out: &mut Vec<u8>) {
    write_summary(&ParityEnd { verb: format!("parity {verb}"), counts, exit_status }, out);
}

/// Appends how many sets were removed.
pub fn write_dropped(sets: u64, json: bool, out: &mut Vec<u8>) {
    if json {
        let object = JsonObject::default().field("verb", "parity drop").field("sets_removed", sets);
        return write_summary(&object.field("exit_status", ExitStatus::Fine), out);
    }
    let line = format!("Removed {} of parity.\n", counted(sets, "set", "sets"));
    out.extend_from_slice(line.as_bytes());
}
