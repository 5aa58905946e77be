//! A pull parser for JSON in constant memory, which reports faults with line and column.
//!
//! The caller asks for keys, strings and whole numbers; other values are skipped. Strings are
//! bytes, so text that is not UTF-8 is kept. Knows no format.
//!
//! Source: RFC 8259. A lone surrogate U+DC80 to U+DCFF is the byte that it represents, as Python
//! writes names that are not UTF-8 (PEP 383).

use std::borrow::Cow;
use std::io::{self, BufRead, Write};

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};

use crate::fault::{DocumentPlace, Fault, FaultKind};
use crate::lines::LINE_LEN_MAX;

/// The deepest nesting of skipped values.
const DEPTH_MAX: usize = 64;

/// The longest number in characters. Valid ones have at most 20.
const NUMBER_LEN_MAX: usize = 40;

/// Reads one document.
pub(crate) struct Json<R> {
    reader: R,
    line: u64,
    column: usize,
    tap: Option<Tap>,
}

/// MD5 of a part of the document: as written, and without the blanks between its values.
struct Tap {
    exact: GatheredMd5,
    compact: GatheredMd5,
}

/// MD5 of single bytes. Collects them first, because a call of the hasher costs more than a byte.
struct GatheredMd5 {
    hasher: AlgorithmHasher,
    gathered: Vec<u8>,
}

impl GatheredMd5 {
    /// How many bytes are collected: a few blocks of MD5.
    const GATHERED_LEN: usize = 1 << 10;

    fn new() -> GatheredMd5 {
        let gathered = Vec::with_capacity(GatheredMd5::GATHERED_LEN);
        GatheredMd5 { hasher: AlgorithmHasher::new(Algorithm::Md5), gathered }
    }

    fn update(&mut self, part: &[u8]) {
        if self.gathered.len() + part.len() > GatheredMd5::GATHERED_LEN {
            self.hasher.update(&self.gathered);
            self.gathered.clear();
        }
        match part.len() > GatheredMd5::GATHERED_LEN {
            true => self.hasher.update(part),
            false => self.gathered.extend_from_slice(part),
        }
    }

    fn finalize(mut self) -> Digest {
        self.hasher.update(&self.gathered);
        self.hasher.finalize()
    }
}

/// Position of the reader in an object or an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    begun: bool,
}

type Result<T> = std::result::Result<T, Fault>;

impl<R: BufRead> Json<R> {
    pub(crate) fn new(reader: R) -> Json<R> {
        Json { reader, line: 1, column: 1, tap: None }
    }

    /// The place of the next byte.
    pub(crate) fn place(&self) -> DocumentPlace {
        DocumentPlace::Text { line: self.line, column: self.column as u64 }
    }

    pub(crate) fn fault(&self, kind: FaultKind, what: impl Into<Cow<'static, str>>) -> Fault {
        Fault::new(self.place(), kind, what)
    }

    fn syntax<T>(&self, what: &'static str) -> Result<T> {
        Err(self.fault(FaultKind::Syntax, what))
    }

    /// Skips a byte order mark at the start of the document.
    pub(crate) fn skip_mark(&mut self) -> Result<()> {
        if self.peek()? == Some(0xef) {
            for byte in [0xef, 0xbb, 0xbf] {
                self.expect_byte(byte, "the document does not begin with a value")?;
            }
            self.column = 1;
        }
        Ok(())
    }

    /// Begins an object.
    pub(crate) fn open_object(&mut self) -> Result<Cursor> {
        self.skip_blanks()?;
        self.expect_byte(b'{', "an object should be here")?;
        Ok(Cursor::default())
    }

    /// Begins an array.
    pub(crate) fn open_array(&mut self) -> Result<Cursor> {
        self.skip_blanks()?;
        self.expect_byte(b'[', "an array should be here")?;
        Ok(Cursor::default())
    }

    /// Goes to the next member of an object and returns its key; `None` at the object's end.
    pub(crate) fn key(&mut self, cursor: &mut Cursor) -> Result<Option<Vec<u8>>> {
        if !self.step(cursor, b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        self.skip_blanks()?;
        self.expect_byte(b':', "a colon should be here")?;
        self.skip_blanks()?;
        Ok(Some(key))
    }

    /// Goes to the next element of an array; `false` at its end.
    pub(crate) fn element(&mut self, cursor: &mut Cursor) -> Result<bool> {
        self.step(cursor, b']')
    }

    fn step(&mut self, cursor: &mut Cursor, end: u8) -> Result<bool> {
        let next = self.skip_blanks()?;
        if next == Some(end) {
            self.take();
            return Ok(false);
        }
        if cursor.begun {
            self.expect_byte(b',', "a comma should be here")?;
            self.skip_blanks()?;
        }
        cursor.begun = true;
        Ok(true)
    }

    /// Skips blanks and returns the byte that follows, which is not consumed; `None` at the end.
    pub(crate) fn next_byte(&mut self) -> Result<Option<u8>> {
        self.skip_blanks()
    }

    /// Says whether the next value is a string.
    pub(crate) fn is_string(&mut self) -> Result<bool> {
        Ok(self.skip_blanks()? == Some(b'"'))
    }

    /// Reads a string.
    pub(crate) fn string(&mut self) -> Result<Vec<u8>> {
        self.skip_blanks()?;
        self.expect_byte(b'"', "a string should be here")?;
        let mut text = Vec::new();
        loop {
            self.read_plain(|part| text.extend_from_slice(part))?;
            if text.len() > LINE_LEN_MAX {
                return Err(self.fault(FaultKind::Limit, "the string is longer than 64 KiB"));
            }
            match self.peek()? {
                Some(b'"') => {
                    self.take();
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.take();
                    self.escape(&mut text)?;
                }
                Some(byte) if byte < 0x20 => {
                    return self.syntax("a control character stands in a string");
                }
                Some(_) => {}
                None => return self.syntax("the document ends within a string"),
            }
        }
    }

    /// Takes the plain characters of a string, as many as are buffered.
    fn read_plain(&mut self, mut keep: impl FnMut(&[u8])) -> Result<()> {
        loop {
            let place = self.place();
            let available = fill(&mut self.reader, place)?;
            let plain = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
            let end = available.iter().position(plain);
            let part = &available[..end.unwrap_or(available.len())];
            if part.is_empty() {
                return Ok(());
            }
            keep(part);
            if let Some(tap) = &mut self.tap {
                tap.exact.update(part);
                tap.update_escaped(part);
            }
            let used = part.len();
            self.reader.consume(used);
            self.column += used;
            // One buffer at a time, so the caller can stop an endless string.
            if end.is_none() {
                return Ok(());
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let byte = self.peek()?;
        let plain = match byte {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.take();
                return self.unicode(text);
            }
            _ => return self.syntax("a backslash escapes nothing"),
        };
        self.take();
        text.push(plain);
        Ok(())
    }

    fn unicode(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let unit = self.unit()?;
        let lone = "half a character is escaped";
        let code = match unit {
            0xdc80..=0xdcff => {
                text.push((unit - 0xdc00) as u8);
                return Ok(());
            }
            0xd800..=0xdbff => {
                self.expect_byte(b'\\', lone)?;
                self.expect_byte(b'u', lone)?;
                let low = self.unit()?;
                if !(0xdc00..=0xdfff).contains(&low) {
                    return self.syntax(lone);
                }
                0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
            }
            unit => unit,
        };
        let Some(letter) = char::from_u32(code) else { return self.syntax(lone) };
        text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn unit(&mut self) -> Result<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek()?.and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return self.syntax("four hexadecimal digits should be here");
            };
            unit = unit << 4 | digit;
            self.take();
        }
        Ok(unit)
    }

    /// Reads a whole number. Drops a fraction, which JavaScript may write.
    pub(crate) fn integer(&mut self) -> Result<i128> {
        self.skip_blanks()?;
        let start = self.place();
        let text = self.number()?;
        let whole = text.split('.').next().unwrap_or_default();
        whole.parse().map_err(|_| {
            Fault::new(start, FaultKind::Value, "a whole number of seconds or bytes should be here")
        })
    }

    fn number(&mut self) -> Result<String> {
        let mut text = String::new();
        while let Some(byte) = self.peek()?
            && (byte.is_ascii_digit() || b"+-.eE".contains(&byte))
        {
            self.take();
            text.push(char::from(byte));
            if text.len() > NUMBER_LEN_MAX {
                return Err(self.fault(FaultKind::Limit, "the number is longer than 40 characters"));
            }
        }
        match text.is_empty() {
            true => self.syntax("a number should be here"),
            false => Ok(text),
        }
    }

    /// Skips a value of any type.
    pub(crate) fn skip_value(&mut self) -> Result<()> {
        // The expected end of each open object or array, and the position in it.
        let mut open: Vec<(u8, Cursor)> = Vec::new();
        loop {
            match self.skip_blanks()? {
                Some(b'{') => {
                    self.take();
                    open.push((b'}', Cursor::default()));
                }
                Some(b'[') => {
                    self.take();
                    open.push((b']', Cursor::default()));
                }
                Some(b'"') => self.skip_string()?,
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                _ => drop(self.number()?),
            }
            if open.len() > DEPTH_MAX {
                return Err(self.fault(FaultKind::Limit, "the document is nested too deep"));
            }
            // Goes to the next value within the innermost object or array that has one.
            loop {
                let Some((end, cursor)) = open.last_mut() else { return Ok(()) };
                let (end, mut at) = (*end, *cursor);
                cursor.begun = true;
                if !self.step(&mut at, end)? {
                    open.pop();
                    continue;
                }
                if end == b'}' {
                    self.skip_string()?;
                    self.skip_blanks()?;
                    self.expect_byte(b':', "a colon should be here")?;
                }
                break;
            }
        }
    }

    fn skip_string(&mut self) -> Result<()> {
        self.expect_byte(b'"', "a string should be here")?;
        loop {
            self.read_plain(|_| {})?;
            match self.peek()? {
                Some(b'"') => {
                    self.take();
                    return Ok(());
                }
                Some(b'\\') => {
                    self.take();
                    if self.peek()?.is_some() {
                        self.take();
                    }
                }
                Some(byte) if byte < 0x20 => {
                    return self.syntax("a control character stands in a string");
                }
                Some(_) => {}
                None => return self.syntax("the document ends within a string"),
            }
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<()> {
        word.iter().try_for_each(|&byte| self.expect_byte(byte, "a value should be here"))
    }

    /// Checks that only blanks follow.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.skip_blanks()? {
            None => Ok(()),
            Some(_) => self.syntax("something follows the document's end"),
        }
    }

    /// Begins to digest the document.
    pub(crate) fn begin_tap(&mut self) {
        self.tap = Some(Tap { exact: GatheredMd5::new(), compact: GatheredMd5::new() });
    }

    /// Returns the MD5 of the document since [`Json::begin_tap`]: as written, and as a writer
    /// without blanks would have written it.
    pub(crate) fn end_tap(&mut self) -> Option<[Digest; 2]> {
        self.tap.take().map(|tap| [tap.exact.finalize(), tap.compact.finalize()])
    }

    fn expect_byte(&mut self, byte: u8, what: &'static str) -> Result<()> {
        if self.peek()? != Some(byte) {
            return self.syntax(what);
        }
        self.take();
        Ok(())
    }

    /// Skips blanks and returns the byte after them.
    fn skip_blanks(&mut self) -> Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(byte @ (b' ' | b'\t' | b'\n' | b'\r')) => {
                    if let Some(tap) = &mut self.tap {
                        tap.exact.update(&[byte]);
                    }
                    self.consume(byte);
                }
                other => return Ok(other),
            }
        }
    }

    fn peek(&mut self) -> Result<Option<u8>> {
        let place = self.place();
        Ok(fill(&mut self.reader, place)?.first().copied())
    }

    /// Consumes the peeked byte.
    fn take(&mut self) {
        let place = self.place();
        let next = fill(&mut self.reader, place).ok().and_then(<[u8]>::first).copied();
        let byte = next.expect("a byte that was seen is still there");
        if let Some(tap) = &mut self.tap {
            tap.exact.update(&[byte]);
            tap.compact.update(&[byte]);
        }
        self.consume(byte);
    }

    fn consume(&mut self, byte: u8) {
        self.reader.consume(1);
        match byte {
            b'\n' => (self.line, self.column) = (self.line + 1, 1),
            _ => self.column += 1,
        }
    }
}

impl Tap {
    /// Go's encoder escapes characters that have a meaning in HTML.
    fn update_escaped(&mut self, part: &[u8]) {
        for piece in part.split_inclusive(|byte| b"<>&".contains(byte)) {
            let escaped: &[u8] = match piece.last() {
                Some(b'<') => b"\\u003c",
                Some(b'>') => b"\\u003e",
                Some(b'&') => b"\\u0026",
                _ => {
                    self.compact.update(piece);
                    continue;
                }
            };
            self.compact.update(&piece[..piece.len() - 1]);
            self.compact.update(escaped);
        }
    }
}

fn fill<R: BufRead>(reader: &mut R, place: DocumentPlace) -> Result<&[u8]> {
    // Asked twice, because the borrow checker does not let a buffer from inside the loop be
    // returned.
    loop {
        match reader.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Fault::io(place, &error)),
        }
    }
    reader.fill_buf().map_err(|error| Fault::io(place, &error))
}

/// Writes a string that is UTF-8.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_string(text: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"\"")?;
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| matches!(letter, '"' | '\\') || letter < ' ') {
        out.write_all(&rest.as_bytes()[..at])?;
        match rest.as_bytes()[at] {
            byte @ (b'"' | b'\\') => out.write_all(&[b'\\', byte])?,
            byte => write!(out, "\\u{byte:04x}")?,
        }
        rest = &rest[at + 1..];
    }
    out.write_all(rest.as_bytes())?;
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads through a buffer of a few bytes, so every token is split somewhere.
    fn json(text: &[u8]) -> Json<io::BufReader<&[u8]>> {
        Json::new(io::BufReader::with_capacity(3, text))
    }

    #[test]
    fn strings_are_read_with_their_escapes_and_bytes() {
        for (text, expected) in [
            (&br#""abcdefgh""#[..], &b"abcdefgh"[..]),
            (br#""a\"\\\/\b\f\n\r\tb""#, b"a\"\\/\x08\x0c\n\r\tb"),
            (br#""\u00e9\u20ac\ud83d\ude00""#, "é€😀".as_bytes()),
            (br#""\udcff\udc80""#, b"\xff\x80"),
            (b"\"\xff\xfe\"", b"\xff\xfe"),
            (br#" "" "#, b""),
        ] {
            let mut reader = json(text);
            assert_eq!(reader.string().unwrap(), expected, "{text:?}");
            assert_eq!(reader.end(), Ok(()));
            assert_eq!(json(text).skip_value(), Ok(()));
        }
    }

    #[test]
    fn faults_have_line_and_column() {
        let mut reader = json(b"{\n \"a\" 1}");
        let mut cursor = reader.open_object().unwrap();
        let fault = reader.key(&mut cursor).unwrap_err();
        assert_eq!(fault.to_string(), "line 2, column 6: a colon should be here");
        for text in [
            &br#""a"#[..],
            br#""\ud800""#,
            br#""\ud800\u0041""#,
            br#""\udc00""#,
            br#""\u12""#,
            br#""\x""#,
            b"\"a\nb\"",
            b"a",
            b"",
        ] {
            assert_eq!(json(text).string().unwrap_err().kind, FaultKind::Syntax, "{text:?}");
        }
    }

    #[test]
    fn whole_values_are_passed_over() {
        for text in [
            r#"{"a":[1,{"b":null},[]],"c":{},"d":true,"e":-1.5e3,"f":"x\"y"}"#,
            "[ [ [ ] , [ ] ] , false ]",
            "12",
        ] {
            let mut reader = json(text.as_bytes());
            assert_eq!(reader.skip_value(), Ok(()), "{text}");
            assert_eq!(reader.end(), Ok(()), "{text}");
        }
        for text in ["{", "[1 2]", "{\"a\"}", "{1:2}", "[1,", "tru", "]", ""] {
            assert!(json(text.as_bytes()).skip_value().is_err(), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(json(deep.as_bytes()).skip_value().unwrap_err().kind, FaultKind::Limit);
    }

    #[test]
    fn numbers_are_whole_and_bounded() {
        assert_eq!(json(b"-12 ").integer(), Ok(-12));
        assert_eq!(json(b"1704164645123.75").integer(), Ok(1_704_164_645_123));
        for text in ["1e5", "-", "x", "", &"9".repeat(41)] {
            assert!(json(text.as_bytes()).integer().is_err(), "{text}");
        }
    }

    #[test]
    fn an_endless_string_costs_no_memory() {
        let text = io::Read::chain(&b"\""[..], io::Read::take(io::repeat(b'a'), 10 << 20));
        let mut reader = Json::new(io::BufReader::new(text));
        assert_eq!(reader.string().unwrap_err().kind, FaultKind::Limit);
    }

    #[test]
    fn strings_are_written_so_that_they_read_back() {
        let text = "a\"\\\u{0}\n\u{1f}é\u{2028}</b>";
        let mut bytes = Vec::new();
        write_string(text, &mut bytes).unwrap();
        assert_eq!(json(&bytes).string().unwrap(), text.as_bytes());
        assert!(bytes.is_ascii() || bytes.iter().all(|byte| *byte >= 0x20));
    }

    #[test]
    fn a_tap_digests_what_passes_with_and_without_blanks() {
        let mut reader = json(b" { \"a<b\" : [ 1 ] } ");
        assert_eq!(reader.skip_blanks(), Ok(Some(b'{')));
        reader.begin_tap();
        reader.skip_value().unwrap();
        let md5 = |text: &[u8]| {
            let mut hasher = AlgorithmHasher::new(Algorithm::Md5);
            hasher.update(text);
            hasher.finalize()
        };
        let expected = [md5(b"{ \"a<b\" : [ 1 ] }"), md5(b"{\"a\\u003cb\":[1]}")];
        assert_eq!(reader.end_tap(), Some(expected));

        for len in [1, 1_000, 1_021, 1_022, 1_023, 1_024, 1_025, 5_000] {
            let text = format!("[\"{}\"]", "a".repeat(len));
            let mut reader = Json::new(io::BufReader::with_capacity(1_500, text.as_bytes()));
            reader.begin_tap();
            reader.skip_value().unwrap();
            assert_eq!(reader.end_tap(), Some([md5(text.as_bytes()); 2]), "{len}");
        }
    }
}
