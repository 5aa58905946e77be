//! What is found, in which order, under which name, and what is passed by.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use steadfast::{Selection, Subject, Verb, Verdict};

use crate::tree::{Tree, run_on};

fn names(tree: &Tree, said: &crate::tree::Said) -> Vec<String> {
    let text = |name: Vec<u8>| String::from_utf8_lossy(&name).into_owned();
    said.order(tree.path()).into_iter().map(text).collect()
}

#[test]
fn the_order_is_that_of_the_names_bytes_whatever_the_workers() {
    let tree = Tree::new();
    for name in ["b/z", "b/a", "a", "c", "b.txt", "b/m/deep", "B", "é", "large"] {
        tree.write(name, name);
    }
    tree.write("large", vec![0; 5_000_000]);
    let expected = ["B", "a", "b/a", "b/m/deep", "b/z", "b.txt", "c", "large", "é"];
    for workers in [1, 2, 5] {
        let options = crate::tree::usual().with(|options| options.reading.workers = Some(workers));
        assert_eq!(names(&tree, &tree.run_as(Verb::hash(), &options)), expected);
    }
}

#[test]
fn every_file_of_a_wide_tree_comes_out_once_and_in_order() {
    let tree = Tree::new();
    let mut expected = BTreeSet::new();
    for folder in 0..40 {
        for file in 0..100 {
            let name = format!("{folder:02}/{file:03}");
            tree.write(&name, format!("{name} ").repeat(file * 7));
            expected.insert(name);
        }
    }
    let said = tree.run(Verb::hash());
    assert!(names(&tree, &said).iter().eq(expected.iter()));
    for event in &said.files {
        let contents = fs::read(event.path.to_path()).unwrap();
        assert_eq!(event.digest().unwrap().1, steadfast_digest::sha256(&contents));
    }
}

#[test]
fn links_and_special_files_are_passed_by_and_counted() {
    let tree = Tree::new();
    tree.write("file", "x");
    tree.write("folder/inner", "y");
    symlink("file", tree.at("to-file")).unwrap();
    symlink("folder", tree.at("to-folder")).unwrap();
    symlink("/nowhere", tree.at("dangling")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(tree.at("pipe")).status().unwrap();
    assert!(made.success());
    let socket = std::os::unix::net::UnixListener::bind(tree.at("socket")).unwrap();
    let said = tree.run(Verb::tag());
    drop(socket);
    assert_eq!(names(&tree, &said), ["file", "folder/inner"]);
    assert_eq!((said.summary.skipped.symlinks, said.summary.skipped.special), (3, 2));
    assert_eq!(said.status(), 0);
}

#[test]
fn a_typed_link_is_followed_and_a_listed_one_is_not() {
    let tree = Tree::new();
    tree.write("folder/inner", "y");
    symlink("folder", tree.at("link")).unwrap();
    let typed = Selection::of([tree.at("link")]);
    assert_eq!(run_on(Verb::hash(), &typed, &crate::tree::usual()).files.len(), 1);
    let listed = Selection::default().with(|selection| selection.listed = vec![tree.at("link")]);
    let said = run_on(Verb::hash(), &listed, &crate::tree::usual());
    assert_eq!((said.files.len(), said.summary.skipped.symlinks), (0, 1));
}

#[test]
fn names_are_bytes_and_survive_as_they_are() {
    let tree = Tree::new();
    let hostile: [&[u8]; 6] =
        [b"new\nline", b"back\\slash", b" blank ", b"\x1b[31mred", b"not \xff utf-8", b"-dash"];
    for name in hostile {
        tree.write(OsStr::from_bytes(name), "x");
    }
    tree.run(Verb::tag());
    let said = tree.run(Verb::check());
    assert_eq!(said.summary.verdicts(Verdict::Intact), 6);
    let found: BTreeSet<Vec<u8>> = said.order(tree.path()).into_iter().collect();
    assert_eq!(found, hostile.iter().map(|name| name.to_vec()).collect());
}

#[test]
fn a_path_given_twice_is_taken_once_and_named() {
    let tree = Tree::new();
    tree.write("folder/a", "x");
    let folder = tree.at("folder");
    let twice = vec![folder.clone(), folder.join("../folder"), folder.join("a"), folder.join("a")];
    let selection = Selection::of(twice);
    let said = run_on(Verb::hash(), &selection, &crate::tree::usual());
    assert_eq!(said.notices.len(), 2);
    assert_eq!(said.notices[0].path, Some(folder.join("../folder")));
    assert_eq!(said.files.len(), 1, "the folder once; the file once, as itself");
    let nested = Selection::of([tree.path().into(), folder]);
    assert_eq!(run_on(Verb::hash(), &nested, &crate::tree::usual()).files.len(), 1);
}

#[test]
fn two_links_of_one_name_in_two_folders_are_two_files() {
    let tree = Tree::new();
    let path = tree.write("monday/photo", "x");
    fs::create_dir(tree.at("tuesday")).unwrap();
    fs::hard_link(&path, tree.at("tuesday/photo")).unwrap();
    let roots = vec![path, tree.at("tuesday/photo")];
    let selection = Selection::of(roots);
    let said = run_on(Verb::hash(), &selection, &crate::tree::usual());
    assert_eq!((said.files.len(), said.notices.len()), (2, 0));
}

#[test]
fn more_troubles_than_the_window_holds_do_not_stop_the_run() {
    let tree = Tree::new();
    let mut listed: Vec<PathBuf> =
        (0..100).map(|number| tree.write(format!("{number}"), "x")).collect();
    listed.extend((0..40_000).map(|number| tree.at(format!("absent-{number}"))));
    let selection = Selection::default().with(|selection| selection.listed = listed);
    let said = run_on(Verb::hash(), &selection, &crate::tree::usual());
    assert_eq!((said.files.len(), said.status()), (40_100, 2));
}

#[test]
fn an_exact_list_yields_one_event_a_path_in_its_order() {
    let tree = Tree::new();
    let (a, b) = (tree.write("a", "x"), tree.write("b", "y"));
    symlink("b", tree.at("link")).unwrap();
    let listed =
        vec![b.clone(), a.clone(), b, tree.at("absent"), tree.path().into(), tree.at("link")];
    let selection = Selection::default().with(|selection| {
        selection.listed = listed.clone();
        selection.exact = true;
    });
    let said = run_on(Verb::hash(), &selection, &crate::tree::usual());
    let paths: Vec<PathBuf> = said.files.iter().map(|event| event.path.to_path()).collect();
    assert_eq!(paths, listed);
    let hashed: Vec<bool> = said.files.iter().map(|event| event.actual.is_some()).collect();
    assert_eq!(hashed, [true, true, true, false, false, true]);
    assert_eq!(said.status(), 2);
}

#[test]
fn an_absent_path_is_named_and_the_others_are_still_done() {
    let tree = Tree::new();
    let there = tree.write("there", "x");
    let selection = Selection::of([tree.at("absent"), there]);
    let said = run_on(Verb::tag(), &selection, &crate::tree::usual());
    let absent = said.of("absent");
    assert_eq!((absent.verdict, absent.subject), (Some(Verdict::Unreadable), Subject::Directory));
    assert_eq!(
        absent.trouble.as_ref().unwrap().to_string(),
        "cannot open: no such file or directory"
    );
    assert!(said.of("there").action.is_some());
    assert_eq!(said.status(), 2);
}

#[test]
fn excludes_leave_out_files_and_whole_folders() {
    let tree = Tree::new();
    for name in ["keep", "a.tmp", "build/x", "src/build/y", "src/keep"] {
        tree.write(name, "x");
    }
    let excludes = vec!["*.tmp".to_owned(), "/build/".to_owned()];
    let selection = tree.selection().with(|selection| selection.excludes = excludes);
    let said = run_on(Verb::hash(), &selection, &crate::tree::usual());
    assert_eq!(names(&tree, &said), ["keep", "src/build/y", "src/keep"]);
    assert_eq!(said.summary.skipped.excluded, 2);
}

#[test]
fn what_steadfast_keeps_in_its_folder_is_not_counted_as_excluded() {
    let tree = Tree::new();
    for name in ["catalogue.sqlite", "damaged/1/x", "pages/ab", "parity/1", "notes"] {
        tree.write(Path::new(".steadfast").join(name), "x");
    }
    tree.write("file", "x");
    let said = run_on(Verb::hash(), &tree.selection(), &crate::tree::usual());
    assert_eq!(names(&tree, &said), ["file"]);
    assert_eq!(said.summary.skipped.excluded, 1, "only the notes");
}

#[test]
fn a_deep_tree_is_walked_to_its_end() {
    let tree = Tree::new();
    let deep: PathBuf = std::iter::repeat_n("d", 400).collect();
    tree.write(deep.join("file"), "x");
    assert_eq!(tree.run(Verb::tag()).summary.files, 1);
    assert_eq!(tree.run(Verb::check()).summary.verdicts(Verdict::Intact), 1);
}

#[test]
fn attributes_that_a_mac_keeps_beside_files_and_folders_are_no_data() {
    let tree = Tree::new();
    let double = [&[0, 5, 0x16, 7, 0, 2, 0, 0][..], &[b' '; 16], &[0, 1]].concat();
    for name in ["folder/file", "folder/._file", "._folder", "._nothing", "._text", "text"] {
        tree.write(name, if name.contains("._") { &double[..] } else { b"data" });
    }
    tree.write("._text", "data that is only named so");
    let said = tree.run(Verb::tag());
    assert_eq!(names(&tree, &said), ["._nothing", "._text", "folder/file", "text"]);
    assert_eq!(said.summary.skipped.sidecars, 2);
}
