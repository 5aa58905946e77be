//! The metadata of one object: its length, and the digests that the store keeps.
//!
//! In: the headers of a response. Out: an [`Object`]. Distinguishes a digest of the whole object
//! from a composite, which is a digest of the digests of its parts.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steadfast::Timestamp;
use steadfast_digest::{Algorithm, Digest};

use crate::algorithm::ObjectAlgorithm;

/// What a digest covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All bytes of the object.
    Whole,
    /// The concatenated digests of its parts; and their number, if known.
    Composite(Option<u32>),
    /// One of the two, as the store did not say which. If it equals a digest of the whole object,
    /// the object is intact. If it differs, that proves nothing.
    Unknown,
}

/// A digest that a store keeps of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectDigest {
    /// The algorithm.
    pub algorithm: ObjectAlgorithm,
    /// What it covers.
    pub extent: Extent,
    /// The digest.
    pub digest: Digest,
    /// Whether it is the object's ETag, interpreted as an MD5.
    pub etag: bool,
}

impl fmt::Display for ObjectDigest {
    /// Describes it without its value: "CRC-64/NVME composite of 12 parts".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.algorithm)?;
        match self.extent {
            Extent::Whole => {}
            Extent::Composite(None) => f.write_str(" composite of its parts")?,
            Extent::Composite(Some(1)) => f.write_str(" composite of 1 part")?,
            Extent::Composite(Some(parts)) => write!(f, " composite of {parts} parts")?,
            Extent::Unknown => f.write_str(" of the whole object or of its parts")?,
        }
        if self.etag { f.write_str(", its ETag") } else { Ok(()) }
    }
}

/// The metadata of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// The length in bytes. `None` if a report does not state it.
    pub length: Option<u64>,
    /// The digests: those of the whole object first, and then the strongest first.
    pub digests: Vec<ObjectDigest>,
    /// The store's names of algorithms that this program does not know.
    pub unknown: Vec<String>,
    /// The version, if the store keeps several.
    pub version: Option<String>,
    /// The modification time of the uploaded file, if the uploader stored it as metadata.
    pub mtime: Option<Timestamp>,
    /// Whether its ETag is that of a multipart upload.
    pub multipart: bool,
}

/// The prefix of headers with digests. The algorithm's name follows.
const DIGEST_HEADER: &str = "x-amz-checksum-";

impl Object {
    /// Reads the headers of a response, whose names are in lower case. `etag_is_md5` is false for
    /// stores whose ETags are never MD5s: see `docs/reference/objects.md`.
    pub(crate) fn of_head(headers: &[(&str, &str)], etag_is_md5: bool) -> Object {
        let get = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        let extent = get("x-amz-checksum-type").map_or(Extent::Unknown, extent_named);
        let etag = get("etag");
        let mut object = Object {
            length: get("content-length").and_then(|length| length.parse().ok()),
            version: get("x-amz-version-id").filter(|v| *v != "null").map(str::to_owned),
            mtime: get("x-amz-meta-mtime").and_then(moment),
            multipart: etag.is_some_and(is_multipart),
            ..Object::default()
        };
        for (name, value) in headers {
            let Some(name) = name.strip_prefix(DIGEST_HEADER).filter(|name| *name != "type") else {
                continue;
            };
            object.add_digest(name, value, extent);
        }
        let encryption = get("x-amz-server-side-encryption");
        let own_key = get("x-amz-server-side-encryption-customer-algorithm").is_some();
        let clear = !own_key && encryption.is_none_or(|how| how == "AES256");
        if let Some(digest) = etag.filter(|_| etag_is_md5 && clear).and_then(of_etag) {
            object.digests.push(digest);
        }
        object.sort();
        object
    }

    /// Adds a digest in base64, given the store's name of its algorithm and the stated extent. A
    /// value that ends in a number of parts is always a composite.
    pub(crate) fn add_digest(&mut self, name: &str, value: &str, stated: Extent) {
        let Some(algorithm) = ObjectAlgorithm::named(name) else {
            self.unknown.push(name.to_ascii_uppercase());
            return;
        };
        let (value, parts) = match value.rsplit_once('-') {
            Some((value, parts)) => (value, parts.parse::<u32>().ok()),
            None => (value, None),
        };
        let bytes = STANDARD.decode(value).ok().filter(|b| b.len() == algorithm.digest_len());
        let Some(digest) = bytes.and_then(|bytes| Digest::from_slice(&bytes)) else {
            self.unknown.push(name.to_ascii_uppercase());
            return;
        };
        let extent = match (stated, parts) {
            (stated, None) => stated,
            (_, parts) => Extent::Composite(parts),
        };
        self.digests.push(ObjectDigest { algorithm, extent, digest, etag: false });
    }

    /// Returns whether the store did not say what a digest covers.
    pub(crate) fn has_unknown_extent(&self) -> bool {
        self.digests.iter().any(|kept| kept.extent == Extent::Unknown)
    }

    /// Sets the extent of the digests whose extent was unknown.
    pub(crate) fn settle(&mut self, extent: Extent) {
        for kept in self.digests.iter_mut().filter(|kept| kept.extent == Extent::Unknown) {
            kept.extent = extent;
        }
        self.sort();
    }

    /// Sorts the digests into the order in which they are compared.
    pub(crate) fn sort(&mut self) {
        let place = |of: &ObjectDigest| ObjectAlgorithm::all().position(|one| one == of.algorithm);
        let extent = |of: &ObjectDigest| match of.extent {
            Extent::Whole => 0,
            Extent::Unknown => 1,
            Extent::Composite(_) => 2,
        };
        self.digests.sort_by_key(|digest| (extent(digest), digest.etag, place(digest)));
    }
}

/// Returns the extent of a store's checksum type.
pub(crate) fn extent_named(word: &str) -> Extent {
    match word {
        "FULL_OBJECT" => Extent::Whole,
        "COMPOSITE" => Extent::Composite(None),
        _ => Extent::Unknown,
    }
}

/// Returns whether an ETag ends in `-N`, as after a multipart upload.
fn is_multipart(etag: &str) -> bool {
    let parts = etag.trim_matches('"').rsplit_once('-').map(|(_, parts)| parts);
    parts.is_some_and(|parts| parts.parse::<u32>().is_ok())
}

/// Interprets an ETag as an MD5 of the object, or of the MD5s of its parts.
pub(crate) fn of_etag(etag: &str) -> Option<ObjectDigest> {
    let etag = etag.trim_matches('"');
    let (hex, extent) = match etag.split_once('-') {
        Some((hex, parts)) => (hex, Extent::Composite(Some(parts.parse().ok()?))),
        None => (etag, Extent::Whole),
    };
    let digest: Digest = hex.parse().ok()?;
    let algorithm = ObjectAlgorithm::Tag(Algorithm::Md5);
    let fits = digest.as_bytes().len() == algorithm.digest_len();
    fits.then_some(ObjectDigest { algorithm, extent, digest, etag: true })
}

/// Parses seconds since 1970 with a fraction, as `rclone` stores them.
fn moment(text: &str) -> Option<Timestamp> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    if seconds.is_empty() || !digits(seconds) || !digits(fraction) {
        return None;
    }
    let fraction: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    Some(Timestamp { seconds: seconds.parse().ok()?, nanoseconds: fraction.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &[(&str, &str)]) -> Object {
        Object::of_head(headers, true)
    }

    #[test]
    fn whole_and_composite_are_told_apart() {
        let object = head(&[
            ("content-length", "9"),
            ("x-amz-checksum-crc64nvme", "rosUhgp5mIg="),
            ("x-amz-checksum-type", "FULL_OBJECT"),
            ("x-amz-version-id", "null"),
        ]);
        let [digest] = object.digests[..] else { panic!("{object:?}") };
        assert_eq!((digest.extent, digest.algorithm), (Extent::Whole, ObjectAlgorithm::Crc64Nvme));
        assert_eq!(digest.digest.to_string(), "ae8b14860a799888");
        assert_eq!((object.length, object.version), (Some(9), None));
        let suffixed = head(&[("x-amz-checksum-crc32", "y/Q5Jg==-3")]);
        assert_eq!(suffixed.digests[0].extent, Extent::Composite(Some(3)));
        assert_eq!(suffixed.digests[0].to_string(), "CRC-32 composite of 3 parts");
        let typed =
            head(&[("x-amz-checksum-crc32", "y/Q5Jg=="), ("x-amz-checksum-type", "COMPOSITE")]);
        assert_eq!(typed.digests[0].extent, Extent::Composite(None));
        let untyped = head(&[("x-amz-checksum-crc32", "y/Q5Jg=="), ("etag", "\"abc-12\"")]);
        assert_eq!(untyped.digests[0].extent, Extent::Unknown);
        assert!(untyped.multipart && !typed.multipart);
    }

    #[test]
    fn what_attributes_settle_is_tried_in_its_new_place() {
        let mut object = head(&[
            ("x-amz-checksum-sha256", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
            ("etag", "\"25f9e794323b453885f5181f1b624d0b\""),
        ]);
        assert!(object.has_unknown_extent());
        assert!(object.digests[0].etag, "{object:?}");
        object.settle(Extent::Whole);
        assert!(!object.has_unknown_extent() && !object.digests[0].etag, "{object:?}");
    }

    #[test]
    fn what_is_not_known_or_not_sound_is_no_digest() {
        let object = head(&[
            ("x-amz-checksum-xxhash3", "AAAA"),
            ("x-amz-checksum-sha256", "y/Q5Jg=="),
            ("x-amz-checksum-crc32", "!"),
        ]);
        assert!(object.digests.is_empty());
        assert_eq!(object.unknown, ["XXHASH3", "SHA256", "CRC32"]);
    }

    #[test]
    fn an_etag_is_an_md5_unless_a_key_of_somebodys_is_in_it() {
        let etag = ("etag", "\"25f9e794323b453885f5181f1b624d0b\"");
        for clear in [&[etag][..], &[etag, ("x-amz-server-side-encryption", "AES256")]] {
            let object = head(clear);
            assert!(object.digests[0].etag && object.digests[0].extent == Extent::Whole);
        }
        for other in [
            &[etag, ("x-amz-server-side-encryption", "aws:kms")][..],
            &[etag, ("x-amz-server-side-encryption-customer-algorithm", "AES256")],
            &[("etag", "\"abc\"")],
        ] {
            assert!(head(other).digests.is_empty());
        }
        assert!(Object::of_head(&[etag], false).digests.is_empty());
        let parts = head(&[("etag", "\"25f9e794323b453885f5181f1b624d0b-7\"")]);
        assert_eq!(parts.digests[0].extent, Extent::Composite(Some(7)));
    }

    #[test]
    fn moments_of_uploads() {
        let at = |seconds, nanoseconds| Some(Timestamp { seconds, nanoseconds });
        assert_eq!(moment("1354644692.442"), at(1_354_644_692, 442_000_000));
        assert_eq!(moment("1354644692"), at(1_354_644_692, 0));
        for text in ["", "-1", "1e9", "1.x", "99999999999999999999"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
