//! Digests, names and errors as values.

use std::collections::HashSet;

use steadfast_digest::{
    Algorithm, Backend, Digest, ErrorKind, Lanes, Md5Lanes, PageDigest, Sha512Lanes,
};

use crate::message;

#[test]
fn parse_undoes_print() {
    for len in 1..=Digest::LEN_MAX {
        let digest = Digest::from_slice(&message(len, len as u64)).unwrap();
        assert_eq!(digest.as_bytes().len(), len);
        let text = digest.to_string();
        assert_eq!(text.parse(), Ok(digest));
        assert_eq!(text.to_uppercase().parse(), Ok(digest));
        assert!(!text.contains(|letter: char| letter.is_ascii_uppercase()));
    }
}

#[test]
fn what_is_no_digest_is_refused() {
    let kind = |text: &str| text.parse::<Digest>().unwrap_err().kind();
    assert_eq!(kind(""), ErrorKind::EmptyDigest);
    assert_eq!(kind("abc"), ErrorKind::OddDigestLength);
    assert_eq!(kind(&"00".repeat(65)), ErrorKind::DigestTooLong);
    assert_eq!(kind("00fg"), ErrorKind::NotHex { offset: 3 });
    assert_eq!(kind("+1"), ErrorKind::NotHex { offset: 0 });
    assert_eq!(kind("0é0"), ErrorKind::NotHex { offset: 1 });
    assert_eq!(Digest::from_slice(&[]), None);
    assert_eq!(Digest::from_slice(&[0; 65]), None);
}

#[test]
fn digests_are_ordered_by_bytes_and_differ_by_length() {
    let digest = |bytes: &[u8]| Digest::from_slice(bytes).unwrap();
    let ascending = [digest(&[0]), digest(&[0, 0]), digest(&[0, 1]), digest(&[1]), digest(&[2, 0])];
    assert!(ascending.is_sorted_by(|a, b| a < b));
    assert_eq!(HashSet::from(ascending).len(), ascending.len());
}

#[test]
fn debug_shows_hex() {
    assert_eq!(format!("{:?}", Digest::from_slice(&[0xab, 1]).unwrap()), "Digest(ab01)");
    let page = PageDigest::from_bytes([0x0f; 32]);
    assert_eq!(format!("{page:?}"), format!("PageDigest({})", "0f".repeat(32)));
}

#[test]
fn algorithm_names_parse_in_every_spelling() {
    for algorithm in Algorithm::ALL {
        assert_eq!(algorithm.name().parse(), Ok(*algorithm));
        assert_eq!(algorithm.name().to_uppercase().parse(), Ok(*algorithm));
    }
    for (text, algorithm) in [
        ("SHA-256", Algorithm::Sha256),
        ("SHA2-256", Algorithm::Sha256),
        ("sha_512", Algorithm::Sha512),
        ("SHA2-384", Algorithm::Sha384),
        ("BLAKE2b-512", Algorithm::Blake2b),
        ("xxh128", Algorithm::Xxh3_128),
        ("CRC-32C", Algorithm::Crc32c),
        ("CRC64NVME", Algorithm::Crc64Nvme),
        ("Fletcher-64", Algorithm::Fletcher64),
    ] {
        assert_eq!(text.parse(), Ok(algorithm), "{text}");
    }
    let message = "sha3".parse::<Algorithm>().unwrap_err().to_string();
    assert!(message.starts_with("no algorithm is named `sha3`"), "{message}");
    assert!(Algorithm::ALL.iter().all(|known| message.contains(known.name())), "{message}");
}

#[test]
fn backends_are_found_by_name_or_refused() {
    for backend in Backend::detected() {
        assert!(Backend::ALL_NAMES.contains(&backend.name()));
        assert_eq!(Backend::named(backend.name()), Ok(backend));
        assert_eq!(backend.lane_choices().first(), Some(&1));
        assert!(backend.lane_choices().is_sorted());
        assert!(backend.lanes_max() <= Backend::LANES_MAX);
    }
    assert_eq!(Backend::detected().next(), Some(Backend::detect()));
    let unknown = Backend::named("sse9").unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::UnknownBackend);
    assert!(unknown.to_string().contains("`sse9`"), "{unknown}");
    assert!(unknown.to_string().contains("portable"), "{unknown}");
    for name in Backend::ALL_NAMES {
        if !Backend::detected().any(|backend| backend.name() == *name) {
            let error = Backend::named(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BackendNotDetected);
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn lanes_and_their_refusal_say_what_they_are() {
    let portable = Backend::named("portable").unwrap();
    assert_eq!(
        Lanes::best(Backend::detect()).with_narrow(Lanes::best(portable), 2).backend_alone(),
        portable
    );
    let lanes = Lanes::best(portable);
    assert_eq!(lanes.to_string(), "portable x1");
    assert_eq!(lanes.with_narrow(lanes, 3).to_string(), "portable x1, portable x1 below 3");
    let refusal = Lanes::new(portable, 7).unwrap_err().to_string();
    assert_eq!(refusal, "backend `portable` does not offer 7 lanes, only [1]");
}

#[test]
fn the_widest_lanes_are_the_most_that_run_here() {
    let most_md5 = Backend::detected().map(|backend| Md5Lanes::best(backend).count()).max();
    assert_eq!(Some(Md5Lanes::widest().count()), most_md5);
    let most_sha512 = Backend::detected().map(|backend| Sha512Lanes::best(backend).count()).max();
    assert_eq!(Some(Sha512Lanes::widest().count()), most_sha512);
    let widest = [Md5Lanes::widest().to_string(), Sha512Lanes::widest().to_string()];
    match (Backend::named("x86_avx512"), Backend::named("x86_avx2")) {
        (Ok(_), _) => assert_eq!(widest, ["x86_avx512 x16", "x86_avx512 x8"]),
        (_, Ok(_)) => {
            assert_eq!(widest, ["x86_avx2 x16", "x86_avx2 x4, x86_avx2 x1 below 3"]);
        }
        _ => assert!(widest.iter().all(|lanes| lanes.ends_with(" x1")), "{widest:?}"),
    }
    let portable = Backend::named("portable").unwrap();
    let refusal = Md5Lanes::new(portable, 16).unwrap_err().to_string();
    assert_eq!(refusal, "backend `portable` does not offer 16 lanes, only [1]");
}
