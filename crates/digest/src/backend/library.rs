//! SHA-512 and MD5 by libraries, one lane, on every processor.
//!
//! In: states and whole blocks. Out: the states, advanced. Must not know: which other kernels
//! exist. The libraries find by themselves what they need of AVX2 and of Armv8's SHA-512.

use crate::state::{md5, sha512};

/// One lane.
pub(super) const LANE_CHOICES: &[usize] = &[1];

/// Compresses whole blocks into one state; shape and panics as in `Compression::compress`.
pub(super) fn compress_sha512(states: &mut [sha512::State], blocks: &[&[sha512::Block]]) {
    let ([state], [blocks]) = (states, blocks) else {
        panic!("the library's SHA-512 has one lane");
    };
    sha2::block_api::compress512(state, blocks);
}

/// Compresses whole blocks into one state; shape and panics as in `Compression::compress`.
pub(super) fn compress_md5(states: &mut [md5::State], blocks: &[&[md5::Block]]) {
    let ([state], [blocks]) = (states, blocks) else {
        panic!("the library's MD5 has one lane");
    };
    ::md5::block_api::compress(state, blocks);
}
