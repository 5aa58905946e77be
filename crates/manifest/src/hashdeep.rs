//! The lists of `hashdeep`, and of `hashit`, which writes the same.
//!
//! A line is `<length>,<hex>,<hex>,<name>`; the second line of the document names the columns.
//! Nothing is quoted: the name comes last and may have commas.
//!
//! Source: `hashdeep` 4.4, `display.cc`. Digests of parts of files (`-p`) are refused.

use std::io::{BufRead, Write};

use steadfast_digest::Algorithm;

use crate::lines::{LineReader, step_records};
use crate::sums::digest_of;
use crate::write::{Put, known_length, one_line};
use crate::{Error, Fault, FaultKind, Record};

/// The first bytes of every document.
pub(crate) const MAGIC: &[u8] = b"%%%% HASHDEEP-";

/// The algorithms that both the format and this program support.
const KNOWN: [Algorithm; 3] = [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256];

/// The most columns: more than the format has algorithms.
const COLUMNS_MAX: usize = 32;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableColumn {
    Length,
    Digest(Algorithm),
    /// `tiger`, `whirlpool`, or an algorithm of a later version.
    Other,
}

/// Reads records line by line.
pub(crate) fn records<R: BufRead>(reader: R) -> impl Iterator<Item = Result<Record, Fault>> {
    let lines = LineReader::new(reader, b'\n');
    let mut parser = TableParser { lines, columns: None };
    step_records(move || parser.step())
}

struct TableParser<R> {
    lines: LineReader<R>,
    /// All columns but the name; `None` before the second line.
    columns: Option<Vec<TableColumn>>,
}

impl<R: BufRead> TableParser<R> {
    /// Returns the next record. An outer error ends the document, an inner one does not.
    fn step(&mut self) -> Result<Option<Result<Record, Fault>>, Fault> {
        loop {
            match self.lines.advance() {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(fault) => return Ok(Some(Err(fault))),
            }
            let line = self.lines.line();
            if line.starts_with(b"%%%% ") {
                self.header()?;
            } else if self.lines.number() == 1 {
                let what = "the document does not begin with `%%%% HASHDEEP-1.0`";
                return Err(self.lines.fault(1, FaultKind::Syntax, what));
            } else if !line.is_empty() && !line.starts_with(b"##") {
                return Ok(Some(self.record()));
            }
        }
    }

    /// Reads a line that begins with `%%%%`: the version or the names of the columns.
    fn header(&mut self) -> Result<(), Fault> {
        let header = &self.lines.line()[5..];
        if let Some(version) = header.strip_prefix(b"HASHDEEP-") {
            if version != b"1.0" {
                let what = "this program knows version 1.0 of the format";
                return Err(self.lines.fault(15, FaultKind::Unsupported, what));
            }
            self.columns = None;
            return Ok(());
        }
        let mut names: Vec<&[u8]> = header.split(|&byte| byte == b',').collect();
        if names.pop() != Some(b"filename") || names.len() > COLUMNS_MAX {
            let what = "the columns do not end with `filename`";
            return Err(self.lines.fault(6, FaultKind::Syntax, what));
        }
        let columns: Vec<TableColumn> = names.into_iter().map(column).collect();
        let repeated = |index: usize| {
            columns[index] != TableColumn::Other && columns[..index].contains(&columns[index])
        };
        if (0..columns.len()).any(repeated) {
            return Err(self.lines.fault(6, FaultKind::Syntax, "a column comes twice"));
        }
        self.columns = Some(columns);
        Ok(())
    }

    fn record(&self) -> Result<Record, Fault> {
        let lines = &self.lines;
        let Some(columns) = &self.columns else {
            let what = "the line of columns is missing";
            return Err(lines.fault(1, FaultKind::Syntax, what));
        };
        let (mut rest, mut at) = (lines.line(), 1);
        let mut record = Record::new(Vec::new());
        for column in columns {
            let end = rest.iter().position(|&byte| byte == b',');
            let end = end.ok_or_else(|| {
                lines.fault(at, FaultKind::Syntax, "the line has too few columns")
            })?;
            let value = |what: &'static str| lines.fault(at, FaultKind::Value, what);
            let field = &rest[..end];
            match column {
                TableColumn::Length => {
                    let length = str::from_utf8(field).ok().and_then(|text| text.parse().ok());
                    record.length =
                        Some(length.ok_or_else(|| value("a length in bytes should be here"))?);
                }
                TableColumn::Digest(algorithm) => {
                    let digest = digest_of(field, *algorithm)
                        .map_err(|fault| lines.fault(at, FaultKind::Value, fault.to_string()))?;
                    record.digests.push((*algorithm, digest));
                }
                TableColumn::Other => {}
            }
            rest = &rest[end + 1..];
            at += end + 1;
        }
        if rest.is_empty() || rest.contains(&0) {
            return Err(lines.fault(at, FaultKind::Value, "there is no file name"));
        }
        if is_piece(rest) {
            let what = "the digest is of a part of the file (`hashdeep -p`)";
            return Err(lines.fault(at, FaultKind::Unsupported, what));
        }
        record.path = Record::new(rest.to_vec()).path;
        Ok(record)
    }
}

fn column(name: &[u8]) -> TableColumn {
    match name {
        b"size" => TableColumn::Length,
        b"md5" => TableColumn::Digest(Algorithm::Md5),
        b"sha1" => TableColumn::Digest(Algorithm::Sha1),
        b"sha256" => TableColumn::Digest(Algorithm::Sha256),
        _ => TableColumn::Other,
    }
}

/// Returns whether a name has the form that `-p` writes: `<name> offset 0-1023`.
fn is_piece(name: &[u8]) -> bool {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let Some(blank) = name.iter().rposition(|&byte| byte == b' ') else { return false };
    let (front, range) = (&name[..blank], &name[blank + 1..]);
    let Some(dash) = range.iter().position(|&byte| byte == b'-') else { return false };
    front.ends_with(b" offset") && is_number(&range[..dash]) && is_number(&range[dash + 1..])
}

/// Writes the document; its columns are the digests of the first record.
pub(crate) struct HashdeepLines {
    pub(crate) algorithm: Option<Algorithm>,
    columns: Option<Vec<Algorithm>>,
}

impl HashdeepLines {
    pub(crate) fn new(algorithm: Option<Algorithm>) -> HashdeepLines {
        HashdeepLines { algorithm, columns: None }
    }

    fn columns_of(&self, record: &Record) -> Result<Vec<Algorithm>, Error> {
        let wanted = |known: Algorithm| {
            self.algorithm.is_none_or(|wanted| wanted == known) && record.digest(known).is_some()
        };
        let columns: Vec<Algorithm> = KNOWN.into_iter().filter(|known| wanted(*known)).collect();
        if columns.is_empty() {
            let why = "there is no digest that the format has: md5, sha1 or sha256";
            return Err(Error::unwritable(&record.path, why));
        }
        Ok(columns)
    }
}

impl Put for HashdeepLines {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        let unwritable = |why: &'static str| Err(Error::unwritable(&record.path, why));
        let name = one_line(record)?;
        if is_piece(name) {
            return unwritable("the name ends as those of parts of files do");
        }
        let length = known_length(record)?;
        let columns = match &self.columns {
            Some(columns) => columns.clone(),
            None => self.columns_of(record)?,
        };
        let digests: Option<Vec<_>> = columns.iter().map(|known| record.digest(*known)).collect();
        let Some(digests) = digests else {
            return unwritable("it lacks a digest that the first file has");
        };
        if self.columns.is_none() {
            write_header(&columns, out)?;
            self.columns = Some(columns);
        }
        write!(out, "{length},")?;
        for digest in digests {
            write!(out, "{digest},")?;
        }
        out.write_all(name)?;
        Ok(out.write_all(b"\n")?)
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        match self.columns {
            Some(_) => Ok(()),
            None => write_header(&[self.algorithm.unwrap_or(Algorithm::Sha256)], out),
        }
    }
}

fn write_header(columns: &[Algorithm], out: &mut dyn Write) -> Result<(), Error> {
    out.write_all(b"%%%% HASHDEEP-1.0\n%%%% size,")?;
    for column in columns {
        write!(out, "{column},")?;
    }
    Ok(out.write_all(b"filename\n## Written by steadfast\n##\n")?)
}
