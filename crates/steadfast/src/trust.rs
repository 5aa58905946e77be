//! Which folders of ours at and above a path are used, and which another person could have put
//! there or can change.
//!
//! Trusted are the user of this process, root, and the owner of the folder that was selected: who
//! asks for a tree to be repaired trusts its owner with what is in it. The owner of a folder above
//! it is not asked about, so what he keeps there is used only if he is one of these.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use steadfast_sys::file::{Dir, Stranger, TrustedUsers};

/// Returns who is trusted with a tree that was selected itself.
///
/// # Errors
/// Whatever the system says.
pub(crate) fn trusted_with(root: &Path) -> io::Result<TrustedUsers> {
    TrustedUsers::own().and_owner_of(&Dir::open(root)?)
}

/// The error of a place that another person could have put there or can change.
#[derive(Debug, thiserror::Error)]
pub(crate) struct Distrusted {
    path: PathBuf,
    stranger: Stranger,
}

impl fmt::Display for Distrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not trusted: {}", self.path.display(), self.stranger)
    }
}

impl Distrusted {
    /// Returns whether an error is this one.
    pub(crate) fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|error| error.is::<Distrusted>())
    }
}

/// Fails if there is a stranger. `path` is what he can change.
///
/// # Errors
/// [`Distrusted`]; otherwise whatever the system said.
pub(crate) fn refuse(path: &Path, found: io::Result<Option<Stranger>>) -> io::Result<()> {
    match found? {
        None => Ok(()),
        Some(stranger) => {
            let fault = Distrusted { path: path.to_owned(), stranger };
            Err(io::Error::new(io::ErrorKind::PermissionDenied, fault))
        }
    }
}

/// Fails if another person could have put a folder of ours into a directory, or can change it or
/// one of its files. What cannot be opened says so when it is used.
///
/// # Errors
/// Those of [`refuse`].
pub(crate) fn ensure_trusted(
    root: &Path,
    folder: &str,
    file: &str,
    trusted: &TrustedUsers,
) -> io::Result<()> {
    let path = root.join(folder);
    // A link is not opened, and its owner put it there.
    let status = Dir::open(root)?.status_of(folder.as_ref())?;
    refuse(&path, Ok(trusted.stranger_owning(&status)))?;
    let dir = open_trusted(root, &[folder], trusted)?;
    let path = path.join(file);
    // A stranger's file need not be readable.
    refuse(&path, Ok(trusted.stranger_owning(&dir.status_of(file.as_ref())?)))?;
    refuse(&path, trusted.stranger_in(&dir.open_file(file.as_ref())?))
}

/// Opens a folder beneath a root, one name at a time and through no link, each of which nobody else
/// can change.
///
/// # Errors
/// Those of [`refuse`]; `NotFound` if it is not there, whoever has what is above it.
pub(crate) fn open_trusted(root: &Path, names: &[&str], trusted: &TrustedUsers) -> io::Result<Dir> {
    let mut dirs = vec![(root.to_owned(), Dir::open(root)?)];
    for name in names {
        let (above, dir) = dirs.last().expect("there is the root");
        let next = (above.join(name), dir.open_dir(name.as_ref())?);
        dirs.push(next);
    }
    let mut last = None;
    for (number, (path, dir)) in dirs.into_iter().enumerate() {
        refuse(
            &path,
            match number {
                0 => trusted.stranger_above(&dir),
                _ => trusted.stranger_in(&dir),
            },
        )?;
        last = Some(dir);
    }
    Ok(last.expect("there is the root"))
}
