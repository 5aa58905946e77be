//! SHA-512 and MD5 from libraries, one lane, on every processor.
//!
//! Advances states by whole blocks. Must not know which other kernels exist. The libraries detect
//! AVX2 and Armv8's SHA-512 themselves.

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
