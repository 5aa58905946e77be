//! The folders that macOS keeps for itself on every volume, and those it shows twice.

use std::ffi::OsStr;
use std::path::Path;

use steadfast_sys::file::Dir;

/// Directories at the root of a volume that belong to macOS: search index, change log, trash, old
/// versions of documents, backups, temporary items, and the installer's. They change all the time,
/// or cannot be read even by their owner, wherever the volume is mounted.
const OWN: &[&str] = &[
    ".DocumentRevisions-V100",
    ".MobileBackups",
    ".PKInstallSandboxManager",
    ".PKInstallSandboxManager-SystemSoftware",
    ".Spotlight-V100",
    ".TemporaryItems",
    ".Trashes",
    ".fseventsd",
];

/// Where macOS mounts the volumes that the root already shows through firmlinks: beneath `/`,
/// `/Users` is `/System/Volumes/Data/Users`.
const SHOWN_TWICE: &str = "/System/Volumes";

/// Returns whether a name at the root of a volume is one of macOS's own.
pub(crate) fn is_own_name(name: &OsStr) -> bool {
    OWN.iter().any(|own| *own == name)
}

/// Returns whether an entry belongs to macOS and not to the user: it has such a name, and its
/// directory is the root of a volume. Elsewhere it is an ordinary directory.
pub(super) fn is_own(dir: &Dir, name: &OsStr) -> bool {
    is_own_name(name) && dir.is_volume_root().unwrap_or(false)
}

/// Returns whether a walk from `root` reaches a directory by another path already.
pub(super) fn is_shown_twice(root: &Path, path: &Path) -> bool {
    root == Path::new("/") && path == Path::new(SHOWN_TWICE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_at_the_root_of_a_volume_a_name_is_the_systems() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, root) = (Dir::open(folder.path()).unwrap(), Dir::open(Path::new("/")).unwrap());
        let name = OsStr::new(".fseventsd");
        assert!(!is_own(&dir, name), "a directory like any other");
        assert!(is_own(&root, name));
        assert!(!is_own(&root, OsStr::new(".fseventsd2")) && !is_own_name(OsStr::new("Photos")));
    }

    #[test]
    fn volumes_are_passed_by_beneath_the_root_alone() {
        let (root, volumes) = (Path::new("/"), Path::new("/System/Volumes"));
        assert!(is_shown_twice(root, volumes));
        assert!(!is_shown_twice(volumes, volumes));
        assert!(!is_shown_twice(Path::new("/System"), volumes));
        assert!(!is_shown_twice(root, Path::new("/System/Library")));
    }
}
