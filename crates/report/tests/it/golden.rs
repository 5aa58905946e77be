//! Exact documents, kept in `testdata/golden/report`.

use std::path::Path;

use steadfast::{Action, Event, Summary, VerbKind, Verdict};
use steadfast_report::{FindingRule, Renderer, RunLines, Show, Text, TextOptions, Units};

use crate::facts;

/// Compares a document with its file, or rewrites the file if asked to.
fn compare(name: &str, renderer: &mut dyn Renderer, events: &[Event], end: &Summary) {
    let output = facts::document(renderer, events, end);
    let mut found = output.answer;
    if !output.trouble.is_empty() {
        found.extend_from_slice(b"---- stderr\n");
        found.extend_from_slice(&output.trouble);
    }
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/golden/report").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read(&path).unwrap_or_default();
    let (found, expected) =
        (String::from_utf8(found).unwrap(), String::from_utf8(expected).unwrap());
    assert_eq!(found, expected, "{name} differs; UPDATE_GOLDEN=1 rewrites it");
}

fn check(name: &str, options: TextOptions) {
    compare(name, &mut Text::new(options), &facts::check_events(), &facts::check_end());
}

#[test]
fn text_of_a_check() {
    check("check.txt", TextOptions::default());
    check("check-quiet.txt", TextOptions { quiet: true, ..TextOptions::default() });
    let verbose = TextOptions { verbose: true, units: Units::Iec, ..TextOptions::default() };
    check("check-verbose.txt", verbose);
    let rule = FindingRule { require_tags: true, dry_run: false };
    let colored = TextOptions { color: true, rule, ..TextOptions::default() };
    check("check-color.txt", colored);
}

#[test]
fn text_of_tagging() {
    let (events, end) = (facts::tag_events(), facts::tag_end(false));
    let verbose = TextOptions { verbose: true, ..TextOptions::default() };
    compare("tag.txt", &mut Text::new(TextOptions::default()), &events, &end);
    compare("tag-verbose.txt", &mut Text::new(verbose), &events, &end);
    let rule = FindingRule { require_tags: false, dry_run: true };
    let dry = TextOptions { rule, ..verbose };
    compare("tag-dry-run.txt", &mut Text::new(dry), &events, &facts::tag_end(true));
}

#[test]
fn an_interrupted_run_without_bytes() {
    let end = facts::interrupted_end();
    compare("interrupted.txt", &mut Text::new(TextOptions::default()), &[], &end);
}

#[test]
fn tags_shown() {
    compare("show.txt", &mut Show::default(), &facts::show_events(), &facts::check_end());
}

#[test]
fn json_and_csv_of_a_check() {
    let (events, end) = (facts::check_events(), facts::check_end());
    compare("check.json", &mut RunLines::json(false, FindingRule::default()), &events, &end);
    compare("check.csv", &mut RunLines::csv(false, FindingRule::default()), &events, &end);
    let rule = FindingRule { require_tags: true, dry_run: false };
    let quiet = &mut RunLines::json(true, rule);
    compare("check-quiet.json", quiet, &events, &end);
    compare("empty.csv", &mut RunLines::csv(true, FindingRule::default()), &[], &end);
}

#[test]
fn each_finding_is_told_once() {
    let mut text = Text::new(TextOptions::default());
    let events: Vec<Event> = (0..1500)
        .map(|number| {
            let name = format!("{number}.jpg");
            let verdict = Some(Verdict::Corrupt);
            facts::said(facts::event(name.as_bytes(), verdict))
        })
        .collect();
    let output = facts::document(&mut text, &events, &facts::check_end());
    let answer = String::from_utf8(output.answer).unwrap();
    assert_eq!(answer.matches("corrupt     photos/").count(), 1500);
    for number in [0, 999, 1499] {
        assert_eq!(answer.matches(&format!("photos/{number}.jpg")).count(), 1, "{number}");
    }
    // The findings, a blank line, counts, size and rate, a blank line, and what to do.
    assert_eq!(answer.lines().count(), 1500 + 5, "{answer}");
    assert!(answer.contains("\n1,500 files are corrupt. Mend: "));
}

#[test]
fn what_was_accepted_is_no_finding() {
    let mut accepted = facts::event(b"a.jpg", Some(Verdict::Corrupt));
    accepted.action = Some(Action::Retagged);
    let events = [facts::said(accepted)];
    let mut end = facts::check_end();
    end.verb = VerbKind::Retag;
    let output = facts::document(&mut Text::new(TextOptions::default()), &events, &end);
    let answer = String::from_utf8(output.answer).unwrap();
    let told = "retagged    photos/a.jpg\nlooked at 12,345 files";
    assert!(answer.starts_with(told), "{answer}");
    assert!(!answer.contains("Mend"), "{answer}");
    let rule = FindingRule { require_tags: false, dry_run: true };
    let mut dry = Text::new(TextOptions { rule, ..TextOptions::default() });
    let answer = String::from_utf8(facts::document(&mut dry, &events, &end).answer).unwrap();
    assert!(answer.starts_with("corrupt        photos/a.jpg  (would retag)\n"), "{answer}");
    assert!(answer.contains("1 file is corrupt"), "{answer}");
}
