//! The indexes of `chkbit`: `.chkbit` in each directory, or `.chkbit-db` for a tree.
//!
//! Reading takes constant memory. The index's own MD5 is computed meanwhile, so a damaged index is
//! reported after its records. Writing gathers the records of the whole document.
//!
//! Source: `chkbit` 6.6.0, `index.go` and `indexstore.go`; its older forms in `loadIndexFile`.

mod write;

use std::io::BufRead;

use steadfast_digest::{Algorithm, Digest};

pub(crate) use self::write::IndexWriter;
pub use self::write::documents;
use crate::json::{Cursor, Json};
use crate::lines::step_records;
use crate::sums::digest_of;
use crate::{DocumentPlace, Fault, FaultKind, Mtime, Record, Step};

/// Name of the index of one directory.
pub const INDEX_NAME: &str = ".chkbit";

/// Name of the index of a tree.
pub const DATABASE_NAME: &str = ".chkbit-db";

/// How the index of a tree begins.
pub(crate) const DATABASE_MAGIC: &[u8] = b"{\"type\":\"chkbit\"";

/// The algorithms that `chkbit` has.
const KNOWN: [Algorithm; 3] = [Algorithm::Blake3, Algorithm::Sha512, Algorithm::Md5];

/// Reads records entry by entry, of one directory or of the `database` of a tree.
pub fn records<R: BufRead>(
    reader: R,
    database: bool,
) -> impl Iterator<Item = Result<Record, Fault>> {
    let mut parser = IndexParser::new(reader, database);
    step_records(move || parser.step())
}

struct IndexParser<R> {
    json: Json<R>,
    /// Whether the document covers a tree.
    database: bool,
    stage: IndexStage,
    /// Position in the document of a tree.
    top: Cursor,
    /// Position in its directories.
    folders: Cursor,
    /// Position in one index.
    index: Cursor,
    /// Position in its entries.
    entries: Cursor,
    /// The directory of the index, with a slash at its end.
    folder: Vec<u8>,
    /// The check value that the index states, and the computed one.
    stored_sum: Option<Vec<u8>>,
    sums: Option<[Digest; 2]>,
    had_entries: bool,
    had_data: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexStage {
    Start,
    Database,
    Folders,
    Index,
    Entries,
    /// The entries of the first, JavaScript version, without a check value.
    OldEntries,
    End,
}

impl<R: BufRead> IndexParser<R> {
    fn new(reader: R, database: bool) -> IndexParser<R> {
        IndexParser {
            json: Json::new(reader),
            database,
            stage: IndexStage::Start,
            top: Cursor::default(),
            folders: Cursor::default(),
            index: Cursor::default(),
            entries: Cursor::default(),
            folder: Vec::new(),
            stored_sum: None,
            sums: None,
            had_entries: false,
            had_data: false,
        }
    }

    /// Returns the next record. An outer error ends the document, an inner one does not.
    fn step(&mut self) -> Result<Option<Result<Record, Fault>>, Fault> {
        loop {
            match self.stage {
                IndexStage::Start => {
                    self.json.skip_mark()?;
                    self.top = self.json.open_object()?;
                    self.stage =
                        if self.database { IndexStage::Database } else { IndexStage::Index };
                    self.index = self.top;
                }
                IndexStage::Database => match self.json.key(&mut self.top)? {
                    Some(key) => self.database_member(&key)?,
                    None => {
                        self.json.end()?;
                        self.stage = IndexStage::End;
                        if !self.had_data {
                            return Err(self.json.fault(FaultKind::Value, "there is no `data`"));
                        }
                    }
                },
                IndexStage::Folders => match self.json.key(&mut self.folders)? {
                    Some(mut folder) => {
                        if !folder.is_empty() {
                            folder.push(b'/');
                        }
                        self.folder = folder;
                        self.index = self.json.open_object()?;
                        self.stage = IndexStage::Index;
                    }
                    None => self.stage = IndexStage::Database,
                },
                IndexStage::Index => match self.json.key(&mut self.index)? {
                    Some(key) => self.index_member(&key)?,
                    None => {
                        self.leave_index()?;
                        if let Some(fault) = self.check_sum() {
                            return Ok(Some(Err(fault)));
                        }
                    }
                },
                IndexStage::Entries | IndexStage::OldEntries => {
                    match self.json.key(&mut self.entries)? {
                        Some(name) => return self.entry(&name).map(Some),
                        None => {
                            self.sums = self.json.end_tap();
                            self.stage = IndexStage::Index;
                        }
                    }
                }
                IndexStage::End => return Ok(None),
            }
        }
    }

    fn database_member(&mut self, key: &[u8]) -> Result<(), Fault> {
        let unsupported =
            self.json.fault(FaultKind::Unsupported, "this program knows version 6 of the database");
        match key {
            b"type" if self.json.string()? != b"chkbit" => Err(unsupported),
            b"version" if self.json.integer()? != 6 => Err(unsupported),
            b"type" | b"version" => Ok(()),
            b"data" => {
                self.had_data = true;
                self.folders = self.json.open_object()?;
                self.stage = IndexStage::Folders;
                Ok(())
            }
            _ => self.json.skip_value(),
        }
    }

    fn index_member(&mut self, key: &[u8]) -> Result<(), Fault> {
        match key {
            b"v" => {
                let what = "this program knows versions 1 and 2 of the index";
                let unsupported = self.json.fault(FaultKind::Unsupported, what);
                if !(1..=2).contains(&self.json.integer()?) {
                    return Err(unsupported);
                }
            }
            b"idx" | b"data" if self.had_entries => {
                return Err(self.json.fault(FaultKind::Syntax, "the entries come twice"));
            }
            b"idx" => {
                self.had_entries = true;
                self.json.begin_tap();
                self.entries = self.json.open_object()?;
                self.stage = IndexStage::Entries;
            }
            b"data" => {
                self.had_entries = true;
                self.entries = self.json.open_object()?;
                self.stage = IndexStage::OldEntries;
            }
            b"idx_hash" => self.stored_sum = Some(self.json.string()?),
            _ => self.json.skip_value()?,
        }
        Ok(())
    }

    /// Leaves the index and continues in the object that contains it.
    fn leave_index(&mut self) -> Result<(), Fault> {
        self.had_entries = false;
        if self.database {
            self.stage = IndexStage::Folders;
            return Ok(());
        }
        self.json.end()?;
        self.stage = IndexStage::End;
        Ok(())
    }

    /// Compares the index with its check value.
    fn check_sum(&mut self) -> Option<Fault> {
        let stored = self.stored_sum.take();
        let sums = self.sums.take()?;
        let stored = stored.and_then(|hex| digest_of(&hex, Algorithm::Md5).ok());
        if stored.is_some_and(|stored| sums.contains(&stored)) {
            return None;
        }
        let folder = String::from_utf8_lossy(&self.folder);
        let what = format!("the index of `./{folder}` is damaged: its `idx_hash` does not fit");
        Some(Fault::new(DocumentPlace::Document, FaultKind::Check, what))
    }

    /// Reads the entry of one file.
    fn entry(&mut self, name: &[u8]) -> Result<Result<Record, Fault>, Fault> {
        let place = self.json.place();
        let (mut millis, mut length) = (None, None);
        let (mut algorithm, mut hex) = (None, None);
        let mut cursor = self.json.open_object()?;
        while let Some(key) = self.json.key(&mut cursor)? {
            match &key[..] {
                b"mod" => millis = Some(self.json.integer()?),
                b"s" => length = Some(self.json.integer()?),
                b"a" => algorithm = Some(self.json.string()?),
                b"h" => hex = Some(self.json.string()?),
                b"md5" => {
                    algorithm = Some(b"md5".to_vec());
                    hex = Some(self.json.string()?);
                }
                _ => self.json.skip_value()?,
            }
        }
        let digest = || {
            let name = algorithm.as_deref().ok_or("the entry has no algorithm")?;
            let known = KNOWN.into_iter().find(|known| known.name().as_bytes() == name);
            let known = known.ok_or("the algorithm is not one of `chkbit`")?;
            let hex = hex.as_deref().ok_or("the entry has no digest")?;
            let digest = digest_of(hex, known).map_err(|_| "the digest is not one")?;
            Ok((known, digest))
        };
        let record = digest().and_then(|digest| {
            if name.is_empty() || name.contains(&0) || name.contains(&b'/') {
                return Err("the name is none of a file");
            }
            let mut record = Record::new([&self.folder, name].concat());
            record.digests.push(digest);
            let length = length.map(u64::try_from).transpose();
            record.length = length.map_err(|_| "`s` is no length")?;
            let millis = millis.map(i64::try_from).transpose().map_err(|_| "`mod` is no time")?;
            record.mtime = millis.map(|millis| Mtime::from_steps(millis, Step::Millisecond));
            Ok(record)
        });
        Ok(record.map_err(|what: &str| Fault::new(place, FaultKind::Value, what.to_owned())))
    }
}
