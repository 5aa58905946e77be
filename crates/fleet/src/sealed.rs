//! Documents of lines that end in a count and a digest. Every file of a job is one.
//!
//! In: a header and records that serialise, or a path. Out: a file that is complete or absent, or
//! its lines, verified at the end. Writes a draft in the same folder, flushes it to the disk and
//! then renames it, so that a document with its final name is complete. Knows nothing of the lines'
//! meaning.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{
    self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use steadfast_sys::file::{self as sys, Dir, Draft, Existing, FileKind};

use crate::error::Error;
use crate::line;

/// The begin of every last line. No other line begins like this.
const LAST: &[u8] = b"{\"records\":";

/// Longest line in bytes. A path of 4,096 bytes takes 26 KiB at worst.
const LINE_LEN_MAX: u64 = 1 << 20;

/// Bytes at the end of a document that contain its last two lines.
const TAIL_LEN: u64 = 64 << 10;

/// The suffix of drafts, whose names begin with a dot.
pub(crate) const DRAFT: &str = ".draft";

/// Writes a document.
pub(crate) struct SealedWriter {
    out: BufWriter<Draft>,
    sum: AlgorithmHasher,
    records: u64,
    path: PathBuf,
    name: OsString,
    line: Vec<u8>,
}

impl SealedWriter {
    /// Begins the draft of a document with its header.
    pub(crate) fn create(path: &Path, header: &impl Serialize) -> Result<SealedWriter, Error> {
        let draft = || {
            let (dir, name) = Dir::parent_of(path)?;
            Ok((Draft::document(&Arc::new(dir))?, name))
        };
        let (draft, name) = draft().map_err(|error| Error::system(path, "write it", error))?;
        let mut writer = SealedWriter {
            out: BufWriter::with_capacity(64 << 10, draft),
            sum: AlgorithmHasher::new(Algorithm::Sha256),
            records: 0,
            path: path.to_owned(),
            name,
            line: Vec::with_capacity(512),
        };
        writer.write(header)?;
        Ok(writer)
    }

    /// Writes one record.
    pub(crate) fn put(&mut self, record: &impl Serialize) -> Result<(), Error> {
        self.records += 1;
        self.write(record)
    }

    fn write(&mut self, value: &impl Serialize) -> Result<(), Error> {
        self.line.clear();
        line::write(value, &mut self.line);
        self.line.push(b'\n');
        self.sum.update(&self.line);
        self.out.write_all(&self.line).map_err(|e| Error::system(&self.path, "write it", e))
    }

    /// Ends the document, flushes and renames it, and returns its digest.
    pub(crate) fn finish(self) -> Result<Digest, Error> {
        let SealedWriter { mut out, sum, records, path, name, .. } = self;
        let sum = sum.finalize();
        let mut seal = || writeln!(out, "{{\"records\":{records},\"sha256\":\"{sum}\"}}");
        let sealed = seal().and_then(|()| out.into_inner()?.publish(&name, Existing::Replace));
        sealed.map_err(|error| Error::system(&path, "write it", error))?;
        Ok(sum)
    }
}

/// Opens a document to read it. Refuses other kinds of files: a FIFO would block the reader.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let file = sys::File::open(path)?;
    match file.status()?.kind {
        FileKind::Regular => Ok(File::from(file.into_fd())),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Reads a document line by line.
pub(crate) struct SealedReader {
    lines: BufReader<File>,
    line: Vec<u8>,
    header: Vec<u8>,
    sum: AlgorithmHasher,
    records: u64,
    path: PathBuf,
    /// The digest of the document, after its last line was verified.
    seal: Option<Digest>,
}

impl SealedReader {
    /// Opens a document and reads its header.
    pub(crate) fn open(path: &Path) -> Result<SealedReader, Error> {
        let file = open(path).map_err(|error| Error::system(path, "open it", error))?;
        let mut reader = SealedReader {
            lines: BufReader::with_capacity(64 << 10, file),
            line: Vec::new(),
            header: Vec::new(),
            sum: AlgorithmHasher::new(Algorithm::Sha256),
            records: 0,
            path: path.to_owned(),
            seal: None,
        };
        reader.advance()?;
        reader.sum.update(&reader.line);
        reader.header = std::mem::take(&mut reader.line);
        Ok(reader)
    }

    /// Returns the header. `key` is the member with its version, which must be 1.
    pub(crate) fn header<T: DeserializeOwned>(&self, key: &str) -> Result<T, Error> {
        let header: Value = self.parse(&self.header)?;
        match header.get(key) {
            Some(version) if *version == 1 => self.parse(&self.header),
            Some(version) => Err(Error::usage(format!(
                "`{}`: its version is {version}, and this program knows version 1",
                self.path.display()
            ))),
            None => Err(Error::damaged(&self.path, format!("it does not begin with `{key}`"))),
        }
    }

    /// Returns the next record. Returns `None` at the end, after the last line was verified.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.seal.is_some() {
            return Ok(None);
        }
        self.advance()?;
        if self.line.starts_with(LAST) {
            self.check_last()?;
            return Ok(None);
        }
        self.sum.update(&self.line);
        self.records += 1;
        Ok(Some(&self.line))
    }

    /// Returns the next record as a value.
    pub(crate) fn record<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        if self.next()?.is_none() {
            return Ok(None);
        }
        self.parsed().map(Some)
    }

    /// Returns the record that was read last as a value.
    pub(crate) fn parsed<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.parse(&self.line)
    }

    /// Reads to the end, and returns the digest and the number of records.
    pub(crate) fn verify(mut self) -> Result<(Digest, u64), Error> {
        while self.next()?.is_some() {}
        Ok((self.seal.expect("without its last line no document comes to its end"), self.records))
    }

    fn advance(&mut self) -> Result<(), Error> {
        self.line.clear();
        let mut lines = (&mut self.lines).take(LINE_LEN_MAX);
        let read = lines.read_until(b'\n', &mut self.line);
        read.map_err(|error| Error::system(&self.path, "read it", error))?;
        match self.line.last() {
            Some(b'\n') => Ok(()),
            Some(_) if self.line.len() as u64 == LINE_LEN_MAX => {
                Err(Error::damaged(&self.path, "a line of it has no end"))
            }
            _ => Err(Error::damaged(&self.path, "its last line is missing: it was cut short")),
        }
    }

    fn check_last(&mut self) -> Result<(), Error> {
        let last: Last = self.parse(&self.line)?;
        let sum = self.sum.clone().finalize();
        let mut more = [0];
        let read = self.lines.read(&mut more);
        let whole = read.map_err(|error| Error::system(&self.path, "read it", error))? == 0;
        if last.records != self.records || last.sha256 != sum.to_string() || !whole {
            let message =
                "it is not as it was written: its last line tells another count or digest";
            return Err(Error::damaged(&self.path, message));
        }
        self.seal = Some(sum);
        Ok(())
    }

    fn parse<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(line).map_err(|error| {
            let number = self.records + 1;
            Error::damaged(&self.path, format!("line {number} cannot be understood: {error}"))
        })
    }
}

#[derive(serde::Deserialize)]
struct Last {
    records: u64,
    sha256: String,
}

/// Returns the last record of a document without verifying the others. Enough for the status of a
/// job, but not for a merge.
pub(crate) fn last_record<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let tail = || -> io::Result<Vec<u8>> {
        let mut file = open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_LEN)))?;
        let mut tail = Vec::new();
        file.take(TAIL_LEN).read_to_end(&mut tail)?;
        Ok(tail)
    };
    let tail = tail().map_err(|error| Error::system(path, "read it", error))?;
    let mut lines = tail.strip_suffix(b"\n").unwrap_or(&tail).rsplit(|&byte| byte == b'\n');
    let sealed = lines.next().is_some_and(|last| last.starts_with(LAST));
    let record = lines.next().filter(|_| sealed).unwrap_or_default();
    serde_json::from_slice(record)
        .map_err(|error| Error::damaged(path, format!("its end cannot be understood: {error}")))
}

/// Returns the drafts in a folder.
pub(crate) fn drafts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.path());
    names.filter(|path| is_draft(path)).collect()
}

fn is_draft(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(DRAFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(path: &Path) -> Digest {
        let mut writer = SealedWriter::create(path, &json!({"steadfast_fleet_part": 1})).unwrap();
        for number in 0..100 {
            writer.put(&json!({"path": format!("file {number}")})).unwrap();
        }
        writer.finish().unwrap()
    }

    fn verified(path: &Path) -> Result<(Digest, u64), Error> {
        let reader = SealedReader::open(path)?;
        reader.header::<Value>("steadfast_fleet_part")?;
        reader.verify()
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        let sum = written(&path);
        assert_eq!(verified(&path).unwrap(), (sum, 100));
        assert_eq!(last_record::<Value>(&path).unwrap(), json!({"path": "file 99"}));
        assert_eq!(drafts(folder.path()), Vec::<PathBuf>::new());
    }

    #[test]
    fn no_damaged_byte_and_no_cut_passes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        written(&path);
        let whole = fs::read(&path).unwrap();
        for at in (0..whole.len()).step_by(7) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert!(verified(&path).is_err(), "a flipped bit in byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert!(verified(&path).is_err(), "cut at {at}");
        }
        fs::write(&path, [&whole[..], b"{}\n"].concat()).unwrap();
        assert!(verified(&path).is_err(), "a line after the last");
        fs::write(&path, &whole).unwrap();
        assert!(verified(&path).is_ok());
    }

    #[test]
    fn what_is_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        let writer = SealedWriter::create(&path, &json!({})).unwrap();
        assert_eq!(drafts(folder.path()).len(), 1);
        drop(writer);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_later_version_is_told_from_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        SealedWriter::create(&path, &json!({"steadfast_fleet_part": 2})).unwrap().finish().unwrap();
        let error = verified(&path).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Usage, "{error}");
    }
}
