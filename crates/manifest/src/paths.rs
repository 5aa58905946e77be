//! Paths out of documents: whether they stay inside the root, and how else they may be spelt.
//!
//! The file system is not asked: whoever opens a path beneath the root must not follow links.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

use crate::Format;

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// It names nothing.
    #[error("the path names nothing")]
    Empty,
    /// It has a NUL.
    #[error("the path has a NUL")]
    Nul,
    /// It begins at the root of the system.
    #[error("the path is absolute")]
    Absolute,
    /// It leads upwards. `a/../b` too: where `a` leads is the file system's to say.
    #[error("the path leads out of its folder")]
    Parent,
    /// It names a Windows drive or share.
    #[error("the path names a Windows drive")]
    Drive,
}

/// Makes a path of a document safe to open beneath a root, component by component.
///
/// `.` and doubled slashes fall away, everything else stays byte for byte. For formats that came
/// from Windows, backslashes are looked at as if they were slashes too, and are kept.
///
/// # Errors
/// If the path names nothing or could lead out of the root.
pub fn confine(path: &Path, format: Format) -> Result<PathBuf, PathFault> {
    let confined = confine_unix(path)?;
    if format.is_windows() {
        let bytes = path.as_os_str().as_bytes();
        if let [letter, b':', ..] = bytes
            && letter.is_ascii_alphabetic()
        {
            return Err(PathFault::Drive);
        }
        if bytes.starts_with(b"\\") {
            return Err(PathFault::Absolute);
        }
        if bytes.split(|byte| b"/\\".contains(byte)).any(|part| part == b"..") {
            return Err(PathFault::Parent);
        }
    }
    Ok(confined)
}

fn confine_unix(path: &Path) -> Result<PathBuf, PathFault> {
    if path.as_os_str().as_bytes().contains(&0) {
        return Err(PathFault::Nul);
    }
    let mut confined = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => confined.push(name),
            Component::CurDir => {}
            Component::ParentDir => return Err(PathFault::Parent),
            Component::RootDir | Component::Prefix(_) => return Err(PathFault::Absolute),
        }
    }
    match confined.as_os_str().is_empty() {
        true => Err(PathFault::Empty),
        false => Ok(confined),
    }
}

/// Returns the path with slashes for backslashes and without blanks at its end, if that is another
/// path and the format came from Windows. For when there is no file of the path's own name.
pub fn windows_spelling(path: &Path, format: Format) -> Option<PathBuf> {
    let bytes = path.as_os_str().as_bytes();
    let slashes = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
    let spelt: Vec<u8> = bytes.trim_ascii_end().iter().map(slashes).collect();
    let changed = format.is_windows() && spelt != bytes && !spelt.is_empty();
    changed.then(|| OsString::from_vec(spelt).into())
}

/// Returns the path in Unicode's NFKD, the form in which paths that only look the same are equal.
///
/// For finding a file whose document was written on another system: macOS keeps names decomposed,
/// Linux as they came, and `bitrot` writes NFKD wherever it runs. A path that is not UTF-8 is
/// returned as it is.
pub fn folded(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => text.nfkd().collect::<String>().into(),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(path: &[u8]) -> PathBuf {
        OsString::from_vec(path.to_vec()).into()
    }

    #[test]
    fn paths_that_stay_inside_stay_as_they_are() {
        for (path, expected) in [
            (&b"a/b"[..], &b"a/b"[..]),
            (b"./a//b/", b"a/b"),
            (b"./a/./b", b"a/b"),
            (b"a\\..\\b", b"a\\..\\b"),
            (b"..a/b..", b"..a/b.."),
            (b"\xff\n/ ", b"\xff\n/ "),
            (b"C:a", b"C:a"),
        ] {
            assert_eq!(confine(&bytes(path), Format::Gnu), Ok(bytes(expected)), "{path:?}");
        }
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        for (path, fault) in [
            (&b""[..], PathFault::Empty),
            (b".", PathFault::Empty),
            (b"././", PathFault::Empty),
            (b"a\0b", PathFault::Nul),
            (b"/a", PathFault::Absolute),
            (b"//a", PathFault::Absolute),
            (b"..", PathFault::Parent),
            (b"a/../b", PathFault::Parent),
            (b"a/..", PathFault::Parent),
            (b"./../a", PathFault::Parent),
        ] {
            for format in Format::ALL {
                assert_eq!(confine(&bytes(path), *format), Err(fault), "{path:?}");
            }
        }
        for (path, fault) in [
            (&b"C:\\a"[..], PathFault::Drive),
            (b"c:a", PathFault::Drive),
            (b"\\a", PathFault::Absolute),
            (b"\\\\server\\a", PathFault::Absolute),
            (b"a\\..\\b", PathFault::Parent),
            (b"a/b\\..", PathFault::Parent),
        ] {
            assert_eq!(confine(&bytes(path), Format::Sfv), Err(fault), "{path:?}");
        }
    }

    #[test]
    fn other_spellings_are_offered_only_where_they_may_be_meant() {
        let spelt = |path: &[u8], format| windows_spelling(&bytes(path), format);
        assert_eq!(spelt(b"a\\b ", Format::Sfv), Some(bytes(b"a/b")));
        assert_eq!(spelt(b"a/b", Format::Sfv), None);
        assert_eq!(spelt(b"  ", Format::Sfv), None);
        assert_eq!(spelt(b"a\\b", Format::Gnu), None);
    }

    #[test]
    fn names_that_look_the_same_fold_to_one() {
        let (composed, decomposed) = (Path::new("caf\u{e9}"), Path::new("cafe\u{301}"));
        assert_ne!(composed, decomposed);
        assert_eq!(folded(composed), folded(decomposed));
        assert_eq!(folded(&bytes(b"\xff")), bytes(b"\xff"));
    }
}
