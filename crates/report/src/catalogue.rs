//! What audits and histories both show of a catalogue: runs, states of files, shares and ages.

use anstyle::Style;
use steadfast::catalogue::{FileState, RunRecord, RunState};
use steadfast::{Origin, Tag, Timestamp, VerbKind, Verdict};

use crate::document::{Cell, Field, Table};
use crate::escape;
use crate::json::JsonObject;
use crate::text::{RED, YELLOW};
use crate::units::{self, DAY_S, Units};

/// Width of a bar in cells.
const BAR_LEN: u64 = 20;

/// Digits that are shown of a digest where a reader only compares it with others.
const DIGITS_SHOWN: usize = 12;

/// Returns the colour of a state.
pub(crate) fn style_of(standing: FileState) -> Style {
    match standing {
        FileState::Fine | FileState::Touched => Style::new(),
        FileState::Corrupt | FileState::Suspect => RED,
        _ => YELLOW,
    }
}

/// Returns counts by state in the order of [`Verdict::ALL`], lost and replaced tags last.
pub(crate) fn worst_first<'a>(
    counts: impl Iterator<Item = (&'a FileState, &'a u64)>,
) -> impl Iterator<Item = (&'a FileState, &'a u64)> {
    let mut counts: Vec<_> = counts.collect();
    let place = |standing: FileState| match standing {
        FileState::TagLost | FileState::TagReplaced => Verdict::ALL.len(),
        other => place_of(other.verdict(true).name()),
    };
    counts.sort_by_key(|(standing, _)| place(**standing));
    counts.into_iter()
}

/// Returns the index of a verdict's name in [`Verdict::ALL`]; other names come after all verdicts.
fn place_of(name: &str) -> usize {
    let place = Verdict::ALL.iter().position(|verdict| verdict.name() == name);
    place.unwrap_or(Verdict::ALL.len())
}

/// Returns a part as a share: "0 %" only if it is zero, "100 %" only if it is the whole.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return if whole == 0 { "–".to_owned() } else { "0 %".to_owned() };
    }
    if part >= whole {
        return "100 %".to_owned();
    }
    match 100.0 * part as f64 / whole as f64 {
        share if share < 0.1 => "<0.1 %".to_owned(),
        share if share > 99.9 => ">99.9 %".to_owned(),
        share => format!("{share:.1} %"),
    }
}

/// Returns a part as a bar: empty only if it is zero, full only if it is the whole.
pub(crate) fn bar(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let cells = u128::from(part.min(whole)) * u128::from(BAR_LEN) * 2 + u128::from(whole);
    let cells = (cells / (2 * u128::from(whole))) as u64;
    let cells = match part {
        0 => 0,
        part if part >= whole => BAR_LEN,
        _ => cells.clamp(1, BAR_LEN - 1),
    };
    let full = "█".repeat(cells as usize);
    format!("{full}{}", "░".repeat((BAR_LEN - cells) as usize))
}

/// Returns the age of a moment: "today", "1 day ago" or "322 days ago".
pub(crate) fn ago(now: Timestamp, then: Timestamp) -> String {
    match now.seconds.saturating_sub(then.seconds) {
        seconds if seconds < 0 => "in the future".to_owned(),
        seconds if seconds < DAY_S => "today".to_owned(),
        seconds => {
            let days = (seconds / DAY_S).cast_unsigned();
            format!("{} ago", units::counted(days, "day", "days"))
        }
    }
}

/// Returns the beginning of a tag's digest, "0123456789ab…"; all of it if it is short.
pub(crate) fn short_digest(tag: &Tag) -> String {
    let digest = tag.digest.to_string();
    match digest.get(..DIGITS_SHOWN) {
        Some(front) if front.len() + 4 < digest.len() => format!("{front}…"),
        _ => digest,
    }
}

/// Returns the name of a state in JSON, which has no spaces.
pub(crate) fn standing_key(standing: FileState) -> &'static str {
    match standing {
        FileState::TagLost => "tag_lost",
        FileState::TagReplaced => "tag_replaced",
        other => other.name(),
    }
}

/// A run, as the catalogue recorded it.
pub(crate) fn run_object(run: &RunRecord) -> JsonObject<'_> {
    JsonObject::default()
        .field("run", run.id)
        .field("verb", &run.verb)
        .field("version", &run.version)
        .field("read_from", run.source())
        .field("backend", &run.backend)
        .field("started_s", run.started.seconds)
        .field("latest_s", run.latest.seconds)
        .field("state", run.state.name())
        .field("files", run.files)
        .field("bytes", run.bytes)
        .field("counts", &run.counts)
}

/// Returns where a run read its bytes from, in one word.
pub(crate) fn source(run: &RunRecord) -> &'static str {
    match run.read_from {
        Some(Origin::Media) => "medium",
        _ => run.source(),
    }
}

/// Returns how a run ended; empty if it was complete.
pub(crate) fn ending(run: &RunRecord) -> &'static str {
    match run.state {
        RunState::Whole => "",
        RunState::Interrupted => "interrupted",
        RunState::Unfinished => "unfinished",
    }
}

/// Returns what a run did, as the verbs of the command are called: `update` has what was `retag`.
pub(crate) fn verb_of(run: &RunRecord) -> String {
    match run.kind() {
        Some(VerbKind::Retag) => VerbKind::Update.name().to_owned(),
        _ => escape::text(&run.verb),
    }
}

/// Returns the bytes of the files that a run judged; a dash if it judged none.
fn judged(run: &RunRecord, units: Units) -> String {
    if run.bytes == 0 { "–".to_owned() } else { units.bytes(run.bytes) }
}

/// Returns a table of runs.
pub(crate) fn runs_table(title: &str, runs: &[&RunRecord], units: Units) -> Table {
    let fields: &[Field<'_, &RunRecord>] = &[
        (">run", &|run| Cell::text(run.id.to_string())),
        ("began", &|run| Cell::text(units::moment(run.started))),
        ("verb", &|run| Cell::words(verb_of(run))),
        ("version", &|run| Cell::words(escape::text(&run.version))),
        ("from", &|run| Cell::words(source(run).to_owned())),
        (">files", &|run| Cell::text(units::count(run.files))),
        (">bytes", &|run| Cell::text(judged(run, units))),
        ("found", &|run| Cell::words(found(run))),
    ];
    Table::of("runs", title, 1, runs, fields)
}

/// Returns the result of a run: how it ended, unless it was complete, and its counts, worst first.
fn found(run: &RunRecord) -> String {
    let mut counts: Vec<(&String, &u64)> = run.counts.iter().collect();
    counts.sort_by_key(|(name, _)| place_of(name));
    let counts = counts
        .into_iter()
        .map(|(name, count)| format!("{} {}", units::count(*count), escape::text(name)));
    let ending = Some(ending(run)).filter(|ending| !ending.is_empty());
    let parts: Vec<String> = ending.map(str::to_owned).into_iter().chain(counts).collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_and_all_are_told_from_nearly() {
        for (part, whole, shown, cells) in [
            (0, 0, "–", None),
            (0, 10, "0 %", Some(0)),
            (1, 1_000_000, "<0.1 %", Some(1)),
            (1, 3, "33.3 %", Some(7)),
            (1, 2, "50.0 %", Some(10)),
            (999_999, 1_000_000, ">99.9 %", Some(19)),
            (10, 10, "100 %", Some(20)),
            (u64::MAX - 1, u64::MAX, ">99.9 %", Some(19)),
        ] {
            assert_eq!(share(part, whole), shown);
            let full = bar(part, whole).chars().filter(|cell| *cell == '█').count();
            assert_eq!(full, cells.unwrap_or(0), "{part} of {whole}");
            let len = if cells.is_some() { BAR_LEN as usize } else { 0 };
            assert_eq!(bar(part, whole).chars().count(), len);
        }
    }

    #[test]
    fn days_are_whole_days() {
        let at = |seconds| Timestamp { seconds, nanoseconds: 0 };
        for (then, text) in [
            (1_000_000, "today"),
            (1_000_001, "in the future"),
            (1_000_000 - DAY_S + 1, "today"),
            (1_000_000 - DAY_S, "1 day ago"),
            (1_000_000 - 2 * DAY_S, "2 days ago"),
        ] {
            assert_eq!(ago(at(1_000_000), at(then)), text);
        }
        assert!(ago(at(i64::MAX), at(i64::MIN)).ends_with("days ago"));
    }

    #[test]
    fn standings_come_the_worst_first() {
        let counts = FileState::ALL.map(|standing| (standing, 1));
        let order = worst_first(counts.iter().map(|(standing, count)| (standing, count)));
        let order: Vec<&str> = order.map(|(standing, _)| standing.name()).collect();
        assert_eq!(
            order,
            [
                "corrupt",
                "suspect",
                "modified",
                "differs",
                "missing",
                "unreadable",
                "unstable",
                "touched",
                "fine",
                "tag lost",
                "tag replaced",
            ]
        );
    }
}
