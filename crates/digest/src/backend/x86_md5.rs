//! What the MD5 kernels of x86 share: constants, and the order of the steps.
//!
//! Runs 64 steps of any width. Must not know instructions or lanes.

/// The 64 step constants.
///
/// Source: RFC 1321 (1992), section 3.4: 2^32 times the absolute sine of 1 to 64 radians, truncated
/// to whole numbers.
pub(super) static K: [u32; 64] = [
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
];

/// The number of bits by which the steps of each round rotate left, in turn.
///
/// Source: RFC 1321 (1992), section 3.4.
pub(super) const SHIFTS: [[i32; 4]; 4] =
    [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The function of each round as a truth table, the first operand in the index's high bit.
///
/// Source: RFC 1321 (1992), section 3.4: F, G, H and I of words b, c and d.
pub(super) const FUNCTIONS: [i32; 4] = [0xca, 0xe4, 0x96, 0x39];

/// Runs the 64 steps of MD5 over a state of four vectors and the sixteen words of a block.
///
/// `$step::<FUNCTION, SHIFT>` takes the state, a word and a constant. The order of the words is in
/// RFC 1321 (1992), section 3.4.
macro_rules! md5_steps {
    ($step:ident, $state:expr, $w:expr) => {{
        use $crate::backend::x86_md5::{FUNCTIONS, K, SHIFTS};
        let (mut v, w) = ($state, &$w);
        sixteen_times!(T => {
            v = $step::<{ FUNCTIONS[0] }, { SHIFTS[0][T % 4] }>(v, w[T], K[T]);
        });
        sixteen_times!(T => {
            v = $step::<{ FUNCTIONS[1] }, { SHIFTS[1][T % 4] }>(v, w[(5 * T + 1) % 16], K[16 + T]);
        });
        sixteen_times!(T => {
            v = $step::<{ FUNCTIONS[2] }, { SHIFTS[2][T % 4] }>(v, w[(3 * T + 5) % 16], K[32 + T]);
        });
        sixteen_times!(T => {
            v = $step::<{ FUNCTIONS[3] }, { SHIFTS[3][T % 4] }>(v, w[7 * T % 16], K[48 + T]);
        });
        v
    }};
}

pub(super) use md5_steps;
