//! `known` from outside: which contents are in other archives.

use std::fs;

use crate::tree::{Outcome, Tree};

/// `card` with three files, and `archive`, a tree with a catalogue that has two of them.
fn card_and_archive() -> Tree {
    let tree = Tree::new()
        .file("card/DCIM/1.jpg", b"first")
        .file("card/DCIM/2.jpg", b"second")
        .file("card/new.jpg", b"third")
        .file("archive/2026/1.jpg", b"first")
        .file("archive/2026/2.jpg", b"second")
        .file("archive/other", b"other");
    tree.run(["init", "archive"]).succeeds();
    tree
}

/// What JSON says of a path.
fn word(outcome: &Outcome, path: &str) -> (String, Vec<String>) {
    let objects = outcome.objects();
    let object = objects.iter().find(|object| object["path"] == path).expect(path);
    let places = object["places"].as_array().unwrap().iter();
    let places = places.map(|place| place["path"].as_str().unwrap().to_owned()).collect();
    (object["known"].as_str().unwrap().to_owned(), places)
}

#[test]
fn contents_are_found_under_any_name_and_the_rest_is_nowhere_else() {
    let tree = card_and_archive();
    let said = tree.run(["known", "--json", "card", "--in", "archive"]).ends(1);
    let (known, places) = word(&said, "card/DCIM/1.jpg");
    assert_eq!(known, "known");
    assert!(places[0].ends_with("/archive/2026/1.jpg") && places.len() == 1, "{places:?}");
    assert_eq!(word(&said, "card/new.jpg"), ("unknown".to_owned(), Vec::new()));
    let folder = said.objects().into_iter().find(|object| object["folder"].is_object()).unwrap();
    assert_eq!(folder["folder"]["path"], "card/DCIM");
    assert!(folder["same_as"]["path"].as_str().unwrap().ends_with("/archive/2026"));
    assert_eq!((&folder["files"], &folder["whole"]), (&2.into(), &true.into()));
    let summary = &said.objects().pop().unwrap()["summary"];
    assert_eq!((&summary["files"]["known"], &summary["files"]["unknown"]), (&2.into(), &1.into()));
    fs::remove_file(tree.path("card/new.jpg")).unwrap();
    let text = tree.run(["known", "card", "--in", "archive"]).succeeds();
    assert!(text.stdout().ends_with("2 files: 2 known (11 B), 0 nowhere else (0 B)\n"), "{text:?}");
    let read = fs::metadata(tree.path("card/DCIM/1.jpg")).unwrap().len();
    assert_eq!(read, 5, "nothing is written to the card");
}

#[test]
fn a_folder_is_the_same_with_all_that_is_beneath_it() {
    let tree = Tree::new()
        .file("card/DCIM/100/1", b"first")
        .file("card/DCIM/101/2", b"second")
        .file("card/DCIM/101/deep/3", b"third")
        .file("card/misc/4", b"fourth")
        .file("card/misc/only/5", b"fifth")
        .file("archive/June/100/1", b"first")
        .file("archive/June/101/2", b"second")
        .file("archive/June/101/deep/3", b"third")
        .file("archive/other/4", b"fourth");
    tree.run(["init", "archive"]).succeeds();
    let folders = |tree: &Tree| -> Vec<(String, String, u64, bool)> {
        let objects = tree.run(["known", "--json", "card", "--in", "archive"]).ends(1).objects();
        let folders = objects.iter().filter(|object| object["folder"].is_object());
        let of = |object: &serde_json::Value, key: &str| {
            let path = object[key]["path"].as_str().unwrap().to_owned();
            path.rsplit_once("archive/").map_or(path.clone(), |(_, down)| down.to_owned())
        };
        let row = |object: &serde_json::Value| {
            let whole = object["whole"].as_bool().unwrap();
            (of(object, "folder"), of(object, "same_as"), object["files"].as_u64().unwrap(), whole)
        };
        folders.map(row).collect()
    };
    let row = |path: &str, there: &str, files, whole| (path.into(), there.into(), files, whole);
    assert_eq!(folders(&tree), [row("card/DCIM", "June", 3, true)], "misc has a file of its own");
    fs::remove_dir_all(tree.path("card/misc/only")).unwrap();
    fs::write(tree.path("card/new"), b"new").unwrap();
    let expected = [row("card/DCIM", "June", 3, true), row("card/misc", "other", 1, true)];
    assert_eq!(folders(&tree), expected);
}

#[test]
fn a_record_counts_only_while_it_describes_what_is_there() {
    let tree = card_and_archive();
    tree.edit("archive/2026/1.jpg");
    fs::remove_file(tree.path("archive/2026/2.jpg")).unwrap();
    let said = tree.run(["known", "--json", "card", "--in", "archive"]).ends(1);
    for path in ["card/DCIM/1.jpg", "card/DCIM/2.jpg"] {
        assert_eq!(word(&said, path).0, "unknown", "{path}");
    }
    assert_eq!(said.objects().pop().unwrap()["summary"]["stale_places"], 2);
    assert!(!said.objects().iter().any(|object| object["folder"].is_object()));
}

#[test]
fn the_tag_of_an_edited_file_is_not_believed() {
    let tree = card_and_archive();
    tree.run(["tag", "card"]).succeeds();
    fs::write(tree.path("card/DCIM/1.jpg"), b"other").unwrap();
    let said = tree.run(["known", "--json", "card", "--in", "archive"]).ends(1);
    assert!(word(&said, "card/DCIM/1.jpg").1[0].ends_with("/archive/other"), "it was read");
    assert_eq!(said.objects().pop().unwrap()["summary"]["bytes_read"], 5, "one file was read");
}

#[test]
fn a_file_is_not_its_own_copy_and_a_hard_link_is_none() {
    let tree = card_and_archive();
    fs::hard_link(tree.path("archive/other"), tree.path("card/link")).unwrap();
    let said = tree.run(["known", "--json", "card/link", "--in", "archive"]).ends(1);
    assert_eq!(word(&said, "card/link").0, "unknown");
    let itself = tree.run(["known", "--json", "archive/2026", "--in", "archive"]).ends(1);
    assert_eq!(word(&itself, "archive/2026/1.jpg").0, "unknown");
    fs::copy(tree.path("archive/other"), tree.path("card/copy")).unwrap();
    tree.run(["known", "card/copy", "--in", "archive"]).succeeds();
}

#[test]
fn an_archive_is_tags_or_a_catalogue_whose_tree_is_away() {
    let tree = card_and_archive().file("tagged/x", b"third");
    tree.run(["tag", "tagged"]).succeeds();
    let both = ["known", "--json", "card", "--in", "tagged", "--in", "archive"];
    let said = tree.run(both).succeeds();
    assert!(word(&said, "card/new.jpg").1[0].ends_with("tagged/x"));
    fs::copy(tree.path("archive/.steadfast/catalogue.sqlite"), tree.path("kept.sqlite")).unwrap();
    let away = tree.file("disk/1.jpg", b"first");
    away.run(["init", "--catalogue", "disk.sqlite", "disk"]).succeeds();
    fs::rename(away.path("disk"), away.path("elsewhere")).unwrap();
    let said = away.run(["known", "card/DCIM/1.jpg", "--in", "disk.sqlite"]).succeeds();
    assert!(said.stdout().contains("disk/1.jpg (not mounted)"), "{}", said.stdout());
    let by_name = away.run(["known", "card/DCIM/1.jpg", "--in", "disk"]).succeeds();
    assert!(by_name.stdout().contains("(not mounted)"), "{}", by_name.stdout());
    let asked = away.run(["known", "--json", "disk.sqlite", "--in", "archive"]).succeeds();
    assert_eq!(asked.objects().pop().unwrap()["summary"]["bytes_read"], 0);
}

#[test]
fn an_archive_says_how_much_of_it_no_record_describes() {
    let tree = Tree::new().file("card/a", b"first").file("plain/a", b"first");
    let said = tree.run(["known", "card", "--in", "plain"]).ends(1);
    assert!(said.stderr().contains("`plain`: nothing is known of 1 file that"), "{said:?}");
    tree.run(["tag", "plain"]).succeeds();
    let said = tree.run(["known", "card", "--in", "plain"]).succeeds();
    assert!(!said.stderr().contains("nothing is known"), "{said:?}");
}

#[test]
fn what_cannot_be_told_is_not_known() {
    let tree = card_and_archive().file("weak/x", b"third");
    tree.run(["tag", "--algorithm", "crc32c", "weak"]).succeeds();
    let said = tree.run(["known", "card/new.jpg", "--in", "weak"]).ends(1);
    assert!(said.stderr().contains("crc32c"), "{}", said.stderr());
    tree.run(["known", "card", "--in", "nowhere"]).ends(2);
    fs::create_dir(tree.path("empty")).unwrap();
    tree.run(["known", "empty", "--in", "archive"]).ends(2);
}

#[test]
fn files_of_an_archive_without_a_record_are_counted_with_what_to_do() {
    let tree = Tree::new().file("card/a", b"a").file("archive/b", b"b");
    let said = tree.run(["known", "card", "--in", "archive"]);
    let told = "nothing is known of 1 file that no record describes: `steadfast init DIR` records";
    assert!(said.stderr().contains(told), "{}", said.stderr());
}
