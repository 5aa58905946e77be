//! The rules of SHA-256 outside its kernels: length field, digest.

use super::{Compression, Rules};
use crate::algorithm::Algorithm;
use crate::backend::Backend;
use crate::digest::Digest;
use crate::state::sha256::{Block, INITIAL_STATE, State};

/// SHA-256 (FIPS 180-4) as an algorithm of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sha256Rules {}

impl Rules for Sha256Rules {}

impl Compression for Sha256Rules {
    type State = State;
    type Block = Block;
    type LengthField = [u8; 8];

    const ALGORITHM: Algorithm = Algorithm::Sha256;
    const INITIAL_STATE: State = INITIAL_STATE;
    const ZERO_BLOCK: Block = [0; 64];

    fn whole_blocks(data: &[u8]) -> (&[Block], &[u8]) {
        data.as_chunks()
    }

    /// Source: FIPS 180-4 (2015), section 5.1.1.
    fn length_field(length: u64) -> [u8; 8] {
        (length << 3).to_be_bytes()
    }

    fn digest(state: &State) -> Digest {
        Digest::from_array(digest_bytes(state))
    }

    fn lane_choices(backend: Backend) -> &'static [usize] {
        backend.lane_choices()
    }

    fn compress(backend: Backend, states: &mut [State], blocks: &[&[Block]]) {
        backend.compress_sha256(states, blocks);
    }
}

/// Returns a state as bytes.
pub(crate) fn digest_bytes(state: &State) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (four, word) in bytes.as_chunks_mut().0.iter_mut().zip(state) {
        *four = word.to_be_bytes();
    }
    bytes
}
