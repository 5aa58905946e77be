//! Which files a person lets go of, so that their protection may end without a proof.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_parity::ProtectedFile;

use super::known::CataloguedFiles;
use super::member::PathSet;
use crate::event::FileError;

/// Which missing files are let go of.
pub(super) enum ForgottenMissing {
    /// None.
    None,
    /// All that are gone from a folder that is there.
    All,
    /// Those that the catalogue let go of when it was asked to, by their real paths.
    Accepted(Arc<PathSet>),
}

/// What a person lets go of.
pub(super) struct Forgetting {
    /// The real path of the root of the tree.
    pub(super) root: PathBuf,
    pub(super) missing: ForgottenMissing,
    /// Paths beneath the root. What is at or beneath them is let go of unless it is as protected.
    pub(super) named: Vec<PathBuf>,
}

impl Forgetting {
    /// Says whether any missing file may be let go of.
    pub(super) fn is_any(&self) -> bool {
        !matches!(self.missing, ForgottenMissing::None) || !self.named.is_empty()
    }

    /// Says whether a path was named.
    pub(super) fn names(&self, path: &Path) -> bool {
        self.named.iter().any(|named| path.starts_with(named))
    }

    /// Says whether a missing file is let go of.
    ///
    /// # Errors
    /// Why it is not, although missing files are.
    pub(super) fn lets_go_of(
        &self,
        file: &ProtectedFile,
        known: &CataloguedFiles,
    ) -> Result<bool, FileError> {
        let path = &file.path;
        match &self.missing {
            _ if self.names(path) => Ok(true),
            ForgottenMissing::None => Ok(known.was_let_go(file)),
            ForgottenMissing::Accepted(accepted) => {
                Ok(accepted.contains(&self.root.join(path)) || known.was_let_go(file))
            }
            ForgottenMissing::All => known.why_hidden(path).map_or(Ok(true), Err),
        }
    }
}
