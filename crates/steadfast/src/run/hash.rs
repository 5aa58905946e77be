//! `hash`: walk, read, hash. Returns the digests of files, whether they have tags or not.

use std::io::{self, Read};

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use steadfast_sys::file::File;

use super::check::first_foreign;
use super::judge::{judge_known, read_nevertheless};
use super::tag_context::{TagContext, TagLookup};
use crate::event::{FileError, FileEvent};
use crate::pipeline::{Algorithms, Contents, Plan, Task};
use crate::verdict::Verdict;

pub(super) struct HashTask {
    pub(super) context: TagContext,
    /// Whether files are reported that are corrupt by their tag.
    pub(super) judges: bool,
}

impl Task for HashTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        let wanted = self.context.new_algorithm();
        let second = if self.judges { self.known_algorithm(file, event) } else { Ok(None) };
        match second {
            Ok(Some(_))
                if self.context.judge_length(file, event).is_some_and(Verdict::is_alarm) =>
            {
                Plan::Done
            }
            Ok(Some(second)) => {
                read_nevertheless(event);
                Plan::Hash { algorithms: Algorithms::two(wanted, second), settled: false }
            }
            Ok(None) => Plan::Hash { algorithms: Algorithms::one(wanted), settled: false },
            Err(trouble) => {
                // The file may have decayed, so its contents are not reported as good.
                event.fail(trouble);
                Plan::Done
            }
        }
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let algorithm = self.context.new_algorithm();
        let Contents { digests, length, mtime } = contents;
        let actual = self.context.tag_of(algorithm, digests.first, length, mtime);
        let (stored, reference) = (event.stored.as_ref(), event.reference.as_deref());
        let evidence = || self.context.evidence(file, event);
        let judged = judge_known(stored, reference, &actual, digests.second, evidence);
        event.actual = Some(actual);
        // `hash` reports no verdict but that of decay, or of what may be.
        let judged = judged.map(|(judged, _)| judged).filter(|it| it.verdict.may_be_decay());
        (event.verdict, event.visit.reason) =
            (judged.map(|it| it.verdict), judged.and_then(|it| it.reason));
    }

    fn give_up(&self, _: &File, event: &mut FileEvent) {
        (event.stored, event.reference) = (None, None);
    }
}

impl HashTask {
    /// Looks for a record to judge a file by: its tag, the catalogue's, or another tool's. Returns
    /// the record's algorithm.
    fn known_algorithm(
        &self,
        file: &File,
        event: &mut FileEvent,
    ) -> Result<Option<Algorithm>, FileError> {
        match self.context.look_up(file, event) {
            TagLookup::Tag(tag) => {
                // A damaged attribute is no error if the catalogue can judge the contents.
                event.trouble = None;
                return Ok(Some(tag.algorithm));
            }
            TagLookup::Unreadable => {
                let unknown = || FileError::new("read the tag", "unknown");
                return Err(event.trouble.take().unwrap_or_else(unknown));
            }
            TagLookup::Nothing => {}
        }
        event.reference = first_foreign(file, event)?.map(Box::new);
        let digests = event.reference.as_deref().map(|reference| &reference.digests);
        Ok(digests.and_then(|digests| digests.first()).map(|(algorithm, _)| *algorithm))
    }
}

/// Hashes a stream to its end, for example standard input or a pipe.
///
/// # Errors
/// If reading fails.
pub fn digest_of(reader: &mut dyn Read, algorithm: Algorithm) -> io::Result<Digest> {
    let mut hasher = AlgorithmHasher::new(algorithm);
    let mut buffer = vec![0; 256 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(len) => hasher.update(&buffer[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns these results in turn, then the end of the stream.
    struct Calls(Vec<io::Result<&'static [u8]>>);

    impl Read for Calls {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let bytes = self.0.remove(0)?;
            buffer[..bytes.len()].copy_from_slice(bytes);
            Ok(bytes.len())
        }
    }

    #[test]
    fn a_stream_that_is_interrupted_goes_on_and_one_that_fails_ends() {
        let interrupted = || Err(io::ErrorKind::Interrupted.into());
        let mut calls = Calls(vec![interrupted(), Ok(b"a"), interrupted(), Ok(b"bc")]);
        let digest = digest_of(&mut calls, Algorithm::Sha256).unwrap();
        assert_eq!(digest, steadfast_digest::sha256(b"abc"));
        let mut calls = Calls(vec![Ok(b"a"), Err(io::ErrorKind::TimedOut.into())]);
        let error = digest_of(&mut calls, Algorithm::Sha256).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
