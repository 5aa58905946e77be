//! The one integration binary: every backend, every lane count, against published vectors, a naive
//! oracle, an independent crate and the system's tool.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod algorithms;
mod differential;
mod lanes;
#[allow(
    clippy::manual_rotate,
    clippy::manual_is_multiple_of,
    reason = "written as the standard is"
)]
mod naive;
mod pages;
mod values;
mod vectors;

use steadfast_digest::{Backend, LanesOf, Rules};
use steadfast_testing::{Need, skip};

/// The backends to test: those that this processor has.
///
/// A backend listed in `STEADFAST_REQUIRE_BACKENDS`, separated by commas, must be among them.
fn backends() -> Vec<Backend> {
    let detected: Vec<Backend> = Backend::detected().collect();
    let required = std::env::var("STEADFAST_REQUIRE_BACKENDS").unwrap_or_default();
    for name in required.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        Backend::named(name).unwrap_or_else(|error| panic!("required: {error}"));
    }
    detected
}

#[test]
fn every_backend_of_the_architecture_is_tested() {
    let backends = backends();
    assert!(!backends.is_empty());
    for name in Backend::ALL_NAMES {
        if !backends.iter().any(|backend| backend.name() == *name) {
            skip(Need::System(&format!("backend {name}")), "this processor lacks its instructions");
        }
    }
}

/// Every backend at every lane count, and wide lanes with a narrow backend for small remainders.
fn lane_setups<A: Rules>() -> Vec<LanesOf<A>> {
    let counts = |backend| (1..=Backend::LANES_MAX).map(move |count| (backend, count));
    let all = backends().into_iter().flat_map(counts);
    let mut setups: Vec<LanesOf<A>> =
        all.filter_map(|(backend, count)| LanesOf::new(backend, count).ok()).collect();
    let plain = setups.clone();
    for wide in backends().into_iter().map(LanesOf::best).filter(|lanes| lanes.count() > 1) {
        let others = plain.iter().filter(|narrow| **narrow != wide);
        for narrow in others.filter(|narrow| narrow.count() <= 3) {
            setups.push(wide.with_narrow(*narrow, wide.count() * 2 / 3));
        }
    }
    setups
}

/// A message of `len` bytes in which no two blocks are alike, the same on every machine.
fn message(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..len).map(|_| random.next() as u8).collect()
}

/// Numbers that look random and are the same in every run: xorshift64*, G. Marsaglia 2003.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }
}

/// Lengths on both sides of every seam: padding, block, two blocks, page.
const SEAM_LENGTHS: &[usize] = &[
    0, 1, 2, 3, 54, 55, 56, 57, 62, 63, 64, 65, 66, 110, 111, 112, 113, 118, 119, 120, 121, 126,
    127, 128, 129, 130, 183, 184, 191, 192, 193, 238, 239, 240, 241, 255, 256, 257, 511, 512, 513,
    1023, 1024, 1025, 2047, 2048, 2049, 4031, 4032, 4033, 4095, 4096, 4097, 8191, 8192, 8193,
];
