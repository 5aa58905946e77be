//! Collects messages of any algorithms for the lanes, sorted by algorithm.
//!
//! Takes states with their next bytes, and advances the states. Must not know backends, lanes, or
//! how they are filled.

use crate::algorithm_hasher::{AlgorithmHasher, AlgorithmState};
use crate::lanes::{Lanes, Md5Lanes, Message, Sha512Lanes};
use crate::rules::{Md5Rules, Sha256Rules, Sha512Rules};

/// The next bytes of many messages, of any algorithms.
#[derive(Debug, Default)]
pub struct Messages<'a> {
    sha256: Vec<Message<'a, Sha256Rules>>,
    sha512: Vec<Message<'a, Sha512Rules>>,
    md5: Vec<Message<'a, Md5Rules>>,
}

impl<'a> Messages<'a> {
    /// Makes an empty collection.
    pub fn new() -> Messages<'a> {
        Messages::default()
    }

    /// Adds the next bytes of a message; `last` means that it ends with them.
    ///
    /// An algorithm without lanes hashes its bytes at once; the others wait for
    /// [`Messages::update`].
    pub fn push(&mut self, hasher: &'a mut AlgorithmHasher, data: &'a [u8], last: bool) {
        match &mut hasher.state {
            AlgorithmState::Sha256(hasher) => self.sha256.push(Message { hasher, data, last }),
            AlgorithmState::Sha512(hasher) => self.sha512.push(Message { hasher, data, last }),
            AlgorithmState::Md5(hasher) => self.md5.push(Message { hasher, data, last }),
            state => state.update(data),
        }
    }

    /// Advances every waiting message by its bytes, and ends those marked `last`.
    ///
    /// SHA-256 runs in `lanes`, other algorithms in the widest of theirs.
    ///
    /// # Panics
    /// If a message was ended before.
    pub fn update(mut self, lanes: Lanes) {
        lanes.update(&mut self.sha256);
        Sha512Lanes::widest().update(&mut self.sha512);
        Md5Lanes::widest().update(&mut self.md5);
    }
}
