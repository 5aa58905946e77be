//! SFV: a name and its CRC-32 in each line, as Windows tools, `rhash` and `cfv` write it.
//!
//! A line is `<name> <8 hexadecimal digits>`; a line that begins with `;` is a comment. Nothing is
//! escaped. Many lists were written on Windows: see [`other_spellings`](crate::other_spellings).

use std::io::{BufRead, Write};

use steadfast_digest::Algorithm;

use crate::lines::{TextLine, line_records};
use crate::sums::digest_of;
use crate::write::{Put, chosen, one_line};
use crate::{Error, Fault, FaultKind, Record};

/// Reads records line by line.
pub(crate) fn records<R: BufRead>(reader: R) -> impl Iterator<Item = Result<Record, Fault>> {
    line_records(reader, b'\n', |line| match line.bytes {
        [] | [b';', ..] => Ok(None),
        _ => record(line).map(Some),
    })
}

fn record(line: TextLine<'_>) -> Result<Record, Fault> {
    let blank = line.bytes.iter().rposition(|byte| b" \t".contains(byte));
    let blank = blank
        .ok_or_else(|| line.fault(1, FaultKind::Syntax, "a name and a CRC-32 should be here"))?;
    let digest = digest_of(&line.bytes[blank + 1..], Algorithm::Crc32).map_err(|_| {
        line.fault(blank + 2, FaultKind::Value, "eight hexadecimal digits should be here")
    })?;
    let name = &line.bytes[..blank];
    if name.is_empty() || name.contains(&0) {
        return Err(line.fault(1, FaultKind::Value, "there is no file name"));
    }
    let digests = vec![(Algorithm::Crc32, digest)];
    Ok(Record { digests, ..Record::new(name.to_vec()) })
}

/// Writes the document.
#[derive(Default)]
pub(crate) struct SfvLines {
    begun: bool,
}

impl SfvLines {
    /// The comment shows every reader that lines end with LF, even if the first name ends with CR.
    fn begin(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        if !self.begun {
            self.begun = true;
            out.write_all(b"; Written by steadfast\n")?;
        }
        Ok(())
    }
}

impl Put for SfvLines {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        let (_, digest) = chosen(record, Some(Algorithm::Crc32))?;
        let name = one_line(record)?;
        self.begin(out)?;
        if name.starts_with(b";") {
            // `./` makes a name that begins with `;` different from a comment.
            out.write_all(b"./")?;
        }
        out.write_all(name)?;
        Ok(writeln!(out, " {}", digest.to_string().to_ascii_uppercase())?)
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        self.begin(out)
    }
}
