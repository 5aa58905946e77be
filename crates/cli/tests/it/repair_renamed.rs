//! `repair` of files that were renamed, that lost their tags, and of trees that lost all files.

use std::fs;
use std::path::Path;

use crate::repair::{copied, decay};
use crate::tree::Tree;

/// Removes the tag of a file, as a copy without attributes does.
fn drop_tag(path: &Path) {
    let file = steadfast_sys::file::File::open(path).unwrap();
    steadfast_sys::xattr::remove(&file, steadfast_sys::xattr::TAG).unwrap();
}

fn contents(tree: &Tree, name: &str) -> Vec<u8> {
    fs::read(tree.path(name)).unwrap()
}

/// A tree of logs of one length, a copy of it, and what the logs hold.
fn logs() -> (Tree, Vec<Vec<u8>>) {
    let held: Vec<Vec<u8>> = (0..4_u8).map(|at| vec![at + 1; 9_000]).collect();
    let names = ["data/log", "data/log.1", "data/log.2", "data/log.3"];
    let tree =
        names.iter().zip(&held).fold(Tree::new(), |tree, (name, held)| tree.file(name, held));
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    let status = std::process::Command::new("cp")
        .args(["-a", "data", "one"])
        .current_dir(tree.path(""))
        .status();
    assert!(status.unwrap().success());
    fs::remove_dir_all(tree.path("one/.steadfast")).unwrap();
    (tree, held)
}

fn rotate(tree: &Tree) {
    for (from, to) in [("log.2", "log.3"), ("log.1", "log.2"), ("log", "log.1")] {
        fs::rename(tree.path("data").join(from), tree.path("data").join(to)).unwrap();
    }
}

#[test]
fn rotated_logs_get_their_own_contents_back_and_never_those_of_their_names() {
    for drops in [false, true] {
        let (tree, held) = logs();
        rotate(&tree);
        for name in ["data/log.1", "data/log.2", "data/log.3"] {
            if drops {
                drop_tag(&tree.path(name));
            }
        }
        decay(&tree.path("data/log.2"), |bytes| bytes[5_000] ^= 1);
        let said = tree.run(["repair", "--yes", "--from", "one", "data"]);
        assert!(said.status == 0 || said.status == 1, "{said:?}");
        for (at, name) in ["data/log.1", "data/log.2", "data/log.3"].iter().enumerate() {
            assert_eq!(contents(&tree, name), held[at], "{name}, {said:?}");
        }
        tree.run(["check", "data"]).succeeds();
    }
}

#[test]
fn a_file_that_was_renamed_and_decayed_is_repaired_by_what_is_known_under_its_old_name() {
    for drops in [false, true] {
        let tree = copied();
        let film = contents(&tree, "data/film");
        fs::create_dir(tree.path("data/new")).unwrap();
        fs::rename(tree.path("data/film"), tree.path("data/new/name")).unwrap();
        if drops {
            drop_tag(&tree.path("data/new/name"));
        }
        decay(&tree.path("data/new/name"), |bytes| bytes[9_000] ^= 1);
        tree.run(["repair", "--yes", "--from", "one", "data"]).succeeds();
        assert_eq!(contents(&tree, "data/new/name"), film, "drops {drops}");
        assert!(!tree.path("data/film").exists());
        tree.run(["check", "data"]).succeeds();
    }
}

#[test]
fn parity_of_the_old_name_repairs_a_renamed_file() {
    for has_catalogue in [true, false] {
        let names: Vec<String> = (0..30).map(|at| format!("data/{at:02}")).collect();
        let held = |at: usize| vec![at as u8 + 1; 20_000];
        let tree = names
            .iter()
            .enumerate()
            .fold(Tree::new(), |tree, (at, name)| tree.file(name, &held(at)));
        if has_catalogue {
            tree.run(["init", "--tags-only", "data"]).succeeds();
        }
        tree.run(["tag", "data"]).succeeds();
        tree.run(["parity", "make", "data"]).succeeds();
        fs::rename(tree.path("data/07"), tree.path("data/renamed")).unwrap();
        decay(&tree.path("data/renamed"), |bytes| bytes[9_000] ^= 1);
        let said = tree.run(["repair", "--yes", "data"]);
        assert_eq!(contents(&tree, "data/renamed"), held(7), "{has_catalogue}: {said:?}");
        assert!(!tree.path("data/07").exists(), "{said:?}");
        assert_eq!(said.status, 0, "{said:?}");
    }
}

#[test]
fn tags_are_given_back() {
    for (has_catalogue, in_place) in [(true, false), (true, true), (false, false), (false, true)] {
        let tree = Tree::small();
        if has_catalogue {
            tree.run(["init", "--tags-only", "."]).succeeds();
        }
        tree.run(["tag", "."]).succeeds();
        tree.run(["parity", "make", "."]).succeeds();
        tree.damage_tag("a");
        drop_tag(&tree.path("b"));
        tree.damage_tag("sub/c");
        decay(&tree.path("sub/c"), |bytes| bytes[0] ^= 1);
        let plan = tree.run(["repair", "--dry-run", "."]).ends(3);
        assert!(plan.stdout().contains("a: can be repaired: its tag is known"), "{plan:?}");
        let how: &[&str] = if in_place { &["--in-place"] } else { &[] };
        let said = tree.run([&["repair", "--yes"], how, &["."]].concat());
        assert!(said.stdout().contains("a: repaired: it has its tag again"), "{said:?}");
        assert!(said.stdout().contains("b: repaired: it has its tag again"), "{said:?}");
        assert!(said.stdout().ends_with(" PATH\n") && said.stdout().contains("Repaired 3 files."));
        assert_eq!((said.status, contents(&tree, "sub/c")), (0, b"gamma".to_vec()), "{said:?}");
        tree.run(["check", "--require-tags", "."]).succeeds();
    }
}

#[test]
fn an_edited_file_without_a_tag_is_left_alone() {
    let tree = Tree::tagged();
    tree.run(["parity", "make", "."]).succeeds();
    tree.edit("a");
    drop_tag(&tree.path("a"));
    tree.run(["repair", "--yes", "."]).succeeds();
    assert_eq!(contents(&tree, "a"), b"edited");
}

#[test]
fn a_tree_that_lost_all_files_gets_them_back_once_that_is_said() {
    let tree = copied();
    let film = contents(&tree, "data/film");
    for name in ["film", "other", "sub/note"] {
        fs::remove_file(tree.path("data").join(name)).unwrap();
    }
    fs::remove_dir(tree.path("data/sub")).unwrap();
    let said = tree.run(["repair", "--yes", "--from", "one", "data"]).ends(2);
    assert!(said.stderr().contains("steadfast repair --all-lost --from COPY"), "{said:?}");
    assert!(!tree.path("data/film").exists());
    tree.run(["repair", "--yes", "--all-lost", "--from", "one", "data"]).succeeds();
    assert_eq!(contents(&tree, "data/film"), film);
    assert_eq!(contents(&tree, "data/sub/note"), b"a short note");
    tree.run(["check", "data"]).succeeds();
}

#[test]
fn a_tree_that_lost_all_files_gets_them_back_from_parity() {
    for has_catalogue in [true, false] {
        let tree = Tree::small();
        if has_catalogue {
            tree.run(["init", "--tags-only", "."]).succeeds();
        }
        tree.run(["tag", "."]).succeeds();
        tree.run(["parity", "make", "."]).succeeds();
        fs::remove_file(tree.path("a")).unwrap();
        fs::remove_file(tree.path("b")).unwrap();
        fs::remove_dir_all(tree.path("sub")).unwrap();
        if has_catalogue {
            let said = tree.run(["repair", "--yes", "."]).ends(2);
            assert!(said.stderr().contains("--all-lost"), "{said:?}");
        }
        // Parity knows no folders, so the mode of `sub` is known to a catalogue only.
        let status = if has_catalogue { 0 } else { 2 };
        tree.run(["repair", "--yes", "--all-lost", "."]).ends(status);
        assert_eq!(contents(&tree, "sub/c"), b"gamma");
        tree.run(["check", "--require-tags", "."]).succeeds();
    }
}

#[test]
fn contents_come_back_with_their_own_rights_and_not_with_those_of_a_later_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let (tree, held) = logs();
    let mode = |name: &str| fs::metadata(tree.path(name)).unwrap().permissions().mode() & 0o777;
    let set = |name: &str, mode| {
        fs::set_permissions(tree.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("data/log", 0o600);
    tree.run(["check", "data"]).succeeds();
    fs::rename(tree.path("data/log"), tree.path("data/log.old")).unwrap();
    fs::write(tree.path("data/log"), b"a new one, for everybody").unwrap();
    set("data/log", 0o644);
    tree.run(["check", "data"]).ends(1);
    // While it is whole under its new name, it is not missing.
    fs::remove_file(tree.path("data/log")).unwrap();
    fs::remove_file(tree.path("data/log.old")).unwrap();
    tree.run(["repair", "--yes", "--from", "one", "data"]);
    assert_eq!((contents(&tree, "data/log"), mode("data/log")), (held[0].clone(), 0o600));
}

/// Writes a file as editors do: under another name, which then replaces it.
fn save_anew(tree: &Tree, name: &str, held: &[u8]) {
    let path = tree.path(name);
    fs::write(path.with_extension("new"), held).unwrap();
    fs::rename(path.with_extension("new"), path).unwrap();
}

/// A tree with a catalogue and parity.
fn protected() -> Tree {
    let tree = (0..8_u8).fold(Tree::new(), |tree, at| {
        tree.file(format!("data/{at}"), &[&vec![at + 1; 9_000], &[at][..]].concat())
    });
    tree.run(["init", "--tags-only", "data"]).succeeds();
    tree.run(["tag", "data"]).succeeds();
    tree.run(["parity", "make", "data"]).succeeds();
    tree
}

#[test]
fn a_file_that_was_renamed_and_edited_does_not_come_back_under_its_old_name() {
    let edits: [fn(&Tree); 5] = [
        // Before the same run.
        |tree| {
            fs::rename(tree.path("data/3"), tree.path("data/new")).unwrap();
            fs::write(tree.path("data/new"), b"edited").unwrap();
        },
        // After a run, in place and by a new file.
        |tree| {
            fs::write(tree.path("data/3"), b"edited").unwrap();
            tree.run(["check", "data"]).ends(1);
            fs::rename(tree.path("data/3"), tree.path("data/new")).unwrap();
        },
        |tree| {
            save_anew(tree, "data/3", b"edited");
            tree.run(["check", "data"]).ends(1);
            fs::rename(tree.path("data/3"), tree.path("data/new")).unwrap();
        },
        // After a run that does not read it.
        |tree| {
            save_anew(tree, "data/3", b"edited");
            tree.run(["tag", "data"]);
            fs::rename(tree.path("data/3"), tree.path("data/new")).unwrap();
        },
        |tree| {
            drop_tag(&tree.path("data/3"));
            fs::write(tree.path("data/3"), b"edited").unwrap();
            tree.run(["tag", "data"]);
            fs::rename(tree.path("data/3"), tree.path("data/new")).unwrap();
            fs::rename(tree.path("data/5"), tree.path("data/moved")).unwrap();
            fs::rename(tree.path("data/new"), tree.path("data/5")).unwrap();
            tree.run(["check", "data"]);
            fs::rename(tree.path("data/5"), tree.path("data/new")).unwrap();
        },
    ];
    let runs: [&[&str]; 4] =
        [&["update", "--accept-many", "data"], &["tag", "data"], &["check", "data/new"], &["help"]];
    for (at, edit) in edits.into_iter().enumerate() {
        for run in runs {
            let tree = protected();
            edit(&tree);
            tree.run(run);
            let said = tree.run(["repair", "--yes", "data"]);
            assert!(!tree.path("data/3").exists(), "{at}, {run:?}: {said:?}");
            assert_eq!(contents(&tree, "data/new"), b"edited", "{at}, {run:?}");
        }
    }
}

#[test]
fn a_file_that_left_its_name_to_a_new_one_does_not_come_back_when_that_is_deleted() {
    // A run may see the new name before the one that the file left.
    for first in ["data", "data/log.1"] {
        let (tree, held) = logs();
        for _ in 0..2 {
            rotate(&tree);
            fs::write(tree.path("data/log"), b"a new log").unwrap();
            tree.run(["check", first]);
            tree.run(["check", "data"]);
        }
        fs::remove_file(tree.path("data/log")).unwrap();
        let said = tree.run(["repair", "--yes", "data"]);
        assert!(!tree.path("data/log").exists(), "{first}: {said:?}");
        assert_eq!(contents(&tree, "data/log.2"), held[0], "{first}: {said:?}");
    }
}

#[test]
fn a_new_file_that_took_the_name_of_a_rotated_one_takes_no_tag_of_it_along() {
    let renames: [fn(&Tree); 2] = [
        |tree| fs::rename(tree.path("data/log"), tree.path("data/new")).unwrap(),
        |tree| {
            // Swapped with a file that has a record of its own.
            fs::rename(tree.path("data/log"), tree.path("data/new")).unwrap();
            fs::rename(tree.path("data/log.3"), tree.path("data/log")).unwrap();
            fs::rename(tree.path("data/new"), tree.path("data/log.3")).unwrap();
        },
    ];
    for (rename, new) in renames.into_iter().zip(["data/new", "data/log.3"]) {
        for verb in ["check", "tag"] {
            let (tree, held) = logs();
            rotate(&tree);
            fs::write(tree.path("data/log"), b"a new log").unwrap();
            tree.run(["check", "data"]).ends(1);
            rename(&tree);
            let said = tree.run([verb, "data"]);
            fs::remove_file(tree.path(new)).unwrap();
            let repaired = tree.run(["repair", "--yes", "data"]);
            if tree.path(new).exists() {
                assert_eq!(contents(&tree, new), b"a new log", "{said:?} {repaired:?}");
            }
            assert_eq!(contents(&tree, "data/log.1"), held[0], "{said:?} {repaired:?}");
        }
    }
}

#[test]
fn a_new_name_that_a_run_of_a_part_saw_first_is_that_of_the_old_one() {
    let (tree, _) = logs();
    fs::rename(tree.path("data/log"), tree.path("data/new")).unwrap();
    tree.run(["check", "data/new"]).succeeds();
    // A program saves it anew, so that neither its inode nor its tag is that of the old name.
    fs::write(tree.path("data/draft"), b"edited").unwrap();
    fs::rename(tree.path("data/draft"), tree.path("data/new")).unwrap();
    let said = tree.run(["repair", "--yes", "--from", "one", "data"]);
    assert!(!tree.path("data/log").exists(), "{said:?}");
    assert_eq!(contents(&tree, "data/new"), b"edited", "{said:?}");
    // A further name of a file is none that it moved to.
    fs::hard_link(tree.path("data/log.1"), tree.path("data/link")).unwrap();
    tree.run(["check", "data/link"]).succeeds();
    let history = tree.run(["show", "--history", "data/link"]).succeeds();
    assert!(!history.stdout().contains("log.1"), "{history:?}");
}

#[test]
fn a_run_of_one_name_forgets_no_file_that_went_on_to_another() {
    for (is_new, verb) in [(false, "check"), (false, "tag"), (true, "check"), (true, "tag")] {
        let (tree, held) = logs();
        ["data/log", "data/log.1", "data/log.2"].iter().for_each(|name| drop_tag(&tree.path(name)));
        rotate(&tree);
        if is_new {
            fs::rename(tree.path("data/log.3"), tree.path("data/log.4")).unwrap();
        }
        let last = if is_new { "data/log.4" } else { "data/log.3" };
        tree.run([verb, "data/log.2"]);
        decay(&tree.path(last), |bytes| bytes[5_000] ^= 1);
        let said = tree.run(["update", "--accept-many", "data"]).ends(3);
        assert!(said.stdout().contains(&format!("corrupt     {last}")), "{said:?}");
        let said = tree.run(["repair", "--yes", "--from", "one", "data"]);
        assert!(contents(&tree, last) == held[2], "{said:?}");
    }
}

#[test]
fn a_file_whose_new_name_no_run_saw_before_its_old_one_is_known_by_its_length_and_time() {
    for (reads, verb) in [(false, "tag"), (true, "check"), (false, "update")] {
        let (tree, held) = logs();
        drop_tag(&tree.path("data/log"));
        fs::rename(tree.path("data/log"), tree.path("data/log.old")).unwrap();
        fs::write(tree.path("data/log"), b"a new log").unwrap();
        tree.run([if reads { "check" } else { "tag" }, "data/log"]);
        decay(&tree.path("data/log.old"), |bytes| bytes[5_000] ^= 1);
        let said = tree.run([verb, "data"]);
        if verb != "tag" {
            assert!(said.stdout().contains("corrupt     data/log.old"), "{said:?}");
        }
        let said = tree.run(["repair", "--yes", "--from", "one", "data"]);
        assert!(contents(&tree, "data/log.old") == held[0], "{reads} {verb}: {said:?}");
        assert!(contents(&tree, "data/log") == b"a new log", "{reads} {verb}: {said:?}");
    }
}

#[test]
fn a_renamed_file_that_was_cut_or_extended_is_not_let_go() {
    let damages: [fn(&mut Vec<u8>); 2] =
        [|bytes| bytes.truncate(5_000), |bytes| bytes.extend([7; 100])];
    for (damage, drops) in damages.into_iter().zip([false, true]) {
        let tree = protected();
        let held = contents(&tree, "data/3");
        decay(&tree.path("data/3"), damage);
        fs::rename(tree.path("data/3"), tree.path("data/new")).unwrap();
        if drops {
            drop_tag(&tree.path("data/new"));
        }
        fs::remove_file(tree.path("data/4")).unwrap();
        let said = tree.run(["update", "--accept-many", "--accept-missing", "data"]);
        assert!(!said.stdout().contains("data/3"), "{said:?}");
        assert!(said.stdout().contains("data/4"), "{said:?}");
        let said = tree.run(["repair", "--yes", "data"]);
        assert!(contents(&tree, "data/new") == held, "{said:?}");
        assert!(!tree.path("data/3").exists() && !tree.path("data/4").exists(), "{said:?}");
    }
}

#[test]
fn a_file_at_the_name_of_an_equal_one_does_not_come_back_under_its_old_name() {
    for (held, verb, swaps) in [
        (&b""[..], "tag", true),
        (b"", "check", false),
        (b"equal", "tag", true),
        (b"equal", "check", false),
    ] {
        let tree = Tree::new().file("data/a", held).file("data/b", held).file("data/other", b"o");
        tree.run(["init", "data"]).succeeds();
        if swaps {
            fs::rename(tree.path("data/b"), tree.path("data/new")).unwrap();
        }
        fs::rename(tree.path("data/a"), tree.path("data/b")).unwrap();
        let said = tree.run([verb, "data"]);
        let repaired = tree.run(["repair", "--yes", "data"]);
        assert!(!tree.path("data/a").exists(), "{held:?} {verb}: {said:?} {repaired:?}");
        tree.run(["check", "data"]).succeeds();
    }
}

#[test]
fn of_two_names_of_one_file_that_are_gone_the_renamed_one_does_not_come_back() {
    // A check of one name says nothing of the other.
    let tree = Tree::new().file("data/z", b"contents");
    fs::hard_link(tree.path("data/z"), tree.path("data/b")).unwrap();
    tree.run(["init", "data"]).succeeds();
    fs::rename(tree.path("data/b"), tree.path("data/d")).unwrap();
    tree.run(["check", "data/z"]).succeeds();
    fs::remove_file(tree.path("data/z")).unwrap();
    let said = tree.run(["repair", "--yes", "data"]);
    assert!(!tree.path("data/b").exists(), "{said:?}");
    // One that was missing before did not become the new one.
    let tree = Tree::new().file("data/b", b"contents");
    fs::hard_link(tree.path("data/b"), tree.path("data/a")).unwrap();
    tree.run(["init", "data"]).succeeds();
    fs::remove_file(tree.path("data/a")).unwrap();
    tree.run(["check", "data"]).ends(1);
    fs::rename(tree.path("data/b"), tree.path("data/d")).unwrap();
    let said = tree.run(["check", "data"]).ends(1);
    assert!(said.stdout().contains("moved       data/b"), "{said:?}");
    let said = tree.run(["repair", "--yes", "data"]);
    assert!(!tree.path("data/b").exists(), "{said:?}");
}

#[test]
fn a_file_that_lost_its_tag_and_was_cut_and_renamed_over_another_is_not_tagged() {
    let tree = protected();
    drop_tag(&tree.path("data/3"));
    fs::rename(tree.path("data/3"), tree.path("data/4")).unwrap();
    decay(&tree.path("data/4"), |bytes| bytes.truncate(5_000));
    tree.run(["update", "--accept-many", "data"]).ends(3);
    let file = steadfast_sys::file::File::open(&tree.path("data/4")).unwrap();
    let tag = steadfast_sys::xattr::get(&file, steadfast_sys::xattr::TAG, &mut [0; 256]);
    assert_eq!(tag.unwrap(), None);
}

#[test]
fn what_a_rename_overwrote_is_named_by_a_repair() {
    let (tree, held) = logs();
    fs::rename(tree.path("data/log"), tree.path("data/log.1")).unwrap();
    // The next check does not say it again.
    let said = tree.run(["repair", "--yes", "data"]).ends(1);
    assert!(said.stderr().contains("`data/log.1`: its contents are gone"), "{}", said.stderr());
    tree.run(["check", "data"]).succeeds();
    assert_eq!(contents(&tree, "data/log.1"), held[0]);
}

#[test]
fn an_empty_file_that_was_filled_and_renamed_does_not_come_back_under_its_old_name() {
    for is_accepted in [false, true] {
        let tree = Tree::new().file("data/empty", b"").file("data/other", b"other");
        tree.run(["init", "data"]).succeeds();
        fs::create_dir(tree.path("copy")).unwrap();
        fs::copy(tree.path("data/empty"), tree.path("copy/empty")).unwrap();
        fs::write(tree.path("data/empty"), b"filled").unwrap();
        fs::rename(tree.path("data/empty"), tree.path("data/full")).unwrap();
        if is_accepted {
            tree.run(["update", "data"]);
        }
        tree.run(["repair", "--yes", "--from", "copy", "data"]);
        assert!(!tree.path("data/empty").exists(), "{is_accepted}");
        assert_eq!(contents(&tree, "data/full"), b"filled");
    }
}
