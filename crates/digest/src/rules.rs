//! What sets one algorithm of blocks apart from another, so that all share their book-keeping.
//!
//! In: nothing. Out: word and block shapes, first state, length field, kernels, per algorithm.
//! Must not know: messages, lanes. SHA-256, SHA-512 and MD5 all cut a message into blocks, end it
//! with a bit, zeros and its length, and compress block after block into a state; what differs is
//! here.

pub(crate) mod md5;
pub(crate) mod sha256;
pub(crate) mod sha512;

use std::fmt::Debug;

pub use self::md5::Md5Rules;
pub use self::sha256::Sha256Rules;
pub use self::sha512::Sha512Rules;

use crate::algorithm::Algorithm;
use crate::backend::Backend;
use crate::digest::Digest;

/// An algorithm whose messages can share a kernel, one to a lane.
///
/// Only this crate can have more of them: what they consist of is private.
pub trait Rules: Compression {}

/// What an algorithm of blocks consists of.
pub trait Compression: Copy + Debug + Eq + 'static {
    /// The chaining value of one message.
    type State: Copy;
    /// One block of a message, in bytes.
    type Block: AsRef<[u8]> + AsMut<[u8]> + Copy + Debug;
    /// The bytes at the end of the padding.
    type LengthField: AsRef<[u8]>;

    /// The algorithm by name.
    const ALGORITHM: Algorithm;
    /// The state before the first block.
    const INITIAL_STATE: Self::State;
    /// A block of zeros.
    const ZERO_BLOCK: Self::Block;

    /// Splits off what does not fill a block.
    fn whole_blocks(data: &[u8]) -> (&[Self::Block], &[u8]);

    /// Encodes the length of a message, given in bytes.
    fn length_field(length: u64) -> Self::LengthField;

    /// Reads a state out; it is the digest once the message is ended.
    fn digest(state: &Self::State) -> Digest;

    /// Lists how many messages a kernel call of a backend can advance, ascending from 1.
    fn lane_choices(backend: Backend) -> &'static [usize];

    /// Returns from how many messages on a backend's lanes beat its kernel for one; 0 for any.
    fn wide_from(_backend: Backend) -> usize {
        0
    }

    /// Compresses whole blocks into one state per lane.
    ///
    /// Shape: `blocks[lane]` feeds `states[lane]`; every `blocks[lane]` has the same length.
    ///
    /// # Panics
    /// If there are not as many states as messages, or the backend has no kernel for that many.
    fn compress(backend: Backend, states: &mut [Self::State], blocks: &[&[Self::Block]]);
}
