//! Documents of a history: exact ones.

use std::path::Path;

use steadfast::Verdict;
use steadfast::catalogue::{FileState, History, HistoryRun};
use steadfast_report::Units;
use steadfast_report::history::{
    HistoryOf, HistoryView, RunOver, document, tags_after, verdict_of, write_csv, write_json,
    write_text,
};

use crate::exact::compare_bytes;
use crate::ledger;

fn view(of: HistoryOf<'_>) -> HistoryView<'_> {
    let (root, now) = (Path::new("/srv/photos"), ledger::moment(ledger::NOW));
    HistoryView { root, now, first: None, of }
}

fn text(of: HistoryOf<'_>, color: bool) -> Vec<u8> {
    let mut out = Vec::new();
    write_text(&view(of), Units::Si, color, &mut out);
    out
}

fn json(of: HistoryOf<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write_json(&view(of), &mut out);
    out
}

fn csv(of: HistoryOf<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write_csv(&view(of), &mut out);
    out
}

fn named() -> [(&'static str, History); 3] {
    [
        ("history", ledger::history()),
        ("history-moved", ledger::moved_history()),
        ("history-untagged", ledger::untagged_history()),
    ]
}

#[test]
fn the_life_of_a_file() {
    for (name, history) in named() {
        let of = HistoryOf::File(&history);
        compare_bytes(&format!("{name}.txt"), &text(of, false));
        compare_bytes(&format!("{name}.json"), &json(of));
        compare_bytes(&format!("{name}.csv"), &csv(of));
    }
    let history = ledger::untagged_history();
    let seen = ledger::run(5, "check", 3, &[]);
    let view = HistoryView { first: Some(&seen), ..view(HistoryOf::File(&history)) };
    let mut out = Vec::new();
    write_text(&view, Units::Si, false, &mut out);
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("first seen   2025-11-17 14:46:40Z, 3 days ago, by run 5\n"), "{out}");
    let color = text(HistoryOf::File(&ledger::history()), true);
    assert!(String::from_utf8(color).unwrap().contains("\u{1b}[1m\u{1b}[31mcorrupt\u{1b}[0m"));
}

#[test]
fn the_runs_over_a_directory() {
    let over = |run| RunOver { run, whole: true };
    let mut runs: Vec<RunOver> = ledger::runs().into_iter().rev().map(over).collect();
    runs[3].whole = false;
    let of = HistoryOf::Directory { path: Path::new(""), runs: &runs };
    compare_bytes("history-root.txt", &text(of, false));
    compare_bytes("history-root.json", &json(of));
    compare_bytes("history-root.csv", &csv(of));
    let of = HistoryOf::Directory { path: Path::new("2019"), runs: &runs[..2] };
    compare_bytes("history-directory.txt", &text(of, false));
    let of = HistoryOf::Directory { path: Path::new("2019"), runs: &[] };
    assert!(String::from_utf8(text(of, false)).unwrap().ends_with("\n  none\n"));
}

#[test]
fn what_a_terminal_would_obey_never_reaches_it() {
    let mut history = ledger::moved_history();
    history.runs[0].run.verb = "\u{1b}[2J".to_owned();
    let page = String::from_utf8(text(HistoryOf::File(&history), false)).unwrap();
    assert!(page.chars().all(|letter| letter == '\n' || !letter.is_control()), "{page}");
}

#[test]
fn each_event_leaves_the_tag_that_the_next_one_found() {
    let run = ledger::run(1, "update", 3, &[]);
    let (one, two) = (Some(ledger::tag(1)), Some(ledger::tag(2)));
    let events = [("new", None), ("tagged", None), ("corrupt", None), ("retagged", one)];
    let happened = events.map(|(what, tag)| ledger::happened(&run, what, FileState::Fine, tag));
    let (verdict, standing) = (Some(Verdict::Intact), FileState::Fine);
    let run = HistoryRun { run, verdict, standing, tag: two, happened: happened.to_vec() };
    assert_eq!(tags_after(&run), [None, one, one, two]);
}

#[test]
fn a_run_that_set_the_tag_judged_nothing_by_it() {
    for (what, expected) in [
        ("tagged", None),
        ("retagged", None),
        ("dropped", None),
        ("overwritten", None),
        ("refreshed", Some(Verdict::Intact)),
        ("adopted", Some(Verdict::Intact)),
        ("new", Some(Verdict::Intact)),
    ] {
        let run = ledger::run(1, "update", 3, &[]);
        let happened = vec![ledger::happened(&run, what, FileState::Fine, None)];
        let tag = Some(ledger::tag(1));
        let (verdict, standing) = (Some(Verdict::Intact), FileState::Fine);
        let run = HistoryRun { run, verdict, standing, tag, happened };
        assert_eq!(verdict_of(&run), expected, "{what}");
    }
}

#[test]
fn the_document_says_what_the_text_says() {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, history) in named() {
        let of = HistoryOf::File(&history);
        let text = squeezed(&String::from_utf8(text(of, false)).unwrap());
        let document = document(&view(of), Units::Si);
        let is_bare = document.sections[0].tables[0].rows.is_empty();
        assert_eq!(is_bare, name == "history-untagged", "{name}");
        let cells = document.sections[0].tables[0].rows.iter().flatten();
        let said = cells.map(|cell| cell.shown(Units::Si));
        let facts = document.facts.iter().map(|(_, value)| value.clone());
        for words in said.chain(facts).filter(|words| words != "–") {
            assert!(text.contains(&squeezed(&words)), "{name}: {words} in {text}");
        }
    }
    let over = |run| RunOver { run, whole: true };
    let mut runs: Vec<RunOver> = ledger::runs().into_iter().rev().map(over).collect();
    runs[3].whole = false;
    let of = HistoryOf::Directory { path: Path::new(""), runs: &runs };
    let all = document(&view(of), Units::Si);
    let rows = &all.sections[0].tables[0].rows;
    assert_eq!(rows.len(), runs.len());
    let last = runs.last().unwrap().run.id.to_string();
    assert_eq!(rows[0][0].shown(Units::Si), last, "the latest comes first");
    assert_eq!(all.sections[0].notes.len(), 1, "{:?}", all.sections[0].notes);
}
