//! The catalogue's own file, and paths: whole at rest, missed when it is gone, of no other tree.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use steadfast::Timestamp;
use steadfast::catalogue::Catalogue;
use steadfast_testing::{Need, skip};

use crate::tree::{Outcome, Tree};

const FILE: &str = ".steadfast/catalogue.sqlite";

/// `a`, `b` and `sub/c`, catalogued, tagged and checked.
fn kept() -> Tree {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag"]).succeeds();
    tree.run(["check"]).succeeds();
    tree
}

fn log_len(tree: &Tree) -> u64 {
    fs::metadata(tree.path(format!("{FILE}-wal"))).map_or(0, |log| log.len())
}

fn verdicts(said: &Outcome, name: &str) -> u64 {
    said.summary()["verdicts"][name].as_u64().unwrap()
}

#[test]
fn after_every_verb_the_file_alone_is_the_catalogue() {
    let tree = Tree::small();
    let verbs: [&[&str]; 10] = [
        &["init", "--tags-only", "."],
        &["tag"],
        &["check"],
        &["check", "--max-bytes", "1k"],
        &["check", "--quick"],
        &["update"],
        &["update", "--convert", "--algorithm", "sha512", "."],
        &["import", "--attributes", "."],
        &["untag", "a"],
        &["update", "--accept-missing"],
    ];
    for verb in verbs {
        tree.run(verb).succeeds();
        assert_eq!(log_len(&tree), 0, "{verb:?}");
    }
    let folder = Tree::new();
    fs::copy(tree.path(FILE), folder.path("copy")).unwrap();
    let copy = folder.path("copy");
    let audit = Catalogue::open_reader(&copy).unwrap().audit(&[], Timestamp::MAX).unwrap();
    assert_eq!(audit.tagged, 2, "`a` has no tag any more");
    let beside = fs::read_dir(folder.path(".")).unwrap().count();
    assert_eq!(beside, 1, "nothing is left beside a copy");
}

#[test]
fn a_catalogue_that_is_gone_is_missed() {
    let tree = kept();
    fs::remove_file(tree.path("a")).unwrap();
    fs::remove_file(tree.path(FILE)).unwrap();
    for verb in ["check", "tag", "update"] {
        let said = tree.run([verb]).ends(2);
        assert!(said.stderr().contains("init --rebuild"), "{}", said.stderr());
    }
    let said = tree.run(["tag", "--json", "--no-catalogue"]).succeeds();
    assert_eq!(said.summary()["files"], 2, "what is left of it is no data: {}", said.stdout());
    tree.run(["init", "--tags-only", "--rebuild", "."]).succeeds();
    tree.run(["check"]).succeeds();
    // Also if a log is left, which is none of the new file's.
    fs::copy(tree.path(FILE), tree.path(format!("{FILE}-wal"))).unwrap();
    fs::remove_file(tree.path(FILE)).unwrap();
    tree.run(["init", "--tags-only", "."]).ends(2);
    tree.run(["init", "--tags-only", "--rebuild", "."]).succeeds();
    tree.run(["check"]).succeeds();
    // Whose folder it is not, is data.
    let tree = Tree::new().file(".steadfast/notes", b"mine");
    let said = tree.run(["tag", "--json", "."]).succeeds();
    assert_eq!(said.summary()["files"], 1);
}

#[test]
fn a_catalogue_of_another_tree_is_refused() {
    let (tree, other) = (Tree::tagged(), Tree::tagged());
    let folder = Tree::new();
    let file = folder.path("catalogue");
    let file = file.to_str().unwrap();
    tree.run(["init", "--tags-only", "--catalogue", file]).succeeds();
    tree.run(["check", "--catalogue", file]).succeeds();
    // A walk may begin above the tree.
    let below = folder.path("below");
    let below = below.to_str().unwrap();
    tree.run(["init", "--tags-only", "--catalogue", below, "sub"]).succeeds();
    tree.run(["check", "--catalogue", below, "."]).ends(0);
    for verb in [&["check"][..], &["tag"], &["check", "--quick"], &["update"]] {
        let said = other.run(verb.iter().chain(&["--catalogue", file])).ends(2);
        assert!(said.stderr().contains("not in the catalogued tree"), "{}", said.stderr());
    }
    let list = other.run_with(["check", "--catalogue", file, "--files-from", "-"], b"a\n").ends(2);
    assert!(list.stderr().contains("not in the catalogued tree"), "{}", list.stderr());
}

#[test]
fn a_catalogue_is_not_made_where_it_would_be_data_and_puts_nothing_else_aside() {
    let tree = Tree::small();
    let said = tree.run(["init", "--tags-only", "--catalogue", "sub/catalogue", "."]).ends(2);
    assert!(said.stderr().contains("in the tree itself"), "{}", said.stderr());
    assert!(!tree.path("sub/catalogue").exists());
    let folder = Tree::new().file("note.txt", b"a note of mine").file("empty", b"");
    let at = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    tree.run(["init", "--tags-only", "--rebuild", "--catalogue", &at("note.txt")]).ends(2);
    assert_eq!(fs::read(folder.path("note.txt")).unwrap(), b"a note of mine");
    tree.run(["init", "--tags-only", "--rebuild", "--catalogue", &at("empty")]).succeeds();
    // What is damaged is named in the advice.
    let file = at("empty");
    let mut bytes = fs::read(&file).unwrap();
    bytes[4096..8192].fill(7);
    fs::write(&file, &bytes).unwrap();
    let said = tree.run(["check", "--catalogue", &file]).ends(2);
    let command = format!("steadfast init --rebuild --catalogue {file} DIR");
    assert!(said.stderr().contains(&command), "{}", said.stderr());
    tree.run(["init", "--tags-only", "--rebuild", "--catalogue", &file]).succeeds();
    tree.run(["check", "--allow-empty", "--catalogue", &file]).succeeds();
}

#[test]
fn a_copied_tree_is_told_how_to_bind_its_catalogue() {
    let tree = kept();
    let copy = Tree::new();
    let status = std::process::Command::new("cp")
        .args(["-a", tree.path(".").to_str().unwrap(), copy.path("t").to_str().unwrap()])
        .status();
    assert!(status.unwrap().success());
    let said = copy.run(["check", "t"]).ends(2);
    assert!(said.stderr().contains("steadfast init --rebind /"), "{}", said.stderr());
    copy.run(["init", "--rebind", "t"]).succeeds();
    copy.run(["check", "t"]).succeeds();
}

/// Whatever form of the path its catalogue was bound by, it is not that of the copy which was
/// copied back after the disk died.
#[test]
fn a_tree_that_was_copied_back_is_another_one_until_its_catalogue_is_bound_to_it() {
    let copied = |from: &Path, to: &Path| {
        let status = std::process::Command::new("cp").arg("-a").args([from, to]).status();
        assert!(status.unwrap().success());
    };
    for (number, form) in ["t", "./t", "link", "../t"].into_iter().enumerate() {
        let tree = Tree::new().file("t/a", b"alpha").file("t/b", b"beta").file("u/x", b"x");
        symlink("t", tree.path("link")).unwrap();
        tree.run(["init", "t"]).succeeds();
        let folder = if form == "../t" { "u" } else { "." };
        let bound =
            tree.command(["init", "--rebind", form]).current_dir(tree.path(folder)).status();
        assert!(bound.unwrap().success());
        tree.run(["check", "t"]).succeeds();
        copied(&tree.path("t"), &tree.path("backup"));
        // While the original is there, too.
        copied(&tree.path("t"), &tree.path("copy"));
        fs::remove_file(tree.path("copy/a")).unwrap();
        let said = tree.run(["check", "copy"]).ends(2);
        assert!(said.stderr().contains("steadfast init --rebind /"), "{}", said.stderr());
        // Its inode is not free for another folder.
        fs::rename(tree.path("t"), tree.path("dead")).unwrap();
        copied(&tree.path("backup"), &tree.path("t"));
        fs::remove_file(tree.path("t/a")).unwrap();
        for verb in [
            &["check", "t"][..],
            &["check", "--json", "t"],
            &["update", "t"],
            &["tag", "t"],
            &["init", "t"],
            &["repair", "--from", "backup", "t"],
            &["repair", "--dry-run", "t"],
            &["parity", "make", "t"],
            &["status"],
            &["status", "backup"],
        ] {
            let said = tree.run(verb).ends(2);
            let text = format!("{}{}", said.stdout(), said.stderr());
            assert!(text.contains("steadfast init --rebind /"), "{form}: {verb:?}: {text}");
        }
        // A folder that only gives files is read without it, and says so.
        let said = tree.run(["known", "u", "backup", "--in", "t"]);
        let text = "the catalogue there is of another tree: only the tags";
        assert!(said.stderr().contains(text), "{}", said.stderr());
        assert!(said.stdout().contains("backup/b  = t/b"), "{}", said.stdout());
        tree.run(["diff", "backup", "t"]).ends(1);
        if number == 0 {
            tree.run(["init", "--rebind", "t"]).succeeds();
            let said = tree.run(["check", "t"]).ends(1);
            assert!(said.stdout().contains("1 missing"), "{}", said.stdout());
            tree.run(["status"]).ends(1);
            tree.run(["repair", "--yes", "--from", "backup", "t"]).succeeds();
            tree.run(["status"]).succeeds();
        }
    }
}

/// The old place no longer counts.
#[test]
fn a_tree_that_was_restored_elsewhere_is_listed_there_alone() {
    let tree = Tree::new().file("old/a", b"alpha");
    tree.run(["init", "old"]).succeeds();
    let status = std::process::Command::new("cp")
        .args([OsStr::new("-a"), tree.path("old").as_os_str(), tree.path("new").as_os_str()])
        .status();
    assert!(status.unwrap().success());
    fs::remove_dir_all(tree.path("old")).unwrap();
    tree.run(["status"]).ends(2);
    tree.run(["init", "--rebind", "new"]).succeeds();
    let said = tree.run(["status"]).succeeds();
    assert!(!said.stdout().contains("/old\n"), "{}", said.stdout());
    // A catalogue that is kept elsewhere is bound to the path that is typed.
    tree.run(["init", "--catalogue", "kept.sqlite", "new"]).succeeds();
    fs::rename(tree.path("new"), tree.path("newer")).unwrap();
    let said = tree.run(["check", "--catalogue", "kept.sqlite", "newer"]).ends(2);
    let command = "steadfast init --rebind --catalogue kept.sqlite DIR";
    assert!(said.stderr().contains(command), "{}", said.stderr());
    tree.run(["init", "--rebind", "--catalogue", "kept.sqlite", "newer"]).succeeds();
    tree.run(["check", "--catalogue", "kept.sqlite", "newer"]).succeeds();
    let inside = "newer/.steadfast/catalogue.sqlite";
    fs::create_dir(tree.path("other")).unwrap();
    let said = tree.run(["init", "--rebind", "--catalogue", inside, "other"]).ends(2);
    assert!(said.stderr().contains("in another tree"), "{}", said.stderr());
}

#[test]
fn a_directory_that_became_a_link_is_missing_with_all_that_was_in_it() {
    let tree = kept();
    let elsewhere = Tree::new();
    let there = elsewhere.path("sub");
    let moved = std::process::Command::new("mv")
        .args([tree.path("sub").to_str().unwrap(), there.to_str().unwrap()])
        .status();
    assert!(moved.unwrap().success());
    symlink(&there, tree.path("sub")).unwrap();
    for _ in 0..2 {
        let said = tree.run(["check", "--json"]).ends(1);
        assert_eq!(said.verdict("sub/c").as_deref(), Some("missing"), "{}", said.stdout());
    }
    tree.run(["update", "--accept-missing"]).succeeds();
    tree.run(["check"]).succeeds();
}

#[test]
fn a_given_path_that_is_gone_is_missing_if_it_is_known() {
    let tree = kept();
    fs::remove_dir_all(tree.path("sub")).unwrap();
    fs::remove_file(tree.path("a")).unwrap();
    let said = tree.run(["check", "--json", "a"]).ends(1);
    assert_eq!(said.verdict("a").as_deref(), Some("missing"), "{}", said.stdout());
    assert_eq!((verdicts(&said, "missing"), verdicts(&said, "unreadable")), (1, 0));
    let said = tree.run(["check", "--json", "b", "sub"]).ends(1);
    assert_eq!(said.verdict("sub/c").as_deref(), Some("missing"), "{}", said.stdout());
    assert_eq!(verdicts(&said, "intact"), 1);
    let text = tree.run(["check", "sub"]).ends(1);
    assert!(text.stdout().contains("update --accept-missing sub"), "{}", text.stdout());
    let said = tree.run(["update", "--accept-missing", "a"]).succeeds();
    assert!(!said.stderr().contains("mounted"), "{}", said.stderr());
    let said = tree.run(["update", "--dry-run", "--accept-missing", "."]);
    assert!(said.stdout().contains("  sub/c"), "as the user writes it: {}", said.stdout());
    let said = tree.run(["check", "--json"]).ends(1);
    assert_eq!(verdicts(&said, "missing"), 1, "what was not named stays: {}", said.stdout());
    tree.run(["update", "--accept-missing", "sub"]).succeeds();
    tree.run(["check"]).succeeds();
    // What nobody knows cannot be opened.
    tree.run(["check", "nowhere"]).ends(2);
    tree.run(["check", "sub"]).ends(2);
}

#[test]
fn what_a_manifest_misses_no_catalogue_accepts() {
    let tree = Tree::small();
    let list = tree.run(["export", "--format", "gnu", "--read", "."]).succeeds();
    let folder = Tree::new().file("SHA256SUMS", &list.stdout);
    fs::remove_file(tree.path("a")).unwrap();
    let list = folder.path("SHA256SUMS");
    let said = tree.run(["check", "--manifest", list.to_str().unwrap(), "."]).ends(1);
    assert!(!said.stdout().contains("accept-missing"), "{}", said.stdout());
    assert!(said.stdout().contains("from a backup."), "{}", said.stdout());
}

#[test]
fn what_lies_beside_the_catalogue_is_counted() {
    let tree = kept().file(".steadfast/notes", b"mine");
    let said = tree.run(["check", "--json"]).succeeds();
    assert_eq!(said.summary()["skipped"]["excluded"], 1, "{}", said.stdout());
    assert_eq!(said.summary()["files"], 3);
    let said = tree.run(["check", "--exclude", "*"]).ends(2);
    assert!(said.stdout().contains("  .  ("), "{}", said.stdout());
}

#[test]
fn decay_outranks_an_answer_that_could_not_be_written() {
    let tree = Tree::tagged();
    tree.corrupt("a");
    let full = fs::File::options().write(true).open("/dev/full");
    let Ok(full) = full else {
        return skip(Need::System("/dev/full"), "it cannot be opened for writing");
    };
    let output = tree.command(["check", "."]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot write to stdout"), "{said}");
}

#[test]
fn what_would_be_ignored_is_refused() {
    let tree = kept();
    for other in [
        &["--quick"][..],
        &["--older-than", "1d"],
        &["--max-time", "1h"],
        &["--max-bytes", "1k"],
        &["--resume"],
    ] {
        tree.run(["check", "--require-tags"].iter().chain(other)).ends(2);
    }
    tree.run(["check", "--quick", "--read-from", "media"]).ends(2);
    tree.run(["check", "--require-tags"]).succeeds();
}

#[test]
fn the_name_of_a_list_says_what_its_digests_are() {
    let tree = Tree::small();
    let sums = tree.run(["hash", "--algorithm", "blake3", "a", "b"]).succeeds();
    let tree = tree.file("B3SUMS", &sums.stdout).file("sums.b3", &sums.stdout);
    tree.run(["hash", "--check", "B3SUMS"]).succeeds();
    tree.run(["hash", "--check", "sums.b3"]).succeeds();
}

#[test]
fn a_file_that_a_bag_misses_is_missing() {
    let tree = Tree::new().file("bag/data/a", b"alpha").file("bag/data/b", b"beta");
    tree.run(["tag", "."]).succeeds();
    let lines = tree.run(["hash", "bag/data/a", "bag/data/b"]).succeeds();
    let lines = lines.stdout().replace("bag/", "");
    let declaration = b"BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n";
    let tree =
        tree.file("bag/bagit.txt", declaration).file("bag/manifest-sha256.txt", lines.as_bytes());
    tree.run(["check", "--manifest", "bag"]).succeeds();
    fs::remove_file(tree.path("bag/data/a")).unwrap();
    let said = tree.run(["check", "--json", "--manifest", "bag"]).ends(1);
    assert_eq!(said.verdict("bag/data/a").as_deref(), Some("missing"), "{}", said.stdout());
    fs::write(tree.path("bag/data/more"), b"in no manifest").unwrap();
    let said = tree.run(["check", "--manifest", "bag"]).ends(1);
    let line = "extra       bag/data/more  (not in the list)\n";
    assert!(said.stdout().contains(line), "{}", said.stdout());
    assert!(!said.stdout().contains("unreadable"), "{}", said.stdout());
}

#[test]
fn a_file_that_no_manifest_of_a_bag_names_is_extra() {
    let tree = Tree::new().file("bag/data/a", b"alpha").file("bag/data/more", b"more");
    let line = tree.run(["hash", "bag/data/a"]).succeeds().stdout().replace("bag/", "");
    let declaration = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
    let tree =
        tree.file("bag/bagit.txt", declaration).file("bag/manifest-sha256.txt", line.as_bytes());
    let said = tree.run(["check", "--json", "--quiet", "--manifest", "bag"]).ends(1);
    let objects = said.objects();
    let extra = objects.iter().find(|object| object["path"] == "bag/data/more").unwrap();
    assert_eq!(extra["finding"], "extra", "{}", said.stdout());
    assert_eq!(said.summary()["findings"]["extra"], 1);
    assert_eq!(said.summary()["verdicts"]["unreadable"], 0);
    let said = tree.run(["check", "--csv", "--manifest", "bag"]).ends(1);
    assert!(said.stdout().contains(",extra,"), "{}", said.stdout());
    let said = tree.run(["import", "--json", "bag"]).ends(1);
    assert_eq!(said.summary()["actions"]["tagged"], 1, "{}", said.stdout());
    fs::remove_file(tree.path("bag/data/more")).unwrap();
    tree.run(["check", "--manifest", "bag"]).succeeds();
}
