//! `audit` from outside: its page, its statuses, and what it exports.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use steadfast::catalogue::{Catalogue, LockRequest, Observation, RunScope, RunStart};
use steadfast::tag::TagPlace;
use steadfast::{
    Action, Algorithm, Digest, FilePath, Selection, Subject, Tag, Timestamp, VerbKind, Verdict,
};
use steadfast_sys::file::Status;

use crate::history::kept;
use crate::tree::{Outcome, Tree};

/// Some days before now.
fn ago(days: i64) -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp { seconds: now.as_secs() as i64 - days * 86_400, nanoseconds: 0 }
}

/// Enters a run into a tree's catalogue as if it had been made some days ago. A run that tags
/// tags every file, any other finds every file intact.
fn enter_run(tree: &Tree, names: &[&str], verb: &str, read_from: &str, days: i64) {
    let now = ago(days);
    // The tests beside this one start programs; between fork and exec these hold the lock too.
    let stop = AtomicBool::new(false);
    let verb: VerbKind = verb.parse().unwrap();
    let writer = LockRequest { verb, now, wait: Some(&stop) };
    let root = tree.path("").canonicalize().unwrap();
    let file = root.join(".steadfast/catalogue.sqlite");
    let catalogue = match file.exists() {
        true => Catalogue::open_writer(&file, &writer).unwrap(),
        false => Catalogue::create(&root, None, &writer).unwrap(),
    };
    let selection = Selection::of([root.clone()]);
    let scope = RunScope::of(&root, &selection);
    let read_from = Some(read_from.parse().unwrap());
    let begin = RunStart { verb, read_from, backend: "test x1", now, accepts: false };
    let mut recorder = catalogue.recorder(scope, &begin).unwrap();
    for (content, name) in (1..).zip(names) {
        let whole = root.join(name);
        let (parent, name) = (whole.parent().unwrap(), whole.file_name().unwrap());
        let status = Status::of_link(&whole).unwrap();
        let tag = Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[content; 32]).unwrap(),
            length: status.length,
            mtime: status.mtime,
            tagged: ago(500),
        };
        let tags = verb == VerbKind::Tag;
        let observation = Observation {
            path: &FilePath { parent: Arc::from(parent), name: name.to_owned() },
            subject: Subject::File,
            status: Some(status),
            verdict: (!tags).then_some(Verdict::Intact),
            action: tags.then_some(Action::Tagged),
            stored: (!tags).then_some(tag),
            actual: Some(tag),
            place: TagPlace::Attribute,
            attributes: None,
        };
        recorder.observe(&observation, &mut |_| ()).unwrap();
    }
    recorder.finish(true, now, &mut |_| ()).unwrap();
}

fn proved(said: &Outcome, days: u64) -> (u64, u64) {
    let summary = said.summary();
    let windows = summary["windows"].as_array().unwrap();
    let window = windows.iter().find(|window| window["days"] == days).unwrap();
    (window["files"].as_u64().unwrap(), window["bytes"].as_u64().unwrap())
}

#[test]
fn a_tree_that_was_just_checked_is_all_proved() {
    let tree = kept();
    let said = tree.run(["status", "--audit"]).succeeds();
    let text = said.stdout();
    assert!(text.starts_with("Fixity audit of /"), "{text}");
    assert!(text.contains("  3 files  with a tag  14 B\n"), "{text}");
    assert!(text.ends_with("\nNothing ever failed.\n"), "{text}");
    let said = tree.run(["status", "--audit", "--json", "sub"]).succeeds();
    assert_eq!(said.summary()["tagged"], 3, "the audit is of the whole tree");
    assert_eq!(proved(&said, 7), (3, 14));
    assert_eq!(said.summary()["never"]["files"], 0);
}

#[test]
fn a_tag_is_no_fixity_check() {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag", "."]).succeeds();
    let said = tree.run(["status", "--audit"]).succeeds();
    assert!(said.stdout().contains("no run compared anything"), "{}", said.stdout());
    let premis = tree.run(["status", "--audit", "--premis"]).succeeds();
    assert_eq!(premis.stdout().matches("digest calculation</eventType>").count(), 3);
    assert!(!premis.stdout().contains("fixity check"), "{}", premis.stdout());
}

#[test]
fn decay_is_status_three_until_it_is_settled() {
    let tree = kept();
    tree.corrupt("a");
    tree.run(["check", "."]).ends(3);
    let said = tree.run(["status", "--audit"]).ends(3);
    let text = said.stdout();
    assert!(text.contains("\nFailed and not settled\n  corrupt "), "{text}");
    assert!(text.ends_with("\n1 failure is not settled.\n"), "{text}");
    tree.run(["status", "--audit", "--json"]).ends(3);
    tree.corrupt("a");
    tree.run(["check", "."]).succeeds();
    let said = tree.run(["status", "--audit"]).succeeds();
    assert!(said.stdout().contains("\nSettled since: 1 corrupt\n"), "{}", said.stdout());
    assert!(said.stdout().ends_with("\nEverything that failed is settled.\n"));
    let said = tree.run(["status", "--audit", "--verbose"]).succeeds();
    assert!(said.stdout().contains("  a  (settled: fine)\n"), "{}", said.stdout());
}

#[test]
fn edits_and_losses_are_status_one_until_they_are_accepted() {
    let tree = kept();
    tree.edit("a");
    fs::remove_file(tree.path("b")).unwrap();
    tree.run(["check", "."]).ends(1);
    let said = tree.run(["status", "--audit", "--json"]).ends(1);
    assert_eq!(said.summary()["failures"]["open"]["modified"], 1);
    assert_eq!(said.summary()["failures"]["open"]["missing"], 1);
    tree.run(["update", "."]).ends(1);
    let said = tree.run(["status", "--audit", "--json"]).ends(1);
    assert_eq!(said.summary()["failures"]["settled"]["modified"], 1);
    tree.run(["update", "--accept-missing", "."]).succeeds();
    let said = tree.run(["status", "--audit", "--json"]).succeeds();
    assert_eq!(said.summary()["failures"]["open"], serde_json::json!({}));
}

#[test]
fn what_is_overdue_is_listed_with_its_last_proof() {
    let tree = Tree::small();
    let names = ["a", "b", "sub/c"];
    enter_run(&tree, &names, "tag", "cache", 300);
    enter_run(&tree, &names, "check", "cache", 100);
    enter_run(&tree, &names, "check", "media", 40);
    let said = tree.run(["status", "--audit", "--days", "30,60,120", "--json"]).succeeds();
    assert_eq!([30, 60, 120].map(|days| proved(&said, days).0), [0, 3, 3]);
    let windows = &said.summary()["windows"];
    assert_eq!(
        (&windows[1]["read_media_bytes"], &windows[1]["read_cache_bytes"]),
        (&14.into(), &0.into())
    );
    assert_eq!(windows[2]["read_cache_bytes"], 14);
    tree.run(["status", "--audit", "--overdue", "60"]).succeeds();
    let said = tree.run(["status", "--audit", "--overdue", "30"]).ends(1);
    let text = said.stdout();
    assert!(text.contains("\nOverdue: not proved within 30 days\n  20"), "{text}");
    assert!(text.ends_with("3 files are overdue.\n"), "{text}");
    let csv = tree.run(["status", "--audit", "--overdue", "30", "--csv"]).ends(1);
    let rows = csv.stdout().lines().filter(|row| row.starts_with("overdue,")).count();
    assert_eq!(rows, 3);
}

#[test]
fn a_damaged_catalogue_is_status_two() {
    let tree = kept();
    let said = tree.run(["status", "--audit", "--verify"]).succeeds();
    assert!(said.stdout().contains("  sound: every seal"), "{}", said.stdout());
    let file = tree.path(".steadfast/catalogue.sqlite");
    fs::write(&file, b"no catalogue at all").unwrap();
    for arguments in [
        vec!["status", "--audit"],
        vec!["status", "--audit", "--verify"],
        vec!["status", "--audit", "--premis"],
    ] {
        let said = tree.run(&arguments).ends(2);
        assert!(said.stderr().starts_with("steadfast: "), "{}", said.stderr());
    }
    let bare = Tree::small();
    assert!(bare.run(["status", "--audit"]).ends(2).stderr().contains("there is no catalogue"));
}

#[test]
fn the_same_contents_are_found_by_tags() {
    let tree = Tree::small().file("copy of a", b"alpha").file("empty", b"").file("void", b"");
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag", "."]).succeeds();
    let groups = |arguments: &[&str]| {
        let said = tree
            .run(["status", "--audit", "--json", "--duplicates"].iter().chain(arguments))
            .succeeds();
        said.summary()["duplicates"]["groups"].as_u64().unwrap()
    };
    assert_eq!(groups(&[]), 1, "empty files are no waste");
    assert_eq!(groups(&["--min", "6"]), 0);
    let said = tree.run(["status", "--audit", "--duplicates"]).succeeds();
    assert!(said.stdout().contains("    a\n    copy of a\n"), "{}", said.stdout());
    tree.run(["status", "--audit", "--min", "6"]).ends(2);
}

#[test]
fn a_tree_for_archives() {
    let odd = OsStr::from_bytes(b"odd \xff\x1b.jpg");
    let tree = Tree::small().file(odd, b"odd").file("untagged", b"x");
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run([OsStr::new("tag"), "a".as_ref(), "b".as_ref(), "sub".as_ref(), odd]).succeeds();
    tree.run(["check", "."]).succeeds();
    tree.corrupt("a");
    tree.run(["check", "."]).ends(3);
    let said = tree.run(["status", "--audit", "--premis", "."]).ends(3);
    let text = said.stdout();
    assert_eq!(text.matches("<object xsi:type=\"file\">").count(), 4, "{text}");
    assert!(text.contains("<objectIdentifierValue>odd%20%FF%1B.jpg<"), "{text}");
    assert_eq!(text.matches("fixity check</eventType>").count(), 5, "{text}");
    assert_eq!(text.matches(">fail</eventOutcome>").count(), 1, "{text}");
    assert!(text.ends_with("</premis>\n"), "{text}");
    tree.run(["status", "--audit", "--premis", "--overdue", "30"]).ends(2);
    let part = tree.run(["show", "--history", "--premis", "sub"]).succeeds();
    assert_eq!(part.stdout().matches("<object xsi:type=\"file\">").count(), 1);
}

#[test]
fn a_reader_who_goes_away_ends_it_quietly() {
    let tree = kept();
    let mut child = tree
        .command(["status", "--audit", "--premis"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// A catalogue says nothing about a folder that is empty or of another tree.
#[test]
fn the_catalogue_of_an_emptied_or_of_another_tree_is_refused() {
    let tree = kept();
    fs::create_dir_all(tree.path("copy/sub")).unwrap();
    for name in ["a", "b", "sub/c"] {
        fs::copy(tree.path(name), tree.path("copy").join(name)).unwrap();
    }
    fs::create_dir(tree.path("copy/.steadfast")).unwrap();
    let file = ".steadfast/catalogue.sqlite";
    fs::copy(tree.path(file), tree.path("copy").join(file)).unwrap();
    let catalogue = tree.path(file).canonicalize().unwrap();
    for verb in [
        &["status", "--audit", "."][..],
        &["show", "--history", "a"],
        &["status", "--audit", "--premis", "."],
    ] {
        tree.run(verb).succeeds();
        let said = Outcome::of(tree.command(verb).current_dir(tree.path("copy")));
        let said = said.ends(2);
        assert!(said.stdout().is_empty() && said.stderr().contains("--rebind"), "{said:?}");
    }
    for name in ["a", "b", "sub", "copy"] {
        let path = tree.path(name);
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
    let named = ["--catalogue", catalogue.to_str().unwrap()];
    for verb in [&["status", "--audit", "."][..], &["show", "--history", "a"]] {
        let said = tree.run(verb).ends(2);
        assert!(said.stderr().contains("is something not mounted?"), "{said:?}");
        tree.run([verb, &named[..]].concat()).ends(2);
    }
}
