//! `steadfast init`: one command that makes the catalogue and records every file.

use crate::tree::Tree;

fn state(tree: &Tree) -> String {
    let said = tree.run(["status", "--json"]);
    said.objects()[0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn it_records_every_file_and_says_what_is_next() {
    let tree = Tree::small();
    let said = tree.run(["init", "--progress", "always", "."]).succeeds();
    assert_eq!(said.stderr(), "3 files to read, 14 B\n");
    assert!(said.stdout().starts_with("looked at 3 files: 3 tagged\n"), "{}", said.stdout());
    assert!(said.stdout().contains("\nEvery file is recorded. Next:\n  steadfast check ."));
    assert_eq!(state(&tree), "recorded");
    let again = tree.run(["init", "--progress", "always", "."]).succeeds();
    assert_eq!(again.stderr(), "3 files are recorded already; 0 to read, 0 B\n");
    tree.run(["check", "."]).succeeds();
    assert_eq!(state(&tree), "fine");
}

#[test]
fn of_an_empty_folder_it_does_not_say_that_all_is_recorded() {
    let tree = Tree::new();
    std::fs::create_dir(tree.path("empty")).unwrap();
    let said = tree.run(["init", "empty"]).succeeds();
    assert!(said.stdout().contains("There is nothing to record yet."), "{}", said.stdout());
    assert!(!said.stdout().contains("Every file is recorded"), "{}", said.stdout());
    // Who removed all files on purpose has a way out.
    std::fs::write(tree.path("empty/file"), "one").unwrap();
    tree.run(["update", "empty"]).succeeds();
    std::fs::remove_file(tree.path("empty/file")).unwrap();
    let said = tree.run(["check", "empty"]).ends(2);
    assert!(said.stderr().contains("`steadfast init --forget "), "{}", said.stderr());
    tree.run(["init", "--forget", "empty"]).succeeds();
    assert!(!tree.run(["status"]).stdout().contains("empty"));
}

#[test]
fn what_decayed_before_is_told_and_not_accepted() {
    let tree = Tree::tagged();
    tree.corrupt("a");
    for _ in 0..2 {
        let said = tree.run(["init", "."]).ends(3);
        assert!(said.stdout().contains("1 file is corrupt. Mend: "), "{}", said.stdout());
        assert!(!said.stdout().contains("Every file is recorded"), "{}", said.stdout());
    }
    assert_eq!(tree.run(["check", "--json"]).ends(3).verdict("a").as_deref(), Some("corrupt"));
    assert_eq!(state(&tree), "trouble");
}

#[test]
fn the_order_of_tags_and_catalogue_does_not_matter() {
    for verbs in [["tag", "init"], ["init", "tag"]] {
        let tree = Tree::small();
        for verb in verbs {
            tree.run([verb, "."]).succeeds();
        }
        assert_eq!(state(&tree), "recorded", "{verbs:?}");
    }
}
