//! Placeholders of iCloud Drive: `.name.icloud` in place of `name`.
//!
//! Before macOS 14, a file whose contents were removed from the machine was replaced by such a
//! file: a small binary property list with the name and length of the file. Since then the file
//! keeps its name and has a flag.

use std::ffi::{OsStr, OsString};

use steadfast_sys::file::{Dir, FileKind, Status};
use steadfast_sys::names::{NameBuf as _, NameBytes as _};

/// The first bytes of a binary property list.
const MAGIC: &[u8] = b"bplist00";

/// The most bytes of such a file, which has two names and a number.
const LEN_MAX: u64 = 16 << 10;

/// Returns the name of the file that a placeholder of this name would stand for.
pub(crate) fn companion(name: &OsStr) -> Option<&OsStr> {
    let name = name.as_bytes().strip_prefix(b".")?.strip_suffix(b".icloud")?;
    (!name.is_empty()).then_some(OsStr::from_bytes(name))
}

/// Returns whether a name is that of a placeholder. A file that only has such a name is data, and
/// so is one beside the file that it would stand for.
pub(crate) fn is_placeholder(dir: &Dir, name: &OsStr) -> bool {
    companion(name).is_some_and(|companion| dir.status_of(companion).is_err())
        && status_of(dir, name).is_some()
}

/// Returns the status of the placeholder that stands for a file that is not there.
pub(crate) fn standing_for(dir: &Dir, absent: &OsStr) -> Option<Status> {
    let name = [b".", absent.as_bytes(), b".icloud"].concat();
    status_of(dir, &OsString::from_vec(name))
}

fn status_of(dir: &Dir, name: &OsStr) -> Option<Status> {
    let fits = |status: &Status| status.kind == FileKind::Regular && status.length <= LEN_MAX;
    let status = dir.status_of(name).ok().filter(fits)?;
    let mut head = [0; MAGIC.len()];
    let length = dir.open_file(name).and_then(|file| file.read_at(&mut head, 0)).ok()?;
    (length == MAGIC.len() && head == MAGIC).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_told_by_its_name_its_bytes_and_what_is_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        };
        write(".a.mov.icloud", b"bplist00\xd3");
        write(".b.icloud", b"my notes on clouds");
        write(".c.icloud", b"bplist00\xd3");
        write("c", b"here");
        write(".d.icloud", &[b"bplist00".as_slice(), &[0; 20_000]].concat());
        write(".icloud", b"bplist00");
        let dir = Dir::open(folder.path()).unwrap();
        let is = |name: &str| is_placeholder(&dir, OsStr::new(name));
        assert!(is(".a.mov.icloud"));
        for data in [".b.icloud", ".c.icloud", ".d.icloud", ".icloud", "c", ".e.icloud"] {
            assert!(!is(data), "{data}");
        }
        let stands_for = |name: &str| standing_for(&dir, OsStr::new(name)).is_some();
        assert!(stands_for("a.mov") && !stands_for("b"));
        assert_eq!(companion(OsStr::new(".a.mov.icloud")), Some(OsStr::new("a.mov")));
    }
}
