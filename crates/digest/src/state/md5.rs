//! Block and chaining value of MD5, and the constants that its kernels share.

/// One block of an MD5 message, 64 bytes.
pub(crate) type Block = [u8; 64];

/// The chaining value of one MD5 message: words a to d in order.
pub(crate) type State = [u32; 4];

/// The state before the first block. Source: RFC 1321 (1992), section 3.3.
pub(crate) const INITIAL_STATE: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
