//! Published SHA-256, SHA-512 and MD5 vectors, on every backend and lane count.
//!
//! Source: NIST, example values and additional examples for FIPS 180-4, and the CAVP SHA test
//! vectors (SHA256ShortMsg.rsp, SHA256Monte.rsp); RFC 1321, appendix A.5.

use steadfast_digest::{Digest, Lanes, Md5Rules, Rules, Sha256, Sha256Rules, Sha512Rules};

use crate::lanes::digests;
use crate::{backends, lane_setups};

const TEXTS: &[(&[u8], &str)] = &[
    (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
        b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ),
    (
        b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr\
          lmnopqrsmnopqrstnopqrstu",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
    ),
    (b"\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"),
    (b"\x11\xaf", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"),
    (b"\xbd", "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"),
    (b"\xc9\x8c\x8e\x55", "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504"),
];

/// Byte, how often, digest: NIST's additional examples, at the padding seams and beyond.
const REPEATED: &[(u8, usize, &str)] = &[
    (0x00, 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"),
    (0x00, 56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"),
    (0x00, 57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"),
    (0x00, 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"),
    (0x00, 1_000, "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53"),
    (0x41, 1_000, "c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4"),
    (0x55, 1_005, "f4d62ddec0f3dd90ea1380fa16a5ff8dc4c54b21740650f24afc4120903552b0"),
    (b'a', 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    (0x00, 1_000_000, "d29751f2649b32ff572b5e0a9f541ea660a50f94ff0beedfb0b692b924cc8025"),
];

const SHA512_TEXTS: &[(&[u8], &str)] = &[
    (
        b"",
        "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
         47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
    ),
    (
        b"abc",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
    (
        b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr\
          lmnopqrsmnopqrstnopqrstu",
        "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
         501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
    ),
];

const SHA512_REPEATED: &[(u8, usize, &str)] = &[
    (
        0x00,
        111,
        "77ddd3a542e530fd047b8977c657ba6ce72f1492e360b2b2212cd264e75ec038\
         82e4ff0525517ab4207d14c70c2259ba88d4d335ee0e7e20543d22102ab1788c",
    ),
    (
        0x00,
        112,
        "2be2e788c8a8adeaa9c89a7f78904cacea6e39297d75e0573a73c756234534d6\
         627ab4156b48a6657b29ab8beb73334040ad39ead81446bb09c70704ec707952",
    ),
    (
        0x00,
        113,
        "0e67910bcf0f9ccde5464c63b9c850a12a759227d16b040d98986d54253f9f34\
         322318e56b8feb86c5fb2270ed87f31252f7f68493ee759743909bd75e4bb544",
    ),
    (
        0x55,
        1_005,
        "59f5e54fe299c6a8764c6b199e44924a37f59e2b56c3ebad939b7289210dc8e4\
         c21b9720165b0f4d4374c90f1bf4fb4a5ace17a1161798015052893a48c3d161",
    ),
    (
        b'a',
        1_000_000,
        "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb\
         de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b",
    ),
];

const MD5_TEXTS: &[(&[u8], &str)] = &[
    (b"", "d41d8cd98f00b204e9800998ecf8427e"),
    (b"a", "0cc175b9c0f1b6a831c399e269772661"),
    (b"abc", "900150983cd24fb0d6963f7d28e17f72"),
    (b"message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
    (b"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
    (
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "d174ab98d277d9f5a5611c2c9f419d9f",
    ),
    (
        b"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        "57edf4a22be3c955ac49da2e2107b67a",
    ),
];

type Texts = [(&'static [u8], &'static str)];
type Repeated = [(u8, usize, &'static str)];

/// Messages and their digests, side by side.
fn unzipped(texts: &Texts, repeated: &Repeated) -> (Vec<Vec<u8>>, Vec<Digest>) {
    let texts = texts.iter().map(|(text, hex)| (text.to_vec(), *hex));
    let repeated = repeated.iter().map(|(byte, count, hex)| (vec![*byte; *count], *hex));
    texts.chain(repeated).map(|(message, hex)| (message, hex.parse::<Digest>().unwrap())).unzip()
}

#[test]
fn one_message_alone() {
    for backend in backends() {
        let (messages, digests) = unzipped(TEXTS, REPEATED);
        for (message, expected) in messages.iter().zip(digests) {
            let mut hasher = Sha256::new(backend);
            hasher.update(message);
            assert_eq!(hasher.finalize(), expected, "{backend}, {} bytes", message.len());
        }
    }
}

#[test]
fn all_messages_in_lanes() {
    fn check<A: Rules>(texts: &Texts, repeated: &Repeated) {
        let (messages, expected) = unzipped(texts, repeated);
        for lanes in lane_setups::<A>() {
            assert_eq!(digests(lanes, &messages), expected, "{lanes:?}");
        }
    }
    check::<Sha256Rules>(TEXTS, REPEATED);
    check::<Sha512Rules>(SHA512_TEXTS, SHA512_REPEATED);
    check::<Md5Rules>(MD5_TEXTS, &[]);
}

/// CAVP's chain of hashes, each over the three before; a wrong bit anywhere never heals.
///
/// Source: seed and first two checkpoints of SHA256Monte.rsp.
#[test]
fn monte_carlo() {
    const SEED: &str = "6d1e72ad03ddeb5de891e572e2396f8da015d899ef0e79503152d6010a3fe691";
    const CHECKPOINTS: [&str; 2] = [
        "e93c330ae5447738c8aa85d71a6c80f2a58381d05872d26bdd39f1fcd4f2b788",
        "2e78f8c8772ea7c9331d41ed3f9cdf27d8f514a99342ee766ee3b8b0d0b121c0",
    ];
    for backend in backends() {
        let mut seed: Digest = SEED.parse().unwrap();
        for expected in CHECKPOINTS {
            let mut last_three = [seed; 3];
            for _ in 0..1_000 {
                let mut hasher = Sha256::new(backend);
                last_three.iter().for_each(|digest| hasher.update(digest.as_bytes()));
                last_three = [last_three[1], last_three[2], hasher.finalize()];
            }
            seed = last_three[2];
            assert_eq!(seed.to_string(), expected, "{backend}");
        }
    }
}

#[test]
fn a_lane_count_that_is_not_offered_is_refused() {
    for backend in backends() {
        for count in 0..=2 * backend.lanes_max() {
            let lanes = Lanes::new(backend, count);
            assert_eq!(
                lanes.is_ok(),
                backend.lane_choices().contains(&count),
                "{backend}, {count}"
            );
        }
    }
}
