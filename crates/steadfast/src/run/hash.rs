//! `hash`: walk, read, hash — the digests of files, whatever their tags.

use std::io::{self, Read};

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest, Lanes};
use steadfast_sys::file::File;

use super::judge::{Found, Tools};
use crate::hash::{Algorithms, Contents, Plan, Task};
use crate::monitor::FileEvent;
use crate::tag::Tag;
use crate::verdict::{Reading, Stored, Verdict};

pub(super) struct HashTask {
    pub(super) tools: Tools,
}

impl Task for HashTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        let wanted = self.tools.new_algorithm();
        let algorithms = match self.tools.judges.then(|| self.tools.look_up(file, event)) {
            Some(Found::Tag(tag)) => Algorithms::two(wanted, tag.algorithm),
            _ => Algorithms::one(wanted),
        };
        // What a tag cannot tell is no trouble of who only wants digests.
        (event.verdict, event.trouble) = (None, None);
        Plan::Hash { algorithms, settled: false }
    }

    fn conclude(&self, _file: &File, event: &mut FileEvent, contents: Contents) {
        let second = match &contents {
            Contents::Whole { digests, .. } => digests.second,
            _ => None,
        };
        let stored = event.stored.take();
        let verdict = self.tools.judge(event, self.tools.new_algorithm(), contents);
        if verdict == Verdict::Untagged {
            event.verdict = None;
        }
        let (Some(stored), Some(actual)) = (stored, event.actual) else { return };
        let digest = second.unwrap_or(actual.digest);
        let by_tag = Tag { algorithm: stored.algorithm, digest, ..actual };
        let judged = Verdict::of(Stored::Tag(&stored), Reading::Whole(&by_tag));
        event.stored = Some(stored);
        event.verdict = (judged == Verdict::Corrupt).then_some(judged);
    }
}

/// Hashes a stream to its end: standard input, a pipe.
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

/// Returns the SHA-256 lanes that a run takes unless told otherwise: the fastest here, tried at the
/// first call.
pub fn fastest_lanes() -> Lanes {
    crate::hash::fastest_lanes()
}
