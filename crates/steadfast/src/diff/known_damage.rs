//! What checks found of the files of a side: a tag says what a file was, and a catalogue that it is
//! so no more.
//!
//! Takes the root of a side; returns the open failures beneath it. Reads no contents.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::catalogue::{Catalogue, CatalogueError, CatalogueErrorKind, TreeList, real_of};
use crate::event::{FileError, Notice};
use crate::file_state::FileState;
use crate::run::{CatalogueUse, Options};
use crate::verdict::Verdict;

use super::pair::FileSide;

/// Files of which a side remembers what is wrong: some megabytes.
const REMEMBERED_MAX: usize = 20_000;

/// Files of a side that a check found damaged or could not read.
#[derive(Default)]
pub(super) struct KnownDamage {
    files: BTreeMap<PathBuf, FileState>,
    /// Why not all of them are known, if so.
    notice: Option<Notice>,
}

impl KnownDamage {
    /// Asks the catalogue of a tree. Without one, and for a tree that was copied together with the
    /// catalogue of another, nothing is known.
    pub(super) fn of(root: &Path, options: &Options) -> KnownDamage {
        let mut known = KnownDamage::default();
        if let Err(error) = known.read(root, options) {
            let is_of_another = error.kind() == CatalogueErrorKind::OtherVolume;
            let text = format!("what checks have found in it is not known: {error}");
            known.notice = (!is_of_another).then(|| Notice::failure(text).at(root));
        }
        known
    }

    fn read(&mut self, root: &Path, options: &Options) -> Result<(), CatalogueError> {
        let Some(real) = real_of(root) else { return Ok(()) };
        let listed = || {
            let list = TreeList::at(options.catalogue.trees.as_ref()?);
            real.ancestors().find_map(|above| list.of_root(above)).map(|tree| tree.catalogue)
        };
        let file = match options.catalogue.choice {
            CatalogueUse::Off => None,
            _ => Catalogue::find(root).or_else(listed),
        };
        let Some(file) = file else { return Ok(()) };
        let catalogue = Catalogue::open_reader(&file)?;
        catalogue.guard()?;
        let Ok(below) = real.strip_prefix(catalogue.root()) else { return Ok(()) };
        catalogue.failures(&mut |failure| {
            if let Ok(path) = failure.path.strip_prefix(below)
                && !failure.settled
                && !failure.goes_on
            {
                self.files.insert(path.to_owned(), failure.standing);
            }
            match self.files.len() > REMEMBERED_MAX {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        if self.files.len() > REMEMBERED_MAX {
            let text = "checks have found more files damaged than a comparison can take into \
                        account: read both sides instead";
            self.notice = Some(Notice::failure(text).at(root));
        }
        Ok(())
    }

    /// Returns why not all is known, if so.
    pub(super) fn notice(&self) -> Option<Notice> {
        self.notice.clone()
    }

    /// Says of a file that was not read what the last check has found of it.
    pub(super) fn say(&self, path: &Path, side: &mut FileSide) {
        let Some(state) = self.files.get(path).filter(|_| side.actual.is_none()) else { return };
        match state {
            FileState::Corrupt => side.verdict = Some(Verdict::Corrupt),
            FileState::Suspect => side.verdict = Some(Verdict::Suspect),
            FileState::Differs => side.verdict = Some(Verdict::Differs),
            FileState::Unreadable | FileState::Unstable => {
                let error = FileError::new("read it", "the last check could not either");
                side.trouble.get_or_insert(error);
            }
            _ => {}
        }
    }
}
