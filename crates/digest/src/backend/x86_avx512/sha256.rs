//! SHA-256 with AVX-512, sixteen lanes: one message per 32-bit element.
//!
//! Advances states by whole blocks. Must not know which other kernels exist. A single message runs
//! in plain integer code.

use std::arch::x86_64::*;

use super::{load_bytes, load_words, store_words, transpose};
use crate::backend::portable;
use crate::backend::x86_lanes::sha2_lanes;
use crate::state::sha256::{Block, K, State};

/// One lane or sixteen.
pub(in crate::backend) const LANE_CHOICES: &[usize] = &[1, LANES];

const LANES: usize = 16;

/// Compresses whole blocks into one state per lane; shape and panics as in `Compression::compress`.
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2")]
pub(in crate::backend) fn compress(states: &mut [State], blocks: &[&[Block]]) {
    if let ([state], [blocks]) = (&mut *states, blocks) {
        return portable::compress_one(state, blocks);
    }
    let states: &mut [State; LANES] = states.try_into().expect("one lane or sixteen");
    let blocks: &[&[Block]; LANES] = blocks.try_into().expect("as many messages as states");
    compress_sixteen(states, blocks);
}

#[target_feature(enable = "avx512f,avx512bw")]
fn compress_sixteen(states: &mut [State; LANES], blocks: &[&[Block]; LANES]) {
    sha2_lanes!(
        states, blocks, K.0;
        load_words, store_words, _mm512_add_epi32, _mm512_set1_epi32;
        w => {
            extend(&mut w);
        }
    );
}

/// Runs one round in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn round([a, b, c, d, e, f, g, h]: [__m512i; 8], wk: __m512i) -> [__m512i; 8] {
    const XOR: i32 = 0x96;
    const CHOOSE: i32 = 0xca;
    const MAJORITY: i32 = 0xe8;
    let sum1 = _mm512_ternarylogic_epi32::<XOR>(
        _mm512_ror_epi32::<6>(e),
        _mm512_ror_epi32::<11>(e),
        _mm512_ror_epi32::<25>(e),
    );
    let choice = _mm512_ternarylogic_epi32::<CHOOSE>(e, f, g);
    let t1 = _mm512_add_epi32(_mm512_add_epi32(h, wk), _mm512_add_epi32(sum1, choice));
    let sum0 = _mm512_ternarylogic_epi32::<XOR>(
        _mm512_ror_epi32::<2>(a),
        _mm512_ror_epi32::<13>(a),
        _mm512_ror_epi32::<22>(a),
    );
    let majority = _mm512_ternarylogic_epi32::<MAJORITY>(a, b, c);
    let t2 = _mm512_add_epi32(sum0, majority);
    [_mm512_add_epi32(t1, t2), a, b, c, _mm512_add_epi32(d, t1), e, f, g]
}

/// Computes the next sixteen words of every lane's message schedule in place.
#[inline]
#[target_feature(enable = "avx512f")]
fn extend(w: &mut [__m512i; 16]) {
    const XOR: i32 = 0x96;
    sixteen_times!(T => {
        let (early, late) = (w[(T + 1) % 16], w[(T + 14) % 16]);
        let sigma0 = _mm512_ternarylogic_epi32::<XOR>(
            _mm512_ror_epi32::<7>(early),
            _mm512_ror_epi32::<18>(early),
            _mm512_srli_epi32::<3>(early),
        );
        let sigma1 = _mm512_ternarylogic_epi32::<XOR>(
            _mm512_ror_epi32::<17>(late),
            _mm512_ror_epi32::<19>(late),
            _mm512_srli_epi32::<10>(late),
        );
        let sum = _mm512_add_epi32(w[T], _mm512_add_epi32(sigma0, w[(T + 9) % 16]));
        w[T] = _mm512_add_epi32(sum, sigma1);
    });
}

/// Loads one block per lane; vector `t` holds word `t` of every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn message_words(blocks: [&Block; LANES]) -> [__m512i; 16] {
    let big_endian =
        _mm512_broadcast_i32x4(_mm_set_epi64x(0x0c0d0e0f_08090a0b, 0x04050607_00010203));
    let words = transpose(array_from!(LANES; lane => load_bytes(blocks[lane])));
    array_from!(16; t => _mm512_shuffle_epi8(words[t], big_endian))
}
