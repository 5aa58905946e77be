//! Lists the versions of a framework other than the current one, which its seal does not cover.
//!
//! Apple's strict check verifies them against the designated requirement of the current version.

use super::tree::{EntryKind, joined};
use super::{Bundle, NestedItem, Shape};
use crate::error::Error;
use crate::requirement::{Requirement, Requirements};
use crate::signature::Signature;

impl Bundle<'_> {
    /// Returns the other versions of a framework, in the order of their names.
    ///
    /// Each must meet the designated requirement of the current one if that names a signer.
    /// Otherwise anyone could make another version, so only a copy of the current one is accepted.
    ///
    /// # Errors
    /// `System` if the versions cannot be listed.
    pub(crate) fn other_versions(&self) -> Result<Vec<NestedItem>, Error> {
        let signatures = self.signatures();
        let (Shape::Versions, Some(signature)) = (self.layout.shape, signatures.first()) else {
            return Ok(Vec::new());
        };
        let designated = designated(signature).filter(Requirement::names_whom_or_what);
        let (requirement, cdhash) = match designated {
            Some(designated) => (designated.to_string(), None),
            None => {
                let identifier = signature.identifier().replace(['"', '\\'], "");
                let cdhash = signature.chosen_directory().cdhash();
                (format!("identifier \"{identifier}\""), Some(cdhash.as_bytes().to_vec()))
            }
        };
        let entries = self.tree.entries(b"Versions");
        let entries = entries.map_err(|error| Error::system("list `Versions`", error))?;
        let folders = entries.into_iter().filter(|(_, kind)| *kind == EntryKind::Folder);
        let paths = folders.map(|(name, _)| joined(b"Versions", &name));
        let others = paths.filter(|path| *path != self.layout.base);
        let item = |path| NestedItem {
            path,
            requirement: requirement.clone(),
            cdhash: cdhash.clone(),
            folder: true,
        };
        Ok(others.map(item).collect())
    }
}

fn designated(signature: &Signature) -> Option<Requirement> {
    let requirements = Requirements::from_blob(signature.requirements()?.bytes).ok()?;
    requirements.designated().cloned()
}
