//! Faults of a document, with their places.

use std::borrow::Cow;
use std::fmt;
use std::io;

/// A place in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentPlace {
    /// The document as a whole.
    Document,
    /// In a text. Lines, and bytes of a line, count from 1.
    Text {
        /// The line, or the entry in documents whose entries end with NUL.
        line: u64,
        /// The byte in the line.
        column: u64,
    },
    /// In a database.
    Row {
        /// The table.
        table: &'static str,
        /// The number of the row.
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

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The bytes are not of the format.
    Syntax,
    /// The syntax is right, but a value is not possible: a digest of the wrong length, a path
    /// without a name.
    Value,
    /// The document is valid, but this program does not support it.
    Unsupported,
    /// A limit of this program is exceeded.
    Limit,
    /// The document's own check value, count or last line does not match: the document is damaged
    /// or cut.
    Check,
    /// The bytes could not be read at all.
    Io,
}

/// A fault of a document, and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Fault {
    /// The place.
    pub place: DocumentPlace,
    /// The kind.
    pub kind: FaultKind,
    /// The description.
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

    /// Makes the fault for a failed read.
    pub fn io(place: DocumentPlace, error: &io::Error) -> Fault {
        Fault::new(place, FaultKind::Io, format!("cannot read: {error}"))
    }
}
