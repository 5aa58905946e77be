//! `code show`, `code verify`, `code cost` from outside, on a small application that is frozen.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::tree::{Outcome, Tree};

/// A tree with a copy of the application.
fn demo() -> Tree {
    let tree = Tree::new();
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign/Demo.app");
    // `cp` keeps symlinks, which a seal is particular about.
    let copied = Command::new("cp").arg("-a").arg(app).arg(tree.path("Demo.app")).status();
    assert!(copied.unwrap().success());
    tree
}

const EXECUTABLE: &str = "Demo.app/Contents/MacOS/demo";

fn flip(tree: &Tree, name: &str, at: usize) {
    let path = tree.path(name);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

fn findings(outcome: &Outcome) -> Vec<Value> {
    let mut objects = outcome.objects();
    objects.retain(|object| object["severity"] == "failure");
    objects
}

#[test]
fn an_application_is_verified() {
    let tree = demo();
    let said = tree.run(["code", "verify", "--deep", "--strict", "Demo.app"]).succeeds();
    let text = said.stdout();
    for line in [
        "Demo.app: Nobody signed it: anyone can make such a seal. Everything that was sealed is as",
        "\n  arm64   bytes intact (5 pages); signer none (ad-hoc)\n",
        "\n  resources as sealed: 5 files, 2 symlinks, 2 nested",
        "\n  Demo.app/Contents/MacOS/helper\n",
        "\n    requirement met; exactly the code that was sealed: yes\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(said.stderr(), "");
    let quiet = tree.run(["code", "verify", "--quiet", "Demo.app"]).succeeds();
    assert_eq!(quiet.stdout(), "");
}

#[test]
fn a_damaged_page_is_named() {
    let tree = demo();
    flip(&tree, EXECUTABLE, 5000);
    let said = tree.run(["code", "verify", "--json", EXECUTABLE]).ends(3);
    let found = findings(&said);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["finding"], "page-damaged");
    assert_eq!(found[0]["pages"], serde_json::json!([1, 2]));
    assert_eq!(found[0]["bytes"], serde_json::json!([4096, 8192]));
    assert_eq!(found[0]["apple"]["code"], -67061);
    assert_eq!(said.summary()["exit_status"], 3);
    let text = tree.run(["code", "verify", EXECUTABLE]).ends(3);
    let line = "page-damaged  arm64, ";
    assert!(text.stdout().contains(line), "{}", text.stdout());
    for (choice, status) in [
        (["--offset", "5000"], 3),
        (["--offset", "0"], 0),
        (["--pages", "0..1"], 0),
        (["--pages", "1..3"], 3),
        (["--pages", "90..91"], 2),
        (["--sample", "5"], 3),
    ] {
        tree.run(["code", "verify", choice[0], choice[1], EXECUTABLE]).ends(status);
    }
    tree.run(["code", "verify", "--pages", "0..1", "--offset", "3", EXECUTABLE]).ends(2);
}

#[test]
fn resources_are_listed_by_what_became_of_them() {
    let tree = demo();
    tree.edit("Demo.app/Contents/Resources/a.txt");
    std::fs::remove_file(tree.path("Demo.app/Contents/Resources/folder/b.txt")).unwrap();
    let hostile = "Demo.app/Contents/Resources/\u{1b}[31m";
    std::fs::write(tree.path(hostile), b"new").unwrap();
    let said = tree.run(["code", "verify", "--json", "Demo.app"]).ends(3);
    let told: Vec<(String, String)> = findings(&said)
        .iter()
        .map(|object| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&object["finding"]), text(&object["within"]["path"]))
        })
        .collect();
    let pair = |kind: &str, path: &str| (kind.to_owned(), path.to_owned());
    let expected = [
        pair("resource-added", "Contents/Resources/\u{1b}[31m"),
        pair("resource-modified", "Contents/Resources/a.txt"),
        pair("resource-missing", "Contents/Resources/folder/b.txt"),
    ];
    assert_eq!(told, expected);
    let text = tree.run(["code", "verify", "Demo.app"]).ends(3);
    assert!(text.stdout().contains("Resources/\\x1b[31m: not in the seal"), "{}", text.stdout());
    assert!(!text.stdout().contains('\u{1b}'));
    assert!(text.stdout().contains("codesign: a sealed resource is missing or invalid (-67054)"));
}

#[test]
fn a_signature_is_shown_with_every_cdhash() {
    let tree = demo();
    let said = tree.run(["code", "show", "--json", "Demo.app"]).succeeds();
    let objects = said.objects();
    let signature = &objects[0]["signature"];
    let cdhash = signature["cdhash"].as_str().unwrap();
    assert_eq!(cdhash.len(), 40);
    assert_eq!(signature["directories"][0]["cdhash"], cdhash);
    assert_eq!(signature["identifier"], "demo");
    assert_eq!(signature["signer"]["state"], "ad-hoc");
    let covered = objects[1]["coverage"].as_array().unwrap();
    let length = std::fs::metadata(tree.path(EXECUTABLE)).unwrap().len();
    assert_eq!(covered.last().unwrap()["bytes"][1], length);
    let text = tree.run(["code", "show", "Demo.app"]).succeeds();
    assert!(text.stdout().contains(&format!("CDHash        {cdhash}  sha256, chosen\n")));
    assert!(text.stdout().contains("identifier    demo\n"), "{}", text.stdout());
    assert!(text.stdout().contains("resources     9 entries, 11 rules\n"), "{}", text.stdout());
}

#[test]
fn a_price_is_told_beforehand() {
    let tree = demo();
    let said = tree.run(["code", "cost", "--json", "Demo.app"]).succeeds();
    let objects = said.objects();
    let verified = tree.run(["code", "verify", "--json", "Demo.app"]).succeeds();
    assert_eq!(objects[0]["read_bytes"], verified.summary()["read_bytes"]);
    assert!(objects[0]["hashing_ns"].as_u64().unwrap() > 0);
    let text = tree.run(["code", "cost", "Demo.app"]).succeeds();
    assert!(text.stdout().starts_with("Demo.app\n  to read "), "{}", text.stdout());
}

#[test]
fn every_verb_about_code_takes_a_level() {
    let tree = demo();
    for verb in ["show", "verify", "cost"] {
        for choice in [["--qos", "background"], ["--qos", "21"], ["--pace", "car"]] {
            let said = tree.run(["code", verb, choice[0], choice[1], "Demo.app"]).succeeds();
            assert!(said.stdout().starts_with("Demo.app"), "{verb}: {}", said.stdout());
        }
        let refused = tree.run(["code", verb, "--qos", "22", "Demo.app"]).ends(2);
        assert!(refused.stderr().contains("utility (17)"), "{}", refused.stderr());
    }
}

#[test]
fn a_price_grows_with_what_is_to_be_hashed() {
    let tree = demo();
    let hashing_ns = || {
        let said = tree.run(["code", "cost", "--json", "--workers", "1", "Demo.app"]).succeeds();
        let price = &said.objects()[0];
        let sum: u64 =
            price["hashed_bytes"].as_object().unwrap().values().filter_map(|it| it.as_u64()).sum();
        (sum, price["hashing_ns"].as_u64().unwrap())
    };
    let (few, little_ns) = hashing_ns();
    // No longer what was sealed, and as much work as if it were.
    let path = tree.path("Demo.app/Contents/Resources/a.txt");
    std::fs::write(path, vec![7; 200 << 20]).unwrap();
    let (many, much_ns) = hashing_ns();
    assert!(few < 1 << 20 && many > 200 << 20, "{few} {many}");
    assert!(much_ns > 10 * little_ns, "{little_ns} {much_ns}");
}

#[test]
fn what_is_no_code_is_told_and_the_rest_verified() {
    let tree = demo().file("text", b"no code").file("folder/a", b"no code");
    for verb in ["show", "verify", "cost"] {
        let said = tree.run(["code", verb, "text", "folder", "gone", EXECUTABLE]).ends(2);
        assert!(said.stdout().starts_with("Demo.app"), "{verb}: {}", said.stdout());
        let lines: Vec<&str> = said.stderr().lines().collect();
        assert_eq!(lines.len(), 3, "{verb}: {lines:?}");
        assert!(lines[0].starts_with("steadfast: `text`: "), "{}", lines[0]);
        assert!(lines[2].contains("`gone`: "), "{}", lines[2]);
        let cause = lines[2].matches("os error 2").count();
        assert_eq!(cause, 1, "a cause is told once: {}", lines[2]);
        let said = tree.run(["code", verb, "--json", "text", "gone"]).ends(2);
        let objects = said.objects();
        assert_eq!(objects.len(), 3, "{verb}: {objects:?}");
        assert_eq!(objects[0]["path"], "text", "{verb}");
        assert!(objects[1]["error"].as_str().unwrap().contains("gone"), "{verb}: {objects:?}");
    }
}

#[test]
fn pages_that_were_not_read_are_not_called_intact() {
    let tree = demo();
    let helper = "Demo.app/Contents/MacOS/helper";
    flip(&tree, helper, 5000);
    let text = tree.run(["code", "verify", "Demo.app"]).succeeds().stdout().to_owned();
    for line in [
        "  arm64   bytes not read (0 of 3 pages)",
        "exactly the code that was sealed: by its CDHash, no page read\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    for arguments in [["--offset", "99999999999"], ["--offset", "20100"], ["--sample", "0"]] {
        let said = tree.run(["code", "verify"].iter().chain(&arguments).chain(&[EXECUTABLE]));
        assert_eq!(said.ends(2).stdout(), "", "{arguments:?}");
    }
}

#[test]
fn quietly_only_what_is_wrong_is_told() {
    let tree = demo();
    flip(&tree, "Demo.app/Contents/MacOS/helper", 5000);
    let said = tree.run(["code", "verify", "-q", "--deep", "Demo.app"]).ends(3);
    let text = said.stdout();
    assert!(text.contains("helper\n") && text.contains("bytes damaged"), "{text}");
    assert!(!text.contains("intact") && !text.contains("resources as sealed"), "{text}");
    assert!(!text.contains("Kit.framework"), "{text}");
    for verb in ["show", "cost"] {
        assert_eq!(tree.run(["code", verb, "-q", "Demo.app"]).succeeds().stdout(), "");
    }
}

/// A main executable binds `Info.plist` and the resources: by itself it says nothing of them.
#[test]
fn a_main_executable_is_verified_as_its_bundle() {
    let tree = demo();
    tree.edit("Demo.app/Contents/Resources/a.txt");
    for path in [EXECUTABLE, "Demo.app/Contents/../Contents/MacOS/demo"] {
        let said = tree.run(["code", "verify", path]).ends(3);
        assert!(said.stdout().contains("failure  resource-modified  "), "{}", said.stdout());
    }
    let said = tree.run(["code", "verify", EXECUTABLE]).ends(3);
    let changed =
        "Demo.app: Refused: `Contents/Resources/a.txt` was changed after it was sealed.\n";
    assert!(said.stdout().starts_with(changed), "{}", said.stdout());
    let kit = "Demo.app/Contents/Frameworks/Kit.framework";
    let data = format!("{kit}/Versions/A/Resources/data.txt");
    tree.edit(&data);
    for path in ["Kit", "Versions/A/Kit", "Versions/Current/Kit"] {
        let said = tree.run(["code", "verify", &format!("{kit}/{path}")]).ends(3);
        assert!(said.stdout().contains(&data), "{}", said.stdout());
    }
    // A helper is code by itself.
    let said = tree.run(["code", "verify", "Demo.app/Contents/MacOS/helper"]).succeeds();
    assert!(said.stdout().starts_with("Demo.app/Contents/MacOS/helper: "), "{}", said.stdout());
}

#[test]
fn what_is_bound_and_not_there_is_told_and_refused_if_strict() {
    let tree = demo();
    std::fs::rename(tree.path(EXECUTABLE), tree.path("demo")).unwrap();
    let said = tree.run(["code", "verify", "demo"]).succeeds();
    for line in [
        "  warning  slot-unchecked  arm64: Info.plist is sealed",
        "  warning  slot-unchecked  arm64: CodeResources is sealed",
        " What was checked is as it was sealed. Files that are sealed with it were not checked.\n",
    ] {
        assert!(said.stdout().contains(line), "{line}: {}", said.stdout());
    }
    let said = tree.run(["code", "verify", "--strict", "demo"]).ends(2);
    assert!(said.stdout().contains("  unverified  slot-unchecked  "), "{}", said.stdout());
}

/// The sample is intact, by a signer and a time stamp whose roots anybody could make.
#[test]
fn a_signer_who_cannot_be_verified_is_not_accepted() {
    let tree = Tree::new();
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign/signed-tool");
    std::fs::copy(tool, tree.path("tool")).unwrap();
    let said = tree.run(["code", "verify", "--deep", "--strict", "tool"]).ends(2);
    for line in [
        "; signer untrusted: Developer ID Application: Example; policy unverifiable\n",
        "  unverified  signer-root  arm64: the chain ends at Root, not at Apple\n",
        "  unverified  timestamp-untrusted  ",
        "tool: Not verified: the chain ends at Root, not at Apple (2 unverified in all).\n",
    ] {
        assert!(said.stdout().contains(line), "{line}: {}", said.stdout());
    }
    let quiet = tree.run(["code", "verify", "--quiet", "tool"]).ends(2);
    assert!(quiet.stdout().contains("unverified  signer-root"), "{}", quiet.stdout());
}

#[test]
fn conditions_are_asked_by_the_status() {
    let tree = demo();
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign/signed-tool");
    std::fs::copy(tool, tree.path("tool")).unwrap();
    for (arguments, status, reason) in [
        (&["--identifier", "demo", "Demo.app"][..], 0, "Nobody signed it"),
        (&["--identifier", "other", "Demo.app"], 3, "it is not `other`: it is `demo`"),
        (&["--signed", "Demo.app"], 3, "it is not signed: nobody signed it"),
        (&["--team", "TEAM123456", "Demo.app"], 3, "nobody signed it"),
        (&["--anchor", "developer-id", "Demo.app"], 3, "nobody signed it"),
        (&["--notarized", "Demo.app"], 3, "no ticket is stapled"),
        (&["-R", "=identifier \"demo\"", "Demo.app"], 0, "Nobody signed it"),
        (&["-R", "identifier \"other\"", "Demo.app"], 3, "code that meets"),
        (&["-R", "anchor apple", "Demo.app"], 2, "is unknown"),
        (&["--cdhash", "00112233445566778899aabbccddeeff00112233", "Demo.app"], 3, "CDHash"),
        (&["--signed", "tool"], 3, "its certificate leads to no trusted root"),
    ] {
        let said = tree.run(["code", "verify"].iter().chain(arguments)).ends(status);
        let first = said.stdout().lines().next().unwrap();
        assert!(first.contains(reason), "{arguments:?}: {first}");
        let said = tree.run(["code", "verify", "--json"].iter().chain(arguments)).ends(status);
        let objects = said.objects();
        let told = objects.iter().any(|object| object["finding"] == "condition");
        assert_eq!(told, status != 0, "{arguments:?}");
        assert_eq!(objects[0]["outcome"] == "unmet", status == 3, "{arguments:?}");
        let quiet = tree.run(["code", "verify", "-q"].iter().chain(arguments)).ends(status);
        assert_eq!(quiet.stdout().contains(reason), status != 0, "{arguments:?}");
    }
    for wrong in
        [["--cdhash", "00"], ["-R", "identifier"], ["--anchor", "other"], ["--trust", "gone"]]
    {
        let said = tree.run(["code", "verify"].iter().chain(&wrong).chain(&["Demo.app"])).ends(2);
        assert_eq!(said.stdout(), "", "{wrong:?}");
    }
    let help = tree.run(["code", "verify", "--help"]).succeeds();
    assert!(help.stdout().contains("\n             3 something is not as sealed"));
}

#[test]
fn a_folder_is_searched_for_code() {
    let tree = demo().file("text", b"no code");
    flip(&tree, EXECUTABLE, 5000);
    std::fs::copy(tree.path("Demo.app/Contents/MacOS/helper"), tree.path("tool")).unwrap();
    let said = tree.run(["code", "verify", "."]).ends(3);
    assert!(said.stdout().starts_with("./Demo.app: Refused: it was changed"), "{}", said.stdout());
    assert!(said.stdout().contains("\n./tool: Nobody signed it"), "{}", said.stdout());
    let pack = ["-czf", "all.tgz", "Demo.app", "tool"];
    let packed = Command::new("tar").args(pack).current_dir(tree.path("")).status();
    assert!(packed.unwrap().success());
    let said = tree.run(["code", "verify", "--json", "all.tgz"]).ends(3);
    let paths: Vec<Value> = said.objects().iter().map(|object| object["path"].clone()).collect();
    assert!(paths.contains(&"all.tgz/tool".into()), "{paths:?}");
    assert!(paths.contains(&"all.tgz/Demo.app".into()), "{paths:?}");
}

#[test]
fn a_package_is_verified_shown_and_priced() {
    let tree = Tree::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/codesign");
    for name in ["signed.pkg", "signed.pem"] {
        std::fs::copy(samples.join(name), tree.path(name)).unwrap();
    }
    let said = tree.run(["code", "verify", "signed.pkg"]).ends(2);
    let first = "signed.pkg: Not verified: the chain ends at Root, not at Apple";
    assert!(said.stdout().starts_with(first), "{}", said.stdout());
    let trusting = ["code", "verify", "--trust", "signed.pem", "signed.pkg"];
    let said = tree.run(trusting).succeeds();
    let first = "signed.pkg: Signed by Developer ID Installer: Example. Everything that was sealed";
    assert!(said.stdout().starts_with(first), "{}", said.stdout());
    let said = tree.run([&trusting[..], &["--json", "--team", "TEAM123456"]].concat()).succeeds();
    assert_eq!(said.objects()[0]["code"], "package");
    assert_eq!(said.objects()[1]["bytes"]["state"], "intact");
    let price = tree.run(["code", "cost", "--json", "signed.pkg"]).succeeds();
    assert_eq!(price.objects()[0]["read_bytes"], said.summary()["read_bytes"]);
    let shown = tree.run(["code", "show", "signed.pkg"]).succeeds();
    for line in
        ["kind          installer package\n", "files         2\n", "signature     untrusted\n"]
    {
        assert!(shown.stdout().contains(line), "{}", shown.stdout());
    }
    let length = std::fs::metadata(tree.path("signed.pkg")).unwrap().len() as usize;
    flip(&tree, "signed.pkg", length - 1);
    let said = tree.run(trusting).ends(3);
    let first = "signed.pkg: Refused: `Payload` was changed after it was signed by Developer ID";
    assert!(said.stdout().starts_with(first), "{}", said.stdout());
}

/// Whoever looks at the last line alone learns that not everything was looked into.
#[test]
fn the_last_line_counts_what_was_not_looked_into() {
    let tree = demo();
    std::fs::create_dir(tree.path("in")).unwrap();
    std::fs::rename(tree.path("Demo.app"), tree.path("in/Demo.app")).unwrap();
    let whole = tree.run(["code", "verify", "in"]).succeeds();
    assert!(!whole.stdout().contains("not looked into"), "{}", whole.stdout());
    for (name, bytes) in [("in/a.7z", &b"7z\xbc\xaf\x27\x1c..."[..]), ("in/b.iso", b"anything")] {
        std::fs::write(tree.path(name), bytes).unwrap();
    }
    let told = tree.run(["code", "verify", "in"]).ends(2);
    let last = told.stdout().lines().last().unwrap().to_owned();
    assert_eq!(last, "1 piece of code, 2 files that were not looked into");
    assert!(told.stderr().contains("in/a.7z`: a 7z archive: it was not looked into"));
    let quiet = tree.run(["code", "verify", "--quiet", "in"]).ends(2);
    assert_eq!(quiet.stdout().trim_end(), last);
    let json = tree.run(["code", "verify", "--json", "--team", "X", "in"]).ends(3).objects();
    let summary = &json.last().unwrap()["summary"];
    assert_eq!([&summary["codes"], &summary["not_read"], &summary["failed"]], [1, 2, 0]);
}

#[test]
fn findings_are_written_as_sarif() {
    let tree = demo();
    flip(&tree, EXECUTABLE, 5000);
    std::fs::write(tree.path("a b.7z"), b"7z\xbc\xaf\x27\x1c...").unwrap();
    for _ in 0..2 {
        tree.run(["code", "verify", "--sarif", "out.sarif", "Demo.app", "a b.7z"]).ends(3);
    }
    let log: Value =
        serde_json::from_slice(&std::fs::read(tree.path("out.sarif")).unwrap()).unwrap();
    let run = &log["runs"][0];
    assert_eq!((&log["version"], &run["invocations"][0]["exitCode"]), (&"2.1.0".into(), &3.into()));
    let results = run["results"].as_array().unwrap();
    let damaged = results.iter().find(|result| result["ruleId"] == "page-damaged").unwrap();
    let place = &damaged["locations"][0]["physicalLocation"];
    assert_eq!(
        (&damaged["level"], &place["artifactLocation"]["uri"]),
        (&"error".into(), &"Demo.app".into())
    );
    assert!(place["region"]["byteOffset"].as_u64().unwrap() <= 5000, "{place}");
    let left_out = results.iter().find(|result| result["ruleId"] == "not-opened").unwrap();
    let uri = &left_out["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "a%20b.7z");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(results.iter().all(|result| rules.iter().any(|rule| rule["id"] == result["ruleId"])));
    // Another file of that name is kept.
    std::fs::write(tree.path("notes"), "mine").unwrap();
    tree.run(["code", "verify", "--sarif", "notes", "Demo.app"]).ends(2);
    assert_eq!(std::fs::read(tree.path("notes")).unwrap(), b"mine");
}
