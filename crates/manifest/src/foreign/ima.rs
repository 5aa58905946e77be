//! `security.ima`: the value of the Linux kernel's integrity measurement architecture.
//!
//! Takes the value, and returns its digest or the reason why it has none.
//!
//! Source: Linux, `security/integrity/integrity.h` (`enum evm_ima_xattr_type`) and
//! `include/uapi/linux/hash_info.h` (`enum hash_algo`).

use steadfast_digest::{Algorithm, Digest};

use super::{FaultReason, ForeignKind, ForeignTag, text};

/// A digest without an algorithm: SHA-1, or MD5 by its length.
const DIGEST: u8 = 0x01;
/// A signature over the digest.
const DIGSIG: u8 = 0x03;
/// The number of an algorithm, followed by its digest.
const DIGEST_NG: u8 = 0x04;
/// A signature over the fs-verity digest.
const VERITY_DIGSIG: u8 = 0x06;

/// Reads the value.
///
/// # Errors
///
/// [`FaultReason::Signature`] if it is a signature; otherwise if it is not a valid digest.
pub fn parse_ima(value: &[u8]) -> Result<ForeignTag, FaultReason> {
    let value = text::present(value)?;
    let (algorithm, digest) = match *value {
        [DIGEST, ref digest @ ..] if digest.len() == Algorithm::Md5.digest_len() => {
            (Algorithm::Md5, digest)
        }
        [DIGEST, ref digest @ ..] => (Algorithm::Sha1, digest),
        [DIGEST_NG, number, ref digest @ ..] => (algorithm_of(number)?, digest),
        [DIGEST_NG] => return Err(FaultReason::NoDigest),
        [DIGSIG | VERITY_DIGSIG, ..] => return Err(FaultReason::Signature),
        [form, ..] => return Err(FaultReason::UnknownForm(form)),
        [] => return Err(FaultReason::Empty),
    };
    let expected = algorithm.digest_len();
    let digest = Digest::from_slice(digest).filter(|digest| digest.as_bytes().len() == expected);
    let found = value.len() - if value[0] == DIGEST { 1 } else { 2 };
    let digest = digest.ok_or(FaultReason::Length { expected, found })?;
    if digest.as_bytes().iter().all(|&byte| byte == 0) {
        return Err(FaultReason::Zeroed);
    }
    let kind = ForeignKind::Ima;
    Ok(ForeignTag { kind, algorithm, digest, mtime: None, length: None, tagged: None })
}

fn algorithm_of(number: u8) -> Result<Algorithm, FaultReason> {
    match number {
        1 => Ok(Algorithm::Md5),
        2 => Ok(Algorithm::Sha1),
        4 => Ok(Algorithm::Sha256),
        5 => Ok(Algorithm::Sha384),
        6 => Ok(Algorithm::Sha512),
        _ => Err(FaultReason::UnknownAlgorithm),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(head: &[u8], digest_len: usize) -> Vec<u8> {
        let digest: Vec<u8> = (1..=digest_len as u8).collect();
        [head, &digest].concat()
    }

    #[test]
    fn every_form_with_a_digest_is_read() {
        for (head, algorithm) in [
            (&[1][..], Algorithm::Sha1),
            (&[1], Algorithm::Md5),
            (&[4, 1], Algorithm::Md5),
            (&[4, 2], Algorithm::Sha1),
            (&[4, 4], Algorithm::Sha256),
            (&[4, 5], Algorithm::Sha384),
            (&[4, 6], Algorithm::Sha512),
        ] {
            let value = value(head, algorithm.digest_len());
            let tag = parse_ima(&value).unwrap();
            assert_eq!(tag.algorithm, algorithm);
            assert_eq!(tag.digest.as_bytes(), &value[head.len()..]);
            assert_eq!((tag.mtime, tag.length, tag.tagged), (None, None, None));
        }
    }

    #[test]
    fn faults_are_named() {
        let length = |expected, found| Err(FaultReason::Length { expected, found });
        assert_eq!(parse_ima(&value(&[4, 4], 31)), length(32, 31));
        assert_eq!(parse_ima(&value(&[4, 4], 33)), length(32, 33));
        assert_eq!(parse_ima(&value(&[4, 4], 0)), length(32, 0));
        assert_eq!(parse_ima(&value(&[4, 4], 200)), length(32, 200));
        assert_eq!(parse_ima(&value(&[1], 19)), length(20, 19));
        assert_eq!(parse_ima(&[4]), Err(FaultReason::NoDigest));
        assert_eq!(parse_ima(&[]), Err(FaultReason::Empty));
        assert_eq!(parse_ima(&[0; 34]), Err(FaultReason::Zeroed));
        assert_eq!(parse_ima(&[&[4, 4][..], &[0; 32]].concat()), Err(FaultReason::Zeroed));
        assert_eq!(parse_ima(&value(&[4, 7], 28)), Err(FaultReason::UnknownAlgorithm));
        assert_eq!(parse_ima(&value(&[9], 20)), Err(FaultReason::UnknownForm(9)));
        for signature in [&[3, 2, 4][..], &[6, 3, 4]] {
            assert_eq!(parse_ima(&value(signature, 100)), Err(FaultReason::Signature));
        }
    }
}
