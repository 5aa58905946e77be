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

use crate::catalogue::{Catalogue, catalogue_in, real_of};

/// A directory at or above a path, which may have a folder of ours.
#[derive(Clone, Debug)]
pub(crate) struct TreeAbove {
    /// The directory; a real path.
    pub(crate) root: PathBuf,
    /// Whether it was selected, or what was is in its catalogue. What is wrong in others does not
    /// concern who asks for the path.
    pub(crate) is_own: bool,
    /// Whether no catalogue is between it and the path, so that it may be the path's tree.
    pub(crate) is_nearest: bool,
    /// Who is trusted with what is there.
    pub(crate) trusted: TrustedUsers,
}

/// Returns the directories at and above a path, from the nearest on. `selected` is the path itself,
/// or one above it that the user named.
pub(crate) fn trees_above(path: &Path, selected: &Path) -> Vec<TreeAbove> {
    let Some((path, selected)) = real_of(path).zip(real_of(selected)) else { return Vec::new() };
    // What is selected may be missing, with its folder.
    let there = |path: &Path| path.ancestors().find(|above| above.is_dir()).map(Path::to_owned);
    let Some((folder, named)) = there(&path).zip(there(&selected)) else { return Vec::new() };
    let catalogued = Catalogue::find(&path);
    let tree = |root: &Path| {
        let is_named = root.starts_with(&named);
        let trusted = trusted_with(if is_named { root } else { &named }).ok()?;
        let is_own = is_named || catalogued.as_deref() == Some(&catalogue_in(root));
        // The catalogue is in a folder of its tree.
        let of_catalogue = catalogued.as_ref().and_then(|file| file.parent()?.parent());
        let is_nearest = of_catalogue.is_none_or(|nearest| root.starts_with(nearest));
        Some(TreeAbove { root: root.to_owned(), is_own, is_nearest, trusted })
    };
    folder.ancestors().filter_map(tree).collect()
}

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
