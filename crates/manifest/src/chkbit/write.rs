//! Writes records as the index of a directory or of a tree: `.chkbit` or `.chkbit-db`.
//!
//! Keys are in the order that `chkbit` requires. An entry needs a length, a time, and a digest of
//! an algorithm that `chkbit` knows.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use steadfast_digest::{Algorithm, AlgorithmHasher};

use super::KNOWN;
use crate::json::write_string;
use crate::write::{Put, chosen, confined, known_length, known_steps, utf8_path};
use crate::{Error, Format, Record, Step};

/// The entries of one directory: names with their JSON values.
type Entries = BTreeMap<String, String>;

/// Collects records and writes them at the end, sorted by directory. Records may come in any order.
pub(crate) struct IndexWriter {
    algorithm: Option<Algorithm>,
    /// Whether to write the index of a tree instead of one directory.
    database: bool,
    folders: BTreeMap<String, Entries>,
}

impl IndexWriter {
    pub(crate) fn new(algorithm: Option<Algorithm>, database: bool) -> IndexWriter {
        IndexWriter { algorithm, database, folders: BTreeMap::new() }
    }
}

impl Put for IndexWriter {
    fn put(&mut self, record: &Record, _: &mut dyn Write) -> Result<(), Error> {
        let unwritable = |why: &'static str| Error::unwritable(&record.path, why);
        utf8_path(record)?;
        let path = confined(record, Format::Chkbit)?;
        let text = |path: &Path| path.to_str().expect("a part of a text is one").to_owned();
        let folder = text(path.parent().unwrap_or(Path::new("")));
        let name = text(Path::new(path.file_name().expect("a confined path has a name")));
        if !self.database && self.folders.keys().next().is_some_and(|known| *known != folder) {
            return Err(unwritable("the index of a directory holds that directory's files only"));
        }
        let first = record.digests.iter().find(|(known, _)| KNOWN.contains(known));
        let algorithm = self.algorithm.or(first.map(|(known, _)| *known));
        let algorithm = algorithm.filter(|known| KNOWN.contains(known));
        let algorithm = algorithm
            .ok_or_else(|| unwritable("no digest is of blake3, sha512 or md5, which chkbit has"))?;
        let (_, digest) = chosen(record, Some(algorithm))?;
        let length = i64::try_from(known_length(record)?);
        let length = length.map_err(|_| unwritable("the length is out of range"))?;
        let millis = known_steps(record, Step::Millisecond)?;
        let entry =
            format!("{{\"mod\":{millis},\"a\":\"{algorithm}\",\"h\":\"{digest}\",\"s\":{length}}}");
        self.folders.entry(folder).or_default().insert(name, entry);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        if !self.database {
            let empty = Entries::new();
            let entries = self.folders.values().next().unwrap_or(&empty);
            return Ok(out.write_all(&index(entries))?);
        }
        out.write_all(b"{\"type\":\"chkbit\",\"version\":6,\"data\":{")?;
        for (number, (folder, entries)) in self.folders.iter().enumerate() {
            if number > 0 {
                out.write_all(b",")?;
            }
            write_string(folder, out)?;
            out.write_all(b":")?;
            out.write_all(&index(entries))?;
        }
        Ok(out.write_all(b"}}")?)
    }
}

/// The index of one directory.
fn index(entries: &Entries) -> Vec<u8> {
    let write = || -> io::Result<Vec<u8>> {
        let mut list = b"{".to_vec();
        for (number, (name, entry)) in entries.iter().enumerate() {
            if number > 0 {
                list.push(b',');
            }
            write_string(name, &mut list)?;
            list.push(b':');
            list.extend_from_slice(entry.as_bytes());
        }
        list.push(b'}');
        let mut sum = AlgorithmHasher::new(Algorithm::Md5);
        sum.update(&list);
        let mut index = b"{\"v\":2,\"idx\":".to_vec();
        index.extend_from_slice(&list);
        write!(index, ",\"idx_hash\":\"{}\"}}", sum.finalize())?;
        Ok(index)
    };
    write().expect("memory takes every byte")
}

/// Makes the indexes of a tree in which each directory has its own: directories relative to the
/// root, each with the bytes of its `.chkbit`.
///
/// # Errors
/// If a record cannot be held.
pub fn documents<'a>(
    records: impl IntoIterator<Item = &'a Record>,
) -> Result<Vec<(PathBuf, Vec<u8>)>, Error> {
    let mut all = IndexWriter::new(None, true);
    for record in records {
        all.put(record, &mut io::sink())?;
    }
    let bytes = |(folder, entries): (String, Entries)| (folder.into(), index(&entries));
    Ok(all.folders.into_iter().map(bytes).collect())
}
