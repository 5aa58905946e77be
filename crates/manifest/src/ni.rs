//! Names of contents by RFC 6920: `ni:///sha-256;<base64url>` and the spoken form `nih:`.
//!
//! Converts between names and digests, and reads and writes lists of `<ni name>  <file>` with the
//! escapes of `sha256sum`; the standard does not define how to name files.
//!
//! Source: RFC 6920, sections 3, 4 and 7, and the IANA registry of hash names. Truncated digests
//! (`sha-256-128`) fit many contents and are refused.

use std::io::{BufRead, Write};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use steadfast_digest::{Algorithm, Digest};
use steadfast_time::names::NameBytes as _;

use crate::lines::{TextLine, line_records, skip_blanks};
use crate::sums::{digest_of, unescape, write_name};
use crate::write::{Put, chosen, wanted};
use crate::{Error, Fault, FaultKind, Record};

/// Names of algorithms that this program supports, as the registry spells them.
const NAMES: [(Algorithm, &str); 4] = [
    (Algorithm::Sha256, "sha-256"),
    (Algorithm::Sha384, "sha-384"),
    (Algorithm::Sha512, "sha-512"),
    (Algorithm::Blake2b, "blake2b-512"),
];

/// Returns the `ni` name of contents; `None` if the algorithm has no registered name.
pub fn name(algorithm: Algorithm, digest: &Digest) -> Option<String> {
    let (_, label) = NAMES.iter().find(|(known, _)| *known == algorithm)?;
    Some(format!("ni:///{label};{}", BASE64.encode(digest.as_bytes())))
}

/// Reads an `ni` or `nih` name, with or without an authority and parameters.
///
/// # Errors
///
/// A reason in words, if it is not such a name, or its algorithm is not supported.
pub fn parse(name: &str) -> Result<(Algorithm, Digest), &'static str> {
    let (scheme, rest) = name.split_once(':').ok_or("a name begins with `ni:` or `nih:`")?;
    let spoken = match scheme.to_ascii_lowercase().as_str() {
        "ni" => false,
        "nih" => true,
        _ => return Err("a name begins with `ni:` or `nih:`"),
    };
    let rest = match (spoken, rest.strip_prefix("//")) {
        (true, _) => rest,
        (false, Some(rest)) => rest.split_once('/').ok_or("the name has no algorithm")?.1,
        (false, None) => return Err("`ni:` is followed by `//`"),
    };
    let (label, value) = rest.split_once(';').ok_or("the name has no digest")?;
    let label = label.to_ascii_lowercase();
    let known = NAMES.iter().find(|(_, known)| *known == label);
    let algorithm = match known {
        Some((algorithm, _)) => *algorithm,
        // The number in the registry, which `nih` may use.
        None if spoken && label == "1" => Algorithm::Sha256,
        None if label.starts_with("sha-256-") => return Err("the digest was cut short"),
        None => return Err("the algorithm is not known"),
    };
    let digest = match spoken {
        true => parse_spoken(value, algorithm)?,
        false => {
            let value = value.split('?').next().unwrap_or_default();
            let bytes = BASE64.decode(value).map_err(|_| "the digest is not base64url")?;
            Digest::from_slice(&bytes).ok_or("the digest has the wrong length")?
        }
    };
    match digest.as_bytes().len() == algorithm.digest_len() {
        true => Ok((algorithm, digest)),
        false => Err("the digest has the wrong length"),
    }
}

/// Reads hexadecimal digits, grouped by `-` in any way, and after `;` a check digit.
fn parse_spoken(value: &str, algorithm: Algorithm) -> Result<Digest, &'static str> {
    let (hex, check) = value.split_once(';').unzip();
    let hex: String = hex.unwrap_or(value).chars().filter(|letter| *letter != '-').collect();
    if let Some(check) = check {
        let mut letters = check.chars();
        let digit = letters.next().and_then(|letter| letter.to_digit(16));
        let fits = digit.is_some() && digit == luhn_16(&hex) && letters.next().is_none();
        fits.then_some(()).ok_or("the check digit does not fit")?;
    }
    digest_of(hex.as_bytes(), algorithm).map_err(|_| "the digest has the wrong length")
}

/// The Luhn digit in base 16.
///
/// Source: RFC 6920, section 7, after ISO/IEC 7812.
fn luhn_16(hex: &str) -> Option<u32> {
    let mut sum = 0;
    for (index, letter) in hex.chars().rev().enumerate() {
        let digit = letter.to_digit(16)?;
        let addend = if index % 2 == 0 { 2 * digit } else { digit };
        sum += addend / 16 + addend % 16;
    }
    Some((16 - sum % 16) % 16)
}

/// Reads records line by line.
pub(crate) fn records<R: BufRead>(reader: R) -> impl Iterator<Item = Result<Record, Fault>> {
    line_records(reader, b'\n', |line| match line.bytes {
        [] | [b'#', ..] => Ok(None),
        _ => record(line).map(Some),
    })
}

fn record(text: TextLine<'_>) -> Result<Record, Fault> {
    let line = text.bytes;
    let (start, escaped) = if line.starts_with(b"\\") { (1, true) } else { (0, false) };
    let end = line[start..].iter().position(|byte| b" \t".contains(byte));
    let end = end.map_or(line.len(), |end| start + end);
    let name = str::from_utf8(&line[start..end]).map_err(|_| "the name is not ASCII");
    let (algorithm, digest) =
        name.and_then(parse).map_err(|what| text.fault(start + 1, FaultKind::Value, what))?;
    let path = match &line[end..] {
        [b' ' | b'\t', b' ' | b'*', path @ ..] => path,
        rest => skip_blanks(rest),
    };
    let at = line.len() - path.len();
    let path = match escaped {
        true => unescape(path).map_err(|within| {
            let what = "a backslash escapes nothing";
            text.fault(at + within + 1, FaultKind::Syntax, what)
        })?,
        false => path.to_vec(),
    };
    if path.is_empty() || path.contains(&0) {
        return Err(text.fault(at + 1, FaultKind::Value, "there is no file name"));
    }
    Ok(Record { digests: vec![(algorithm, digest)], ..Record::new(path) })
}

/// Writes a list, one line for each digest of a record that has a registered name.
pub(crate) struct NiLines {
    pub(crate) algorithm: Option<Algorithm>,
}

impl Put for NiLines {
    fn put(&mut self, record: &Record, out: &mut dyn Write) -> Result<(), Error> {
        chosen(record, self.algorithm)?;
        let digests = wanted(record, self.algorithm);
        let names: Vec<String> =
            digests.filter_map(|(known, digest)| name(known, &digest)).collect();
        if names.is_empty() {
            let why = "no digest has a name in RFC 6920's registry";
            return Err(Error::unwritable(&record.path, why));
        }
        let path = record.path.as_bytes();
        let escaped = path.iter().any(|byte| b"\\\n\r".contains(byte));
        for name in names {
            let mark = if escaped { "\\" } else { "" };
            write!(out, "{mark}{name}  ")?;
            write_name(path, escaped, out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello_world() -> Digest {
        "7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069".parse().unwrap()
    }

    /// RFC 6920, section 8: the names of `Hello World!`.
    #[test]
    fn the_examples_of_the_standard() {
        let plain = "ni:///sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk";
        assert_eq!(name(Algorithm::Sha256, &hello_world()).as_deref(), Some(plain));
        for text in [
            plain,
            "ni://example.com/sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk",
            "NI:///SHA-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk?ct=text/plain",
            "nih:sha-256;7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069",
            "nih:1;7f83b165-7ff1fc53-b92dc181-48a1d65d-fc2d4b1f-a3d67728-4addd200-126d9069",
        ] {
            assert_eq!(parse(text), Ok((Algorithm::Sha256, hello_world())), "{text}");
        }
    }

    /// RFC 6920, section 8.2: `nih:sha-256-120;5326-9057-e12f-e2b7-4ba0-7c89-2560-a2;f`.
    #[test]
    fn the_check_digit_of_the_standard() {
        assert_eq!(luhn_16("53269057e12fe2b74ba07c892560a2"), Some(0xf));
        let hex = hello_world().to_string();
        let check = luhn_16(&hex).unwrap();
        let spoken = |check| parse(&format!("nih:sha-256;{hex};{check:x}"));
        assert_eq!(spoken(check), Ok((Algorithm::Sha256, hello_world())));
        assert_eq!(spoken(check ^ 1), Err("the check digit does not fit"));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in [
            "",
            "ni",
            "ni:sha-256;AAAA",
            "ni:///sha-256",
            "ni:///sha-256;",
            "ni:///sha-256;AAAA",
            "ni:///sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk=",
            "ni:///sha-256-32;f4OxZQ",
            "ni:///rot13;AAAA",
            "nih:sha-256;7f83",
            "nih:sha-256;zz",
            "http:///sha-256;AAAA",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(name(Algorithm::Md5, &Digest::from_slice(&[0; 16]).unwrap()), None);
    }
}
