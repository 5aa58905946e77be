//! Reads the local file for a digest that is not recorded.
//!
//! In: a path beneath a root, the record, the store's digest. Out: the digest that the store would
//! compute of the file, and whether the file is as recorded. Both come from one read, between two
//! checks of the file's times.

use std::path::Path;

use steadfast::{Reference, beneath};
use steadfast_digest::Digest;

use crate::algorithm::{ObjectAlgorithm, ObjectHasher};
use crate::listing::ObjectPart;
use crate::object::{Extent, ObjectDigest};
use crate::verdict::LocalFile;

/// Bytes of one read.
const BUFFER_LEN: usize = 256 << 10;

/// Parts that are listed if they differ.
const NAMED_MAX: usize = 8;

/// The result of a read.
#[derive(Debug)]
pub(crate) struct LocalReading {
    pub(crate) here: LocalFile,
    /// The parts that differ, if the store keeps their digests.
    pub(crate) parts: Option<String>,
}

/// Reads a file.
///
/// # Errors
/// If it cannot be read, with the reason as a fragment.
pub(crate) fn read(
    root: &Path,
    path: &Path,
    reference: &Reference,
    kept: &ObjectDigest,
    parts: &[ObjectPart],
) -> Result<LocalReading, String> {
    let (algorithm, recorded) = reference.digests.first().ok_or("nothing is recorded of it")?;
    let failed = |error: std::io::Error| format!("the file here cannot be read: {error}");
    let file = beneath::file(root, path).map_err(failed)?;
    let before = file.status().map_err(failed)?;
    if before.dataless {
        return Err("the file's contents are not on this machine".to_owned());
    }
    file.advise_sequential();
    let mut known = ObjectHasher::new(ObjectAlgorithm::Tag(*algorithm));
    let mut theirs = StoreHasher::new(kept, parts);
    let mut buffer = vec![0; BUFFER_LEN];
    let mut length = 0;
    loop {
        let len = file.read_at(&mut buffer, length).map_err(failed)?;
        if len == 0 {
            break;
        }
        known.update(&buffer[..len]);
        theirs.update(&buffer[..len]);
        length += len as u64;
    }
    let after = file.status().map_err(failed)?;
    if before != after || length != before.length {
        return Err("the file here changed while it was read".to_owned());
    }
    let as_known =
        known.finalize() == *recorded && reference.length.is_none_or(|recorded| recorded == length);
    let (digest, parts) = theirs.finalize();
    Ok(LocalReading { here: LocalFile { as_known, length, digest }, parts })
}

/// Computes the store's digest of the local file.
struct StoreHasher<'a> {
    algorithm: ObjectAlgorithm,
    hasher: ObjectHasher,
    composite: Option<CompositeHasher<'a>>,
}

struct CompositeHasher<'a> {
    parts: &'a [ObjectPart],
    /// The present part, and how many of its bytes are missing.
    at: usize,
    left: u64,
    digests: Vec<Digest>,
}

impl<'a> StoreHasher<'a> {
    fn new(kept: &ObjectDigest, parts: &'a [ObjectPart]) -> StoreHasher<'a> {
        let composite = matches!(kept.extent, Extent::Composite(_)).then(|| CompositeHasher {
            parts,
            at: 0,
            left: parts.first().map_or(0, |part| part.length),
            digests: Vec::with_capacity(parts.len()),
        });
        let hasher = ObjectHasher::new(kept.algorithm);
        StoreHasher { algorithm: kept.algorithm, hasher, composite }
    }

    fn update(&mut self, mut bytes: &[u8]) {
        let Some(composite) = &mut self.composite else { return self.hasher.update(bytes) };
        while !bytes.is_empty() && composite.at < composite.parts.len() {
            let len = usize::try_from(composite.left).map_or(bytes.len(), |l| l.min(bytes.len()));
            let (now, later) = bytes.split_at(len);
            self.hasher.update(now);
            composite.left -= len as u64;
            bytes = later;
            if composite.left == 0 {
                composite.turn(self.algorithm, &mut self.hasher);
            }
        }
    }

    fn finalize(mut self) -> (Digest, Option<String>) {
        let Some(mut composite) = self.composite else { return (self.hasher.finalize(), None) };
        // Ends the parts of a file that is too short, and empty parts.
        while composite.at < composite.parts.len() {
            composite.turn(self.algorithm, &mut self.hasher);
        }
        let mut whole = ObjectHasher::new(self.algorithm);
        for digest in &composite.digests {
            whole.update(digest.as_bytes());
        }
        (whole.finalize(), differing(composite.parts, &composite.digests))
    }
}

impl CompositeHasher<'_> {
    /// Ends a part and begins the next.
    fn turn(&mut self, algorithm: ObjectAlgorithm, hasher: &mut ObjectHasher) {
        let ended = std::mem::replace(hasher, ObjectHasher::new(algorithm));
        self.digests.push(ended.finalize());
        self.at += 1;
        self.left = self.parts.get(self.at).map_or(0, |part| part.length);
    }
}

/// Lists the parts that differ by their numbers from 1.
fn differing(parts: &[ObjectPart], digests: &[Digest]) -> Option<String> {
    if parts.iter().any(|part| part.digest.is_none()) {
        return None;
    }
    let pairs = parts.iter().zip(digests).enumerate();
    let other = pairs.filter(|(_, (part, digest))| part.digest != Some(**digest));
    let other: Vec<String> = other.map(|(at, _)| (at + 1).to_string()).collect();
    let (shown, all) = (other[..other.len().min(NAMED_MAX)].join(", "), parts.len());
    match other.len() {
        0 => None,
        1 => Some(format!("part {shown} of {all} differs")),
        len if len <= NAMED_MAX => Some(format!("parts {shown} of {all} differ")),
        len => Some(format!("{len} of {all} parts differ, the first are {shown}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_digest::Algorithm;

    #[test]
    fn a_composite_does_not_depend_on_how_the_file_is_read() {
        let bytes: Vec<u8> = (0..100_u8).collect();
        for name in ["SHA256", "CRC64NVME", "MD5"] {
            let algorithm = ObjectAlgorithm::named(name).unwrap();
            let lengths = [30_u64, 30, 30, 10];
            let digests: Vec<Digest> =
                bytes.chunks(30).map(|part| algorithm.digest(part)).collect();
            let joined: Vec<u8> = digests.iter().flat_map(|d| d.as_bytes().to_vec()).collect();
            let expected = algorithm.digest(&joined);
            let parts: Vec<ObjectPart> = lengths
                .iter()
                .zip(&digests)
                .map(|(&length, digest)| ObjectPart { length, digest: Some(*digest) })
                .collect();
            let kept = ObjectDigest {
                algorithm,
                extent: Extent::Composite(Some(4)),
                digest: expected,
                etag: false,
            };
            for step in [1, 7, 30, 31, 100] {
                let mut theirs = StoreHasher::new(&kept, &parts);
                bytes.chunks(step).for_each(|chunk| theirs.update(chunk));
                assert_eq!(theirs.finalize(), (expected, None), "{name} {step}");
            }
            let mut theirs = StoreHasher::new(&kept, &parts);
            let mut other = bytes.clone();
            other[35] ^= 1;
            other[99] ^= 1;
            theirs.update(&other);
            let (found, named) = theirs.finalize();
            assert_ne!(found, expected);
            assert_eq!(named.as_deref(), Some("parts 2, 4 of 4 differ"));
        }
    }

    #[test]
    fn an_empty_file_has_one_empty_part() {
        let algorithm = ObjectAlgorithm::Tag(Algorithm::Sha256);
        let parts = [ObjectPart { length: 0, digest: None }];
        let digest = algorithm.digest(algorithm.digest(b"").as_bytes());
        let kept =
            ObjectDigest { algorithm, extent: Extent::Composite(Some(1)), digest, etag: false };
        assert_eq!(StoreHasher::new(&kept, &parts).finalize(), (digest, None));
    }
}
