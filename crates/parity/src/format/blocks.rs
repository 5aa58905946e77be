//! Blocks of 4 KiB: 4092 bytes of content and their check value, by which two damaged copies are
//! merged.

use crate::geometry::PAGE_LEN;

/// Length of a block in bytes: a page, so that one bad page of a disk damages one block.
pub(super) const BLOCK_LEN: usize = PAGE_LEN;

/// Bytes of content of a block.
pub(super) const CONTENT_LEN: usize = BLOCK_LEN - CHECK_LEN;

const CHECK_LEN: usize = 4;

/// What a block belongs to. It is part of the check value, so no block passes for another.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockOf {
    /// The set; zeros for headers.
    pub(super) set: [u8; 16],
    /// The number of the block.
    pub(super) number: u32,
}

impl BlockOf {
    fn check_value(self, content: &[u8]) -> [u8; CHECK_LEN] {
        let check = crc32c::crc32c_append(crc32c::crc32c(&self.set), &self.number.to_le_bytes());
        crc32c::crc32c_append(check, content).to_le_bytes()
    }

    /// Makes a block of at most 4092 bytes; zeros follow them.
    pub(super) fn encode(self, content: &[u8]) -> [u8; BLOCK_LEN] {
        let mut block = [0; BLOCK_LEN];
        block[..content.len()].copy_from_slice(content);
        let check = self.check_value(&block[..CONTENT_LEN]);
        block[CONTENT_LEN..].copy_from_slice(&check);
        block
    }

    /// Returns the content of a block; `None` if it is damaged.
    pub(super) fn content(self, block: &[u8; BLOCK_LEN]) -> Option<&[u8]> {
        let (content, check) = block.split_at(CONTENT_LEN);
        (self.check_value(content) == check).then_some(content)
    }
}
