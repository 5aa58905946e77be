//! Writes records as a document of any writable format.
//!
//! A record that the format cannot hold is refused with its path and the reason.

use std::io::Write;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use steadfast_digest::{Algorithm, Digest};

use crate::{Error, Format, Record, Step, confine};

/// How one format writes.
pub trait Put {
    /// Writes a record or refuses it; of a refused one nothing is written.
    ///
    /// # Errors
    /// If the format cannot hold the record, or the output fails.
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error>;

    /// Writes what comes after the last record.
    ///
    /// # Errors
    /// If the output fails.
    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        let _ = out;
        Ok(())
    }
}

/// Writes a document, record by record.
pub struct DocumentWriter<W> {
    out: W,
    put: Box<dyn Put + Send>,
}

impl<W: Write> DocumentWriter<W> {
    /// Begins a document. `put` says how records of its format are written.
    pub fn new(put: Box<dyn Put + Send>, out: W) -> DocumentWriter<W> {
        DocumentWriter { out, put }
    }

    /// Writes one record. After an error of the kind [`Unwritable`](crate::ErrorKind::Unwritable)
    /// the next one may follow.
    ///
    /// # Errors
    /// If the format cannot hold the record, or the output fails.
    pub fn put(&mut self, record: &Record) -> Result<(), Error> {
        self.put.put(record, &mut self.out)
    }

    /// Ends the document and returns the output. Without it the document is cut short.
    ///
    /// # Errors
    /// If the output fails.
    pub fn finish(mut self) -> Result<W, Error> {
        self.put.finish(&mut self.out)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The digest of this algorithm, or the first if none is asked for.
pub(crate) fn chosen(
    record: &Record,
    algorithm: Option<Algorithm>,
) -> Result<(Algorithm, Digest), Error> {
    let found = match algorithm {
        Some(algorithm) => record.digest(algorithm).map(|digest| (algorithm, *digest)),
        None => record.digests.first().copied(),
    };
    found.ok_or_else(|| {
        let why = match algorithm {
            Some(algorithm) => format!("there is no {algorithm} digest"),
            None => "there is no digest".to_owned(),
        };
        Error::unwritable(&record.path, why)
    })
}

/// The digests of the algorithm asked for, or all.
pub(crate) fn wanted(
    record: &Record,
    algorithm: Option<Algorithm>,
) -> impl Iterator<Item = (Algorithm, Digest)> {
    let digests = record.digests.iter().copied();
    digests.filter(move |(known, _)| algorithm.is_none_or(|wanted| wanted == *known))
}

/// The path as bytes, for formats that escape nothing and so cannot hold a line feed.
pub(crate) fn one_line(record: &Record) -> Result<&[u8], Error> {
    let name = record.path.as_os_str().as_bytes();
    match name.contains(&b'\n') {
        true => Err(Error::unwritable(&record.path, "the name has a line feed")),
        false => Ok(name),
    }
}

/// The path as it may be opened, for formats that are told where their root is.
pub(crate) fn confined(record: &Record, format: Format) -> Result<PathBuf, Error> {
    confine(&record.path, format)
        .map_err(|fault| Error::unwritable(&record.path, fault.to_string()))
}

/// The length in bytes, for formats that must have it.
pub(crate) fn known_length(record: &Record) -> Result<u64, Error> {
    record.length.ok_or_else(|| Error::unwritable(&record.path, "the length is not known"))
}

/// The modification time in whole steps from 1970, for formats that must have it.
pub(crate) fn known_steps(record: &Record, step: Step) -> Result<i64, Error> {
    let unwritable = |why: &'static str| Error::unwritable(&record.path, why);
    let mtime = record.mtime.ok_or_else(|| unwritable("the time is not known"))?;
    mtime.to_steps(step).ok_or_else(|| unwritable("the time is out of range"))
}

/// The path as text, for formats that hold nothing else.
pub(crate) fn utf8_path(record: &Record) -> Result<&str, Error> {
    let text = record.path.to_str();
    text.ok_or_else(|| Error::unwritable(&record.path, "the name is not UTF-8"))
}

impl<W> std::fmt::Debug for DocumentWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocumentWriter").finish_non_exhaustive()
    }
}
