//! Block and chaining value of SHA-512, and the constants that its kernels share.

/// One block of a SHA-512 message, 128 bytes.
pub(crate) type Block = [u8; 128];

/// The chaining value of one SHA-512 message: words a to h in order.
pub(crate) type State = [u64; 8];

/// The state before the first block.
///
/// Source: FIPS 180-4 (2015), section 5.3.5: the first 64 bits of the fractional parts of the
/// square roots of the first eight primes.
pub(crate) const INITIAL_STATE: State = [
    0x6a09e667f3bcc908,
    0xbb67ae8584caa73b,
    0x3c6ef372fe94f82b,
    0xa54ff53a5f1d36f1,
    0x510e527fade682d1,
    0x9b05688c2b3e6c1f,
    0x1f83d9abfb41bd6b,
    0x5be0cd19137e2179,
];
