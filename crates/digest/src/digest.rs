//! The result of hashing: hex, parsing, equality.
//!
//! Takes bytes or hex. Returns a `Digest` for whole messages, a `PageDigest` for pages. Must not
//! know how either was computed.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// The result of any algorithm for one whole message, 1 to 64 bytes.
///
/// Ordered by bytes, then by length. It does not include its algorithm.
#[derive(Clone, Copy)]
pub struct Digest {
    // Bytes from `len` on are always zero.
    bytes: [u8; Digest::LEN_MAX],
    len: u8,
}

impl Digest {
    /// Length of the longest digest, that of SHA-512 and BLAKE2b: 64 bytes.
    pub const LEN_MAX: usize = 64;

    /// Copies a digest from a slice; `None` unless it has 1 to 64 bytes.
    pub fn from_slice(slice: &[u8]) -> Option<Digest> {
        if slice.is_empty() {
            return None;
        }
        let mut bytes = [0; Digest::LEN_MAX];
        bytes.get_mut(..slice.len())?.copy_from_slice(slice);
        Some(Digest { bytes, len: slice.len() as u8 })
    }

    /// Makes a digest of a length known at compile time.
    pub(crate) fn from_array<const N: usize>(array: [u8; N]) -> Digest {
        const { assert!(N >= 1 && N <= Digest::LEN_MAX) };
        let mut bytes = [0; Digest::LEN_MAX];
        bytes[..N].copy_from_slice(&array);
        Digest { bytes, len: N as u8 }
    }

    /// Returns the bytes of the digest, 1 to 64 of them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Digest) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Digest {}

impl PartialOrd for Digest {
    fn partial_cmp(&self, other: &Digest) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Digest {
    fn cmp(&self, other: &Digest) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl std::hash::Hash for Digest {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        self.as_bytes().hash(hasher);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(self.as_bytes(), f)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Digest, Error> {
        let mut bytes = [0; Digest::LEN_MAX];
        let len = parse_hex(text, &mut bytes)?;
        Ok(Digest { bytes, len: len as u8 })
    }
}

/// The SHA-256 of one page of a message.
///
/// It is not a digest of the whole message, so it does not convert to a [`Digest`] implicitly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageDigest([u8; PageDigest::LEN]);

impl PageDigest {
    /// Length of a page digest: 32 bytes.
    pub const LEN: usize = 32;

    /// Wraps the bytes of a page digest that was stored elsewhere.
    pub const fn from_bytes(bytes: [u8; PageDigest::LEN]) -> PageDigest {
        PageDigest(bytes)
    }

    /// Returns the bytes of the page digest.
    pub const fn as_bytes(&self) -> &[u8; PageDigest::LEN] {
        &self.0
    }
}

impl fmt::Display for PageDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for PageDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageDigest({self})")
    }
}

/// Writes lower-case hex through the formatter, so that width and alignment apply.
fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0; 2 * Digest::LEN_MAX];
    for (pair, byte) in text.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    let text = str::from_utf8(&text[..2 * bytes.len()]).expect("hexadecimal digits are ASCII");
    f.pad(text)
}

/// Reads hex of either case into the front of `bytes`; returns how many bytes it filled.
fn parse_hex(text: &str, bytes: &mut [u8; Digest::LEN_MAX]) -> Result<usize, Error> {
    let (pairs, odd) = text.as_bytes().as_chunks::<2>();
    if text.is_empty() {
        return Err(Error::new(ErrorKind::EmptyDigest, "digest is empty"));
    }
    if !odd.is_empty() {
        let message = "digest has an odd number of hexadecimal digits";
        return Err(Error::new(ErrorKind::OddDigestLength, message));
    }
    if pairs.len() > bytes.len() {
        let message = format!("digest is longer than {} bytes", Digest::LEN_MAX);
        return Err(Error::new(ErrorKind::DigestTooLong, message));
    }
    for (index, (byte, [high, low])) in bytes.iter_mut().zip(pairs).enumerate() {
        let nibble = |digit: &u8, offset| {
            let value = char::from(*digit).to_digit(16);
            value.map(|value| value as u8).ok_or_else(|| {
                let message =
                    format!("digest has a character that is not hexadecimal at byte {offset}");
                Error::new(ErrorKind::NotHex { offset }, message)
            })
        };
        *byte = nibble(high, 2 * index)? << 4 | nibble(low, 2 * index + 1)?;
    }
    Ok(pairs.len())
}
