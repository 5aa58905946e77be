//! Selects those attributes of a file that are tags, by name.

use std::io;

use steadfast_sys::file::File;
use steadfast_sys::xattr;

/// Buffer length for the names of a file's attributes, about twenty. For files with more, the list
/// is read again.
const NAMES_ROOM: usize = 1024;

/// Returns the attributes of a file whose names `pick` recognises. Allocates nothing if there are
/// none. On a file system without attributes there are none.
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
