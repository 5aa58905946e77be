//! No bytes make reading or checking panic, run without end or reserve memory without bound.
//!
//! Files made here are changed, the same way in every run, a few thousand times; then on with other
//! changes until `STEADFAST_FUZZ_SECONDS` (2 by default) are over. `STEADFAST_FUZZ_INPUTS` asks for
//! a number of inputs in place of a time. The bound on memory is that of the whole test binary.

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use steadfast_codesign::{
    Binary, BytesState, Constraint, Coverage, DiskImage, Entitlements, PageCheckOptions,
    PageChoice, PolicyOptions, PolicyVerdict, Requirements, SignerVerdict, Surroundings,
    VerifyCost,
};

use crate::builder::{Build, Built, CPU_ARM64, CPU_X86_64, Directory, blob, fat};
use crate::sample;

/// Inputs that every run tries.
const INPUTS_MIN: u64 = 5_000;

/// Numbers that fields may be wrong by.
const NUMBERS: &[u32] =
    &[0, 1, 2, 7, 8, 12, 16, 0x14, 0x1000, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff];

/// A sample, and the parts of it where a change is not just a damaged page.
struct Sample {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

fn samples() -> Vec<Sample> {
    let sample = |built: &Built| {
        let places = (0..0x300).chain(built.signature.clone()).collect();
        Sample { bytes: built.bytes.clone(), places }
    };
    let plain = Build::linker_signed(9_000).build();
    let mut rare = Build::full(9_000);
    rare.directories.push(Directory::new(0x1001, 3));
    rare.directories.push(Directory::new(0x1002, 4));
    rare.directories[2].version = 0x2_0600;
    rare.directories[2].linkage = vec![1; 20];
    rare.directories[2].pre_encrypt = true;
    rare.directories[3].scatter = vec![(1, 0, 0)];
    rare.directories[3].limit_64 = true;
    let requirement = [0, 0, 0, 3, 0, 0, 0, 20];
    let requirement = [&requirement[..], &blob(0xfade_0c00, &[0, 0, 0, 1, 0, 0, 0, 3])].concat();
    rare.blobs[0].1 = blob(0xfade_0c01, &[&[0, 0, 0, 1][..], &requirement].concat());
    rare.blobs.push((8, blob(0xfade_8181, &[0x70, 5, 2, 1, 1, 0xb0, 0])));
    rare.blobs.push((4, blob(0xfade_0b01, &[0, 0, 0, 4])));
    let rare = rare.build();
    let mut foreign = Build::full(9_000);
    (foreign.big_endian, foreign.is_64) = (true, false);
    let foreign = foreign.build();
    let (bytes, places) = fat(&[(CPU_ARM64, &plain.bytes), (CPU_X86_64, &rare.bytes)], true);
    let inside = places[1]..places[1] + 0x200;
    let fat = Sample { places: (0..0x80).chain(inside).collect(), bytes };
    let tool = sample::tool();
    let cms = tool.blob(0x1_0000);
    let signed = Sample { places: cms.collect(), bytes: tool.bytes };
    vec![sample(&plain), sample(&rare), sample(&foreign), fat, signed]
}

fn mutated(samples: &[Sample], random: &mut Random) -> Vec<u8> {
    let Sample { bytes, places } = &samples[random.below(samples.len())];
    changed(bytes.clone(), |random| places[random.below(places.len())], random)
}

/// The bytes, changed anywhere.
pub(crate) fn altered(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    changed(bytes.to_vec(), |random| random.below(bytes.len()), random)
}

fn changed(
    mut bytes: Vec<u8>,
    place: impl Fn(&mut Random) -> usize,
    random: &mut Random,
) -> Vec<u8> {
    for _ in 0..1 + random.below(3) {
        let at = place(random).min(bytes.len().max(1) - 1);
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            // Most fields are numbers at multiples of four.
            2..=4 if at + 8 < bytes.len() => {
                let number = NUMBERS[random.below(NUMBERS.len())];
                let number = number.wrapping_add(random.below(3) as u32).wrapping_sub(1);
                let field =
                    if random.below(2) == 0 { number.to_be_bytes() } else { number.to_le_bytes() };
                let at = at / 4 * 4;
                bytes[at..at + 4].copy_from_slice(&field);
            }
            5 if random.below(8) == 0 => bytes.truncate(at),
            _ => {
                let len = random.below(32).min(bytes.len() - at.min(bytes.len()));
                let part = bytes[at..at + len].to_vec();
                let place = random.below(bytes.len() - len + 1);
                bytes[place..place + len].copy_from_slice(&part);
            }
        }
    }
    bytes
}

/// Asks everything that can be asked of a file. Returns whether it is code, and intact.
fn exercise(bytes: &[u8]) -> (bool, bool) {
    let _ = black_box(DiskImage::read(&bytes));
    let Ok(binary) = Binary::read(&bytes) else { return (false, false) };
    let coverage = Coverage::of(&bytes, &binary).unwrap();
    assert_eq!(coverage.ranges.iter().map(|range| range.bytes.end).max().unwrap_or(0), {
        bytes.len() as u64
    });
    black_box(binary.unsealed_findings(&coverage, true, true));
    black_box(VerifyCost::of(&binary));
    let mut intact = true;
    for slice in &binary.slices {
        let (around, options) = (Surroundings::default(), PageCheckOptions::default());
        let check = |pages| slice.check_bytes(&bytes, &around, &pages, &options);
        let all = check(PageChoice::All).unwrap();
        intact &= all.state == BytesState::Intact;
        let lazy = check(PageChoice::Offset(slice.offset.saturating_add(5_000))).unwrap();
        assert!(lazy.pages_checked() <= 16 * lazy.directories.len() as u64);
        assert!(lazy.state == BytesState::Intact || all.state != BytesState::Intact);
        let Some(signature) = &slice.signature else { continue };
        for directory in signature.directories() {
            black_box((directory.cdhash(), directory.identifier(), directory.team()));
            black_box(directory.special_digests().count());
        }
        black_box((Entitlements::of(signature), Constraint::all(signature)));
        let signer = SignerVerdict::of(signature);
        black_box(PolicyVerdict::of(signature, &signer, &PolicyOptions::default()));
        if let Some(blob) = signature.requirements()
            && let Ok(requirements) = Requirements::from_blob(blob.bytes)
        {
            black_box(requirements.to_string());
        }
    }
    (true, intact)
}

pub(crate) fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn no_bytes_make_it_fall_over() {
    let samples = samples();
    for sample in &samples {
        assert!(exercise(&sample.bytes).0, "samples are code");
    }
    let inputs = asked("STEADFAST_FUZZ_INPUTS");
    let seconds = asked("STEADFAST_FUZZ_SECONDS").unwrap_or(2);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random(0x5eed_5eed_5eed_5eed);
    let (mut done, mut code, mut intact) = (0_u64, 0_u64, 0_u64);
    while done < inputs.unwrap_or(INPUTS_MIN) || (inputs.is_none() && Instant::now() < end) {
        let state = random.0;
        let bytes = mutated(&samples, &mut random);
        let outcome = catch_unwind(AssertUnwindSafe(|| exercise(&bytes)));
        let (is_code, is_intact) = outcome
            .unwrap_or_else(|_| panic!("input {done}, from the state {state:#x} of the generator"));
        (code, intact) = (code + u64::from(is_code), intact + u64::from(is_intact));
        done += 1;
    }
    println!("{done} inputs, {code} of them code, {intact} intact");
    assert!(code > done / 2 && intact < done / 2, "the changes are of no use");
}
