//! Where this user's state is kept between runs.

use std::env;
use std::path::PathBuf;

/// Returns the file of the list of catalogued trees, if there is a folder for it.
pub(crate) fn trees() -> Option<PathBuf> {
    Some(folder()?.join("trees"))
}

/// Returns `$XDG_STATE_HOME/steadfast`, or `~/.local/state/steadfast`, or on macOS
/// `~/Library/Application Support/Steadfast`. `None` if the environment names no folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = absolute("XDG_STATE_HOME").map(|folder| folder.join("steadfast"));
    let usual = || {
        let mac = env::consts::OS == "macos";
        let folder = match mac {
            true => "Library/Application Support/Steadfast",
            false => ".local/state/steadfast",
        };
        Some(absolute("HOME")?.join(folder))
    };
    named.or_else(usual)
}
