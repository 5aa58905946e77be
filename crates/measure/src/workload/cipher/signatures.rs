//! Signs and verifies, with keys of this process.
//!
//! Each process generates its own key and signs a message of 32 bytes. Before timing, a signature
//! must verify, and must fail for another message.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, ParsedPublicKey, RsaKeyPair,
    UnparsedPublicKey, VerificationAlgorithm,
};
use steadfast_sys::crypto::Dsa;

use super::primitives::{RepeatableWork, failed, pattern, refused};
use super::{dsa, vectors};
use crate::error::Error;
use crate::record::Stage;

/// Length of the signed message in bytes.
const MESSAGE_LEN: usize = 32;

/// A private key with its public key.
trait SigningKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error>;
    fn verify(&self, message: &[u8], signature: &[u8]) -> bool;
}

/// Prepares the work of an algorithm.
pub(super) fn prepare(algorithm: &str, stage: Stage) -> Result<Box<dyn RepeatableWork>, Error> {
    let key: Box<dyn SigningKey> = match algorithm {
        "rsa-2048" => Box::new(rsa()?),
        "ecdsa-p256" => Box::new(ecdsa()?),
        "ed25519" => Box::new(ed25519()?),
        _ => {
            let bits = algorithm.strip_prefix("dsa-").and_then(|bits| bits.parse().ok());
            let parameters = bits.and_then(dsa::parameters);
            let parameters = parameters
                .ok_or_else(|| Error::usage(format!("no such signature `{algorithm}`")))?;
            Box::new(Dsa::generate(&parameters).map_err(failed)?)
        }
    };
    let message = pattern(MESSAGE_LEN);
    let signature = key.sign(&message)?;
    let mut other = message.clone();
    other[0] ^= 1;
    if !key.verify(&message, &signature) || key.verify(&other, &signature) {
        return Err(Error::wrong(format!("{algorithm} does not know its own signature")));
    }
    let verifies = match stage {
        Stage::Sign => false,
        Stage::Verify => true,
        _ => return Err(Error::usage(format!("`{algorithm}` signs and verifies, no more"))),
    };
    Ok(Box::new(Signing { key, message, signature, verifies }))
}

struct Signing {
    key: Box<dyn SigningKey>,
    message: Vec<u8>,
    signature: Vec<u8>,
    verifies: bool,
}

impl RepeatableWork for Signing {
    fn repeat(&mut self, times: u64) -> Result<(), Error> {
        for _ in 0..times {
            if !self.verifies {
                self.signature = self.key.sign(&self.message)?;
            } else if !self.key.verify(&self.message, &self.signature) {
                return Err(Error::wrong("a good signature was found bad"));
            }
        }
        Ok(())
    }

    fn amount(&self) -> u64 {
        1
    }

    fn answer(&mut self) -> Result<Option<Vec<u8>>, Error> {
        match self.key.verify(&self.message, &self.signature) {
            true => Ok(None),
            false => Err(Error::wrong("a signature is not good")),
        }
    }
}

impl SigningKey for Dsa {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Dsa::sign(self, message).map_err(failed)
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        Dsa::verify(self, message, signature)
    }
}

struct Rsa {
    key: RsaKeyPair,
    public: ParsedPublicKey,
    random: SystemRandom,
}

fn rsa() -> Result<Rsa, Error> {
    let key = RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| refused("make an RSA key"))?;
    let public = public(&signature::RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref())?;
    Ok(Rsa { key, public, random: SystemRandom::new() })
}

impl SigningKey for Rsa {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let mut signature = vec![0; self.key.public_modulus_len()];
        self.key
            .sign(&signature::RSA_PKCS1_SHA256, &self.random, message, &mut signature)
            .map_err(|_| refused("sign"))?;
        Ok(signature)
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.public.verify_sig(message, signature).is_ok()
    }
}

struct Ecdsa {
    key: EcdsaKeyPair,
    public: ParsedPublicKey,
    random: SystemRandom,
}

fn ecdsa() -> Result<Ecdsa, Error> {
    let key = EcdsaKeyPair::generate(&signature::ECDSA_P256_SHA256_ASN1_SIGNING)
        .map_err(|_| refused("make an ECDSA key"))?;
    let public = public(&signature::ECDSA_P256_SHA256_ASN1, key.public_key().as_ref())?;
    Ok(Ecdsa { key, public, random: SystemRandom::new() })
}

impl SigningKey for Ecdsa {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signature = self.key.sign(&self.random, message).map_err(|_| refused("sign"))?;
        Ok(signature.as_ref().to_vec())
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.public.verify_sig(message, signature).is_ok()
    }
}

struct Ed25519 {
    key: Ed25519KeyPair,
    public: ParsedPublicKey,
}

fn ed25519() -> Result<Ed25519, Error> {
    let [seed, public_key, message, published] = vectors::ED25519.map(vectors::bytes);
    let key = Ed25519KeyPair::from_seed_and_public_key(&seed, &public_key)
        .map_err(|_| refused("read an Ed25519 key"))?;
    vectors::same("ed25519", key.sign(&message).as_ref(), &published)?;
    let public = public(&signature::ED25519, &public_key)?;
    Ok(Ed25519 { key, public })
}

impl SigningKey for Ed25519 {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(self.key.sign(message).as_ref().to_vec())
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.public.verify_sig(message, signature).is_ok()
    }
}

fn public(
    algorithm: &'static dyn VerificationAlgorithm,
    key: &[u8],
) -> Result<ParsedPublicKey, Error> {
    UnparsedPublicKey::new(algorithm, key).parse().map_err(|_| refused("read a public key"))
}
