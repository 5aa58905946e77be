//! The folder of a measurement's own: always removed, and nothing else ever.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use steadfast_measure::ErrorKind;
use steadfast_measure::place;
use steadfast_measure::scratch::{Scratch, require_room};

/// Names the folder in which a child makes one of its own.
const CHILD: &str = "STEADFAST_TEST_SCRATCH";

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn it_is_gone_when_closed_and_when_dropped() {
    let root = tempfile::tempdir().unwrap();
    for close in [true, false] {
        let (scratch, left) = Scratch::make(root.path(), true).unwrap();
        assert_eq!((left.removed, left.kept.len()), (0, 0));
        for number in 0..3 {
            scratch.create(number).unwrap().write_all(b"bytes").unwrap();
        }
        assert_eq!(scratch.listed().unwrap().len(), 3);
        assert_eq!(names(root.path()).len(), 1);
        if close {
            scratch.close().unwrap()
        } else {
            drop(scratch)
        }
        assert_eq!(names(root.path()), [""; 0]);
    }
}

#[test]
fn what_is_not_ours_stays() {
    let root = tempfile::tempdir().unwrap();
    let precious = root.path().join("precious");
    fs::write(&precious, "mine").unwrap();
    // Named as if they were ours, and are not.
    let folder = |digits: &str| root.path().join(format!(".steadfast-measure-{digits}"));
    fs::create_dir(folder("0000000000000001")).unwrap();
    fs::write(folder("0000000000000001").join("photo.jpg"), "mine").unwrap();
    fs::create_dir(folder("0000000000000002")).unwrap();
    fs::write(folder("0000000000000002").join("owner"), "somebody").unwrap();
    fs::write(folder("0000000000000002").join("f00000000"), "mine").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("owner"), "").unwrap();
    fs::write(elsewhere.path().join("f00000000"), "mine").unwrap();
    symlink(elsewhere.path(), folder("0000000000000003")).unwrap();
    fs::write(folder("0000000000000004"), "a file").unwrap();
    fs::create_dir(folder("not-ours")).unwrap();
    let before = names(root.path());
    let (scratch, left) = Scratch::make(root.path(), true).unwrap();
    assert_eq!((left.removed, left.kept.len()), (0, 4), "{left:?}");
    // Somebody puts a file into our folder, and a symlink to another.
    fs::write(scratch.path().join("letter.txt"), "mine").unwrap();
    symlink(&precious, scratch.path().join("f00000007")).unwrap();
    let path = scratch.path().to_owned();
    let error = scratch.close().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::System, "{error}");
    assert!(error.to_string().contains("made `letter.txt`"), "{error}");
    // Whose the folder is can still be told, so it goes once the letter is gone.
    assert_eq!(names(&path), ["letter.txt", "owner"]);
    let (scratch, left) = Scratch::make(root.path(), true).unwrap();
    scratch.close().unwrap();
    assert!(left.kept.iter().any(|(_, why)| why.contains("`letter.txt`")), "{left:?}");
    fs::remove_file(path.join("letter.txt")).unwrap();
    let (scratch, left) = Scratch::make(root.path(), true).unwrap();
    scratch.close().unwrap();
    assert_eq!(left.removed, 1, "{left:?}");
    assert_eq!(names(root.path()), before);
    assert_eq!(names(elsewhere.path()), ["f00000000", "owner"]);
    assert_eq!(fs::read(&precious).unwrap(), b"mine");
    assert_eq!(names(&folder("0000000000000002")), ["f00000000", "owner"]);
}

#[test]
fn a_symlink_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let real = root.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink(&real, root.path().join("link")).unwrap();
    for name in ["link", "link/", "link/."] {
        let error = Scratch::make(&root.path().join(name), true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{name}: {error}");
        assert!(error.to_string().contains("symlink"), "{name}: {error}");
    }
    assert_eq!(names(&real), [""; 0]);
}

#[test]
fn names_that_are_taken_are_not_replaced() {
    let root = tempfile::tempdir().unwrap();
    let (scratch, _) = Scratch::make(root.path(), true).unwrap();
    let victim = root.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    symlink(&victim, scratch.path().join("f00000000")).unwrap();
    scratch.create(0).unwrap_err();
    scratch.open(0).unwrap_err();
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
}

#[test]
fn what_a_killed_measurement_left_is_removed_and_a_living_one_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let (mut child, path) = child_in(root.path());
    let (scratch, left) = Scratch::make(root.path(), true).unwrap();
    assert_eq!((left.removed, left.kept.len()), (0, 0), "it lives: {left:?}");
    assert!(path.join("f00000000").exists());
    scratch.close().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(path.join("f00000000").exists(), "nobody had time to remove it");
    let (scratch, left) = Scratch::make(root.path(), true).unwrap();
    assert_eq!((left.removed, left.kept.len()), (1, 0), "{left:?}");
    scratch.close().unwrap();
    assert_eq!(names(root.path()), [""; 0]);
}

/// Starts this very program as another process that makes a folder and waits.
fn child_in(root: &Path) -> (Child, PathBuf) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "storage_folder::child_that_waits", "--ignored", "--nocapture"])
        .env(CHILD, root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = lines.map_while(Result::ok);
    let path = said.find_map(|line| line.split_once("made ").map(|(_, path)| path.into()));
    (child, path.expect("the child says what it made"))
}

#[test]
#[ignore = "the other process of the test above"]
fn child_that_waits() {
    let root = std::env::var_os(CHILD).expect("started by the test above");
    let (scratch, _) = Scratch::make(Path::new(&root), true).unwrap();
    scratch.create(0).unwrap().write_all(&[1; 10_000]).unwrap();
    println!("made {}", scratch.path().display());
    let waited = std::io::stdin().read_line(&mut String::new());
    assert!(waited.is_err(), "killed before anything was said");
}

#[test]
fn too_little_room_is_refused_with_the_numbers() {
    let root = tempfile::tempdir().unwrap();
    let mut place = place::examine(root.path()).unwrap();
    (place.free_bytes, place.total_bytes) = (10_000_000_000, 20_000_000_000);
    require_room(&place, 9_000_000_000).unwrap();
    let error = require_room(&place, 9_000_000_001).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let text = error.to_string();
    assert!(text.contains("needs 9.1 GB and leaves 1.0 GB free"), "{text}");
    assert!(text.ends_with("only 10.0 GB"), "{text}");
    place.free_bytes = 900_000_000;
    let text = require_room(&place, 800_000_001).unwrap_err().to_string();
    assert!(text.contains("needs 800.1 MB and leaves 1000.0 MB free"), "{text}");
    require_room(&place, u64::MAX).unwrap_err();
    // Nothing but zeros is no answer.
    (place.free_bytes, place.total_bytes) = (0, 0);
    require_room(&place, 1_000).unwrap();
}
