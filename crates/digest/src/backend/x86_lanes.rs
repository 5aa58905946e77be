//! What the vector kernels of x86 share: loads and stores; for SHA-2, the loop over blocks and the
//! constants of SHA-512.
//!
//! Defines macros, because every kernel must be compiled for its own instructions. Must not know
//! which instructions these are.

use crate::state::sha256;

/// The 80 round constants of SHA-512.
///
/// Source: FIPS 180-4 (2015), section 4.2.3: the first 64 bits of the fractional parts of the cube
/// roots of the first eighty primes.
pub(super) static SHA512_K: [u64; 80] = sha512_constants();

/// The first halves of the last sixteen constants. Those of the others are SHA-256's constants.
const LAST_HIGH: [u32; 16] = [
    0xca273ece, 0xd186b8c7, 0xeada7dd6, 0xf57d4f7f, 0x06f067aa, 0x0a637dc5, 0x113f9804, 0x1b710b35,
    0x28db77f5, 0x32caab7b, 0x3c9ebe0a, 0x431d67c4, 0x4cc5d4be, 0x597f299c, 0x5fcb6fab, 0x6c44198c,
];

/// The second halves of the constants.
const LOW: [u32; 80] = [
    0xd728ae22, 0x23ef65cd, 0xec4d3b2f, 0x8189dbbc, 0xf348b538, 0xb605d019, 0xaf194f9b, 0xda6d8118,
    0xa3030242, 0x45706fbe, 0x4ee4b28c, 0xd5ffb4e2, 0xf27b896f, 0x3b1696b1, 0x25c71235, 0xcf692694,
    0x9ef14ad2, 0x384f25e3, 0x8b8cd5b5, 0x77ac9c65, 0x592b0275, 0x6ea6e483, 0xbd41fbd4, 0x831153b5,
    0xee66dfab, 0x2db43210, 0x98fb213f, 0xbeef0ee4, 0x3da88fc2, 0x930aa725, 0xe003826f, 0x0a0e6e70,
    0x46d22ffc, 0x5c26c926, 0x5ac42aed, 0x9d95b3df, 0x8baf63de, 0x3c77b2a8, 0x47edaee6, 0x1482353b,
    0x4cf10364, 0xbc423001, 0xd0f89791, 0x0654be30, 0xd6ef5218, 0x5565a910, 0x5771202a, 0x32bbd1b8,
    0xb8d2d0c8, 0x5141ab53, 0xdf8eeb99, 0xe19b48a8, 0xc5c95a63, 0xe3418acb, 0x7763e373, 0xd6b2b8a3,
    0x5defb2fc, 0x43172f60, 0xa1f0ab72, 0x1a6439ec, 0x23631e28, 0xde82bde9, 0xb2c67915, 0xe372532b,
    0xea26619c, 0x21c0c207, 0xcde0eb1e, 0xee6ed178, 0x72176fba, 0xa2c898a6, 0xbef90dae, 0x131c471b,
    0x23047d84, 0x40c72493, 0x15c9bebc, 0x9c100d4c, 0xcb3e42b6, 0xfc657e2a, 0x3ad6faec, 0x4a475817,
];

const fn sha512_constants() -> [u64; 80] {
    let mut constants = [0; 80];
    let mut at = 0;
    while at < 80 {
        let high = if at < 64 { sha256::K.0[at] } else { LAST_HIGH[at - 64] };
        constants[at] = (high as u64) << 32 | LOW[at] as u64;
        at += 1;
    }
    constants
}

/// Defines loads and stores of a vector, each from or to an array of the same length.
macro_rules! loads_and_stores {
    (
        $feature:literal, $vector:ident;
        $read:ident: $($load:ident [$loaded:ty; $loaded_len:literal]),+;
        $write:ident: $($store:ident [$stored:ty; $stored_len:literal]),+;
    ) => {
        $(
            #[inline]
            #[expect(unsafe_code, reason = "a load through a pointer")]
            #[target_feature(enable = $feature)]
            fn $load(words: &[$loaded; $loaded_len]) -> $vector {
                const { assert!(size_of::<[$loaded; $loaded_len]>() == size_of::<$vector>()) };
                // SAFETY: `words` is readable for the length of a vector, as the line above
                // asserts, and this load asks for no alignment.
                unsafe { $read(words.as_ptr().cast()) }
            }
        )+
        $(
            #[inline]
            #[expect(unsafe_code, reason = "a store through a pointer")]
            #[target_feature(enable = $feature)]
            fn $store(vector: $vector) -> [$stored; $stored_len] {
                const { assert!(size_of::<[$stored; $stored_len]>() == size_of::<$vector>()) };
                let mut words = [0; $stored_len];
                // SAFETY: `words` is writable for the length of a vector, as asserted above, and
                // this store asks for no alignment.
                unsafe { $write(words.as_mut_ptr().cast(), vector) }
                words
            }
        )+
    };
}

/// Compresses the blocks of `LANES` messages with SHA-256 or SHA-512.
///
/// Uses `LANES`, `message_words` and `round` of the kernel, and the given constants, load, store,
/// addition, instruction that repeats a word in every lane, and way of computing the next sixteen
/// words of the message schedule in place.
macro_rules! sha2_lanes {
    (
        $states:ident, $blocks:ident, $k:expr;
        $load:ident, $store:ident, $add:ident, $repeat:ident;
        $w:ident => $extend:block
    ) => {
        let mut state = array_from!(8; word => {
            $load(&array_from!(LANES; lane => $states[lane][word]))
        });
        for index in 0..$blocks[0].len() {
            let mut $w = message_words(array_from!(LANES; lane => &$blocks[lane][index]));
            let mut v = state;
            for (sixteen, k) in $k.as_chunks::<16>().0.iter().enumerate() {
                if sixteen > 0 {
                    $extend
                }
                sixteen_times!(T => {
                    v = round(v, $add($w[T], $repeat(k[T].cast_signed())));
                });
            }
            state = array_from!(8; word => $add(state[word], v[word]));
        }
        for (word, vector) in state.iter().enumerate() {
            let values = $store(*vector);
            for lane in 0..LANES {
                $states[lane][word] = values[lane];
            }
        }
    };
}

pub(super) use loads_and_stores;
pub(super) use sha2_lanes;
