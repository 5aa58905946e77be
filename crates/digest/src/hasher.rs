//! The streaming state of one SHA-256 message: buffering, padding, length.
//!
//! In: bytes in pieces of any length. Out: whole blocks for a kernel, at the end a digest. Must not
//! know: other messages.

use crate::backend::Backend;
use crate::constants::{BLOCK_LEN, Block, INITIAL_STATE, State};
use crate::digest::Digest;

/// Hashes `data` with SHA-256, on the best backend for a single message.
pub fn sha256(data: &[u8]) -> Digest {
    let mut hasher = Sha256::new(Backend::detect());
    hasher.update(data);
    hasher.finalize()
}

/// The streaming SHA-256 state of one message.
///
/// It advances alone through [`Sha256::update`], or together with others through
/// [`Lanes::update`](crate::Lanes::update); the two may alternate.
#[derive(Clone)]
pub struct Sha256 {
    pub(crate) state: State,
    buffer: Block,
    /// Bytes taken so far; `length % 64` of them wait in `buffer`.
    length: u64,
    backend: Backend,
    finished: bool,
}

/// What a piece of a message means in blocks.
pub(crate) struct Absorbed<'a> {
    /// The block that the buffer and the start of the piece completed, to be compressed first.
    pub(crate) head: Option<Block>,
    /// The whole blocks inside the piece.
    pub(crate) body: &'a [Block],
}

impl Sha256 {
    /// Starts a message.
    pub fn new(backend: Backend) -> Sha256 {
        Sha256 { state: INITIAL_STATE, buffer: [0; BLOCK_LEN], length: 0, backend, finished: false }
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
        Digest::from_array(self.digest_bytes())
    }

    /// Returns the digest of the bytes taken so far; the state itself stays as it is.
    pub fn digest(&self) -> Digest {
        self.clone().finalize()
    }

    /// Returns how many bytes the message has so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the backend on which this message advances when it advances alone.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Takes bytes into the buffer and hands out the blocks that are now whole.
    ///
    /// The caller owes the compression of `head`, then `body`, before anything else.
    pub(crate) fn absorb<'a>(&mut self, mut data: &'a [u8]) -> Absorbed<'a> {
        assert!(!self.finished, "a message that was ended takes no more bytes");
        let buffered = self.buffered();
        self.length += data.len() as u64;
        let mut head = None;
        if buffered > 0 {
            let (start, rest) = data.split_at(data.len().min(BLOCK_LEN - buffered));
            self.buffer[buffered..][..start.len()].copy_from_slice(start);
            if buffered + start.len() < BLOCK_LEN {
                return Absorbed { head: None, body: &[] };
            }
            head = Some(self.buffer);
            data = rest;
        }
        let (body, rest) = data.as_chunks();
        self.buffer[..rest.len()].copy_from_slice(rest);
        Absorbed { head, body }
    }

    /// Ends the message: returns one or two blocks, the buffered bytes with their padding.
    ///
    /// The blocks sit at the end of the array; the second value is how many they are. The caller
    /// owes their compression. Source: FIPS 180-4 (2015), section 5.1.1.
    pub(crate) fn pad(&mut self) -> ([Block; 2], usize) {
        const LENGTH_OFFSET: usize = 2 * BLOCK_LEN - size_of::<u64>();
        let buffered = self.buffered();
        let count = if buffered < BLOCK_LEN - size_of::<u64>() { 1 } else { 2 };
        let mut blocks = [[0; BLOCK_LEN]; 2];
        let bytes = blocks.as_flattened_mut();
        let start = (2 - count) * BLOCK_LEN;
        bytes[start..][..buffered].copy_from_slice(&self.buffer[..buffered]);
        bytes[start + buffered] = 0x80;
        bytes[LENGTH_OFFSET..].copy_from_slice(&(self.length << 3).to_be_bytes());
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

    /// Reads the state out as bytes; it is the digest once the message is ended.
    pub(crate) fn digest_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (four, word) in bytes.as_chunks_mut().0.iter_mut().zip(self.state) {
            *four = word.to_be_bytes();
        }
        bytes
    }

    fn buffered(&self) -> usize {
        (self.length % BLOCK_LEN as u64) as usize
    }

    fn compress(&mut self, blocks: &[Block]) {
        self.backend.compress(std::slice::from_mut(&mut self.state), &[blocks]);
    }
}

impl std::fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sha256")
            .field("backend", &self.backend)
            .field("length", &self.length)
            .field("finished", &self.finished)
            .finish_non_exhaustive()
    }
}
