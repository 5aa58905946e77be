//! Published digests. Every kernel must reproduce them before it is timed.

use steadfast::Algorithm;

use super::kernel::HashKernel;
use crate::error::Error;

/// Algorithm, message, digest.
///
/// Sources, in order: examples to FIPS 180-4; RFC 1321, appendix A.5; RFC 7693, appendix A; the
/// reference tools of BLAKE3 and xxHash; the check values of the CRC catalogue; Fletcher's sum of
/// 32-bit words as commonly published.
pub(in crate::workload) const ANSWERS: &[(Algorithm, &[u8], &str)] = &[
    (Algorithm::Sha256, b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        Algorithm::Sha256,
        b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
    (
        Algorithm::Sha512,
        b"abc",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
    (
        Algorithm::Sha384,
        b"abc",
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
         8086072ba1e7cc2358baeca134c825a7",
    ),
    (Algorithm::Sha1, b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
    (Algorithm::Md5, b"message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    (
        Algorithm::Blake2b,
        b"abc",
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
         7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
    ),
    (Algorithm::Blake3, b"abc", "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
    (Algorithm::Xxh3_128, b"abc", "06b05ab6733a618578af5f94892f3950"),
    (Algorithm::Xxh64, b"abc", "44bc2cf5ad770999"),
    (Algorithm::Xxh3_64, b"abc", "78af5f94892f3950"),
    (Algorithm::Crc32c, b"123456789", "e3069283"),
    (Algorithm::Crc32, b"123456789", "cbf43926"),
    (Algorithm::Crc64Nvme, b"123456789", "ae8b14860a799888"),
    (Algorithm::Fletcher64, b"abcdefgh", "312e2b28cccac8c6"),
];

/// Length of the pieces in bytes: shorter than a block, so messages arrive in several pieces.
const PIECE_LEN_BYTES: usize = 5;

/// Checks a kernel against published digests, the same message in every lane, whole and in pieces.
///
/// # Errors
/// [`crate::ErrorKind::Wrong`] if it gives another digest, or none is published here.
pub(super) fn check(kernel: HashKernel) -> Result<(), Error> {
    let mut checked = 0;
    for (_, message, digest) in ANSWERS.iter().filter(|row| row.0 == kernel.algorithm()) {
        for piece_len in [PIECE_LEN_BYTES, message.len()] {
            let found = kernel.digests(&vec![*message; kernel.lanes()], piece_len);
            if found.iter().any(|found| found.to_string() != *digest) {
                let text = format!("{kernel}: not the published digest; nothing is measured");
                return Err(Error::wrong(text));
            }
        }
        checked += 1;
    }
    match checked {
        0 => Err(Error::wrong(format!("{kernel}: no digest to check it by"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_this_machine_gives_the_published_digests() {
        let kernels = HashKernel::all();
        for kernel in &kernels {
            check(*kernel).unwrap();
        }
        for algorithm in Algorithm::ALL {
            assert!(kernels.iter().any(|kernel| kernel.algorithm() == *algorithm), "{algorithm}");
        }
    }
}
