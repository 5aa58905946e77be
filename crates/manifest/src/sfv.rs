//! SFV: a name and its CRC-32 in each line, as Windows tools, `rhash` and `cfv` write it.
//!
//! In: lines, or records. Out: records, or lines: `<name> <8 hexadecimal digits>`. Lines of `;` are
//! comments. Nothing is escaped. Many were written on Windows: see
//! [`windows_spelling`](super::windows_spelling).

use std::io::{BufRead, Write};
use std::os::unix::ffi::OsStrExt as _;

use steadfast_digest::Algorithm;

use crate::lines::LineReader;
use crate::sums::digest_of;
use crate::write::{Put, chosen};
use crate::{Error, Fault, FaultKind, Record};

/// Reads records line by line.
pub(crate) struct Records<R> {
    lines: LineReader<R>,
}

impl<R: BufRead> Records<R> {
    pub(crate) fn new(reader: R) -> Records<R> {
        Records { lines: LineReader::new(reader, b'\n') }
    }

    fn record(&self) -> Result<Record, Fault> {
        let line = self.lines.line();
        let blank = line.iter().rposition(|byte| b" \t".contains(byte));
        let blank = blank.ok_or_else(|| {
            self.lines.fault(1, FaultKind::Syntax, "a name and a CRC-32 should be here")
        })?;
        let digest = digest_of(&line[blank + 1..], Algorithm::Crc32).map_err(|_| {
            let what = "eight hexadecimal digits should be here";
            self.lines.fault(blank + 2, FaultKind::Value, what)
        })?;
        let name = &line[..blank];
        if name.is_empty() || name.contains(&0) {
            return Err(self.lines.fault(1, FaultKind::Value, "there is no file name"));
        }
        let digests = vec![(Algorithm::Crc32, digest)];
        Ok(Record { digests, ..Record::new(name.to_vec()) })
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = Result<Record, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.lines.advance() {
                Ok(true) if matches!(self.lines.line(), [] | [b';', ..]) => {}
                Ok(true) => return Some(self.record()),
                Ok(false) => return None,
                Err(fault) => return Some(Err(fault)),
            }
        }
    }
}

/// Writes the document.
#[derive(Default)]
pub(crate) struct Lines {
    begun: bool,
}

impl Lines {
    /// The comment shows every reader that lines end with LF, whatever the first name ends with.
    fn begin(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        if !self.begun {
            self.begun = true;
            out.write_all(b"; Written by steadfast\n")?;
        }
        Ok(())
    }
}

impl Put for Lines {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        let (_, digest) = chosen(record, Some(Algorithm::Crc32))?;
        let name = record.path.as_os_str().as_bytes();
        if name.contains(&b'\n') {
            return Err(Error::unwritable(&record.path, "the name has a line feed"));
        }
        self.begin(out)?;
        if name.starts_with(b";") {
            // The same file, and no comment.
            out.write_all(b"./")?;
        }
        out.write_all(name)?;
        Ok(writeln!(out, " {}", digest.to_string().to_ascii_uppercase())?)
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        self.begin(out)
    }
}
