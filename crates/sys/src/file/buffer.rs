//! Aligned memory for direct reads.
//!
//! Allocates one page more than asked for and starts at the first aligned byte. That needs no
//! unsafe allocation.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A heap buffer of fixed length that begins on a 4096-byte boundary and is zeroed once.
///
/// No device needs a larger alignment for direct reads.
pub struct AlignedBuffer {
    bytes: Box<[u8]>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    /// The alignment of the first byte, in bytes.
    pub const ALIGNMENT: usize = 4096;

    /// Allocates a buffer of this many bytes, all zero.
    ///
    /// # Panics
    /// If the length is beyond what an allocation can be.
    #[must_use]
    pub fn new(length: usize) -> Self {
        let spare = Self::ALIGNMENT - 1;
        let padded = length.checked_add(spare).expect("the length leaves room for its alignment");
        let bytes = vec![0; padded].into_boxed_slice();
        let start = bytes.as_ptr().addr().wrapping_neg() % Self::ALIGNMENT;
        Self { bytes, start, length }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBuffer").field("length", &self.length).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::AlignedBuffer;

    #[test]
    fn every_length_is_aligned_zero_and_writable_to_the_last_byte() {
        for length in [0, 1, 4095, 4096, 4097, 1 << 20] {
            let mut buffer = AlignedBuffer::new(length);
            assert_eq!(buffer.len(), length);
            assert_eq!(buffer.as_ptr().addr() % AlignedBuffer::ALIGNMENT, 0);
            assert!(buffer.iter().all(|&byte| byte == 0));
            buffer.fill(0xa5);
            assert!(buffer.iter().all(|&byte| byte == 0xa5));
        }
    }

    #[test]
    fn a_moved_buffer_stays_aligned() {
        let buffers: Vec<_> = (1..20).map(|pages| AlignedBuffer::new(pages * 1000)).collect();
        for buffer in buffers {
            assert_eq!(buffer.as_ptr().addr() % AlignedBuffer::ALIGNMENT, 0);
        }
    }
}
