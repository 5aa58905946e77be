//! Documents of an audit: exact ones, and that nothing in them is obeyed.

use std::path::Path;

use steadfast::catalogue::{Audit, CatalogueVerification};
use steadfast_report::audit::{
    AuditCsv, AuditJson, AuditPart, AuditRenderer, AuditTally, AuditText, AuditView, WindowReading,
};
use steadfast_report::{Output, TextOptions, Units};

use crate::exact::compare_bytes;
use crate::ledger;

/// What is asked of an audit.
#[derive(Default)]
struct Asked {
    overdue_days: Option<u32>,
    verification: Option<CatalogueVerification>,
    duplicates: bool,
    /// Whether anything ever failed.
    failures: bool,
}

fn everything(verification: CatalogueVerification) -> Asked {
    Asked {
        overdue_days: Some(90),
        verification: Some(verification),
        duplicates: true,
        failures: true,
    }
}

fn document(renderer: &mut dyn AuditRenderer, audit: &Audit, asked: &Asked) -> Vec<u8> {
    let mut readings = WindowReading::of(audit);
    for run in &audit.runs {
        WindowReading::add(&mut readings, audit, run);
    }
    let view = AuditView {
        root: Path::new("/srv/photos"),
        file: Path::new("/srv/photos/.steadfast/catalogue.sqlite"),
        version: "0.1.0",
        audit,
        readings: &readings,
        overdue_days: asked.overdue_days,
        verification: asked.verification.as_ref(),
    };
    let (mut output, mut tally) = (Output::default(), AuditTally::default());
    renderer.begin(&view, &mut output);
    renderer.begin_part(AuditPart::Failures, &mut output);
    for failure in ledger::failures().iter().filter(|_| asked.failures) {
        tally.count_failure(failure);
        renderer.failure(failure, &mut output);
    }
    renderer.end_part(AuditPart::Failures, &tally, &mut output);
    if asked.overdue_days.is_some() {
        renderer.begin_part(AuditPart::Overdue, &mut output);
        for overdue in ledger::overdue() {
            tally.count_overdue(&overdue);
            renderer.overdue(&overdue, &mut output);
        }
        renderer.end_part(AuditPart::Overdue, &tally, &mut output);
    }
    if asked.duplicates {
        renderer.begin_part(AuditPart::Duplicates, &mut output);
        for duplicates in ledger::duplicates() {
            tally.count_duplicates(&duplicates);
            renderer.duplicates(&duplicates, &mut output);
        }
        renderer.end_part(AuditPart::Duplicates, &tally, &mut output);
    }
    renderer.end(&view, &tally, &mut output);
    assert_eq!(output.trouble, b"");
    output.answer
}

fn text(options: TextOptions, audit: &Audit, asked: &Asked) -> Vec<u8> {
    document(&mut AuditText::new(options), audit, asked)
}

#[test]
fn a_page_to_print_and_sign() {
    let plain = TextOptions::default();
    let asked = Asked { failures: true, ..Asked::default() };
    compare_bytes("audit.txt", &text(plain, &ledger::audit(), &asked));
    let all =
        TextOptions { verbose: true, color: true, units: Units::Iec, ..TextOptions::default() };
    let asked = everything(ledger::damaged());
    compare_bytes("audit-all.txt", &text(all, &ledger::audit(), &asked));
    compare_bytes("audit-empty.txt", &text(plain, &ledger::empty_audit(), &Asked::default()));
}

#[test]
fn facts_for_programs() {
    let asked = everything(ledger::sound());
    compare_bytes("audit.json", &document(&mut AuditJson, &ledger::audit(), &asked));
    compare_bytes("audit.csv", &document(&mut AuditCsv, &ledger::audit(), &asked));
    let nothing = Asked::default();
    compare_bytes("audit-empty.json", &document(&mut AuditJson, &ledger::empty_audit(), &nothing));
}

#[test]
fn every_row_has_every_column() {
    let asked = everything(ledger::sound());
    let csv = document(&mut AuditCsv, &ledger::audit(), &asked);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(csv.as_slice());
    let columns = reader.headers().unwrap().len();
    for row in reader.byte_records() {
        assert_eq!(row.unwrap().len(), columns);
    }
}

#[test]
fn what_a_terminal_would_obey_never_reaches_it() {
    let asked = everything(ledger::damaged());
    let options = TextOptions { verbose: true, ..TextOptions::default() };
    let page = String::from_utf8(text(options, &ledger::audit(), &asked)).unwrap();
    assert!(page.contains("odd/\\x1b[31m\\xff <&>\\n.jpg"), "{page}");
    assert!(page.chars().all(|letter| letter == '\n' || !letter.is_control()), "{page}");
}

#[test]
fn runs_count_in_the_windows_in_which_they_began() {
    let audit = ledger::audit();
    let mut readings = WindowReading::of(&audit);
    for run in &audit.runs {
        WindowReading::add(&mut readings, &audit, run);
    }
    let reading = |runs, bytes_media, bytes_cache| WindowReading { runs, bytes_media, bytes_cache };
    let expected = [
        reading(1, 0, 98_700_000_000),
        reading(2, 1_000_000, 98_700_000_000),
        reading(4, 98_701_000_000, 197_400_000_000),
    ];
    assert_eq!(readings, expected, "the first run judged nothing");
}
