//! PAR2 sets as documents: what is wrong with each file, what became of it, and the end.
//!
//! Every name is escaped. `docs/reference/par2.md` specifies the JSON form.

use steadfast::Verdict;
use steadfast::par2::{Par2Report, Par2Totals};

use crate::json::{JsonObject, write_object, write_summary};
use crate::repair::{left_as_it_was, withheld_json, write_withheld_text};
use crate::units::{count, counted};
use crate::{advice, escape};

/// Appends a line about a file that is not as the set says; nothing about one that is. `is_done`
/// says whether the repair was carried out.
pub fn write_file_text(file: &Par2Report, is_done: bool, out: &mut Vec<u8>) {
    if file.verdict == Verdict::Intact {
        return;
    }
    let mut parts = Vec::new();
    if file.blocks > 0 && matches!(file.verdict, Verdict::Corrupt | Verdict::Missing) {
        let blocks = counted(file.blocks, "block", "blocks");
        parts.push(format!("{} of {blocks} lost", count(file.lost_blocks)));
    }
    match (file.is_repaired, &file.fault) {
        (Some(true), _) if is_done => parts.push("repaired".to_owned()),
        (Some(true), _) => parts.push("can be repaired".to_owned()),
        (Some(false), Some(fault)) => {
            let left = left_as_it_was(file.verdict);
            parts.push(format!("{}. {left}", escape::text(&advice::of_error(fault))));
        }
        (_, Some(fault)) => parts.push(escape::text(&advice::of_error(fault))),
        _ => {}
    }
    if file.verdict == Verdict::Modified {
        parts.push("edited after the set was made".to_owned());
    }
    let (verdict, path) = (file.verdict.name(), escape::path(&file.path));
    let what = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
    out.extend_from_slice(format!("{verdict:<10}  {path}{what}\n").as_bytes());
    write_withheld_text(&file.withheld, out);
}

/// Appends an object about a file.
pub fn write_file_json(file: &Par2Report, out: &mut Vec<u8>) {
    let object = JsonObject::at(&file.path)
        .field("verdict", file.verdict.name())
        .field("blocks", file.blocks)
        .field("lost_blocks", file.lost_blocks)
        .optional("repaired", file.is_repaired)
        .field("withheld", withheld_json(&file.withheld))
        .optional("error", file.fault.as_ref().map(advice::of_error));
    write_object(&object, out);
}

/// Appends the end.
pub fn write_totals_text(totals: &Par2Totals, out: &mut Vec<u8>) {
    let mut text = format!(
        "{}: {} intact, {} corrupt, {} missing, {} modified, {} unreadable. {} of {} lost; {}.",
        counted(totals.files, "file", "files"),
        count(totals.verdicts.intact),
        count(totals.verdicts.corrupt),
        count(totals.verdicts.missing),
        count(totals.verdicts.modified),
        count(totals.verdicts.unreadable),
        count(totals.lost_blocks),
        counted(totals.blocks, "block", "blocks"),
        counted(totals.recovery_blocks, "recovery block", "recovery blocks"),
    );
    if totals.damaged_packets > 0 {
        let packets = counted(totals.damaged_packets, "packet", "packets");
        text.push_str(&format!(" Damaged in the PAR2 files: {packets}."));
    }
    match (totals.repaired, totals.not_repaired, totals.is_done) {
        (0, 0, _) => {}
        (done, not, true) => {
            text.push_str(&format!(" Repaired {}, not repaired {}.", count(done), count(not)));
        }
        (can, not, false) => text.push_str(&format!(
            " {} can be repaired, {} cannot. Nothing was written.",
            counted(can, "file", "files"),
            count(not)
        )),
    }
    if totals.unread_sets > 0 {
        let sets = counted(totals.unread_sets, "set", "sets");
        text.push_str(&format!(" Could not be read: {sets}."));
    }
    if totals.interrupted {
        text.push_str(" Interrupted.");
    }
    text.push('\n');
    for (run, place) in &totals.originals {
        text.push_str(&format!(
            "The damaged files are in `{}`. To remove them: steadfast repair --discard {run} \
             PATH\n",
            escape::path(place)
        ));
    }
    out.extend_from_slice(text.as_bytes());
}

/// Appends the end, for programs.
pub fn write_totals_json(verb: &'static str, totals: &Par2Totals, out: &mut Vec<u8>) {
    let originals = totals.originals.iter();
    let originals: Vec<_> =
        originals.map(|(run, path)| JsonObject::at(path).field("run", *run)).collect();
    let object = JsonObject::default()
        .field("verb", format!("par2 {verb}"))
        .field("unread_sets", totals.unread_sets)
        .field("files", totals.files)
        .field("intact", totals.verdicts.intact)
        .field("corrupt", totals.verdicts.corrupt)
        .field("missing", totals.verdicts.missing)
        .field("modified", totals.verdicts.modified)
        .field("unreadable", totals.verdicts.unreadable)
        .field("blocks", totals.blocks)
        .field("lost_blocks", totals.lost_blocks)
        .field("recovery_blocks", totals.recovery_blocks)
        .field("damaged_packets", totals.damaged_packets)
        .field("written", totals.is_done)
        .field("repaired", totals.repaired)
        .field("not_repaired", totals.not_repaired)
        .field("originals", originals)
        .field("interrupted", totals.interrupted)
        .field("exit_status", totals.exit_status());
    write_summary(&object, out);
}
