//! SHA-512 with AVX2, four lanes: one message per 64-bit element.
//!
//! Advances states by whole blocks. Must not know which other kernels exist. The library hashes
//! single messages.

use std::arch::x86_64::*;

use super::{load_bytes, load_long_words, store_long_words, xor3};
use crate::backend::library;
use crate::backend::x86_lanes::{SHA512_K, sha2_lanes};
use crate::state::sha512::{Block, State};

/// One lane or four.
pub(in crate::backend) const LANE_CHOICES: &[usize] = &[1, LANES];

const LANES: usize = 4;

/// Fewer messages are faster one after the other: four lanes were measured at 1.15 GB/s together,
/// whatever the number of messages in them, the library at 0.65.
pub(in crate::backend) const WIDE_FROM: usize = 3;

/// Compresses whole blocks into one state per lane; shape and panics as in `Compression::compress`.
#[target_feature(enable = "avx2")]
pub(in crate::backend) fn compress(states: &mut [State], blocks: &[&[Block]]) {
    match states.len() {
        1 => library::compress_sha512(states, blocks),
        _ => compress_four::<AVX2>(states, blocks),
    }
}

/// The caller of `compress_four`.
///
/// Each caller has its own copy, so that it is inlined there and compiled for all the instructions
/// that the caller may use: with AVX-512, rotations and three-operand logic become single
/// instructions.
const AVX2: u8 = 0;
pub(in crate::backend) const AVX512: u8 = 1;

#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::backend) fn compress_four<const CALLER: u8>(
    states: &mut [State],
    blocks: &[&[Block]],
) {
    let states: &mut [State; LANES] = states.try_into().expect("one lane or four");
    let blocks: &[&[Block]; LANES] = blocks.try_into().expect("as many messages as states");
    sha2_lanes!(
        states, blocks, SHA512_K;
        load_long_words, store_long_words, _mm256_add_epi64, _mm256_set1_epi64x;
        w => {
            sixteen_times!(T => {
                w[T] = next_word(w[T], w[(T + 1) % 16], w[(T + 9) % 16], w[(T + 14) % 16]);
            });
        }
    );
}

/// Runs one round in every lane.
#[inline]
#[target_feature(enable = "avx2")]
fn round([a, b, c, d, e, f, g, h]: [__m256i; 8], wk: __m256i) -> [__m256i; 8] {
    let sum1 = xor3(rotate::<14, 50>(e), rotate::<18, 46>(e), rotate::<41, 23>(e));
    let choice = _mm256_xor_si256(_mm256_and_si256(e, _mm256_xor_si256(f, g)), g);
    let t1 = _mm256_add_epi64(_mm256_add_epi64(h, wk), _mm256_add_epi64(sum1, choice));
    let sum0 = xor3(rotate::<28, 36>(a), rotate::<34, 30>(a), rotate::<39, 25>(a));
    let either = _mm256_and_si256(_mm256_or_si256(a, b), c);
    let majority = _mm256_or_si256(_mm256_and_si256(a, b), either);
    let t2 = _mm256_add_epi64(sum0, majority);
    [_mm256_add_epi64(t1, t2), a, b, c, _mm256_add_epi64(d, t1), e, f, g]
}

/// Computes one more word of every lane's message schedule from the words 16, 15, 7 and 2 places
/// before it.
#[inline]
#[target_feature(enable = "avx2")]
fn next_word(w16: __m256i, w15: __m256i, w7: __m256i, w2: __m256i) -> __m256i {
    let sigma0 = xor3(rotate::<1, 63>(w15), rotate::<8, 56>(w15), _mm256_srli_epi64::<7>(w15));
    let sigma1 = xor3(rotate::<19, 45>(w2), rotate::<61, 3>(w2), _mm256_srli_epi64::<6>(w2));
    _mm256_add_epi64(_mm256_add_epi64(w16, sigma0), _mm256_add_epi64(w7, sigma1))
}

/// Rotates right by `RIGHT`, which equals left by `LEFT`; their sum is 64.
#[inline]
#[target_feature(enable = "avx2")]
fn rotate<const RIGHT: i32, const LEFT: i32>(word: __m256i) -> __m256i {
    const { assert!(RIGHT + LEFT == 64) };
    _mm256_or_si256(_mm256_srli_epi64::<RIGHT>(word), _mm256_slli_epi64::<LEFT>(word))
}

/// Loads one block per lane; vector `t` holds word `t` of every lane.
#[inline]
#[target_feature(enable = "avx2")]
fn message_words(blocks: [&Block; LANES]) -> [__m256i; 16] {
    let big_endian =
        _mm256_broadcastsi128_si256(_mm_set_epi64x(0x08090a0b_0c0d0e0f, 0x00010203_04050607));
    let quarters = array_from!(LANES; lane => blocks[lane].as_chunks::<32>().0);
    let words = array_from!(4; quarter => {
        transpose_long(array_from!(LANES; lane => load_bytes(&quarters[lane][quarter])))
    });
    array_from!(16; t => _mm256_shuffle_epi8(words[t / 4][t % 4], big_endian))
}

/// Transposes rows of 64-bit words into columns, pairs first, then the 128-bit halves.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_long([row0, row1, row2, row3]: [__m256i; 4]) -> [__m256i; 4] {
    let (low01, high01) = (_mm256_unpacklo_epi64(row0, row1), _mm256_unpackhi_epi64(row0, row1));
    let (low23, high23) = (_mm256_unpacklo_epi64(row2, row3), _mm256_unpackhi_epi64(row2, row3));
    [
        _mm256_permute2x128_si256::<0x20>(low01, low23),
        _mm256_permute2x128_si256::<0x20>(high01, high23),
        _mm256_permute2x128_si256::<0x31>(low01, low23),
        _mm256_permute2x128_si256::<0x31>(high01, high23),
    ]
}
