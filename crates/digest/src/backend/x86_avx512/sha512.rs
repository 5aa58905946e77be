//! SHA-512 with AVX-512, four or eight lanes: one message per 64-bit element.
//!
//! Advances states by whole blocks. Must not know which other kernels exist, except the AVX2 one.
//! Compiled for AVX-512, its code for four lanes equals what would be written here, because the
//! compiler finds the rotations and three-operand logic in it. Short vectors can use one more port,
//! so up to four messages gain a third. The library hashes single messages.

use std::arch::x86_64::*;

use super::{load_bytes, load_long_words, store_long_words, transpose_quarters};
use crate::backend::library;
use crate::backend::x86_avx2::sha512::{AVX512, compress_four};
use crate::backend::x86_lanes::{SHA512_K, sha2_lanes};
use crate::state::sha512::{Block, State};

/// One lane, four or eight.
pub(in crate::backend) const LANE_CHOICES: &[usize] = &[1, 4, LANES];

const LANES: usize = 8;

/// Truth tables, first operand in the high bit of the index.
const XOR: i32 = 0x96;
const CHOOSE: i32 = 0xca;
const MAJORITY: i32 = 0xe8;

/// Compresses whole blocks into one state per lane; shape and panics as in `Compression::compress`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(in crate::backend) fn compress(states: &mut [State], blocks: &[&[Block]]) {
    match states.len() {
        1 => library::compress_sha512(states, blocks),
        4 => compress_four::<AVX512>(states, blocks),
        _ => compress_eight(states, blocks),
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn compress_eight(states: &mut [State], blocks: &[&[Block]]) {
    let states: &mut [State; LANES] = states.try_into().expect("one lane, four or eight");
    let blocks: &[&[Block]; LANES] = blocks.try_into().expect("as many messages as states");
    sha2_lanes!(
        states, blocks, SHA512_K;
        load_long_words, store_long_words, _mm512_add_epi64, _mm512_set1_epi64;
        w => {
            extend(&mut w);
        }
    );
}

/// Runs one round in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn round([a, b, c, d, e, f, g, h]: [__m512i; 8], wk: __m512i) -> [__m512i; 8] {
    let sum1 = _mm512_ternarylogic_epi64::<XOR>(
        _mm512_ror_epi64::<14>(e),
        _mm512_ror_epi64::<18>(e),
        _mm512_ror_epi64::<41>(e),
    );
    let choice = _mm512_ternarylogic_epi64::<CHOOSE>(e, f, g);
    let t1 = _mm512_add_epi64(_mm512_add_epi64(h, wk), _mm512_add_epi64(sum1, choice));
    let sum0 = _mm512_ternarylogic_epi64::<XOR>(
        _mm512_ror_epi64::<28>(a),
        _mm512_ror_epi64::<34>(a),
        _mm512_ror_epi64::<39>(a),
    );
    let majority = _mm512_ternarylogic_epi64::<MAJORITY>(a, b, c);
    let t2 = _mm512_add_epi64(sum0, majority);
    [_mm512_add_epi64(t1, t2), a, b, c, _mm512_add_epi64(d, t1), e, f, g]
}

/// Computes the next sixteen words of every lane's message schedule in place.
#[inline]
#[target_feature(enable = "avx512f")]
fn extend(w: &mut [__m512i; 16]) {
    sixteen_times!(T => {
        let (early, late) = (w[(T + 1) % 16], w[(T + 14) % 16]);
        let sigma0 = _mm512_ternarylogic_epi64::<XOR>(
            _mm512_ror_epi64::<1>(early),
            _mm512_ror_epi64::<8>(early),
            _mm512_srli_epi64::<7>(early),
        );
        let sigma1 = _mm512_ternarylogic_epi64::<XOR>(
            _mm512_ror_epi64::<19>(late),
            _mm512_ror_epi64::<61>(late),
            _mm512_srli_epi64::<6>(late),
        );
        let sum = _mm512_add_epi64(w[T], _mm512_add_epi64(sigma0, w[(T + 9) % 16]));
        w[T] = _mm512_add_epi64(sum, sigma1);
    });
}

/// Loads one block per lane; vector `t` holds word `t` of every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn message_words(blocks: [&Block; LANES]) -> [__m512i; 16] {
    let big_endian =
        _mm512_broadcast_i32x4(_mm_set_epi64x(0x08090a0b_0c0d0e0f, 0x00010203_04050607));
    let halves = array_from!(LANES; lane => blocks[lane].as_chunks::<64>().0);
    let first = transpose_long(array_from!(LANES; lane => load_bytes(&halves[lane][0])));
    let second = transpose_long(array_from!(LANES; lane => load_bytes(&halves[lane][1])));
    array_from!(16; t => {
        let word = if t < 8 { first[t] } else { second[t - 8] };
        _mm512_shuffle_epi8(word, big_endian)
    })
}

/// Transposes rows of 64-bit words into columns, pairs first, then 128-bit quarters.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_long(rows: [__m512i; 8]) -> [__m512i; 8] {
    let low = transpose_quarters(
        array_from!(4; pair => _mm512_unpacklo_epi64(rows[2 * pair], rows[2 * pair + 1])),
    );
    let high = transpose_quarters(
        array_from!(4; pair => _mm512_unpackhi_epi64(rows[2 * pair], rows[2 * pair + 1])),
    );
    array_from!(8; t => if t % 2 == 0 { low[t / 2] } else { high[t / 2] })
}
