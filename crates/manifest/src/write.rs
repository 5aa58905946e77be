//! Writes records as a document of any writable format.
//!
//! A record that the format cannot represent is refused with its path and the reason.

use std::io::Write;
use std::path::PathBuf;

use steadfast_digest::{Algorithm, Digest};
use steadfast_time::names::NameBytes as _;

use crate::{Error, Format, Record, Step, confine};

/// Writes one format.
pub trait Put {
    /// Writes a record. Writes nothing if it is refused.
    ///
    /// # Errors
    ///
    /// If the format cannot represent the record, or the output fails.
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error>;

    /// Writes the end of the document.
    ///
    /// # Errors
    ///
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
    /// Begins a document in the format of `put`.
    pub fn new(put: Box<dyn Put + Send>, out: W) -> DocumentWriter<W> {
        DocumentWriter { out, put }
    }

    /// Writes one record. After an error of the kind [`Unwritable`](crate::ErrorKind::Unwritable),
    /// the next one may follow.
    ///
    /// # Errors
    ///
    /// If the format cannot represent the record, or the output fails.
    pub fn put(&mut self, record: &Record) -> Result<(), Error> {
        self.put.put(record, &mut self.out)
    }

    /// Ends the document and returns the output. Without this call, the document is incomplete.
    ///
    /// # Errors
    ///
    /// If the output fails.
    pub fn finish(mut self) -> Result<W, Error> {
        self.put.finish(&mut self.out)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Returns the digest of this algorithm, or the first if `None`.
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

/// Returns the digest of this algorithm, or all if `None`.
pub(crate) fn wanted(
    record: &Record,
    algorithm: Option<Algorithm>,
) -> impl Iterator<Item = (Algorithm, Digest)> {
    let digests = record.digests.iter().copied();
    digests.filter(move |(known, _)| algorithm.is_none_or(|wanted| wanted == *known))
}

/// Returns the path as bytes, for formats without escapes, which cannot represent a line feed.
pub(crate) fn one_line(record: &Record) -> Result<&[u8], Error> {
    let name = record.path.as_bytes();
    match name.contains(&b'\n') {
        true => Err(Error::unwritable(&record.path, "the name has a line feed")),
        false => Ok(name),
    }
}

/// Returns the path as it may be opened, for formats that know their root.
pub(crate) fn confined(record: &Record, format: Format) -> Result<PathBuf, Error> {
    confine(&record.path, format)
        .map_err(|fault| Error::unwritable(&record.path, fault.to_string()))
}

/// Returns the length in bytes, for formats that require it.
pub(crate) fn known_length(record: &Record) -> Result<u64, Error> {
    record.length.ok_or_else(|| Error::unwritable(&record.path, "the length is not known"))
}

/// Returns the modification time in whole steps since 1970, for formats that require it.
pub(crate) fn known_steps(record: &Record, step: Step) -> Result<i64, Error> {
    let unwritable = |why: &'static str| Error::unwritable(&record.path, why);
    let mtime = record.mtime.ok_or_else(|| unwritable("the time is not known"))?;
    mtime.to_steps(step).ok_or_else(|| unwritable("the time is out of range"))
}

/// Returns the path as text, for formats that accept nothing else.
pub(crate) fn utf8_path(record: &Record) -> Result<&str, Error> {
    let text = record.path.to_str();
    text.ok_or_else(|| Error::unwritable(&record.path, "the name is not UTF-8"))
}

impl<W> std::fmt::Debug for DocumentWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocumentWriter").finish_non_exhaustive()
    }
}
