//! Folders that a run could not list, so that nothing is known of what is new in them.
//!
//! They stay until they can be listed or are gone. A folder whose files are known is told by these.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use steadfast_sys::file::FileKind;
use steadfast_sys::names::{NameBuf as _, NameBytes as _};

use super::error::DbError;
use super::{Catalogue, CatalogueError, meta};
use crate::beneath;

/// The key of the list: paths from the root, each ended by a zero.
const KEY: &str = "unlisted";

/// The most folders that are kept: 64 KiB with long paths.
const KEPT_MAX: usize = 15;

impl Catalogue {
    /// Returns the folders that a run could not list, and that still cannot be, from the root.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn unlisted(&self) -> Result<Vec<PathBuf>, CatalogueError> {
        read(self).map_err(|fault| fault.at(&self.file))
    }
}

/// Adds folders to those that cannot be listed. Those that can be are taken away.
pub(super) fn add(catalogue: &Catalogue, new: Vec<PathBuf>) -> Result<(), DbError> {
    let known = stored(catalogue)?;
    let all: BTreeSet<PathBuf> = read(catalogue)?.into_iter().chain(new).collect();
    let paths = all.iter().take(KEPT_MAX).map(|path| [path.as_bytes(), b"\0"].concat());
    let list = paths.collect::<Vec<_>>().concat();
    match list == known {
        true => Ok(()),
        false => meta::put(&catalogue.db, KEY, list),
    }
}

fn stored(catalogue: &Catalogue) -> Result<Vec<u8>, DbError> {
    match meta::has(&catalogue.db, KEY)? {
        true => meta::bytes(&catalogue.db, KEY),
        false => Ok(Vec::new()),
    }
}

fn read(catalogue: &Catalogue) -> Result<Vec<PathBuf>, DbError> {
    let list = stored(catalogue)?;
    let paths = list.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let paths = paths.map(|path| PathBuf::from_vec(path.to_vec()));
    let is_closed = |path: &PathBuf| {
        let presence = beneath::presence(&catalogue.root, path).of_kind(FileKind::Directory);
        let list = || {
            let dir = beneath::directory(&catalogue.root, path)?;
            dir.entries(&mut |_| ControlFlow::Break(()))
        };
        !presence.is_lost() && list().is_err()
    };
    Ok(paths.filter(is_closed).collect())
}
