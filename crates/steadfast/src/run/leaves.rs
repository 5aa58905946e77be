//! Finds the leaves of a catalogued tree, which are in a folder beside its catalogue.

use std::path::Path;

use crate::catalogue::{self, CatalogueError, CatalogueErrorKind};
use crate::store::pages::{LeavesFolder, with_suffix};
use crate::tree_folder;

/// Finds the folder of the leaves of a catalogue's files: in the tree's own folder, or beside a
/// catalogue that is kept elsewhere. `None` if the catalogue's folder is absent.
///
/// # Errors
/// If the catalogue's folder must not be used.
pub(crate) fn leaves_folder(catalogue: &Path) -> Result<Option<LeavesFolder>, CatalogueError> {
    let inside = catalogue.parent().is_some_and(|folder| folder.ends_with(catalogue::FOLDER));
    let path = match inside && catalogue.ends_with(catalogue::FILE) {
        true => catalogue.with_file_name(tree_folder::LEAVES),
        false => with_suffix(catalogue, ".pages"),
    };
    match catalogue::folder(catalogue) {
        Ok(above) => Ok(Some(LeavesFolder::new(above, path))),
        Err(error) if error.kind() == CatalogueErrorKind::Absent => Ok(None),
        Err(error) => Err(error),
    }
}
