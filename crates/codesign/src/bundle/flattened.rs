//! Tells whether a file or folder is the copy of what a sealed symlink there pointed to.
//!
//! Archive formats without symlinks leave such copies. The seal is then broken, but no content was
//! altered.

use std::io;

use super::tree::{BundleTree, EntryKind, joined};
use steadfast_sys::source::ReadAt;

/// How deep folders are compared.
const DEPTH_MAX: usize = 32;

/// Bytes compared at a time.
const CHUNK_LEN: usize = 64 << 10;

/// Resolves a symlink's target, by name alone, to a path beneath the base; `None` if it leads out,
/// or goes up after a name, which may itself be a symlink.
pub(crate) fn resolved(base: &[u8], link: &[u8], target: &[u8]) -> Option<Vec<u8>> {
    if target.starts_with(b"/") {
        return None;
    }
    let mut parts: Vec<&[u8]> = link.split(|byte| *byte == b'/').collect();
    parts.pop();
    let mut down = false;
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if down => return None,
            b".." => {
                parts.pop()?;
            }
            _ => {
                down = true;
                parts.push(part);
            }
        }
    }
    Some(joined(base, &parts.join(&b'/')))
}

/// Whether a file or folder is the copy of what a symlink there would lead to.
pub(crate) fn is_copy_of_target(
    tree: &dyn BundleTree,
    base: &[u8],
    path: &[u8],
    target: &[u8],
) -> bool {
    let Some(original) = resolved(base, path, target) else { return false };
    let copy = joined(base, path);
    // Within itself it would be a copy of nothing.
    let within = |one: &[u8], other: &[u8]| {
        one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    };
    if within(&original, &copy) || within(&copy, &original) {
        return false;
    }
    same(tree, &copy, &original, 0).unwrap_or(false)
}

/// Whether two names hold the same.
fn same(tree: &dyn BundleTree, one: &[u8], other: &[u8], depth: usize) -> io::Result<bool> {
    match (tree.kind(one)?, tree.kind(other)?) {
        _ if depth > DEPTH_MAX => Ok(false),
        (Some(EntryKind::File), Some(EntryKind::File)) => {
            same_bytes(&*tree.open(one)?, &*tree.open(other)?)
        }
        (Some(EntryKind::Symlink), Some(EntryKind::Symlink)) => {
            Ok(tree.read_link(one)? == tree.read_link(other)?)
        }
        (Some(EntryKind::Folder), Some(EntryKind::Folder)) => {
            let names = tree.entries(one)?;
            if names != tree.entries(other)? {
                return Ok(false);
            }
            for (name, _) in names {
                if !same(tree, &joined(one, &name), &joined(other, &name), depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn same_bytes(one: &dyn ReadAt, other: &dyn ReadAt) -> io::Result<bool> {
    let len_bytes = one.len_bytes();
    if other.len_bytes() != len_bytes {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; CHUNK_LEN], vec![0; CHUNK_LEN]);
    let mut offset = 0;
    while offset < len_bytes {
        let len = usize::try_from(len_bytes - offset).unwrap_or(usize::MAX).min(CHUNK_LEN);
        one.read_exact_at(&mut left[..len], offset)?;
        other.read_exact_at(&mut right[..len], offset)?;
        if left[..len] != right[..len] {
            return Ok(false);
        }
        offset += len as u64;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn targets_are_resolved_by_name() {
        for (link, target, expected) in [
            ("a/b", "c", Some("base/a/c")),
            ("a/b", "../c", Some("base/c")),
            ("b", "./c//d/.", Some("base/c/d")),
            ("b", "../c", None),
            ("a/b", "../../c", None),
            ("a/b", "/c", None),
            ("a/b", "c/../d", None),
        ] {
            let found = resolved(b"base", link.as_bytes(), target.as_bytes());
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{link} -> {target}");
        }
    }
}
