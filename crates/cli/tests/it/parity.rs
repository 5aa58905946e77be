//! `parity make`, `update`, `verify`, `show` and `drop` from outside.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, symlink};
use std::path::PathBuf;

use steadfast::Tag;
use steadfast::parity::{ParityPlace, ParitySource, RebuiltCopy};
use steadfast::store::{StoredTag, tag_at};
use steadfast_sys::file::File;

use crate::tree::Tree;

/// Bytes that differ from page to page.
pub(crate) fn contents(seed: u32, len: u32) -> Vec<u8> {
    (0..len).map(|at| ((at / 5 + seed).wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// A tagged tree with small and larger files.
pub(crate) fn photographs() -> Tree {
    let mut tree = Tree::new().file("data/empty", b"").file("data/tiny", b"x");
    for number in 0..6 {
        let bytes = contents(number, 30_000 + 4096 * number);
        tree = tree.file(format!("data/{}/{number}.jpg", number / 3), &bytes);
    }
    tree.run(["tag", "data"]).succeeds();
    tree
}

/// The parity files of the tree, in order.
pub(crate) fn sets(tree: &Tree) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in fs::read_dir(tree.path("data/.steadfast/parity")).unwrap() {
        let folder = folder.unwrap().path();
        if folder.is_dir() && folder.file_name().unwrap().len() == 2 {
            found.extend(fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

/// The summary of a command with `--json`.
fn summary(tree: &Tree, arguments: &[&str], status: i32) -> serde_json::Value {
    let said = tree.run(["parity"].iter().chain(arguments).chain(&["--json"])).ends(status);
    let last: serde_json::Value =
        serde_json::from_str(said.stdout().lines().last().unwrap()).unwrap();
    last["summary"].clone()
}

#[test]
fn parity_is_made_once_and_kept_while_nothing_changes() {
    let tree = photographs();
    let made = summary(&tree, &["make", "data"], 0);
    assert_eq!((&made["files"], &made["sets_made"]), (&8.into(), &1.into()), "{made}");
    let first = sets(&tree);
    assert_eq!(fs::metadata(&first[0]).unwrap().mode() & 0o777, 0o600);
    let inode = fs::metadata(&first[0]).unwrap().ino();
    for verb in ["make", "update"] {
        let made = summary(&tree, &[verb, "data"], 0);
        assert_eq!((&made["files"], &made["sets_made"]), (&8.into(), &0.into()), "{made}");
        assert_eq!((&made["sets_kept"], &made["bytes_read"]), (&1.into(), &0.into()), "{made}");
    }
    assert_eq!((sets(&tree), fs::metadata(&first[0]).unwrap().ino()), (first.clone(), inode));
    // The same tree gives the same set, and a walk leaves it out.
    tree.run(["parity", "drop", "--yes", "data"]).succeeds();
    assert!(!tree.path("data/.steadfast").exists());
    tree.run(["parity", "make", "data"]).succeeds();
    assert_eq!(sets(&tree), first);
    tree.run(["check", "--require-tags", "data"]).succeeds();
}

#[test]
fn a_file_that_fails_its_tag_is_left_out_and_reported() {
    let tree = photographs();
    tree.corrupt("data/0/1.jpg");
    fs::write(tree.path("data/1/4.jpg"), "edited").unwrap();
    let said = tree.run(["parity", "make", "data"]).ends(3);
    assert!(said.stdout().contains("corrupt     data/0/1.jpg: not protected"), "{said:?}");
    assert!(said.stdout().contains("modified    data/1/4.jpg: not protected"), "{said:?}");
    assert!(said.stdout().contains("Protected 6 files"), "{said:?}");
    let again = summary(&tree, &["make", "data"], 3);
    assert_eq!((&again["files"], &again["sets_kept"]), (&6.into(), &1.into()), "{again}");
}

#[test]
fn a_set_is_not_given_up_while_a_file_in_it_needs_repair() {
    let tree = photographs();
    tree.run(["parity", "make", "data"]).succeeds();
    let first = sets(&tree)[0].clone();
    tree.edit("data/0/0.jpg");
    tree.corrupt("data/1/3.jpg");
    tree.run(["update", "data/0/0.jpg"]).ends(3);
    assert!(first.exists(), "it can restore the corrupt file");
    assert_eq!(sets(&tree).len(), 2);
    // The same for a file that is gone, until it is let go of.
    let tree = photographs();
    tree.run(["parity", "make", "data"]).succeeds();
    fs::remove_file(tree.path("data/0/2.jpg")).unwrap();
    let made = summary(&tree, &["update", "data"], 2);
    assert_eq!((&made["missing"], &made["sets_kept"]), (&1.into(), &1.into()), "{made}");
    let made = summary(&tree, &["update", "--forget-missing", "data"], 0);
    assert_eq!((&made["files"], &made["sets_removed"]), (&7.into(), &1.into()), "{made}");
}

#[test]
fn damage_in_the_parity_is_found_and_made_good() {
    let tree = photographs();
    tree.run(["parity", "make", "data"]).succeeds();
    let whole = fs::read(&sets(&tree)[0]).unwrap();
    let totals = summary(&tree, &["verify", "data"], 0);
    assert_eq!(totals["parity_bytes"], whole.len(), "{totals}");
    // The first header, the first index, the parity, the last header.
    for place in [10, 4096 + 10, whole.len() / 2, whole.len() - 10] {
        let set = fs::File::options().write(true).open(&sets(&tree)[0]).unwrap();
        set.write_all_at(&[whole[place] ^ 1], place as u64).unwrap();
        let said = tree.run(["parity", "verify", "data"]).ends(3);
        assert!(said.stdout().starts_with("damaged     "), "{said:?}");
        tree.run(["parity", "make", "data"]).succeeds();
        assert_eq!(fs::read(&sets(&tree)[0]).unwrap()[4096..8192], whole[4096..8192]);
        tree.run(["parity", "verify", "data"]).succeeds();
    }
    fs::File::options().write(true).open(&sets(&tree)[0]).unwrap().set_len(100).unwrap();
    tree.run(["parity", "verify", "data"]).ends(3);
    tree.run(["parity", "show", "data"]).ends(3);
}

#[test]
fn sets_are_shown_with_what_became_of_their_files() {
    let tree = photographs();
    tree.run(["parity", "make", "data"]).succeeds();
    fs::remove_file(tree.path("data/tiny")).unwrap();
    tree.edit("data/0/1.jpg");
    fs::rename(tree.path("data/.steadfast"), tree.path("aside")).unwrap();
    tree.run(["update", "data/0/1.jpg"]).succeeds();
    fs::rename(tree.path("aside"), tree.path("data/.steadfast")).unwrap();
    let said = tree.run(["parity", "show", "--json", "data"]).succeeds();
    let set: serde_json::Value =
        serde_json::from_str(said.stdout().lines().next().unwrap()).unwrap();
    assert_eq!(
        (&set["members"], &set["changed"], &set["missing"]),
        (&8.into(), &1.into(), &1.into())
    );
    let said = tree.run(["parity", "show", "--of", "0", "data"]).succeeds();
    assert!(said.stdout().contains("8 files; "), "{said:?}");
    tree.run(["parity", "show", "--of", "nowhere", "data"]).ends(2);
}

#[test]
fn nothing_that_was_planted_is_followed_or_removed() {
    let tree = photographs().file("outside/precious", b"mine");
    fs::create_dir(tree.path("data/.steadfast")).unwrap();
    symlink(tree.path("outside"), tree.path("data/.steadfast/parity")).unwrap();
    for verb in ["make", "verify", "show", "update"] {
        tree.run(["parity", verb, "data"]).ends(2);
    }
    tree.run(["parity", "drop", "--yes", "data"]).ends(2);
    assert_eq!(fs::read_dir(tree.path("outside")).unwrap().count(), 1);
    fs::remove_file(tree.path("data/.steadfast/parity")).unwrap();
    tree.run(["parity", "make", "data"]).succeeds();
    fs::write(tree.path("data/.steadfast/parity/notes"), "mine").unwrap();
    // Without --yes nobody can be asked.
    tree.run(["parity", "drop", "data"]).ends(2);
    assert_eq!(sets(&tree).len(), 1);
    tree.run(["parity", "drop", "--yes", "data"]).succeeds();
    assert_eq!(fs::read(tree.path("data/.steadfast/parity/notes")).unwrap(), b"mine");
}

#[test]
fn of_two_missing_files_with_the_same_contents_one_that_was_renamed_hides_no_other() {
    let twins = ["one", "two"].map(|name| format!("data/{name}"));
    let tree = photographs().file(&twins[0], b"twin").file(&twins[1], b"twin");
    let modified = fs::metadata(tree.path(&twins[0])).unwrap().modified().unwrap();
    fs::File::open(tree.path(&twins[1])).unwrap().set_modified(modified).unwrap();
    tree.run(["tag", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    fs::rename(tree.path(&twins[0]), tree.path("data/0/renamed")).unwrap();
    tree.run(["repair", "-n", "data"]).succeeds();
    fs::remove_file(tree.path(&twins[1])).unwrap();
    // Which of them was renamed is not known.
    let said = tree.run(["repair", "-n", "data"]).ends(3);
    assert!(twins.iter().all(|name| said.stdout().contains(name)), "{said:?}");
    fs::rename(tree.path("data/0/renamed"), tree.path("data/0/one")).unwrap();
    let said = tree.run(["repair", "-n", "data"]).ends(3);
    let named = twins.each_ref().map(|name| said.stdout().contains(name));
    assert_eq!(named, [false, true], "{said:?}");
}

#[test]
fn a_tree_without_tags_or_parity_is_no_success() {
    let tree = Tree::small();
    tree.run(["parity", "make", "."]).ends(2);
    tree.run(["parity", "drop", "--yes", "."]).succeeds();
    for verb in ["verify", "show", "update"] {
        let said = tree.run(["parity", verb, "."]).ends(2);
        assert!(said.stderr().contains("there is no parity"), "{said:?}");
    }
}

/// The tag of a file.
fn tag_of(tree: &Tree, name: &str) -> Tag {
    let path = tree.path(name);
    match tag_at(&File::open(&path).unwrap(), &path).unwrap() {
        StoredTag::Whole(tag) => tag,
        other => panic!("{name}: {other:?}"),
    }
}

/// What parity gives of a file beneath `data`: all its pages.
fn rebuilt(tree: &Tree, name: &str, tag: &Tag) -> RebuiltCopy {
    let place = ParityPlace::new(&tree.path("data"), None).unwrap();
    let source = ParitySource::open(&place).unwrap();
    let own = File::open(&tree.path("data").join(name)).ok();
    let copy = source.copy_of(name.as_ref(), tag, own.as_ref(), None, &false.into());
    copy.unwrap().expect("a set has the file")
}

fn bytes_of(copy: &RebuiltCopy, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len + 1];
    let mut end = 0;
    loop {
        match copy.file.read_at(&mut bytes[end..], end as u64).unwrap() {
            0 => break,
            read => end += read,
        }
    }
    bytes.truncate(end);
    bytes
}

#[test]
fn all_files_of_a_small_tree_come_back_from_parity() {
    let tree = photographs();
    tree.run(["parity", "make", "data"]).succeeds();
    let names = ["empty", "tiny", "0/0.jpg", "0/1.jpg", "0/2.jpg", "1/3.jpg", "1/4.jpg", "1/5.jpg"];
    let before: Vec<(Tag, Vec<u8>)> = names
        .iter()
        .map(|name| {
            let name = format!("data/{name}");
            (tag_of(&tree, &name), fs::read(tree.path(&name)).unwrap())
        })
        .collect();
    names.iter().for_each(|name| fs::remove_file(tree.path("data").join(name)).unwrap());
    for (name, (tag, bytes)) in names.iter().zip(&before) {
        let copy = rebuilt(&tree, name, tag);
        assert_eq!(copy.lost_pages, 0, "{name}");
        assert!(bytes_of(&copy, bytes.len()) == *bytes, "{name}");
    }
    // Of another tag, there is nothing.
    let place = ParityPlace::nearest(&tree.path("data/0")).unwrap().unwrap();
    let source = ParitySource::open(&place).unwrap();
    let other = before[2].0;
    let copy = source.copy_of("0/1.jpg".as_ref(), &other, None, None, &false.into());
    assert!(copy.unwrap().is_none());
}

#[test]
fn a_file_that_is_longer_than_a_set_is_cut_and_survives_a_burst() {
    // With as much parity as data, a set has 8 MiB.
    let bytes = contents(3, (40 << 20) + 5000);
    let tree = photographs().file("data/film", &bytes);
    tree.run(["tag", "data"]).succeeds();
    let made = summary(&tree, &["make", "--redundancy", "100", "data"], 0);
    assert_eq!((&made["files"], &made["sets_made"]), (&9.into(), &7.into()), "{made}");
    let made = summary(&tree, &["update", "data"], 0);
    assert_eq!((&made["files"], &made["sets_kept"]), (&9.into(), &7.into()), "{made}");
    let tag = tag_of(&tree, "data/film");
    let film = fs::File::options().write(true).open(tree.path("data/film")).unwrap();
    film.write_all_at(&vec![0xEE; 20 << 20], 3 << 20).unwrap();
    let copy = rebuilt(&tree, "film", &tag);
    assert_eq!((copy.rebuilt_pages, copy.lost_pages), (5120, 0));
    assert!(bytes_of(&copy, bytes.len()) == bytes);
    // A set that is gone makes the file one that is not protected, and the file fails its tag.
    film.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let lost = sets(&tree).into_iter().max_by_key(|set| fs::metadata(set).unwrap().len()).unwrap();
    fs::remove_file(lost).unwrap();
    let made = summary(&tree, &["update", "data"], 2);
    assert_eq!((&made["files"], &made["not_protected"]), (&8.into(), &1.into()), "{made}");
    assert_eq!((&made["sets_made"], &made["sets_removed"]), (&0.into(), &0.into()), "{made}");
    assert_eq!(sets(&tree).len(), 6, "the other sets may still repair most of it");
}

#[test]
fn parity_of_another_tree_is_not_forgotten() {
    let tree = photographs().file("other/x/0.jpg", b"another tree");
    tree.run(["tag", "other"]).succeeds();
    fs::create_dir(tree.path("elsewhere")).unwrap();
    tree.run(["parity", "make", "--parity-at", "elsewhere", "data"]).succeeds();
    let words = ["parity", "update", "--forget-missing", "--parity-at", "elsewhere", "other"];
    let said = tree.run(words).ends(2);
    assert!(said.stderr().contains("parity of another tree"), "{said:?}");
    tree.run(["parity", "verify", "--parity-at", "elsewhere", "data"]).succeeds();
    let said = tree.run(["parity", "update", "--parity-at", "elsewhere", "data"]).succeeds();
    assert!(said.stdout().contains("0 removed"), "{said:?}");
}
