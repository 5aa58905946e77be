//! The list of catalogued trees: a catalogue that was deleted is missed.

use std::fs;

use crate::tree::{Outcome, Tree};

/// `a`, `b` and `sub/c`, catalogued, tagged and checked.
fn kept() -> Tree {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag"]).succeeds();
    tree.run(["check", "--quiet"]).succeeds();
    tree
}

#[test]
fn a_deleted_catalogue_is_told_with_what_to_do() {
    let tree = kept();
    fs::remove_dir_all(tree.path(".steadfast")).unwrap();
    fs::remove_file(tree.path("b")).unwrap();
    let above = tree.path("..").to_str().unwrap().to_owned();
    for arguments in [
        &["check", "--quiet"][..],
        &["check", "--quiet", "sub/c"],
        &["check", "--quiet", "--allow-empty", &above, "--exclude", "*"],
        &["update", "--quiet"],
        &["tag", "--quiet"],
    ] {
        let told = tree.run(arguments).ends(2);
        for words in ["its catalogue `", "` is gone", "steadfast init /", "init --forget /"] {
            assert!(told.stderr().contains(words), "{arguments:?}: {}", told.stderr());
        }
        assert_eq!(told.stderr().lines().count(), 1, "{}", told.stderr());
    }
    // Who wants none, says so.
    tree.run(["check", "--quiet", "--no-catalogue"]).succeeds();
    tree.run(["init", "--forget"]).succeeds();
    assert_eq!(tree.run(["check", "--quiet"]).succeeds().stderr(), "");
    assert!(tree.run(["init", "--forget"]).ends(2).stderr().contains("has no `/"));
}

#[test]
fn another_catalogue_settles_it() {
    let tree = kept();
    fs::remove_dir_all(tree.path(".steadfast")).unwrap();
    tree.run(["check", "--quiet"]).ends(2);
    tree.run(["init", "--tags-only", "."]).succeeds();
    assert_eq!(tree.run(["check", "--quiet"]).succeeds().stderr(), "");
}

#[test]
fn only_what_a_person_does_enters_a_tree() {
    let tree = kept();
    let list = tree.state("steadfast/trees");
    let before = fs::read_to_string(&list).unwrap();
    assert!(before.starts_with("steadfast trees 1\n") && before.lines().count() == 2, "{before}");
    fs::remove_file(&list).unwrap();
    for verb in [&["check"][..], &["update"], &["tag"], &["status", "."], &["repair", "--dry-run"]]
    {
        tree.run(verb).succeeds();
        assert!(!list.exists(), "{verb:?}");
    }
    let config = tree.state("config");
    let timer = ["schedule", "add", ".", "--timer", "manual"];
    for verb in [&["init", "."][..], &["init", "--rebind", "."], &timer] {
        Outcome::of(tree.command(verb).env("XDG_CONFIG_HOME", &config)).succeeds();
        assert_eq!(fs::read_to_string(&list).unwrap(), before, "{verb:?}");
        fs::write(&list, b"\xff\0 no list\n\n").unwrap();
    }
    let gone = tree.path("gone");
    fs::create_dir(&gone).unwrap();
    tree.run(["init", "gone"]).succeeds();
    fs::remove_dir_all(&gone).unwrap();
    tree.run(["init", "--forget", "gone"]).succeeds();
}

#[test]
fn a_list_that_cannot_be_kept_fails_nothing() {
    let tree = Tree::small().file("state/steadfast", b"a file where the folder would be");
    for state in [tree.path("state").as_path(), "/dev/null".as_ref(), "relative".as_ref()] {
        let run = |arguments: &[&str]| {
            Outcome::of(
                tree.command(arguments)
                    .env("STEADFAST_IGNORE_CTIME", "1")
                    .env("XDG_STATE_HOME", state)
                    .env("HOME", "/dev/null"),
            )
        };
        run(&["init", "--tags-only", "."]).succeeds();
        run(&["tag"]).succeeds();
        assert_eq!(run(&["check", "--quiet"]).succeeds().stderr(), "");
        fs::remove_dir_all(tree.path(".steadfast")).unwrap();
    }
}
