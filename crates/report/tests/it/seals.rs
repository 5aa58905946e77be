//! The seal of code as a page: three verdicts, findings, and a map.

use std::fs;
use std::path::Path;

use steadfast_codesign::{Code, Coverage, FileSource, VerifyOptions};
use steadfast_report::Units;
use steadfast_report::code::{CodeMap, MapMark, VerifiedCode, document};
use steadfast_report::document::Document;

/// The page and the map of a signed tool of which one byte is changed, or none.
fn page(changed: Option<usize>) -> (Document, CodeMap) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign/signed-tool");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool");
    let mut bytes = fs::read(sample).unwrap();
    if let Some(at) = changed {
        bytes[at] ^= 1;
    }
    fs::write(&file, bytes).unwrap();
    let code = Code::file(Box::new(FileSource::open(&file).unwrap())).unwrap();
    let verification = code.verify(&VerifyOptions::default()).unwrap();
    let coverage = Coverage::of(code.source(), code.as_binary().unwrap()).unwrap();
    let path = Path::new("tool\u{7}");
    let verified = VerifiedCode { path, verification: &verification, elapsed_ns: 2_000_000 };
    let map = CodeMap::of(&coverage, &verification, 1000);
    (document(&verified, Some(&coverage), Units::Si), map)
}

fn cells(document: &Document, section: usize) -> Vec<String> {
    let tables = document.sections[section].tables.iter();
    tables.flat_map(|table| table.rows.iter().flatten()).map(|cell| cell.shown(Units::Si)).collect()
}

#[test]
fn a_whole_tool_of_an_unknown_signer_is_not_verified() {
    let (page, map) = page(None);
    assert_eq!(page.sections[0].title, "The three verdicts");
    let verdicts = cells(&page, 0);
    assert!(verdicts.iter().any(|cell| cell == "intact"), "{verdicts:?}");
    assert!(verdicts.iter().any(|cell| cell == "unverifiable"), "{verdicts:?}");
    let sentence = &page.sections[0].sentences[0];
    assert!(sentence.starts_with("Not verified: "), "{sentence}");
    assert!(!page.title.contains('\u{7}'), "what a file is called is escaped");
    assert!(map.cells.iter().all(|cell| cell.mark != MapMark::Damaged));
    assert_eq!(map.cells.first().unwrap().mark.name(), "sealed");
}

#[test]
fn a_damaged_byte_is_in_the_verdict_the_findings_and_the_map() {
    let (page, map) = page(Some(5000));
    let sentence = &page.sections[0].sentences[0];
    assert!(sentence.starts_with("Refused: "), "{sentence}");
    assert!(sentence.contains("was changed after it was "), "{sentence}");
    assert!(cells(&page, 0).iter().any(|cell| cell == "damaged"));
    let found = cells(&page, 1);
    assert_eq!(
        (page.sections[1].title.as_str(), found[0].as_str()),
        ("What was found", "page-damaged")
    );
    let damaged: Vec<_> = map.cells.iter().filter(|cell| cell.mark == MapMark::Damaged).collect();
    assert!(damaged.iter().any(|cell| cell.bytes.contains(&5000)), "{damaged:?}");
    assert!(damaged.len() <= 4, "{damaged:?}");
    assert_eq!(map.bytes.last().unwrap().0, MapMark::Damaged);
}
