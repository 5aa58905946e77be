//! Reads a source from its start to its end, and hashes what passes.

use std::io::{self, Read, Seek, SeekFrom};

use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_sys::source::ReadAt;

/// Reads a source from its start to its end, or from where it is told.
pub(crate) struct SourceReader<'a> {
    pub(crate) source: &'a dyn ReadAt,
    pub(crate) at: u64,
}

impl Read for SourceReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.source.len_bytes().saturating_sub(self.at);
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        self.source.read_exact_at(&mut buffer[..len], self.at)?;
        self.at += len as u64;
        Ok(len)
    }
}

impl Seek for SourceReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.source.len_bytes().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// Hashes and counts what is read from another reader.
pub(crate) struct HashingReader<R> {
    inner: R,
    hasher: AlgorithmHasher,
    len_bytes: u64,
}

impl<R: Read> HashingReader<R> {
    pub(crate) fn new(inner: R, algorithm: Algorithm) -> HashingReader<R> {
        HashingReader { inner, hasher: AlgorithmHasher::new(algorithm), len_bytes: 0 }
    }

    /// Reads the rest; returns the length and the digest of everything.
    pub(crate) fn finish(mut self) -> io::Result<(u64, Vec<u8>)> {
        io::copy(&mut self, &mut io::sink())?;
        Ok((self.len_bytes, self.hasher.finalize().as_bytes().to_vec()))
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.len_bytes += count as u64;
        Ok(count)
    }
}
