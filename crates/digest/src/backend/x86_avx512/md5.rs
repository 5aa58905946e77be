//! MD5 with AVX-512, one lane or sixteen: one message per 32-bit element.
//!
//! Advances states by whole blocks. Must not know which other kernels exist. Each step waits for
//! the previous one and is four instructions long at any width, so sixteen messages take little
//! more time than one. A single message uses the first elements of short vectors: integer code has
//! no three-operand logic, needs five instructions for some steps, and took 1.4 times as long when
//! measured.

use std::arch::x86_64::*;

use super::{load_bytes, load_words, store_words, transpose};
use crate::backend::x86_md5::md5_steps;
use crate::state::md5::{Block, State};

/// One lane or sixteen.
pub(in crate::backend) const LANE_CHOICES: &[usize] = &[1, LANES];

const LANES: usize = 16;

/// Compresses whole blocks into one state per lane; shape and panics as in `Compression::compress`.
#[target_feature(enable = "avx512f,avx512vl")]
pub(in crate::backend) fn compress(states: &mut [State], blocks: &[&[Block]]) {
    if let ([state], [blocks]) = (&mut *states, blocks) {
        return compress_one(state, blocks);
    }
    let states: &mut [State; LANES] = states.try_into().expect("one lane or sixteen");
    let blocks: &[&[Block]; LANES] = blocks.try_into().expect("as many messages as states");
    compress_sixteen(states, blocks);
}

#[target_feature(enable = "avx512f")]
fn compress_sixteen(states: &mut [State; LANES], blocks: &[&[Block]; LANES]) {
    let mut state = array_from!(4; word => {
        load_words(&array_from!(LANES; lane => states[lane][word]))
    });
    for index in 0..blocks[0].len() {
        let w = transpose(array_from!(LANES; lane => load_bytes(&blocks[lane][index])));
        let v = md5_steps!(step, state, w);
        state = array_from!(4; word => _mm512_add_epi32(state[word], v[word]));
    }
    for (word, vector) in state.iter().enumerate() {
        let values = store_words(*vector);
        for lane in 0..LANES {
            states[lane][word] = values[lane];
        }
    }
}

/// Runs one step in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn step<const FUNCTION: i32, const SHIFT: i32>(
    [a, b, c, d]: [__m512i; 4],
    w: __m512i,
    k: u32,
) -> [__m512i; 4] {
    let wk = _mm512_add_epi32(w, _mm512_set1_epi32(k.cast_signed()));
    let mixed = _mm512_ternarylogic_epi32::<FUNCTION>(b, c, d);
    let sum = _mm512_add_epi32(_mm512_add_epi32(a, wk), mixed);
    [d, _mm512_add_epi32(b, _mm512_rol_epi32::<SHIFT>(sum)), b, c]
}

#[target_feature(enable = "avx512f,avx512vl")]
fn compress_one(state: &mut State, blocks: &[Block]) {
    let mut vectors = array_from!(4; word => _mm_cvtsi32_si128(state[word].cast_signed()));
    for block in blocks {
        let v = md5_steps!(step_of_one, vectors, block.as_chunks().0);
        vectors = array_from!(4; word => _mm_add_epi32(vectors[word], v[word]));
    }
    *state = array_from!(4; word => _mm_cvtsi128_si32(vectors[word]).cast_unsigned());
}

/// Runs one step in the first element.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn step_of_one<const FUNCTION: i32, const SHIFT: i32>(
    [a, b, c, d]: [__m128i; 4],
    w: [u8; 4],
    k: u32,
) -> [__m128i; 4] {
    let wk = _mm_cvtsi32_si128(u32::from_le_bytes(w).wrapping_add(k).cast_signed());
    let mixed = _mm_ternarylogic_epi32::<FUNCTION>(b, c, d);
    let sum = _mm_add_epi32(_mm_add_epi32(a, wk), mixed);
    [d, _mm_add_epi32(b, _mm_rol_epi32::<SHIFT>(sum)), b, c]
}
