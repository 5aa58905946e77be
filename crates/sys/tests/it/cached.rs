//! The page cache: what was written is in it, what was dropped is not.

use std::io::ErrorKind;

use steadfast_sys::cache::{cached_bytes, drop_cached};
use steadfast_sys::file::File;
use steadfast_testing::{Need, skip};

use crate::tree::{Tree, pattern};

/// Odd, so that the last page is not full, and more than one folio.
const LENGTH: usize = 1_000_003;

#[test]
fn what_was_just_written_is_cached_to_the_last_byte() {
    let tree = Tree::new();
    let file = tree.file("file", &pattern(LENGTH));
    assert_eq!(cached_bytes(&file, LENGTH as u64).unwrap(), LENGTH as u64);
    assert_eq!(cached_bytes(&file, 5000).unwrap(), 5000);
    assert_eq!(cached_bytes(&file, 0).unwrap(), 0);
}

#[test]
fn what_was_dropped_is_not_cached_until_it_is_read() {
    let tree = Tree::new();
    let contents = pattern(LENGTH);
    let file = tree.file("file", &contents);
    if let Err(error) = drop_cached(&file) {
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        return skip(Need::System("page cache that can be emptied"), error);
    }
    let left = cached_bytes(&file, LENGTH as u64).unwrap();
    match file.file_system().unwrap().name.as_str() {
        "ext4" | "xfs" => assert_eq!(left, 0),
        other => eprintln!("{other}: {left} bytes left in the cache"),
    }
    let mut buffer = vec![0; LENGTH];
    assert_eq!(file.read_at(&mut buffer, 0).unwrap(), LENGTH);
    assert!(buffer == contents);
    assert_eq!(cached_bytes(&file, LENGTH as u64).unwrap(), LENGTH as u64);
}

#[test]
fn what_has_no_page_cache_says_so_or_holds_nothing() {
    let file = File::open("/dev/null".as_ref()).unwrap();
    match cached_bytes(&file, 4096) {
        Ok(bytes) => assert_eq!(bytes, 0),
        Err(error) => assert_ne!(error.kind(), ErrorKind::PermissionDenied, "{error}"),
    }
}
