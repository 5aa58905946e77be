//! SHA-256 with the SHA instructions of x86, one to four lanes.
//!
//! Advances states by whole blocks. Must not know which other kernels exist. Each pair of rounds
//! waits four cycles for the previous pair; independent messages use that time. The gain depends on
//! how often the unit accepts a pair: with one every two cycles (Zen 4), a second lane gives 1.8
//! times the throughput; with one every three (measured on a Xeon with AMX-FP16), 1.35 times.

use std::arch::x86_64::*;
use std::hint::black_box;

use crate::state::sha256::{Block, K, State};

/// One to four lanes.
pub(super) const LANE_CHOICES: &[usize] = &[1, 2, 3, 4];

/// Number of blocks by which prefetching into the first-level cache is ahead of the rounds.
const PREFETCH_BLOCKS: usize = 16;

/// Returns whether this processor has the instructions.
pub(super) fn detected() -> bool {
    is_x86_feature_detected!("sha")
        && is_x86_feature_detected!("ssse3")
        && is_x86_feature_detected!("sse4.1")
}

/// Compresses whole blocks into one state per lane; shape and panics as in `Compression::compress`.
#[target_feature(enable = "sha,ssse3,sse4.1")]
pub(super) fn compress(states: &mut [State], blocks: &[&[Block]]) {
    match states.len() {
        1 => compress_lanes::<1>(states, blocks),
        2 => compress_lanes::<2>(states, blocks),
        3 => compress_lanes::<3>(states, blocks),
        4 => compress_lanes::<4>(states, blocks),
        lanes => panic!("the x86_shani kernel has no {lanes} lanes"),
    }
}

/// One vector per lane, each holding four words.
type Vectors<const LANES: usize> = [__m128i; LANES];

#[expect(unused_assignments, reason = "read in all but the last rounds")]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn compress_lanes<const LANES: usize>(states: &mut [State], blocks: &[&[Block]]) {
    let states: &mut [State; LANES] = states.try_into().expect("matched by the caller");
    let blocks: &[&[Block]; LANES] = blocks.try_into().expect("as many messages as states");
    let mut abef = array_from!(LANES; lane => pack(&states[lane]).0);
    let mut cdgh = array_from!(LANES; lane => pack(&states[lane]).1);
    let (k, _) = K.0.as_chunks::<4>();
    for index in 0..blocks[0].len() {
        // There are too few registers for these copies. Without `black_box` the compiler sees that
        // they equal the state and keeps both in one place on the stack, so the first rounds of a
        // block wait until the state was stored and loaded twice. Measured on that Xeon: two lanes
        // gain 3 %, three lanes 6 %.
        let (abef_before, cdgh_before) = black_box((abef, cdgh));
        let block = array_from!(LANES; lane => &blocks[lane][index]);
        for lane in blocks {
            prefetch(&lane[(index + PREFETCH_BLOCKS).min(lane.len() - 1)]);
        }
        let mut w = array_from!(4; quarter => {
            array_from!(LANES; lane => message_words(block[lane], quarter))
        });
        sixteen_times!(FOUR => {
            let present = w[FOUR % 4];
            (abef, cdgh) = four_rounds(abef, cdgh, present, &k[FOUR]);
            if FOUR < 12 {
                let (w1, w2, w3) = (w[(FOUR + 1) % 4], w[(FOUR + 2) % 4], w[(FOUR + 3) % 4]);
                w[FOUR % 4] = extend(present, w1, w2, w3);
            }
        });
        for lane in 0..LANES {
            abef[lane] = _mm_add_epi32(abef[lane], abef_before[lane]);
            cdgh[lane] = _mm_add_epi32(cdgh[lane], cdgh_before[lane]);
        }
    }
    for lane in 0..LANES {
        states[lane] = unpack(abef[lane], cdgh[lane]);
    }
}

/// Runs four rounds in every lane.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn four_rounds<const LANES: usize>(
    mut abef: Vectors<LANES>,
    mut cdgh: Vectors<LANES>,
    w: Vectors<LANES>,
    k: &[u32; 4],
) -> (Vectors<LANES>, Vectors<LANES>) {
    let wk = array_from!(LANES; lane => _mm_add_epi32(w[lane], load_words(k)));
    for lane in 0..LANES {
        cdgh[lane] = _mm_sha256rnds2_epu32(cdgh[lane], abef[lane], wk[lane]);
    }
    for lane in 0..LANES {
        let high = _mm_shuffle_epi32::<0x0e>(wk[lane]);
        abef[lane] = _mm_sha256rnds2_epu32(abef[lane], cdgh[lane], high);
    }
    (abef, cdgh)
}

/// Computes the next four words of every lane's message schedule from the last sixteen.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn extend<const LANES: usize>(
    w0: Vectors<LANES>,
    w1: Vectors<LANES>,
    w2: Vectors<LANES>,
    w3: Vectors<LANES>,
) -> Vectors<LANES> {
    array_from!(LANES; lane => {
        let sum = _mm_sha256msg1_epu32(w0[lane], w1[lane]);
        let sum = _mm_add_epi32(sum, _mm_alignr_epi8::<4>(w3[lane], w2[lane]));
        _mm_sha256msg2_epu32(sum, w3[lane])
    })
}

/// Loads four words of a block.
#[inline]
#[target_feature(enable = "ssse3")]
fn message_words(block: &Block, quarter: usize) -> __m128i {
    let big_endian = _mm_set_epi64x(0x0c0d0e0f_08090a0b, 0x04050607_00010203);
    _mm_shuffle_epi8(load_bytes(&block.as_chunks::<16>().0[quarter]), big_endian)
}

/// Arranges a state as the instructions require: words a, b, e, f and words c, d, g, h.
#[inline]
#[target_feature(enable = "ssse3,sse4.1")]
fn pack(state: &State) -> (__m128i, __m128i) {
    let ([abcd, efgh], _) = state.as_chunks::<4>() else { unreachable!("a state is eight words") };
    let cdab = _mm_shuffle_epi32::<0xb1>(load_words(abcd));
    let efgh = _mm_shuffle_epi32::<0x1b>(load_words(efgh));
    (_mm_alignr_epi8::<8>(cdab, efgh), _mm_blend_epi16::<0xf0>(efgh, cdab))
}

/// Undoes `pack`.
#[inline]
#[target_feature(enable = "ssse3,sse4.1")]
fn unpack(abef: __m128i, cdgh: __m128i) -> State {
    let feba = _mm_shuffle_epi32::<0x1b>(abef);
    let dchg = _mm_shuffle_epi32::<0xb1>(cdgh);
    let mut state = [[0; 4]; 2];
    store_words(&mut state[0], _mm_blend_epi16::<0xf0>(feba, dchg));
    store_words(&mut state[1], _mm_alignr_epi8::<8>(dchg, feba));
    let [[a, b, c, d], [e, f, g, h]] = state;
    [a, b, c, d, e, f, g, h]
}

#[inline]
#[target_feature(enable = "sse2")]
fn prefetch(block: &Block) {
    _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().cast());
}

#[inline]
#[expect(unsafe_code, reason = "a load through a pointer")]
#[target_feature(enable = "sse2")]
fn load_bytes(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: `bytes` is readable for 16 bytes, and this load asks for no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[expect(unsafe_code, reason = "a load through a pointer")]
#[target_feature(enable = "sse2")]
fn load_words(words: &[u32; 4]) -> __m128i {
    // SAFETY: `words` is readable for 16 bytes, and this load asks for no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

#[inline]
#[expect(unsafe_code, reason = "a store through a pointer")]
#[target_feature(enable = "sse2")]
fn store_words(words: &mut [u32; 4], vector: __m128i) {
    // SAFETY: `words` is writable for 16 bytes, and this store asks for no alignment.
    unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), vector) }
}
