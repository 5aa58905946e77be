//! `history` from outside: what it tells of files that are there, changed, moved and gone.

use std::fs;

use serde_json::Value;

use crate::tree::{Outcome, Tree};

/// A tree with a catalogue, tagged and checked once.
pub(crate) fn kept() -> Tree {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag", "."]).succeeds();
    tree.run(["check", "."]).succeeds();
    tree
}

/// The verb and the verdict of each run of a history.
fn judged(said: &Outcome) -> Vec<(String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut objects = said.objects();
    assert!(objects.pop().unwrap().get("summary").is_some());
    objects.iter().map(|run| (text(&run["verb"]).unwrap(), text(&run["verdict"]))).collect()
}

fn verdicts(tree: &Tree, path: &str) -> Vec<(String, String)> {
    let said = tree.run(["show", "--history", "--json", path]).succeeds();
    let judged = judged(&said).into_iter();
    judged.map(|(verb, verdict)| (verb, verdict.unwrap_or_else(|| "-".to_owned()))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(verb, verdict)| ((*verb).to_owned(), (*verdict).to_owned())).collect()
}

#[test]
fn every_verdict_is_told_in_order() {
    let tree = kept();
    tree.corrupt("a");
    tree.edit("b");
    tree.run(["check", "."]).ends(3);
    tree.run(["update", "."]).ends(3);
    let expected = [("tag", "-"), ("check", "intact"), ("check", "corrupt"), ("update", "corrupt")];
    assert_eq!(verdicts(&tree, "a"), pairs(&expected));
    let expected = [("tag", "-"), ("check", "intact"), ("check", "modified"), ("update", "-")];
    assert_eq!(verdicts(&tree, "b"), pairs(&expected));
    let text = tree.run(["show", "--history", "a"]).succeeds();
    assert!(text.stdout().starts_with("a\n  in"), "{}", text.stdout());
    assert!(text.stdout().contains("\n  now          corrupt\n"), "{}", text.stdout());
    let said = tree.run(["show", "--history", "--json", "b"]).succeeds();
    let retagged = &said.objects()[3]["happened"][0];
    assert_eq!(retagged["what"], "retagged");
    assert_ne!(retagged["before"]["digest"], retagged["after"]["digest"]);
    assert_eq!(said.summary()["known"]["standing"], "fine");
}

#[test]
fn a_file_that_is_gone_still_has_its_history() {
    let tree = kept();
    fs::remove_file(tree.path("b")).unwrap();
    tree.run(["check", "."]).ends(1);
    let missing = tree.run(["show", "--history", "--json", "b"]).succeeds();
    assert_eq!(missing.summary()["known"]["standing"], "missing");
    tree.run(["update", "--accept-missing", "."]).succeeds();
    let dropped = tree.run(["show", "--history", "--json", "b"]).succeeds();
    assert_eq!(dropped.summary()["known"], Value::Null);
    let text = tree.run(["show", "--history", "b"]).succeeds();
    assert!(text.stdout().contains("known no more"), "{}", text.stdout());
}

#[test]
fn a_file_that_moved_is_told_at_both_places() {
    let tree = kept();
    fs::rename(tree.path("a"), tree.path("sub/z")).unwrap();
    tree.run(["check", "."]).succeeds();
    let left = tree.run(["show", "--history", "a"]).succeeds();
    assert!(left.stdout().contains("moved to sub/z"), "{}", left.stdout());
    let came = tree.run(["show", "--history", "sub/z"]).succeeds();
    assert!(came.stdout().contains("moved from a"), "{}", came.stdout());
}

#[test]
fn a_directory_has_the_runs_over_all_of_it() {
    let tree = kept();
    tree.run(["check", "sub"]).succeeds();
    tree.run(["check", "a"]).succeeds();
    let runs = |path: &str| {
        let said = tree.run(["show", "--history", "--json", path]).succeeds();
        assert_eq!(said.summary()["kind"], "directory");
        let mut objects = said.objects();
        objects.pop();
        let whole = |run: &Value| run["whole"].as_bool().unwrap();
        objects.iter().filter(|run| whole(run)).map(|run| run["run"].as_i64().unwrap()).collect()
    };
    let (all, sub): (Vec<i64>, Vec<i64>) = (runs("."), runs("sub"));
    assert_eq!(sub.len(), all.len() + 1, "{all:?} {sub:?}");
    assert!(tree.run(["show", "--history", "."]).succeeds().stdout().starts_with("Runs over /"));
    fs::remove_dir_all(tree.path("sub")).unwrap();
    assert_eq!(runs("sub"), sub, "the directory need not be there");
}

#[test]
fn what_is_not_known_is_status_two() {
    let tree = kept();
    let said = tree.run(["show", "--history", "nothing"]).ends(2);
    assert!(said.stderr().contains("knows no `nothing`"), "{}", said.stderr());
    let bare = Tree::small();
    let said = bare.run(["show", "--history", "a"]).ends(2);
    assert!(said.stderr().contains("steadfast init"), "{}", said.stderr());
    let file = tree.path(".steadfast/catalogue.sqlite");
    let file = file.to_str().unwrap();
    let said = bare.run(["show", "--history", "--catalogue", file, "a"]).ends(2);
    assert!(said.stderr().contains("is not in the tree"), "{}", said.stderr());
    tree.run(["show", "--history"]).ends(2);
}

#[test]
fn a_catalogue_kept_elsewhere_is_asked_by_name() {
    let (tree, shelf) = (Tree::small(), Tree::new());
    let file = shelf.path("photos.sqlite");
    let file = file.to_str().unwrap();
    tree.run(["init", "--tags-only", "--catalogue", file, "."]).succeeds();
    tree.run(["tag", "--catalogue", file, "."]).succeeds();
    tree.run(["show", "--history", "a"]).ends(2);
    let said = tree.run(["show", "--history", "--catalogue", file, "a"]).succeeds();
    assert!(said.stdout().contains("tagged: "), "{}", said.stdout());
}

#[test]
fn rows_for_spreadsheets_and_events_for_archives() {
    let tree = kept();
    let csv = tree.run(["show", "--history", "--csv", "a"]).succeeds();
    let lines: Vec<&str> = csv.stdout().lines().collect();
    assert!(lines[0].starts_with("path,path_b64,run,verb,"), "{}", lines[0]);
    assert_eq!(lines.len(), 3, "a header, tagged, intact: {lines:?}");
    let premis = tree.run(["show", "--history", "--premis", "a"]).succeeds();
    let text = premis.stdout();
    assert_eq!(text.matches("<event>").count(), 2, "{text}");
    assert!(text.contains("<objectIdentifierValue>a</objectIdentifierValue>"), "{text}");
    assert!(text.ends_with("</premis>\n"), "{text}");
    tree.run(["show", "--history", "--csv", "--json", "a"]).ends(2);
    tree.run(["show", "--history", "--premis", "--json", "a"]).ends(2);
}
