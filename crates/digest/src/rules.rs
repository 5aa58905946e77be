//! The differences between algorithms of blocks, so that they share their book-keeping.
//!
//! Defines word and block shapes, first state, length field and kernels, per algorithm. Must not
//! know messages or lanes. SHA-256, SHA-512 and MD5 all divide a message into blocks, end it with a
//! bit, zeros and its length, and compress one block after the other into a state; this module has
//! the rest.

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
/// Only this crate can add algorithms, because their components are private.
pub trait Rules: Compression {}

/// The components of an algorithm of blocks.
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

    /// Splits off the end that does not fill a block.
    fn whole_blocks(data: &[u8]) -> (&[Self::Block], &[u8]);

    /// Encodes the length of a message, given in bytes.
    fn length_field(length: u64) -> Self::LengthField;

    /// Returns the digest in a state, once the message is ended.
    fn digest(state: &Self::State) -> Digest;

    /// Lists how many messages a kernel call of a backend can advance, ascending from 1.
    fn lane_choices(backend: Backend) -> &'static [usize];

    /// Returns the number of messages from which a backend's lanes are faster than its kernel for
    /// one; 0 for any number.
    fn wide_from(_backend: Backend) -> usize {
        0
    }

    /// Compresses whole blocks into one state per lane.
    ///
    /// Shape: `blocks[lane]` goes into `states[lane]`; every `blocks[lane]` has the same length.
    ///
    /// # Panics
    /// If there are not as many states as messages, or the backend has no kernel for that many.
    fn compress(backend: Backend, states: &mut [Self::State], blocks: &[&[Self::Block]]);
}
