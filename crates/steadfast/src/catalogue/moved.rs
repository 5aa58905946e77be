//! The new place of a missing file: a file with its contents that appeared after it was last seen.
//!
//! Takes the table of missing files and the events of earlier runs; returns arrivals. A run over a
//! subfolder, a run that was killed, or `tag` may have recorded the new path first. Therefore it
//! counts which run saw which file, not which file is new in this run.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, Row};

use steadfast_sys::file::{FileKind, Status};

use super::column;
use super::directory::Paths;
use super::entry::{FileRecord, FileRow};
use super::error::DbError;
use super::history::{CoveringRuns, former_paths};
use super::recorder::Recorder;
use super::work;
use super::written::was_met;
use crate::beneath::Places;
use crate::file_state::FileState;
use steadfast_manifest::tag::Tag;

/// The present place of a file.
pub(super) struct Arrival {
    pub(super) directory: i64,
    pub(super) name: Vec<u8>,
    pub(super) path: PathBuf,
    pub(super) standing: FileState,
}

/// Collects the files that a missing one may have become: those of its inode and digest at the name
/// of another one of the same contents; those that got a tag of its digest since it was last seen;
/// those that had one and got another since; those of its inode and digest that were known before,
/// as after a move back; and new ones of its inode, length and time, which were edited under the
/// old name. In `followed` are those that earlier runs found to have moved, of which one may have
/// left its name to another file. `whole`: the present tag has the digest, the contents were last
/// found to match it, and no earlier run found another file to be this one. `entered_run`: when the
/// file got that tag, 0 for long ago.
const COLLECT: &str = "
CREATE INDEX temp.missing_digests ON missing (digest);
CREATE INDEX temp.missing_inodes ON missing (inode);
CREATE INDEX temp.missing_targets ON missing (to_directory, to_name);
INSERT OR IGNORE INTO temp.arrivals
SELECT n.digest, n.algorithm, coalesce(n.tag_length, n.length), n.name, n.directory, n.inode,
  n.first_run, {run}, 0
FROM temp.inode_changes AS d
CROSS JOIN known_files AS n ON n.directory = d.directory AND n.name = d.name
WHERE NOT is_missing(n.state) AND n.inode IN (SELECT inode FROM temp.missing)
  AND n.digest IN (SELECT digest FROM temp.missing);
INSERT OR IGNORE INTO temp.arrivals
SELECT n.digest, n.algorithm, coalesce(n.tag_length, n.length), n.name, n.directory, n.inode,
  n.first_run, e.run, proves(n.state) AND NOT EXISTS (
    SELECT 1 FROM events AS taken WHERE taken.directory = n.directory AND taken.name = n.name
      AND taken.run >= n.first_run AND taken.what = 'moved from')
FROM events AS e CROSS JOIN known_files AS n ON n.directory = e.directory AND n.name = e.name
WHERE e.run > (SELECT min(seen_run) FROM temp.missing) AND NOT is_missing(n.state)
  AND (e.what = 'new'
    OR e.what IN ('tagged', 'retagged', 'adopted', 'accepted') AND e.digest IS NOT n.digest)
  AND n.digest IN (SELECT digest FROM temp.missing)
ORDER BY e.run DESC;
INSERT OR IGNORE INTO temp.arrivals
SELECT e.digest, e.algorithm, e.tag_length, n.name, n.directory, n.inode, n.first_run, e.run, 0
FROM events AS e CROSS JOIN known_files AS n ON n.directory = e.directory AND n.name = e.name
WHERE e.run > (SELECT min(seen_run) FROM temp.missing) AND NOT is_missing(n.state)
  AND e.what IN ('retagged', 'removed', 'accepted')
  AND e.digest IN (SELECT digest FROM temp.missing)
ORDER BY e.run DESC;
INSERT OR IGNORE INTO temp.arrivals
SELECT n.digest, n.algorithm, coalesce(n.tag_length, n.length), n.name, n.directory, n.inode,
  n.first_run, 0, 0
FROM known_files AS n
WHERE (SELECT max(first_run) FROM temp.missing) > 1 AND NOT is_missing(n.state)
  AND n.inode IN (SELECT inode FROM temp.missing)
  AND n.digest IN (SELECT digest FROM temp.missing);
INSERT OR IGNORE INTO temp.arrivals
SELECT was.digest, was.algorithm, coalesce(was.tag_length, was.length), n.name, n.directory,
  n.inode, n.first_run, n.first_run, 0
FROM known_files AS n
CROSS JOIN temp.missing AS m ON m.inode = n.inode AND m.seen_run < n.first_run
CROSS JOIN known_files AS was ON was.directory = m.directory AND was.name = m.name
WHERE NOT is_missing(n.state) AND was.digest IS NOT NULL
  AND (n.length = was.length AND n.mtime_ns = was.mtime_ns OR {met});
CREATE TEMP TABLE followed AS
SELECT n.digest, n.directory, n.name, n.inode, n.first_run FROM known_files AS n
WHERE NOT is_missing(n.state) AND n.digest IN (SELECT digest FROM temp.missing)
  AND EXISTS (SELECT 1 FROM events AS e WHERE e.directory = n.directory AND e.name = n.name
    AND e.run >= n.first_run AND e.what = 'moved from');
CREATE INDEX temp.followed_digests ON followed (digest);";

/// Finds the arrivals for one missing file: `?1` to `?3` its contents, `?4` its inode, `?5` its
/// name, `?6` and `?7` the first and the last run that saw it, `?8` the time in its tag.
///
/// A file with the same inode is the same file, whatever changed since. A file with another inode
/// is a copy: it must still have the contents, and its path must be new. Two paths that existed in
/// the same run are two files; but one file may have had several paths in succession. A file that
/// another missing file became, by its inode, is not a copy of this one. Of the names of one file,
/// one that was missing before (`?9`) did not become the new one. Empty files are all alike, so one
/// of another name and inode is none.
const FIND: &str = "
SELECT n.directory, n.name, n.inode,
  n.inode = ?4 AND (n.entered_run > ?7 OR n.entered_run = 0 AND n.first_run < ?6) AS same,
  n.whole AND n.first_run > ?7 AS copy, n.entered_run,
  ?3 = 0 AND (EXISTS (
    SELECT 1 FROM known_files AS e WHERE e.directory = n.directory AND e.name = n.name
      AND e.digest = ?1 AND e.tag_mtime_ns = ?8)
  OR EXISTS (
    SELECT 1 FROM events AS e WHERE e.directory = n.directory AND e.name = n.name
      AND e.digest = ?1 AND e.tag_mtime_ns = ?8)) AS tagged
FROM temp.arrivals AS n
WHERE n.digest = ?1 AND n.algorithm = ?2 AND n.length = ?3 AND (same OR copy)
  AND (?3 > 0 OR n.name = ?5 OR same)
  AND NOT EXISTS (
    SELECT 1 FROM temp.missing AS other
    WHERE other.to_directory = n.directory AND other.to_name = n.name
      AND other.first_run <= ?7 AND other.seen_run >= ?6)
  AND NOT (?9 AND n.inode = ?4 AND EXISTS (
    SELECT 1 FROM temp.missing AS later
    CROSS JOIN known_files AS e ON e.directory = later.directory AND e.name = later.name
    WHERE later.inode = ?4 AND later.digest = ?1 AND later.to_directory IS NULL
      AND later.first_run <= ?7 AND NOT is_missing(e.state)))
  AND (n.inode = ?4 OR NOT EXISTS (
    SELECT 1 FROM temp.missing AS other
    WHERE other.inode = n.inode AND other.digest = n.digest
      AND other.first_run <= ?7 AND other.seen_run >= ?6))";

/// Restrictions of [`FIND`], the best first: the inode, the name, or none. Each has an index, so a
/// folder of many equal files can be renamed.
const STEPS: [&str; 3] =
    ["AND n.inode = ?4 ORDER BY n.name = ?5 DESC, n.directory", "AND n.name = ?5", ""];

/// A row of [`FIND`].
#[derive(Clone)]
struct Candidate {
    directory: i64,
    name: Vec<u8>,
    inode: u64,
    same: bool,
    copy: bool,
    /// Whether it was known before the missing file.
    earlier: bool,
    /// Whether it is empty, or was, and has or had the tag of the missing file.
    has_tag: bool,
}

impl Candidate {
    fn read(row: &Row<'_>) -> Result<Candidate, DbError> {
        Ok(Candidate {
            directory: column::integer(row, 0)?,
            name: column::name(row, 1)?.to_vec(),
            inode: column::unsigned(row, 2)?,
            same: column::integer(row, 3)? != 0,
            copy: column::integer(row, 4)? != 0,
            earlier: column::integer(row, 5)? == 0,
            has_tag: column::integer(row, 6)? != 0,
        })
    }

    /// Returns whether it is on the disk, as far as its status shows. It may have been renamed or
    /// edited since a run saw it, and this run may cover another part of the tree. A new empty file
    /// may have the inode of a deleted one, so its time must be the same, or its name, or its tag.
    fn is_there(&self, places: &mut Places, path: &Path, row: &FileRow, tag: &Tag) -> bool {
        let fits = |status: Status| {
            let is_it = tag.length > 0
                || self.name == row.name
                || status.mtime == row.record.facts.mtime
                || self.has_tag;
            status.kind == FileKind::Regular
                && is_it
                && (self.same && status.inode == self.inode
                    || self.copy && status.length == tag.length)
        };
        places.presence(path).status().is_some_and(fits)
    }
}

impl Recorder {
    /// Notes a file that came in a run that writes no events. Other runs find it by its event.
    pub(super) fn arrive(
        &mut self,
        directory: i64,
        name: &[u8],
        record: &FileRecord,
        tag: &Tag,
        first_run: i64,
    ) -> Result<(), DbError> {
        if self.mode.writes {
            return Ok(());
        }
        self.make_arrivals()?;
        let mut statement = self.catalogue.db.prepare_cached(
            "INSERT OR IGNORE INTO temp.arrivals VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        statement.execute((
            tag.digest.as_bytes(),
            tag.algorithm.name(),
            tag.length.cast_signed(),
            name,
            directory,
            record.facts.inode.cast_signed(),
            first_run,
            self.record.id,
            record.standing.proves(),
        ))?;
        Ok(())
    }

    fn make_arrivals(&mut self) -> Result<(), DbError> {
        if !self.tables.arrivals {
            self.catalogue.db.execute_batch(
                "CREATE TEMP TABLE arrivals (digest BLOB, algorithm TEXT, length INTEGER, \
                 name BLOB, directory INTEGER, inode INTEGER, first_run INTEGER, \
                 entered_run INTEGER, whole INTEGER, \
                 PRIMARY KEY (digest, algorithm, length, name, directory)) WITHOUT ROWID; \
                 CREATE INDEX temp.arrival_inodes ON arrivals (digest, algorithm, length, inode)",
            )?;
            self.tables.arrivals = true;
        }
        Ok(())
    }

    /// Collects the possible new places of missing files, once all of these are known. Returns
    /// false if the user stopped the run.
    pub(super) fn collect_arrivals(&mut self) -> Result<bool, DbError> {
        self.make_arrivals()?;
        self.make_displaced()?;
        let stop = self.early_end.flag.clone();
        if stop.is_some() {
            // If a statement is interrupted, SQLite rolls back its whole transaction.
            self.commit(true)?;
        }
        let db = &self.catalogue.db;
        let sql = COLLECT.replace("{met}", &was_met("m", "n"));
        let sql = sql.replace("{run}", &self.record.id.to_string());
        let collected = work::stoppable(|| db.execute_batch(&sql));
        match collected {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
                    && self.is_stopped() =>
            {
                if self.mode.writes {
                    self.db().execute_batch("BEGIN IMMEDIATE")?;
                }
                Ok(false)
            }
            collected => Ok(collected.map(|()| true)?),
        }
    }

    /// Finds the new place of a missing file, and marks it as used.
    pub(super) fn find_arrival(
        &mut self,
        directory: i64,
        row: &FileRow,
        slice_run: i64,
        paths: &mut Paths,
    ) -> Result<Option<Arrival>, DbError> {
        let Some(tag) = row.record.tag else { return Ok(None) };
        if !self.may_have_arrived(&tag)? {
            return Ok(None);
        }
        let seen = row.first_run..=row.last_seen(slice_run);
        let followed = self.followed(directory, row, &tag, paths)?;
        for step in [None].into_iter().chain(STEPS.map(Some)) {
            let found = match step {
                None => followed.clone(),
                Some(step) => self.candidate(&format!("{FIND} {step}"), row, &tag, &seen, paths)?,
            };
            let Some((there, path)) = found else { continue };
            let mut standing = FileState::Fine;
            if self.mode.writes {
                let waiting = self.displaced_at(there.directory, &there.name)?;
                let waiting = waiting.filter(|waiting| waiting.is_known);
                let row = match &waiting {
                    Some(_) => None,
                    None => self.rows.find(&self.catalogue.db, there.directory, &there.name)?,
                };
                let known = row.map(|found| found.known.record);
                let known = known.or(waiting.map(|waiting| waiting.seen.record));
                let fits = |it: &FileRecord| {
                    it.facts.inode == there.inode
                        && (there.same || it.tag.is_some_and(|it| it.same_contents(&tag)))
                };
                let known = known.filter(fits);
                let damaged = || DbError::damaged("a file that came is not as it was when it came");
                standing = known.ok_or_else(damaged)?.standing;
            }
            let mut taken = self.catalogue.db.prepare_cached(
                "UPDATE temp.missing SET to_directory = ?, to_name = ? \
                 WHERE directory = ? AND name = ?",
            )?;
            let Candidate { directory: to_directory, name, .. } = there;
            taken.execute((to_directory, name.as_slice(), directory, row.name.as_slice()))?;
            return Ok(Some(Arrival { directory: to_directory, name, path, standing }));
        }
        Ok(None)
    }

    /// Returns whether any file has the contents of a missing one. Most that are deleted have none.
    fn may_have_arrived(&self, tag: &Tag) -> Result<bool, DbError> {
        let mut statement = self.catalogue.db.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM temp.arrivals WHERE digest = ?1) \
             OR EXISTS (SELECT 1 FROM temp.followed WHERE digest = ?1)",
        )?;
        Ok(statement.query_row((tag.digest.as_bytes(),), |row| row.get(0))?)
    }

    /// Returns where an earlier run found the file of a name that another one had since.
    fn followed(
        &mut self,
        directory: i64,
        row: &FileRow,
        tag: &Tag,
        paths: &mut Paths,
    ) -> Result<Option<(Candidate, PathBuf)>, DbError> {
        let (db, places) = (&self.catalogue.db, &mut self.places);
        let from = paths.file(db, directory, &row.name)?;
        let mut statement = db.prepare_cached(
            "SELECT directory, name, inode, 1, 0, 1, 0 FROM temp.followed \
             WHERE digest = ? AND first_run > ?",
        )?;
        let mut found = statement.query((tag.digest.as_bytes(), row.first_run))?;
        while let Some(next) = found.next()? {
            let there = Candidate::read(next)?;
            let path = paths.file(db, there.directory, &there.name)?;
            if there.is_there(places, &path, row, tag) && former_paths(db, &path)?.contains(&from) {
                return Ok(Some((there, path)));
            }
        }
        Ok(None)
    }

    /// Returns the first candidate that is on the disk, with its path.
    fn candidate(
        &mut self,
        sql: &str,
        row: &FileRow,
        tag: &Tag,
        seen: &RangeInclusive<i64>,
        paths: &mut Paths,
    ) -> Result<Option<(Candidate, PathBuf)>, DbError> {
        let (db, places) = (&self.catalogue.db, &mut self.places);
        let mut statement = db.prepare_cached(sql)?;
        let mut found = statement.query((
            tag.digest.as_bytes(),
            tag.algorithm.name(),
            tag.length.cast_signed(),
            row.record.facts.inode.cast_signed(),
            row.name.as_slice(),
            seen.start(),
            seen.end(),
            column::Moment(tag.mtime),
            row.record.standing == FileState::Missing,
        ))?;
        while let Some(next) = found.next()? {
            let there = Candidate::read(next)?;
            let path = paths.file(db, there.directory, &there.name)?;
            if !there.is_there(places, &path, row, tag) {
                continue;
            }
            // A file that was known earlier, and was judged while the missing one existed, is a
            // different file.
            let judged = |runs: BTreeSet<i64>| runs.range(seen.clone()).next().is_some();
            if there.earlier && judged(CoveringRuns::of(db, there.directory)?.at(&there.name)) {
                continue;
            }
            return Ok(Some((there, path)));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use crate::catalogue::{Catalogue, LockRequest, RunScope, RunStart, RunState};
    use crate::read::Origin;
    use crate::verb_kind::VerbKind;
    use steadfast_sys::file::Timestamp;

    #[test]
    fn a_stop_interrupts_a_statement_of_sqlite_and_the_run_can_still_be_stored() {
        let tree = tempfile::tempdir().unwrap();
        let now = Timestamp::default();
        let lock = LockRequest { verb: VerbKind::Init, now, wait: None };
        let catalogue = Catalogue::create(tree.path(), None, &lock).unwrap();
        let file = catalogue.file().to_owned();
        let start = RunStart {
            verb: VerbKind::Check,
            read_from: Some(Origin::Cache),
            backend: "",
            now,
            accepts: false,
        };
        let mut recorder = catalogue.recorder(RunScope::default(), &start).unwrap();
        recorder.make_missing().unwrap();
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9999) \
            INSERT INTO temp.missing \
            SELECT 1, CAST(i AS BLOB), x'00', i, 1, 1, NULL, NULL, 0, 0, i FROM n";
        recorder.db().execute_batch(many).unwrap();
        recorder.stop_by(Arc::new(AtomicBool::new(true)));
        assert!(!recorder.collect_arrivals().unwrap(), "interrupted");
        let record = recorder.finish(true, now, &mut |_| {}).unwrap();
        assert_eq!(record.state, RunState::Interrupted);
        let stored = Catalogue::open_reader(&file).unwrap().runs(i64::MAX, 1).unwrap();
        assert_eq!(stored, [record]);
    }
}
