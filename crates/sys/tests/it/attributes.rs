//! Extended attributes: set, read back, replaced, listed, removed.

use std::ffi::OsString;
use std::io::ErrorKind;

use steadfast_sys::file::File;
use steadfast_sys::xattr::{self, TAG, TAG_PREVIOUS};
use steadfast_testing::{Need, skip};

use crate::tree::{Tree, pattern};

/// Returns whether the file system keeps attributes; records a skip if it does not, and fails if it
/// refuses for any other reason.
fn kept(file: &File) -> bool {
    match xattr::set(file, TAG, b"") {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            skip(Need::System("extended attributes"), error);
            false
        }
    }
}

#[test]
fn a_value_goes_there_and_back_and_away() {
    let tree = Tree::new();
    let file = tree.file("file", b"contents");
    if !kept(&file) {
        return;
    }
    let mut buffer = [0; 64];
    for value in [&pattern(60)[..], b"\0\xff\n", b""] {
        xattr::set(&file, TAG, value).unwrap();
        let length = xattr::get(&file, TAG, &mut buffer).unwrap().unwrap();
        assert_eq!(&buffer[..length], value);
    }
    assert_eq!(xattr::get(&file, TAG_PREVIOUS, &mut buffer).unwrap(), None);
    assert!(!xattr::remove(&file, TAG_PREVIOUS).unwrap());
    assert!(xattr::remove(&file, TAG).unwrap());
    assert!(!xattr::remove(&file, TAG).unwrap());
    assert_eq!(xattr::get(&file, TAG, &mut buffer).unwrap(), None);
}

#[test]
fn setting_leaves_the_contents_and_their_time_alone() {
    let tree = Tree::new();
    let file = tree.file("file", b"contents");
    if !kept(&file) {
        return;
    }
    let before = file.status().unwrap();
    xattr::set(&file, TAG, b"value").unwrap();
    let after = file.status().unwrap();
    assert_eq!((after.mtime, after.length), (before.mtime, before.length));
}

#[test]
fn a_value_longer_than_the_buffer_is_an_error_of_its_own() {
    let tree = Tree::new();
    let file = tree.file("file", b"");
    if !kept(&file) {
        return;
    }
    xattr::set(&file, TAG, &[7; 61]).unwrap();
    for length in [0, 1, 60] {
        let error = xattr::get(&file, TAG, &mut vec![0; length]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
    assert_eq!(xattr::get(&file, TAG, &mut [0; 61]).unwrap(), Some(61));
}

#[test]
fn attributes_are_listed_however_many() {
    let tree = Tree::new();
    let file = tree.file("file", b"");
    if !kept(&file) {
        return;
    }
    let ours = |file: &File| -> Vec<OsString> {
        let mut names = xattr::list(file).unwrap();
        names.retain(|name| name.to_string_lossy().contains("steadfast"));
        names.sort();
        names
    };
    xattr::set(&file, TAG_PREVIOUS, b"2").unwrap();
    let mut expected = vec![OsString::from(TAG), TAG_PREVIOUS.into()];
    expected.sort();
    assert_eq!(ours(&file), expected);

    // More than the first attempt has room for, each name as long as names may be on macOS.
    for index in 0..30 {
        let name = format!("user.steadfast.{index:0>100}");
        match xattr::set(&file, &name, b"") {
            // Some file systems have room for one small block of attributes.
            Err(error) if error.kind() == ErrorKind::StorageFull => break,
            outcome => outcome.unwrap(),
        }
        expected.push(name.into());
    }
    expected.sort();
    assert_eq!(ours(&file), expected);
}

#[test]
fn names_are_read_into_a_buffer_or_refused() {
    let tree = Tree::new();
    let file = tree.file("file", b"");
    if !kept(&file) {
        return;
    }
    xattr::set(&file, TAG_PREVIOUS, b"2").unwrap();
    let mut buffer = [0; 1024];
    let names = xattr::list_into(&file, &mut buffer).unwrap();
    assert_eq!(names.last(), Some(&0));
    let names: Vec<&[u8]> = names.split_inclusive(|&byte| byte == 0).collect();
    for name in [TAG, TAG_PREVIOUS] {
        let ended = [name.as_bytes(), b"\0"].concat();
        assert!(names.contains(&&ended[..]), "{name}");
    }
    let listed: usize = xattr::list(&file).unwrap().iter().map(|name| name.len() + 1).sum();
    let error = xattr::list_into(&file, &mut vec![0; listed - 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(xattr::list_into(&file, &mut vec![0; listed]).unwrap().len(), listed);
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_system_without_attributes_says_so() {
    let tree = steadfast_sys::file::Dir::open("/proc/self".as_ref()).unwrap();
    let file = tree.open_file("comm".as_ref()).unwrap();
    let error = xattr::set(&file, TAG, b"value").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let error = xattr::get(&file, TAG, &mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}
