//! Digests that a store keeps of objects which were uploaded in parts.

use std::num::NonZeroU64;

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};

/// A digest of an object that is not, or may not be, that of all its bytes: where the object has
/// parts, it is the digest of their digests, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartsDigest {
    /// The algorithm of the digest and of the parts' digests.
    pub algorithm: Algorithm,
    /// The digest.
    pub digest: Digest,
    /// How the object may be divided, at most [`Division::COUNT_MAX`].
    pub divisions: Vec<Division>,
    /// Whether the store stated the division, so that another digest proves other contents.
    pub is_stated: bool,
}

/// How an object is divided into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Division {
    /// It is not: the digest is that of its bytes.
    Undivided,
    /// All parts have this length in bytes, except the last, which may be shorter.
    Parts(NonZeroU64),
}

const MIB: u64 = 1 << 20;

/// Lengths of parts in MiB that tools use: the AWS tools and SDKs 5, 8 and 16, rclone 5, 64 and 96,
/// MinIO 16, s3cmd 15, s5cmd 50, others powers of two and round numbers.
const USUAL_MIB: [u64; 27] = [
    5, 6, 7, 8, 10, 12, 15, 16, 20, 25, 32, 50, 64, 96, 100, 128, 200, 250, 256, 500, 512, 1000,
    1024, 2048, 4096, 5000, 5120,
];

impl Division {
    /// How many divisions of one object are tried.
    pub const COUNT_MAX: usize = 8;

    /// Returns how an object of this length may be divided into so many parts: by a length that
    /// tools use, or by the least number of MiB with which that many parts hold the object.
    pub(crate) fn likely(length: u64, count: u64) -> Vec<Division> {
        let least = length.div_ceil(count.max(1)).max(1);
        if count == 1 {
            return Division::of_length(least).into_iter().collect();
        }
        let fits = |part: &u64| length.max(1).div_ceil(*part) == count;
        let mut lengths: Vec<u64> = USUAL_MIB.iter().map(|mib| mib * MIB).filter(fits).collect();
        lengths.extend(least.checked_next_multiple_of(MIB).filter(|part| fits(part)));
        lengths.sort_unstable();
        lengths.dedup();
        lengths.truncate(Division::COUNT_MAX);
        lengths.into_iter().filter_map(Division::of_length).collect()
    }

    /// Returns the division into parts of a length; `None` if that is 0.
    pub(crate) fn of_length(length: u64) -> Option<Division> {
        NonZeroU64::new(length).map(Division::Parts)
    }
}

/// Compares a file with a [`PartsDigest`] while it is read.
#[derive(Debug)]
pub struct PartsHasher {
    digest: Digest,
    is_stated: bool,
    tries: Vec<DivisionHasher>,
}

#[derive(Debug)]
struct DivisionHasher {
    algorithm: Algorithm,
    part: AlgorithmHasher,
    /// Bytes of the present part that are still to come, and the digest of the parts' digests.
    divided: Option<(u64, NonZeroU64, AlgorithmHasher)>,
}

impl PartsHasher {
    /// Begins a file.
    pub fn new(wanted: &PartsDigest) -> PartsHasher {
        let begin = || AlgorithmHasher::new(wanted.algorithm);
        let hasher = |division: &Division| DivisionHasher {
            algorithm: wanted.algorithm,
            part: begin(),
            divided: match division {
                Division::Undivided => None,
                Division::Parts(length) => Some((length.get(), *length, begin())),
            },
        };
        PartsHasher {
            digest: wanted.digest,
            is_stated: wanted.is_stated,
            tries: wanted.divisions.iter().map(hasher).collect(),
        }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, data: &[u8]) {
        self.tries.iter_mut().for_each(|hasher| hasher.update(data));
    }

    /// Ends the file. Returns whether it has the digest; `None` if it has not and the object may
    /// be divided in another way.
    pub fn finalize(self) -> Option<bool> {
        let is_same = self.tries.into_iter().any(|hasher| hasher.finalize() == self.digest);
        (is_same || self.is_stated).then_some(is_same)
    }
}

impl DivisionHasher {
    fn update(&mut self, mut data: &[u8]) {
        let Some((left, length, whole)) = &mut self.divided else { return self.part.update(data) };
        while !data.is_empty() {
            if *left == 0 {
                let ended = std::mem::replace(&mut self.part, AlgorithmHasher::new(self.algorithm));
                whole.update(ended.finalize().as_bytes());
                *left = length.get();
            }
            let len = usize::try_from(*left).map_or(data.len(), |left| left.min(data.len()));
            let (now, later) = data.split_at(len);
            self.part.update(now);
            *left -= len as u64;
            data = later;
        }
    }

    fn finalize(self) -> Digest {
        let part = self.part.finalize();
        let Some((.., mut whole)) = self.divided else { return part };
        whole.update(part.as_bytes());
        whole.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(algorithm: Algorithm, bytes: &[u8]) -> Digest {
        let mut hasher = AlgorithmHasher::new(algorithm);
        hasher.update(bytes);
        hasher.finalize()
    }

    #[test]
    fn a_digest_of_parts_does_not_depend_on_how_the_file_is_read() {
        let bytes: Vec<u8> = (0..100_u8).collect();
        let division = |length| Division::of_length(length).unwrap();
        for algorithm in [Algorithm::Md5, Algorithm::Sha256, Algorithm::Crc64Nvme] {
            for length in [1, 30, 50, 100, 200] {
                let parts = bytes.chunks(length).map(|part| digest(algorithm, part));
                let joined: Vec<u8> = parts.flat_map(|it| it.as_bytes().to_vec()).collect();
                let divisions = vec![Division::Undivided, division(40), division(length as u64)];
                let digest = digest(algorithm, &joined);
                let wanted = PartsDigest { algorithm, digest, divisions, is_stated: false };
                for step in [1, 7, 30, 100] {
                    let mut hasher = PartsHasher::new(&wanted);
                    bytes.chunks(step).for_each(|data| hasher.update(data));
                    assert_eq!(hasher.finalize(), Some(true), "{algorithm} {length} {step}");
                }
                let mut other = bytes.clone();
                other[35] ^= 1;
                for is_stated in [false, true] {
                    let mut hasher = PartsHasher::new(&PartsDigest { is_stated, ..wanted.clone() });
                    hasher.update(&other);
                    assert_eq!(hasher.finalize(), is_stated.then_some(false));
                }
            }
        }
        let digest = digest(Algorithm::Md5, digest(Algorithm::Md5, b"").as_bytes());
        let divisions = Division::likely(0, 1);
        let wanted = PartsDigest { algorithm: Algorithm::Md5, digest, divisions, is_stated: true };
        assert_eq!(PartsHasher::new(&wanted).finalize(), Some(true), "one empty part");
    }

    #[test]
    fn likely_divisions_make_that_many_parts() {
        let lengths = |length, count| -> Vec<u64> {
            let parts = Division::likely(length, count).into_iter();
            parts
                .map(|division| match division {
                    Division::Parts(length) => length.get(),
                    Division::Undivided => 0,
                })
                .collect()
        };
        assert_eq!(lengths(12 * MIB, 2), [6, 7, 8, 10].map(|mib| mib * MIB));
        assert_eq!(lengths(100 * MIB + 1, 13), [8 * MIB]);
        // rclone makes parts of 11 MiB of an object that would have more than 10,000 of 5 MiB.
        assert_eq!(lengths(104_000 * MIB, 9455), [11 * MIB]);
        assert_eq!(lengths(9, 1), [9]);
        assert_eq!(lengths(3, 7), []);
        assert_eq!(lengths(u64::MAX, 10_000).len(), 1, "the least that holds it");
    }
}
