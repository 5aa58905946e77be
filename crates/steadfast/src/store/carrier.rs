//! Names of attributes as they arrive from another system: a copying program or a server puts a
//! prefix before the name or a suffix behind it.
//!
//! A Mac's name has no namespace. rsync and others put `user.` before it, rsync with
//! `--fake-super` `user.rsync.`, Samba's vfs_streams_xattr `user.DosStream.` and `:$DATA` behind
//! it, the kernel's HFS+ driver `osx.`.

use std::io;

use steadfast_sys::file::File;
use steadfast_sys::xattr;

/// The prefixes, each of which may occur more than once.
const PREFIXES: [&str; 4] = ["user.", "DosStream.", "rsync.", "osx."];

/// The suffix of a named stream.
const STREAM: &str = ":$DATA";

/// Room for the names of a file's attributes: some twenty of them. Files with more are asked again.
const NAMES_ROOM: usize = 1024;

/// Returns a name without the prefixes and the suffix of carriers.
pub(super) fn bare(name: &str) -> &str {
    let mut bare = name.strip_suffix(STREAM).unwrap_or(name);
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| bare.strip_prefix(prefix)) {
        bare = rest;
    }
    bare
}

/// Returns a name without the flags that macOS keeps behind a `#`; `None` if something other than
/// flags is there.
pub(super) fn without_flags(name: &str) -> Option<&str> {
    let (name, flags) = name.split_once('#').unwrap_or((name, ""));
    flags.bytes().all(|flag| flag.is_ascii_alphabetic()).then_some(name)
}

/// Returns the attributes of a file whose names `pick` recognises. Allocates nothing where there
/// are none. A file system that keeps no attributes has none.
///
/// # Errors
/// If the system refuses to list them.
pub(super) fn select<T>(
    file: &File,
    pick: impl Fn(&str) -> Option<T>,
) -> io::Result<Vec<(String, T)>> {
    let chosen = |name: &[u8]| {
        let name = str::from_utf8(name).ok()?;
        Some((name.to_owned(), pick(name)?))
    };
    let mut room = [0; NAMES_ROOM];
    let error = match xattr::list_into(file, &mut room) {
        Ok(names) => return Ok(names.split(|&byte| byte == 0).filter_map(chosen).collect()),
        Err(error) => error,
    };
    match error.kind() {
        io::ErrorKind::InvalidData => {
            let names = xattr::list(file)?;
            Ok(names.iter().filter_map(|name| chosen(name.as_encoded_bytes())).collect())
        }
        io::ErrorKind::Unsupported => Ok(Vec::new()),
        _ => Err(error),
    }
}
