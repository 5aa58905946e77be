//! Computes what a full check would read and hash, without doing it.
//!
//! A check reads each byte once and hashes it once for each kind of digest.

use steadfast_digest::Algorithm;

use crate::binary::{Binary, MachSlice};
use crate::hash::HashType;
use crate::signature::Signature;

/// The amount of work of a full check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyCost {
    /// Bytes of headers and signatures, read before anything else.
    pub metadata_bytes: u64,
    /// Bytes of code and of sealed files, read once.
    pub read_bytes: u64,
    /// Pages and files to hash, counted once for each digest.
    pub digests: u64,
    /// Bytes to be hashed, for each algorithm.
    hashed: Vec<(Algorithm, u64)>,
}

impl VerifyCost {
    /// Adds up the slices of a file.
    pub fn of(binary: &Binary) -> VerifyCost {
        let mut cost =
            VerifyCost { metadata_bytes: binary.index_len_bytes(), ..VerifyCost::default() };
        for slice in &binary.slices {
            cost.add_slice(slice);
        }
        cost
    }

    fn add_slice(&mut self, slice: &MachSlice) {
        if let Some(macho) = &slice.macho {
            self.metadata_bytes += macho.commands_len_bytes;
        }
        if let Some(signature) = &slice.signature {
            self.add_signature(signature, slice.len_bytes);
        }
    }

    /// Adds the bytes that one signature seals, of a part of this length.
    pub fn add_signature(&mut self, signature: &Signature, part_len_bytes: u64) {
        self.metadata_bytes += signature.superblob.bytes().len() as u64;
        let mut seen: Vec<(Algorithm, Option<u64>, u64)> = Vec::new();
        let mut read_bytes = 0;
        for directory in signature.directories().iter().filter(|found| found.scatter().is_empty()) {
            let limit = directory.code_limit().min(part_len_bytes);
            read_bytes = limit.max(read_bytes);
            let algorithm = directory.hash_type().algorithm();
            let alike = (algorithm, directory.page_len(), limit);
            if !seen.contains(&alike) {
                seen.push(alike);
                self.digests += directory.page_count_expected();
                self.add_hashed(algorithm, limit);
            }
        }
        self.read_bytes += read_bytes;
    }

    /// Adds a sealed file, with the hash types it is sealed by.
    pub fn add_file(&mut self, len_bytes: u64, hashes: &[HashType]) {
        self.read_bytes += len_bytes;
        for (index, hash) in hashes.iter().enumerate() {
            let algorithm = hash.algorithm();
            if !hashes[..index].iter().any(|earlier| earlier.algorithm() == algorithm) {
                self.digests += 1;
                self.add_hashed(algorithm, len_bytes);
            }
        }
    }

    /// Adds another cost.
    pub fn add(&mut self, other: &VerifyCost) {
        self.metadata_bytes += other.metadata_bytes;
        self.read_bytes += other.read_bytes;
        self.digests += other.digests;
        for (algorithm, bytes) in &other.hashed {
            self.add_hashed(*algorithm, *bytes);
        }
    }

    /// Returns the bytes to be hashed, for each algorithm.
    pub fn hashed(&self) -> &[(Algorithm, u64)] {
        &self.hashed
    }

    fn add_hashed(&mut self, algorithm: Algorithm, bytes: u64) {
        match self.hashed.iter_mut().find(|(known, _)| *known == algorithm) {
            Some((_, sum)) => *sum += bytes,
            None => self.hashed.push((algorithm, bytes)),
        }
    }
}
