//! Frozen samples, damaged at random: whatever the bytes, a parser returns, and what it accepts is
//! within its bounds. The damage is the same in every run.

use std::fs;

use steadfast_digest::Algorithm;
use steadfast_manifest::appledouble::{AppleDouble, HEAD_LEN_MAX, is_appledouble};
use steadfast_manifest::foreign::{
    ForeignTag, UnraidScan, of_attributes, parse_dintch, parse_ima, parse_shatag, parse_unraid,
};

use crate::foreign_samples::{folder, samples};

/// Damaged variants of each parser's samples, together.
const MUTATIONS: usize = 20_000;

/// Bytes that mean something to one of the parsers.
const TELLING: &[u8] = b"\0\x01\x02\x03\x04\x06\x7f\x80\xff09afAF.-+ :#TZ\n";

/// Numbers that look random and are the same in every run: xorshift64, fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn byte(&mut self) -> u8 {
        match self.below(2) {
            0 => TELLING[self.below(TELLING.len())],
            _ => self.below(256) as u8,
        }
    }

    /// Damages bytes in one to four places: changed, cut, doubled, put in, made extreme.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, self.byte()),
                2 => {
                    let end = at + self.below(bytes.len() - at + 1);
                    let doubled = bytes[at..end].to_vec();
                    bytes.splice(at..at, doubled);
                }
                3 => {
                    let extreme = [0, 0xff, 0x7f, 0x80][self.below(4)];
                    let end = bytes.len().min(at + 4);
                    bytes[at..end].fill(extreme);
                }
                4 => drop(bytes.drain(at..(at + self.below(8)).min(bytes.len()))),
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = self.byte();
                    }
                }
            }
            bytes.truncate(4096);
        }
    }
}

fn check(tag: &ForeignTag) {
    assert_eq!(tag.digest.as_bytes().len(), tag.algorithm.digest_len());
    assert!(tag.digest.as_bytes().iter().any(|&byte| byte != 0), "all zeros is no digest");
}

/// The values of all samples whose names end so.
fn values(ending: &str) -> Vec<Vec<u8>> {
    let samples = samples();
    let attributes = samples.into_iter().flat_map(|sample| sample.attributes);
    let values: Vec<Vec<u8>> =
        attributes.filter(|(name, _)| name.ends_with(ending)).map(|(_, value)| value).collect();
    assert!(!values.is_empty(), "no sample of {ending}");
    values
}

/// Feeds damaged values to a parser; some must be refused and some accepted for this to show much.
fn feed(seed: u64, values: &[Vec<u8>], mut parse: impl FnMut(&mut Random, &[u8]) -> bool) {
    let mut random = Random(seed);
    let mut accepted = 0;
    for _ in 0..MUTATIONS {
        let mut value = values[random.below(values.len())].clone();
        random.damage(&mut value);
        accepted += usize::from(parse(&mut random, &value));
    }
    assert!((1..MUTATIONS).contains(&accepted), "{accepted} of {MUTATIONS} accepted");
}

#[test]
fn shatag() {
    let (digests, times) = (values(".shatag.sha256"), values(".shatag.ts"));
    feed(1, &digests, |random, digest| {
        let time = &times[random.below(times.len())];
        parse_shatag(Some(digest), Some(time)).inspect(check).is_ok()
    });
    feed(2, &times, |random, time| {
        let digest = &digests[random.below(digests.len())];
        parse_shatag(Some(digest), Some(time)).inspect(check).is_ok()
    });
}

#[test]
fn unraid() {
    let digests =
        [values(".sha256"), values(".md5"), values(".blake2"), values(".blake3")].concat();
    let numbers = [values(".filedate"), values(".filesize"), values(".scandate")].concat();
    let algorithms = [Algorithm::Sha256, Algorithm::Md5, Algorithm::Blake2b, Algorithm::Blake3];
    feed(3, &digests, |random, digest| {
        let algorithm = algorithms[random.below(4)];
        parse_unraid(algorithm, digest, UnraidScan::default()).inspect(check).is_ok()
    });
    feed(4, &numbers, |random, number| {
        let other = Some(&numbers[random.below(numbers.len())][..]);
        let scan = UnraidScan { scandate: other, filedate: Some(number), filesize: Some(number) };
        let digest = &values(".md5")[0];
        parse_unraid(Algorithm::Md5, digest, scan).inspect(check).is_ok()
    });
}

#[test]
fn dintch() {
    let hashes = [values("dintch.hash#S"), values("dintch.hash#S:$DATA")].concat();
    let times = values("dintch.time#S");
    feed(5, &hashes, |_, hash| parse_dintch(Some(hash), None).inspect(check).is_ok());
    feed(6, &times, |_, time| {
        parse_dintch(Some(&hashes[0]), Some(time)).is_ok_and(|tag| tag.tagged.is_some())
    });
}

#[test]
fn ima() {
    feed(7, &values("security.ima"), |_, value| parse_ima(value).inspect(check).is_ok());
}

#[test]
fn whole_sets_with_damaged_names() {
    let samples = samples();
    let mut random = Random(8);
    let mut found = 0;
    for _ in 0..MUTATIONS {
        let sample = &samples[random.below(samples.len())];
        let mut attributes: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (name, value) in &sample.attributes {
            let (mut name, mut value) = (name.clone().into_bytes(), value.clone());
            match random.below(3) {
                0 => random.damage(&mut name),
                1 => random.damage(&mut value),
                _ => {}
            }
            attributes.push((name, value));
        }
        let tags = of_attributes(attributes.iter().map(|(name, value)| (&name[..], &value[..])));
        tags.iter().flatten().for_each(check);
        found += tags.iter().flatten().count();
    }
    assert!(found > MUTATIONS / 10, "{found} tags");
}

#[test]
fn appledouble() {
    let sample = fs::read(folder().join("dintch.appledouble")).unwrap();
    // Damage where the parser looks: the header, the entries, the first values.
    let (looked_at, rest) = sample.split_at(300);
    let mut random = Random(9);
    let (mut accepted, mut named) = (0, 0);
    for round in 0..MUTATIONS {
        let mut bytes = match round % 2 {
            0 => looked_at.to_vec(),
            _ => sample.clone(),
        };
        random.damage(&mut bytes);
        if round % 2 == 0 {
            bytes.extend(rest);
        }
        let file_len = bytes.len() as u64;
        let head = &bytes[..bytes.len().min(HEAD_LEN_MAX)];
        let Ok(double) = AppleDouble::parse(head, file_len) else { continue };
        accepted += 1;
        assert!(is_appledouble(head));
        for entry in double.entries().iter().filter(|entry| entry.span.len > 0) {
            assert!(entry.span.end() <= file_len);
        }
        for attribute in double.attributes() {
            named += 1;
            assert!((1..=254).contains(&attribute.name.len()));
            assert!(attribute.value.len == 0 || attribute.value.of(&bytes).is_some());
        }
        // Every entry takes 12 bytes of the file at least: nothing is made of a number alone.
        assert!(double.attributes().len() * 12 <= bytes.len());
    }
    assert!(accepted > MUTATIONS / 100 && accepted < MUTATIONS, "{accepted}");
    assert!(named > accepted);
}
