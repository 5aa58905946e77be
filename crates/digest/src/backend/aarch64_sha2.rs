//! SHA-256 with the SHA2 instructions of Armv8, one or two lanes.
//!
//! Advances states by whole blocks. Must not know which other kernels exist. As on x86, the rounds
//! of a second message use the time in which the first one waits.

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use crate::state::sha256::{Block, K, State};

/// One or two lanes.
pub(super) const LANE_CHOICES: &[usize] = &[1, 2];

/// Returns whether this processor has the instructions.
pub(super) fn detected() -> bool {
    // The code assumes the byte order of little-endian processors.
    cfg!(target_endian = "little")
        && is_aarch64_feature_detected!("neon")
        && is_aarch64_feature_detected!("sha2")
}

/// Compresses whole blocks into one state per lane; shape and panics as in `Compression::compress`.
#[target_feature(enable = "neon,sha2")]
pub(super) fn compress(states: &mut [State], blocks: &[&[Block]]) {
    match states.len() {
        1 => compress_lanes::<1>(states, blocks),
        2 => compress_lanes::<2>(states, blocks),
        lanes => panic!("the aarch64_sha2 kernel has no {lanes} lanes"),
    }
}

/// One vector per lane, each holding four words.
type Vectors<const LANES: usize> = [uint32x4_t; LANES];

#[expect(unused_assignments, reason = "read in all but the last rounds")]
#[target_feature(enable = "neon,sha2")]
fn compress_lanes<const LANES: usize>(states: &mut [State], blocks: &[&[Block]]) {
    let states: &mut [State; LANES] = states.try_into().expect("matched by the caller");
    let blocks: &[&[Block]; LANES] = blocks.try_into().expect("as many messages as states");
    let mut abcd = array_from!(LANES; lane => load_words(&halves(&states[lane])[0]));
    let mut efgh = array_from!(LANES; lane => load_words(&halves(&states[lane])[1]));
    let (k, _) = K.0.as_chunks::<4>();
    for index in 0..blocks[0].len() {
        let (abcd_before, efgh_before) = (abcd, efgh);
        let block = array_from!(LANES; lane => &blocks[lane][index]);
        let mut w = array_from!(4; quarter => {
            array_from!(LANES; lane => message_words(block[lane], quarter))
        });
        sixteen_times!(FOUR => {
            let present = w[FOUR % 4];
            if FOUR < 12 {
                let (w1, w2, w3) = (w[(FOUR + 1) % 4], w[(FOUR + 2) % 4], w[(FOUR + 3) % 4]);
                w[FOUR % 4] = extend(present, w1, w2, w3);
            }
            (abcd, efgh) = four_rounds(abcd, efgh, present, &k[FOUR]);
        });
        for lane in 0..LANES {
            abcd[lane] = vaddq_u32(abcd[lane], abcd_before[lane]);
            efgh[lane] = vaddq_u32(efgh[lane], efgh_before[lane]);
        }
    }
    for lane in 0..LANES {
        let ([a, b, c, d], [e, f, g, h]) = (store_words(abcd[lane]), store_words(efgh[lane]));
        states[lane] = [a, b, c, d, e, f, g, h];
    }
}

/// Runs four rounds in every lane.
#[inline]
#[target_feature(enable = "neon,sha2")]
fn four_rounds<const LANES: usize>(
    abcd: Vectors<LANES>,
    efgh: Vectors<LANES>,
    w: Vectors<LANES>,
    k: &[u32; 4],
) -> (Vectors<LANES>, Vectors<LANES>) {
    let wk = array_from!(LANES; lane => vaddq_u32(w[lane], load_words(k)));
    (
        array_from!(LANES; lane => vsha256hq_u32(abcd[lane], efgh[lane], wk[lane])),
        array_from!(LANES; lane => vsha256h2q_u32(efgh[lane], abcd[lane], wk[lane])),
    )
}

/// Computes the next four words of every lane's message schedule from the last sixteen.
#[inline]
#[target_feature(enable = "neon,sha2")]
fn extend<const LANES: usize>(
    w0: Vectors<LANES>,
    w1: Vectors<LANES>,
    w2: Vectors<LANES>,
    w3: Vectors<LANES>,
) -> Vectors<LANES> {
    array_from!(LANES; lane => {
        vsha256su1q_u32(vsha256su0q_u32(w0[lane], w1[lane]), w2[lane], w3[lane])
    })
}

/// Splits a state into words a to d and words e to h.
#[inline]
fn halves(&[a, b, c, d, e, f, g, h]: &State) -> [[u32; 4]; 2] {
    [[a, b, c, d], [e, f, g, h]]
}

/// Loads four words of a block.
#[inline]
#[target_feature(enable = "neon")]
fn message_words(block: &Block, quarter: usize) -> uint32x4_t {
    let bytes = load_bytes(&block.as_chunks::<16>().0[quarter]);
    vreinterpretq_u32_u8(vrev32q_u8(bytes))
}

#[inline]
#[expect(unsafe_code, reason = "a load through a pointer")]
#[target_feature(enable = "neon")]
fn load_bytes(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: `bytes` is readable for 16 bytes, and this load asks for no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[expect(unsafe_code, reason = "a load through a pointer")]
#[target_feature(enable = "neon")]
fn load_words(words: &[u32; 4]) -> uint32x4_t {
    // SAFETY: `words` is readable for 16 bytes and aligned for its elements.
    unsafe { vld1q_u32(words.as_ptr()) }
}

#[inline]
#[expect(unsafe_code, reason = "a store through a pointer")]
#[target_feature(enable = "neon")]
fn store_words(vector: uint32x4_t) -> [u32; 4] {
    let mut words = [0; 4];
    // SAFETY: `words` is writable for 16 bytes and aligned for its elements.
    unsafe { vst1q_u32(words.as_mut_ptr(), vector) }
    words
}
