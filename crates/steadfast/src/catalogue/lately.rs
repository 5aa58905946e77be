//! What the answer to "how is this folder?" says beside the audit: parts that are not mounted, and
//! how many files were accepted with other contents lately.

use std::path::PathBuf;

use super::column;
use super::directory::{Paths, directory};
use super::not_visited::entries_beneath;
use super::slice_cache::reading;
use super::unmounted::is_unmounted;
use super::{Catalogue, CatalogueError};
use crate::file_state::FileState;

impl Catalogue {
    /// Returns how many files a run accepted with other contents, or as gone, from a time on, in
    /// seconds since 1970.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn accepted_since(&self, since_s: i64) -> Result<u64, CatalogueError> {
        let count = || {
            let mut statement = self.db.prepare_cached(
                "SELECT count(*) FROM (SELECT DISTINCT directory, name FROM events \
                 WHERE run IN (SELECT id FROM runs WHERE started_s >= ?1) \
                 AND (what IN ('retagged', 'accepted', 'dropped') \
                 OR what = 'overwritten' AND state = ?2))",
            )?;
            let fine = FileState::Fine.name();
            let mut rows = statement.query((since_s, fine))?;
            rows.next()?.map_or(Ok(0), |row| column::unsigned(row, 0))
        };
        reading(&self.db, count).map_err(|fault| self.wrong(fault))
    }

    /// Returns the directories that were other volumes and no longer are, each with the number of
    /// files that are known there.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn unmounted_parts(&self) -> Result<Vec<(PathBuf, u64)>, CatalogueError> {
        let find = || {
            let mut places = self.places()?;
            let mut statement = self.db.prepare_cached(
                "SELECT part.id FROM directories part JOIN directories above \
                 ON above.id = part.parent WHERE part.mounted AND NOT above.mounted",
            )?;
            let mut rows = statement.query(())?;
            let (mut paths, mut found) = (Paths::default(), Vec::new());
            while let Some(row) = rows.next()? {
                let part = directory(&self.db, column::integer(row, 0)?)?;
                let path = paths.of(&self.db, part.id)?.to_owned();
                let files = entries_beneath(&self.db, part.id)?;
                if files > 0 && is_unmounted(&self.db, &part, &path, &mut places)? {
                    found.push((path, files));
                }
            }
            Ok(found)
        };
        reading(&self.db, find).map_err(|fault| self.wrong(fault))
    }
}
