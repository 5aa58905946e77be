//! Records as a document of any writable format.
//!
//! In: a format, then records, one after the other. Out: the bytes of the document. What a format
//! cannot say of a file is refused and named, never written wrongly.

use std::io::Write;

use steadfast_digest::{Algorithm, Digest};

use crate::{Error, Record};

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
pub struct Writer<W> {
    out: W,
    put: Box<dyn Put + Send>,
}

impl<W: Write> Writer<W> {
    /// Begins a document. `put` says how records of its format are written.
    pub fn new(put: Box<dyn Put + Send>, out: W) -> Writer<W> {
        Writer { out, put }
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

/// The path as text, for formats that hold nothing else.
pub(crate) fn utf8_path(record: &Record) -> Result<&str, Error> {
    let text = record.path.to_str();
    text.ok_or_else(|| Error::unwritable(&record.path, "the name is not UTF-8"))
}

impl<W> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}
