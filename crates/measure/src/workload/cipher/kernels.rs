//! The kernels of the crypto library: ciphers, digests, signatures.
//!
//! Lists the instructions that each can use, so that a gain is attributed to the right ones: DSA
//! and RSA multiply and do not use AES instructions.

use aws_lc_rs::digest;

use super::primitives::{Aead, Blocks, Encipher, RepeatableWork, pattern};
use super::{signatures, vectors};
use crate::error::Error;
use crate::record::Stage;

/// Algorithms that encrypt bytes.
pub const CIPHERS: [&str; 8] = [
    "aes-256-xts",
    "aes-128-gcm",
    "aes-256-gcm",
    "aes-128-ctr",
    "aes-256-ctr",
    "aes-128-cbc",
    "aes-256-cbc",
    "chacha20-poly1305",
];

/// Digests.
pub const DIGESTS: [&str; 4] = ["sha1", "sha256", "sha384", "sha512"];

/// Algorithms that sign and verify.
pub const SIGNATURES: [&str; 6] =
    ["rsa-2048", "dsa-512", "dsa-1024", "dsa-2048", "ecdsa-p256", "ed25519"];

/// Algorithms that are not available, and why.
pub const REFUSED: [(&str, &str); 1] =
    [("aes-128-xts", "the crypto library has XTS with keys of 256 bits only")];

/// Instructions that an algorithm profits from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Those for AES.
    pub aes: bool,
    /// Carry-less multiplication.
    pub carry_less: bool,
    /// Those for SHA.
    pub sha: bool,
}

/// Returns which instructions an algorithm uses on this processor.
///
/// x86 has instructions for SHA-1 and SHA-256. If a word of capabilities has three bits for SHA,
/// the third is that of SHA-512.
pub fn uses(algorithm: &str) -> Uses {
    let long_sha = steadfast_sys::crypto::WORDS.sha.len() > 1;
    Uses {
        aes: algorithm.starts_with("aes-"),
        carry_less: algorithm.ends_with("-gcm"),
        sha: match algorithm {
            "sha1" | "sha256" => true,
            "sha384" | "sha512" => long_sha,
            _ => false,
        },
    }
}

/// A measurement of one operation of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CipherKernel {
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// The operation.
    pub stage: Stage,
}

impl CipherKernel {
    /// Returns every kernel, in the order of display.
    pub fn all() -> Vec<CipherKernel> {
        let of = |names: &'static [&'static str], stage| {
            names.iter().map(move |&algorithm| CipherKernel { algorithm, stage })
        };
        let signatures = SIGNATURES.into_iter().flat_map(|algorithm| {
            [Stage::Sign, Stage::Verify].map(|stage| CipherKernel { algorithm, stage })
        });
        of(&CIPHERS, Stage::Encrypt).chain(of(&DIGESTS, Stage::Hash)).chain(signatures).collect()
    }

    /// Finds every kernel of an algorithm.
    ///
    /// # Errors
    ///
    /// If there is no algorithm of that name, or it is not available. The message has the reason.
    pub fn named(algorithm: &str) -> Result<Vec<CipherKernel>, Error> {
        if let Some((_, why)) = REFUSED.iter().find(|refused| refused.0 == algorithm) {
            return Err(Error::usage(format!("{algorithm}: {why}")));
        }
        let kernels: Vec<CipherKernel> = CipherKernel::all()
            .into_iter()
            .filter(|kernel| kernel.algorithm == algorithm)
            .collect();
        match kernels.is_empty() {
            false => Ok(kernels),
            true => {
                let names: Vec<&str> =
                    CIPHERS.into_iter().chain(DIGESTS).chain(SIGNATURES).collect();
                let message = format!("no such algorithm `{algorithm}`: {}", names.join(", "));
                Err(Error::usage(message))
            }
        }
    }

    /// Prepares the work, after checking that its results are correct.
    ///
    /// # Errors
    ///
    /// If a result is wrong, or the library refuses the operation.
    pub(super) fn prepare(self, buffer_len: usize) -> Result<Box<dyn RepeatableWork>, Error> {
        match self.stage {
            Stage::Encrypt => {
                let cipher = cipher(self.algorithm)?;
                let enciphered = vec![0; buffer_len + cipher.tag_len()];
                Ok(Box::new(Enciphering { cipher, plain: pattern(buffer_len), enciphered }))
            }
            Stage::Hash => {
                let algorithm = digest_of(self.algorithm)?;
                let digest = |bytes: &[u8]| digest::digest(algorithm, bytes).as_ref().to_vec();
                vectors::check_digest(self.algorithm, digest)?;
                Ok(Box::new(Hashing { algorithm, plain: pattern(buffer_len), digest: None }))
            }
            stage => signatures::prepare(self.algorithm, stage),
        }
    }
}

/// Makes a cipher under a fixed key, after checking it against its vector.
pub(super) fn cipher(name: &str) -> Result<Box<dyn Encipher>, Error> {
    vectors::check_cipher(name)?;
    let key_len = match name {
        "aes-256-xts" => 64,
        name if name.contains("-128-") => 16,
        _ => 32,
    };
    let key = pattern(key_len);
    if name.ends_with("-gcm") || name.starts_with("chacha") {
        return Ok(Box::new(Aead::new(name, &key)?));
    }
    Ok(Box::new(Blocks::new(name, &key, [7; 16])?))
}

struct Enciphering {
    cipher: Box<dyn Encipher>,
    plain: Vec<u8>,
    enciphered: Vec<u8>,
}

impl RepeatableWork for Enciphering {
    fn repeat(&mut self, times: u64) -> Result<(), Error> {
        for _ in 0..times {
            self.cipher.encipher(0, &self.plain, &mut self.enciphered)?;
        }
        Ok(())
    }

    fn amount(&self) -> u64 {
        self.plain.len() as u64
    }

    fn answer(&mut self) -> Result<Option<Vec<u8>>, Error> {
        Ok(Some(steadfast_digest::sha256(&self.enciphered).as_bytes().to_vec()))
    }
}

struct Hashing {
    algorithm: &'static digest::Algorithm,
    plain: Vec<u8>,
    digest: Option<digest::Digest>,
}

impl RepeatableWork for Hashing {
    fn repeat(&mut self, times: u64) -> Result<(), Error> {
        for _ in 0..times {
            self.digest = Some(digest::digest(self.algorithm, &self.plain));
        }
        Ok(())
    }

    fn amount(&self) -> u64 {
        self.plain.len() as u64
    }

    fn answer(&mut self) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.digest.map(|digest| digest.as_ref().to_vec()))
    }
}

fn digest_of(name: &str) -> Result<&'static digest::Algorithm, Error> {
    match name {
        "sha1" => Ok(&digest::SHA1_FOR_LEGACY_USE_ONLY),
        "sha256" => Ok(&digest::SHA256),
        "sha384" => Ok(&digest::SHA384),
        "sha512" => Ok(&digest::SHA512),
        _ => Err(Error::usage(format!("no such digest `{name}`"))),
    }
}
