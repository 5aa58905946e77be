//! `hash`: walk, read, hash — the digests of files, whatever their tags.

use std::io::{self, Read};

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use steadfast_sys::file::File;

use super::judge::Tools;
use crate::hash::{Algorithms, Contents, Plan, Task};
use crate::monitor::FileEvent;
use crate::verdict::Verdict;

pub(super) struct HashTask {
    pub(super) tools: Tools,
}

impl Task for HashTask {
    fn open(&self, _file: &File, _event: &mut FileEvent) -> Plan {
        Plan::Hash { algorithms: Algorithms::one(self.tools.new_algorithm()), settled: false }
    }

    fn conclude(&self, _file: &File, event: &mut FileEvent, contents: Contents) {
        let verdict = self.tools.judge(event, self.tools.new_algorithm(), contents);
        if verdict == Verdict::Untagged {
            event.verdict = None;
        }
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
