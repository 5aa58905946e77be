//! What becomes of a bundle when something in it is another: action × place → findings.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use steadfast_codesign::bundle::FolderTree;
use steadfast_codesign::{
    BytesState, Code, CodeVerification, ErrorKind, PageChoice, Severity, VerifyOptions,
};

use crate::app::{App, signed};

pub(crate) fn verified(app: &App, deep: bool, strict: bool) -> CodeVerification {
    let tree = FolderTree::open(app.root()).unwrap();
    let code = Code::bundle(&tree, b"Demo.app").unwrap();
    code.verify(&VerifyOptions { deep, strict, ..VerifyOptions::default() }).unwrap()
}

/// What keeps the code from being accepted, as "kind path".
pub(crate) fn failures(verification: &CodeVerification) -> Vec<String> {
    let findings = verification.all_findings();
    let failures = findings.iter().filter(|finding| finding.severity >= Severity::Unverified);
    let mut told: Vec<String> = failures
        .map(|finding| {
            let path = finding.place.path.as_deref().unwrap_or_default();
            let text = format!("{} {}", finding.kind.name(), String::from_utf8_lossy(path));
            text.trim_end().to_owned()
        })
        .collect();
    told.sort_unstable();
    told.dedup();
    told
}

#[test]
fn an_application_is_intact_in_every_way() {
    let app = App::new();
    let verification = verified(&app, true, true);
    assert_eq!(failures(&verification), [""; 0]);
    assert_eq!(verification.exit_status(), 0);
    let resources = verification.resources.unwrap();
    assert_eq!((resources.files, resources.symlinks, resources.absent), (5, 2, 0));
    assert_eq!(resources.nested.len(), 2);
    for nested in &verification.nested {
        assert_eq!((nested.requirement.clone(), nested.exact), (Ok(true), Some(true)));
    }
    let kit = verification.nested[0].code.as_ref().unwrap();
    assert_eq!(kit.resources.as_ref().unwrap().files, 2);
}

/// One change, which failures it makes by default, and which status.
struct Case {
    name: &'static str,
    change: fn(&App),
    failures: &'static [&'static str],
    status: u8,
}

const CASES: &[Case] = &[
    Case {
        name: "resource edited",
        change: |app| app.write("Contents/Resources/a.txt", b"alphA"),
        failures: &["resource-modified Contents/Resources/a.txt"],
        status: 3,
    },
    Case {
        name: "script among the code edited",
        change: |app| app.write("Contents/MacOS/script.sh", b"#!/bin/bash\n"),
        failures: &["resource-modified Contents/MacOS/script.sh"],
        status: 3,
    },
    Case {
        name: "required file gone",
        change: |app| app.remove("Contents/Resources/folder/b.txt"),
        failures: &["resource-missing Contents/Resources/folder/b.txt"],
        status: 1,
    },
    Case {
        name: "optional file gone",
        change: |app| app.remove("Contents/Resources/de.lproj/x.strings"),
        failures: &[],
        status: 0,
    },
    Case {
        name: "file of the base localisation gone",
        change: |app| app.remove("Contents/Resources/Base.lproj/main.nib"),
        failures: &["resource-missing Contents/Resources/Base.lproj/main.nib"],
        status: 1,
    },
    Case {
        name: "file added to resources",
        change: |app| app.write("Contents/Resources/new", b"new"),
        failures: &["resource-added Contents/Resources/new"],
        status: 1,
    },
    Case {
        name: "file added to code",
        change: |app| app.write("Contents/MacOS/new", b"new"),
        failures: &["resource-added Contents/MacOS/new"],
        status: 1,
    },
    Case {
        name: "folder with an extension added to code",
        change: |app| app.write("Contents/MacOS/new.bundle/a", b"new"),
        failures: &["resource-added Contents/MacOS/new.bundle"],
        status: 1,
    },
    Case {
        name: "what the rules leave out added",
        change: |app| {
            app.write("Contents/Resources/.DS_Store", b"new");
            app.write("Contents/Resources/de.lproj/locversion.plist", b"new");
            app.write("Contents/PkgInfo", b"other");
            app.write("Contents/_MASReceipt/receipt", b"a receipt");
        },
        failures: &[],
        status: 0,
    },
    Case {
        name: "symlink to another place",
        change: |app| {
            app.remove("Contents/Resources/link");
            app.link("Contents/Resources/link", "folder/b.txt");
        },
        failures: &["resource-modified Contents/Resources/link"],
        status: 3,
    },
    Case {
        name: "symlink became the copy of its file",
        change: |app| {
            app.remove("Contents/Resources/link");
            app.write("Contents/Resources/link", b"alpha");
        },
        failures: &["flattened Contents/Resources/link"],
        status: 1,
    },
    Case {
        name: "symlink became another file",
        change: |app| {
            app.remove("Contents/Resources/link");
            app.write("Contents/Resources/link", b"alphA");
        },
        failures: &["resource-modified Contents/Resources/link"],
        status: 3,
    },
    Case {
        name: "symlink became the copy of its folder",
        change: |app| {
            app.remove("Contents/Resources/linked");
            app.write("Contents/Resources/linked/b.txt", b"beta");
        },
        failures: &["flattened Contents/Resources/linked"],
        status: 1,
    },
    Case {
        name: "file became a symlink",
        change: |app| {
            app.remove("Contents/Resources/a.txt");
            app.link("Contents/Resources/a.txt", "folder/b.txt");
        },
        failures: &["resource-modified Contents/Resources/a.txt"],
        status: 3,
    },
    Case {
        name: "nested code became a symlink",
        change: |app| {
            app.remove("Contents/MacOS/helper");
            app.link("Contents/MacOS/helper", "demo");
        },
        failures: &["resource-modified Contents/MacOS/helper"],
        status: 3,
    },
    Case {
        name: "information edited",
        change: |app| {
            let info = fs::read(app.path("Contents/Info.plist")).unwrap();
            app.write("Contents/Info.plist", &[info, b"\n".to_vec()].concat());
        },
        failures: &["slot-damaged"],
        status: 3,
    },
    Case {
        name: "seal edited",
        change: |app| {
            let path = "Contents/_CodeSignature/CodeResources";
            let seal = fs::read(app.path(path)).unwrap();
            app.write(path, &[seal, b"\n".to_vec()].concat());
        },
        failures: &["slot-damaged"],
        status: 3,
    },
    Case {
        name: "seal gone",
        change: |app| app.remove("Contents/_CodeSignature/CodeResources"),
        failures: &["resources-not-found Contents/_CodeSignature/CodeResources", "slot-missing"],
        status: 1,
    },
    Case {
        name: "page of the executable damaged",
        change: |app| app.flip("Contents/MacOS/demo", 5000),
        failures: &["page-damaged"],
        status: 3,
    },
    Case {
        name: "nested code replaced by code that meets the requirement",
        change: |app| app.write("Contents/MacOS/helper", &signed(12_000, "helper")),
        failures: &["nested-replaced Contents/MacOS/helper"],
        status: 1,
    },
    Case {
        name: "nested code replaced by other code",
        change: |app| app.write("Contents/MacOS/helper", &signed(12_000, "other")),
        failures: &["nested-damaged Contents/MacOS/helper"],
        status: 3,
    },
    Case {
        name: "nested code replaced by no code",
        change: |app| app.write("Contents/MacOS/helper", b"#!/bin/sh\n"),
        failures: &["nested-damaged Contents/MacOS/helper"],
        status: 3,
    },
    Case {
        name: "file where nothing is sealed",
        change: |app| {
            app.write("Contents/_CodeSignature/new", b"new");
            app.write("beside", b"new");
            app.write("Contents/Frameworks/Kit.framework/new", b"new");
        },
        failures: &[],
        status: 0,
    },
    Case {
        name: "framework without a current version",
        change: |app| app.remove("Contents/Frameworks/Kit.framework/Versions/Current"),
        failures: &["flattened Contents/Frameworks/Kit.framework/Versions/Current"],
        status: 1,
    },
    Case {
        name: "framework gone",
        change: |app| app.remove("Contents/Frameworks/Kit.framework"),
        failures: &["resource-missing Contents/Frameworks/Kit.framework"],
        status: 1,
    },
];

#[test]
fn every_change_is_found_for_what_it_is() {
    for Case { name, change, failures: expected, status } in CASES {
        let app = App::new();
        change(&app);
        let verification = verified(&app, false, false);
        assert_eq!(failures(&verification), *expected, "{name}");
        assert_eq!(verification.exit_status(), *status, "{name}");
    }
}

#[test]
fn damage_in_nested_code_is_found_only_in_depth() {
    for (name, change, expected) in [
        (
            "page",
            (|app: &App| app.flip("Contents/MacOS/helper", 5000)) as fn(&App),
            "page-damaged Contents/MacOS/helper",
        ),
        (
            "resource",
            |app| app.flip("Contents/Frameworks/Kit.framework/Versions/A/Resources/data.txt", 0),
            "resource-modified Contents/Frameworks/Kit.framework/Versions/A/Resources/data.txt",
        ),
    ] {
        let app = App::new();
        change(&app);
        let shallow = verified(&app, false, false);
        assert_eq!(failures(&shallow), [""; 0], "{name}");
        for nested in &shallow.nested {
            let code = nested.code.as_ref().unwrap();
            assert_eq!(code.parts[0].bytes.state, BytesState::Unread, "{name}");
        }
        let deep = verified(&app, true, false);
        assert_eq!((failures(&deep), deep.exit_status()), (vec![expected.to_owned()], 3), "{name}");
    }
}

#[test]
fn what_a_slot_of_nested_code_binds_is_looked_at_even_so() {
    let app = App::new();
    let info = "Contents/Frameworks/Kit.framework/Versions/A/Resources/Info.plist";
    let bytes = fs::read(app.path(info)).unwrap();
    app.write(info, &[bytes, b"\n".to_vec()].concat());
    assert_eq!(
        failures(&verified(&app, false, false)),
        ["slot-damaged Contents/Frameworks/Kit.framework"]
    );
}

#[test]
fn strict_checking_refuses_what_is_in_no_seal() {
    for (path, expected) in [
        ("beside", "unsealed-root beside"),
        ("Contents/_CodeSignature/new", "unsealed-root Contents/_CodeSignature/new"),
    ] {
        let app = App::new();
        app.write(path, b"new");
        assert_eq!(failures(&verified(&app, false, false)), [""; 0], "{path}");
        let strict = verified(&app, false, true);
        assert_eq!((failures(&strict), strict.exit_status()), (vec![expected.to_owned()], 1));
    }
    let app = App::new();
    app.write("Contents/Frameworks/Kit.framework/new", b"new");
    let deep = verified(&app, true, true);
    assert_eq!(failures(&deep), ["unsealed-root Contents/Frameworks/Kit.framework/new"]);
}

#[test]
fn without_a_seal_the_signature_says_so() {
    let app = App::new();
    app.write("Contents/MacOS/demo", &signed(20_000, "demo"));
    app.remove("Contents/_CodeSignature");
    let verification = verified(&app, false, false);
    let expected = ["resources-not-found Contents/_CodeSignature/CodeResources", "slot-unbound"];
    assert_eq!(failures(&verification), expected);
    assert_eq!(verification.parts[0].bytes.state, BytesState::Intact);
}

#[test]
fn a_seal_that_nothing_binds_is_none() {
    let app = App::new();
    app.write("Contents/MacOS/demo", &signed(20_000, "demo"));
    let verification = verified(&app, false, false);
    let expected = ["resources-not-found Contents/_CodeSignature/CodeResources", "slot-unbound"];
    assert_eq!(failures(&verification), expected);
}

/// One change, the kind of the failure it makes, if any, and the status.
type Change = (fn(&App), &'static str, u8);

/// Old applications have no other: files with SHA-1, no symlinks, no nested code.
#[test]
fn a_seal_of_the_first_form_serves_and_is_weak() {
    let rules = "<key>^Resources/</key><true/>\
                 <key>^Resources/.*\\.lproj/</key><dict><key>optional</key><true/>\
                 <key>weight</key><real>1000</real></dict>";
    let sealed = || {
        let app = App::new();
        app.reseal(&App::first_seal(rules));
        app
    };
    // Such a seal covers no code beside the main executable.
    let unsealed = [
        "unsealed Contents/Frameworks/Kit.framework/Versions/A/Kit",
        "unsealed Contents/MacOS/helper",
        "unsealed Contents/MacOS/script.sh",
    ]
    .map(str::to_owned);
    let verification = verified(&sealed(), true, false);
    assert_eq!((failures(&verification), verification.exit_status()), (unsealed.to_vec(), 1));
    let resources = verification.resources.unwrap();
    assert_eq!((resources.files, resources.symlinks, resources.nested.len()), (4, 0, 0));
    let cases: &[Change] = &[
        (|app| app.flip("Contents/Resources/a.txt", 1), "resource-modified", 3),
        (|app| app.write("Contents/Resources/new", b"new"), "resource-added", 1),
        (|app| app.remove("Contents/Resources/folder/b.txt"), "resource-missing", 1),
        (|app| app.remove("Contents/Resources/de.lproj/x.strings"), "", 1),
    ];
    for (index, (change, expected, status)) in cases.iter().enumerate() {
        let app = sealed();
        change(&app);
        let verification = verified(&app, false, false);
        let mut kinds: Vec<String> = failures(&verification);
        kinds.retain(|kind| !unsealed.contains(kind));
        let kind = kinds.first().map_or("", |kind| kind.split(' ').next().unwrap());
        assert_eq!((kind, verification.exit_status()), (*expected, *status), "case {index}");
        assert!(kinds.len() <= 1, "{kinds:?}");
    }
    let strict = failures(&verified(&sealed(), false, true));
    assert_eq!(strict[3..], ["weak-rules", "weak-seal"]);
}

#[test]
fn a_part_of_it_leaves_resources_alone() {
    let app = App::new();
    app.write("Contents/Resources/a.txt", b"alphA");
    app.flip("Contents/MacOS/demo", 5000);
    let tree = FolderTree::open(app.root()).unwrap();
    let code = Code::bundle(&tree, b"Demo.app").unwrap();
    for (pages, expected) in [
        (PageChoice::Pages(0..1), &[][..]),
        (PageChoice::Pages(1..2), &["page-damaged"]),
        (PageChoice::Offset(5000), &["page-damaged"]),
        (PageChoice::Offset(9000), &[]),
    ] {
        let options = VerifyOptions { pages: pages.clone(), ..VerifyOptions::default() };
        let verification = code.verify(&options).unwrap();
        assert_eq!(failures(&verification), expected, "{pages:?}");
        assert!(verification.resources.is_none());
    }
    // Beyond the pages, in the signature, beyond the file.
    let none =
        [PageChoice::Pages(100..101), PageChoice::Offset(20_001), PageChoice::Offset(u64::MAX)];
    for pages in none {
        let options = VerifyOptions { pages: pages.clone(), ..VerifyOptions::default() };
        assert_eq!(code.verify(&options).unwrap_err().kind(), ErrorKind::Usage, "{pages:?}");
    }
    let no_page = VerifyOptions { pages: PageChoice::Sample(0), ..VerifyOptions::default() };
    let verification = code.verify(&no_page).unwrap();
    assert_eq!(verification.parts[0].bytes.state, BytesState::Unread);
}

#[test]
fn the_price_is_what_is_read() {
    let app = App::new();
    let tree = FolderTree::open(app.root()).unwrap();
    let code = Code::bundle(&tree, b"Demo.app").unwrap();
    for deep in [false, true] {
        let options = VerifyOptions { deep, ..VerifyOptions::default() };
        let verification = code.verify(&options).unwrap();
        assert_eq!(code.cost(deep).unwrap().read_bytes, verification.read_bytes(), "{deep}");
    }
}

#[test]
fn what_is_no_bundle_is_told() {
    let empty = tempfile::tempdir().unwrap();
    let tree = FolderTree::open(empty.path()).unwrap();
    assert_eq!(Code::bundle(&tree, b"x").err().unwrap().kind(), ErrorKind::NotCode);
    let app = App::new();
    app.write(
        "Contents/Info.plist",
        b"<plist><dict><key>CFBundleExecutable</key><string>../x</string></dict></plist>",
    );
    let tree = FolderTree::open(app.root()).unwrap();
    // The name that leads out is refused; what the bundle is called serves instead.
    let code = Code::bundle(&tree, b"demo.app").unwrap();
    let findings = code.findings();
    assert_eq!(findings.len(), 1);
    assert!(findings[0].text.contains("no file name"), "{findings:?}");
    app.remove("Contents/MacOS/demo");
    assert_eq!(Code::bundle(&tree, b"demo.app").err().unwrap().kind(), ErrorKind::NotCode);
}

#[test]
fn symlinks_that_lead_out_are_noted_and_refused_if_strict() {
    let app = App::new();
    let tree = FolderTree::open(app.root()).unwrap();
    let path = "Contents/_CodeSignature/CodeResources";
    let seal = String::from_utf8(fs::read(app.path(path)).unwrap()).unwrap();
    app.write(path, seal.replace(">a.txt<", ">../../../x<").as_bytes());
    app.remove("Contents/Resources/link");
    app.link("Contents/Resources/link", "../../../x");
    let code = Code::bundle(&tree, b"Demo.app").unwrap();
    let strict = VerifyOptions { strict: true, ..VerifyOptions::default() };
    let verification = code.verify(&strict).unwrap();
    let expected = ["slot-damaged", "symlink-escapes Contents/Resources/link"];
    assert_eq!(failures(&verification), expected);
    assert_eq!(failures(&code.verify(&VerifyOptions::default()).unwrap()), ["slot-damaged"]);
}

/// The sample that other tests run on is what the builder makes.
#[test]
fn the_frozen_application_is_up_to_date() {
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign/Demo.app");
    let app = App::new();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        let _ = fs::remove_dir_all(&frozen);
        let copied = Command::new("cp").arg("-a").arg(app.root()).arg(&frozen).status();
        assert!(copied.unwrap().success());
    }
    let mut diff = Command::new("diff");
    diff.args(["--no-dereference", "--recursive", "--brief"]).arg(&frozen).arg(app.root());
    let output = diff.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
