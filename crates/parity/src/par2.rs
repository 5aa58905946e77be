//! PAR2 sets of other tools: their packets, their files and blocks, and the code.
//!
//! Input: packets that anyone may have damaged or written. Output: what the set says of its files,
//! and how lost blocks follow from those that are left. Source: Parity Volume Set Specification 2.0
//! (2003-05-11).

mod field;
mod packet;
mod set;
mod solve;
mod search;

pub use field::Product;
pub use packet::{PACKET_HEADER_LEN, PacketHeader, PacketKind};
pub use search::BlockSearch;
pub use set::{BLOCKS_MAX, BlockMark, Par2File, Par2Packets, Par2Set};
pub use solve::{MISSING_MAX, Solution};
