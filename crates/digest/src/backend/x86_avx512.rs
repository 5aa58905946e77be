//! Kernels with AVX-512: one message per element of a vector.
//!
//! Has detection, and what the kernels share: loading, transposing and storing vectors. Must not
//! know what an algorithm computes. Rotations and three-operand logic are single instructions here,
//! and 32 registers hold state and message together.

pub(super) mod md5;
pub(super) mod sha256;
pub(super) mod sha512;

use std::arch::x86_64::*;

use super::x86_lanes::loads_and_stores;

/// Returns whether this processor has the instructions.
pub(super) fn detected() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
}

/// Transposes rows into columns, first inside 128-bit quarters, then the quarters themselves.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose(rows: [__m512i; 16]) -> [__m512i; 16] {
    let mut quarters = rows;
    for (quarter, rows) in rows.as_chunks::<4>().0.iter().enumerate() {
        let low01 = _mm512_unpacklo_epi32(rows[0], rows[1]);
        let high01 = _mm512_unpackhi_epi32(rows[0], rows[1]);
        let low23 = _mm512_unpacklo_epi32(rows[2], rows[3]);
        let high23 = _mm512_unpackhi_epi32(rows[2], rows[3]);
        quarters.as_chunks_mut::<4>().0[quarter] = [
            _mm512_unpacklo_epi64(low01, low23),
            _mm512_unpackhi_epi64(low01, low23),
            _mm512_unpacklo_epi64(high01, high23),
            _mm512_unpackhi_epi64(high01, high23),
        ];
    }
    let mut columns = rows;
    for t in 0..4 {
        let four = [quarters[t], quarters[t + 4], quarters[t + 8], quarters[t + 12]];
        [columns[t], columns[t + 4], columns[t + 8], columns[t + 12]] = transpose_quarters(four);
    }
    columns
}

/// Transposes rows into columns, in units of 128 bits.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_quarters([row0, row1, row2, row3]: [__m512i; 4]) -> [__m512i; 4] {
    let even01 = _mm512_shuffle_i32x4::<0x88>(row0, row1);
    let odd01 = _mm512_shuffle_i32x4::<0xdd>(row0, row1);
    let even23 = _mm512_shuffle_i32x4::<0x88>(row2, row3);
    let odd23 = _mm512_shuffle_i32x4::<0xdd>(row2, row3);
    [
        _mm512_shuffle_i32x4::<0x88>(even01, even23),
        _mm512_shuffle_i32x4::<0x88>(odd01, odd23),
        _mm512_shuffle_i32x4::<0xdd>(even01, even23),
        _mm512_shuffle_i32x4::<0xdd>(odd01, odd23),
    ]
}

loads_and_stores! {
    "avx512f", __m512i;
    _mm512_loadu_si512: load_bytes [u8; 64], load_words [u32; 16], load_long_words [u64; 8];
    _mm512_storeu_si512: store_words [u32; 16], store_long_words [u64; 8];
}
