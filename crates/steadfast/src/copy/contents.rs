//! Bytes of a file: read once, hashed, and given to whoever writes them.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{AlignedBuffer, File, Status, Timestamp};

use crate::read::Engine;

/// Bytes that are read at a time.
const SPAN_LEN: usize = 1 << 20;

/// Every file system reads blocks of this length past its cache.
const BLOCK_LEN: u64 = 4096;

/// Spans of a large file that wait to be hashed, or are hashed.
const SPANS: usize = 4;

/// A file of this length is hashed in a thread of its own, beside reading and writing.
const LARGE_LEN: u64 = 8 << 20;

/// Digests of contents, and their length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadContents {
    pub(super) digests: Vec<(Algorithm, Digest)>,
    pub(super) length: u64,
}

impl ReadContents {
    /// Returns the digest of an algorithm.
    pub(super) fn digest(&self, algorithm: Algorithm) -> Option<Digest> {
        let found = self.digests.iter().find(|(of, _)| *of == algorithm);
        found.map(|(_, digest)| *digest)
    }

    /// Returns a digest that proves that other contents are the same.
    pub(super) fn proof(&self) -> (Algorithm, Digest) {
        let mut digests = self.digests.iter().filter(|(algorithm, _)| algorithm.proves_sameness());
        *digests.next().expect("every reading has one such algorithm")
    }

    /// Returns the tag of the contents.
    pub(super) fn tag(&self, algorithm: Algorithm, mtime: Timestamp, tagged: Timestamp) -> Tag {
        let found = self.digest(algorithm).map(|digest| (algorithm, digest));
        let (algorithm, digest) = found.unwrap_or_else(|| self.proof());
        Tag { algorithm, digest, length: self.length, mtime, tagged }
    }
}

/// Receives each span of a file, with its offset.
pub(super) type PieceSink<'a> = dyn FnMut(&[u8], u64) -> io::Result<()> + 'a;

/// Reads a file to its end with a prepared engine.
///
/// # Errors
/// Whatever the system or the sink says; `Interrupted` if it was stopped.
pub(super) fn read_whole(
    (file, status): (&File, &Status),
    engine: &dyn Engine,
    algorithms: &[Algorithm],
    stop: &AtomicBool,
    sink: &mut PieceSink<'_>,
) -> io::Result<ReadContents> {
    let mut hashers: Vec<AlgorithmHasher> =
        algorithms.iter().map(|algorithm| AlgorithmHasher::new(*algorithm)).collect();
    let end = status.length;
    let length = match end < LARGE_LEN {
        true => {
            let mut buffer = AlignedBuffer::new(span_len(end));
            each_span(end, stop, &mut |offset| {
                let span = read_span(file, engine, &mut buffer, offset)?;
                let bytes = &buffer[span];
                hashers.iter_mut().for_each(|hasher| hasher.update(bytes));
                sink(bytes, offset).map(|()| bytes.len())
            })?
        }
        false => thread::scope(|scope| {
            let (full, to_hash) = sync_channel::<(AlignedBuffer, Range<usize>)>(SPANS);
            let (empty, to_fill) = sync_channel::<AlignedBuffer>(SPANS);
            for _ in 0..SPANS {
                let _ = empty.send(AlignedBuffer::new(SPAN_LEN));
            }
            let hashing = &mut hashers;
            let hash = move || {
                for (buffer, span) in to_hash {
                    let bytes = &buffer[span];
                    hashing.iter_mut().for_each(|hasher| hasher.update(bytes));
                    let _ = empty.send(buffer);
                }
            };
            thread::Builder::new().spawn_scoped(scope, hash)?;
            each_span(end, stop, &mut |offset| {
                let mut buffer = to_fill.recv().map_err(io::Error::other)?;
                let span = read_span(file, engine, &mut buffer, offset)?;
                let len = span.len();
                sink(&buffer[span.clone()], offset)?;
                full.send((buffer, span)).map_err(|_| io::Error::other("hashing ended"))?;
                Ok(len)
            })
        })?,
    };
    let digests = algorithms.iter().copied().zip(hashers.into_iter().map(|it| it.finalize()));
    Ok(ReadContents { digests: digests.collect(), length })
}

/// Calls `read` with one offset after the other, to the end or until it returns 0. Returns how far
/// that was.
fn each_span(
    end: u64,
    stop: &AtomicBool,
    read: &mut dyn FnMut(u64) -> io::Result<usize>,
) -> io::Result<u64> {
    let mut offset = 0;
    while offset < end {
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        match read(offset)? {
            0 => break,
            len => offset += len as u64,
        }
    }
    Ok(offset)
}

/// Reads once, from the block that an offset is in: some engines read whole blocks only. Returns
/// which part of the buffer has the bytes from the offset on.
fn read_span(
    file: &File,
    engine: &dyn Engine,
    buffer: &mut [u8],
    offset: u64,
) -> io::Result<Range<usize>> {
    let before = (offset % BLOCK_LEN) as usize;
    let len = engine.read_at(file, buffer, offset - before as u64)?;
    Ok(before.min(len)..len)
}

/// Returns the length of a buffer for a file: whole blocks.
fn span_len(length: u64) -> usize {
    (length.div_ceil(BLOCK_LEN).max(1) * BLOCK_LEN).min(SPAN_LEN as u64) as usize
}
