//! Published SHA-256 vectors, on every backend and lane count.
//!
//! Source: NIST, example values and additional examples for FIPS 180-4, and the CAVP SHA test
//! vectors (SHA256ShortMsg.rsp, SHA256Monte.rsp).

use steadfast_digest::{Digest, Lanes, Message, Sha256};

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

fn messages() -> Vec<(Vec<u8>, Digest)> {
    let texts = TEXTS.iter().map(|(text, hex)| (text.to_vec(), *hex));
    let repeated = REPEATED.iter().map(|(byte, count, hex)| (vec![*byte; *count], *hex));
    texts.chain(repeated).map(|(message, hex)| (message, hex.parse().unwrap())).collect()
}

#[test]
fn one_message_alone() {
    for backend in backends() {
        for (message, expected) in messages() {
            let mut hasher = Sha256::new(backend);
            hasher.update(&message);
            assert_eq!(hasher.finalize(), expected, "{backend}, {} bytes", message.len());
        }
    }
}

#[test]
fn all_messages_in_lanes() {
    for lanes in lane_setups() {
        let vectors = messages();
        let mut hashers = vec![Sha256::new(lanes.backend()); vectors.len()];
        let mut messages: Vec<Message<'_>> = hashers
            .iter_mut()
            .zip(&vectors)
            .map(|(hasher, (data, _))| Message { hasher, data, last: true })
            .collect();
        lanes.update(&mut messages);
        for (hasher, (message, expected)) in hashers.iter().zip(&vectors) {
            assert_eq!(hasher.digest(), *expected, "{lanes:?}, {} bytes", message.len());
        }
    }
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
