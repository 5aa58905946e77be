//! Missing files that no accepting run has covered since they were first reported.
//!
//! A check records what is missing and asks nobody. So a run that accepts changes counts these
//! files as newly missing, until one that was allowed to go on has covered their paths.

use std::path::Path;

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use super::error::DbError;
use super::history::covering_runs;
use super::runs::RunState;
use super::{Catalogue, CatalogueError, directory};
use crate::beneath;
use crate::verb_kind::VerbKind;

/// The verbs that end before they write if too much has changed.
const ASKING: [VerbKind; 2] = [VerbKind::Update, VerbKind::Retag];

impl Catalogue {
    /// Returns whether no whole run of a verb that asks has covered a missing file since a run
    /// recorded it as missing. `path` is relative to the root.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn is_unanswered(&self, path: &Path) -> Result<bool, CatalogueError> {
        is_unanswered(&self.db, path).map_err(|fault| fault.at(&self.file))
    }
}

fn is_unanswered(db: &Connection, path: &Path) -> Result<bool, DbError> {
    let Ok(Some((parent, name))) = beneath::split(path) else { return Ok(true) };
    let Some(parent) = directory::at_path(db, parent)? else { return Ok(true) };
    let mut recorded = db.prepare_cached(
        "SELECT max(run) FROM events WHERE directory = ? AND name = ? AND what = 'missing'",
    )?;
    let since: Option<i64> = recorded.query_row((parent.id, name.as_bytes()), |row| row.get(0))?;
    let Some(since) = since else { return Ok(true) };
    let mut asked =
        db.prepare_cached("SELECT 1 FROM runs WHERE id = ? AND state = ? AND verb IN (?, ?)")?;
    for run in covering_runs(db, parent.id, name.as_bytes())?.range(since..) {
        if asked.exists((run, RunState::Whole as i64, ASKING[0].name(), ASKING[1].name()))? {
            return Ok(false);
        }
    }
    Ok(true)
}
