//! The bytes of an entry: complete, to be sorted, and shortened, as it follows another in a run.
//!
//! Complete: device (4 bytes, little-endian), length of the path (4), the path, and the rest: flags
//! and optional values. In a run, two lengths replace that of the path: of the begin that it shares
//! with the entry before, and of what follows. Runs are deleted when planning ends.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use steadfast::manifest::{Mtime, Record, Step};
use steadfast::{Algorithm, Digest, Timestamp};

use crate::source::JobFile;

/// The begin of the path in a complete entry.
const PATH_START: usize = 8;

const HAS_LENGTH: u8 = 1;
const HAS_MTIME: u8 = 2;
const HAS_TAGGED: u8 = 4;
const HAS_CHECKED: u8 = 8;

/// Appends a complete entry.
pub(super) fn encode(device: u32, entry: &JobFile, out: &mut Vec<u8>) {
    let JobFile { record, device: number, bytes, checked_s } = entry;
    let path = record.path.as_os_str().as_bytes();
    out.extend(device.to_le_bytes());
    out.extend((path.len() as u32).to_le_bytes());
    out.extend(path);
    let rest = out.len();
    out.extend([0, 0]);
    let flag = |has: bool, flag: u8| if has { flag } else { 0 };
    out.push(
        flag(record.length.is_some(), HAS_LENGTH)
            | flag(record.mtime.is_some(), HAS_MTIME)
            | flag(record.tagged.is_some(), HAS_TAGGED)
            | flag(checked_s.is_some(), HAS_CHECKED),
    );
    out.extend(number.to_le_bytes());
    out.extend(bytes.to_le_bytes());
    out.extend(record.length.into_iter().flat_map(u64::to_le_bytes));
    if let Some(Mtime { time, step }) = record.mtime {
        out.push(step as u8);
        out.extend(time.seconds.to_le_bytes());
        out.extend(time.nanoseconds.to_le_bytes());
    }
    out.extend(record.tagged.into_iter().flat_map(|tagged| tagged.seconds.to_le_bytes()));
    out.extend(checked_s.iter().flat_map(|seconds| seconds.to_le_bytes()));
    out.push(record.digests.len() as u8);
    for (algorithm, digest) in &record.digests {
        let known = Algorithm::ALL.iter().position(|known| known == algorithm);
        out.push(known.expect("every algorithm is among all") as u8);
        out.push(digest.as_bytes().len() as u8);
        out.extend(digest.as_bytes());
    }
    let length = u16::try_from(out.len() - rest - 2).expect("an entry has few digests");
    out[rest..rest + 2].copy_from_slice(&length.to_le_bytes());
}

pub(super) fn device_of(encoded: &[u8]) -> u32 {
    number(encoded, 0)
}

pub(super) fn path_of(encoded: &[u8]) -> &[u8] {
    let length = number(encoded, 4) as usize;
    &encoded[PATH_START..PATH_START + length]
}

fn number(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes[at..at + 4].try_into().expect("four bytes are four bytes");
    u32::from_le_bytes(bytes)
}

/// Appends an entry as it follows `last` in a run, and returns the length of the complete one.
pub(super) fn shorten(last: &[u8], encoded: &[u8], out: &mut Vec<u8>) -> usize {
    let path = path_of(encoded);
    let before = if last.is_empty() { &[][..] } else { path_of(last) };
    let shared = path.iter().zip(before).take_while(|(a, b)| a == b).count();
    let rest = PATH_START + path.len();
    let rest_len = usize::from(u16::from_le_bytes([encoded[rest], encoded[rest + 1]])) + 2;
    out.extend(&encoded[..4]);
    out.extend((shared as u32).to_le_bytes());
    out.extend(((path.len() - shared) as u32).to_le_bytes());
    out.extend(&path[shared..]);
    out.extend(&encoded[rest..rest + rest_len]);
    rest + rest_len
}

/// Reads a run.
pub(super) struct RunReader<R> {
    input: R,
}

impl<R: Read> RunReader<R> {
    pub(super) fn new(input: R) -> RunReader<R> {
        RunReader { input }
    }

    /// Replaces an entry by the complete next one; returns whether there is one.
    pub(super) fn next(&mut self, encoded: &mut Vec<u8>) -> io::Result<bool> {
        let mut head = [0; 12];
        if self.input.read(&mut head[..1])? == 0 {
            return Ok(false);
        }
        self.input.read_exact(&mut head[1..])?;
        let (shared, more) = (number(&head, 4) as usize, number(&head, 8) as usize);
        // The shared begin is still there. The first entry has none.
        encoded.resize(PATH_START + shared, 0);
        encoded[..4].copy_from_slice(&head[..4]);
        encoded[4..PATH_START].copy_from_slice(&((shared + more) as u32).to_le_bytes());
        self.append(encoded, PATH_START + shared, more)
    }

    /// Reads the path from `at` on, and the rest.
    fn append(&mut self, encoded: &mut Vec<u8>, at: usize, more: usize) -> io::Result<bool> {
        encoded.resize(at + more + 2, 0);
        self.input.read_exact(&mut encoded[at..])?;
        let rest_len = [encoded[at + more], encoded[at + more + 1]];
        let rest = encoded.len();
        encoded.resize(rest + usize::from(u16::from_le_bytes(rest_len)), 0);
        self.input.read_exact(&mut encoded[rest..])?;
        Ok(true)
    }
}

/// Decodes a complete entry.
pub(super) fn decode(encoded: &[u8]) -> (u32, JobFile) {
    let path = path_of(encoded);
    let mut rest = EntryRest { bytes: &encoded[PATH_START + path.len() + 2..] };
    let flags = rest.byte();
    let (device, bytes) = (rest.u64(), rest.u64());
    let length = (flags & HAS_LENGTH != 0).then(|| rest.u64());
    let mtime = (flags & HAS_MTIME != 0).then(|| {
        let step = match rest.byte() {
            0 => Step::Nanosecond,
            1 => Step::Millisecond,
            _ => Step::Second,
        };
        let (seconds, nanoseconds) = (rest.u64().cast_signed(), u32::from_le_bytes(rest.take()));
        Mtime { time: Timestamp { seconds, nanoseconds }, step }
    });
    let tagged = (flags & HAS_TAGGED != 0).then(|| rest.u64().cast_signed());
    let checked_s = (flags & HAS_CHECKED != 0).then(|| rest.u64().cast_signed());
    let digests = (0..rest.byte()).map(|_| rest.digest()).collect();
    let path = PathBuf::from(OsString::from_vec(path.to_vec()));
    let tagged = tagged.map(|seconds| Timestamp { seconds, nanoseconds: 0 });
    let record = Record { path, digests, length, mtime, tagged };
    (device_of(encoded), JobFile { record, device, bytes, checked_s })
}

/// The bytes after the path, read from the front.
struct EntryRest<'a> {
    bytes: &'a [u8],
}

impl EntryRest<'_> {
    fn take<const LEN: usize>(&mut self) -> [u8; LEN] {
        let (taken, left) = self.bytes.split_at(LEN);
        self.bytes = left;
        taken.try_into().expect("so many bytes were split off")
    }

    fn byte(&mut self) -> u8 {
        let [byte] = self.take();
        byte
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn digest(&mut self) -> (Algorithm, Digest) {
        let algorithm = Algorithm::ALL[usize::from(self.byte())];
        let length = usize::from(self.byte());
        let (digest, left) = self.bytes.split_at(length);
        self.bytes = left;
        (algorithm, Digest::from_slice(digest).expect("it was a digest when it was written"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn entry(path: &str, full: bool) -> JobFile {
        let digest = |len| Digest::from_slice(&vec![7; len]).unwrap();
        let digests = vec![(Algorithm::Sha512, digest(64)), (Algorithm::Md5, digest(16))];
        let time = Timestamp { seconds: -5, nanoseconds: 7 };
        let tagged = Timestamp { seconds: 1 << 40, nanoseconds: 0 };
        let record = Record {
            path: path.into(),
            digests: if full { digests } else { Vec::new() },
            length: full.then_some(u64::MAX),
            mtime: full.then_some(Mtime { time, step: Step::Second }),
            tagged: full.then_some(tagged),
        };
        JobFile { record, device: 3, bytes: 9, checked_s: full.then_some(-1) }
    }

    #[test]
    fn entries_come_back_whole_and_shortened() {
        let entries =
            [entry("a/b", true), entry("a/b0", false), entry("", false), entry("a/c/d", true)];
        let (mut run, mut last) = (Vec::new(), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            let mut encoded = Vec::new();
            encode(at as u32, entry, &mut encoded);
            assert_eq!(decode(&encoded), (at as u32, entry.clone()));
            let length = encoded.len();
            encoded.extend(b"what follows in the arena");
            assert_eq!(shorten(&last, &encoded, &mut run), length);
            last = encoded[..length].to_vec();
        }
        let (mut reader, mut encoded) = (RunReader::new(Cursor::new(&run)), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            assert!(reader.next(&mut encoded).unwrap());
            assert_eq!(decode(&encoded), (at as u32, entry.clone()));
        }
        assert!(!reader.next(&mut encoded).unwrap());
        let mut cut = RunReader::new(Cursor::new(&run[..run.len() - 1]));
        let all = std::iter::repeat_with(|| cut.next(&mut encoded)).take(4);
        assert!(all.into_iter().any(|read| read.is_err()), "a run that was cut short");
    }
}
