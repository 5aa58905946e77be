//! Files of the Linux kernel that each hold one fact, in `/proc` and `/sys`.

use std::fs;
use std::path::Path;
use std::str::FromStr;

/// Returns the text of a file without the blanks around it. `None` if it cannot be read.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// Returns the number in a file. `None` if the file cannot be read or holds something else.
pub(crate) fn number<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    text(path)?.parse().ok()
}
