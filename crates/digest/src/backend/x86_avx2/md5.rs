//! MD5 with AVX2, sixteen lanes: one message per 32-bit element of two vectors.
//!
//! Advances states by whole blocks. Must not know which other kernels exist. A step waits for the
//! previous one; the second vector uses that time. The library hashes single messages.

use std::arch::x86_64::*;

use super::{load_bytes, load_words, store_words, transpose};
use crate::backend::library;
use crate::backend::x86_md5::{FUNCTIONS, md5_steps};
use crate::state::md5::{Block, State};

/// One lane or sixteen.
pub(in crate::backend) const LANE_CHOICES: &[usize] = &[1, LANES];

const LANES: usize = 16;

/// The same word of eight lanes, and of eight more.
type Vectors = [__m256i; 2];

/// Compresses whole blocks into one state per lane; shape and panics as in `Compression::compress`.
#[target_feature(enable = "avx2")]
pub(in crate::backend) fn compress(states: &mut [State], blocks: &[&[Block]]) {
    if states.len() == 1 {
        return library::compress_md5(states, blocks);
    }
    let states: &mut [State; LANES] = states.try_into().expect("one lane or sixteen");
    let blocks: &[&[Block]; LANES] = blocks.try_into().expect("as many messages as states");
    compress_sixteen(states, blocks);
}

#[target_feature(enable = "avx2")]
fn compress_sixteen(states: &mut [State; LANES], blocks: &[&[Block]; LANES]) {
    let mut state = array_from!(4; word => {
        load_vectors(&array_from!(LANES; lane => states[lane][word]))
    });
    for index in 0..blocks[0].len() {
        let w = message_words(array_from!(LANES; lane => &blocks[lane][index]));
        let v = md5_steps!(step, state, w);
        state = array_from!(4; word => {
            array_from!(2; half => _mm256_add_epi32(state[word][half], v[word][half]))
        });
    }
    for (word, vector) in state.iter().enumerate() {
        let values = array_from!(2; half => store_words(vector[half]));
        for lane in 0..LANES {
            states[lane][word] = values[lane / 8][lane % 8];
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_vectors(words: &[u32; LANES]) -> Vectors {
    let ([low, high], []) = words.as_chunks::<8>() else { unreachable!("sixteen are two eights") };
    [load_words(low), load_words(high)]
}

/// Runs one step in every lane.
#[inline]
#[target_feature(enable = "avx2")]
fn step<const FUNCTION: i32, const SHIFT: i32>(
    [a, b, c, d]: [Vectors; 4],
    w: Vectors,
    k: u32,
) -> [Vectors; 4] {
    let k = _mm256_set1_epi32(k.cast_signed());
    let next = array_from!(2; half => {
        let mixed = mix::<FUNCTION>(b[half], c[half], d[half]);
        let sum = _mm256_add_epi32(_mm256_add_epi32(a[half], _mm256_add_epi32(w[half], k)), mixed);
        let left = _mm256_sll_epi32(sum, _mm_cvtsi32_si128(SHIFT));
        let right = _mm256_srl_epi32(sum, _mm_cvtsi32_si128(32 - SHIFT));
        _mm256_add_epi32(b[half], _mm256_or_si256(left, right))
    });
    [d, next, b, c]
}

/// Computes the function of a round, given as its truth table.
#[inline]
#[target_feature(enable = "avx2")]
fn mix<const FUNCTION: i32>(b: __m256i, c: __m256i, d: __m256i) -> __m256i {
    const F: i32 = FUNCTIONS[0];
    const G: i32 = FUNCTIONS[1];
    const H: i32 = FUNCTIONS[2];
    match FUNCTION {
        F => _mm256_xor_si256(_mm256_and_si256(_mm256_xor_si256(c, d), b), d),
        // The order of the operands matters, because `b` comes late: `andnot` does not wait for it.
        G => _mm256_or_si256(_mm256_andnot_si256(d, c), _mm256_and_si256(d, b)),
        H => _mm256_xor_si256(_mm256_xor_si256(c, d), b),
        _ => {
            let not_d = _mm256_xor_si256(d, _mm256_set1_epi32(-1));
            _mm256_xor_si256(_mm256_or_si256(not_d, b), c)
        }
    }
}

/// Loads one block per lane; vectors `t` hold word `t` of every lane.
#[inline]
#[target_feature(enable = "avx2")]
fn message_words(blocks: [&Block; LANES]) -> [Vectors; 16] {
    let halves = array_from!(LANES; lane => blocks[lane].as_chunks::<32>().0);
    let words = array_from!(2; eight => array_from!(2; half => {
        transpose(array_from!(8; lane => load_bytes(&halves[8 * eight + lane][half])))
    }));
    array_from!(16; t => array_from!(2; eight => words[eight][t / 8][t % 8]))
}
