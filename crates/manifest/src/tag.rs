//! The tag of one file, and its bytes.
//!
//! `docs/formats/tag.md` specifies the layout and is authoritative.

use std::fmt;

use steadfast_digest::{Algorithm, Digest};
use steadfast_time::Timestamp;

/// The version of the layout that [`Tag::encode`] writes.
pub const VERSION: u8 = 1;

/// Bytes of a value without its digest: 1 version, 1 algorithm, 8 length, 9 mtime, 5 when tagged, 4
/// check value.
const FRAME_LEN: usize = 28;

/// The longest value: with a digest of 64 bytes.
pub const VALUE_LEN_MAX: usize = FRAME_LEN + Digest::LEN_MAX;

/// The offset of the digest.
const DIGEST_START: usize = 24;

/// The record of a file's contents at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The algorithm of the digest.
    pub algorithm: Algorithm,
    /// The digest of all bytes of the file.
    pub digest: Digest,
    /// Length of the file in bytes.
    pub length: u64,
    /// When the contents were last modified according to the file system, to the nanosecond.
    pub mtime: Timestamp,
    /// When the tag was made, UTC, in whole seconds since 1970 (`nanoseconds` is 0).
    pub tagged: Timestamp,
}

/// The stored bytes of one tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TagValue {
    len: u8,
    bytes: [u8; VALUE_LEN_MAX],
}

impl TagValue {
    /// Returns the bytes to store.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Debug for TagValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TagValue({} bytes)", self.len)
    }
}

/// Why stored bytes are not a tag. Says nothing about the file's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// It has no bytes.
    #[error("the tag is empty")]
    Empty,
    /// Every byte is zero, as on storage that lost a block.
    #[error("the tag is all zeros")]
    Zeroed,
    /// Its layout is not known to this version.
    #[error("the tag has version {0}; this program knows version {VERSION}")]
    UnknownVersion(u8),
    /// Its algorithm number is not known to this version.
    #[error("the tag names algorithm number {0}, which this program lacks")]
    UnknownAlgorithm(u8),
    /// It is too short or too long.
    #[error("the tag has {found} bytes instead of {expected}")]
    Length {
        /// Length for the version and algorithm.
        expected: usize,
        /// Actual length.
        found: usize,
    },
    /// It is longer than any tag.
    #[error("the tag is longer than any tag can be")]
    TooLong,
    /// The check value does not match the other bytes: the tag itself is damaged.
    #[error("the tag is damaged: its check value does not fit")]
    CheckValue,
    /// The file has several tags, copied here in different ways, and they differ.
    #[error("the file has several tags, and they disagree")]
    Ambiguous,
}

impl Tag {
    /// Returns the bytes to store: 28 and the digest, so 60 for SHA-256.
    ///
    /// Times out of range are clamped: the mtime to 72 bits of nanoseconds (74,000 years before and
    /// after 1970), the time of tagging to 40 bits of seconds since 1970.
    pub fn encode(&self) -> TagValue {
        let digest = self.digest.as_bytes();
        let len = FRAME_LEN + digest.len();
        let mut bytes = [0; VALUE_LEN_MAX];
        bytes[0] = VERSION;
        bytes[1] = algorithm_number(self.algorithm);
        bytes[2..10].copy_from_slice(&self.length.to_le_bytes());
        bytes[10..19].copy_from_slice(&clamped_mtime(self.mtime).to_le_bytes()[..9]);
        let tagged = self.tagged.seconds.clamp(0, (1 << 40) - 1);
        bytes[19..24].copy_from_slice(&tagged.to_le_bytes()[..5]);
        bytes[DIGEST_START..len - 4].copy_from_slice(digest);
        let check = check_value(&bytes[..len - 4]);
        bytes[len - 4..len].copy_from_slice(&check.to_le_bytes());
        TagValue { len: len as u8, bytes }
    }

    /// Reads a stored value.
    ///
    /// # Errors
    ///
    /// If the bytes are not a complete, undamaged tag of a known version and algorithm.
    pub fn decode(value: &[u8]) -> Result<Tag, TagError> {
        let (&version, _) = value.split_first().ok_or(TagError::Empty)?;
        if value.iter().all(|&byte| byte == 0) {
            return Err(TagError::Zeroed);
        }
        if version != VERSION {
            return Err(TagError::UnknownVersion(version));
        }
        if value.len() <= FRAME_LEN || value.len() > VALUE_LEN_MAX {
            let expected = FRAME_LEN + Algorithm::Sha256.digest_len();
            return Err(TagError::Length { expected, found: value.len() });
        }
        let (body, check) = value.split_at(value.len() - 4);
        if check != check_value(body).to_le_bytes() {
            return Err(TagError::CheckValue);
        }
        let algorithm = algorithm_of(body[1]).ok_or(TagError::UnknownAlgorithm(body[1]))?;
        let digest = &body[DIGEST_START..];
        if digest.len() != algorithm.digest_len() {
            let expected = FRAME_LEN + algorithm.digest_len();
            return Err(TagError::Length { expected, found: value.len() });
        }
        Ok(Tag {
            algorithm,
            digest: Digest::from_slice(digest).expect("1 to 64 bytes, by the check above"),
            length: u64::from_le_bytes(widened(&body[2..10], 0)),
            mtime: Timestamp::from_nanoseconds(mtime_of(&body[10..19])),
            tagged: Timestamp {
                seconds: i64::from_le_bytes(widened(&body[19..24], 0)),
                nanoseconds: 0,
            },
        })
    }

    /// Returns whether both tags are of the same contents: algorithm, digest and length.
    pub fn same_contents(&self, other: &Tag) -> bool {
        self.algorithm == other.algorithm
            && self.digest == other.digest
            && self.length == other.length
    }
}

/// CRC-32C of the value up to the check value itself.
fn check_value(body: &[u8]) -> u32 {
    crc32c::crc32c(body)
}

/// Returns the number of an algorithm in a stored tag. Numbers are never reused.
pub fn algorithm_number(algorithm: Algorithm) -> u8 {
    match algorithm {
        Algorithm::Sha256 => 1,
        Algorithm::Sha512 => 2,
        Algorithm::Sha384 => 3,
        Algorithm::Sha1 => 4,
        Algorithm::Md5 => 5,
        Algorithm::Blake2b => 6,
        Algorithm::Blake3 => 7,
        Algorithm::Xxh3_128 => 8,
        Algorithm::Crc32c => 9,
        Algorithm::Fletcher64 => 10,
        Algorithm::Crc32 => 11,
        Algorithm::Xxh64 => 12,
        Algorithm::Xxh3_64 => 13,
        Algorithm::Crc64Nvme => 14,
    }
}

/// Returns the algorithm of a number, if it is known.
pub fn algorithm_of(number: u8) -> Option<Algorithm> {
    Algorithm::ALL.iter().copied().find(|&algorithm| algorithm_number(algorithm) == number)
}

fn clamped_mtime(mtime: Timestamp) -> i128 {
    mtime.as_nanoseconds().clamp(-(1 << 71), (1 << 71) - 1)
}

/// Nine little-endian bytes, two's complement.
fn mtime_of(bytes: &[u8]) -> i128 {
    let sign = if bytes[8] & 0x80 == 0 { 0 } else { 0xff };
    i128::from_le_bytes(widened(bytes, sign))
}

fn widened<const N: usize>(bytes: &[u8], fill: u8) -> [u8; N] {
    let mut wide = [fill; N];
    wide[..bytes.len()].copy_from_slice(bytes);
    wide
}

/// The place of the tag by which a file was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum TagPlace {
    /// In the file's attribute. Also if no tag was found.
    Attribute,
    /// In the catalogue, because the file has lost its attribute.
    Catalogue,
    /// In the catalogue, because the file's attribute is damaged.
    Damaged,
    /// In the catalogue, because the file system has no attributes.
    CatalogueAlone,
    /// In the catalogue, because the file takes no attribute now, or took none when its tag was
    /// made: it was not writable, or on a full or read-only volume.
    Refused,
}

impl TagPlace {
    /// Returns whether the file should have the attribute, but has lost it or has a damaged one.
    pub fn is_loss(self) -> bool {
        matches!(self, TagPlace::Catalogue | TagPlace::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(algorithm: Algorithm) -> Tag {
        let bytes: Vec<u8> = (1..=64).collect();
        Tag {
            algorithm,
            digest: Digest::from_slice(&bytes[..algorithm.digest_len()]).unwrap(),
            length: 0x0123_4567_89ab_cdef,
            mtime: Timestamp { seconds: 1_704_164_645, nanoseconds: 123_456_789 },
            tagged: Timestamp { seconds: 1_763_650_000, nanoseconds: 0 },
        }
    }

    #[test]
    fn a_sha256_tag_is_sixty_bytes_and_every_tag_reads_back() {
        assert_eq!(sample(Algorithm::Sha256).encode().as_bytes().len(), 60);
        for &algorithm in Algorithm::ALL {
            let tag = sample(algorithm);
            assert_eq!(Tag::decode(tag.encode().as_bytes()), Ok(tag));
        }
    }

    #[test]
    fn times_before_1970_and_far_ahead_read_back() {
        for seconds in [-1, -2_000_000_000, 15_032_385_535, 2_000_000_000_000, 0] {
            for nanoseconds in [0, 1, 999_999_999] {
                let mut tag = sample(Algorithm::Sha256);
                tag.mtime = Timestamp { seconds, nanoseconds };
                assert_eq!(Tag::decode(tag.encode().as_bytes()).unwrap().mtime, tag.mtime);
            }
        }
    }

    #[test]
    fn times_out_of_range_are_clamped() {
        let mut tag = sample(Algorithm::Sha256);
        for (seconds, mtime, tagged) in
            [(i64::MAX, (1_i128 << 71) - 1, (1_i64 << 40) - 1), (i64::MIN, -(1_i128 << 71), 0)]
        {
            (tag.mtime.seconds, tag.mtime.nanoseconds) = (seconds, 0);
            tag.tagged.seconds = seconds;
            let decoded = Tag::decode(tag.encode().as_bytes()).unwrap();
            assert_eq!(decoded.mtime, Timestamp::from_nanoseconds(mtime));
            assert_eq!(decoded.tagged, Timestamp { seconds: tagged, nanoseconds: 0 });
        }
    }

    #[test]
    fn a_wrong_length_is_named_with_the_right_one() {
        let value = sample(Algorithm::Sha256).encode();
        let cut = Tag::decode(&value.as_bytes()[..FRAME_LEN]);
        assert_eq!(cut, Err(TagError::Length { expected: 60, found: FRAME_LEN }));
        let long = Tag::decode(&[VERSION; VALUE_LEN_MAX + 1]);
        assert_eq!(long, Err(TagError::Length { expected: 60, found: VALUE_LEN_MAX + 1 }));
        // A digest of 32 bytes under the number of an algorithm with digests of 64 bytes.
        let mut other = value.as_bytes().to_vec();
        other[1] = algorithm_number(Algorithm::Sha512);
        let check = check_value(&other[..56]).to_le_bytes();
        other[56..].copy_from_slice(&check);
        assert_eq!(Tag::decode(&other), Err(TagError::Length { expected: 92, found: 60 }));
        assert_eq!(format!("{value:?}"), "TagValue(60 bytes)");
    }

    #[test]
    fn any_flipped_bit_makes_a_tag_unreadable() {
        let value = sample(Algorithm::Sha256).encode();
        for bit in 0..60 * 8 {
            let mut damaged = value.as_bytes().to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Tag::decode(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn what_is_not_a_tag_is_named() {
        assert_eq!(Tag::decode(&[]), Err(TagError::Empty));
        assert_eq!(Tag::decode(&[0; 60]), Err(TagError::Zeroed));
        assert_eq!(Tag::decode(&[9; 60]), Err(TagError::UnknownVersion(9)));
        let value = sample(Algorithm::Sha256).encode();
        for len in 1..60 {
            assert!(Tag::decode(&value.as_bytes()[..len]).is_err(), "cut to {len}");
        }
        let mut unknown = value.as_bytes().to_vec();
        unknown[1] = 200;
        let check = check_value(&unknown[..56]).to_le_bytes();
        unknown[56..].copy_from_slice(&check);
        assert_eq!(Tag::decode(&unknown), Err(TagError::UnknownAlgorithm(200)));
    }
}
