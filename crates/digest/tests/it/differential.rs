//! Every backend against the naive oracle, an independent crate and the system's tool.

use std::io::Write;
use std::process::{Command, Stdio};

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest, Sha256, Sha256Rules, sha256};

use crate::lanes::Tested as _;
use crate::{Random, SEAM_LENGTHS, backends, message, naive};

#[test]
fn seams_agree_with_the_oracle() {
    let whole = message(8_193, 1);
    for length in SEAM_LENGTHS {
        let data = &whole[..*length];
        let expected = Digest::from_slice(&naive::sha256(data)).unwrap();
        assert_eq!(sha256(data), expected, "best backend, {length} bytes");
        for backend in backends() {
            let mut hasher = Sha256::new(backend);
            hasher.update(data);
            assert_eq!(hasher.finalize(), expected, "{backend}, {length} bytes");
        }
    }
}

#[test]
fn every_split_in_two_equals_one_piece() {
    let data = message(200, 3);
    let expected = independent(&data);
    for backend in backends() {
        for split in 0..=data.len() {
            let mut hasher = Sha256::new(backend);
            hasher.update(&data[..split]);
            hasher.update(&data[split..]);
            assert_eq!(hasher.finalize(), expected, "{backend}, split at {split}");
        }
    }
}

#[test]
fn random_splits_equal_one_piece() {
    let mut random = Random::new(4);
    for backend in backends() {
        for _ in 0..200 {
            let len = random.below(5_000);
            let data = message(len, random.next());
            let mut hasher = Sha256::new(backend);
            let mut rest = &data[..];
            while !rest.is_empty() {
                let longest = [3, 65, 130, 1_000][random.below(4)];
                let (piece, later) = rest.split_at(random.below(longest).min(rest.len()));
                hasher.update(piece);
                rest = later;
            }
            assert_eq!(hasher.length(), data.len() as u64);
            assert_eq!(hasher.finalize(), independent(&data), "{backend}, {} bytes", data.len());
        }
    }
}

#[test]
fn the_digest_so_far_does_not_disturb_the_message() {
    let data = message(300, 5);
    for backend in backends() {
        let mut hasher = Sha256::new(backend);
        for (index, byte) in data.iter().enumerate() {
            assert_eq!(hasher.digest(), independent(&data[..index]), "{backend}, {index} bytes");
            hasher.update(&[*byte]);
        }
        assert_eq!(hasher.finalize(), independent(&data), "{backend}");
    }
}

#[test]
fn the_system_tool_agrees() {
    if steadfast_testing::program("openssl").is_none() {
        return;
    }
    for length in [0, 1, 64, 4_095, 4_096, 100_003] {
        let data = message(length, 6);
        let expected = openssl("-sha256", &data);
        for (algorithm, option) in [(Algorithm::Sha512, "-sha512"), (Algorithm::Md5, "-md5")] {
            let mut hasher = AlgorithmHasher::new(algorithm);
            hasher.update(&data);
            assert_eq!(hasher.finalize(), openssl(option, &data), "{option}");
        }
        for backend in backends() {
            let mut hasher = Sha256::new(backend);
            hasher.update(&data);
            assert_eq!(hasher.finalize(), expected, "{backend}, {length} bytes");
        }
    }
}

fn independent(data: &[u8]) -> Digest {
    Sha256Rules::independent(data)
}

fn openssl(option: &str, data: &[u8]) -> Digest {
    let mut tool = Command::new("openssl")
        .args(["dgst", option, "-binary"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    tool.stdin.take().unwrap().write_all(data).unwrap();
    Digest::from_slice(&tool.wait_with_output().unwrap().stdout).unwrap()
}
