//! What a check says of a source decides what `copy`, `move` and `safe` do with it.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::tree::{Outcome, Tree, set_modified};

const RIGHT: &[u8] = &[7; 20_000];

/// `card` with a file that is damaged, and another one.
fn card() -> Tree {
    Tree::new().file("card/film", RIGHT).file("card/other", b"other")
}

fn lose_tag(tree: &Tree, name: &str) {
    let file = steadfast_sys::file::File::open(&tree.path(name)).unwrap();
    steadfast_sys::xattr::remove(&file, steadfast_sys::xattr::TAG).unwrap();
}

/// Changes the length of a file, and no time.
fn cut(tree: &Tree, name: &str, length: u64) {
    let path = tree.path(name);
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
    set_modified(&path, modified);
}

fn lacks(outcome: &Outcome) -> Vec<String> {
    let objects = outcome.objects();
    let because = objects.last().unwrap()["summary"]["because"].as_array().unwrap().clone();
    because.iter().map(|it| it["lack"].as_str().unwrap().to_owned()).collect()
}

fn of(outcome: &Outcome, path: &str) -> Value {
    outcome.objects().into_iter().find(|object| object["path"] == path).expect(path)
}

/// Each kind of record that can be left of a file, and each kind of damage.
const RECORDS: [&str; 5] = ["tag", "catalogue", "tag lost", "tag damaged", "parity alone"];
const DAMAGES: [&str; 3] = ["flip", "cut", "emptied"];

fn damaged(record: &str, damage: &str) -> Tree {
    let tree = card();
    match record {
        "tag" => tree.run(["tag", "card"]).succeeds(),
        "parity alone" => {
            tree.run(["tag", "card"]).succeeds();
            tree.run(["parity", "make", "card"]).succeeds()
        }
        _ => tree.run(["init", "card"]).succeeds(),
    };
    match record {
        "tag lost" | "parity alone" => lose_tag(&tree, "card/film"),
        "tag damaged" => tree.damage_tag("card/film"),
        _ => {}
    }
    match damage {
        "cut" => cut(&tree, "card/film", 9_000),
        "emptied" => cut(&tree, "card/film", 0),
        _ => tree.corrupt("card/film"),
    }
    tree
}

#[test]
fn what_a_check_calls_damaged_is_not_copied_as_it_is_nor_moved_nor_called_safe() {
    for record in RECORDS {
        for damage in DAMAGES {
            let what = format!("{record}, {damage}");
            let tree = damaged(record, damage);
            fs::create_dir(tree.path("copy")).unwrap();
            fs::copy(tree.path("card/film"), tree.path("copy/film")).unwrap();
            fs::copy(tree.path("card/other"), tree.path("copy/other")).unwrap();
            tree.run(["tag", "copy"]);
            let before = fs::read(tree.path("card/film")).unwrap();
            let moved = tree.run(["move", "--json", "--copies", "1", "card", "to"]);
            let film = of(&moved, "card/film");
            assert_eq!(film["lack"], "corrupt", "{what} {film}");
            assert_eq!(fs::read(tree.path("card/film")).unwrap(), before, "{what}");
            match record {
                "parity alone" => {
                    assert_eq!(fs::read(tree.path("to/card/film")).unwrap(), RIGHT, "{what}");
                    assert!(film["mended_by"][0]["path"].is_string(), "{film}");
                    tree.run(["check", "to"]).succeeds();
                }
                _ => assert!(!tree.path("to/card/film").exists(), "{what}"),
            }
            assert_eq!(moved.status, 3, "{what} {moved:?}");
            let safe = tree.run(["safe", "--json", "--copies", "1", "card/film", "--in", "copy"]);
            assert!(lacks(&safe).contains(&"corrupt".to_owned()), "{what} {safe:?}");
            assert_eq!(safe.status, 3, "{what}");
            assert_eq!(of(&safe, "card/film")["verdict"], "corrupt", "{what}");
        }
    }
}

#[test]
fn another_copy_of_the_catalogue_mends_the_destination_and_not_the_source() {
    let tree = card().file("card/sub/same", RIGHT);
    tree.run(["init", "card"]).succeeds();
    tree.corrupt("card/film");
    let said = tree.run(["move", "--copies", "1", "card", "to"]).ends(3);
    assert!(said.stdout().contains("mended    card/film: it is corrupt"), "{said:?}");
    assert_eq!(fs::read(tree.path("to/card/film")).unwrap(), RIGHT);
    assert!(tree.path("card/film").exists() && !tree.path("card/sub/same").exists());
    // What is there already is compared with what the record says.
    let again = tree.run(["copy", "--json", "--copies", "1", "card", "to"]).ends(3);
    assert_eq!(of(&again, "card/film")["lack"], "corrupt");
}

#[test]
fn weak_digests_prove_no_copy() {
    let tree = card();
    tree.run(["tag", "--algorithm", "md5", "card"]).succeeds();
    tree.run(["copy", "--copies", "1", "card", "to"]).succeeds();
    // Whoever has a collision writes such a tag: the contents are others, the digest is the same.
    fs::write(tree.path("to/card/film"), [8; 20_000]).unwrap();
    let (from, to) = (tree.path("card/film"), tree.path("to/card/film"));
    set_modified(&to, fs::metadata(&from).unwrap().modified().unwrap());
    let said = tree.run(["safe", "--json", "--copies", "1", "card", "--in", "to"]).ends(1);
    assert_eq!(of(&said, "card/film")["lack"], "too_few");
    assert_eq!(of(&said, "card/other")["lack"], Value::Null, "read by SHA-256: {said:?}");
    let known = tree.run(["known", "card", "--in", "to"]);
    assert!(known.stderr().contains("records of md5 do not prove"), "{known:?}");
}

#[test]
fn dates_and_rights_that_no_copy_has_keep_the_source() {
    let tree = card();
    tree.run(["copy", "--copies", "1", "card", "to"]).succeeds();
    set_modified(&tree.path("to/card/film"), SystemTime::UNIX_EPOCH + Duration::from_secs(1_000));
    tree.run(["untag", "to"]).succeeds();
    tree.run(["tag", "to"]).succeeds();
    let rule = ["--copies", "1"];
    let safe = tree.run(["safe"].iter().chain(&rule).chain(&["card", "--in", "to"])).ends(1);
    let line = "safe to erase: yes, but for dates, owner, rights or attributes of 1 file";
    assert!(safe.stdout().contains(line), "{safe:?}");
    let moved = tree.run(["move"].iter().chain(&rule).chain(&["card", "to"])).ends(1);
    assert!(moved.stdout().contains(line), "{moved:?}");
    assert!(moved.stderr().contains("modification time"), "{moved:?}");
    assert!(tree.path("card/film").exists() && !tree.path("card/other").exists());
}
