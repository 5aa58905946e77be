//! Why a document, or one entry of it, cannot be read or written, and where.
//!
//! In: what a parser or a writer found. Out: a [`Fault`] or a [`WriteError`]. Knows no format.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::Format;

/// Where in a document something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nowhere in particular: the document as a whole.
    Document,
    /// In a text. Lines and bytes of a line count from 1.
    Text {
        /// The line, or for documents that end theirs with NUL, the entry.
        line: u64,
        /// The byte in it.
        column: u64,
    },
    /// In a database.
    Row {
        /// The table.
        table: &'static str,
        /// The row's number, as the database counts.
        row: i64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Document => f.write_str("the document"),
            Place::Text { line, column } => write!(f, "line {line}, column {column}"),
            Place::Row { table, row } => write!(f, "table `{table}`, row {row}"),
        }
    }
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The bytes are not of the format.
    Syntax,
    /// They are, and say what cannot be: a digest of the wrong length, a path without a name.
    Value,
    /// They are, and this program does not do what they ask for.
    Unsupported,
    /// Something is longer, deeper or more than this program takes.
    Limit,
    /// The document's own check value, count or last line does not fit: it is damaged or cut.
    Check,
    /// The bytes could not be read at all.
    Io,
}

/// One thing that is wrong in a document, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it is.
    pub place: Place,
    /// What kind of thing it is.
    pub kind: FaultKind,
    /// What it is, in words.
    pub what: Cow<'static, str>,
}

impl Fault {
    /// Makes a fault from its parts.
    pub fn new(place: Place, kind: FaultKind, what: impl Into<Cow<'static, str>>) -> Fault {
        Fault { place, kind, what: what.into() }
    }

    pub(crate) fn text(
        line: u64,
        column: usize,
        kind: FaultKind,
        what: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault::new(Place::Text { line, column: column as u64 }, kind, what)
    }

    /// Makes the fault of a failed reading.
    pub fn io(place: Place, error: &io::Error) -> Fault {
        Fault::new(place, FaultKind::Io, format!("cannot read: {error}"))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl Error for Fault {}

/// Why a record, or a document, cannot be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The output failed; what was written so far is no document.
    Io(io::Error),
    /// The format is read and never written.
    ReadOnly(Format),
    /// The format has no way to say this. Nothing was written of the record, and the writer goes
    /// on.
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the format lacks.
        why: Cow<'static, str>,
    },
}

impl WriteError {
    /// Refuses a record.
    pub fn unwritable(path: &Path, why: impl Into<Cow<'static, str>>) -> WriteError {
        WriteError::Unwritable { path: path.to_owned(), why: why.into() }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError::Io(error)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Io(error) => write!(f, "cannot write the document: {error}"),
            WriteError::ReadOnly(format) => write!(f, "the format `{format}` is never written"),
            WriteError::Unwritable { path, why } => write!(f, "`{}`: {why}", path.display()),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            WriteError::Io(error) => Some(error),
            _ => None,
        }
    }
}
