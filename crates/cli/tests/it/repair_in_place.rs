//! `repair --in-place`: a file keeps its inode and all its names, and a repair that was cut off is
//! finished by the next one.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use steadfast_testing::{Need, skip};

use crate::repair::{copied, decay, facts, flip, names, without_catalogue};
use crate::tree::{Outcome, Tree};

#[test]
fn a_file_with_several_names_is_repaired_under_all_of_them() {
    let tree = copied();
    fs::hard_link(tree.path("data/film"), tree.path("data/sub/film")).unwrap();
    tree.run(["tag", "data"]).succeeds();
    let before = facts(&tree.path("data/film"));
    let inode = fs::metadata(tree.path("data/film")).unwrap().ino();
    flip(&tree.path("data/film"), &[5, 9000]);
    // A new file would part its names, so this one is written in place unasked.
    let said = tree.run(["repair", "--yes", "--from", "one", "data/film"]).succeeds();
    assert!(said.stdout().contains("also as `sub/film`"), "{}", said.stdout());
    for name in ["data/film", "data/sub/film"] {
        assert_eq!(facts(&tree.path(name)), before, "{name}");
        assert_eq!(fs::metadata(tree.path(name)).unwrap().ino(), inode, "{name}");
    }
    tree.run(["check", "data"]).succeeds();
    // Two pages are kept, with what they had.
    let kept = tree.path("data/.steadfast/damaged/1/film.pages");
    let length = fs::metadata(&kept).unwrap().len();
    assert!((16384..17000).contains(&length), "{length}");
    let history = tree.run(["show", "--history", "data/film"]).succeeds();
    assert!(history.stdout().contains("repaired: 2 pages from"), "{}", history.stdout());
    tree.run(["repair", "--discard", "1", "data"]).succeeds();
    assert!(!kept.exists());
    // Selected together, the second name is found repaired.
    flip(&tree.path("data/film"), &[5]);
    let said = tree.run(["repair", "--yes", "--json", "--in-place", "--from", "one", "data"]);
    let objects = said.succeeds().objects();
    let outcomes: Vec<_> = objects.iter().map(|object| object["outcome"].as_str()).collect();
    assert_eq!(outcomes[..2], [Some("repaired"); 2]);
    let mut others: Vec<_> =
        objects[..2].iter().map(|it| it["other_names"][0]["path"].as_str()).collect();
    others.sort();
    assert_eq!(others, [Some("film"), Some("sub/film")]);
    // Its pages are kept once.
    assert_eq!(names(&tree.path("data/.steadfast/damaged/1")).len(), 1);
}

#[test]
fn every_name_under_which_an_edit_is_undone_is_told_without_a_catalogue_too() {
    let (tree, contents) = without_catalogue(20_000);
    fs::create_dir(tree.path("data/deep")).unwrap();
    fs::hard_link(tree.path("data/film"), tree.path("data/deep/film")).unwrap();
    fs::write(tree.path("data/film"), b"edited").unwrap();
    let how = ["repair", "--yes", "--in-place", "--to-tag", "--from", "copy", "data/film"];
    let said = tree.run(how);
    assert_eq!(fs::read(tree.path("data/deep/film")).unwrap(), contents, "{said:?}");
    assert!(said.stdout().contains("also as `deep/film`"), "{said:?}");
}

#[test]
fn cut_grown_and_wholly_damaged_files_come_back_in_place() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 6] = [
        ("cut", |bytes| bytes.truncate(20_000)),
        ("emptied", Vec::clear),
        ("grown", |bytes| bytes.extend([7; 9000])),
        ("grown within a page", |bytes| bytes.extend([7; 9])),
        ("all", |bytes| bytes.fill(1)),
        ("shifted", |bytes| bytes.insert(0, 1)),
    ];
    for (name, damage) in damages {
        let tree = copied();
        let before = facts(&tree.path("data/film"));
        decay(&tree.path("data/film"), damage);
        let arguments = ["repair", "--yes", "--in-place", "--from", "one", "data/film"];
        tree.run(arguments).succeeds();
        assert_eq!(facts(&tree.path("data/film")), before, "{name}");
        assert_eq!(names(&tree.path("data")), [".steadfast", "film", "other", "sub"], "{name}");
    }
}

#[test]
fn what_no_copy_has_leaves_the_file_untouched_in_place() {
    let tree = copied();
    flip(&tree.path("data/film"), &[5, 5000]);
    flip(&tree.path("one/film"), &[4099]);
    let damaged = facts(&tree.path("data/film"));
    let arguments = ["repair", "--yes", "--in-place", "--from", "one", "data/film"];
    tree.run(arguments).ends(3);
    assert_eq!(facts(&tree.path("data/film")), damaged);
    // Writing would take the set-user bit away.
    let (tree, _) = without_catalogue(10_000);
    fs::set_permissions(tree.path("data/film"), fs::Permissions::from_mode(0o4755)).unwrap();
    let damaged = facts(&tree.path("data/film"));
    let said = tree.run(["repair", "--yes", "--in-place", "--from", "copy", "data"]).ends(3);
    assert!(said.stdout().contains("set-user bits"), "{}", said.stdout());
    assert_eq!(facts(&tree.path("data/film")), damaged);
}

#[test]
fn holes_stay_holes_and_missing_files_are_made_as_ever() {
    let (tree, contents) = without_catalogue(3_000_000);
    let tree = tree.file("data/hole", b"").file("copy/hole", b"");
    for name in ["data/hole", "copy/hole"] {
        fs::File::options().write(true).open(tree.path(name)).unwrap().set_len(9 << 20).unwrap();
    }
    tree.run(["tag", "data/hole"]).succeeds();
    decay(&tree.path("data/hole"), Vec::clear);
    let arguments = ["repair", "--yes", "--in-place", "--from", "copy", "data"];
    tree.run(arguments).succeeds();
    assert_eq!(fs::read(tree.path("data/film")).unwrap(), contents);
    let hole = fs::metadata(tree.path("data/hole")).unwrap();
    assert_eq!((hole.len(), hole.blocks()), (9 << 20, 0));
}

#[test]
fn planted_journals_change_nothing() {
    let (tree, _) = without_catalogue(50_000);
    let arguments = ["repair", "--yes", "--in-place", "--from", "copy", "data"];
    tree.run(arguments).succeeds();
    let whole = facts(&tree.path("data/film"));
    let inode = fs::metadata(tree.path("data/film")).unwrap().ino();
    let kept = tree.path("data/.steadfast/damaged/1/film.pages");
    let unfinished = tree.path("data/.steadfast/damaged/unfinished");
    let planted = unfinished.join(format!("{inode:016x}.pages"));
    let plant = || {
        fs::create_dir_all(&unfinished).unwrap();
        fs::copy(&kept, &planted).unwrap();
    };
    // The journal of a repair that was finished: it is finished again, to the same contents.
    plant();
    tree.run(["repair", "--yes", "data"]).succeeds();
    assert_eq!(facts(&tree.path("data/film")), whole);
    assert!(!unfinished.exists());
    // An edited file is not what the journal says, so it stays.
    tree.edit("data/film");
    let edited = facts(&tree.path("data/film"));
    plant();
    let said = tree.run(["check", "data"]);
    let text = format!("{}{}", said.stdout(), said.stderr());
    assert!(said.status != 0 && text.contains("was cut off"), "{text}");
    let said = tree.run(["repair", "--yes", "data"]).ends(2);
    assert!(said.stderr().contains("it is left as it is"), "{}", said.stderr());
    assert_eq!(facts(&tree.path("data/film")), edited);
    // Links are not followed, and half a journal is none.
    assert!(!unfinished.exists());
    fs::create_dir(&unfinished).unwrap();
    symlink(&kept, &planted).unwrap();
    tree.run(["repair", "--yes", "data"]).ends(2);
    fs::remove_file(&planted).unwrap();
    fs::write(&planted, &fs::read(&kept).unwrap()[..5000]).unwrap();
    // The file looks edited, and may be half-written.
    tree.run(["check", "--quiet", "data/film"]).ends(2);
    let said = tree.run(["repair", "--yes", "data"]).ends(2);
    assert!(said.stderr().contains("the journal is damaged"), "{}", said.stderr());
    assert_eq!(facts(&tree.path("data/film")), edited);
}

#[test]
fn what_killed_repairs_left_is_cleared_up_and_nothing_of_it_is_lost() {
    let tree = Tree::new().file("data/film", b"film").file("victim", b"mine");
    tree.run(["tag", "data"]).succeeds();
    let unfinished = tree.path("data/.steadfast/damaged/unfinished");
    fs::create_dir_all(&unfinished).unwrap();
    let leave = |name: &str, contents: &[u8]| {
        fs::write(unfinished.join(name), contents).unwrap();
        fs::metadata(unfinished.join(name)).unwrap().ino()
    };
    let note = |name: &str, inode: u64, path: &str| {
        leave(name, &[&inode.to_le_bytes(), path.as_bytes()].concat());
    };
    leave(".steadfast-0123456789abcdef.draft", b"half a note");
    leave("00000000000000aa.draft", b"never exchanged");
    let draft = leave("00000000000000bb.draft", b"about to be exchanged");
    note("00000000000000bb.path", draft, "film");
    leave("00000000000000cc.draft", b"damaged");
    note("00000000000000cc.path", 1, "sub/film");
    leave("00000000000000dd.draft", b"damaged, of an unknown path");
    leave("00000000000000dd.path", b"x");
    note("00000000000000ee.path", 1, "film");
    let said = tree.run(["check", "--json", "data"]).succeeds();
    assert_eq!(said.summary()["files"], 1);
    let text = format!("{}{}", said.stdout(), said.stderr());
    assert!(text.contains("was cut off, or goes on"), "{text}");
    let said = tree.run(["repair", "--yes", "data"]).succeeds();
    assert!(said.stderr().contains("kept the damaged file"), "{}", said.stderr());
    assert!(said.stdout().contains("--discard 1"), "{}", said.stdout());
    let kept = tree.path("data/.steadfast/damaged/1");
    assert_eq!(names(&kept), ["00000000000000dd.draft", "sub"]);
    assert_eq!(fs::read(kept.join("sub/film")).unwrap(), b"damaged");
    assert_eq!(names(&tree.path("data/.steadfast/damaged")), ["1"]);
    // A planted path leads nowhere, and what is foreign stays.
    fs::create_dir(&unfinished).unwrap();
    leave("mine", b"mine");
    leave("00000000000000cc.draft", b"evil");
    note("00000000000000cc.path", 1, "../../../../victim");
    let said = tree.run(["repair", "--yes", "data"]).ends(2);
    assert!(said.stderr().contains("cannot be cleared up"), "{}", said.stderr());
    assert_eq!(fs::read(tree.path("victim")).unwrap(), b"mine");
    assert_eq!(names(&tree.path("")), ["data", "victim"]);
    assert_eq!(fs::read(unfinished.join("mine")).unwrap(), b"mine");
}

#[test]
fn what_another_user_left_and_nobody_else_can_read_is_told() {
    let tree = Tree::new().file("data/film", b"film");
    tree.run(["tag", "data"]).succeeds();
    if let Err(error) = std::os::unix::fs::chown(tree.path("data"), Some(12_345), None) {
        return skip(Need::Root, error);
    }
    let unfinished = tree.path("data/.steadfast/damaged/unfinished");
    let damaged = unfinished.parent().unwrap();
    fs::create_dir_all(&unfinished).unwrap();
    let open_to =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    open_to(&tree.path(""), 0o755);
    let as_other = |verb: &str| Outcome::of(tree.command([verb, "data"]).uid(12_345));
    for closed in [unfinished.as_path(), damaged] {
        open_to(closed, 0o700);
        for verb in ["check", "update"] {
            let said = as_other(verb).ends(2);
            assert!(said.stderr().contains("it cannot be told whether"), "{verb}: {said:?}");
        }
        open_to(closed, 0o755);
    }
    as_other("check").succeeds();
}
