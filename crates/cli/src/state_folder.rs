//! Where this user's state and configuration are kept.

use std::env;
use std::path::PathBuf;

/// Returns the file of the list of catalogued trees, if there is a folder for it.
pub(crate) fn trees() -> Option<PathBuf> {
    Some(folder()?.join("trees"))
}

/// Returns `$XDG_STATE_HOME/steadfast`, or `~/.local/state/steadfast`, or on macOS
/// `~/Library/Application Support/Steadfast`. `None` if the environment names no folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = absolute("XDG_STATE_HOME").map(|folder| folder.join("steadfast"));
    let usual = || {
        let mac = env::consts::OS == "macos";
        let folder = match mac {
            true => "Library/Application Support/Steadfast",
            false => ".local/state/steadfast",
        };
        Some(home()?.join(folder))
    };
    named.or_else(usual)
}

/// Returns `$XDG_CONFIG_HOME/steadfast`, or `~/.config/steadfast`, or on macOS
/// `~/Library/Application Support/Steadfast`. `None` if the environment names no folder.
pub(crate) fn configuration() -> Option<PathBuf> {
    let named = absolute("XDG_CONFIG_HOME").map(|folder| folder.join("steadfast"));
    let usual = || match env::consts::OS {
        "macos" => Some(home()?.join("Library/Application Support/Steadfast")),
        _ => Some(home()?.join(".config/steadfast")),
    };
    named.or_else(usual)
}

/// Returns the user's home folder.
pub(crate) fn home() -> Option<PathBuf> {
    absolute("HOME")
}

fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
