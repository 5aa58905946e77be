//! Files that belong to their neighbour and are not data.

use std::ffi::OsStr;
use std::io::ErrorKind;

use steadfast_sys::file::{Dir, File, FileKind, Status};

use crate::{appledouble, pages, placeholder};

/// Returns whether a file has a tag of ours. The walk does not know where tags are kept.
pub(crate) type IsTagged = fn(&File) -> bool;

/// A kind of file that belongs to its neighbour and is not data.
pub(crate) enum Sidecar {
    /// Attributes that macOS could not keep at the neighbour.
    AppleDouble,
    /// What stands for a file whose contents are in iCloud Drive.
    Placeholder,
    /// Leaves of the neighbour's pages, or a draft of them; perhaps torn.
    Leaves,
}

impl Sidecar {
    /// Returns whether a name is that of a sidecar.
    pub(crate) fn is_name(name: &OsStr) -> bool {
        let companions = [appledouble::companion, pages::companion, placeholder::companion];
        companions.iter().any(|companion| companion(name).is_some())
    }

    /// Determines whether a file is a sidecar, by its name and contents. A file that only has such
    /// a name is data.
    pub(crate) fn of(dir: &Dir, name: &OsStr, is_tagged: IsTagged) -> Option<Sidecar> {
        if placeholder::is_placeholder(dir, name) {
            return Some(Sidecar::Placeholder);
        }
        let attributes = appledouble::companion(name);
        let companion = attributes.or_else(|| pages::companion(name))?;
        // Folders can have attributes too: Finder's.
        let fits = |status: Status| match status.kind {
            FileKind::Regular => true,
            FileKind::Directory => attributes.is_some(),
            FileKind::Symlink | FileKind::Other => false,
        };
        if !dir.status_of(companion).is_ok_and(fits) {
            return None;
        }
        let file = match dir.open_file(name) {
            Ok(file) => file,
            // A thread of the run has removed what a killed run left.
            Err(error) if error.kind() == ErrorKind::NotFound && pages::is_draft(name) => {
                return Some(Sidecar::Leaves);
            }
            Err(_) => return None,
        };
        if attributes.is_none() {
            return pages::is_ours(&file).unwrap_or(false).then_some(Sidecar::Leaves);
        }
        let mut head = [0; appledouble::MAGIC_LEN];
        let len = file.read_at(&mut head, 0).ok()?;
        // A file that was tagged as data before its neighbour existed stays data while it has the
        // tag.
        let is_sidecar = appledouble::is_appledouble(&head[..len]) && !is_tagged(&file);
        is_sidecar.then_some(Sidecar::AppleDouble)
    }
}
