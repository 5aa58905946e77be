//! Paths from documents: whether they stay beneath the root, and their other spellings.
//!
//! Does not access the file system: code that opens such a path must not follow links.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use steadfast_time::names::{NameBuf as _, NameBytes as _};
use unicode_normalization::UnicodeNormalization as _;

use crate::Format;

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// It is empty.
    #[error("the path names nothing")]
    Empty,
    /// It contains a NUL.
    #[error("the path has a NUL")]
    Nul,
    /// It is absolute.
    #[error("the path is absolute")]
    Absolute,
    /// It contains `..`. `a/../b` too, because `a` may be a link.
    #[error("the path leads out of its folder")]
    Parent,
    /// It contains a Windows drive or share.
    #[error("the path names a Windows drive")]
    Drive,
}

/// Makes a path of a document safe to open beneath a root, component by component.
///
/// Removes `.` and double slashes; everything else stays byte for byte. For formats from Windows,
/// backslashes also count as slashes in this check, and are kept.
///
/// # Errors
///
/// If the path is empty or could lead out of the root.
pub fn confine(path: &Path, format: Format) -> Result<PathBuf, PathFault> {
    let confined = confine_unix(path)?;
    if format.is_windows() {
        let bytes = path.as_bytes();
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
    if path.as_bytes().contains(&0) {
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

/// Returns other spellings of a path, to be tried if no file has the path as written: with slashes
/// instead of backslashes and without blanks at its end, as Windows programs write paths, and in
/// Unicode's other normal form. Each stays beneath the root.
pub fn other_spellings(path: &Path) -> Vec<PathBuf> {
    let bytes = path.as_bytes();
    let slashes = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
    let spelt: Vec<u8> = bytes.trim_ascii_end().iter().map(slashes).collect();
    let spelt = PathBuf::from(OsString::from_vec(spelt));
    let mut spellings = vec![spelt.clone()];
    for text in [path.to_str(), spelt.to_str()].into_iter().flatten() {
        spellings.push(text.nfc().collect::<String>().into());
        spellings.push(text.nfd().collect::<String>().into());
    }
    let mut found: Vec<PathBuf> = Vec::new();
    for spelling in spellings {
        let Ok(spelling) = confine_unix(&spelling) else { continue };
        if spelling != path && !found.contains(&spelling) {
            found.push(spelling);
        }
    }
    found
}

/// Returns the path in Unicode's NFKD, in which paths that look the same are equal.
///
/// To find a file if the document was written on another system: macOS may decompose names, Linux
/// keeps them unchanged, and `bitrot` always writes NFKD. A path that is not UTF-8 is returned
/// unchanged.
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
    fn other_spellings_are_those_of_other_systems() {
        let spelt = |path: &[u8]| other_spellings(&bytes(path));
        assert_eq!(spelt(b"a\\b "), [bytes(b"a/b")]);
        assert_eq!(spelt(b"a/b"), [] as [PathBuf; 0]);
        assert_eq!(spelt(b"a\\..\\..\\b"), [] as [PathBuf; 0], "it leaves the root");
        assert_eq!(spelt(b"\xff\\b"), [bytes(b"\xff/b")]);
        assert_eq!(spelt("caf\u{e9}".as_bytes()), [bytes("cafe\u{301}".as_bytes())]);
        assert_eq!(spelt("cafe\u{301}".as_bytes()), [bytes("caf\u{e9}".as_bytes())]);
    }

    #[test]
    fn names_that_look_the_same_fold_to_one() {
        let (composed, decomposed) = (Path::new("caf\u{e9}"), Path::new("cafe\u{301}"));
        assert_ne!(composed, decomposed);
        assert_eq!(folded(composed), folded(decomposed));
        assert_eq!(folded(&bytes(b"\xff")), bytes(b"\xff"));
    }
}
