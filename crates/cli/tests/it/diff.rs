//! `diff` from outside: what it prints, and its statuses.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use crate::tree::{Outcome, Tree};

/// `a` with tagged files, and `b`, a copy that keeps everything.
fn copied() -> Tree {
    let tree = Tree::new().file("a/x", b"alpha").file("a/sub/y", b"beta").file("a/z", b"gamma");
    tree.run(["tag", "a"]).succeeds();
    copy(&tree);
    tree
}

fn copy(tree: &Tree) {
    let status = Command::new("cp").arg("-a").args([tree.path("a"), tree.path("b")]).status();
    assert!(status.unwrap().success());
}

/// The difference that JSON gives for a path.
fn difference(outcome: &Outcome, path: &str) -> Option<String> {
    let objects = outcome.objects();
    let object = objects.iter().find(|object| object["path"] == path)?;
    object["difference"].as_str().map(str::to_owned)
}

#[test]
fn a_faithful_copy() {
    let tree = copied();
    let said = tree.run(["diff", "a", "b"]).succeeds();
    assert!(said.stdout().starts_with("compared a with b by their tags: 3 files in "));
    assert!(said.stdout().contains("\n  same        3\n"), "{}", said.stdout());
    assert!(said.stdout().ends_with("a faithful copy of the first.\n"), "{}", said.stdout());
    assert_eq!(said.stderr(), "");
    let read = tree.run(["diff", "--read", "a", "b/"]).succeeds();
    let heading = "compared a with b/ by reading both, SHA-256: 3 files, 28 B in ";
    assert!(read.stdout().starts_with(heading), "{}", read.stdout());
    let quiet = tree.run(["diff", "-q", "a", "b"]).succeeds();
    assert_eq!(quiet.stdout(), "");
}

#[test]
fn findings_come_first_and_sides_are_called_by_their_paths() {
    let tree = copied().file("b/new", b"new");
    std::fs::write(tree.path("b/x"), b"longer than alpha").unwrap();
    std::fs::rename(tree.path("b/z"), tree.path("b/sub/moved")).unwrap();
    tree.run(["untag", "b/sub/y"]).succeeds();
    std::fs::write(tree.path("a/here"), b"h").unwrap();
    let said = tree.run(["diff", "a", "b"]).ends(1);
    let text = said.stdout();
    for line in [
        "different   x  (5 bytes in a, 17 bytes in b)\n",
        "only here   a/here\n",
        "only there  b/new\n",
        "tag lost    sub/y  (contents not read)\n",
        "moved       z -> sub/moved\n",
        "\n  different   1\n  only here   1\n  only there  1\n  tag lost    1\n  moved       1\n",
        "The second is not a faithful copy of the first.\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let csv = tree.run(["diff", "--csv", "a", "b"]).ends(1);
    let header = "path,path_b64,kind,difference,moved_to,moved_to_b64,doubt,a_length,";
    assert!(csv.stdout().starts_with(header), "{}", csv.stdout());
    assert!(csv.stdout().contains("\nz,,,moved,sub/moved,,,5,"), "{}", csv.stdout());
    let json = tree.run(["diff", "--json", "a", "b"]).ends(1);
    assert_eq!(difference(&json, "x").as_deref(), Some("different"));
    let moved = json.objects().into_iter().find(|object| object["path"] == "z").unwrap();
    assert_eq!(moved["moved_to"]["path"], "sub/moved");
    assert_eq!(moved["a"]["stored"]["digest"], moved["b"]["stored"]["digest"]);
    assert_eq!(json.summary()["differences"]["tag_lost"], 1);
    assert_eq!(json.summary()["exit_status"], 1);
}

#[test]
fn what_cannot_be_told_says_how_to_find_out() {
    let tree = copied();
    tree.touch("b/x");
    let said = tree.run(["diff", "a", "b"]).ends(2);
    let line = "unknown     x  (changed after it was tagged, in b)\n";
    assert!(said.stdout().starts_with(line), "{}", said.stdout());
    assert!(said.stdout().ends_with("to read both sides: steadfast diff --read A B\n"));
    let read = tree.run(["diff", "--read", "--json", "a", "b"]).succeeds();
    assert_eq!(difference(&read, "x").as_deref(), Some("same"));
    assert_eq!(read.summary()["times_differ"], 1);
    assert_eq!(read.summary()["algorithm"], "sha256");
}

#[test]
fn decay_is_found_by_reading_and_laid_at_the_right_door() {
    let tree = copied();
    tree.corrupt("b/x");
    tree.run(["diff", "a", "b"]).succeeds();
    let said = tree.run(["diff", "--read", "a", "b"]).ends(1);
    let line = "different   x  (5 bytes with other contents; corrupt in b, by its tag)\n";
    assert!(said.stdout().starts_with(line), "{}", said.stdout());
}

/// On this answer one decides which side to throw away.
#[test]
fn what_a_check_found_damaged_is_never_a_faithful_copy() {
    let tree = Tree::new().file("a/x", b"alpha").file("a/sub/y", b"beta").file("a/z", b"gamma");
    tree.run(["init", "a"]).succeeds();
    copy(&tree);
    tree.run(["init", "--rebind", "b"]).succeeds();
    tree.run(["diff", "a", "b"]).succeeds();
    tree.corrupt("b/sub/y");
    tree.run(["check", "b"]).ends(3);
    let said = tree.run(["diff", "a", "b"]).ends(1);
    let line = "unknown     sub/y  (what it contains now was not compared; corrupt in b, as the \
                last check found)\n";
    assert!(said.stdout().starts_with(line), "{}", said.stdout());
    let mends = "damaged in b: 1 file. To mend: steadfast repair --from a b\n";
    assert!(said.stdout().contains(mends), "{}", said.stdout());
    let json = tree.run(["diff", "--json", "a/sub", "b/sub"]).ends(1);
    assert_eq!(difference(&json, "y").as_deref(), Some("unknown"));
    assert_eq!(json.summary()["damaged_b"], 1);
    // The other way round, and when it is mended.
    tree.run(["diff", "b", "a"]).ends(1);
    tree.run(["repair", "--yes", "--from", "a", "b"]).succeeds();
    tree.run(["diff", "a", "b"]).succeeds();
}

#[test]
fn hostile_names_are_escaped_in_text_and_exact_in_json() {
    let name = OsStr::from_bytes(b"\x1b[31m\xff\n");
    let tree = Tree::new().file("a/z", b"z").file(OsStr::from_bytes(b"a/\x1b[31m\xff\n"), b"x");
    tree.run(["tag", "a"]).succeeds();
    copy(&tree);
    std::fs::rename(tree.path("b").join(name), tree.path("b").join("new\rname")).unwrap();
    let said = tree.run(["diff", "a", "b"]).ends(1);
    let line = "moved       \\x1b[31m\\xff\\n -> new\\rname\n";
    assert!(said.stdout().starts_with(line), "{}", said.stdout());
    let json = tree.run(["diff", "--json", "a", "b"]).ends(1);
    assert!(!json.stdout().contains('\x1b'));
    let moved = json.objects().into_iter().find(|one| one["difference"] == "moved").unwrap();
    assert_eq!(moved["path_b64"], "G1szMW3/Cg==");
    assert_eq!(moved["moved_to"]["path"], "new\rname");
}

#[test]
fn excludes_hold_on_both_sides() {
    let tree = copied().file("a/x.tmp", b"1").file("b/sub/y.tmp", b"2");
    tree.run(["diff", "a", "b"]).ends(1);
    tree.run(["diff", "--exclude", "*.tmp", "a", "b"]).succeeds();
}

#[test]
fn what_makes_no_sense_is_refused() {
    let tree = copied();
    for (arguments, told) in [
        (&["diff", "a"][..], "<B>"),
        (&["diff", "a", "a"], "the same folder"),
        (&["diff", "a", "gone"], "gone"),
        (&["diff", "a/x", "b"], "not a directory"),
        (&["diff", "--algorithm", "sha512", "a", "b"], "--algorithm needs --read"),
        (&["diff", "--trace", "t", "a", "b"], "cannot be traced"),
        (&["diff", "--exclude", "[z-a]", "a", "b"], "[z-a]"),
    ] {
        let refused = tree.run(arguments).ends(2);
        assert!(refused.stderr().contains(told), "{arguments:?}: {}", refused.stderr());
        assert_eq!(refused.stdout(), "", "{arguments:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let mut tree = Tree::new();
    for number in 0..2_000 {
        tree = tree.file(format!("a/{number:040}"), b"x");
    }
    std::fs::create_dir(tree.path("b")).unwrap();
    let mut command = tree.command(["diff", "a", "b"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn help_tells_examples_and_statuses() {
    let tree = Tree::new();
    for verb in ["diff", "known"] {
        let help = tree.run([verb, "--help"]).succeeds();
        assert!(help.stdout().contains("\nExamples:\n  "), "{verb}");
        assert!(help.stdout().contains("\nExit status: 0 "), "{verb}");
    }
}
