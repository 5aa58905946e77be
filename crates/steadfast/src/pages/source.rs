//! An open file as a source of bytes, also where it is read past the page cache.
//!
//! In: a file as a run has it. Out: exactly the bytes asked for. A file that is read directly takes
//! only whole blocks at multiples of blocks, which is seen to here.

use std::io;

use steadfast_sys::file::{AlignedBuffer, File};
use steadfast_sys::source::ReadAt;

/// An open file of a known length.
pub(crate) struct Descriptor<'a> {
    pub(crate) file: &'a File,
    pub(crate) len_bytes: u64,
}

impl Descriptor<'_> {
    /// Fills the buffer; fewer bytes are the end of the file.
    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match self.file.read_at(&mut buffer[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(count) => read += count,
                // Direct reads of a file whose end is no multiple of a block stop there.
                Err(error) if read > 0 && error.kind() == io::ErrorKind::InvalidInput => break,
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    /// Reads whole blocks around the bytes that are wanted.
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
