//! What lies around the seal of a bundle: nested code that nothing vouches for, other versions of
//! a framework, tickets, and the bundle that an executable belongs to.

use std::fs;
use std::path::Path;
use std::process::Command;

use steadfast_codesign::bundle::{FolderTree, LEVELS, is_main_executable};
use steadfast_codesign::{Code, FindingKind, Severity, VerifyOptions};

use crate::app::{App, signed};
use crate::bundles::{failures, verified};

const HELPER: &str = "Contents/MacOS/helper";
const KIT: &str = "Contents/Frameworks/Kit.framework";

/// Takes the CDHash out of the helper's entry in a seal.
fn without_cdhash(seal: &str) -> String {
    let entry = seal.find("<key>MacOS/helper</key>").unwrap();
    let start = entry + seal[entry..].find("<key>cdhash</key>").unwrap();
    let end = start + seal[start..].find("</data>").unwrap() + "</data>".len();
    format!("{}{}", &seal[..start], &seal[end..])
}

#[test]
fn nested_code_that_nothing_vouches_for_is_not_accepted() {
    let requirement = "identifier &quot;helper&quot;";
    type Change = fn(&str, &str) -> String;
    let cases: [(&str, Change, &str); 3] = [
        ("no CDHash", |seal, _| without_cdhash(seal), "nested-replaced"),
        (
            "a requirement that is none",
            |seal, text| seal.replace(text, "identifier &amp;&amp;"),
            "requirement-unsupported",
        ),
        (
            "a requirement that only a Mac can decide",
            |seal, text| seal.replace(text, &format!("{text} and notarized")),
            "requirement-unsupported",
        ),
    ];
    for (what, change, kind) in cases {
        let app = App::new();
        assert!(app.seal().contains(requirement));
        app.reseal(&change(&app.seal(), requirement));
        for deep in [false, true] {
            let verification = verified(&app, deep, false);
            assert_eq!(failures(&verification), [format!("{kind} {HELPER}")], "{what}");
            assert_eq!(verification.exit_status(), 2, "{what}");
        }
    }
    // Without a CDHash any code of that name is as good.
    let app = App::new();
    app.reseal(&without_cdhash(&app.seal()));
    app.write(HELPER, &signed(12_000, "helper"));
    assert_eq!(verified(&app, true, true).exit_status(), 2);
}

#[test]
fn other_versions_of_a_framework_are_verified() {
    let copy = |app: &App| {
        let versions = app.path(&format!("{KIT}/Versions"));
        let copied = Command::new("cp").arg("-a").arg("A").arg("B").current_dir(versions).status();
        assert!(copied.unwrap().success());
    };
    let path = format!("{KIT}/Versions/B");
    let app = App::new();
    copy(&app);
    let verification = verified(&app, true, true);
    assert_eq!(failures(&verification), [""; 0], "a copy of the current one");
    let kit = verification.nested[0].code.as_ref().unwrap();
    assert_eq!(kit.nested[0].item.path, b"Versions/B");

    type Row = (&'static str, fn(&App), &'static str, u8);
    let cases: [Row; 4] = [
        ("a page", |app| app.flip(&format!("{KIT}/Versions/B/Kit"), 5000), "page-damaged", 3),
        (
            "a resource",
            |app| app.flip(&format!("{KIT}/Versions/B/Resources/data.txt"), 0),
            "resource-modified",
            3,
        ),
        (
            "code of anybody",
            |app| app.write(&format!("{KIT}/Versions/B/Kit"), &signed(9000, "kit")),
            "nested-replaced",
            1,
        ),
        (
            "code of another name",
            |app| app.write(&format!("{KIT}/Versions/B/Kit"), &signed(9000, "other")),
            "nested-damaged",
            3,
        ),
    ];
    for (what, change, kind, status) in cases {
        let app = App::new();
        copy(&app);
        change(&app);
        let verification = verified(&app, true, false);
        let found = failures(&verification);
        let told = |one: &String| one.starts_with(kind) && one.contains(&path);
        assert!(found.iter().any(told), "{what}: {found:?}");
        assert_eq!(verification.exit_status(), status, "{what}: {found:?}");
        // By itself, too.
        let tree = FolderTree::open(&app.path(KIT)).unwrap();
        let code = Code::bundle(&tree, b"Kit.framework").unwrap();
        let options = VerifyOptions { deep: true, ..VerifyOptions::default() };
        assert_eq!(code.verify(&options).unwrap().exit_status(), status, "{what}");
    }
    // What is no version is in no seal.
    let app = App::new();
    app.write(&format!("{KIT}/Versions/file"), b"new");
    let strict = failures(&verified(&app, true, true));
    assert_eq!(strict, [format!("unsealed-root {KIT}/Versions/file")]);
}

#[test]
fn what_is_no_ticket_is_not_accepted_in_its_place() {
    let app = App::new();
    assert!(verified(&app, true, true).ticket.is_none());
    for other in
        [&b"s8ch\x01\0\0\0"[..], &[b"s8ch\x01".as_slice(), &[0; 40]].concat(), b"code", b""]
    {
        app.write("Contents/CodeResources", other);
        let verification = verified(&app, true, false);
        assert!(verification.ticket.as_ref().unwrap().is_err());
        assert_eq!(verification.is_notarized(), Some(false));
        assert_eq!(failures(&verification), ["unsealed Contents/CodeResources"]);
        assert_eq!(verification.exit_status(), 2);
    }
}

#[test]
fn resources_are_not_called_sealed_by_a_seal_that_nothing_binds() {
    let app = App::new();
    assert_eq!(verified(&app, false, false).resources_sealed(), Some(true));
    let seal = app.seal() + "\n";
    app.write("Contents/_CodeSignature/CodeResources", seal.as_bytes());
    let verification = verified(&app, false, false);
    let findings = &verification.resources.as_ref().unwrap().findings;
    assert!(findings.iter().all(|finding| finding.severity == Severity::Note), "{findings:?}");
    assert_eq!(verification.resources_sealed(), Some(false));
    // The same seal bound, and `Info.plist` bound no more: its rules leave that out.
    app.bind(vec![(3, seal.into_bytes())]);
    let verification = verified(&app, true, false);
    assert_eq!(failures(&verification), ["slot-unbound"]);
    assert_eq!((verification.resources_sealed(), verification.exit_status()), (Some(true), 2));
}

#[test]
fn what_no_seal_can_hold_is_not_accepted() {
    let app = App::new();
    let made = Command::new("mkfifo").arg(app.path("Contents/Resources/pipe")).status();
    assert!(made.unwrap().success());
    let verification = verified(&app, false, false);
    assert_eq!(failures(&verification), ["resource-unreadable Contents/Resources/pipe"]);
    assert_eq!(verification.exit_status(), 2);
}

#[test]
fn what_apple_accepts_and_no_seal_covers_is_told_by_default() {
    let app = App::new();
    app.write("beside", b"new");
    let verification = verified(&app, false, false);
    let told: Vec<_> = verification
        .all_findings()
        .into_iter()
        .filter(|finding| finding.severity == Severity::Warning)
        .map(|finding| finding.kind)
        .collect();
    assert_eq!((told, verification.exit_status()), (vec![FindingKind::UnsealedRoot], 0));
}

/// The bundle whose main executable a file is: how many folders above it begins.
fn levels_above(file: &Path) -> Option<usize> {
    LEVELS.into_iter().find(|level| {
        let root = file.ancestors().nth(*level).unwrap();
        let inner = file.strip_prefix(root).unwrap().as_os_str().as_encoded_bytes();
        let name = root.file_name().unwrap().as_encoded_bytes();
        is_main_executable(&FolderTree::open(root).unwrap(), name, inner).unwrap()
    })
}

#[test]
fn a_main_executable_belongs_to_its_bundle() {
    let app = App::new();
    let kit = format!("{KIT}/Versions/A/Kit");
    let data = format!("{KIT}/Versions/A/Resources/data.txt");
    for (file, expected) in [
        ("Contents/MacOS/demo", Some(3)),
        (HELPER, None),
        ("Contents/Resources/a.txt", None),
        (&kit, Some(3)),
        (&data, None),
    ] {
        assert_eq!(levels_above(&app.path(file)), expected, "{file}");
    }
    // Another version than the current one is a bundle by itself.
    let versions = app.path(&format!("{KIT}/Versions"));
    fs::rename(versions.join("A"), versions.join("B")).unwrap();
    app.write(&format!("{KIT}/Versions/A/other"), b"");
    assert_eq!(levels_above(&versions.join("B/Kit")), Some(1));
    // A folder with a file of its own name is no bundle, and one with a seal is.
    app.write("tool/tool", &signed(9000, "tool"));
    assert_eq!(levels_above(&app.path("tool/tool")), None);
    app.write("tool/_CodeSignature/CodeResources", b"");
    assert_eq!(levels_above(&app.path("tool/tool")), Some(1));
}
