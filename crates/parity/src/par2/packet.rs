//! The header of a packet.

/// Length of a packet's header in bytes.
pub const PACKET_HEADER_LEN: usize = 64;

const MAGIC: &[u8; 8] = b"PAR2\0PKT";

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// The length of blocks, and the files in their order.
    Main,
    /// The name, length and digest of a file.
    File,
    /// The digests of a file's blocks.
    Blocks,
    /// A recovery block.
    Recovery,
    /// Anything else: not needed.
    Other,
}

/// What stands before the body of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    /// Length of the packet in bytes, with this header.
    pub length: u64,
    /// The MD5 of what follows it in the packet.
    pub digest: [u8; 16],
    /// The set that the packet belongs to.
    pub set: [u8; 16],
    /// What the packet is.
    pub kind: PacketKind,
}

impl PacketHeader {
    /// The first byte that the digest covers.
    pub const COVERED_FROM: u64 = 32;

    /// Reads a header; `None` if the bytes are none.
    pub fn parse(bytes: &[u8; PACKET_HEADER_LEN]) -> Option<PacketHeader> {
        let part = |at: usize| -> [u8; 16] { std::array::from_fn(|byte| bytes[at + byte]) };
        let length = u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 + byte]));
        let is_one = bytes.starts_with(MAGIC)
            && length >= PACKET_HEADER_LEN as u64
            && length.is_multiple_of(4);
        let kind = match &part(48) {
            b"PAR 2.0\0Main\0\0\0\0" => PacketKind::Main,
            b"PAR 2.0\0FileDesc" => PacketKind::File,
            b"PAR 2.0\0IFSC\0\0\0\0" => PacketKind::Blocks,
            b"PAR 2.0\0RecvSlic" => PacketKind::Recovery,
            _ => PacketKind::Other,
        };
        is_one.then(|| PacketHeader { length, digest: part(16), set: part(32), kind })
    }

    /// Returns where a packet may begin in bytes.
    pub fn find(bytes: &[u8]) -> Option<usize> {
        bytes.windows(MAGIC.len()).position(|window| window == MAGIC)
    }
}
