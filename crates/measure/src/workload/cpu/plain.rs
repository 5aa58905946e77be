//! Scalar loops: one number at a time, even if the compiler could use vectors.
//!
//! A test disassembles these functions and finds scalar arithmetic only. A compiler fence between
//! two multiplications ensures that. It is not an instruction; it only keeps the compiler from
//! combining four multiplications.

use std::hint::black_box;
use std::sync::atomic::{Ordering, compiler_fence};

/// Rows and columns of the square products.
pub const SIDE: usize = 16;

/// A square of numbers, row by row.
pub type Square = [[f32; SIDE]; SIDE];

/// Multiplies two squares in three nested loops, repeatedly, and sums one result of each.
#[inline(never)]
pub fn products(left: &Square, right: &Square, loops: u64) -> u64 {
    let mut product: Square = [[0.0; SIDE]; SIDE];
    let mut sum = 0_u64;
    for index in 0..loops {
        let (left, right) = (black_box(left), black_box(right));
        // With a constant, the compiler could unroll all loops into one.
        let side = black_box(SIDE).min(SIDE);
        for row in 0..side {
            for column in 0..side {
                let mut dot = 0.0;
                for k in 0..side {
                    dot += left[row][k] * right[k][column];
                    compiler_fence(Ordering::SeqCst);
                }
                product[row][column] = dot;
            }
        }
        let place = index as usize % (SIDE * SIDE);
        let one = black_box(&product)[place / SIDE][place % SIDE];
        sum = sum.wrapping_add(u64::from(one.to_bits()));
    }
    sum
}

/// Computes the dot product of two vectors of four integers, repeatedly, and sums the results.
#[inline(never)]
pub fn dots(one: &[i64; 4], other: &[i64; 4], loops: u64) -> u64 {
    let mut sum = 0_u64;
    for _ in 0..loops {
        let (one, other) = (black_box(one), black_box(other));
        let mut dot = 0_i64;
        for index in 0..4 {
            dot = dot.wrapping_add(one[index].wrapping_mul(other[index]));
            compiler_fence(Ordering::SeqCst);
        }
        sum = sum.wrapping_add(dot as u64);
    }
    sum
}
