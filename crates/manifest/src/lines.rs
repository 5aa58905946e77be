//! Reads a text line by line, in bounded memory.
//!
//! Removes a byte order mark, and the CR of lines that end with CRLF.

use std::borrow::Cow;
use std::io::{self, BufRead};

use crate::fault::{DocumentPlace, Fault, FaultKind};
use crate::record::Record;

/// The longest accepted line, in bytes: several times a path of 4,096 bytes with every byte
/// escaped.
pub const LINE_LEN_MAX: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads lines into a reused buffer.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    reader: R,
    ending: u8,
    number: u64,
    line: Vec<u8>,
    /// Whether lines end with CRLF. The first line decides, so a name may end with CR if lines end
    /// with LF.
    crlf: bool,
    failed: bool,
}

impl<R: BufRead> LineReader<R> {
    pub(crate) fn new(reader: R, ending: u8) -> LineReader<R> {
        LineReader { reader, ending, number: 0, line: Vec::new(), crlf: false, failed: false }
    }

    /// Returns the number of the last line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the last line, without its ending.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.line.capacity()
    }

    /// Returns the last line with its number.
    pub(crate) fn current(&self) -> TextLine<'_> {
        TextLine { number: self.number, bytes: &self.line }
    }

    /// Makes a fault of the last line; `column` counts bytes from 1.
    pub(crate) fn fault(
        &self,
        column: usize,
        kind: FaultKind,
        what: impl Into<Cow<'static, str>>,
    ) -> Fault {
        self.current().fault(column, kind, what)
    }

    /// Reads the next line; `false` at the end of the text. A failed read ends the text; after an
    /// overlong line, the next one follows.
    pub(crate) fn advance(&mut self) -> Result<bool, Fault> {
        if self.failed {
            return Ok(false);
        }
        let fits = match self.fill() {
            Ok(Some(fits)) => fits,
            Ok(None) => return Ok(false),
            Err(error) => {
                self.failed = true;
                let place = DocumentPlace::Text { line: self.number + 1, column: 1 };
                return Err(Fault::io(place, &error));
            }
        };
        if !fits {
            return Err(self.fault(1, FaultKind::Limit, "the line is longer than 64 KiB"));
        }
        if self.number == 1 {
            self.crlf = self.ending == b'\n' && self.line.last() == Some(&b'\r');
        }
        if self.crlf && self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(true)
    }

    /// Reads up to the next ending. `None` at the end of the text, otherwise whether the line fits.
    /// A line that does not fit is skipped.
    pub(crate) fn fill(&mut self) -> io::Result<Option<bool>> {
        self.line.clear();
        let (mut fits, mut any) = (true, false);
        loop {
            let available = match self.reader.fill_buf() {
                Ok([]) => break,
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            any = true;
            let end = available.iter().position(|&byte| byte == self.ending);
            let part = &available[..end.unwrap_or(available.len())];
            fits &= self.line.len() + part.len() <= LINE_LEN_MAX;
            if fits {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !any {
            return Ok(None);
        }
        self.number += 1;
        let text = self.ending == b'\n';
        if self.number == 1 && text && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Some(fits))
    }
}

/// One line of a text, without its ending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextLine<'a> {
    number: u64,
    pub(crate) bytes: &'a [u8],
}

impl TextLine<'_> {
    /// Makes a fault of the line; `column` counts bytes from 1.
    pub(crate) fn fault(
        self,
        column: usize,
        kind: FaultKind,
        what: impl Into<Cow<'static, str>>,
    ) -> Fault {
        Fault::text(self.number, column, kind, what)
    }
}

/// Reads a format with one record per line. `parse` returns `None` for a line without a record.
/// After a faulty line, the next one follows.
pub(crate) fn line_records<R: BufRead>(
    reader: R,
    ending: u8,
    parse: impl Fn(TextLine<'_>) -> Result<Option<Record>, Fault>,
) -> impl Iterator<Item = Result<Record, Fault>> {
    let mut lines = LineReader::new(reader, ending);
    std::iter::from_fn(move || {
        loop {
            let found = match lines.advance() {
                Ok(true) => parse(lines.current()),
                Ok(false) => return None,
                Err(fault) => Err(fault),
            };
            if let Some(found) = found.transpose() {
                return Some(found);
            }
        }
    })
}

/// Reads a format record by record: `step` returns the next record or its fault, and `None` at the
/// end. An outer error makes the rest of the document unreadable, so it is the last item.
pub(crate) fn step_records(
    mut step: impl FnMut() -> Result<Option<Result<Record, Fault>>, Fault>,
) -> impl Iterator<Item = Result<Record, Fault>> {
    let mut ended = false;
    std::iter::from_fn(move || {
        if ended {
            return None;
        }
        let found = step().unwrap_or_else(|fault| {
            ended = true;
            Some(Err(fault))
        });
        ended |= found.is_none();
        found
    })
}

/// Removes blanks from the start.
pub(crate) fn skip_blanks(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| !b" \t".contains(byte)).unwrap_or(bytes.len());
    &bytes[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<Vec<u8>> {
        let mut reader = LineReader::new(text, b'\n');
        let mut lines = Vec::new();
        while reader.advance().unwrap() {
            lines.push(reader.line().to_vec());
        }
        lines
    }

    #[test]
    fn the_first_line_tells_how_lines_end() {
        assert_eq!(lines(b"a\r\nb\r\r\nc\n"), [&b"a"[..], b"b\r", b"c"]);
        assert_eq!(lines(b"a\nb\r\n"), [&b"a"[..], b"b\r"]);
        assert_eq!(lines(b"\xef\xbb\xbfa\r\n\xef\xbb\xbfb"), [&b"a"[..], b"\xef\xbb\xbfb"]);
        assert_eq!(lines(b""), [b""; 0]);
        assert_eq!(lines(b"\n"), [b""]);
    }

    #[test]
    fn a_failed_reading_ends_the_text() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let mut reader = LineReader::new(io::BufReader::new(Broken), b'\n');
        let fault = reader.advance().unwrap_err();
        assert_eq!(
            (fault.kind, fault.place),
            (FaultKind::Io, DocumentPlace::Text { line: 1, column: 1 })
        );
        assert_eq!(reader.advance(), Ok(false));
    }
}
