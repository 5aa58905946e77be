//! Runs that find no file, or judge none: an unmounted volume, a copy without attributes, a list of
//! nothing. They never end with status 0 unless that was asked for.

use std::fs;

use crate::tree::Tree;

const NO_FILE: &str = "no file was found: is this the right place, and is it mounted?";
const NO_TAG: &str = "no file here has a tag, so nothing was judged";

/// Runs a command that must fail and say why, with `--quiet` too, and succeed where it is allowed.
#[track_caller]
fn proves_nothing(tree: &Tree, arguments: &[&str], why: &str) {
    let quiet = tree.run(arguments).ends(2);
    assert!(quiet.stderr().contains(why), "{arguments:?}: {}", quiet.stderr());
    tree.run([arguments, &["--allow-empty"]].concat()).succeeds();
}

/// A folder whose files had tags, copied by what drops attributes.
fn copied() -> Tree {
    let (tree, copy) = (Tree::tagged(), Tree::new().file("sub/c", b""));
    for name in ["a", "b", "sub/c"] {
        fs::copy(tree.path(name), copy.path(name)).unwrap();
    }
    copy
}

#[test]
fn an_unmounted_volume_is_no_success() {
    for arguments in [
        &["check", "--quiet", "."][..],
        &["check", "--quiet", "--require-tags"],
        &["update", "--quiet", "."],
        &["update", "--quiet", "--dry-run", "."],
        &["tag", "--quiet", "."],
        &["update", "--quiet", "."],
        &["untag", "--quiet", "."],
        &["show", "--quiet"],
        &["hash", "."],
        &["hash", "--quiet", "."],
        &["import", "--quiet", "--attributes", "."],
        &["export", "--format", "gnu", "."],
        &["export", "--attributes", "shatag", "--quiet"],
        &["check", "--csv", "--quiet"],
    ] {
        proves_nothing(&Tree::new(), arguments, NO_FILE);
    }
}

#[test]
fn neither_is_what_patterns_and_lists_left_nothing_of() {
    let tree = Tree::tagged().file("list/empty", b"");
    for arguments in [
        &["check", "--quiet", "--exclude", "*"][..],
        &["update", "--quiet", "--exclude", "*", "."],
        &["check", "--quiet", "--files-from", "list/empty"],
        &["tag", "--quiet", "--files-from", "list/empty"],
    ] {
        proves_nothing(&tree, arguments, NO_FILE);
    }
    let unnamed = tree.run(["check", "--quiet", "--format", "gnu", "--manifest", "list/empty"]);
    assert!(unnamed.ends(2).stderr().contains("the list names no file"));
}

#[test]
fn a_copy_that_lost_its_tags_is_no_success() {
    let copy = copied();
    for arguments in [
        &["check", "--quiet"][..],
        &["update", "--convert", "--algorithm", "sha512", "--quiet", "."],
    ] {
        proves_nothing(&copy, arguments, NO_TAG);
    }
    assert_eq!(copy.run(["check", "--json"]).ends(2).summary()["exit_status"], 2);
    // One tag among them, and the check has judged something.
    copy.run(["tag", "a"]).succeeds();
    assert_eq!(copy.run(["check", "--quiet"]).succeeds().stderr(), "");
}

#[test]
fn two_empty_sides_are_no_faithful_copy() {
    let tree = Tree::new().file("a/x", b"").file("b/x", b"").file("c/list", b"");
    fs::remove_file(tree.path("a/x")).unwrap();
    fs::remove_file(tree.path("b/x")).unwrap();
    proves_nothing(&tree, &["diff", "--quiet", "a", "b"], NO_FILE);
    let list = ["diff", "--quiet", "--format", "gnu", "c", "c/list"];
    proves_nothing(&tree, &list, "the list names no file");
}

#[test]
fn that_nothing_is_due_is_a_success_and_told() {
    let tree = Tree::tagged();
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["check"]).succeeds();
    let rested = tree.run(["check", "--older-than", "30d"]).succeeds();
    assert_eq!(rested.stderr(), "steadfast: nothing is due\n");
    assert_eq!(tree.run(["check", "--older-than", "30d", "--quiet"]).succeeds().stderr(), "");
}

#[test]
fn nothing_is_due_where_the_catalogue_knows_no_tag_and_that_is_no_success() {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    let why = "the catalogue knows no file with a tag here";
    for arguments in [
        &["check", "--quiet", "--older-than", "30d"][..],
        &["check", "--quiet", "--max-bytes", "1G"],
    ] {
        proves_nothing(&tree, arguments, why);
    }
}

#[test]
fn shards_that_judged_nothing_are_no_success() {
    let tree = Tree::new().file("tree/a", b"untagged");
    tree.run(["check", "tree", "--shard", "0/1", "--result", "r", "-q"]).succeeds();
    proves_nothing(&tree, &["merge", "r", "--quiet"], NO_TAG);
}

#[test]
fn an_audit_of_no_tag_is_no_success() {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    assert!(tree.run(["status", "--audit"]).ends(2).stderr().contains("nothing was verified"));
}

#[test]
fn a_report_says_that_nothing_is_wrong_only_if_all_files_are_intact() {
    let answer = |tree: &Tree, arguments: &[&str]| {
        let page = tree.path("page.md");
        let run = tree.run([arguments, &["--exclude", "page.md", "--report", "page.md"]].concat());
        let text = fs::read_to_string(page).unwrap();
        let answers = ["Nothing is wrong", "No file was judged", "No fault was found"];
        let line = text.lines().find(|line| answers.iter().any(|one| line.contains(one)));
        (run.status, line.unwrap_or_default().to_owned())
    };
    let check = |tree: &Tree| answer(tree, &["check"]);
    assert_eq!(check(&Tree::tagged()), (0, "Nothing is wrong: 3 files are intact.".to_owned()));
    assert_eq!(check(&copied()), (2, "No file was judged.".to_owned()));
    let allowed = answer(&copied(), &["check", "--allow-empty"]);
    assert_eq!(allowed, (0, "No file was judged.".to_owned()));
    let mixed = Tree::tagged().file("new", b"new");
    mixed.touch("a");
    let told = "No fault was found. 2 files are intact, 1 untagged, 1 touched. 1 file was not \
                judged.";
    assert_eq!(check(&mixed), (0, told.to_owned()));
}
