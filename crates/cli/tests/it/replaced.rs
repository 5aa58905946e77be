//! A folder that something else has replaced: its files are missing, on every surface, and what is
//! advised settles that.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::tree::Tree;

/// What replaces a folder `photos/2019` of two files.
type Replacement = fn(&Path);

const REPLACEMENTS: [(&str, Replacement); 10] = [
    ("nothing", |_| ()),
    ("a file", |at| fs::write(at, "a file").unwrap()),
    ("a fifo", |at| assert!(Command::new("mkfifo").arg(at).status().unwrap().success())),
    ("an empty folder", |at| fs::create_dir(at).unwrap()),
    ("another folder", |at| {
        fs::create_dir(at).unwrap();
        fs::write(at.join("other"), "other").unwrap();
    }),
    ("a link to nothing", |at| symlink("nowhere", at).unwrap()),
    ("a link to itself", |at| symlink("2019", at).unwrap()),
    ("a link through a file", |at| symlink("2020/c/d", at).unwrap()),
    ("a link to another folder", |at| symlink("2020", at).unwrap()),
    ("a link to a closed place", |at| symlink("/proc/1/fd", at).unwrap()),
];

fn replaced(replacement: Replacement) -> Tree {
    let tree = Tree::new().file("photos/2019/a", b"alpha").file("photos/2019/b", b"beta");
    let tree = tree.file("photos/2020/c", b"gamma");
    tree.run(["init", "photos"]).succeeds();
    fs::remove_dir_all(tree.path("photos/2019")).unwrap();
    replacement(&tree.path("photos/2019"));
    tree
}

#[test]
fn the_files_of_a_replaced_folder_are_missing_on_every_surface_and_can_be_accepted() {
    for (kind, replacement) in REPLACEMENTS {
        let tree = replaced(replacement);
        let says = |command: &[&str]| {
            let outcome = tree.run(command).ends(1);
            let both = [outcome.stdout(), outcome.stderr()].concat();
            let names = ["photos/2019/a", "photos/2019/b"];
            assert!(names.iter().all(|name| both.contains(name)), "{kind} {command:?}: {both}");
        };
        says(&["check", "--quick", "photos"]);
        says(&["repair", "-n", "photos"]);
        says(&["update", "-n", "photos"]);
        says(&["check", "photos"]);
        tree.run(["status", "photos"]).ends(1);
        tree.run(["update", "--accept-missing", "photos"]).succeeds();
        tree.run(["check", "photos"]).succeeds();
        tree.run(["status", "photos"]).succeeds();
    }
}
