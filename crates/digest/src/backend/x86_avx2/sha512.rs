//! SHA-512 with AVX2, four lanes: one message per 64-bit element.
//!
//! Advances states by whole blocks. Must not know which other kernels exist. The library hashes
//! single messages.

use std::arch::x86_64::*;

use super::{load_bytes, load_long_words, store_long_words, xor3};
use crate::backend::library;
use crate::state::sha512::{Block, State};

/// One lane or four.
pub(in crate::backend) const LANE_CHOICES: &[usize] = &[1, LANES];

const LANES: usize = 4;

/// The 80 round constants.
///
/// Source: FIPS 180-4 (2015), section 4.2.3: the first 64 bits of the fractional parts of the cube
/// roots of the first eighty primes.
pub(in crate::backend) static K: [u64; 80] = [
    0x428a2f98d728ae22,
    0x7137449123ef65cd,
    0xb5c0fbcfec4d3b2f,
    0xe9b5dba58189dbbc,
    0x3956c25bf348b538,
    0x59f111f1b605d019,
    0x923f82a4af194f9b,
    0xab1c5ed5da6d8118,
    0xd807aa98a3030242,
    0x12835b0145706fbe,
    0x243185be4ee4b28c,
    0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f,
    0x80deb1fe3b1696b1,
    0x9bdc06a725c71235,
    0xc19bf174cf692694,
    0xe49b69c19ef14ad2,
    0xefbe4786384f25e3,
    0x0fc19dc68b8cd5b5,
    0x240ca1cc77ac9c65,
    0x2de92c6f592b0275,
    0x4a7484aa6ea6e483,
    0x5cb0a9dcbd41fbd4,
    0x76f988da831153b5,
    0x983e5152ee66dfab,
    0xa831c66d2db43210,
    0xb00327c898fb213f,
    0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2,
    0xd5a79147930aa725,
    0x06ca6351e003826f,
    0x142929670a0e6e70,
    0x27b70a8546d22ffc,
    0x2e1b21385c26c926,
    0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df,
    0x650a73548baf63de,
    0x766a0abb3c77b2a8,
    0x81c2c92e47edaee6,
    0x92722c851482353b,
    0xa2bfe8a14cf10364,
    0xa81a664bbc423001,
    0xc24b8b70d0f89791,
    0xc76c51a30654be30,
    0xd192e819d6ef5218,
    0xd69906245565a910,
    0xf40e35855771202a,
    0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8,
    0x1e376c085141ab53,
    0x2748774cdf8eeb99,
    0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63,
    0x4ed8aa4ae3418acb,
    0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc,
    0x78a5636f43172f60,
    0x84c87814a1f0ab72,
    0x8cc702081a6439ec,
    0x90befffa23631e28,
    0xa4506cebde82bde9,
    0xbef9a3f7b2c67915,
    0xc67178f2e372532b,
    0xca273eceea26619c,
    0xd186b8c721c0c207,
    0xeada7dd6cde0eb1e,
    0xf57d4f7fee6ed178,
    0x06f067aa72176fba,
    0x0a637dc5a2c898a6,
    0x113f9804bef90dae,
    0x1b710b35131c471b,
    0x28db77f523047d84,
    0x32caab7b40c72493,
    0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6,
    0x597f299cfc657e2a,
    0x5fcb6fab3ad6faec,
    0x6c44198c4a475817,
];

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
    let mut state = array_from!(8; word => {
        load_long_words(&array_from!(LANES; lane => states[lane][word]))
    });
    for index in 0..blocks[0].len() {
        let mut w = message_words(array_from!(LANES; lane => &blocks[lane][index]));
        let mut v = state;
        for (sixteen, k) in K.as_chunks::<16>().0.iter().enumerate() {
            if sixteen > 0 {
                sixteen_times!(T => {
                    w[T] = next_word(w[T], w[(T + 1) % 16], w[(T + 9) % 16], w[(T + 14) % 16]);
                });
            }
            sixteen_times!(T => {
                v = round(v, _mm256_add_epi64(w[T], _mm256_set1_epi64x(k[T].cast_signed())));
            });
        }
        state = array_from!(8; word => _mm256_add_epi64(state[word], v[word]));
    }
    for (word, vector) in state.iter().enumerate() {
        let values = store_long_words(*vector);
        for lane in 0..LANES {
            states[lane][word] = values[lane];
        }
    }
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
