//! What is left of a repair in the catalogue: the history of the file, the audit, and PREMIS.

use std::fs;

use crate::repair::{copied, flip};
use crate::tree::Tree;

/// A tree whose file was found corrupt by run 3 and repaired by run 5 from both copies. `repair`
/// begins with a check, run 4.
fn repaired() -> Tree {
    let tree = copied();
    flip(&tree.path("data/film"), &[5, 4096, 9 * 4096]);
    flip(&tree.path("one/film"), &[9 * 4096 + 7]);
    tree.run(["check", "data"]).ends(3);
    tree.run(["repair", "--yes", "--from", "one", "--from", "two", "data"]).succeeds();
    tree
}

#[test]
fn the_history_has_the_repair_with_its_sources() {
    let tree = repaired();
    let text = tree.run(["show", "--history", "data/film"]).succeeds().stdout().to_owned();
    let root = fs::canonicalize(tree.path("")).unwrap();
    let root = root.to_str().unwrap();
    let note = format!("repaired: 2 pages from {root}/one/film, 1 page from {root}/two/film");
    assert!(text.contains(&note), "{text}");
    let said = tree.run(["show", "--history", "--json", "data/film"]).succeeds();
    let run = said.objects().iter().find(|run| run["verb"] == "repair").unwrap().clone();
    assert_eq!((run["run"].as_u64(), run["verdict"].as_str()), (Some(5), Some("intact")));
    let happened = run["happened"].as_array().unwrap();
    let event = happened.iter().find(|one| one["what"] == "repaired").unwrap();
    let [one, two] = &event["sources"].as_array().unwrap()[..] else { panic!("{event}") };
    assert_eq!(one["pages"], 2);
    assert_eq!(one["ranges"], serde_json::json!([{"offset": 0, "length": 8192}]));
    assert_eq!(two["ranges"], serde_json::json!([{"offset": 36864, "length": 4096}]));
    // A file that was not repaired has no such event.
    let other = tree.run(["show", "--history", "data/other"]).succeeds().stdout().to_owned();
    assert!(!other.contains("repaired"), "{other}");
}

#[test]
fn the_audit_says_that_the_failure_is_settled_by_the_repair() {
    let tree = repaired();
    let text = tree.run(["status", "--audit", "--verbose", "data"]).succeeds().stdout().to_owned();
    assert!(text.contains("run 3  film  (settled: repaired by run 5)"), "{text}");
    let said = tree.run(["status", "--audit", "--json", "data"]).succeeds();
    let failed = said.objects().iter().find(|one| one["path"] == "film").unwrap().clone();
    assert_eq!((&failed["settled"], &failed["repaired_run"]), (&true.into(), &5.into()));
    // It fails again: the repair does not settle what came after it.
    flip(&tree.path("data/film"), &[5]);
    tree.run(["check", "data"]).ends(3);
    let text = tree.run(["status", "--audit", "data"]).ends(3).stdout().to_owned();
    assert!(text.contains("corrupt") && text.contains("film"), "{text}");
}

#[test]
fn premis_has_an_event_of_the_type_recovery() {
    let tree = repaired();
    for arguments in
        [["show", "--history", "--premis", "data/film"], ["status", "--audit", "--premis", "data"]]
    {
        let text = tree.run(arguments).succeeds().stdout().to_owned();
        let term = "valueURI=\"http://id.loc.gov/vocabulary/preservation/eventType/rec\"";
        assert_eq!(text.matches(term).count(), 1, "{text}");
        assert!(text.contains("run-5/recovery/film"), "{text}");
        let note = "restored to the contents of the tag: 8192 bytes from path: ";
        assert!(text.contains(note), "{text}");
    }
}

#[test]
fn a_repair_from_the_tree_itself_names_the_file_from_the_root() {
    let tree = Tree::new().file("data/a", b"alpha").file("data/sub/b", b"alpha");
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    fs::remove_file(tree.path("data/a")).unwrap();
    tree.run(["repair", "--yes", "data"]).succeeds();
    let text = tree.run(["show", "--history", "data/a"]).succeeds().stdout().to_owned();
    assert!(text.contains("repaired: whole from sub/b"), "{text}");
}

#[test]
fn a_check_says_what_may_be_repaired() {
    let mut tree = Tree::new();
    for name in ["a", "b", "c"] {
        tree = tree.file(format!("data/{name}"), name.repeat(5000).as_bytes());
    }
    tree = tree.file("data/sub/a", "a".repeat(5000).as_bytes());
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    for name in ["data/a", "data/b"] {
        flip(&tree.path(name), &[7]);
    }
    fs::remove_file(tree.path("data/c")).unwrap();
    let may = |arguments: &[&str]| {
        let said = tree.run(arguments);
        said.summary()["may_be_repaired"].as_u64()
    };
    // `sub/a` has the contents of `a`.
    let text = tree.run(["check", "data"]).ends(3).stdout().to_owned();
    let line = "2 files are corrupt. Mend: steadfast repair data (can mend 1 of 3; the rest with \
                --from BACKUP)\n";
    assert!(text.contains(line), "{text}");
    assert_eq!(may(&["check", "--json", "data"]), Some(1));
    assert_eq!(may(&["check", "--json", "data/b"]), Some(0));
    assert_eq!(may(&["check", "--json", "--no-catalogue", "data/a"]), Some(0));
    // A file that is not intact itself is no source.
    flip(&tree.path("data/sub/a"), &[7]);
    assert_eq!(may(&["check", "--json", "data"]), Some(0));
    flip(&tree.path("data/sub/a"), &[7]);
    // What repair does then is what the check said.
    tree.run(["repair", "--yes", "data"]).ends(3);
    assert_eq!(may(&["check", "--json", "data"]), Some(0));
    assert_eq!(may(&["check", "--json", "data/sub"]), None);
}

#[test]
fn a_check_knows_of_parity() {
    let mut tree = Tree::new();
    for number in 0..20_u8 {
        tree = tree.file(format!("data/{number}"), &[number; 5000]);
    }
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    flip(&tree.path("data/3"), &[7]);
    fs::remove_file(tree.path("data/4")).unwrap();
    let said = tree.run(["check", "--json", "data"]).ends(3);
    assert_eq!(said.summary()["may_be_repaired"], 2);
    tree.run(["repair", "--yes", "data"]).succeeds();
    let said = tree.run(["check", "--json", "data"]).succeeds();
    assert!(said.summary()["may_be_repaired"].is_null());
}

#[test]
fn a_hundred_files_come_back_from_two_copies_that_are_damaged_as_well() {
    let mut tree = Tree::new();
    for number in 0..100_usize {
        let contents: Vec<u8> = (0..9000).map(|at| (at / 7 * 31 + number) as u8).collect();
        for folder in ["data", "one", "two"] {
            tree = tree.file(format!("{folder}/{number:02}"), &contents);
        }
    }
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "--pages", "data"]).succeeds();
    let before: Vec<Vec<u8>> =
        (0..100).map(|number| fs::read(tree.path(format!("data/{number:02}"))).unwrap()).collect();
    for number in 0..100 {
        // The copies lack different pages, each of which the other has.
        flip(&tree.path(format!("data/{number:02}")), &[5, 5000]);
        flip(&tree.path(format!("one/{number:02}")), &[6]);
        flip(&tree.path(format!("two/{number:02}")), &[5001, 8500]);
    }
    let arguments = ["repair", "--yes", "--json", "--from", "one", "--from", "two", "data"];
    let said = tree.run(arguments).succeeds();
    assert_eq!(said.summary()["repaired"], 100);
    for (number, contents) in before.iter().enumerate() {
        assert_eq!(&fs::read(tree.path(format!("data/{number:02}"))).unwrap(), contents);
    }
    tree.run(["check", "data"]).succeeds();
    let listed = tree.run(["repair", "--discard", "1", "data"]).succeeds();
    assert!(listed.stdout().starts_with("  "), "{}", listed.stdout());
    assert!(listed.stdout().ends_with("Removed 100 damaged files.\n"), "{}", listed.stdout());
}
