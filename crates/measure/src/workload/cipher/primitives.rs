//! The ciphers of the crypto library, and what every piece of work with it has in common.

use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use steadfast_sys::crypto::{Aes, Mode};

use crate::error::Error;

/// Work that can be repeated.
pub(super) trait RepeatableWork {
    /// Repeats the work this many times.
    fn repeat(&mut self, times: u64) -> Result<(), Error>;

    /// Returns the amount of one repetition, in bytes or operations.
    fn amount(&self) -> u64;

    /// Checks the last result. Returns it if it must be the same in every process.
    fn answer(&mut self) -> Result<Option<Vec<u8>>, Error>;
}

/// Encrypts bytes, unit after unit.
pub(super) trait Encipher {
    /// Encrypts a unit into a slice that also has room for the tag. Unit 0 starts a new stream.
    fn encipher(&mut self, unit: u64, plain: &[u8], enciphered: &mut [u8]) -> Result<(), Error>;

    /// Returns by how many bytes a unit grows.
    fn tag_len(&self) -> usize;
}

/// AES in a mode that keeps the length.
pub(super) struct Blocks {
    aes: Aes,
    mode: Mode,
    iv: [u8; 16],
}

impl Blocks {
    pub(super) fn new(name: &str, key: &[u8], iv: [u8; 16]) -> Result<Blocks, Error> {
        let mode = match name.rsplit('-').next() {
            Some("xts") => Mode::Xts,
            Some("ctr") => Mode::Ctr,
            Some("cbc") => Mode::Cbc,
            _ => return Err(Error::usage(format!("no such cipher `{name}`"))),
        };
        Ok(Blocks { aes: Aes::new(mode, key).map_err(failed)?, mode, iv })
    }
}

impl Encipher for Blocks {
    fn encipher(&mut self, unit: u64, plain: &[u8], enciphered: &mut [u8]) -> Result<(), Error> {
        if self.mode == Mode::Xts {
            let mut tweak = [0; 16];
            tweak[..8].copy_from_slice(&unit.to_le_bytes());
            self.aes.restart(&tweak).map_err(failed)?;
        } else if unit == 0 {
            self.aes.restart(&self.iv).map_err(failed)?;
        }
        self.aes.encrypt(plain, enciphered).map_err(failed)
    }

    fn tag_len(&self) -> usize {
        0
    }
}

/// A cipher that also authenticates.
pub(super) struct Aead {
    key: LessSafeKey,
}

impl Aead {
    pub(super) fn new(name: &str, key: &[u8]) -> Result<Aead, Error> {
        let algorithm = match name {
            "aes-128-gcm" => &aead::AES_128_GCM,
            "aes-256-gcm" => &aead::AES_256_GCM,
            "chacha20-poly1305" => &aead::CHACHA20_POLY1305,
            _ => return Err(Error::usage(format!("no such cipher `{name}`"))),
        };
        let key = UnboundKey::new(algorithm, key).map_err(|_| refused("set a key"))?;
        Ok(Aead { key: LessSafeKey::new(key) })
    }

    pub(super) fn seal(
        &self,
        nonce: [u8; 12],
        data: &[u8],
        plain: &[u8],
        enciphered: &mut [u8],
    ) -> Result<(), Error> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let (enciphered, tag) = enciphered.split_at_mut(plain.len());
        self.key
            .seal_out_of_place_scatter(nonce, Aad::from(data), plain, enciphered, &[], tag)
            .map_err(|_| refused("encipher"))
    }
}

impl Encipher for Aead {
    fn encipher(&mut self, unit: u64, plain: &[u8], enciphered: &mut [u8]) -> Result<(), Error> {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&unit.to_le_bytes());
        self.seal(nonce, &[], plain, enciphered)
    }

    fn tag_len(&self) -> usize {
        self.key.algorithm().tag_len()
    }
}

/// Bytes that are the same in every process.
pub(super) fn pattern(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    crate::random::Random::new(len as u64).fill(&mut bytes);
    bytes
}

pub(super) fn failed(error: std::io::Error) -> Error {
    Error::system("go on", error)
}

pub(super) fn refused(doing: &str) -> Error {
    Error::wrong(format!("the crypto library could not {doing}"))
}
