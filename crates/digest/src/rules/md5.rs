//! The rules of MD5 outside its kernels: length field, digest.

use super::{Compression, Rules};
use crate::algorithm::Algorithm;
use crate::backend::Backend;
use crate::digest::Digest;
use crate::state::md5::{Block, INITIAL_STATE, State};

/// MD5 (RFC 1321) as an algorithm of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Md5Rules {}

impl Rules for Md5Rules {}

impl Compression for Md5Rules {
    type State = State;
    type Block = Block;
    type LengthField = [u8; 8];

    const ALGORITHM: Algorithm = Algorithm::Md5;
    const INITIAL_STATE: State = INITIAL_STATE;
    const ZERO_BLOCK: Block = [0; 64];

    fn whole_blocks(data: &[u8]) -> (&[Block], &[u8]) {
        data.as_chunks()
    }

    /// Source: RFC 1321 (1992), section 3.2.
    fn length_field(length: u64) -> [u8; 8] {
        (length << 3).to_le_bytes()
    }

    fn digest(state: &State) -> Digest {
        let mut bytes = [0; 16];
        for (four, word) in bytes.as_chunks_mut().0.iter_mut().zip(state) {
            *four = word.to_le_bytes();
        }
        Digest::from_array(bytes)
    }

    fn lane_choices(backend: Backend) -> &'static [usize] {
        backend.md5_lane_choices()
    }

    fn compress(backend: Backend, states: &mut [State], blocks: &[&[Block]]) {
        backend.compress_md5(states, blocks);
    }
}
