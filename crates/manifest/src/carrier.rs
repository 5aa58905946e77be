//! Names of attributes as they arrive from another system: a copying program or a server puts a
//! prefix before the name or a suffix behind it.
//!
//! A Mac's name has no namespace. rsync and others put `user.` before it, rsync with
//! `--fake-super` `user.rsync.`, Samba's vfs_streams_xattr `user.DosStream.` and `:$DATA` behind
//! it, the kernel's HFS+ driver `osx.`.

/// The prefixes, each of which may occur more than once.
const PREFIXES: [&str; 4] = ["user.", "DosStream.", "rsync.", "osx."];

/// The suffix of a named stream.
pub(crate) const STREAM: &str = ":$DATA";

/// Returns a name without the prefixes and the suffix of carriers.
pub(crate) fn bare(name: &str) -> &str {
    let mut bare = name.strip_suffix(STREAM).unwrap_or(name);
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| bare.strip_prefix(prefix)) {
        bare = rest;
    }
    bare
}

/// Returns a name without the flags that macOS keeps behind a `#`; `None` if something other than
/// flags is there.
pub(crate) fn without_flags(name: &str) -> Option<&str> {
    let (name, flags) = name.split_once('#').unwrap_or((name, ""));
    flags.bytes().all(|flag| flag.is_ascii_alphabetic()).then_some(name)
}
