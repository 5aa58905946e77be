//! Reports on files by page: verdicts, and the place of damage.
//!
//! In: a file that was verified by kept leaves. Out: bytes, with every name escaped.
//! `docs/reference/pages.md` specifies the JSON form. A run uses the same words for the damaged
//! pages of a corrupt file.

use std::ops::Range;
use std::path::Path;

use steadfast::pages::Damage;
use steadfast::run::Verified;

use crate::escape;
use crate::json::{JsonObject, write_object};
use crate::units;

/// Most ranges in a run's line about a corrupt file.
const RANGES_IN_LINE: usize = 4;

/// Appends a verdict and every damaged range.
pub fn write_verified_text(path: &Path, verified: &Verified, out: &mut Vec<u8>) {
    let verdict = verified.verdict.name();
    let path = escape::path(path);
    let line = format!("{verdict:<10}  {path}  ({})\n", summary_of(verified));
    out.extend_from_slice(line.as_bytes());
    for range in ranges_of(&verified.damage) {
        out.extend_from_slice(format!("            {range}\n").as_bytes());
    }
}

/// States how many pages there are, and how many of them are damaged or unreadable.
fn summary_of(verified: &Verified) -> String {
    let Verified { damage, length_now, .. } = verified;
    let (check, page_len) = (&damage.check, damage.page_len);
    let pages = units::count(check.pages);
    let mut parts = Vec::new();
    if check.is_intact() {
        parts.push(format!("{pages} pages of {page_len} bytes"));
    }
    if check.damaged_pages > 0 {
        let bytes: u64 = damage.damaged().map(|range| range.end - range.start).sum();
        parts.push(format!(
            "{} of {pages} pages damaged, {}",
            units::count(check.damaged_pages),
            units::counted(bytes, "byte", "bytes")
        ));
    }
    if check.unreadable_pages > 0 {
        parts.push(format!("{} unreadable", units::count(check.unreadable_pages)));
    }
    if *length_now != damage.length {
        let was = units::counted(damage.length, "byte", "bytes");
        parts.push(format!("was {was}, is {}", units::counted(*length_now, "byte", "bytes")));
    }
    parts.join("; ")
}

/// Lists the damaged and unreadable ranges, one on each line, in order.
fn ranges_of(damage: &Damage) -> Vec<String> {
    let Damage { check, .. } = damage;
    let damaged = check.damaged.iter().map(|pages| (pages, "damaged"));
    let unreadable = check.unreadable.iter().map(|pages| (pages, "unreadable"));
    let mut ranges: Vec<(&Range<u64>, &str)> = damaged.chain(unreadable).collect();
    ranges.sort_unstable_by_key(|(pages, _)| pages.start);
    let text = |(pages, what): (&Range<u64>, &str)| {
        let bytes = damage.bytes_of(pages);
        format!("bytes {}..{}, {} {what}", bytes.start, bytes.end, pages_text(pages))
    };
    ranges.into_iter().map(text).collect()
}

fn pages_text(pages: &Range<u64>) -> String {
    match pages.end - pages.start {
        1 => format!("page {}", pages.start),
        _ => format!("pages {}..{}", pages.start, pages.end),
    }
}

/// States in one line which bytes of a file are damaged or, if it may have been edited, differ.
pub(crate) fn damage_detail(damage: &Damage, may_be_edit: bool) -> String {
    let check = &damage.check;
    if check.is_intact() {
        return "every page is as it was when the tag was made: read it again".to_owned();
    }
    let ranges: Vec<String> = damage
        .damaged()
        .take(RANGES_IN_LINE)
        .map(|range| format!("{}..{}", range.start, range.end))
        .collect();
    let more = check.damaged.len().saturating_sub(RANGES_IN_LINE) as u64;
    let more = match more {
        0 => String::new(),
        _ => format!(" and {} more ranges: `steadfast check --where`", units::count(more)),
    };
    let mut text = format!(
        "{} of {} pages {}: bytes {}{more}",
        units::count(check.damaged_pages),
        units::count(check.pages),
        match (may_be_edit, check.damaged_pages) {
            (false, _) => "damaged",
            (true, 1) => "differs",
            (true, _) => "differ",
        },
        ranges.join(", ")
    );
    if check.unreadable_pages > 0 {
        text.push_str(&format!("; {} unreadable", units::count(check.unreadable_pages)));
    }
    text
}

/// Appends one JSON object about a verified file.
pub fn write_verified_json(path: &Path, verified: &Verified, out: &mut Vec<u8>) {
    let object = JsonObject::at(path)
        .field("verdict", verified.verdict.name())
        .field("length_now", verified.length_now)
        .field("verity", verified.verity.to_string())
        .optional("kept", verified.kept.as_deref().map(escape::path))
        .fields(damage_object(&verified.damage));
    write_object(&object, out);
}

/// The damaged ranges, as JSON.
pub(crate) fn damage_object<'a>(damage: &Damage) -> JsonObject<'a> {
    let object = |range: Range<u64>| {
        JsonObject::default().field("offset", range.start).field("length", range.end - range.start)
    };
    JsonObject::default()
        .field("length", damage.length)
        .field("page_length", damage.page_len)
        .field("pages", damage.check.pages)
        .field("damaged_pages", damage.check.damaged_pages)
        .field("unreadable_pages", damage.check.unreadable_pages)
        .field("damaged", damage.damaged().map(object).collect::<Vec<_>>())
        .field("unreadable", damage.unreadable().map(object).collect::<Vec<_>>())
}
