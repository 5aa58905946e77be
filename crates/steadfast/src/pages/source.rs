//! An open file as a source of bytes, also for reads past the page cache.
//!
//! Returns exactly the requested bytes. Direct reads must be of whole aligned blocks; this module
//! takes care of it.

use std::io;

use steadfast_sys::file::{AlignedBuffer, File};
use steadfast_sys::source::ReadAt;

/// An open file of a known length.
pub(crate) struct Descriptor<'a> {
    pub(crate) file: &'a File,
    pub(crate) len_bytes: u64,
}

impl Descriptor<'_> {
    /// Fills the buffer; returns fewer bytes at the end of the file.
    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match self.file.read_at(&mut buffer[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(count) => read += count,
                // Direct reads stop at the end of a file whose length is not a multiple of a block.
                Err(error) if read > 0 && error.kind() == io::ErrorKind::InvalidInput => break,
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    /// Reads the whole blocks around the requested bytes.
    fn read_aligned(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let block = AlignedBuffer::ALIGNMENT as u64;
        let start = offset / block * block;
        let skipped = (offset - start) as usize;
        let span = (skipped + buffer.len()).next_multiple_of(block as usize);
        let mut blocks = AlignedBuffer::new(span);
        let read = self.read(&mut blocks, start)?;
        let wanted = blocks[..read].get(skipped..skipped + buffer.len());
        buffer.copy_from_slice(wanted.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl ReadAt for Descriptor<'_> {
    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self.read(buffer, offset) {
            Ok(read) if read == buffer.len() => Ok(()),
            Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                self.read_aligned(buffer, offset)
            }
            Err(error) => Err(error),
        }
    }
}
