//! The real tools read what Steadfast writes, and Steadfast what they write.
//!
//! A test whose tool is not installed is skipped. Both are in no package index: build them from
//! their sources.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use steadfast::store::foreign::{self, ExistingTag, FaultReason, ForeignKind, Resolution};
use steadfast::{Algorithm, Verdict};
use steadfast_sys::file::File;
use steadfast_sys::xattr;
use steadfast_testing::program;

use crate::foreign::{actual, judge, only};
use crate::tree::Tree;

fn run(tool: &Path, arguments: &[&str], file: &Path) -> (String, Option<i32>) {
    let arguments = arguments.iter().map(OsStr::new).chain([file.as_os_str()]);
    let Output { status, stdout, .. } = Command::new(tool).args(arguments).output().unwrap();
    (String::from_utf8(stdout).unwrap(), status.code())
}

fn write(path: &Path, existing: ExistingTag) {
    let file = File::open(path).unwrap();
    let tag = actual(path, Algorithm::Sha256);
    foreign::write(&file, ForeignKind::Shatag, &tag, existing).unwrap();
}

#[test]
fn cshatag_writes_and_steadfast_judges() {
    let Some(cshatag) = program("cshatag") else { return };
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    let (said, _) = run(&cshatag, &[], &path);
    assert!(said.starts_with("<new>"), "{said}");
    let (stored, now) = (only(&path).unwrap(), actual(&path, Algorithm::Sha256));
    assert_eq!(stored.digest, now.digest);
    let mtime = stored.mtime.unwrap();
    assert_eq!((mtime.time, mtime.resolution), (now.mtime, Resolution::Tick));
    assert_eq!(judge(&path), Verdict::Intact);
    tree.touch("file");
    assert_eq!(judge(&path), Verdict::Touched);
    run(&cshatag, &[], &path);
    assert_eq!(judge(&path), Verdict::Intact);
    tree.corrupt("file", "c0ntents");
    assert_eq!(judge(&path), Verdict::Corrupt);
    tree.edit("file", "edited");
    assert_eq!(judge(&path), Verdict::Modified);
}

#[test]
fn steadfast_writes_and_cshatag_judges() {
    let Some(cshatag) = program("cshatag") else { return };
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    write(&path, ExistingTag::Keep);
    let says = |verdict: &str, status| {
        let (said, code) = run(&cshatag, &["-dry-run"], &path);
        assert!(said.starts_with(verdict), "{said}");
        assert_eq!(code, Some(status), "{said}");
    };
    says("<ok>", 0);
    tree.corrupt("file", "c0ntents");
    says("<corrupt>", 5);
    tree.edit("file", "edited");
    says("<outdated>", 0);
    write(&path, ExistingTag::Replace);
    says("<ok>", 0);
    tree.touch("file");
    says("<timechange>", 0);
    write(&path, ExistingTag::Keep);
    says("<ok>", 0);
}

#[test]
fn a_pair_that_cshatag_lost_half_of_is_unreadable() {
    let Some(cshatag) = program("cshatag") else { return };
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    run(&cshatag, &[], &path);
    // It sets the time first: a full block of attributes leaves that alone.
    xattr::remove(&File::open(&path).unwrap(), "user.shatag.sha256").unwrap();
    tree.corrupt("file", "c0ntents");
    assert_eq!(only(&path).unwrap_err().reason, FaultReason::NoDigest);
    assert_eq!(judge(&path), Verdict::Unreadable);
}

#[test]
fn times_before_1970_are_the_same_to_cshatag() {
    let Some(cshatag) = program("cshatag") else { return };
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    let early = std::time::SystemTime::UNIX_EPOCH - std::time::Duration::from_millis(1500);
    crate::tree::set_mtime(&path, early);
    run(&cshatag, &[], &path);
    assert_eq!(judge(&path), Verdict::Intact);
    run(&cshatag, &["-remove"], &path);
    write(&path, ExistingTag::Keep);
    let (said, _) = run(&cshatag, &["-dry-run"], &path);
    assert!(said.starts_with("<ok>"), "{said}");
}

#[test]
fn shatag_and_steadfast_understand_each_other() {
    let Some(shatag) = program("shatag") else { return };
    let tree = Tree::new();
    let path = tree.write("file", "contents");
    run(&shatag, &["-t"], &path);
    let mtime = only(&path).unwrap().mtime.unwrap();
    assert_eq!(mtime.resolution, Resolution::Float);
    assert_eq!(judge(&path), Verdict::Intact);
    tree.corrupt("file", "c0ntents");
    assert_eq!(judge(&path), Verdict::Corrupt);
    tree.edit("file", "edited");
    assert_eq!(judge(&path), Verdict::Modified);
    write(&path, ExistingTag::Replace);
    let (said, _) = run(&shatag, &[], &path);
    let digest = actual(&path, Algorithm::Sha256).digest.to_string();
    assert!(said.starts_with(&digest), "the time stands in the form it knows: {said}");
}
