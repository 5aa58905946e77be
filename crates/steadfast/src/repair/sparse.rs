//! Contents written with their holes, to the block.

use std::io;
use std::path::Path;

use steadfast_sys::file::{Draft, File, FileExtent};
use steadfast_sys::storage::volume;

/// Blocks of file systems that do not say how long theirs are.
const BLOCK_LEN: u64 = 4096;

/// Writes spans of contents to a draft. A block of zeros is left out where the file had a hole, or
/// if that is not known; where the file had zeros on the medium, they are written.
pub(crate) struct SparseWriter<'a> {
    /// `None` to count only.
    draft: Option<&'a Draft>,
    /// The file as it was, as far as there is one.
    like: Option<&'a File>,
    block_len: u64,
    /// The part of the file that was asked for last.
    known: Option<FileExtent>,
    /// How many bytes were written.
    pub(crate) written: u64,
}

impl<'a> SparseWriter<'a> {
    pub(crate) fn new(draft: &'a Draft, like: Option<&'a File>) -> SparseWriter<'a> {
        let block_len = draft.to_file().and_then(|file| file.block_len()).unwrap_or(BLOCK_LEN);
        SparseWriter { draft: Some(draft), like, block_len, known: None, written: 0 }
    }

    /// Makes one that writes nothing, and counts what this would write.
    pub(crate) fn counter(&self) -> SparseWriter<'a> {
        SparseWriter { draft: None, known: None, written: 0, ..*self }
    }

    /// Gives the draft its length. Later it would be too late: a file system that reserves room
    /// behind the end of a file that grows fills holes with it.
    pub(crate) fn set_length(&self, length: u64) -> io::Result<()> {
        self.draft.map_or(Ok(()), |draft| draft.set_length(length))
    }

    /// Writes bytes at an offset.
    pub(crate) fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut begin = 0;
        let mut at = 0;
        while at < bytes.len() {
            let start = offset + at as u64;
            let block_end = (start / self.block_len + 1) * self.block_len;
            let end = at + ((block_end - start) as usize).min(bytes.len() - at);
            let is_left_out = bytes[at..end].iter().all(|byte| *byte == 0)
                && self.is_hole(start, offset + end as u64);
            if is_left_out {
                self.put(&bytes[begin..at], offset + begin as u64)?;
                begin = end;
            }
            at = end;
        }
        self.put(&bytes[begin..], offset + begin as u64)
    }

    fn put(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.written += bytes.len() as u64;
        match self.draft {
            Some(draft) if !bytes.is_empty() => draft.write_at(bytes, offset),
            _ => Ok(()),
        }
    }

    /// Says whether the file had a hole there, as far as that is known.
    fn is_hole(&mut self, start: u64, end: u64) -> bool {
        let Some(like) = self.like else { return true };
        let known = match &self.known {
            Some(known) if known.range.start <= start && start < known.range.end => known.clone(),
            _ => match like.extent_at(start) {
                Ok(extent) => self.known.insert(extent).clone(),
                // A file system that does not tell.
                Err(_) => return true,
            },
        };
        known.is_hole && end <= known.range.end
    }
}

/// Fails before anything is written if a folder has no room. `most` is needed at most; only if
/// there is less, `count` finds out what is needed.
pub(crate) fn ensure_room(
    folder: &Path,
    most: u64,
    advice: &str,
    count: impl FnOnce() -> io::Result<u64>,
) -> io::Result<()> {
    // A file system that does not tell is tried.
    let Ok(volume) = volume(folder) else { return Ok(()) };
    if most <= volume.free_bytes {
        return Ok(());
    }
    let needed = count()?;
    if needed <= volume.free_bytes {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::StorageFull,
        format!("it needs {needed} bytes, and {} are free{advice}", volume.free_bytes),
    ))
}
