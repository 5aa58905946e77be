//! The streaming state of one message: buffering, padding, length.
//!
//! Takes bytes in pieces of any length. Returns whole blocks for a kernel, and a digest at the end.
//! Must not know other messages, or what an algorithm does with its blocks.

use std::fmt;

use crate::backend::Backend;
use crate::digest::Digest;
use crate::rules::{Md5Rules, Rules, Sha256Rules, Sha512Rules, sha256};

/// Hashes `data` with SHA-256, on the best backend for a single message.
pub fn sha256(data: &[u8]) -> Digest {
    let mut hasher = Sha256::new(Backend::detect());
    hasher.update(data);
    hasher.finalize()
}

/// The streaming state of one message.
///
/// It advances alone through [`BlockHasher::update`], or together with others through
/// [`LanesOf::update`](crate::LanesOf::update); the two may alternate.
#[derive(Clone)]
pub struct BlockHasher<A: Rules> {
    pub(crate) state: A::State,
    buffer: A::Block,
    /// Bytes taken so far. Those that do not fill a block are in `buffer`.
    length: u64,
    backend: Backend,
    finished: bool,
}

/// The streaming SHA-256 state of one message.
pub type Sha256 = BlockHasher<Sha256Rules>;

/// The streaming SHA-512 state of one message.
pub type Sha512 = BlockHasher<Sha512Rules>;

/// The streaming MD5 state of one message.
pub type Md5 = BlockHasher<Md5Rules>;

/// A piece of a message, divided into blocks.
pub(crate) struct Absorbed<'a, Block> {
    /// The block completed by the buffer and the start of the piece, to be compressed first.
    pub(crate) head: Option<Block>,
    /// The whole blocks inside the piece.
    pub(crate) body: &'a [Block],
}

impl<A: Rules> BlockHasher<A> {
    const BLOCK_LEN: usize = size_of::<A::Block>();

    /// Starts a message.
    pub fn new(backend: Backend) -> BlockHasher<A> {
        let (state, buffer) = (A::INITIAL_STATE, A::ZERO_BLOCK);
        BlockHasher { state, buffer, length: 0, backend, finished: false }
    }

    /// Takes the next bytes of the message.
    ///
    /// # Panics
    /// If a [`Message`](crate::Message) marked `last` has already ended it.
    pub fn update(&mut self, data: &[u8]) {
        let Absorbed { head, body } = self.absorb(data);
        if let Some(head) = head {
            self.compress(&[head]);
        }
        if !body.is_empty() {
            self.compress(body);
        }
    }

    /// Ends the message and returns its digest.
    pub fn finalize(mut self) -> Digest {
        self.finish();
        A::digest(&self.state)
    }

    /// Returns the digest of the bytes taken so far, and leaves the state unchanged.
    pub fn digest(&self) -> Digest {
        self.clone().finalize()
    }

    /// Returns the length of the message so far, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the backend that advances this message when it advances alone.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Adds bytes to the buffer and returns the blocks that are now complete.
    ///
    /// The caller must compress `head`, then `body`, before anything else.
    pub(crate) fn absorb<'a>(&mut self, mut data: &'a [u8]) -> Absorbed<'a, A::Block> {
        assert!(!self.finished, "a message that was ended takes no more bytes");
        let buffered = self.buffered();
        self.length += data.len() as u64;
        let mut head = None;
        if buffered > 0 {
            let (start, rest) = data.split_at(data.len().min(Self::BLOCK_LEN - buffered));
            self.buffer.as_mut()[buffered..][..start.len()].copy_from_slice(start);
            if buffered + start.len() < Self::BLOCK_LEN {
                return Absorbed { head: None, body: &[] };
            }
            head = Some(self.buffer);
            data = rest;
        }
        let (body, rest) = A::whole_blocks(data);
        self.buffer.as_mut()[..rest.len()].copy_from_slice(rest);
        Absorbed { head, body }
    }

    /// Ends the message: returns one or two blocks with the buffered bytes and their padding.
    ///
    /// The blocks are at the end of the array; the second value is their number. The caller must
    /// compress them. Source: FIPS 180-4 (2015), section 5.1; RFC 1321 (1992), sections 3.1 and
    /// 3.2.
    pub(crate) fn pad(&mut self) -> ([A::Block; 2], usize) {
        let length = A::length_field(self.length);
        let length = length.as_ref();
        let buffered = self.buffered();
        let length_offset = Self::BLOCK_LEN - length.len();
        let count = if buffered < length_offset { 1 } else { 2 };
        let mut blocks = [A::ZERO_BLOCK; 2];
        let first = blocks[2 - count].as_mut();
        first[..buffered].copy_from_slice(&self.buffer.as_ref()[..buffered]);
        first[buffered] = 0x80;
        blocks[1].as_mut()[length_offset..].copy_from_slice(length);
        self.finished = true;
        (blocks, count)
    }

    /// Ends the message unless it is ended already.
    pub(crate) fn finish(&mut self) {
        if !self.finished {
            let (blocks, count) = self.pad();
            self.compress(&blocks[2 - count..]);
        }
    }

    fn buffered(&self) -> usize {
        (self.length % Self::BLOCK_LEN as u64) as usize
    }

    fn compress(&mut self, blocks: &[A::Block]) {
        A::compress(self.backend, std::slice::from_mut(&mut self.state), &[blocks]);
    }
}

impl Sha256 {
    /// Returns the state as bytes; it is the digest once the message is ended.
    pub(crate) fn digest_bytes(&self) -> [u8; 32] {
        sha256::digest_bytes(&self.state)
    }
}

impl<A: Rules> fmt::Debug for BlockHasher<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockHasher")
            .field("algorithm", &A::ALGORITHM)
            .field("backend", &self.backend)
            .field("length", &self.length)
            .field("finished", &self.finished)
            .finish_non_exhaustive()
    }
}
