//! The rules of SHA-512 outside its kernels: length field, digest.

use super::{Compression, Rules};
use crate::algorithm::Algorithm;
use crate::backend::Backend;
use crate::digest::Digest;
use crate::state::sha512::{Block, INITIAL_STATE, State};

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
