//! Documents about signed code, of a frozen application and a frozen tool, whole and damaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use steadfast_codesign::bundle::FolderTree;
use steadfast_codesign::{
    Code, Coverage, FileSource, HashType, PageChoice, VerifyCost, VerifyOptions,
};
use steadfast_report::code::{
    CodeCounts, CostOfCode, ShownCode, VerifiedCode, document, write_cost_json, write_cost_text,
    write_end_json, write_shown_json, write_shown_text, write_verified_json, write_verified_text,
};
use steadfast_report::{TextOptions, Units};

use crate::exact::compare_bytes;

/// November 2026, when nothing of the samples has expired.
const NOW: i64 = 1_795_000_000;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign").join(name)
}

fn text(verbose: bool) -> TextOptions {
    TextOptions { verbose, ..TextOptions::default() }
}

/// Verifies code as if it were called `name`, and gives it to a renderer.
fn verified(
    path: &Path,
    name: &str,
    options: &VerifyOptions,
    mut render: impl FnMut(&VerifiedCode<'_>),
) {
    let options = VerifyOptions { now: Some(NOW), ..options.clone() };
    let mut render_code = |code: &Code<'_>| {
        let verification = code.verify(&options).unwrap();
        let path = Path::new(name);
        render(&VerifiedCode { path, verification: &verification, elapsed_ns: 1_234_567 });
    };
    match path.is_dir() {
        true => {
            let tree = FolderTree::open(path).unwrap();
            render_code(&Code::bundle(&tree, name.as_bytes()).unwrap());
        }
        false => render_code(&Code::file(Box::new(FileSource::open(path).unwrap())).unwrap()),
    }
}

fn compare_text(golden: &str, verified: &VerifiedCode<'_>, options: TextOptions) {
    let mut found = Vec::new();
    write_verified_text(verified, options, &mut found);
    compare_bytes(golden, &found);
}

fn compare_json(golden: &str, verified: &VerifiedCode<'_>) {
    let mut found = Vec::new();
    write_verified_json(verified, &mut found);
    let counts = CodeCounts {
        verb: "code verify",
        exit_status: verified.verification.exit_status().try_into().unwrap(),
        paths: 1,
        codes: 1,
        not_read: 0,
        failed: 0,
        read_bytes: verified.verification.read_bytes(),
        elapsed_ns: verified.elapsed_ns,
    };
    write_end_json(&counts, &mut found);
    compare_bytes(golden, &found);
}

#[test]
fn verdicts_on_code_that_is_whole() {
    let deep = VerifyOptions { deep: true, strict: true, ..VerifyOptions::default() };
    verified(&sample("Demo.app"), "Demo.app", &deep, |app| {
        compare_text("code/app.txt", app, text(false));
        compare_text("code/app-verbose.txt", app, text(true));
        compare_json("code/app.json", app);
        let mut quiet = Vec::new();
        let options = TextOptions { quiet: true, ..text(false) };
        write_verified_text(app, options, &mut quiet);
        assert!(quiet.is_empty(), "{}", String::from_utf8_lossy(&quiet));
    });
    verified(&sample("signed-tool"), "tool", &VerifyOptions::default(), |tool| {
        compare_text("code/tool.txt", tool, text(false));
        compare_json("code/tool.json", tool);
    });
    let one = VerifyOptions { pages: PageChoice::Offset(5000), ..VerifyOptions::default() };
    verified(&sample("signed-tool"), "tool", &one, |tool| {
        compare_text("code/tool-page.txt", tool, text(false));
    });
}

/// A copy of the application to which something of every kind was done.
fn damaged_app() -> tempfile::TempDir {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // `cp` keeps symlinks, which a seal is particular about.
    let from = sample("Demo.app/Contents");
    assert!(Command::new("cp").arg("-a").arg(from).arg(dir.path()).status().unwrap().success());
    let path = |name: &str| dir.path().join("Contents").join(name);
    for (name, at) in [("MacOS/demo", 9000), ("MacOS/demo", 13_000), ("MacOS/helper", 5000)] {
        let mut bytes = fs::read(path(name)).unwrap();
        bytes[at] ^= 1;
        fs::write(path(name), bytes).unwrap();
    }
    fs::write(path("Resources/a.txt"), "edited").unwrap();
    fs::remove_file(path("Resources/folder/b.txt")).unwrap();
    fs::write(path("Resources/new\u{1b}[31m"), "added").unwrap();
    fs::remove_file(path("Resources/link")).unwrap();
    fs::copy(path("Resources/a.txt"), path("Resources/link")).unwrap();
    fs::copy(path("MacOS/helper"), path("Frameworks/Kit.framework/Versions/A/Kit")).unwrap();
    let info = fs::read_to_string(path("Info.plist")).unwrap();
    fs::write(path("Info.plist"), info + "\n").unwrap();
    dir
}

#[test]
fn verdicts_on_code_that_is_not() {
    let app = damaged_app();
    let deep = VerifyOptions { deep: true, ..VerifyOptions::default() };
    verified(app.path(), "Demo.app", &deep, |app| {
        assert_eq!(app.verification.exit_status(), 3);
        compare_text("code/damaged.txt", app, text(false));
        let color = TextOptions { color: true, quiet: true, ..text(false) };
        compare_text("code/damaged-color-quiet.txt", app, color);
        compare_json("code/damaged.json", app);
    });
}

/// The statement in text, JSON and document is one, and no line contradicts it.
#[test]
fn every_document_states_the_same() {
    let app = damaged_app();
    let deep = VerifyOptions { deep: true, ..VerifyOptions::default() };
    let shallow = VerifyOptions::default();
    let part = VerifyOptions { pages: PageChoice::Pages(0..1), ..VerifyOptions::default() };
    for (path, name, options, expected) in [
        (
            sample("Demo.app"),
            "Demo.app",
            &deep,
            "Nobody signed it: anyone can make such a seal. Everything that was sealed is as",
        ),
        (
            sample("Demo.app"),
            "Demo.app",
            &shallow,
            "Nobody signed it: anyone can make such a seal. What was checked is as it was sealed.",
        ),
        (
            sample("Demo.app"),
            "Demo.app",
            &part,
            "Nobody signed it: anyone can make such a seal. The pages that were checked are",
        ),
        (app.path().to_owned(), "Demo.app", &deep, "Refused: "),
        (sample("signed-tool"), "tool", &deep, "Not verified: "),
    ] {
        verified(&path, name, options, |code| {
            let (mut lines, mut json) = (Vec::new(), Vec::new());
            write_verified_text(code, text(true), &mut lines);
            write_verified_json(code, &mut json);
            let first = json.split(|byte| *byte == b'\n').next().unwrap();
            let object: serde_json::Value = serde_json::from_slice(first).unwrap();
            let statement = object["statement"].as_str().unwrap();
            assert!(statement.starts_with(expected), "{statement}");
            let lines = String::from_utf8(lines).unwrap();
            assert!(lines.contains(statement), "{lines}");
            let page = document(code, None, Units::Si);
            assert_eq!(page.sections[0].sentences[0], statement);
            let good = code.verification.exit_status() == 0;
            assert_eq!(object["outcome"] == "good", good);
            let words = ["\n  failure  ", "\n  unverified  "];
            assert_eq!(words.iter().any(|word| lines.contains(word)), !good, "{lines}");
        });
    }
}

/// Code that was sealed and is damaged is not called exactly what was sealed.
#[test]
fn a_cdhash_is_not_taken_for_the_bytes() {
    let app = damaged_app();
    for (deep, expected) in [(true, "by its CDHash only"), (false, "by its CDHash, no page read")] {
        let options = VerifyOptions { deep, ..VerifyOptions::default() };
        verified(app.path(), "Demo.app", &options, |code| {
            let mut lines = Vec::new();
            write_verified_text(code, text(false), &mut lines);
            let lines = String::from_utf8(lines).unwrap();
            assert!(!lines.contains("sealed: yes") && lines.contains(expected), "{lines}");
        });
    }
}

#[test]
fn what_signatures_say() {
    let tool = Code::file(Box::new(FileSource::open(&sample("signed-tool")).unwrap())).unwrap();
    let tree = FolderTree::open(&sample("Demo.app")).unwrap();
    let app = Code::bundle(&tree, b"Demo.app").unwrap();
    for (name, code) in [("tool", &tool), ("app", &app)] {
        let coverage = Coverage::of(code.source(), code.as_binary().unwrap()).unwrap();
        let shown = ShownCode { path: Path::new(name), code, coverage: Some(&coverage) };
        for (golden, verbose) in [("show", false), ("show-verbose", true)] {
            let mut found = Vec::new();
            write_shown_text(&shown, text(verbose), &mut found);
            compare_bytes(&format!("code/{name}-{golden}.txt"), &found);
        }
        let mut found = Vec::new();
        write_shown_json(&shown, &mut found);
        compare_bytes(&format!("code/{name}-show.json"), &found);
    }
}

#[test]
fn prices() {
    let mut cost = VerifyCost::default();
    cost.metadata_bytes = 1_200_000;
    cost.add_file(147_000_000, &[HashType::Sha256, HashType::Sha1]);
    let mut little = VerifyCost::default();
    little.add_file(5_000, &[HashType::Sha256]);
    let (mut text, mut json) = (Vec::new(), Vec::new());
    for (cost, name, hashing_ns) in [(&cost, "node", 31_000_000), (&little, "a\u{1b}b", 600)] {
        let of = CostOfCode { path: Path::new(name), cost, workers: 2, hashing_ns };
        write_cost_text(&of, Units::Si, &mut text);
        write_cost_json(&of, &mut json);
    }
    compare_bytes("code/cost.txt", &text);
    compare_bytes("code/cost.json", &json);
}
