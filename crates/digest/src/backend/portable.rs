//! SHA-256 in plain integer arithmetic, one lane, on every processor.
//!
//! Advances states by whole blocks. Must not know which other kernels exist.

use crate::state::sha256::{Block, K, State};

/// One lane.
pub(super) const LANE_CHOICES: &[usize] = &[1];

/// Compresses whole blocks into one state; shape and panics as in `Compression::compress`.
pub(super) fn compress(states: &mut [State], blocks: &[&[Block]]) {
    let ([state], [blocks]) = (states, blocks) else {
        panic!("the portable kernel has one lane");
    };
    compress_one(state, blocks);
}

/// Compresses whole blocks into one state.
///
/// Inlined, so that a caller compiled for more instructions uses them here too.
#[inline(always)]
pub(super) fn compress_one(state: &mut State, blocks: &[Block]) {
    for block in blocks {
        let words = block.as_chunks().0;
        let mut w = array_from!(16; t => u32::from_be_bytes(words[t]));
        let mut v = *state;
        for (sixteen, k) in K.0.as_chunks::<16>().0.iter().enumerate() {
            if sixteen > 0 {
                extend(&mut w);
            }
            sixteen_times!(T => {
                v = round(v, w[T].wrapping_add(k[T]));
            });
        }
        *state = array_from!(8; word => state[word].wrapping_add(v[word]));
    }
}

/// Computes the next sixteen words of the message schedule in place.
#[inline(always)]
fn extend(w: &mut [u32; 16]) {
    sixteen_times!(T => {
        let (early, late) = (w[(T + 1) % 16], w[(T + 14) % 16]);
        let sigma0 = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
        let sigma1 = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
        w[T] = w[T].wrapping_add(sigma0).wrapping_add(w[(T + 9) % 16]).wrapping_add(sigma1);
    });
}

#[inline(always)]
fn round([a, b, c, d, e, f, g, h]: State, wk: u32) -> State {
    let sum1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
    let choice = g ^ (e & (f ^ g));
    let t1 = h.wrapping_add(sum1).wrapping_add(choice).wrapping_add(wk);
    let sum0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
    let majority = (a & b) | (c & (a | b));
    let t2 = sum0.wrapping_add(majority);
    [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g]
}
