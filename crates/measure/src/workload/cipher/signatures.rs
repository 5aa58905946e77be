//! Signs and verifies, with keys of this process.
//!
//! Each process generates its own key and signs a message of 32 bytes. Before timing, a signature
//! must verify, and must fail for another message.

use std::rc::Rc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    self, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RsaKeyPair, UnparsedPublicKey,
    VerificationAlgorithm,
};
use steadfast_sys::crypto::Dsa;

use super::primitives::{RepeatableWork, failed, pattern, refused};
use super::{dsa, vectors};
use crate::error::Error;
use crate::record::Stage;

/// Length of the signed message in bytes.
const MESSAGE_LEN: usize = 32;

/// Signs a message.
type Sign = Box<dyn Fn(&[u8]) -> Result<Vec<u8>, Error>>;

/// Returns whether a signature is that of a message.
type Verify = Box<dyn Fn(&[u8], &[u8]) -> bool>;

/// Prepares the work of an algorithm.
pub(super) fn prepare(algorithm: &str, stage: Stage) -> Result<Box<dyn RepeatableWork>, Error> {
    let (sign, verify) = match algorithm {
        "rsa-2048" => rsa()?,
        "ecdsa-p256" => ecdsa()?,
        "ed25519" => ed25519()?,
        _ => dsa(algorithm)?,
    };
    let message = pattern(MESSAGE_LEN);
    let signature = sign(&message)?;
    let mut other = message.clone();
    other[0] ^= 1;
    if !verify(&message, &signature) || verify(&other, &signature) {
        return Err(Error::wrong(format!("{algorithm} does not know its own signature")));
    }
    let verifies = match stage {
        Stage::Sign => false,
        Stage::Verify => true,
        _ => return Err(Error::usage(format!("`{algorithm}` signs and verifies, no more"))),
    };
    Ok(Box::new(Signing { sign, verify, message, signature, verifies }))
}

struct Signing {
    sign: Sign,
    verify: Verify,
    message: Vec<u8>,
    signature: Vec<u8>,
    verifies: bool,
}

impl RepeatableWork for Signing {
    fn repeat(&mut self, times: u64) -> Result<(), Error> {
        for _ in 0..times {
            if !self.verifies {
                self.signature = (self.sign)(&self.message)?;
            } else if !(self.verify)(&self.message, &self.signature) {
                return Err(Error::wrong("a good signature was found bad"));
            }
        }
        Ok(())
    }

    fn amount(&self) -> u64 {
        1
    }

    fn answer(&mut self) -> Result<Option<Vec<u8>>, Error> {
        match (self.verify)(&self.message, &self.signature) {
            true => Ok(None),
            false => Err(Error::wrong("a signature is not good")),
        }
    }
}

fn dsa(algorithm: &str) -> Result<(Sign, Verify), Error> {
    let bits = algorithm.strip_prefix("dsa-").and_then(|bits| bits.parse().ok());
    let parameters = bits.and_then(dsa::parameters);
    let parameters =
        parameters.ok_or_else(|| Error::usage(format!("no such signature `{algorithm}`")))?;
    let key = Rc::new(Dsa::generate(&parameters).map_err(failed)?);
    let public = Rc::clone(&key);
    Ok((
        Box::new(move |message| key.sign(message).map_err(failed)),
        Box::new(move |message, signature| public.verify(message, signature)),
    ))
}

fn rsa() -> Result<(Sign, Verify), Error> {
    let key = RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| refused("make an RSA key"))?;
    let public = public(&signature::RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref())?;
    let random = SystemRandom::new();
    let sign = move |message: &[u8]| {
        let mut signature = vec![0; key.public_modulus_len()];
        let signed = key.sign(&signature::RSA_PKCS1_SHA256, &random, message, &mut signature);
        signed.map(|()| signature).map_err(|_| refused("sign"))
    };
    Ok((Box::new(sign), public))
}

fn ecdsa() -> Result<(Sign, Verify), Error> {
    let key = EcdsaKeyPair::generate(&signature::ECDSA_P256_SHA256_ASN1_SIGNING)
        .map_err(|_| refused("make an ECDSA key"))?;
    let public = public(&signature::ECDSA_P256_SHA256_ASN1, key.public_key().as_ref())?;
    let random = SystemRandom::new();
    let sign = move |message: &[u8]| {
        let signature = key.sign(&random, message).map_err(|_| refused("sign"))?;
        Ok(signature.as_ref().to_vec())
    };
    Ok((Box::new(sign), public))
}

fn ed25519() -> Result<(Sign, Verify), Error> {
    let [seed, public_key, message, published] = vectors::ED25519.map(vectors::bytes);
    let key = Ed25519KeyPair::from_seed_and_public_key(&seed, &public_key)
        .map_err(|_| refused("read an Ed25519 key"))?;
    vectors::same("ed25519", key.sign(&message).as_ref(), &published)?;
    let public = public(&signature::ED25519, &public_key)?;
    Ok((Box::new(move |message| Ok(key.sign(message).as_ref().to_vec())), public))
}

/// Makes the check by a public key.
fn public(algorithm: &'static dyn VerificationAlgorithm, key: &[u8]) -> Result<Verify, Error> {
    let key = UnparsedPublicKey::new(algorithm, key).parse();
    let key = key.map_err(|_| refused("read a public key"))?;
    Ok(Box::new(move |message, signature| key.verify_sig(message, signature).is_ok()))
}
