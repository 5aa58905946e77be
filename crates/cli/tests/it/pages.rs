//! `pages digest`, `pages verify` and `tag --pages` from outside.

use std::fs;
use std::process::Command;

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
fn digests_are_printed_as_fsverity_prints_them() {
    let tree = Tree::new().file("hello", b"hello world").file("empty", b"");
    let tree = tree.file("file", &contents());
    let said = tree.run(["hash", "--fs-verity", "hello", "empty"]).succeeds();
    assert_eq!(
        said.stdout(),
        "sha256:1e2eaa4202d750a41174ee454970b92c1bc2f925b1e35076d8c7d5f56362ba64 hello\n\
         sha256:3d248ca542a24fc62d1c43b916eae5016878e2533c88238480b26128a1f1af95 empty\n"
    );
    let said = tree.run(["hash", "--fs-verity", "nowhere", "--compact", "hello"]).ends(2);
    let digest = "1e2eaa4202d750a41174ee454970b92c1bc2f925b1e35076d8c7d5f56362ba64\n";
    assert_eq!(said.stdout(), digest);
    assert!(said.stderr().contains("`nowhere`"), "{}", said.stderr());
    tree.run(["hash", "--fs-verity", "--block-size", "4000", "hello"]).ends(2);
    if steadfast_testing::program("fsverity").is_none() {
        return;
    }
    for options in [
        &["--hash-alg=sha512"][..],
        &["--block-size=1024", "--salt=00ff", "--compact"],
        &["--hash-alg=sha512", "--block-size=65536"],
    ] {
        let mut peer = Command::new("fsverity");
        peer.arg("digest").args(options).args(["file", "hello", "empty"]);
        let peer = peer.current_dir(tree.path("")).output().unwrap();
        let own = options.iter().map(|option| option.replace("hash-alg", "algorithm"));
        let words = ["hash", "--fs-verity"].map(str::to_owned).into_iter().chain(own);
        let ours = words.chain(["file", "hello", "empty"].map(str::to_owned));
        let said = tree.run(ours).succeeds();
        assert_eq!(said.stdout(), String::from_utf8(peer.stdout).unwrap(), "{options:?}");
    }
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
    for [verb, choice_of] in [["hash", "--fs-verity"], ["check", "--where"]] {
        let plain = tree.run([verb, choice_of, "file"]).succeeds().stdout().to_owned();
        for choice in [["--qos", "background"], ["--pace", "racing-car"]] {
            let said = tree.run([verb, choice_of, choice[0], choice[1], "file"]).succeeds();
            assert_eq!(said.stdout(), plain, "{verb}");
        }
        let refused = tree.run([verb, choice_of, "--qos", "10", "file"]).ends(2);
        assert!(refused.stderr().contains("racing-car"), "{}", refused.stderr());
    }
}
