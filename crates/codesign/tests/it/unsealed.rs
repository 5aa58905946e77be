//! Code where no seal reaches is never accepted: a slice by somebody else beside a genuine one, and
//! programs in the places of a bundle that a seal leaves out.

use std::fs;
use std::io;
use std::path::Path;

use steadfast_codesign::bundle::{BundleTree, EntryKind, FolderTree};
use steadfast_codesign::{Code, CodeVerification, FindingKind, ReadAt, Severity, VerifyOptions};

use crate::app::{App, signed};
use crate::builder::{Build, CPU_ARM64, CPU_X86_64, fat};
use crate::bundles::{failures, verified};
use crate::fixtures::fixture;

fn verified_file(bytes: Vec<u8>) -> CodeVerification {
    Code::file(Box::new(bytes)).unwrap().verify(&VerifyOptions::default()).unwrap()
}

/// An ad-hoc slice for x86_64.
fn other_slice() -> Vec<u8> {
    let mut build = Build::linker_signed(20_000);
    build.cpu = CPU_X86_64;
    build.directories[0].flags = 2;
    build.build().bytes
}

/// The slices on which a verification says that they do not belong together.
fn disagreeing(verification: &CodeVerification) -> Vec<String> {
    let findings = verification.all_findings().into_iter();
    let findings = findings.filter(|finding| finding.kind == FindingKind::SlicesDisagree);
    findings
        .map(|finding| {
            assert_eq!(finding.severity, Severity::Failure);
            finding.place.slice.unwrap()
        })
        .collect()
}

#[test]
fn a_slice_of_somebody_else_beside_a_genuine_one_is_refused() {
    let Some(folder) = fixture("P3") else { return };
    let genuine = fs::read(folder.join("package/dart-sass/src/dart")).unwrap();
    assert_eq!(verified_file(genuine.clone()).exit_status(), 0);
    let other = other_slice();
    assert_eq!(verified_file(other.clone()).exit_status(), 0);
    for (slices, named) in [
        ([(CPU_ARM64, &genuine[..]), (CPU_X86_64, &other[..])], "x86_64"),
        ([(CPU_X86_64, &other[..]), (CPU_ARM64, &genuine[..])], "arm64"),
    ] {
        for wide in [false, true] {
            let verification = verified_file(fat(&slices, wide).0);
            assert_eq!(disagreeing(&verification), [named]);
            assert_eq!(verification.exit_status(), 1);
        }
    }
}

#[test]
fn slices_that_nobody_signed_belong_together() {
    let (one, other) = (signed(9000, "demo"), other_slice());
    let both = fat(&[(CPU_ARM64, &one), (CPU_X86_64, &other)], false).0;
    let verification = verified_file(both);
    assert_eq!((disagreeing(&verification), verification.exit_status()), (vec![], 0));
}

#[test]
fn a_replaced_slice_of_an_application_is_refused() {
    let Some(folder) = fixture("P5") else { return };
    let app = find_app(&folder);
    let bytes = fs::read(app.join("Contents/MacOS/Mitmproxy Redirector")).unwrap();
    let copy = tempfile::tempdir().unwrap();
    let root = copy.path().join("Redirector.app");
    copy_tree(&app, &root);
    // The other slice becomes code by nobody that binds the genuine `Info.plist` and seal.
    let binary = steadfast_codesign::Binary::read(&bytes).unwrap();
    let kept = binary.slice("x86_64").unwrap();
    let kept = &bytes[kept.offset as usize..(kept.offset + kept.len_bytes) as usize];
    let mut build = Build::linker_signed(20_000);
    build.directories[0].flags = 2;
    build.directories[0].special_count = 3;
    build.outside = [(1, "Info.plist"), (3, "_CodeSignature/CodeResources")]
        .map(|(slot, name)| (slot, fs::read(app.join("Contents").join(name)).unwrap()))
        .into();
    let forged = build.build().bytes;
    let both = fat(&[(CPU_X86_64, kept), (CPU_ARM64, &forged)], false).0;
    fs::write(root.join("Contents/MacOS/Mitmproxy Redirector"), both).unwrap();
    for (deep, strict) in [(false, false), (true, true)] {
        let tree = FolderTree::open(&root).unwrap();
        let code = Code::bundle(&tree, b"Redirector.app").unwrap();
        let options = VerifyOptions { deep, strict, ..VerifyOptions::default() };
        let verification = code.verify(&options).unwrap();
        assert_eq!(disagreeing(&verification), ["arm64"]);
        assert_eq!(verification.exit_status(), 1);
    }
}

pub(crate) fn find_app(folder: &Path) -> std::path::PathBuf {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        if folder.extension().is_some_and(|extension| extension == "app") {
            return folder;
        }
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        waiting.extend(entries.filter(|path| path.is_dir() && !path.is_symlink()));
    }
    panic!("no application in {}", folder.display());
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap(), to.join(entry.as_ref().unwrap().file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy_tree(&entry.path(), &to);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path()).unwrap(), to).unwrap();
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn an_index_that_names_a_processor_twice_or_wrongly_is_refused() {
    let (one, two) = (signed(9000, "demo"), signed(12_000, "demo"));
    // The family of 64-bit Arm has two numbers.
    let mut renumbered = two.clone();
    renumbered[8] = 1;
    for (slices, named) in [
        (vec![(CPU_ARM64, &one[..]), (CPU_ARM64, &renumbered[..])], vec!["arm64"]),
        (vec![(CPU_ARM64, &one[..]), (CPU_ARM64, &two[..])], vec!["arm64"]),
        (vec![(CPU_X86_64, &one[..])], vec!["x86_64"]),
        (vec![(CPU_ARM64, &one[..]), (CPU_X86_64, &two[..])], vec!["x86_64"]),
        (vec![(CPU_ARM64, &one[..])], vec![]),
    ] {
        let verification = verified_file(fat(&slices, false).0);
        assert_eq!(disagreeing(&verification), named);
        assert!(named.is_empty() || verification.exit_status() != 0);
    }
}

#[test]
fn code_in_a_place_that_no_seal_covers_is_refused_and_named() {
    let code = signed(9000, "evil");
    for place in [
        "Contents/CodeResources/evil",
        "Contents/_MASReceipt/evil",
        "Contents/_MASReceipt/receipt",
        "Contents/_MASReceipt/folder/evil",
        "Contents/_MASReceipt",
        "Contents/_CodeSignature/evil",
        "Contents/_CodeSignature/CodeEntitlements",
        "Contents/_CodeSignature/CodeDirectory/evil",
        "Contents/PkgInfo",
        "Contents/.DS_Store",
        "Contents/Resources/.DS_Store",
        "Contents/Resources/de.lproj/locversion.plist",
        "evil",
        "Frameworks/evil.dylib",
        ".DS_Store",
        "Icon\r/evil",
        "Contents/Frameworks/Kit.framework/evil",
        "Contents/Frameworks/Kit.framework/module.map",
        "Contents/Frameworks/Kit.framework/Versions/evil",
    ] {
        for contents in [&code[..], &fat(&[(CPU_ARM64, &code)], false).0, b"#!/bin/sh\n"] {
            let app = App::new();
            app.write(place, contents);
            let verification = verified(&app, true, false);
            assert_ne!(verification.exit_status(), 0, "{place:?}");
            let told = failures(&verification);
            let named = |told: &String| {
                let path = told.split_once(' ').map_or("", |(_, path)| path);
                !path.is_empty() && place.starts_with(path)
            };
            assert!(told.iter().any(named), "{place:?}: {told:?}");
        }
    }
}

#[test]
fn symlinks_in_a_place_that_no_seal_covers_do_not_lead_out() {
    let kit = "Contents/Frameworks/Kit.framework";
    for (place, target, refused) in [
        ("Frameworks", "/tmp/evil", true),
        ("Frameworks", "../evil", true),
        ("Frameworks", "Contents/../../evil", true),
        ("Frameworks", "Contents/Frameworks", false),
        ("Contents/.DS_Store", "/tmp/evil", true),
        ("Contents/.DS_Store", "Resources/a.txt", false),
        ("Contents/_CodeSignature/evil", "../../../evil", true),
        (&format!("{kit}/Other"), "/tmp/evil", true),
        (&format!("{kit}/Versions/B"), "/tmp/evil", true),
        (&format!("{kit}/Versions/B"), "A", false),
        // The name that the framework is loaded by, to other sealed code than its own.
        (&format!("{kit}/Kit"), "Versions/A/Resources/data.txt", true),
        (&format!("{kit}/Kit"), "Versions/A/Kit", false),
    ] {
        let app = App::new();
        if app.path(place).is_symlink() {
            app.remove(place);
        }
        app.link(place, target);
        let verification = verified(&app, true, false);
        let expected = if refused { vec![format!("unsealed {place}")] } else { vec![] };
        assert_eq!(failures(&verification), expected, "{place} -> {target}");
        assert_eq!(verification.exit_status(), u8::from(refused), "{place} -> {target}");
    }
}

#[test]
fn a_name_that_a_mac_takes_for_the_sealed_folder_is_refused() {
    for name in ["contents/Info.plist", "CONTENTS/a", "Content\u{17f}/a"] {
        let app = App::new();
        app.write(name, b"text");
        let folder = name.split('/').next().unwrap();
        assert_eq!(failures(&verified(&app, true, false)), [format!("unsealed {folder}")]);
    }
    let app = App::new();
    app.write("Contents/Frameworks/Kit.framework/versions/A/a", b"text");
    let expected = "unsealed Contents/Frameworks/Kit.framework/versions";
    assert_eq!(failures(&verified(&app, true, false)), [expected]);
}

/// A tree in which one file has a resource fork.
struct Forked<'a>(FolderTree, &'a [u8], &'a [u8]);

impl BundleTree for Forked<'_> {
    fn kind(&self, path: &[u8]) -> io::Result<Option<EntryKind>> {
        self.0.kind(path)
    }

    fn entries(&self, path: &[u8]) -> io::Result<Vec<(Vec<u8>, EntryKind)>> {
        self.0.entries(path)
    }

    fn open(&self, path: &[u8]) -> io::Result<Box<dyn ReadAt + Send>> {
        self.0.open(path)
    }

    fn read_link(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        self.0.read_link(path)
    }

    fn fork(&self, path: &[u8]) -> io::Result<Option<Vec<u8>>> {
        Ok((path == self.1).then(|| self.2.to_vec()))
    }
}

#[test]
fn a_resource_fork_of_code_is_refused_and_any_other_if_strict() {
    let code = signed(9000, "evil");
    for place in ["Contents/MacOS/demo", "Contents/Resources/a.txt", "Contents/PkgInfo"] {
        for (fork, statuses) in [(&code[..], [1, 1]), (b"text", [0, 1])] {
            for (strict, status) in [false, true].into_iter().zip(statuses) {
                let app = App::new();
                let tree = FolderTree::open(app.root()).unwrap();
                let tree = Forked(tree, place.as_bytes(), fork);
                let code = Code::bundle(&tree, b"Demo.app").unwrap();
                let options = VerifyOptions { strict, ..VerifyOptions::default() };
                let verification = code.verify(&options).unwrap();
                let told = failures(&verification);
                assert_eq!(verification.exit_status(), status, "{place}: {told:?}");
                assert!(told.iter().all(|told| told.ends_with(place)), "{told:?}");
            }
        }
    }
}

#[test]
fn names_that_are_never_sealed_have_one_form() {
    type Case = (fn(&App), &'static [&'static str]);
    let cases: &[Case] = &[
        (|app| app.write("Contents/_MASReceipt/receipt", b"receipt"), &[]),
        (
            |app| app.write("Contents/_MASReceipt/other", b"text"),
            &["resource-added Contents/_MASReceipt/other"],
        ),
        (|app| app.link("Contents/_MASReceipt", "/usr"), &["resource-added Contents/_MASReceipt"]),
        (
            |app| app.link("Contents/CodeResources", "MacOS/demo"),
            &["resource-added Contents/CodeResources"],
        ),
    ];
    for (change, expected) in cases {
        let app = App::new();
        change(&app);
        assert_eq!(failures(&verified(&app, true, false)), *expected);
    }
}

#[test]
fn what_the_rules_leave_out_is_named() {
    let app = App::new();
    app.write("Contents/PkgInfo", b"APPL????");
    let verification = verified(&app, false, false);
    assert_eq!(verification.exit_status(), 0);
    let findings = verification.all_findings();
    let named = findings.iter().find(|finding| finding.kind == FindingKind::Unsealed).unwrap();
    let path = named.place.path.as_deref();
    assert_eq!((named.severity, path), (Severity::Note, Some(&b"Contents/PkgInfo"[..])));
}
