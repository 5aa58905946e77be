//! `check --where` and `tag --pages` from outside.

use std::fs;

use crate::tree::Tree;

/// Pages of 4 KiB that are all different, and a short last one.
fn contents() -> Vec<u8> {
    (0..10 * 4096 + 100_u32).map(|at| (at / 7 % 256) as u8).collect()
}

/// Flips bits and puts the modification time back: what decay looks like.
fn corrupt(tree: &Tree, name: &str, places: &[usize]) {
    let path = tree.path(name);
    let mtime = fs::metadata(&path).unwrap().modified().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    for place in places {
        bytes[*place] ^= 4;
    }
    fs::write(&path, bytes).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(mtime).unwrap();
}

#[test]
fn damage_is_located_from_tagging_to_the_bytes() {
    let tree = Tree::new().file("data/film", &contents()).file("data/other", &contents());
    tree.run(["tag", "--pages", "data"]).ends(2);
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "--pages", "data"]).succeeds();
    let said = tree.run(["check", "--where", "data/film", "data/other"]).succeeds();
    let text = said.stdout();
    assert!(text.starts_with("intact      data/film  (11 pages of 4096 bytes)\n"), "{text}");
    corrupt(&tree, "data/film", &[0, 3 * 4096, 4 * 4096 + 5, 10 * 4096 + 99]);
    let said = tree.run(["check", "--where", "data/film"]).ends(3);
    assert_eq!(
        said.stdout(),
        "corrupt     data/film  (4 of 11 pages damaged, 12,388 bytes)\n            \
         bytes 0..4096, page 0 damaged\n            \
         bytes 12288..20480, pages 3..5 damaged\n            \
         bytes 40960..41060, page 10 damaged\n"
    );
    let said = tree.run(["check", "--where", "--json", "data/film", "data/other"]).ends(3);
    let objects = said.objects();
    assert_eq!(
        (&objects[0]["verdict"], &objects[1]["verdict"]),
        (&"corrupt".into(), &"intact".into())
    );
    assert_eq!(objects[0]["damaged"][1]["offset"], 12_288);
    assert_eq!(objects[0]["damaged"][1]["length"], 8192);
    let text = tree.run(["check", "data"]).ends(3);
    let detail = "4 of 11 pages damaged: bytes 0..4096, 12288..20480, 40960..41060";
    assert!(text.stdout().contains(detail), "{}", text.stdout());
    let json = tree.run(["check", "--json", "data"]).ends(3);
    let film = json.objects().into_iter().find(|object| object["verdict"] == "corrupt").unwrap();
    assert_eq!(film["damage"]["damaged_pages"], 4);
}

#[test]
fn files_without_leaves_are_said_to_have_none() {
    let tree = Tree::new().file("file", &contents());
    let said = tree.run(["check", "--where", "file"]).ends(2);
    assert!(said.stderr().contains("it has no tag"), "{}", said.stderr());
    tree.run(["tag", "file"]).succeeds();
    let said = tree.run(["check", "--where", "file"]).ends(2);
    assert!(said.stderr().contains("no leaves are kept for its tag"), "{}", said.stderr());
    tree.run(["tag", "--pages", "--sidecar", "--page-size", "16KiB", "file"]).succeeds();
    let said = tree.run(["check", "--where", "file"]).succeeds();
    assert!(said.stdout().contains("3 pages of 16384 bytes"), "{}", said.stdout());
    assert!(tree.path("file.steadfast-pages").is_file());
}

#[test]
fn every_verb_about_pages_takes_a_level() {
    let tree = Tree::new().file("file", &contents());
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag", "--pages", "."]).succeeds();
    let check = |choice: &[&str]| tree.run([&["check", "--where", "file"], choice].concat());
    let plain = check(&[]).succeeds().stdout().to_owned();
    for choice in [["--qos", "background"], ["--pace", "racing-car"]] {
        assert_eq!(check(&choice).succeeds().stdout(), plain);
    }
    let refused = check(&["--qos", "10"]).ends(2);
    assert!(refused.stderr().contains("racing-car"), "{}", refused.stderr());
}
