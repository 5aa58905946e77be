//! The order of a walk: by name in each directory, with the contents of a directory in place of its
//! name.
//!
//! Names cannot contain NUL, so comparing slashes as NUL sorts `a/b` before `a.txt`, as a walk
//! does.

use std::cmp::Ordering;
use std::path::Path;

use steadfast_sys::names::NameBytes as _;

/// Compares two paths relative to the same root, as bytes.
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    match (a.get(shared), b.get(shared)) {
        (Some(&a), Some(&b)) => place(a).cmp(&place(b)),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

/// Compares two paths relative to the same root.
pub(crate) fn compare_paths(a: &Path, b: &Path) -> Ordering {
    compare(a.as_bytes(), b.as_bytes())
}

/// Returns bytes that sort as the path does in a walk.
pub(crate) fn key(path: &Path) -> Vec<u8> {
    path.as_bytes().iter().copied().map(place).collect()
}

/// Returns the path of a key.
pub(crate) fn path_bytes(mut key: Vec<u8>) -> Vec<u8> {
    key.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b'/');
    key
}

fn place(byte: u8) -> u8 {
    if byte == b'/' { 0 } else { byte }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_a_directory_stands_where_its_name_stands() {
        let walked = ["a/b", "a/b.c", "a/b0/c", "a.txt", "a0", "b"];
        for pair in walked.windows(2) {
            assert_eq!(compare(pair[0].as_bytes(), pair[1].as_bytes()), Ordering::Less, "{pair:?}");
            assert_eq!(
                compare_paths(Path::new(pair[1]), Path::new(pair[0])),
                Path::new(pair[1]).cmp(Path::new(pair[0])),
                "as the standard library compares names"
            );
            assert!(key(Path::new(pair[0])) < key(Path::new(pair[1])), "{pair:?}");
            assert_eq!(path_bytes(key(Path::new(pair[0]))), pair[0].as_bytes());
        }
        assert_eq!(compare(b"a", b"a"), Ordering::Equal);
        assert_eq!(compare(b"a", b"a/b"), Ordering::Less);
    }
}
