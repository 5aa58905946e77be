//! Lists of what a store has: checked by, imported, searched, and asked whether a source is safe.

use std::fs;

use crate::tree::{Outcome, Tree};

/// The digests of `hello` with a line feed, which is `photos/a.jpg`.
const SHA256: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
const MD5: &str = "b1946ac92492d2347c6235b4d2611184";

/// The MD5 of the MD5s of two parts of 8 and 4 MiB of zeros.
const ETAG: &str = "ebe97f2a4738800fe71edbe389c000a6-2";

const BIG_LEN: usize = 12 << 20;

fn photos() -> Tree {
    let tree = Tree::new().file("photos/a.jpg", b"hello\n").file("photos/empty", b"");
    tree.file("photos/big.bin", &vec![0; BIG_LEN])
}

fn rclone(hashes: &str) -> String {
    format!(
        r#"[{{"Path":"a.jpg","Name":"a.jpg","Size":6,"ModTime":"2026-11-28T19:56:26Z","IsDir":false,
        "Hashes":{{{hashes}}},"Tier":"STANDARD"}}]"#
    )
}

fn aws(etag_of_big: &str) -> String {
    format!(
        r#"{{"Contents": [
        {{"Key": "photos/a.jpg", "ETag": "\"{MD5}\"", "Size": 6}},
        {{"Key": "photos/big.bin", "ETag": "\"{etag_of_big}\"", "Size": {BIG_LEN}}},
        {{"Key": "photos/empty", "ETag": "\"d41d8cd98f00b204e9800998ecf8427e\"", "Size": 0}}
        ], "Prefix": "photos/"}}"#
    )
}

fn check(tree: &Tree, list: &str) -> Outcome {
    fs::write(tree.path("list.json"), list).unwrap();
    tree.run(["check", "-v", "--manifest", "list.json", "--strip", "photos", "photos"])
}

#[test]
fn files_are_checked_by_the_digests_of_whole_objects_and_of_their_parts() {
    let tree = photos();
    let said = check(&tree, &aws(ETAG)).succeeds();
    for name in ["a.jpg", "big.bin", "empty"] {
        let is_intact = |line: &str| line.starts_with("intact") && line.contains(name);
        assert!(said.stdout().lines().any(is_intact), "{}", said.stdout());
    }
    // Parts of other lengths make another ETag, so one that differs proves nothing.
    fs::write(tree.path("photos/big.bin"), vec![1; BIG_LEN]).unwrap();
    let said = check(&tree, &aws(ETAG)).ends(2);
    let said = format!("{}{}", said.stdout(), said.stderr());
    assert!(said.contains("unreadable") && said.contains("of its parts"), "{said}");
    let stated = format!(
        r#"{{"Key": "photos/big.bin", "ObjectSize": {BIG_LEN}, "ETag": "{ETAG}",
        "ObjectParts": {{"Parts": [{{"Size": 8388608}}, {{"Size": 4194304}}]}}}}"#
    );
    let said = check(&tree, &stated).ends(1);
    assert!(said.stdout().contains("differs"), "{}", said.stdout());
    fs::write(tree.path("photos/big.bin"), vec![0; BIG_LEN]).unwrap();
    check(&tree, &stated).succeeds();
}

#[test]
fn names_that_leave_the_tree_or_lack_the_prefix_are_refused() {
    let tree = photos();
    for name in ["../outside", "/etc/passwd", "photos/../../x", "others/a.jpg"] {
        let list = format!(r#"[{{"Path": "{name}", "Size": 6, "Hashes": {{"md5": "{MD5}"}}}}]"#);
        let said = check(&tree, &list).ends(2);
        assert!(!said.stdout().contains("intact"), "{name}: {}", said.stdout());
    }
}

#[test]
fn a_list_becomes_tags() {
    let tree = photos();
    fs::write(tree.path("list.json"), aws(ETAG)).unwrap();
    tree.run(["import", "--strip", "photos", "list.json", "photos"]).succeeds();
    tree.run(["check", "--require-tags", "photos"]).succeeds();
}

#[test]
fn a_list_is_an_archive_but_only_strong_digests_make_a_source_safe() {
    let tree = photos();
    let ask = |words: &[&str]| {
        let line = words.iter().chain(&["photos/a.jpg", "--in", "list.json"]);
        tree.run(line.copied().collect::<Vec<_>>())
    };
    fs::write(tree.path("list.json"), rclone(&format!(r#""sha256":"{SHA256}","md5":"{MD5}""#)))
        .unwrap();
    let said = ask(&["known"]).succeeds();
    assert!(said.stdout().contains("list.json/a.jpg (by that list)"), "{}", said.stdout());

    let week_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(7 * 86_400 + 60);
    let list = fs::File::options().write(true).open(tree.path("list.json")).unwrap();
    list.set_modified(week_ago).unwrap();
    for words in [&["safe", "--copies", "1"][..], &["safe", "--copies", "1", "--apart"]] {
        let said = ask(words).ends(2);
        assert!(said.stdout().contains("safe to erase: no"), "{}", said.stdout());
        assert!(said.stdout().contains("only in a list"), "{}", said.stdout());
    }
    let trusting = ["safe", "--copies", "1", "--apart", "--trust-servers"];
    let said = ask(&trusting).ends(1);
    let answer = "safe to erase: yes, but for dates, owner, rights or attributes of 1 file";
    assert!(said.stdout().contains(answer), "{}", said.stdout());
    assert!(said.stdout().contains("(the list list.json is 7 days old)"), "{}", said.stdout());
    let json = ask(&[&trusting[..], &["--json"]].concat()).ends(1).objects();
    let summary = &json.last().unwrap()["summary"];
    assert!(summary["lists"][0]["age_s"].as_u64().unwrap() >= 7 * 86_400, "{summary}");
    assert_eq!(json[0]["places"][0]["proof"], "listed");
    // One list is one place, however often it names the contents.
    let said = ask(&["safe", "--apart", "--trust-servers"]).ends(1);
    assert!(said.stdout().contains("safe to erase: no"), "{}", said.stdout());

    fs::write(tree.path("list.json"), rclone(&format!(r#""md5":"{MD5}""#))).unwrap();
    let said = ask(&trusting).ends(1);
    assert!(said.stdout().contains("safe to erase: no"), "{}", said.stdout());
    assert!(said.stderr().contains("no digest there that proves contents"), "{}", said.stderr());
    ask(&["known"]).ends(1);
}

#[test]
fn a_list_never_lets_a_source_be_moved() {
    let tree = photos();
    fs::write(tree.path("list.json"), rclone(&format!(r#""sha256":"{SHA256}""#))).unwrap();
    let trusting = ["--apart", "--trust-servers", "--copies", "1"];
    let line = ["move", "--unknown", "--in", "list.json", "photos", "to"];
    assert_ne!(tree.run(line.into_iter().chain(trusting)).status, 0);
    assert!(tree.path("photos/a.jpg").exists());
}

#[test]
fn the_address_of_a_store_is_answered_with_what_makes_the_list() {
    let tree = photos();
    let said = tree.run(["check", "s3://archive/photos", "photos"]).ends(2);
    assert_eq!(
        said.stderr(),
        "error: `s3://archive/photos` is in a store, and Steadfast sends no requests to stores. \
         Make a list there, and compare with that:\n  \
         rclone lsjson --hash -R ':s3,provider=AWS,env_auth=true:archive/photos' > photos.json\n  \
         steadfast check --manifest photos.json photos\n"
    );
}

#[test]
fn names_in_the_spelling_of_another_system_are_found() {
    let tree = Tree::new().file("sub/a.jpg", b"hello\n").file("caf\u{e9}", b"hello\n");
    let list = format!("{SHA256} *sub\\a.jpg\r\n{SHA256}  cafe\u{301}\r\n");
    fs::write(tree.path("list.sha256"), list).unwrap();
    let said = tree.run(["check", "-v", "--manifest", "list.sha256"]).succeeds();
    assert!(said.stdout().contains("sub/a.jpg"), "{}", said.stdout());
    // A file with the name as it is written wins.
    fs::write(tree.path("sub\\a.jpg"), b"another").unwrap();
    let said = tree.run(["check", "--manifest", "list.sha256"]).ends(1);
    assert!(said.stdout().contains("differs"), "{}", said.stdout());
    fs::remove_file(tree.path("sub\\a.jpg")).unwrap();
    fs::write(tree.path("a.bin"), b"hello\n").unwrap();
    fs::write(tree.path("a.bin.sha256"), format!("{SHA256}\n")).unwrap();
    tree.run(["check", "--manifest", "a.bin.sha256"]).succeeds();
}
