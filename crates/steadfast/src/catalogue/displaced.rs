//! Files at a known name that may be other known files: renamed over it, swapped with it, or
//! rotated to it.
//!
//! Takes what a run observed of them; says at its end which are known. A file is known by its
//! inode and its digest, before its name. The old row and the observation wait in temporary
//! tables, because millions may have been renamed, and because the name that a file came from may
//! be visited later. An interrupted run leaves the rows as they were.

use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension as _, Params, Row};
use steadfast_sys::names::NameBytes as _;
use strum::VariantArray as _;

use steadfast_manifest::tag::TagPlace;

use super::column;
use super::directory::Paths;
use super::entry::{COLUMNS, FileRow, NO_NUMBER, state_at};
use super::error::DbError;
use super::file_history_event::FileHistoryEvent;
use super::observation::ObservedFile;
use super::recorder::Recorder;
use super::written::{LEFT, was_met};
use crate::beneath::Presence;
use crate::event::Action;
use crate::file_state::FileState;
use crate::verdict::Verdict;

/// The columns of the table after those of a row: the tag that the file had when the run met it,
/// what the run said and did, and whether it is another known file.
const OWN_COLUMNS: &str = "own_algorithm, own_digest, own_tagged_s, own_length, own_mtime_ns, \
    verdict, action, place, known";

/// Finds out which displaced files are known, by the inode and the digest of a row, or of a row
/// whose name has another file since. Without a tag of its own, length and time must be the same as
/// well, because a new file may get the inode of a deleted one. Such a file may have been at a name
/// whose tag is that of an earlier file.
const BY_INODE: &str = "
CREATE INDEX temp.displaced_inodes ON displaced (inode);
CREATE INDEX temp.displaced_digests ON displaced (own_digest);
CREATE TEMP TABLE known_displaced AS
SELECT d.directory, d.name
FROM known_files AS n CROSS JOIN temp.displaced AS d ON d.inode = n.inode
WHERE (n.directory <> d.directory OR n.name <> d.name)
  AND (d.own_digest = n.digest
    OR d.own_digest IS NULL AND (n.length = d.length AND n.mtime_ns = d.mtime_ns OR {met}))
UNION
SELECT d.directory, d.name
FROM temp.inode_changes AS n CROSS JOIN temp.displaced AS d ON d.inode = n.inode
WHERE (n.directory <> d.directory OR n.name <> d.name)
  AND (d.own_digest = n.digest
    OR d.own_digest IS NULL AND (n.length = d.length AND n.mtime_ns = d.mtime_ns OR {met}));
UPDATE temp.displaced SET known = 1
WHERE (directory, name) IN (SELECT directory, name FROM temp.known_displaced);
DELETE FROM temp.known_displaced;";

/// The same by the digest alone: some file systems number inodes anew, and an earlier run may have
/// settled the name that the file came from. The contents must be those of a row that lost them, or
/// of an earlier tag, and no other file may have them: otherwise it is a copy.
const BY_DIGEST: &str = "
INSERT INTO temp.known_displaced
SELECT d.directory, d.name
FROM temp.missing AS n CROSS JOIN temp.displaced AS d ON d.own_digest = n.digest
WHERE d.known = 0 AND d.own_length > 0 AND (n.directory <> d.directory OR n.name <> d.name)
UNION
SELECT d.directory, d.name
FROM known_files AS n CROSS JOIN temp.displaced AS d ON d.own_digest = n.digest
WHERE d.known = 0 AND d.own_length > 0 AND (n.directory <> d.directory OR n.name <> d.name)
  AND NOT proves(n.state)
UNION
SELECT d.directory, d.name
FROM events AS n CROSS JOIN temp.displaced AS d ON d.own_digest = n.digest
WHERE d.known = 0 AND d.own_length > 0 AND (n.directory <> d.directory OR n.name <> d.name)
  AND n.what IN ('retagged', 'removed', 'accepted', 'moved to', 'overwritten', 'dropped');
CREATE TEMP TABLE held AS
SELECT DISTINCT d.own_digest AS digest
FROM known_files AS n CROSS JOIN temp.displaced AS d ON d.own_digest = n.digest
WHERE d.known = 0 AND proves(n.state)
  AND (n.directory, n.name) NOT IN (SELECT directory, name FROM temp.missing)
  AND (n.directory, n.name) NOT IN (SELECT directory, name FROM temp.inode_changes);
UPDATE temp.displaced SET known = 1
WHERE (directory, name) IN (SELECT directory, name FROM temp.known_displaced)
  AND own_digest NOT IN (SELECT digest FROM temp.held);";

/// Makes the known ones places where missing files may be now.
const ARRIVE: &str = "
INSERT OR IGNORE INTO temp.arrivals
SELECT own_digest, own_algorithm, own_length, name, directory, inode, first_run, first_run,
  proves(state)
FROM temp.displaced WHERE known = 1 AND own_digest IS NOT NULL;";

/// Finds files that came in this run from a name that has another file now and keeps its row, as
/// after an edit by an editor that keeps a backup, or a log that was rotated.
const MOVED_AWAY: &str = "
SELECT n.directory, n.name, n.state, d.directory, d.name, n.inode
FROM events AS e
CROSS JOIN known_files AS n ON n.directory = e.directory AND n.name = e.name
CROSS JOIN temp.inode_changes AS d ON d.inode = n.inode AND d.digest = n.digest
WHERE e.run = ? AND e.what = 'new' AND (n.directory <> d.directory OR n.name <> d.name)
GROUP BY n.directory, n.name";

/// The files that came in a run.
const NEW_FILES: &str = "
INSERT INTO temp.new_files
SELECT n.directory, n.name, n.state, n.inode, n.digest FROM events AS e
CROSS JOIN known_files AS n ON n.directory = e.directory AND n.name = e.name
WHERE e.run = ? AND e.what = 'new' AND n.digest IS NOT NULL";

/// Those that have the inode and the contents of another row, which the run may not have visited;
/// rather of one whose file was there than of a missing one.
const NEW_FILE_ORIGINS: &str = "
SELECT c.directory, c.name, c.state, o.directory, o.name, c.inode, min(is_missing(o.state))
FROM known_files AS o CROSS JOIN temp.new_files AS c ON c.inode = o.inode AND c.digest = o.digest
WHERE o.directory <> c.directory OR o.name <> c.name
GROUP BY c.directory, c.name";

/// Files that left their names, and that a run met at other ones. The run that met others at their
/// names had not visited these.
const FOUND_AGAIN: &str = "
SELECT n.directory, n.name, n.state, o.directory, o.name, n.inode
FROM events AS e
CROSS JOIN known_files AS n ON n.directory = e.directory AND n.name = e.name
CROSS JOIN temp.files_left AS o ON o.digest = n.digest
  AND o.length = n.length AND o.mtime_ns = n.mtime_ns
WHERE e.run = ?1 AND e.what = 'new' AND (n.directory <> o.directory OR n.name <> o.name)
  AND NOT EXISTS (
    SELECT 1 FROM events AS known WHERE known.directory = n.directory AND known.name = n.name
      AND known.run = ?1 AND known.what = 'moved from')
GROUP BY n.directory, n.name";

/// A file that waited for the end of the run.
pub(super) struct DisplacedFile {
    pub(super) seen: ObservedFile,
    /// Whether it is another known file than the one of its name.
    pub(super) is_known: bool,
}

impl DisplacedFile {
    /// Reads the columns of a row and then [`OWN_COLUMNS`].
    fn read(row: &Row<'_>) -> Result<DisplacedFile, DbError> {
        let own_at = columns();
        let record = FileRow::read(row)?.record;
        let own = column::tag(row, own_at, record.facts.length, record.facts.mtime)?;
        let at = |at: usize| Ok::<_, DbError>(usize::try_from(column::integer(row, at)?).ok());
        let verdict = at(own_at + 5)?.and_then(|at| Verdict::ALL.get(at)).copied();
        let action = at(own_at + 6)?.and_then(|at| Action::VARIANTS.get(at)).copied();
        let place = at(own_at + 7)?.and_then(|at| TagPlace::VARIANTS.get(at)).copied();
        let place = place.unwrap_or(TagPlace::Attribute);
        let is_known = column::integer(row, own_at + 8)? != 0;
        let seen = ObservedFile::waited(record, verdict, action, place, own);
        Ok(DisplacedFile { seen, is_known })
    }
}

/// Returns how many columns a row has.
fn columns() -> usize {
    COLUMNS.split(',').count()
}

impl Recorder {
    /// Notes that another known file may be at the name of this one, which may be elsewhere.
    pub(super) fn note_displaced(
        &mut self,
        directory: i64,
        row: &FileRow,
        slice_run: i64,
        seen: &ObservedFile,
    ) -> Result<(), DbError> {
        self.make_displaced()?;
        self.tables.has_displaced = true;
        self.note_missing(directory, row, slice_run)?;
        let (name, first_run) = (row.name.clone(), self.record.id);
        let (file, record, checked_run, proved_run) = (NO_NUMBER, seen.record, 0, 0);
        let here = FileRow { file, name, record, first_run, checked_run, proved_run, own: None };
        let own_at = 2 + columns();
        let places = vec!["?"; own_at + 8].join(",");
        let db = &self.catalogue.db;
        let mut statement =
            db.prepare_cached(&format!("REPLACE INTO temp.displaced VALUES ({places})"))?;
        statement.raw_bind_parameter(1, directory)?;
        here.bind(&mut statement)?;
        column::bind_tag(&mut statement, own_at, seen.own_tag().as_ref(), None)?;
        let number = |found: Option<usize>| found.map_or(-1, |at| at as i64);
        let verdict = seen.verdict.and_then(|it| Verdict::ALL.iter().position(|of| *of == it));
        let action = seen.action.and_then(|it| Action::VARIANTS.iter().position(|of| *of == it));
        let place = TagPlace::VARIANTS.iter().position(|of| *of == seen.place);
        statement.raw_bind_parameter(own_at + 5, number(verdict))?;
        statement.raw_bind_parameter(own_at + 6, number(action))?;
        statement.raw_bind_parameter(own_at + 7, number(place))?;
        statement.raw_bind_parameter(own_at + 8, 0)?;
        statement.raw_execute()?;
        Ok(())
    }

    /// Notes that the file of a known name has another inode. The row keeps the name; the file that
    /// it was may have been renamed.
    pub(super) fn record_inode_change(
        &mut self,
        directory: i64,
        row: &FileRow,
        seen: &ObservedFile,
    ) -> Result<(), DbError> {
        let was = &row.record.facts;
        if !seen.has_facts || seen.record.facts.inode == was.inode {
            return Ok(());
        }
        self.make_displaced()?;
        let mut statement = self
            .catalogue
            .db
            .prepare_cached("INSERT OR IGNORE INTO temp.inode_changes VALUES (?, ?, ?, ?, ?, ?)")?;
        let digest = row.record.tag.as_ref().map(|tag| tag.digest.as_bytes());
        let (inode, length) = (was.inode.cast_signed(), was.length.cast_signed());
        let mtime = column::Moment(was.mtime);
        statement.execute((directory, row.name.as_slice(), inode, digest, length, mtime))?;
        Ok(())
    }

    /// Makes the tables of displaced files, if there are none yet.
    pub(super) fn make_displaced(&mut self) -> Result<(), DbError> {
        if !self.tables.displaced {
            self.catalogue.db.execute_batch(&format!(
                "CREATE TEMP TABLE displaced (directory, {COLUMNS}, {OWN_COLUMNS}, \
                 PRIMARY KEY (directory, name)) WITHOUT ROWID; \
                 CREATE TEMP TABLE inode_changes (directory, name, inode, digest, length, \
                 mtime_ns, PRIMARY KEY (inode, directory, name)) WITHOUT ROWID"
            ))?;
            self.tables.displaced = true;
        }
        Ok(())
    }

    /// Finds out which displaced files are known, and makes them places of missing ones. The tables
    /// of missing files and of arrivals exist.
    pub(super) fn recognise_displaced(&mut self) -> Result<(), DbError> {
        if !self.tables.has_displaced {
            return Ok(());
        }
        let db = &self.catalogue.db;
        db.execute_batch(&BY_INODE.replace("{met}", &was_met("n", "d")))?;
        let rest = "SELECT count(*) FROM temp.displaced WHERE known = 0";
        if db.query_row(rest, (), |row| row.get::<_, i64>(0))? > 0 {
            db.execute_batch(BY_DIGEST)?;
        }
        db.execute_batch(ARRIVE)?;
        Ok(())
    }

    /// Returns the file that waits at a known name, if one does.
    pub(super) fn displaced_at(
        &self,
        directory: i64,
        name: &[u8],
    ) -> Result<Option<DisplacedFile>, DbError> {
        if !self.tables.has_displaced {
            return Ok(None);
        }
        let sql = format!(
            "SELECT {COLUMNS}, {OWN_COLUMNS} FROM temp.displaced WHERE directory = ? AND name = ?"
        );
        let mut statement = self.catalogue.db.prepare_cached(&sql)?;
        let found = statement.query_row((directory, name), |row| Ok(DisplacedFile::read(row)));
        found.optional()?.transpose()
    }

    /// Records where files came from whose former names have another file and keep their rows.
    pub(super) fn link_moved_away(&mut self) -> Result<(), DbError> {
        if !self.tables.displaced || !self.mode.writes {
            return Ok(());
        }
        let came = self.origins_of(MOVED_AWAY, [self.record.id])?;
        self.write_origins(came)
    }

    /// Records where files came from whose former names have other files since an earlier run.
    pub(super) fn link_files_found_again(&mut self) -> Result<(), DbError> {
        if !self.mode.writes || self.counts.events == 0 {
            return Ok(());
        }
        let (db, run) = (&self.catalogue.db, self.record.id);
        // Of an edited file, this run may have replaced the tag.
        db.execute_batch(&format!(
            "CREATE TEMP TABLE files_left AS {LEFT} \
             UNION ALL SELECT directory, name, run, number, digest, tag_length, tag_mtime_ns \
             FROM events WHERE run = {run} AND what IN ('retagged', 'accepted'); \
             CREATE INDEX temp.left_digests ON files_left (digest);"
        ))?;
        // Else each new file of the run would be looked at.
        let found = "SELECT EXISTS (SELECT 1 FROM temp.files_left)";
        if !db.query_row(found, (), |row| row.get::<_, bool>(0))? {
            return Ok(());
        }
        let came = self.origins_of(FOUND_AGAIN, [run])?;
        self.write_origins(came)
    }

    /// Records where files came from that a run of a part of the tree met first. Otherwise they
    /// may be edited before another run misses the former name, and that file would count as lost.
    pub(super) fn link_new_files(&mut self) -> Result<(), DbError> {
        if self.scope.begins_at(Path::new("")) || !self.mode.writes || self.counts.events == 0 {
            return Ok(());
        }
        let db = &self.catalogue.db;
        db.execute_batch(
            "CREATE TEMP TABLE new_files (directory, name, state, inode, digest); \
             CREATE INDEX temp.new_file_inodes ON new_files (inode)",
        )?;
        if db.execute(NEW_FILES, [self.record.id])? == 0 {
            return Ok(());
        }
        let mut came = self.origins_of(NEW_FILE_ORIGINS, [])?;
        // It is a further name of the file if the other one still leads to it, or may do so.
        came.retain(|origin| match self.presence_of_file(&origin.from) {
            Presence::There(now) => now.inode != origin.inode,
            presence => presence.is_lost(),
        });
        self.write_origins(came)
    }

    fn origins_of(&self, sql: &str, bound: impl Params) -> Result<Vec<FileOrigin>, DbError> {
        let mut paths = Paths::default();
        let mut statement = self.catalogue.db.prepare(sql)?;
        let mut rows = statement.query(bound)?;
        let mut came = Vec::new();
        while let Some(row) = rows.next()? {
            came.push(FileOrigin {
                directory: column::integer(row, 0)?,
                name: column::name(row, 1)?.to_vec(),
                standing: state_at(row, 2)?,
                from: paths.file(
                    &self.catalogue.db,
                    column::integer(row, 3)?,
                    column::name(row, 4)?,
                )?,
                inode: column::unsigned(row, 5)?,
            });
        }
        Ok(came)
    }

    fn write_origins(&mut self, came: Vec<FileOrigin>) -> Result<(), DbError> {
        for FileOrigin { directory, name, standing, from, .. } in came {
            let from = Some(from.as_bytes());
            let file = self.file_at(directory, &name)?;
            self.write_event(
                (directory, &name, file),
                FileHistoryEvent::MovedFrom,
                standing,
                None,
                from,
            )?;
        }
        Ok(())
    }
}

/// A file, and the name that it had before.
struct FileOrigin {
    directory: i64,
    name: Vec<u8>,
    standing: FileState,
    from: PathBuf,
    inode: u64,
}
