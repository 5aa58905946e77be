//! Listing: every entry once, again from the start, and never two listings in one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use steadfast_sys::file::{Dir, FileKind};

use crate::tree::Tree;

/// A name to be listed exactly; those of a Mac are Unicode.
const HOSTILE: &[u8] = if cfg!(target_os = "macos") { b"\n" } else { b"\xff\n\xfe" };

/// Lists everything, failing should a name come twice.
fn listed(dir: &Dir) -> BTreeMap<OsString, (Option<FileKind>, u64)> {
    let mut names = BTreeMap::new();
    dir.entries(&mut |entry| {
        let before = names.insert(entry.name.to_owned(), (entry.kind, entry.inode));
        assert_eq!(before, None, "{:?} came twice", entry.name);
        ControlFlow::Continue(())
    })
    .unwrap();
    names
}

#[test]
fn entries_are_listed_with_kind_and_inode_and_without_dots() {
    let tree = Tree::new();
    assert!(listed(&tree).is_empty());
    let hostile = OsStr::from_bytes(HOSTILE);
    tree.file(hostile, b"");
    fs::create_dir(tree.path("inner")).unwrap();
    symlink("nowhere", tree.path("link")).unwrap();

    let names = listed(&tree);
    assert_eq!(names.len(), 3);
    for (name, kind) in [
        (hostile, FileKind::Regular),
        ("inner".as_ref(), FileKind::Directory),
        ("link".as_ref(), FileKind::Symlink),
    ] {
        let status = tree.status_of(name).unwrap();
        assert_eq!(status.kind, kind);
        assert_eq!(names[name].1, status.inode);
        assert!(names[name].0.is_none_or(|listed| listed == kind));
    }
}

#[test]
fn a_directory_of_many_buffers_is_listed_whole_each_time() {
    let tree = Tree::new();
    let names: Vec<OsString> = (0..3000).map(|index| format!("{index:0>60}").into()).collect();
    for name in &names {
        fs::write(tree.path(name), b"").unwrap();
    }
    for _ in 0..2 {
        assert!(listed(&tree).keys().eq(&names));
    }
    fs::remove_file(tree.path(&names[0])).unwrap();
    assert_eq!(listed(&tree).len(), 2999);
}

#[test]
fn a_listing_stops_where_it_is_told_and_the_next_starts_over() {
    let tree = Tree::new();
    for name in ["a", "b", "c"] {
        tree.file(name, b"");
    }
    let mut seen = 0;
    tree.entries(&mut |_| {
        seen += 1;
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(seen, 1);
    assert_eq!(listed(&tree).len(), 3);
}

#[test]
fn other_directories_may_be_listed_within_a_listing() {
    let tree = Tree::new();
    for outer in ["a", "b", "c"] {
        fs::create_dir(tree.path(outer)).unwrap();
        for inner in ["1", "2"] {
            fs::write(tree.path(outer).join(inner), b"").unwrap();
        }
    }
    let mut seen = Vec::new();
    tree.entries(&mut |entry| {
        let inner = listed(&tree.open_dir(entry.name).unwrap());
        seen.push((entry.name.to_owned(), inner.len()));
        ControlFlow::Continue(())
    })
    .unwrap();
    seen.sort();
    assert_eq!(seen, ["a", "b", "c"].map(|name| (name.into(), 2)));
}

#[test]
fn a_directory_being_listed_refuses_a_second_listing() {
    let tree = Tree::new();
    tree.file("entry", b"");
    let mut refusal = None;
    tree.entries(&mut |_| {
        refusal = tree.entries(&mut |_| ControlFlow::Continue(())).err();
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(refusal.unwrap().kind(), ErrorKind::ResourceBusy);
    assert_eq!(listed(&tree).len(), 1);
}
