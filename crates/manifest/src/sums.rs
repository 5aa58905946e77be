//! The lines of `sha256sum`, of the BSD tools and of `openssl dgst`.
//!
//! Converts between lines and records. Names are bytes, so text that is not UTF-8 is kept.
//!
//! Untagged lines are `<hex>  <name>` or `<hex> *<name>`, tagged ones `SHA256 (<name>) = <hex>`. If
//! the name has a backslash, LF or CR, the line begins with a backslash, and the three are written
//! as `\\`, `\n` and `\r`. Documents that end their lines with NUL escape nothing.
//!
//! Source: GNU coreutils 9.1, `digest.c`; OpenSSL 3 omits the blank before `(` and before `=`.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use steadfast_digest::{Algorithm, Digest};
use steadfast_time::names::{NameBuf as _, NameBytes as _};

pub use crate::lines::LINE_LEN_MAX;
use crate::lines::{LineReader, line_records, skip_blanks};
use crate::write::{Put, chosen, one_line, wanted};
use crate::{Error, Fault, FaultKind, Record};

/// How a line names its algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// It does not, as `sha256sum` prints: `<hex>  <name>`.
    #[default]
    Untagged,
    /// At the start, as the BSD tools print: `SHA256 (<name>) = <hex>`.
    Tagged,
}

/// The end of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// LF; names are escaped.
    #[default]
    Newline,
    /// NUL; names are not escaped.
    Nul,
}

impl Ending {
    fn byte(self) -> u8 {
        match self {
            Ending::Newline => b'\n',
            Ending::Nul => 0,
        }
    }
}

/// The content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How the digest was computed.
    pub algorithm: Algorithm,
    /// The digest of the file's contents.
    pub digest: Digest,
    /// The file, as the line names it.
    pub path: PathBuf,
}

/// The fault of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineFault {
    /// It has more than [`LINE_LEN_MAX`] bytes.
    #[error("the line is longer than 64 KiB")]
    Overlong,
    /// It has no digest at the expected place.
    #[error("there is no digest")]
    NoDigest,
    /// The digest has the wrong length for its algorithm, or for any.
    #[error("the digest has the wrong length")]
    DigestLength,
    /// Its algorithm is not known.
    #[error("the algorithm is not known")]
    UnknownAlgorithm,
    /// It has no name, or a name with a NUL.
    #[error("there is no file name")]
    NoName,
    /// In an escaped name, a backslash precedes another character than `\`, `n` or `r`.
    #[error("a backslash escapes nothing")]
    Escape,
}

/// A faulty line and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {number}: {fault}")]
pub struct LineError {
    /// Number of the line, from 1.
    pub number: u64,
    /// The fault.
    pub fault: LineFault,
}

impl Line {
    /// Writes the line with its ending.
    ///
    /// # Errors
    ///
    /// If the writer fails.
    pub fn write(&self, style: Style, ending: Ending, out: &mut dyn Write) -> io::Result<()> {
        write_line(self.algorithm, &self.digest, &self.path, style, ending, out)
    }

    /// Reads one line, without its ending.
    ///
    /// `algorithm` is that of an untagged digest. Without it, the length determines it: 64
    /// hexadecimal digits are SHA-256, 128 SHA-512, 96 SHA-384, 40 SHA-1, 32 MD5. A tagged line
    /// names its own.
    ///
    /// # Errors
    ///
    /// If the bytes are not such a line.
    pub fn parse(
        bytes: &[u8],
        algorithm: Option<Algorithm>,
        ending: Ending,
    ) -> Result<Line, LineFault> {
        parse_placed(bytes, algorithm, ending).map_err(|Misfit { fault, .. }| fault)
    }
}

/// The fault of a line, and the number of bytes before it.
struct Misfit {
    fault: LineFault,
    at: usize,
}

/// As [`Line::parse`], with the place of a fault.
fn parse_placed(
    bytes: &[u8],
    algorithm: Option<Algorithm>,
    ending: Ending,
) -> Result<Line, Misfit> {
    let mut rest = bytes;
    let mut escaped = false;
    if ending == Ending::Newline {
        rest = rest.strip_suffix(b"\r").unwrap_or(rest);
        let whole = rest.len();
        rest = skip_blanks(rest);
        if let Some(after) = rest.strip_prefix(b"\\") {
            (rest, escaped) = (after, true);
        }
        let front = whole - rest.len();
        return parse_body(rest, algorithm, escaped)
            .map_err(|Misfit { fault, at }| Misfit { fault, at: at + front });
    }
    parse_body(rest, algorithm, escaped)
}

/// Reads the part between the mark of an escaped line and the ending.
fn parse_body(body: &[u8], algorithm: Option<Algorithm>, escaped: bool) -> Result<Line, Misfit> {
    let (algorithm, digest, name_at, name) = match split_tagged(body) {
        Some(parts) => parts?,
        None => split_untagged(body, algorithm)?,
    };
    let unescaped = || unescape(name).map_err(|at| Misfit::at(LineFault::Escape, name_at + at));
    let name = if escaped { unescaped()? } else { name.to_vec() };
    if name.is_empty() || name.contains(&0) {
        return Err(Misfit::at(LineFault::NoName, name_at));
    }
    Ok(Line { algorithm, digest, path: OsString::from_vec(name).into() })
}

impl Misfit {
    fn at(fault: LineFault, at: usize) -> Misfit {
        Misfit { fault, at }
    }
}

/// Writes a line from its parts; see [`Line::write`].
///
/// # Errors
///
/// If the writer fails.
pub fn write_line(
    algorithm: Algorithm,
    digest: &Digest,
    path: &Path,
    style: Style,
    ending: Ending,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = path.as_bytes();
    let escaped = ending == Ending::Newline && name.iter().any(|byte| b"\\\n\r".contains(byte));
    if escaped {
        out.write_all(b"\\")?;
    }
    match style {
        Style::Untagged => {
            write!(out, "{digest}  ")?;
            write_name(name, escaped, out)?;
        }
        Style::Tagged => {
            write!(out, "{} (", tagged_name(algorithm))?;
            write_name(name, escaped, out)?;
            write!(out, ") = {digest}")?;
        }
    }
    out.write_all(&[ending.byte()])
}

/// Writes a name for a line of text, with the three bytes escaped that would break the line.
///
/// # Errors
///
/// If the writer fails.
pub fn write_name(name: &[u8], escaped: bool, out: &mut dyn Write) -> io::Result<()> {
    if !escaped {
        return out.write_all(name);
    }
    for byte in name {
        match byte {
            b'\\' => out.write_all(b"\\\\")?,
            b'\n' => out.write_all(b"\\n")?,
            b'\r' => out.write_all(b"\\r")?,
            other => out.write_all(&[*other])?,
        }
    }
    Ok(())
}

/// Returns the name of an algorithm as tagged lines spell it.
pub fn tagged_name(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Sha256 => "SHA256",
        Algorithm::Sha512 => "SHA512",
        Algorithm::Sha384 => "SHA384",
        Algorithm::Sha1 => "SHA1",
        Algorithm::Md5 => "MD5",
        Algorithm::Blake2b => "BLAKE2b",
        Algorithm::Blake3 => "BLAKE3",
        Algorithm::Xxh3_128 => "XXH128",
        Algorithm::Xxh64 => "XXH64",
        Algorithm::Xxh3_64 => "XXH3",
        Algorithm::Crc32c => "CRC32C",
        Algorithm::Crc32 => "CRC32",
        Algorithm::Crc64Nvme => "CRC64NVME",
        Algorithm::Fletcher64 => "FLETCHER64",
    }
}

/// Reads a document line by line, in bounded memory. Skips empty lines and `#` comments.
#[derive(Debug)]
pub struct Lines<R> {
    lines: LineReader<R>,
    algorithm: Option<Algorithm>,
    ending: Ending,
}

impl<R: BufRead> Lines<R> {
    /// Starts at the reader's position; the other arguments are those of [`Line::parse`].
    pub fn new(reader: R, algorithm: Option<Algorithm>, ending: Ending) -> Lines<R> {
        Lines { lines: LineReader::new(reader, ending.byte()), algorithm, ending }
    }
}

/// How a list begins that was signed as text. The signature is not verified.
pub(crate) const SIGNED: &[u8] = b"-----BEGIN PGP SIGNED MESSAGE-----";

/// Returns whether a line is empty or a comment.
fn is_silent(line: &[u8]) -> bool {
    line.is_empty() || line == b"\r" || matches!(line[0], b'#' | b';')
}

/// Where a reader is in a list that was signed as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignedPart {
    /// In a list, signed or not.
    List,
    /// In the heading of a signed one, which ends with an empty line.
    Heading,
    /// In the signature at its end.
    Signature,
}

impl SignedPart {
    /// Returns the part that a line is in, and the one that follows it.
    fn of(self, line: &[u8]) -> (SignedPart, SignedPart) {
        use SignedPart::{Heading, List, Signature};
        let is_empty = line.trim_ascii().is_empty();
        match self {
            List if line.starts_with(SIGNED) => (Heading, Heading),
            List if line.starts_with(b"-----BEGIN PGP SIGNATURE-----") => (Signature, Signature),
            Heading if is_empty => (Heading, List),
            Signature if line.starts_with(b"-----END PGP SIGNATURE-----") => (Signature, List),
            same => (same, same),
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    /// A failed read, a faulty line, or a valid one.
    type Item = io::Result<Result<Line, LineError>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let fits = match self.lines.fill() {
                Ok(Some(fits)) => fits,
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            };
            if fits && is_silent(self.lines.line()) {
                continue;
            }
            let parsed = match fits {
                true => Line::parse(self.lines.line(), self.algorithm, self.ending),
                false => Err(LineFault::Overlong),
            };
            let number = self.lines.number();
            return Some(Ok(parsed.map_err(|fault| LineError { number, fault })));
        }
    }
}

/// Reads a document as records, one for each line.
pub(crate) fn records<R: BufRead>(
    reader: R,
    algorithm: Option<Algorithm>,
    ending: Ending,
) -> impl Iterator<Item = Result<Record, Fault>> {
    let part = Cell::new(SignedPart::List);
    line_records(reader, ending.byte(), move |line| {
        let (here, next) = part.get().of(line.bytes);
        part.set(next);
        if here != SignedPart::List || is_silent(line.bytes) {
            return Ok(None);
        }
        // A signed line that begins with a hyphen has another one before it.
        let bytes = line.bytes.strip_prefix(b"- ").unwrap_or(line.bytes);
        let parsed = parse_placed(bytes, algorithm, ending);
        let Line { algorithm, digest, path } = parsed.map_err(|Misfit { fault, at }| {
            let kind = match fault {
                LineFault::NoDigest | LineFault::Escape => FaultKind::Syntax,
                LineFault::UnknownAlgorithm => FaultKind::Unsupported,
                _ => FaultKind::Value,
            };
            line.fault(at + 1, kind, fault.to_string())
        })?;
        let digests = vec![(algorithm, digest)];
        Ok(Some(Record { digests, ..Record::new(path.into_vec()) }))
    })
}

/// Writes untagged lines, all of one algorithm, because readers only have the length to determine
/// it.
pub(crate) struct Untagged {
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) ending: Ending,
}

impl Put for Untagged {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        let (algorithm, digest) = chosen(record, self.algorithm)?;
        self.algorithm = Some(algorithm);
        Ok(write_line(algorithm, &digest, &record.path, Style::Untagged, self.ending, out)?)
    }
}

/// Writes tagged lines, one for each digest of a record.
pub(crate) struct Tagged {
    pub(crate) algorithm: Option<Algorithm>,
}

impl Put for Tagged {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        chosen(record, self.algorithm)?;
        for (algorithm, digest) in wanted(record, self.algorithm) {
            write_line(algorithm, &digest, &record.path, Style::Tagged, Ending::Newline, out)?;
        }
        Ok(())
    }
}

/// Writes the lines of `openssl dgst`, one for each digest of a record. Names are not escaped.
pub(crate) struct Openssl {
    pub(crate) algorithm: Option<Algorithm>,
}

impl Put for Openssl {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        chosen(record, self.algorithm)?;
        let name = one_line(record)?;
        let lines: Vec<_> = wanted(record, self.algorithm).collect();
        if let Some((unknown, _)) = lines.iter().find(|(known, _)| openssl_name(*known).is_none()) {
            return Err(Error::unwritable(&record.path, format!("OpenSSL has no {unknown}")));
        }
        for (algorithm, digest) in lines {
            write!(out, "{}(", openssl_name(algorithm).expect("all have one, as checked above"))?;
            out.write_all(name)?;
            writeln!(out, ")= {digest}")?;
        }
        Ok(())
    }
}

/// The name that `openssl dgst` of version 3 prints.
fn openssl_name(algorithm: Algorithm) -> Option<&'static str> {
    match algorithm {
        Algorithm::Sha256 => Some("SHA2-256"),
        Algorithm::Sha512 => Some("SHA2-512"),
        Algorithm::Sha384 => Some("SHA2-384"),
        Algorithm::Sha1 => Some("SHA1"),
        Algorithm::Md5 => Some("MD5"),
        Algorithm::Blake2b => Some("BLAKE2B-512"),
        _ => None,
    }
}

type LineParts<'a> = (Algorithm, Digest, usize, &'a [u8]);

/// Splits `SHA256 (<name>) = <hex>`; `None` if the line does not begin like one.
fn split_tagged(line: &[u8]) -> Option<Result<LineParts<'_>, Misfit>> {
    let open = line.iter().position(|&byte| byte == b'(')?;
    let label = line[..open].strip_suffix(b" ").unwrap_or(&line[..open]);
    let label = str::from_utf8(label).ok().filter(|label| is_label(label))?;
    let parts = || {
        let algorithm = label.parse().map_err(|_| Misfit::at(LineFault::UnknownAlgorithm, 0))?;
        let no_digest = |at| Misfit::at(LineFault::NoDigest, at);
        let close = line.iter().rposition(|&byte| byte == b')').filter(|&close| close > open);
        let close = close.ok_or_else(|| no_digest(line.len()))?;
        let hex = skip_blanks(&line[close + 1..]).strip_prefix(b"=");
        let hex = skip_blanks(hex.ok_or_else(|| no_digest(close + 1))?);
        let digest = digest_of(hex, algorithm);
        let digest = digest.map_err(|fault| Misfit::at(fault, line.len() - hex.len()))?;
        Ok((algorithm, digest, open + 1, &line[open + 1..close]))
    };
    Some(parts())
}

/// Returns whether a text may be the name of an algorithm. It is short, and an untagged line never
/// begins like this, because its digest is followed by a blank.
fn is_label(label: &str) -> bool {
    let letters = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte));
    letters && (1..=16).contains(&label.len())
}

/// Splits `<hex>  <name>`, `<hex> *<name>` and, as older BSD tools wrote, `<hex> <name>`.
fn split_untagged(line: &[u8], algorithm: Option<Algorithm>) -> Result<LineParts<'_>, Misfit> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let (hex, rest) = line.split_at(end);
    let name = match rest {
        [b' ' | b'\t', b' ' | b'*', name @ ..] | [b' ' | b'\t', name @ ..] if end > 0 => name,
        [] if end > 0 => return Err(Misfit::at(LineFault::NoName, end)),
        _ => return Err(Misfit::at(LineFault::NoDigest, end)),
    };
    let (algorithm, digest) = parse_digest(hex, algorithm).map_err(|fault| Misfit::at(fault, 0))?;
    Ok((algorithm, digest, line.len() - name.len(), name))
}

pub(crate) fn algorithm_of_length(hex_len: usize) -> Option<Algorithm> {
    match hex_len {
        32 => Some(Algorithm::Md5),
        40 => Some(Algorithm::Sha1),
        64 => Some(Algorithm::Sha256),
        96 => Some(Algorithm::Sha384),
        128 => Some(Algorithm::Sha512),
        _ => None,
    }
}

/// Reads a digest of this algorithm from hexadecimal digits.
pub(crate) fn digest_of(hex: &[u8], algorithm: Algorithm) -> Result<Digest, LineFault> {
    if hex.is_empty() || !hex.iter().all(u8::is_ascii_hexdigit) {
        return Err(LineFault::NoDigest);
    }
    let text = str::from_utf8(hex).expect("hexadecimal digits are ASCII");
    let digest: Digest = text.parse().map_err(|_| LineFault::DigestLength)?;
    match digest.as_bytes().len() == algorithm.digest_len() {
        true => Ok(digest),
        false => Err(LineFault::DigestLength),
    }
}

/// Reads a digest from hexadecimal digits. Without an algorithm, the length determines it.
pub(crate) fn parse_digest(
    hex: &[u8],
    algorithm: Option<Algorithm>,
) -> Result<(Algorithm, Digest), LineFault> {
    let algorithm = algorithm.or_else(|| algorithm_of_length(hex.len()));
    let algorithm = algorithm.ok_or(LineFault::DigestLength)?;
    Ok((algorithm, digest_of(hex, algorithm)?))
}

/// Reverses [`write_name`]. The error is the position of an invalid backslash.
pub(crate) fn unescape(name: &[u8]) -> Result<Vec<u8>, usize> {
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter().enumerate();
    while let Some((at, &byte)) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next() {
                Some((_, b'\\')) => b'\\',
                Some((_, b'n')) => b'\n',
                Some((_, b'r')) => b'\r',
                _ => return Err(at),
            },
            byte => byte,
        });
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn line(algorithm: Algorithm, name: &[u8]) -> Line {
        let bytes: Vec<u8> = (1..=64).collect();
        Line {
            algorithm,
            digest: Digest::from_slice(&bytes[..algorithm.digest_len()]).unwrap(),
            path: OsString::from_vec(name.to_vec()).into(),
        }
    }

    fn printed(line: &Line, style: Style, ending: Ending) -> Vec<u8> {
        let mut out = Vec::new();
        line.write(style, ending, &mut out).unwrap();
        out
    }

    fn parsed(text: &str) -> Result<Line, LineFault> {
        Line::parse(text.as_bytes(), None, Ending::Newline)
    }

    /// Names of up to 12 bytes, mostly of bytes that break formats. xorshift64, fixed seed.
    fn nasty_names(count: usize) -> Vec<Vec<u8>> {
        const BYTES: &[u8] = b"\\\n\r nr*()=#a\t\x1b\x7f\xff\xc3\xa9/.-";
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as usize >> 8
        };
        let name = |_| {
            let len = 1 + next() % 12;
            (0..len).map(|_| BYTES[next() % BYTES.len()]).collect()
        };
        (0..count).map(name).collect()
    }

    #[test]
    fn parsing_undoes_printing() {
        for name in nasty_names(20_000) {
            for algorithm in [Algorithm::Sha256, Algorithm::Blake3, Algorithm::Crc32c] {
                for (style, ending) in [
                    (Style::Untagged, Ending::Newline),
                    (Style::Untagged, Ending::Nul),
                    (Style::Tagged, Ending::Newline),
                    (Style::Tagged, Ending::Nul),
                ] {
                    let line = line(algorithm, &name);
                    let bytes = printed(&line, style, ending);
                    let mut read = Lines::new(&bytes[..], Some(algorithm), ending);
                    assert_eq!(read.next().unwrap().unwrap(), Ok(line), "{bytes:?}");
                    assert!(read.next().is_none(), "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn no_bytes_make_the_parser_panic() {
        let valid = printed(&line(Algorithm::Md5, b"a\\b"), Style::Tagged, Ending::Newline);
        for start in 0..valid.len() {
            for end in start..valid.len() {
                let _ = Line::parse(&valid[start..end], None, Ending::Newline);
            }
        }
        for name in nasty_names(20_000) {
            let _ = Line::parse(&name, None, Ending::Newline);
            let _ = Line::parse(&name, Some(Algorithm::Sha1), Ending::Nul);
        }
    }

    #[test]
    fn exact_bytes() {
        let text = |name: &[u8], style, ending| {
            let line = line(Algorithm::Crc32c, name);
            printed(&line, style, ending)
        };
        assert_eq!(text(b"a b", Style::Untagged, Ending::Newline), b"01020304  a b\n");
        assert_eq!(text(b"a\nb", Style::Untagged, Ending::Newline), b"\\01020304  a\\nb\n");
        assert_eq!(text(b"a\nb", Style::Untagged, Ending::Nul), b"01020304  a\nb\0");
        assert_eq!(text(b"a\\", Style::Tagged, Ending::Newline), b"\\CRC32C (a\\\\) = 01020304\n");
    }

    #[test]
    fn what_others_write_is_read() {
        for text in [
            format!("{EMPTY}  a (1)"),
            format!("{EMPTY} *a (1)"),
            format!("{EMPTY} a (1)"),
            format!("  {EMPTY}\t a (1)"),
            format!("{}  a (1)\r", EMPTY.to_uppercase()),
            format!("SHA256 (a (1)) = {EMPTY}"),
            format!("SHA256(a (1))= {EMPTY}"),
            format!("SHA2-256(a (1))= {EMPTY}"),
        ] {
            let line = parsed(&text).expect(&text);
            assert_eq!(line.algorithm, Algorithm::Sha256, "{text}");
            assert_eq!(line.digest.to_string(), EMPTY, "{text}");
            assert_eq!(line.path, Path::new("a (1)"), "{text}");
        }
    }

    #[test]
    fn the_length_tells_the_algorithm_unless_the_caller_does() {
        for (len, algorithm) in [
            (32, Algorithm::Md5),
            (40, Algorithm::Sha1),
            (64, Algorithm::Sha256),
            (96, Algorithm::Sha384),
            (128, Algorithm::Sha512),
        ] {
            let text = format!("{}  a", "0".repeat(len));
            assert_eq!(parsed(&text).unwrap().algorithm, algorithm);
        }
        let text = format!("{EMPTY}  a");
        let read = |algorithm| Line::parse(text.as_bytes(), Some(algorithm), Ending::Newline);
        assert_eq!(read(Algorithm::Blake3).unwrap().algorithm, Algorithm::Blake3);
        assert_eq!(read(Algorithm::Sha512), Err(LineFault::DigestLength));
        let tagged = format!("SHA256 (a) = {EMPTY}");
        let read = Line::parse(tagged.as_bytes(), Some(Algorithm::Md5), Ending::Newline);
        assert_eq!(read.unwrap().algorithm, Algorithm::Sha256);
    }

    #[test]
    fn faults_are_named_and_numbered() {
        for (text, fault) in [
            ("hello", LineFault::NoDigest),
            ("", LineFault::NoDigest),
            ("(a) = 00", LineFault::NoDigest),
            ("00  a", LineFault::DigestLength),
            ("SHA256 (a) = 00", LineFault::DigestLength),
            ("SHA256 (a) 00", LineFault::NoDigest),
            ("SHA256 (a", LineFault::NoDigest),
            ("SHA999 (a) = 00", LineFault::UnknownAlgorithm),
            (&format!("{EMPTY}  "), LineFault::NoName),
            (EMPTY, LineFault::NoName),
            (&format!("{EMPTY}  a\0b"), LineFault::NoName),
            (&format!("\\{EMPTY}  a\\tb"), LineFault::Escape),
            (&format!("\\{EMPTY}  a\\"), LineFault::Escape),
        ] {
            assert_eq!(parsed(text), Err(fault), "{text:?}");
        }
        let document = format!("# {EMPTY}  a\n\nhello\n{EMPTY}  b");
        let mut lines = Lines::new(document.as_bytes(), None, Ending::Newline);
        let error = lines.next().unwrap().unwrap().unwrap_err();
        assert_eq!(error.to_string(), "line 3: there is no digest");
        assert_eq!(lines.next().unwrap().unwrap().unwrap().path, Path::new("b"));
        assert!(lines.next().is_none());
    }

    #[test]
    fn an_endless_line_costs_no_memory() {
        let document = io::BufReader::new(io::Read::chain(
            io::Read::take(io::repeat(b'a'), 10 << 20),
            format!("\n{EMPTY}  b\n").leak().as_bytes(),
        ));
        let mut lines = Lines::new(document, None, Ending::Newline);
        let error = lines.next().unwrap().unwrap().unwrap_err();
        assert_eq!(error, LineError { number: 1, fault: LineFault::Overlong });
        assert!(lines.lines.capacity() <= 2 * LINE_LEN_MAX);
        assert!(lines.next().unwrap().unwrap().is_ok());
    }
}
