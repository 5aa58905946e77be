//! Published vectors for every algorithm, and streaming against one piece.

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};

use crate::{Random, message};

/// Algorithm, message, digest.
///
/// Sources, in order: FIPS 180-4 examples (SHA-2, SHA-1); RFC 1321 A.5 (MD5); RFC 7693 appendix A
/// (BLAKE2b); the BLAKE3 and xxHash reference tools; RFC 3720 B.4 and the CRC catalogue's check
/// values (CRC-32C, CRC-32, CRC-64/NVME); Wikipedia's article on Fletcher's sums.
const VECTORS: &[(Algorithm, &[u8], &str)] = &[
    (Algorithm::Sha256, b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
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
    (Algorithm::Blake3, b"", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
    (Algorithm::Blake3, b"abc", "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
    (Algorithm::Xxh3_128, b"", "99aa06d3014798d86001c324468d497f"),
    (Algorithm::Xxh3_128, b"abc", "06b05ab6733a618578af5f94892f3950"),
    (Algorithm::Xxh64, b"", "ef46db3751d8e999"),
    (Algorithm::Xxh64, b"abc", "44bc2cf5ad770999"),
    (Algorithm::Xxh3_64, b"", "2d06800538d394c2"),
    (Algorithm::Xxh3_64, b"abc", "78af5f94892f3950"),
    (Algorithm::Crc32c, b"123456789", "e3069283"),
    (Algorithm::Crc32c, &[0; 32], "8a9136aa"),
    (Algorithm::Crc32c, &[0xff; 32], "62a8ab43"),
    (Algorithm::Crc32, b"123456789", "cbf43926"),
    (Algorithm::Crc32, b"", "00000000"),
    (Algorithm::Crc64Nvme, b"123456789", "ae8b14860a799888"),
    (Algorithm::Fletcher64, b"abcde", "c8c6c527646362c6"),
    (Algorithm::Fletcher64, b"abcdef", "c8c72b276463c8c6"),
    (Algorithm::Fletcher64, b"abcdefgh", "312e2b28cccac8c6"),
];

fn digest(algorithm: Algorithm, data: &[u8]) -> Digest {
    let mut hasher = AlgorithmHasher::new(algorithm);
    assert_eq!(hasher.algorithm(), algorithm);
    hasher.update(data);
    hasher.finalize()
}

#[test]
fn published_vectors() {
    for (algorithm, data, expected) in VECTORS {
        assert_eq!(digest(*algorithm, data).to_string(), *expected, "{algorithm}");
    }
    for algorithm in Algorithm::ALL {
        assert!(VECTORS.iter().any(|(covered, ..)| covered == algorithm), "{algorithm}");
    }
}

#[test]
fn digests_have_the_promised_length() {
    for algorithm in Algorithm::ALL {
        let found = digest(*algorithm, b"").as_bytes().len();
        assert_eq!(found, algorithm.digest_len(), "{algorithm}");
    }
}

#[test]
fn random_splits_equal_one_piece() {
    let mut random = Random::new(15);
    for algorithm in Algorithm::ALL {
        for _ in 0..50 {
            let data = message(random.below(10_000), random.next());
            let mut hasher = AlgorithmHasher::new(*algorithm);
            let mut rest = &data[..];
            while !rest.is_empty() {
                let longest = [3, 9, 300, 4_000][random.below(4)];
                let (piece, later) = rest.split_at(random.below(longest).min(rest.len()));
                hasher.update(piece);
                rest = later;
            }
            assert_eq!(hasher.finalize(), digest(*algorithm, &data), "{algorithm}");
        }
    }
}

/// The deferred reduction must come before the sums overflow, even with large words.
#[test]
fn fletcher64_reduces_in_time() {
    let data = [0xfe; 4 * 200_000];
    let (mut low, mut high) = (0_u128, 0_u128);
    for word in data.chunks(4) {
        low = (low + u128::from(u32::from_le_bytes(word.try_into().unwrap()))) % 0xffff_ffff;
        high = (high + low) % 0xffff_ffff;
    }
    let expected = ((high << 32 | low) as u64).to_be_bytes();
    assert_eq!(digest(Algorithm::Fletcher64, &data).as_bytes(), expected);
}
