//! Missing files that no accepting run has covered since they were first reported.
//!
//! A check records what is missing and asks nobody. So a run that accepts changes counts these
//! files as newly missing, until one that was allowed to go on has covered their paths.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use steadfast_sys::names::NameBytes as _;

use super::error::DbError;
use super::file_history_event::FileHistoryEvent;
use super::history::CoveringRuns;
use super::runs::RunState;
use super::slice_cache::reading;
use super::{Catalogue, CatalogueError, directory};
use crate::beneath;
use crate::verb_kind::VerbKind;

/// The verbs that end before they write if too much has changed.
const ASKING: [VerbKind; 2] = [VerbKind::Update, VerbKind::Retag];

impl Catalogue {
    /// Counts the missing files that no whole run of a verb that asks has covered since a run
    /// recorded them as missing. `paths` are relative to the root; those of one folder follow each
    /// other.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn unanswered(&self, paths: &[PathBuf]) -> Result<u64, CatalogueError> {
        let count = || unanswered(&self.db, paths);
        reading(&self.db, count).map_err(|fault| fault.at(&self.file))
    }
}

fn unanswered(db: &Connection, paths: &[PathBuf]) -> Result<u64, DbError> {
    let mut asked = db.prepare("SELECT id FROM runs WHERE state = ? AND verb IN (?, ?)")?;
    let verbs = ASKING.map(VerbKind::name);
    let asked = asked.query_map((RunState::Whole as i64, verbs[0], verbs[1]), |row| row.get(0))?;
    let asked: Vec<i64> = asked.collect::<Result<_, _>>()?;
    let mut recorded =
        db.prepare("SELECT max(run) FROM events WHERE directory = ? AND name = ? AND what = ?")?;
    let mut count = 0;
    let mut folder: Option<(&Path, Option<(i64, CoveringRuns)>)> = None;
    for path in paths {
        let Ok(Some((parent, name))) = beneath::split(path) else {
            count += 1;
            continue;
        };
        if folder.as_ref().is_none_or(|(last, _)| *last != parent) {
            let known = directory::at_path(db, parent)?;
            let runs = known.map(|it| Ok::<_, DbError>((it.id, CoveringRuns::of(db, it.id)?)));
            folder = Some((parent, runs.transpose()?));
        }
        let is_answered = match &folder {
            Some((_, Some((id, runs)))) => {
                let named = params![id, name.as_bytes(), FileHistoryEvent::Missing.name()];
                let since: Option<i64> = recorded.query_row(named, |row| row.get(0))?;
                let is_after = |run: &&i64| since.is_some_and(|since| **run >= since);
                asked.iter().filter(is_after).any(|run| runs.has(*run, name.as_bytes()))
            }
            _ => false,
        };
        count += u64::from(!is_answered);
    }
    Ok(count)
}
