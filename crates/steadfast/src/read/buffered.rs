//! The `buffered` engine: `pread` through the page cache.
//!
//! In: an open file. Out: its bytes as the system has them, which may be the memory's and not the
//! medium's.

use std::io;

use steadfast_sys::file::{File, Status};

use super::{Engine, Origin};

/// Files longer than this are announced to the kernel as read from start to end.
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
