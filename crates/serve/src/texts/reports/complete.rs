//! Tests that nothing that a report says stays English.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use steadfast_codesign::bundle::FolderTree;
use steadfast_codesign::{Code, Coverage, VerifyOptions};
use steadfast_measure::published;
use steadfast_measure::record::{self, Record};
use steadfast_report::code::{self, VerifiedCode};
use steadfast_report::document::{
    Axis, Cell, Chart, Document, Layer, Mark, Point, Quantity, Section, Table, Wording,
};
use steadfast_report::{Units, html, machines, measure};

use super::*;

/// The sources whose texts reach a page: files and folders of this repository, without tests.
const SOURCES: &[&str] = &[
    "codesign/src",
    "alert/src/config.rs",
    "report/src/code/document.rs",
    "report/src/code/statement.rs",
    "report/src/code/words.rs",
    "report/src/history/document.rs",
    "report/src/html.rs",
    "report/src/machines",
    "report/src/machines.rs",
    "report/src/measure",
    "report/src/measure.rs",
    "report/src/run/document.rs",
    "report/src/timeline.rs",
    "report/src/view.rs",
    "report/src/history.rs",
    "report/src/run.rs",
    "report/src/chart.rs",
    "report/src/chart",
    "report/src/units.rs",
    "measure/src/workload/storage",
    "schedule/src/list.rs",
    "schedule/src/schedule.rs",
    "steadfast/src/catalogue/error.rs",
    "steadfast/src/catalogue/home.rs",
    "steadfast/src/catalogue/place.rs",
    "steadfast/src/catalogue/session.rs",
    "steadfast/src/catalogue/volume.rs",
    "steadfast/src/event.rs",
    "steadfast/src/parity",
    "steadfast/src/repair",
    "steadfast/src/run",
    "steadfast/src/store",
    "steadfast/src/walk.rs",
];

/// Those beneath them whose texts reach none: what Apple's check prints, names of certificates,
/// requirements, which are written as Apple's tools do, and what only records say.
const ELSEWHERE: &[&str] = &[
    "codesign/src/apple.rs",
    "codesign/src/requirement/evaluate.rs",
    "codesign/src/requirement/print.rs",
    "codesign/src/requirement.rs",
    "measure/src/workload/storage/beside.rs",
    "measure/src/workload/storage/plan.rs",
];

/// Names in the sources, which are the same in German, and texts that are not shown.
const SAME: &[&str] = &[
    "3rd Party Mac Developer Application",
    "Apple Developer",
    "Apple Distribution",
    "Apple Mac OS Application Signing",
    "Developer ID Application",
    "Mac Catalyst",
    "Mac Developer",
    "RSA with",
    "Software Signing",
    "iOS simulator",
    "tvOS simulator",
    "visionOS simulator",
    "watchOS simulator",
    "<!-- steadfast report -->",
    // The colour scheme of a page.
    "light dark",
    // Mistakes of a caller.
    "were requested, but there are only",
    "in a bundle it is there or missing",
    // Queries of the catalogue.
    "SELECT directory, name, inode, length FROM entries WHERE directory >= ? LIMIT ?",
    "SELECT sum(entries) FROM slices",
];

/// Names in documents of measurements, apart from those of machines.
const CALLED: &[&str] = &[
    "A",
    "B",
    "QoS",
    "aes-256-cbc",
    "blake3",
    "chacha20-poly1305",
    "ed25519",
    "f32-product-plain",
    "f32x4-dot",
    "made for tests: no machine measured these figures",
    "p50",
    "p99",
    "p99.9",
    "portable",
    "portable ×1",
    "sha256",
    "steadfast measure all --quick --pair /mnt/encrypted /mnt/plain",
    "x86_shani",
    "x86_shani ×1",
    "x86_shani ×2",
];

thread_local! {
    /// Texts that were asked for and are not in German.
    static UNKNOWN: RefCell<BTreeSet<String>> = RefCell::default();
}

/// Returns the texts of documents that stay English in German.
fn untranslated(documents: &[Document]) -> BTreeSet<String> {
    let words = |english: &str| {
        let german = GERMAN.translated(english);
        if german.is_none() && english.contains(|letter: char| letter.is_alphabetic()) {
            UNKNOWN.with_borrow_mut(|unknown| unknown.insert(english.to_owned()));
        }
        german
    };
    let wording = Wording { tag: "de", words };
    documents.iter().for_each(|document| _ = html::article(wording, document, 0, Units::Si));
    UNKNOWN.take()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document_of_code(code: &Code<'_>) -> Document {
    let verification = code.verify(&VerifyOptions::default()).unwrap();
    let coverage = code.as_binary().map(|binary| Coverage::of(code.source(), binary).unwrap());
    let path = Path::new("/code");
    let facts = VerifiedCode { path, verification: &verification, elapsed_ns: 1_500_000 };
    code::document(&facts, coverage.as_ref(), Units::Si)
}

#[test]
fn signed_code_is_described_in_german() {
    let samples = repository().join("testdata/codesign");
    let tool = fs::read(samples.join("signed-tool")).unwrap();
    let mut damaged = tool.clone();
    damaged[5000] ^= 1;
    damaged.extend(b"more");
    let app = FolderTree::open(&samples.join("Demo.app")).unwrap();
    for code in
        [Code::file(Box::new(tool)), Code::file(Box::new(damaged)), Code::bundle(&app, b"Demo.app")]
    {
        let document = document_of_code(&code.unwrap());
        let is_name = |label: &str| ["identifier", "team", "CDHash"].contains(&label);
        let names = document.facts.iter().filter(|(label, _)| is_name(label));
        let names: Vec<&str> = names.map(|(_, name)| name.as_str()).chain(["/code"]).collect();
        let mut left = untranslated(std::slice::from_ref(&document));
        left.retain(|text| !names.contains(&text.as_str()));
        assert_eq!(left, BTreeSet::new());
    }
}

/// The record that every version reads.
fn frozen() -> Record {
    let path = repository().join("testdata/formats/record/v1/all.json");
    record::read(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn measurements_are_described_in_german() {
    let (one, mut other) = (frozen(), frozen());
    other.name = Some("Other".to_owned());
    for (index, series) in other.series.iter_mut().enumerate() {
        let percent = 70 + (index as u64 * 13) % 61;
        for sample in &mut series.samples {
            sample.elapsed_ns = (sample.elapsed_ns * percent / 100).max(1);
        }
    }
    let published = published::records();
    let all: Vec<&Record> = published.iter().chain([&one, &other]).collect();
    let mut documents = vec![
        measure::document_against(&one, None, Units::Si),
        measure::document_against(&one, Some(&other), Units::Si),
    ];
    documents.extend(machines::document(&all, Units::Si));
    documents.extend(machines::document(&[&one, &other], Units::Si));
    documents.extend(machines::document(&[&published[0]], Units::Si));
    let alone = published.iter().map(|one| measure::document_against(one, None, Units::Si));
    documents.extend(alone);
    let beside = published.iter().take(3);
    documents.extend(beside.map(|of| measure::document_against(&one, Some(of), Units::Si)));
    let mut left = untranslated(&documents);
    let machines = all.iter().flat_map(|of| [of.name.clone(), Some(of.machine.os.clone())]);
    let machines: BTreeSet<String> = machines.flatten().collect();
    let is_name = |name: &str| machines.contains(name) || CALLED.contains(&name);
    left.retain(|text| !is_name(text) && !text.split([',', '÷']).all(|name| is_name(name.trim())));
    assert_eq!(left, BTreeSet::new());
}

#[test]
fn figures_of_tables_and_charts_are_german() {
    let mut table = Table::new("rates", "", &["Path", ">Rate"]);
    let rate = Quantity::Rate(2.71e9);
    table.push(vec![Cell::name("1.50 GB"), Cell::Interval(rate, (2.68e9, 2.74e9))]);
    let axis = |title| Axis::linear(title, Quantity::Rate(0.0));
    let layer = Layer::new("", Mark::Line, [Point::at(0.5e9, 0.5e9), Point::at(1.5e9, 1.5e9)]);
    let chart = Chart::new("chart", "", "", (axis("x"), axis("y")), vec![layer]);
    let (tables, charts) = (vec![table], vec![chart]);
    let section = Section { tables, charts, ..Section::default() };
    let document = Document { sections: vec![section], ..Document::default() };
    let page = html::page_in(wording(Language::German), &[document], Units::Si);
    assert!(page.contains("2,71 GB/s") && page.contains("[2,68–2,74]"), "{page}");
    assert!(page.contains("1,5 GB/s"), "{page}");
    // A name stays as it is.
    assert!(page.contains("1.50 GB") && !page.contains("1.5 GB/s"), "{page}");
}

#[test]
fn numbers_in_texts_of_pages_are_german() {
    let texts = crate::texts::texts(Language::German);
    assert_eq!((texts.state.damaged)(1234), "1.234 beschädigt");
    assert_eq!((texts.drop.count)(1_234_567), "1.234.567 Dateien");
    assert_eq!((crate::texts::texts(Language::English).state.damaged)(1234), "1,234 damaged");
}

/// Returns the string literals of a source file that are not those of its tests or of panics.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let source = lines.collect::<Vec<_>>().join("\n").replace("'\"'", "''").replace("\\\"", "”");
    let panics = ["expect(", "panic!(", "error(", "alias = "];
    let pieces: Vec<&str> = source.split('"').collect();
    let pairs = pieces.chunks_exact(2);
    let shown = pairs.filter(|pair| !panics.iter().any(|call| pair[0].ends_with(call)));
    shown.map(|pair| joined(pair[1])).collect()
}

/// Joins the lines of a literal, as the compiler does.
fn joined(literal: &str) -> String {
    let mut lines = literal.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start())
}

/// Returns the pieces of a literal between its places that have at least two words.
fn worded(literal: &str) -> Vec<&str> {
    let pieces = literal.split('{').map(|piece| piece.split_once('}').map_or(piece, |of| of.1));
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    // A title that begins with this sign is that of a column of numbers.
    let pieces = pieces.map(|piece| piece.trim_start_matches('>'));
    pieces.filter(|piece| piece.split([' ', ',', ':']).filter(is_word).count() > 1).collect()
}

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => entries.for_each(|entry| files(&entry.unwrap().path(), found)),
        Err(_) if path.extension().is_some_and(|of| of == "rs") => found.push(path.to_owned()),
        Err(_) => {}
    }
}

#[test]
fn every_sentence_of_the_sources_is_in_german() {
    let crates = repository().join("crates");
    let mut sources = Vec::new();
    SOURCES.iter().for_each(|source| files(&crates.join(source), &mut sources));
    sources.retain(|source| !ELSEWHERE.iter().any(|other| source.ends_with(other)));
    let texts = po::messages(include_str!("../de.po")).unwrap();
    let mut missing = Vec::new();
    for source in sources {
        for literal in literals(&fs::read_to_string(&source).unwrap()) {
            for piece in worded(&literal) {
                // Sentences are put together with blanks and full stops.
                let bare = piece.trim().trim_end_matches('.');
                let is_known = texts.iter().any(|message| message.text.contains(bare))
                    || GERMAN.translated(piece).is_some();
                if !is_known && !SAME.contains(&bare) {
                    missing.push(format!("{}: {piece}", source.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
