//! The file that queues write to: contents that any number of threads can write and verify.
//!
//! Each page of 4 KiB has fixed incompressible bytes and its own number, so every write at an
//! offset writes the same bytes, and the file can be verified after any order of writes.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt as _;

use steadfast_sys::file::{AlignedBuffer, File};

use crate::random::Random;

/// Bytes with a number of their own.
const PAGE_LEN_BYTES: u64 = 4 << 10;

/// The fixed bytes repeat after this length.
pub(super) const PERIOD_LEN_BYTES: u64 = 1 << 20;

/// The number of the file in its folder.
pub(super) const FILE: u32 = 1;

/// Returns whether blocks of this length can be written: they divide the period, or it them.
pub(super) fn fits(block_len: u64) -> bool {
    block_len.is_multiple_of(PAGE_LEN_BYTES)
        && (PERIOD_LEN_BYTES.is_multiple_of(block_len)
            || block_len.is_multiple_of(PERIOD_LEN_BYTES))
}

/// The bytes of one writing thread.
pub(super) struct WrittenPages {
    buffer: AlignedBuffer,
}

impl WrittenPages {
    /// Makes the fixed bytes, long enough for a block.
    pub(super) fn new(block_len: u64, seed: u64) -> WrittenPages {
        let mut buffer = AlignedBuffer::new(block_len.max(PERIOD_LEN_BYTES) as usize);
        for period in buffer.chunks_mut(PERIOD_LEN_BYTES as usize) {
            Random::new(seed).fill(period);
        }
        WrittenPages { buffer }
    }

    /// Returns the bytes of the block at an offset.
    pub(super) fn block(&mut self, offset: u64, block_len: u64) -> &[u8] {
        let from = (offset % PERIOD_LEN_BYTES) as usize;
        let block = &mut self.buffer[from..from + block_len as usize];
        let first = offset / PAGE_LEN_BYTES;
        for (page, number) in block.chunks_mut(PAGE_LEN_BYTES as usize).zip(first..) {
            page[..8].copy_from_slice(&number.to_le_bytes());
        }
        block
    }
}

/// Writes the whole file, past the page cache if the file system does that, and flushes it.
pub(super) fn fill(file: &fs::File, length: u64, seed: u64) -> io::Result<()> {
    let mut pages = WrittenPages::new(PERIOD_LEN_BYTES, seed);
    for offset in (0..length).step_by(PERIOD_LEN_BYTES as usize) {
        let length = PERIOD_LEN_BYTES.min(length - offset);
        file.write_all_at(pages.block(offset, length), offset)?;
    }
    file.sync_all()
}

/// Returns whether the file has its bytes.
pub(super) fn is_intact(file: &File, length: u64, seed: u64) -> io::Result<bool> {
    let mut pages = WrittenPages::new(PERIOD_LEN_BYTES, seed);
    let mut buffer = AlignedBuffer::new(PERIOD_LEN_BYTES as usize);
    for offset in (0..length).step_by(PERIOD_LEN_BYTES as usize) {
        let length = PERIOD_LEN_BYTES.min(length - offset);
        let read = file.read_at(&mut buffer[..length as usize], offset)?;
        if read as u64 != length || buffer[..read] != *pages.block(offset, length) {
            return Ok(false);
        }
    }
    Ok(true)
}
