//! Manifests: the formats of `steadfast_manifest`, and the parts of them that need SQLite or a
//! directory.
//!
//! Opens no file that a document names, except other documents: a [`bagit::Bag`] and a
//! [`chkbit::IndexTree`] take a directory, [`mhl::MhlSurroundings`] a list of a history.

pub mod bagit;
pub mod bitrot;
pub mod chkbit;
pub mod mhl;

use std::io::{BufRead, Write};

use steadfast_digest::Algorithm;

pub use steadfast_manifest::{
    Combined, Conflict, Dispute, DocumentPlace, DocumentWriter, Error, ErrorKind, Fault, FaultKind,
    Format, Mtime, PathFault, Put, Record, Records, Step, algorithm_hint, combine, confine, folded,
    lone_digest, ni, other_spellings, parts, root_of, sums,
};

/// Reads a document in constant memory, except a `bitrot` database, which is loaded whole.
///
/// `algorithm` is that of digests whose format does not name it; see [`algorithm_hint`]. Without
/// it, the length of a digest determines it.
pub fn read<'a>(
    format: Format,
    algorithm: Option<Algorithm>,
    reader: impl BufRead + Send + 'a,
) -> Records<'a> {
    match format {
        Format::Bitrot => Records::of(bitrot::DatabaseRecords::new(reader)),
        _ => steadfast_manifest::read(format, algorithm, reader),
    }
}

/// Begins to write a document of any writable format.
///
/// Of records with several digests, only that of `algorithm` is written. Without it all are, or the
/// first if the format holds one per file.
///
/// # Errors
///
/// If the format is read only.
pub fn writer<W: Write>(
    format: Format,
    algorithm: Option<Algorithm>,
    out: W,
) -> Result<DocumentWriter<W>, Error> {
    let put = match format {
        Format::Bitrot => Some(Box::new(bitrot::DatabaseWriter::default()) as Box<_>),
        _ => steadfast_manifest::put(format, algorithm),
    };
    put.map(|put| DocumentWriter::new(put, out)).ok_or_else(|| Error::read_only(format))
}

/// Writes a whole document. Stops at the first record that the format cannot represent.
///
/// # Errors
///
/// As [`writer`] and [`DocumentWriter`].
pub fn write<'a>(
    format: Format,
    records: impl IntoIterator<Item = &'a Record>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut document = writer(format, None, out)?;
    for record in records {
        document.put(record)?;
    }
    document.finish().map(|_| ())
}
