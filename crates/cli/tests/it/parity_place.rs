//! Where parity is kept: folders that a tree remembers, and those that were planted.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};

use steadfast_testing::{Need, skip};

use crate::parity::photographs;
use crate::tree::Tree;

/// The verbs that need parity that is there.
const VERBS: [&[&str]; 4] = [&["verify"], &["show"], &["update"], &["update", "--forget-missing"]];

/// A tree whose parity is in `elsewhere`.
fn parity_elsewhere() -> Tree {
    let tree = photographs();
    tree.run(["parity", "make", "--parity-at", "elsewhere", "data"]).succeeds();
    tree
}

/// Every file beneath a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Runs every verb, and fails unless each ends with status 2 and says so.
fn all_refuse(tree: &Tree, what: &str) {
    let drop: &[&str] = &["drop", "--yes"];
    for verb in VERBS.into_iter().chain([drop]) {
        let said = tree.run(["parity"].iter().chain(verb).chain(&["data"])).ends(2);
        assert!(said.stderr().contains(what), "{verb:?}: {said:?}");
    }
}

#[test]
fn a_folder_elsewhere_is_remembered() {
    let tree = photographs();
    let said = tree.run(["parity", "make", "--parity-at", "elsewhere", "data"]).succeeds();
    assert!(said.stderr().contains("on the same device as the tree"), "{said:?}");
    for verb in VERBS {
        tree.run(["parity"].iter().chain(verb).chain(&["data"])).succeeds();
    }
    let before = fs::read(tree.path("data/0/1.jpg")).unwrap();
    tree.corrupt("data/0/1.jpg");
    tree.run(["repair", "--yes", "data"]).succeeds();
    assert_eq!(fs::read(tree.path("data/0/1.jpg")).unwrap(), before);
    // Made again without its name, it stays where it is and says nothing more.
    let said = tree.run(["parity", "make", "data"]).succeeds();
    assert_eq!((said.stderr(), tree.path("data/.steadfast/parity/00").exists()), ("", false));
    tree.run(["check", "--require-tags", "data"]).succeeds();
    tree.run(["parity", "drop", "--yes", "data"]).succeeds();
    assert_eq!(fs::read_dir(tree.path("elsewhere")).unwrap().count(), 0);
    assert!(!tree.path("data/.steadfast/parity").exists());
    let said = tree.run(["parity", "show", "data"]).ends(2);
    assert!(said.stderr().contains("there is no parity"), "{said:?}");
}

#[test]
fn a_folder_that_is_not_mounted_is_an_error() {
    let tree = parity_elsewhere();
    fs::rename(tree.path("elsewhere"), tree.path("away")).unwrap();
    all_refuse(&tree, "is its disk mounted?");
    tree.run(["parity", "make", "data"]).ends(2);
    assert!(!tree.path("elsewhere").exists());
    // The folder in which a disk would be mounted.
    fs::create_dir(tree.path("elsewhere")).unwrap();
    all_refuse(&tree, "is its disk mounted?");
    assert_eq!(fs::read_dir(tree.path("elsewhere")).unwrap().count(), 0);
    tree.corrupt("data/0/1.jpg");
    tree.run(["repair", "--yes", "data"]).ends(3);
    // It can be made anew in another folder.
    let said = tree.run(["parity", "make", "--parity-at", "new", "data"]).ends(3);
    assert!(said.stderr().contains("elsewhere` stays there"), "{said:?}");
    tree.run(["parity", "verify", "data"]).succeeds();
}

#[test]
fn a_planted_record_leads_nowhere() {
    let tree = parity_elsewhere().file("victim/x.jpg", b"private");
    tree.run(["tag", "victim"]).succeeds();
    tree.run(["parity", "make", "--parity-at", "private", "victim"]).succeeds();
    let (before, elsewhere) = (files(&tree.path("private")), tree.path("elsewhere"));
    let record = tree.path("data/.steadfast/parity/elsewhere");
    let real = fs::read_to_string(&record).unwrap();
    let number = real.lines().next().unwrap();
    let plant = |path: &Path| fs::write(&record, format!("{number}\n{}", path.display())).unwrap();
    plant(&tree.path("private"));
    all_refuse(&tree, "which is of another tree");
    plant(&tree.path("victim"));
    all_refuse(&tree, "which has no parity of it");
    symlink(&elsewhere, tree.path("link")).unwrap();
    for path in [tree.path("link"), elsewhere.join("."), elsewhere.join("../private")] {
        plant(&path);
        tree.run(["parity", "update", "data"]).ends(if path.ends_with("elsewhere") {
            0
        } else {
            2
        });
    }
    for text in [format!("{number}\nelsewhere"), "no number\n/".to_owned(), "x".repeat(5000)] {
        fs::write(&record, text).unwrap();
        all_refuse(&tree, "cannot read where its parity is");
    }
    // A link or a second name in its place is not read.
    fs::remove_file(&record).unwrap();
    fs::write(tree.path("copy"), &real).unwrap();
    symlink(tree.path("copy"), &record).unwrap();
    all_refuse(&tree, "cannot read where its parity is");
    fs::remove_file(&record).unwrap();
    fs::hard_link(tree.path("copy"), &record).unwrap();
    all_refuse(&tree, "cannot read where its parity is");
    assert_eq!(files(&tree.path("private")), before);
    tree.run(["parity", "verify", "victim"]).succeeds();
}

#[test]
fn a_tree_that_cannot_say_where_its_parity_is_is_not_one_without() {
    let tree = parity_elsewhere();
    let record = tree.path("data/.steadfast/parity/elsewhere");
    fs::write(&record, "no number\n/").unwrap();
    tree.edit("data/0/1.jpg");
    for arguments in [&["update", "data"][..], &["tag", "data/0"], &["parity", "show", "data/0"]] {
        let said = tree.run(arguments);
        // Above the folder that is named, the record is passed over: it may be of another tree.
        assert!(arguments[1] != "data" || said.status == 2, "{said:?}");
        assert!(
            said.stderr().contains("cannot read where its parity is"),
            "{arguments:?} {said:?}"
        );
        assert!(said.stderr().contains("parity/elsewhere"), "{arguments:?} {said:?}");
    }
    tree.run(["check", "--require-tags", "data"]).succeeds();
    let said = tree.run(["repair", "--yes", "data"]).ends(2);
    assert!(
        said.stderr().contains("missing files that only parity knows are not found"),
        "{said:?}"
    );
    assert!(!said.stdout().contains("Nothing is damaged or missing"), "{said:?}");
    tree.corrupt("data/0/1.jpg");
    let said = tree.run(["repair", "--yes", "data"]).ends(3);
    assert!(said.stdout().contains("cannot use its parity"), "{said:?}");
    // A new record mends it.
    tree.run(["parity", "make", "--parity-at", "elsewhere", "data"]).ends(3);
    tree.run(["parity", "verify", "data"]).succeeds();
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    let tree = parity_elsewhere();
    if let Err(error) = chown(tree.path("elsewhere"), Some(12_345), None) {
        return skip(Need::Root, error);
    }
    all_refuse(&tree, "belongs to another user");
    // The owner of the tree is trusted with it.
    chown(tree.path("data"), Some(12_345), None).unwrap();
    tree.run(["parity", "update", "data"]).succeeds();
}

#[test]
fn a_copy_of_a_tree_does_not_change_the_parity_of_the_first() {
    let tree = parity_elsewhere();
    let before = files(&tree.path("elsewhere"));
    fs::rename(tree.path("data"), tree.path("first")).unwrap();
    fs::create_dir_all(tree.path("data/.steadfast/parity")).unwrap();
    let record = ".steadfast/parity/elsewhere";
    fs::copy(tree.path("first").join(record), tree.path("data").join(record)).unwrap();
    // At the old path now is a copy without files: nothing may be taken for gone.
    fs::rename(tree.path("data"), tree.path("copy")).unwrap();
    fs::rename(tree.path("first"), tree.path("data")).unwrap();
    let said = tree.run(["parity", "update", "--forget-missing", "copy"]).ends(2);
    assert!(said.stderr().contains("was made for a tree at"), "{said:?}");
    tree.run(["parity", "drop", "--yes", "copy"]).ends(2);
    let words = ["parity", "make", "--parity-at", "elsewhere", "copy"];
    let said = tree.run(words).ends(2);
    assert!(said.stderr().contains("the parity of another tree"), "{said:?}");
    assert_eq!(files(&tree.path("elsewhere")), before);
    // Reading it is allowed: that is what a disk that is mounted elsewhere needs.
    tree.run(["parity", "verify", "copy"]).succeeds();
}

#[test]
fn a_tree_that_was_moved_takes_its_parity_along() {
    let tree = parity_elsewhere();
    fs::rename(tree.path("data"), tree.path("moved")).unwrap();
    let said = tree.run(["parity", "update", "moved"]).ends(2);
    assert!(said.stderr().contains("parity make --parity-at"), "{said:?}");
    tree.run(["parity", "make", "--parity-at", "elsewhere", "moved"]).succeeds();
    let said = tree.run(["parity", "update", "moved"]).succeeds();
    assert!(said.stdout().contains("0 sets made, 1 kept"), "{said:?}");
}

#[test]
fn a_tree_that_cannot_remember_its_parity_is_told_of() {
    let tree = photographs();
    // Where the record would be is a file of the user.
    fs::write(tree.path("data/.steadfast"), "mine").unwrap();
    let said = tree.run(["parity", "make", "--parity-at", "elsewhere", "data"]).succeeds();
    assert!(said.stderr().contains("the tree cannot remember it"), "{said:?}");
    tree.run(["parity", "verify", "--parity-at", "elsewhere", "data"]).succeeds();
    assert_eq!(fs::read(tree.path("data/.steadfast")).unwrap(), b"mine");
}

#[test]
fn a_damaged_record_above_what_is_named_is_told_and_changes_no_status() {
    let tree = Tree::new().file("above/data/a", b"alpha");
    fs::create_dir_all(tree.path("above/.steadfast/parity")).unwrap();
    fs::write(tree.path("above/.steadfast/parity/elsewhere"), "garbage").unwrap();
    for verb in [&["tag"][..], &["update"], &["repair", "--yes"]] {
        let words = verb.iter().chain(&["above/data"]);
        let said = tree.run(words).succeeds();
        assert!(said.stderr().contains("this parity is not used"), "{said:?}");
    }
    // It is that of the tree that it is in.
    for verb in [&["tag"][..], &["update"], &["repair", "--yes"], &["parity", "make"]] {
        tree.run(verb.iter().chain(&["above"])).ends(2);
    }
    tree.run(["parity", "verify", "above/data"]).ends(2);
}

#[test]
fn drafts_of_killed_runs_go_from_both_folders() {
    let tree = parity_elsewhere();
    let drafts = ["elsewhere", "data/.steadfast/parity"]
        .map(|folder| tree.path(folder).join(".steadfast-0123456789abcdef.draft"));
    for draft in &drafts {
        fs::write(draft, "a part").unwrap();
    }
    tree.run(["parity", "update", "data"]).succeeds();
    assert!(!drafts.iter().any(|draft| draft.exists()));
}
