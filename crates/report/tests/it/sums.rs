//! Lines of digests, and the words of a comparison.

use std::path::Path;

use steadfast::event::FileError;
use steadfast::manifest::sums::{Ending, Line, LineError, LineFault, Style};
use steadfast::{Algorithm, Digest, FileEvent, FilePath, Summary};
use steadfast_report::sums::{Comparison, ComparisonOptions, SumsTally};
use steadfast_report::{Output, Renderer, Sums, TextOptions};

use crate::facts;

fn hashed(name: &str, content: u8) -> FileEvent {
    let mut event = FileEvent::new(FilePath::whole(Path::new(name)));
    event.actual = Some(facts::tag(content, 1, 1));
    event
}

fn line(name: &str, content: u8) -> Line {
    Line {
        algorithm: Algorithm::Sha256,
        digest: Digest::from_slice(&[content; 32]).unwrap(),
        path: name.into(),
    }
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

#[test]
fn lines_of_digests() {
    let mut failed = FileEvent::new(FilePath::whole(Path::new("gone")));
    let reason = "no such file or directory".to_owned();
    failed.trouble = Some(FileError::new("open", reason));
    let events = [facts::said(hashed("a\nb", 1)), facts::said(failed)];
    let mut sums = Sums { style: Style::Tagged, ending: Ending::Newline, ..Sums::default() };
    let output = facts::document(&mut sums, &events, &Summary::default());
    assert_eq!(text(&output.answer), format!("\\SHA256 (a\\nb) = {}\n", "01".repeat(32)));
    let trouble = "steadfast: gone: cannot open: no such file or directory\n";
    assert_eq!(text(&output.trouble), trouble);
    let mut told = Sums { summary: Some(TextOptions::default()), ..Sums::default() };
    let output = facts::document(&mut told, &[], &facts::check_end());
    assert!(output.answer.is_empty());
    assert!(text(&output.trouble).contains("checked 12,340 files"));
}

#[test]
fn a_comparison_in_the_words_of_coreutils() {
    let mut comparison = Comparison::new(ComparisonOptions::default());
    for name in ["good", "bad", "gone", "other\nname"] {
        comparison.count_line();
        comparison.expect(line(name, 1));
    }
    let mut output = Output::default();
    let mut gone = hashed("gone", 1);
    gone.trouble = Some(FileError::new("open", "permission denied"));
    for event in [hashed("good", 1), hashed("bad", 2), gone, hashed("someone else", 1)] {
        comparison.event(&facts::said(event), &mut output);
    }
    let fault = LineError { number: 7, fault: LineFault::NoDigest };
    comparison.improper(Path::new("SUMS"), fault, true, &mut output);
    let tally = comparison.end_document(Path::new("SUMS"), &mut output);
    assert_eq!(
        tally,
        SumsTally { lines: 4, improper: 1, matched: 1, mismatched: 1, unreadable: 2 }
    );
    assert_eq!(
        text(&output.answer),
        "good: OK\nbad: FAILED\ngone: FAILED open or read\n\
         \\other\\nname: FAILED open or read\n"
    );
    assert_eq!(
        text(&output.trouble),
        "steadfast: gone: cannot open: permission denied\n\
         steadfast: SUMS: 7: improperly formatted checksum line: there is no digest\n\
         steadfast: WARNING: 1 line is improperly formatted\n\
         steadfast: WARNING: 2 listed files could not be read\n\
         steadfast: WARNING: 1 computed checksum did NOT match\n"
    );
}

#[test]
fn quiet_and_silent_comparisons() {
    for (options, answer) in [
        (ComparisonOptions { quiet: true, ..ComparisonOptions::default() }, "bad: FAILED\n"),
        (ComparisonOptions { silent: true, ..ComparisonOptions::default() }, ""),
    ] {
        let mut comparison = Comparison::new(options);
        let mut output = Output::default();
        for (name, content) in [("good", 1), ("bad", 2)] {
            comparison.count_line();
            let found = Some(Digest::from_slice(&[content; 32]).unwrap());
            comparison.settle(&line(name, 1), found, &mut output);
        }
        let tally = comparison.end_document(Path::new("SUMS"), &mut output);
        assert_eq!((tally.matched, tally.mismatched), (1, 1));
        assert_eq!(text(&output.answer), answer);
        assert_eq!(output.trouble.is_empty(), options.silent);
    }
}

#[test]
fn a_document_without_lines_is_told_even_silently() {
    let mut comparison =
        Comparison::new(ComparisonOptions { silent: true, ..ComparisonOptions::default() });
    let mut output = Output::default();
    comparison.end_document(Path::new("SUMS"), &mut output);
    assert!(text(&output.trouble).contains("SUMS: no properly formatted checksum lines found"));
}
