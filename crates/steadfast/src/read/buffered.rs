//! The `buffered` engine: `pread` through the page cache.
//!
//! In: an open file. Out: its bytes as the system returns them, which may come from memory and not
//! from the medium.

use std::io;

use steadfast_sys::file::{File, Status};

use super::{Engine, Origin};

/// For longer files, the kernel is advised that they are read sequentially.
const SEQUENTIAL_LEN_BYTES_MIN: u64 = 1 << 20;

/// Reads through the page cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buffered;

impl Engine for Buffered {
    fn name(&self) -> &'static str {
        "buffered"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        if status.length > SEQUENTIAL_LEN_BYTES_MIN {
            file.advise_sequential();
        }
        Ok(Origin::Cache)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }

    fn alignment(&self) -> usize {
        64
    }
}
