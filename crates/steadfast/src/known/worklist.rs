//! Files, their digests, and places with the same contents, in a temporary database.
//!
//! SQLite keeps it in a file without a name, which is gone when it is closed, and at most 32 MB of
//! it in memory.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, params};
use steadfast_sys::names::NameBytes as _;

use steadfast_digest::{Algorithm, Digest};
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{Status, Timestamp};

use super::SoughtContents;
use crate::catalogue::{FileFacts, RecordedContents};
use crate::error::Error;
use crate::store::{StoredTag, tag_at};
use crate::walk::Entry;

const TABLES: &str = "
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -32768;
CREATE TABLE files (
  number INTEGER PRIMARY KEY, dir BLOB NOT NULL, name BLOB NOT NULL, length INTEGER NOT NULL,
  device INTEGER NOT NULL, inode INTEGER NOT NULL, seconds INTEGER NOT NULL,
  nanoseconds INTEGER NOT NULL, changed INTEGER NOT NULL, trouble TEXT,
  found INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE digests (
  number INTEGER NOT NULL, algorithm TEXT NOT NULL, digest BLOB NOT NULL,
  PRIMARY KEY (number, algorithm)
) WITHOUT ROWID;
CREATE TABLE held (
  archive INTEGER NOT NULL, dir BLOB NOT NULL, name BLOB NOT NULL, algorithm TEXT NOT NULL,
  digest BLOB NOT NULL, length INTEGER NOT NULL, seconds INTEGER NOT NULL,
  nanoseconds INTEGER NOT NULL, device INTEGER NOT NULL DEFAULT -1,
  inode INTEGER NOT NULL DEFAULT -1, changed INTEGER NOT NULL DEFAULT 0,
  checked INTEGER NOT NULL DEFAULT 0
);
BEGIN";

/// What makes a place one of a file: the same contents, and not the same inode. A list may have no
/// lengths.
pub(super) const SAME: &str = "h.digest = d.digest AND h.algorithm = d.algorithm \
    AND (h.length = f.length OR h.length = -1) AND NOT (h.inode = f.inode AND h.device = f.device)";

/// Bits of the filter of digests: 16 MiB. Of a million digests, one in a hundred others passes.
const FILTER_BITS: usize = 1 << 27;

/// Seconds by which setting a tag may move the change time of a file beyond the time in its tag.
const TAGGING_S: i64 = 2;

/// The list.
pub(crate) struct Worklist {
    db: Connection,
    /// Whether files are read whatever their tags say.
    reads_all: bool,
}

/// A file of the list, with places that have the same contents.
pub(crate) struct WantedFile {
    /// Its number, in the order of the walk.
    pub(crate) number: i64,
    pub(crate) path: PathBuf,
    /// Its status before it was read.
    pub(crate) seen: SeenFile,
    /// Where its contents are.
    pub(crate) places: Vec<WantedPlace>,
    /// How many further places there are.
    pub(crate) more: u64,
    /// By which digest the places were found.
    pub(crate) found_by: Option<(Algorithm, Digest)>,
    pub(crate) trouble: Option<String>,
}

/// A place that has the contents of a file.
pub(crate) struct WantedPlace {
    /// The number of its archive.
    pub(crate) archive: usize,
    /// The path in the archive.
    pub(crate) path: PathBuf,
    /// Its status when it was compared with its record.
    pub(crate) seen: SeenFile,
    /// Whether a list says so, and nothing of it can be read.
    pub(crate) is_listed: bool,
}

/// What was known of a file when it was listed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeenFile {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) length: u64,
    pub(crate) mtime: Timestamp,
    /// The change time in nanoseconds, only to be compared.
    pub(crate) changed: i64,
}

impl SeenFile {
    /// A file that was not found: no device has this number.
    const UNKNOWN: SeenFile = SeenFile {
        device: u64::MAX - 1,
        inode: u64::MAX - 1,
        length: 0,
        mtime: Timestamp { seconds: 0, nanoseconds: 0 },
        changed: 0,
    };

    pub(crate) fn of(status: &Status) -> SeenFile {
        SeenFile { device: status.device, ..SeenFile::recorded(&status.into()) }
    }

    fn recorded(facts: &FileFacts) -> SeenFile {
        let FileFacts { inode, length, mtime, ctime } = *facts;
        let seconds_ns = ctime.seconds.wrapping_mul(1_000_000_000);
        let changed = seconds_ns.wrapping_add(i64::from(ctime.nanoseconds));
        SeenFile { inode, length, mtime, changed, ..SeenFile::UNKNOWN }
    }

    /// Reads length, device, inode, the two parts of the modification time, and the change time,
    /// of which the first column is `at`.
    fn at(row: &Row<'_>, at: usize) -> rusqlite::Result<SeenFile> {
        let number = |at| Ok::<u64, rusqlite::Error>(row.get::<_, i64>(at)?.cast_unsigned());
        Ok(SeenFile {
            length: number(at)?,
            device: number(at + 1)?,
            inode: number(at + 2)?,
            mtime: Timestamp { seconds: row.get(at + 3)?, nanoseconds: row.get(at + 4)? },
            changed: row.get(at + 5)?,
        })
    }
}

/// A recorded place, to be compared with what is there.
pub(super) struct HeldPlace {
    pub(super) row: i64,
    pub(super) archive: usize,
    pub(super) dir: PathBuf,
    pub(super) name: Vec<u8>,
    /// The file by its record, on no device.
    pub(super) recorded: SeenFile,
}

impl HeldPlace {
    /// Returns its path in the archive.
    pub(super) fn path(&self) -> PathBuf {
        self.dir.join(Path::from_bytes(&self.name))
    }
}

/// A set of digests that can err to one side: it has every digest that was put into it.
pub(super) struct DigestFilter(Vec<u64>);

impl DigestFilter {
    fn bit(digest: &[u8]) -> (usize, u64) {
        let first = digest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let bit = (first as usize) & (FILTER_BITS - 1);
        (bit / 64, 1 << (bit % 64))
    }

    pub(super) fn has(&self, digest: &[u8]) -> bool {
        let (word, bit) = DigestFilter::bit(digest);
        self.0[word] & bit != 0
    }
}

pub(super) fn failed(error: rusqlite::Error) -> Error {
    Error::system("use a temporary database", io::Error::other(error.to_string()))
}

pub(super) fn path_at(row: &Row<'_>, at: usize) -> rusqlite::Result<PathBuf> {
    Ok(PathBuf::from(Path::from_bytes(row.get_ref(at)?.as_bytes()?)))
}

impl Worklist {
    pub(super) fn new(reads_all: bool) -> Result<Worklist, Error> {
        let db = Connection::open("").map_err(failed)?;
        db.execute_batch(TABLES).map_err(failed)?;
        db.set_prepared_statement_cache_capacity(32);
        Ok(Worklist { db, reads_all })
    }

    /// Returns whether files are read whatever their tags say.
    pub(super) fn reads_all(&self) -> bool {
        self.reads_all
    }

    pub(super) fn db(&self) -> &Connection {
        &self.db
    }

    /// Adds a file that a walk found, with the digest of its tag if that is up to date.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<(), Error> {
        let path = entry.path.to_path();
        let opened = entry.open().and_then(|file| Ok((file.status()?, file)));
        let (status, tag, trouble) = match &opened {
            Ok((status, file)) => (Some(status), fresh_tag(file, status, &path), None),
            Err(error) => (None, None, Some(format!("cannot open: {error}"))),
        };
        let tag = tag.filter(|_| !self.reads_all);
        let seen = status.map_or(SeenFile::UNKNOWN, SeenFile::of);
        self.insert(&path, seen, trouble.as_deref(), digest_of(tag.as_ref()))
    }

    /// Adds contents whose file is not here.
    pub(super) fn add_sought(&mut self, sought: &SoughtContents) -> Result<(), Error> {
        let seen = SeenFile { length: sought.length, ..SeenFile::UNKNOWN };
        let digests = sought.digests.iter().map(|(algorithm, digest)| (*algorithm, digest));
        self.insert(&sought.path, seen, None, digests)
    }

    /// Adds a file by the record of a catalogue.
    pub(super) fn add_recorded(&mut self, root: &Path, it: &RecordedContents) -> Result<(), Error> {
        let seen = SeenFile { length: it.tag.length, ..SeenFile::UNKNOWN };
        self.insert(&root.join(&it.path), seen, None, digest_of(Some(&it.tag)))
    }

    fn insert<'a>(
        &mut self,
        path: &Path,
        seen: SeenFile,
        trouble: Option<&str>,
        digests: impl IntoIterator<Item = (Algorithm, &'a Digest)>,
    ) -> Result<(), Error> {
        let (dir, name) = split(path);
        let insert = || {
            let sql = "INSERT INTO files \
                       (dir, name, length, device, inode, seconds, nanoseconds, changed, trouble) \
                       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
            let mut statement = self.db.prepare_cached(sql)?;
            let (device, inode) = (seen.device.cast_signed(), seen.inode.cast_signed());
            let (length, time) = (seen.length.cast_signed(), seen.mtime);
            let number = statement.insert(params![
                dir,
                name,
                length,
                device,
                inode,
                time.seconds,
                time.nanoseconds,
                seen.changed,
                trouble
            ])?;
            for (algorithm, digest) in digests {
                self.put_digest(number, algorithm, digest)?;
            }
            Ok(())
        };
        insert().map_err(failed)
    }

    fn put_digest(&self, number: i64, of: Algorithm, digest: &Digest) -> rusqlite::Result<usize> {
        let sql = "INSERT OR REPLACE INTO digests VALUES (?, ?, ?)";
        self.db.prepare_cached(sql)?.execute(params![number, of.name(), digest.as_bytes()])
    }

    /// Notes what reading a file gave: its tag, or why there is none.
    pub(crate) fn note_read(&self, number: i64, read: Result<&Tag, &str>) -> Result<(), Error> {
        let note = || match read {
            Ok(tag) => {
                self.put_digest(number, tag.algorithm, &tag.digest)?;
                let sql = "UPDATE files SET length = ?, trouble = NULL WHERE number = ?";
                self.db.prepare_cached(sql)?.execute(params![tag.length.cast_signed(), number])
            }
            Err(trouble) => {
                let sql = "UPDATE files SET trouble = ? WHERE number = ?";
                self.db.prepare_cached(sql)?.execute(params![trouble, number])
            }
        };
        note().map(drop).map_err(failed)
    }

    /// Returns files after a number that no archive has yet and that have no digest of an
    /// algorithm, at most so many.
    pub(crate) fn without_digest(
        &self,
        algorithm: Algorithm,
        after: i64,
        most: usize,
    ) -> Result<Vec<(i64, PathBuf)>, Error> {
        let read = || {
            let mut statement = self.db.prepare_cached(
                "SELECT number, dir, name FROM files AS f WHERE number > ? AND found = 0 \
                 AND NOT EXISTS (SELECT 1 FROM digests AS d WHERE d.number = f.number \
                 AND d.algorithm = ?) ORDER BY number LIMIT ?",
            )?;
            let path = |row: &Row<'_>| Ok((row.get(0)?, joined(row, 1)?));
            let rows = statement.query_map(params![after, algorithm.name(), most as i64], path)?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(failed)
    }

    /// Adds a place of an archive.
    pub(super) fn hold(&mut self, archive: usize, it: &RecordedContents) -> Result<(), Error> {
        let seen = SeenFile { length: it.tag.length, ..SeenFile::recorded(&it.facts) };
        self.hold_seen(archive, &it.path, (it.tag.algorithm, &it.tag.digest), seen)
    }

    /// Adds a place of a list, which may not say how long the file is.
    pub(super) fn hold_listed(
        &mut self,
        archive: usize,
        path: &Path,
        digest: (Algorithm, &Digest),
        length: Option<u64>,
    ) -> Result<(), Error> {
        let seen = SeenFile { length: length.unwrap_or(u64::MAX), ..SeenFile::UNKNOWN };
        self.hold_seen(archive, path, digest, seen)
    }

    fn hold_seen(
        &mut self,
        archive: usize,
        path: &Path,
        (algorithm, digest): (Algorithm, &Digest),
        seen: SeenFile,
    ) -> Result<(), Error> {
        let (dir, name) = split(path);
        let insert = || {
            let sql = "INSERT INTO held \
                (archive, dir, name, algorithm, digest, length, inode, seconds, nanoseconds, \
                changed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
            let SeenFile { length, inode, mtime, changed, .. } = seen;
            self.db.prepare_cached(sql)?.execute(params![
                archive as i64,
                dir,
                name,
                algorithm.name(),
                digest.as_bytes(),
                length.cast_signed(),
                inode.cast_signed(),
                mtime.seconds,
                mtime.nanoseconds,
                changed
            ])
        };
        insert().map(drop).map_err(failed)
    }

    /// Returns the algorithms of the places so far.
    pub(super) fn held_algorithms(&self) -> Result<Vec<Algorithm>, Error> {
        let read = || {
            let mut statement = self.db.prepare("SELECT DISTINCT algorithm FROM held")?;
            statement.query_map((), |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        };
        let names = read().map_err(failed)?;
        Ok(Algorithm::ALL
            .iter()
            .copied()
            .filter(|it| names.iter().any(|n| n == it.name()))
            .collect())
    }

    /// Returns a filter of the digests of an algorithm.
    pub(super) fn filter(&self, algorithm: Algorithm) -> Result<DigestFilter, Error> {
        let mut filter = DigestFilter(vec![0; FILTER_BITS / 64]);
        let mut fill = || {
            let sql = "SELECT digest FROM digests WHERE algorithm = ?";
            let mut statement = self.db.prepare(sql)?;
            let mut rows = statement.query([algorithm.name()])?;
            while let Some(row) = rows.next()? {
                let (word, bit) = DigestFilter::bit(row.get_ref(0)?.as_bytes()?);
                filter.0[word] |= bit;
            }
            Ok(())
        };
        fill().map_err(failed)?;
        Ok(filter)
    }

    /// Prepares to look files up, after all were added.
    pub(super) fn index_files(&self) -> Result<(), Error> {
        let sql = "CREATE INDEX IF NOT EXISTS files_by_dir ON files (dir, name)";
        self.db.execute_batch(sql).map_err(failed)
    }

    /// Prepares to look places up, after those of an algorithm were added: sorting all is quicker
    /// than finding the place of each.
    pub(super) fn index_places(&self) -> Result<(), Error> {
        let sql = "CREATE INDEX IF NOT EXISTS held_by_digest \
                   ON held (digest, algorithm, length, archive, dir, name)";
        self.db.execute_batch(sql).map_err(failed)
    }

    /// Returns places after a row that have not been compared with what is there.
    pub(super) fn unchecked(&self, after: i64, most: usize) -> Result<Vec<HeldPlace>, Error> {
        let read = || {
            let mut statement = self.db.prepare_cached(
                "SELECT rowid, archive, dir, name, \
                 length, device, inode, seconds, nanoseconds, changed FROM held \
                 WHERE rowid > ? AND checked = 0 ORDER BY rowid LIMIT ?",
            )?;
            let rows = statement.query_map(params![after, most as i64], |row| {
                Ok(HeldPlace {
                    row: row.get(0)?,
                    archive: row.get::<_, i64>(1)? as usize,
                    dir: path_at(row, 2)?,
                    name: row.get(3)?,
                    recorded: SeenFile::at(row, 4)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(failed)
    }

    /// Notes the inode at a place, or removes the place: its record describes nothing there.
    pub(super) fn settle(&self, row: i64, there: Option<&Status>) -> Result<(), Error> {
        let settle = || match there.map(SeenFile::of) {
            Some(SeenFile { device, inode, changed, .. }) => {
                let sql = "UPDATE held SET device = ?, inode = ?, changed = ?, checked = 1 \
                           WHERE rowid = ?";
                let (device, inode) = (device.cast_signed(), inode.cast_signed());
                self.db.prepare_cached(sql)?.execute(params![device, inode, changed, row])
            }
            None => self.db.prepare_cached("DELETE FROM held WHERE rowid = ?")?.execute([row]),
        };
        settle().map(drop).map_err(failed)
    }

    /// Notes for each file whether an archive has it, so that it is not read for another algorithm.
    pub(super) fn note_found(&self) -> Result<(), Error> {
        let sql = format!(
            "UPDATE files AS f SET found = 1 WHERE found = 0 AND EXISTS \
             (SELECT 1 FROM digests AS d CROSS JOIN held AS h WHERE d.number = f.number AND {SAME})"
        );
        self.db.execute_batch(&sql).map_err(failed)
    }

    /// Returns whether an archive has the contents of a file.
    pub(crate) fn is_found(&self, path: &Path) -> bool {
        let (dir, name) = split(path);
        let sql = "SELECT max(found) FROM files WHERE dir = ? AND name = ?";
        let find = || self.db.prepare_cached(sql)?.query_row(params![dir, name], |it| it.get(0));
        find().is_ok_and(|found: Option<i64>| found == Some(1))
    }

    /// Visits every file with at most so many places.
    pub(crate) fn each_file(
        &self,
        most: usize,
        visit: &mut dyn FnMut(WantedFile),
    ) -> Result<(), Error> {
        let mut read = || {
            let mut statement = self.db.prepare(&format!(
                "SELECT f.number, f.dir, f.name, f.trouble, h.archive, h.dir, h.name, \
                 d.algorithm, d.digest, f.length, f.device, f.inode, f.seconds, f.nanoseconds, \
                 f.changed, h.length, h.device, h.inode, h.seconds, h.nanoseconds, h.changed \
                 FROM files AS f LEFT JOIN digests AS d ON d.number = f.number \
                 LEFT JOIN held AS h ON f.found = 1 AND {SAME} ORDER BY f.number"
            ))?;
            let mut rows = statement.query(())?;
            let mut file: Option<WantedFile> = None;
            while let Some(row) = rows.next()? {
                let number = row.get(0)?;
                if file.as_ref().is_none_or(|file| file.number != number) {
                    let next = WantedFile {
                        number,
                        path: joined(row, 1)?,
                        seen: SeenFile::at(row, 9)?,
                        places: Vec::new(),
                        more: 0,
                        found_by: None,
                        trouble: row.get(3)?,
                    };
                    file.replace(next).map(&mut *visit);
                }
                let (Some(file), Some(archive)) = (&mut file, row.get::<_, Option<i64>>(4)?) else {
                    continue;
                };
                if file.found_by.is_none() {
                    let name: String = row.get(7)?;
                    let mut all = Algorithm::ALL.iter().copied();
                    let algorithm = all.find(|algorithm| algorithm.name() == name);
                    let digest = Digest::from_slice(row.get_ref(8)?.as_bytes()?);
                    file.found_by = algorithm.zip(digest);
                }
                match file.places.len() < most {
                    true => file.places.push(WantedPlace {
                        archive: archive as usize,
                        path: joined(row, 5)?,
                        seen: SeenFile::at(row, 15)?,
                        is_listed: false,
                    }),
                    false => file.more += 1,
                }
            }
            file.map(&mut *visit);
            Ok(())
        };
        read().map_err(failed)
    }
}

/// Returns the path of a directory's and a name's columns, of which the first is `at`.
fn joined(row: &Row<'_>, at: usize) -> rusqlite::Result<PathBuf> {
    Ok(path_at(row, at)?.join(path_at(row, at + 1)?))
}

fn digest_of(tag: Option<&Tag>) -> Option<(Algorithm, &Digest)> {
    tag.map(|tag| (tag.algorithm, &tag.digest))
}

fn split(path: &Path) -> (&[u8], &[u8]) {
    let dir = path.parent().unwrap_or(Path::new("")).as_bytes();
    (dir, path.file_name().unwrap_or_default().as_bytes())
}

/// Returns the tag of a file if nothing changed the file since.
fn fresh_tag(file: &steadfast_sys::file::File, status: &Status, path: &Path) -> Option<Tag> {
    match tag_at(file, path) {
        Ok(StoredTag::Whole(tag)) => is_fresh(&tag, status).then_some(tag),
        _ => None,
    }
}

/// Says whether a tag describes a file with this status: length and modification time are the same,
/// and the file was not changed in any way after it was tagged.
fn is_fresh(tag: &Tag, status: &Status) -> bool {
    (tag.length, tag.mtime) == (status.length, status.mtime)
        && status.ctime.seconds <= tag.tagged.seconds + TAGGING_S
}
