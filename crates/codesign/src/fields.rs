//! Reads integers at offsets, in either byte order.

/// Bytes of a structure, and the order of its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntegerReader<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl<'a> IntegerReader<'a> {
    /// Reads big-endian numbers.
    pub(crate) fn big(bytes: &'a [u8]) -> IntegerReader<'a> {
        IntegerReader { bytes, big: true }
    }

    /// Reads numbers in the order given.
    pub(crate) fn new(bytes: &'a [u8], big: bool) -> IntegerReader<'a> {
        IntegerReader { bytes, big }
    }

    /// Reads other bytes in the same order.
    pub(crate) fn of(self, bytes: &[u8]) -> IntegerReader<'_> {
        IntegerReader { bytes, big: self.big }
    }

    pub(crate) fn u8(self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    pub(crate) fn u16(self, at: usize) -> Option<u16> {
        let field = self.array(at)?;
        Some(if self.big { u16::from_be_bytes(field) } else { u16::from_le_bytes(field) })
    }

    pub(crate) fn u32(self, at: usize) -> Option<u32> {
        let field = self.array(at)?;
        Some(if self.big { u32::from_be_bytes(field) } else { u32::from_le_bytes(field) })
    }

    pub(crate) fn u64(self, at: usize) -> Option<u64> {
        let field = self.array(at)?;
        Some(if self.big { u64::from_be_bytes(field) } else { u64::from_le_bytes(field) })
    }

    fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }
}
