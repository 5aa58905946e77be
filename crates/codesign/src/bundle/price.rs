//! What verifying a bundle would cost besides its executable.
//!
//! In: a bundle and its seal. Out: the lengths of what is sealed and there, added to a prediction.
//! Must not know: rates, seconds.

use super::tree::{EntryKind, Subtree, joined};
use super::{Bundle, SealedForm, hash_types};
use crate::code::Code;
use crate::cost::Cost;
use crate::error::{Error, ErrorKind};

impl Bundle<'_> {
    /// Adds what is sealed by `Info.plist`'s slot and by the seal; with `deep`, nested code too.
    ///
    /// # Errors
    /// If something that is there cannot be looked at.
    pub(crate) fn add_cost(&self, deep: bool, cost: &mut Cost) -> Result<(), Error> {
        let hashes = hash_types(&self.signatures());
        let (Some(Ok(seal)), false) = (&self.seal, hashes.is_empty()) else { return Ok(()) };
        for (name, sealed) in &seal.entries {
            let path = joined(&self.layout.base, name.as_bytes());
            let looking = || format!("look at `{name}`");
            let kind = self.tree.kind(&path).map_err(|error| Error::system(&looking(), error))?;
            match (&sealed.form, kind) {
                (SealedForm::File(_), Some(EntryKind::File)) => {
                    let source = self.tree.open(&path);
                    let source = source.map_err(|error| Error::system(&looking(), error))?;
                    let needed = sealed.digests_for(&hashes).unwrap_or_default();
                    let needed: Vec<_> = needed.into_iter().map(|(hash, _)| hash).collect();
                    cost.add_file(source.len_bytes(), &needed);
                }
                (SealedForm::Nested { .. }, Some(kind)) if deep => {
                    self.add_nested(&path, kind, cost)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds nested code; what is none costs nothing.
    fn add_nested(&self, path: &[u8], kind: EntryKind, cost: &mut Cost) -> Result<(), Error> {
        let tree = Subtree::new(self.tree, path);
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let code = match kind {
            EntryKind::Folder => Code::bundle(&tree, name),
            _ => match self.tree.open(path) {
                Ok(source) => Code::file(source),
                Err(error) => Err(Error::system("open nested code", error)),
            },
        };
        match code {
            Ok(code) => cost.add(&code.cost(true)?),
            Err(error) if error.kind() == ErrorKind::System => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }
}
