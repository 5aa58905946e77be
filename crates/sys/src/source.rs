//! Bytes of a known length that can be read at any offset: a file, a slice of memory, or a range of
//! another source.
//!
//! Returns exactly the bytes asked for. Nothing maps memory, so a failing disk is an error.

use std::io;
use std::path::Path;

use crate::cache;
use crate::file::File;

/// Bytes of a known length that can be read at any offset, by several threads at once.
pub trait ReadAt: Sync {
    /// Returns how many bytes there are.
    fn len_bytes(&self) -> u64;

    /// Fills the buffer with the bytes from an offset on.
    ///
    /// # Errors
    /// `UnexpectedEof` if there are fewer bytes than asked for; else whatever the system says.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Returns how many of the bytes are in memory; `None` if that is not known.
    fn cached_bytes(&self) -> Option<u64> {
        None
    }
}

impl ReadAt for [u8] {
    fn len_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let bytes = start.checked_add(buffer.len()).and_then(|end| self.get(start..end));
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn cached_bytes(&self) -> Option<u64> {
        Some(self.len_bytes())
    }
}

impl ReadAt for Vec<u8> {
    fn len_bytes(&self) -> u64 {
        self.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.as_slice().read_exact_at(buffer, offset)
    }

    fn cached_bytes(&self) -> Option<u64> {
        Some(self.len_bytes())
    }
}

impl<S: ReadAt + ?Sized> ReadAt for &S {
    fn len_bytes(&self) -> u64 {
        (**self).len_bytes()
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buffer, offset)
    }

    fn cached_bytes(&self) -> Option<u64> {
        (**self).cached_bytes()
    }
}

/// An open file together with the length it had when it was opened.
///
/// A file that shrinks meanwhile gives `UnexpectedEof`.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    len_bytes: u64,
}

impl FileSource {
    /// Opens the file at a path, following symlinks.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn open(path: &Path) -> io::Result<FileSource> {
        FileSource::new(File::open(path)?)
    }

    /// Takes an open file.
    ///
    /// # Errors
    /// Whatever the system says when asked for the length.
    pub fn new(file: File) -> io::Result<FileSource> {
        let len_bytes = file.status()?.length;
        Ok(FileSource { file, len_bytes })
    }
}

impl ReadAt for FileSource {
    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            let count = self.file.read_at(buffer, offset)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buffer = &mut buffer[count..];
            offset += count as u64;
        }
        Ok(())
    }

    fn cached_bytes(&self) -> Option<u64> {
        cache::cached_bytes(&self.file, self.len_bytes).ok()
    }
}

/// A range of another source, with offsets of its own.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a, S: ?Sized> {
    whole: &'a S,
    offset: u64,
    len_bytes: u64,
}

impl<'a, S: ReadAt + ?Sized> Part<'a, S> {
    /// Takes a range of a source; `None` if it reaches beyond the end.
    pub fn new(whole: &'a S, offset: u64, len_bytes: u64) -> Option<Part<'a, S>> {
        let end = offset.checked_add(len_bytes)?;
        (end <= whole.len_bytes()).then_some(Part { whole, offset, len_bytes })
    }
}

impl<S: ReadAt + ?Sized> ReadAt for Part<'_, S> {
    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.len_bytes) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.whole.read_exact_at(buffer, self.offset + offset)
    }
}

/// Reads a range into memory that is reserved only once the range is known to exist.
///
/// # Errors
/// `UnexpectedEof` if the range reaches beyond the end; else whatever the source says.
pub fn read_range(
    source: &(impl ReadAt + ?Sized),
    offset: u64,
    len_bytes: u64,
) -> io::Result<Vec<u8>> {
    let end = offset.checked_add(len_bytes);
    if end.is_none_or(|end| end > source.len_bytes()) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let len = usize::try_from(len_bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = vec![0; len];
    source.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}
