//! The outcome of reading one file, and the digests that are computed meanwhile.
//!
//! Takes the requested algorithms. Returns an [`Outcome`]. Knows nothing of how the bytes arrive.

use std::io;

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest, Lanes, Messages};
use steadfast_sys::file::{Dataless, Timestamp};

use super::ByteSink;
use crate::event::FileError;

/// One algorithm, or two if a tag moves from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Algorithms {
    pub(crate) first: Algorithm,
    pub(crate) second: Option<Algorithm>,
}

impl Algorithms {
    pub(crate) fn one(first: Algorithm) -> Algorithms {
        Algorithms { first, second: None }
    }

    pub(crate) fn two(first: Algorithm, second: Algorithm) -> Algorithms {
        Algorithms { first, second: (second != first).then_some(second) }
    }
}

/// The requested digests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digests {
    pub(crate) first: Digest,
    pub(crate) second: Option<Digest>,
}

/// The contents of a file: every byte was read and hashed, and the file did not change meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contents {
    /// In the order of [`Algorithms`].
    pub(crate) digests: Digests,
    /// Bytes that were hashed.
    pub(crate) length: u64,
    /// The file's modification time before and after.
    pub(crate) mtime: Timestamp,
}

/// The outcome of reading a file.
pub(super) enum Outcome {
    /// Every byte was read and hashed.
    Hashed(Contents),
    /// Every byte was read and none was hashed, as requested by [`super::Plan::Read`].
    Unhashed,
    /// The file changed meanwhile.
    Changed,
    /// The contents are not on this machine.
    Elsewhere,
    /// Not every byte could be read.
    Failed(FileError),
}

impl Outcome {
    /// Makes the outcome of a read that failed.
    pub(super) fn of_error(error: &io::Error) -> Outcome {
        match Dataless::is(error) {
            true => Outcome::Elsewhere,
            false => Outcome::Failed(FileError::from_io("read", error)),
        }
    }
}

/// The running digests of one file; none if it is only read.
pub(super) struct FileHasher {
    first: Option<AlgorithmHasher>,
    second: Option<Box<AlgorithmHasher>>,
    /// Receives the bytes besides the digests, if the task needs them.
    sink: Option<Box<dyn ByteSink>>,
}

impl FileHasher {
    pub(super) fn new(
        algorithms: Option<Algorithms>,
        sink: Option<Box<dyn ByteSink>>,
    ) -> FileHasher {
        let second = algorithms.and_then(|algorithms| algorithms.second);
        FileHasher {
            first: algorithms.map(|algorithms| AlgorithmHasher::new(algorithms.first)),
            second: second.map(|second| Box::new(AlgorithmHasher::new(second))),
            sink,
        }
    }

    /// Hashes the next bytes. Those with lanes are added to `messages`; the rest is hashed at once.
    /// `last` means that no bytes follow, so the lanes add the padding.
    pub(super) fn take<'a>(&'a mut self, data: &'a [u8], last: bool, messages: &mut Messages<'a>) {
        for hasher in self.first.iter_mut().chain(self.second.as_deref_mut()) {
            messages.push(hasher, data, last);
        }
        if let Some(sink) = &mut self.sink {
            sink.take(data);
        }
    }

    /// Hashes bytes of a file that shares no lanes with other files.
    pub(super) fn hash_alone(&mut self, data: &[u8], last: bool, lanes: Lanes) {
        let mut messages = Messages::new();
        self.take(data, last, &mut messages);
        messages.update(lanes);
    }

    /// Takes the sink that received the bytes besides the digests.
    pub(super) fn take_sink(&mut self) -> Option<Box<dyn ByteSink>> {
        self.sink.take()
    }

    /// Returns the contents of the file. The last bytes must have been passed as `last`.
    pub(super) fn finalize(self, length: u64, mtime: Timestamp) -> Outcome {
        let Some(first) = self.first else { return Outcome::Unhashed };
        let second = self.second.map(|second| second.finalize());
        let digests = Digests { first: first.finalize(), second };
        Outcome::Hashed(Contents { digests, length, mtime })
    }
}
