//! What the names of a list are relative to: from any working directory, for any place of the list.

use std::fs;
use std::process::{Command, Stdio};

use crate::exchange::FORMATS;
use crate::tree::{Outcome, Tree};

/// A shell's line in a tree, with the command as `$S`.
fn shell(tree: &Tree, line: &str) -> Outcome {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(tree.path(".")).env("S", crate::tree::PROGRAM);
    Outcome::of(command.stdin(Stdio::null()))
}

/// `photos` has three tagged files; `lists` and `away` are empty.
fn photos(nested: bool) -> Tree {
    let last = if nested { "photos/sub/c" } else { "photos/c" };
    let tree = Tree::new().file("photos/a", b"a").file("photos/b", b"b").file(last, b"c");
    tree.run(["tag", "photos"]).succeeds();
    fs::create_dir(tree.path("lists")).unwrap();
    fs::create_dir(tree.path("away")).unwrap();
    tree
}

fn intact(said: &Outcome) -> u64 {
    said.summary()["verdicts"]["intact"].as_u64().unwrap()
}

#[test]
fn what_is_exported_can_be_checked_as_the_help_says() {
    // The working directory, PATH and LIST of the export; those of the check, and its PATH.
    const WAYS: [[&str; 6]; 8] = [
        ["photos", ".", "LIST", "photos", "LIST", ""],
        ["photos", ".", "LIST", ".", "photos/LIST", ""],
        ["photos", ".", "../lists/LIST", "photos", "../lists/LIST", ""],
        ["photos", ".", "../LIST", "away", "../LIST", "../photos"],
        [".", "photos", "photos/LIST", "away", "$PWD/../photos/LIST", ""],
        [".", "photos", "LIST", ".", "LIST", "photos"],
        ["away", "$PWD/../photos", "LIST", "away", "LIST", "$PWD/../photos"],
        [".", "photos", "lists/LIST", "photos", "- < ../lists/LIST", ""],
    ];
    for (format, algorithm) in FORMATS {
        for [from, path, list, at, checked, root] in WAYS {
            let tree = photos(format != "chkbit");
            let reading = algorithm.map_or(String::new(), |it| format!("--read --algorithm {it}"));
            let export =
                format!("cd {from} && $S export --format {format} {reading} {path} > {list}");
            let exported = shell(&tree, &export).succeeds();
            assert_eq!(exported.stderr(), "", "{format}: {export}");
            let check = format!("cd {at} && $S check --json --manifest {checked} {root}");
            let said = shell(&tree, &check).succeeds();
            assert_eq!(intact(&said), 3, "{format}: {export}; {check}: {}", said.stdout());
            fs::remove_file(tree.path("photos/a")).unwrap();
            let said = shell(&tree, &check).ends(1);
            assert_eq!(said.summary()["verdicts"]["missing"], 1, "{format}: {check}");
            assert_eq!(intact(&said), 2, "{format}: {check}");
        }
    }
}

#[test]
fn it_is_said_which_folder_was_searched_and_what_to_type() {
    let tree = photos(true);
    shell(&tree, "cd photos && $S export --format gnu . > ../lists/sums").succeeds();
    // The list's folder has none of the names and the working directory has.
    let said = shell(&tree, "cd photos && $S check --quiet --manifest ../lists/sums").succeeds();
    let text = said.stderr();
    assert!(text.contains("relative to the working directory"), "even with --quiet: {text}");
    assert!(text.contains("none is in its folder `../lists`"), "{text}");
    // Neither has.
    let said = shell(&tree, "cd away && $S check --manifest ../lists/sums").ends(1);
    let text = said.stderr();
    assert!(text.contains("in `../lists` or in the working directory"), "{text}");
    assert!(text.contains("`steadfast check --manifest ../lists/sums DIR`"), "{text}");
    assert!(said.stdout().contains("missing"), "it is not accepted: {}", said.stdout());
    // What is typed holds, whatever else would fit.
    let said = shell(&tree, "cd photos && $S check --manifest ../lists/sums ../away").ends(1);
    assert!(said.stderr().contains("in `../away`: give the folder"), "{}", said.stderr());
    // Both have: the list's folder is searched.
    let tree = tree.file("lists/a", b"other");
    let said = shell(&tree, "cd photos && $S check --json --manifest ../lists/sums").ends(1);
    assert_eq!(said.summary()["verdicts"]["missing"], 2, "{}", said.stdout());
    assert!(said.stderr().contains("type `steadfast check --manifest ../lists/sums .`"));
}

#[test]
fn an_import_finds_the_folder_and_believes_nothing_of_a_guess() {
    let tree = photos(true);
    shell(&tree, "cd photos && $S export --format gnu . > ../lists/sums").succeeds();
    tree.run(["untag", "photos"]).succeeds();
    let trusting = "cd photos && $S import --trust ../lists/sums";
    let said = shell(&tree, trusting).ends(2);
    assert!(said.stderr().contains("`steadfast import ../lists/sums DIR`"), "{}", said.stderr());
    let said = shell(&tree, "cd photos && $S import --json ../lists/sums").succeeds();
    assert_eq!(said.summary()["actions"]["tagged"], 3, "{}", said.stdout());
    tree.run(["untag", "photos"]).succeeds();
    let said = shell(&tree, "cd photos && $S import --json - < ../lists/sums").succeeds();
    assert_eq!(said.summary()["actions"]["tagged"], 3, "{}", said.stdout());
}

#[test]
fn lists_come_from_pipes_as_well() {
    let tree = photos(true);
    let export = "$S export --format steadfast photos";
    let said = shell(&tree, &format!("{export} | $S check --json --manifest - photos")).succeeds();
    assert_eq!(intact(&said), 3, "{}", said.stdout());
    let said = shell(&tree, "cd photos && $S export --format gnu . | $S check --json --manifest -");
    assert_eq!(intact(&said.succeeds()), 3);
    shell(&tree, &format!("{export} | $S diff photos -")).succeeds();
    shell(
        &tree,
        &format!("{export} > list && mkfifo fifo && (cat list > fifo & $S diff photos fifo)"),
    )
    .succeeds();
    shell(&tree, "cat list > fifo & $S check --manifest fifo photos").succeeds();
    tree.corrupt("photos/a");
    shell(&tree, "$S check --manifest - photos < list").ends(3);
    // An empty one names nothing, and one of no format is refused.
    shell(&tree, "$S check --manifest - --format gnu photos < /dev/null").ends(2);
    let said = shell(&tree, "echo nonsense | $S check --manifest - photos").ends(2);
    assert!(said.stderr().contains("specify it with --format"), "{}", said.stderr());
}

#[test]
fn the_document_leaves_itself_out() {
    let tree = photos(true);
    for format in ["gnu", "steadfast"] {
        for read in ["", "--read"] {
            let export = format!("cd photos && $S export --format {format} {read} . > list");
            let said = shell(&tree, &export).succeeds();
            assert_eq!(said.stderr(), "", "it has no tag and needs none");
            shell(&tree, "cd photos && $S check --manifest list").succeeds();
            assert!(!fs::read_to_string(tree.path("photos/list")).unwrap().contains("list\""));
            fs::remove_file(tree.path("photos/list")).unwrap();
        }
    }
}

#[test]
fn digests_leave_out_the_file_that_they_go_to() {
    let tree = photos(true);
    let said = shell(&tree, "cd photos && $S hash . > list && $S hash --check list").succeeds();
    assert_eq!(said.stdout().lines().count(), 3, "{}", said.stdout());
    let said = shell(&tree, "cd photos && $S hash a list > list && cat list").succeeds();
    assert_eq!(said.stdout().lines().count(), 2, "what is named is hashed: {}", said.stdout());
}

#[test]
fn a_list_that_is_checked_from_elsewhere_says_where_its_files_are() {
    let tree = photos(true);
    shell(&tree, "cd photos && $S hash a b > list").succeeds();
    let said = shell(&tree, "$S hash --check photos/list").ends(1);
    assert!(
        said.stderr().contains("`steadfast check --manifest photos/list`"),
        "{}",
        said.stderr()
    );
    shell(&tree, "$S check --manifest photos/list").succeeds();
}
