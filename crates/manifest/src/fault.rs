//! What is wrong with a document that was read, and where.

use std::borrow::Cow;
use std::fmt;
use std::io;

/// Where in a document something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentPlace {
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

impl fmt::Display for DocumentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentPlace::Document => f.write_str("the document"),
            DocumentPlace::Text { line, column } => write!(f, "line {line}, column {column}"),
            DocumentPlace::Row { table, row } => write!(f, "table `{table}`, row {row}"),
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Fault {
    /// Where it is.
    pub place: DocumentPlace,
    /// What kind of thing it is.
    pub kind: FaultKind,
    /// What it is, in words.
    pub what: Cow<'static, str>,
}

impl Fault {
    /// Makes a fault from its parts.
    pub fn new(place: DocumentPlace, kind: FaultKind, what: impl Into<Cow<'static, str>>) -> Fault {
        Fault { place, kind, what: what.into() }
    }

    pub(crate) fn text(
        line: u64,
        column: usize,
        kind: FaultKind,
        what: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault::new(DocumentPlace::Text { line, column: column as u64 }, kind, what)
    }

    /// Makes the fault of a failed reading.
    pub fn io(place: DocumentPlace, error: &io::Error) -> Fault {
        Fault::new(place, FaultKind::Io, format!("cannot read: {error}"))
    }
}
