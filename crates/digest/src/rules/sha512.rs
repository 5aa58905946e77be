//! What SHA-512 is, apart from its kernels: first state, length field, digest.
//!
//! In: a length, a state. Out: their bytes. Must not know: any kernel.

use super::{Compression, Rules};
use crate::algorithm::Algorithm;
use crate::backend::Backend;
use crate::digest::Digest;

/// One block of a SHA-512 message, 128 bytes.
pub(crate) type Block = [u8; 128];

/// The chaining value of one SHA-512 message: words a to h in order.
pub(crate) type State = [u64; 8];

/// The state before the first block.
///
/// Source: FIPS 180-4 (2015), section 5.3.5: the first 64 bits of the fractional parts of the
/// square roots of the first eight primes.
pub(crate) const INITIAL_STATE: State = [
    0x6a09e667f3bcc908,
    0xbb67ae8584caa73b,
    0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1,
    0x510e527fade682d1,
    0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b,
    0x5be0cd19137e2179,
];

/// SHA-512 (FIPS 180-4) as an algorithm of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sha512Rules {}

impl Rules for Sha512Rules {}

impl Compression for Sha512Rules {
    type State = State;
    type Block = Block;
    type LengthField = [u8; 16];

    const ALGORITHM: Algorithm = Algorithm::Sha512;
    const INITIAL_STATE: State = INITIAL_STATE;
    const ZERO_BLOCK: Block = [0; 128];

    fn whole_blocks(data: &[u8]) -> (&[Block], &[u8]) {
        data.as_chunks()
    }

    /// Source: FIPS 180-4 (2015), section 5.1.2.
    fn length_field(length: u64) -> [u8; 16] {
        (u128::from(length) << 3).to_be_bytes()
    }

    fn digest(state: &State) -> Digest {
        let mut bytes = [0; 64];
        for (eight, word) in bytes.as_chunks_mut().0.iter_mut().zip(state) {
            *eight = word.to_be_bytes();
        }
        Digest::from_array(bytes)
    }

    fn lane_choices(backend: Backend) -> &'static [usize] {
        backend.sha512_lane_choices()
    }

    fn wide_from(backend: Backend) -> usize {
        backend.sha512_wide_from()
    }

    fn compress(backend: Backend, states: &mut [State], blocks: &[&[Block]]) {
        backend.compress_sha512(states, blocks);
    }
}
