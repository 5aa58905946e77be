//! The `direct` engine: reads past the page cache, so that the medium answers and not the memory.
//!
//! In: an open file. Out: its bytes from the storage; or through the page cache, and said to be,
//! where the file system cannot do otherwise.

use std::io;

use steadfast_sys::file::{File, Status};

use super::{Engine, Origin};

/// Offsets and buffers are multiples of this, which every block device accepts.
const ALIGNMENT_BYTES: usize = 4096;

/// Reads past the page cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Engine for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn prepare(&self, file: &File, _status: &Status) -> io::Result<Origin> {
        // Asking is not enough: encrypted and compressed files accept the flag and then read
        // through the cache. Only what the file system says of the file counts as the medium;
        // where it does not say, the flag is set all the same and the cache gets the credit.
        let proved = match file.direct_alignment() {
            Ok(Some(alignment)) if alignment.offset as usize <= ALIGNMENT_BYTES => Origin::Media,
            Ok(_) => return Ok(Origin::Cache),
            Err(_) => Origin::Cache,
        };
        match file.set_uncached() {
            Ok(()) => Ok(proved),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(Origin::Cache),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Origin::Cache),
            Err(error) => Err(error),
        }
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }

    fn alignment(&self) -> usize {
        ALIGNMENT_BYTES
    }
}
