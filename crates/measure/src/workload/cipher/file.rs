//! Encrypts a file into another, and measures the share of its time in the cipher.
//!
//! One thread reads and writes plainly, as simple programs do, so the result shows how much such a
//! task gains from a faster cipher.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast_sys::clock;
use steadfast_sys::file::Dir;

use super::kernels;
use crate::error::Error;

/// Bytes that are read, encrypted and written at a time.
pub(super) const CHUNK_LEN_BYTES: usize = 1 << 20;

/// The result of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Filed {
    /// Bytes of the plain file.
    pub(super) bytes: u64,
    /// Whole time, from opening to closing.
    pub(super) elapsed_ns: u64,
    /// Processor time in that time.
    pub(super) cpu_ns: u64,
    /// The part of it that the cipher took.
    pub(super) enciphering_ns: u64,
}

/// Encrypts a file into an existing empty one.
pub(super) fn encipher(algorithm: &str, from: &Path, to: &Path) -> Result<Filed, Error> {
    let mut cipher = kernels::cipher(algorithm)?;
    let mut plain = vec![0; CHUNK_LEN_BYTES];
    let mut enciphered = vec![0; CHUNK_LEN_BYTES + cipher.tag_len()];
    let cpu = clock::process_cpu_ns();
    let begun = clock::monotonic_ns();
    let reading = |error| Error::system("read it", error).at(from);
    let writing = |error| Error::system("write it", error).at(to);
    let mut source = File::open(from).map_err(reading)?;
    let target = Dir::parent_of(to).and_then(|(folder, name)| folder.open_own(&name));
    let mut target = target.map_err(writing)?;
    let (mut bytes, mut enciphering_ns) = (0, 0);
    for unit in 0.. {
        let length = fill(&mut source, &mut plain).map_err(reading)?;
        if length == 0 {
            break;
        }
        let at = clock::monotonic_ns();
        let enciphered = &mut enciphered[..length + cipher.tag_len()];
        cipher.encipher(unit, &plain[..length], enciphered)?;
        enciphering_ns += clock::monotonic_ns() - at;
        target.write_all(enciphered).map_err(writing)?;
        bytes += length as u64;
    }
    drop(target);
    let elapsed_ns = (clock::monotonic_ns() - begun).max(1);
    Ok(Filed { bytes, elapsed_ns, cpu_ns: clock::process_cpu_ns() - cpu, enciphering_ns })
}

/// Reads until the buffer is full or the file ends.
fn fill(source: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
