//! The order of a walk, as bytes that compare: in each directory by name, and what is in a
//! directory where its name stands.
//!
//! In: paths. Out: an ordering. Names cannot hold NUL, so a slash taken for it sorts `a/b` before
//! `a.txt`, as a walk meets them.

use std::cmp::Ordering;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Compares two paths from the same root.
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    match (a.get(shared), b.get(shared)) {
        (Some(&a), Some(&b)) => place(a).cmp(&place(b)),
        (a, b) => a.is_some().cmp(&b.is_some()),
    }
}

/// Compares two paths from the same root.
pub(crate) fn compare_paths(a: &Path, b: &Path) -> Ordering {
    compare(a.as_os_str().as_bytes(), b.as_os_str().as_bytes())
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
        }
        assert_eq!(compare(b"a", b"a"), Ordering::Equal);
        assert_eq!(compare(b"a", b"a/b"), Ordering::Less);
    }
}
