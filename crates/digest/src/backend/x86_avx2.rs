//! Kernels with AVX2: one message per element of a vector.
//!
//! Has detection, and what the kernels share: loading, transposing and storing vectors. Must not
//! know what an algorithm computes.

pub(super) mod md5;
pub(super) mod sha256;
pub(super) mod sha512;

use std::arch::x86_64::*;

use super::x86_lanes::loads_and_stores;

/// Returns whether this processor has the instructions.
pub(super) fn detected() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_xor_si256(a, b), c)
}

/// Transposes rows into columns, first inside 128-bit halves, then the halves themselves.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(rows: [__m256i; 8]) -> [__m256i; 8] {
    let mut halves = rows;
    for (half, rows) in rows.as_chunks::<4>().0.iter().enumerate() {
        let low01 = _mm256_unpacklo_epi32(rows[0], rows[1]);
        let high01 = _mm256_unpackhi_epi32(rows[0], rows[1]);
        let low23 = _mm256_unpacklo_epi32(rows[2], rows[3]);
        let high23 = _mm256_unpackhi_epi32(rows[2], rows[3]);
        halves.as_chunks_mut::<4>().0[half] = [
            _mm256_unpacklo_epi64(low01, low23),
            _mm256_unpackhi_epi64(low01, low23),
            _mm256_unpacklo_epi64(high01, high23),
            _mm256_unpackhi_epi64(high01, high23),
        ];
    }
    let mut columns = rows;
    for t in 0..4 {
        columns[t] = _mm256_permute2x128_si256::<0x20>(halves[t], halves[t + 4]);
        columns[t + 4] = _mm256_permute2x128_si256::<0x31>(halves[t], halves[t + 4]);
    }
    columns
}

loads_and_stores! {
    "avx2", __m256i;
    _mm256_loadu_si256: load_bytes [u8; 32], load_words [u32; 8], load_long_words [u64; 4];
    _mm256_storeu_si256: store_words [u32; 8], store_long_words [u64; 4];
}
