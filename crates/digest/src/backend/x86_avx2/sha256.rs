//! SHA-256 with AVX2, eight lanes: one message per 32-bit element.
//!
//! Advances states by whole blocks. Must not know which other kernels exist. For processors without
//! the SHA instructions. A single message runs in plain integer code.

use std::arch::x86_64::*;

use super::{load_bytes, load_words, store_words, transpose, xor3};
use crate::backend::portable;
use crate::backend::x86_lanes::sha2_lanes;
use crate::state::sha256::{Block, K, State};

/// One lane or eight.
pub(in crate::backend) const LANE_CHOICES: &[usize] = &[1, LANES];

const LANES: usize = 8;

/// Compresses whole blocks into one state per lane; shape and panics as in `Compression::compress`.
#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(in crate::backend) fn compress(states: &mut [State], blocks: &[&[Block]]) {
    if let ([state], [blocks]) = (&mut *states, blocks) {
        return portable::compress_one(state, blocks);
    }
    let states: &mut [State; LANES] = states.try_into().expect("one lane or eight");
    let blocks: &[&[Block]; LANES] = blocks.try_into().expect("as many messages as states");
    compress_eight(states, blocks);
}

#[target_feature(enable = "avx2")]
fn compress_eight(states: &mut [State; LANES], blocks: &[&[Block]; LANES]) {
    sha2_lanes!(
        states, blocks, K.0;
        load_words, store_words, _mm256_add_epi32, _mm256_set1_epi32;
        w => {
            extend(&mut w);
        }
    );
}

/// Runs one round in every lane.
#[inline]
#[target_feature(enable = "avx2")]
fn round([a, b, c, d, e, f, g, h]: [__m256i; 8], wk: __m256i) -> [__m256i; 8] {
    let sum1 = xor3(rotate::<6, 26>(e), rotate::<11, 21>(e), rotate::<25, 7>(e));
    let choice = _mm256_xor_si256(_mm256_and_si256(e, _mm256_xor_si256(f, g)), g);
    let t1 = _mm256_add_epi32(_mm256_add_epi32(h, wk), _mm256_add_epi32(sum1, choice));
    let sum0 = xor3(rotate::<2, 30>(a), rotate::<13, 19>(a), rotate::<22, 10>(a));
    let either = _mm256_and_si256(_mm256_or_si256(a, b), c);
    let majority = _mm256_or_si256(_mm256_and_si256(a, b), either);
    let t2 = _mm256_add_epi32(sum0, majority);
    [_mm256_add_epi32(t1, t2), a, b, c, _mm256_add_epi32(d, t1), e, f, g]
}

/// Computes the next sixteen words of every lane's message schedule in place.
#[inline]
#[target_feature(enable = "avx2")]
fn extend(w: &mut [__m256i; 16]) {
    sixteen_times!(T => {
        let (early, late) = (w[(T + 1) % 16], w[(T + 14) % 16]);
        let shifted = _mm256_srli_epi32::<3>(early);
        let sigma0 = xor3(rotate::<7, 25>(early), rotate::<18, 14>(early), shifted);
        let shifted = _mm256_srli_epi32::<10>(late);
        let sigma1 = xor3(rotate::<17, 15>(late), rotate::<19, 13>(late), shifted);
        let sum = _mm256_add_epi32(w[T], _mm256_add_epi32(sigma0, w[(T + 9) % 16]));
        w[T] = _mm256_add_epi32(sum, sigma1);
    });
}

/// Rotates right by `RIGHT`, which equals left by `LEFT`; their sum is 32.
#[inline]
#[target_feature(enable = "avx2")]
fn rotate<const RIGHT: i32, const LEFT: i32>(word: __m256i) -> __m256i {
    const { assert!(RIGHT + LEFT == 32) };
    _mm256_or_si256(_mm256_srli_epi32::<RIGHT>(word), _mm256_slli_epi32::<LEFT>(word))
}

/// Loads one block per lane; vector `t` holds word `t` of every lane.
#[inline]
#[target_feature(enable = "avx2")]
fn message_words(blocks: [&Block; LANES]) -> [__m256i; 16] {
    let big_endian =
        _mm256_broadcastsi128_si256(_mm_set_epi64x(0x0c0d0e0f_08090a0b, 0x04050607_00010203));
    let halves = array_from!(LANES; lane => blocks[lane].as_chunks::<32>().0);
    let first = transpose(array_from!(LANES; lane => load_bytes(&halves[lane][0])));
    let second = transpose(array_from!(LANES; lane => load_bytes(&halves[lane][1])));
    array_from!(16; t => {
        let word = if t < 8 { first[t] } else { second[t - 8] };
        _mm256_shuffle_epi8(word, big_endian)
    })
}
