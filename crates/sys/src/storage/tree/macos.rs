//! macOS: no file system there tells of files in its tree.

use std::io;

use crate::file::File;

pub(super) fn is_in_tree(_: &File) -> bool {
    false
}

pub(super) fn bytes_in_tree(_: &File, _: &str) -> io::Result<Option<Vec<u8>>> {
    Err(io::ErrorKind::Unsupported.into())
}
