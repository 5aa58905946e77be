//! The six kernels: what each computes, and its correct result.
//!
//! Each returns a sum over its results, so nothing can be left out. The sum is checked against one
//! that is computed without the kernel. All numbers are small integers, so the order of additions
//! does not change the bits. Scalar loops are in `plain.rs`; the others use libraries.

use std::hint::black_box;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, aview2};
use wide::f32x4;

use super::plain::{self, SIDE, Square};
use super::sparse::Sparse;
use crate::error::Error;

/// A loop in one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// 16 × 16 product of floats in three nested loops.
    PlainProduct,
    /// Dot product of four 64-bit integers.
    IntegerDot,
    /// Dot product of four floats in one vector.
    FourLaneDot,
    /// 16 × 16 product of floats by a tuned library.
    TunedProduct,
    /// Sparse 4 × 4 times dense 4 × 2.
    SparseProduct,
    /// General product of floats by the library: scaled, added, one side transposed.
    GeneralProduct,
}

impl Kernel {
    /// Every kernel, in the order of display.
    pub const ALL: [Kernel; 6] = [
        Kernel::PlainProduct,
        Kernel::IntegerDot,
        Kernel::FourLaneDot,
        Kernel::TunedProduct,
        Kernel::SparseProduct,
        Kernel::GeneralProduct,
    ];

    /// Returns its name, as in records and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::PlainProduct => "f32-product-plain",
            Kernel::IntegerDot => "i64-dot",
            Kernel::FourLaneDot => "f32x4-dot",
            Kernel::TunedProduct => "f32-product-tuned",
            Kernel::SparseProduct => "sparse-product",
            Kernel::GeneralProduct => "f32-product-general",
        }
    }

    /// Finds a kernel by its name.
    ///
    /// # Errors
    ///
    /// If there is no such kernel. The message lists the names.
    pub fn named(name: &str) -> Result<Kernel, Error> {
        Kernel::ALL.into_iter().find(|kernel| kernel.name() == name).ok_or_else(|| {
            let names = Kernel::ALL.map(Kernel::name).join(", ");
            Error::usage(format!("no such kernel `{name}`: {names}"))
        })
    }

    /// Returns what one loop computes, and with which instructions.
    pub const fn definition(self) -> &'static str {
        match self {
            Kernel::PlainProduct => "16×16 f32 product, three nested loops, scalar instructions",
            Kernel::IntegerDot => "dot product of 4 i64, in a loop, scalar instructions",
            Kernel::FourLaneDot => "dot product of 4 f32 in one vector (wide)",
            Kernel::TunedProduct => "C = A·B, 16×16 f32 (ndarray on matrixmultiply)",
            Kernel::SparseProduct => {
                "sparse 4×4 (4 stored, compressed rows) times dense 4×2, f32, Y = A·X"
            }
            Kernel::GeneralProduct => {
                "C = ½·Aᵀ·B + ½·C₀, 16×16 f32, A transposed, C₀ copied before each (ndarray on \
                 matrixmultiply)"
            }
        }
    }

    /// Returns the name of the code that computes it.
    pub const fn backend(self) -> &'static str {
        match self {
            Kernel::PlainProduct | Kernel::IntegerDot => "scalar loops",
            Kernel::FourLaneDot => "wide 1",
            Kernel::SparseProduct => "compressed rows",
            Kernel::TunedProduct | Kernel::GeneralProduct => "ndarray 0.17",
        }
    }

    /// Runs this many loops and returns the sum over their results.
    pub fn run(self, loops: u64) -> u64 {
        match self {
            Kernel::PlainProduct => plain::products(&left(), &right(), loops),
            Kernel::IntegerDot => plain::dots(&INTEGERS.0, &INTEGERS.1, loops),
            Kernel::FourLaneDot => four_lane_dots(loops),
            Kernel::TunedProduct => tuned_products(loops),
            Kernel::SparseProduct => sparse_products(loops),
            Kernel::GeneralProduct => general_products(loops),
        }
    }

    /// Returns what [`Kernel::run`] must return, computed with integers and without the kernel.
    pub fn expected(self, loops: u64) -> u64 {
        let results = self.results();
        let sum = |results: &[u64]| results.iter().copied().fold(0, u64::wrapping_add);
        let count = results.len() as u64;
        let rest = sum(&results[..(loops % count) as usize]);
        sum(&results).wrapping_mul(loops / count).wrapping_add(rest)
    }

    /// The results that the sum cycles through: integers, or the bits of floats.
    fn results(self) -> Vec<u64> {
        let bits = |results: Vec<f32>| results.iter().map(|one| u64::from(one.to_bits())).collect();
        let square = |sum: &dyn Fn(usize, usize) -> i32, half: bool| {
            let places = (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (row, column)));
            let halved = |sum: i32| if half { sum as f32 / 2.0 } else { sum as f32 };
            places.map(|(row, column)| halved(sum(row, column))).collect()
        };
        let product = |row: usize, column: usize| -> i32 {
            (0..SIDE).map(|k| left_at(row, k) * right_at(k, column)).sum()
        };
        let of_transposed = |row: usize, column: usize| -> i32 {
            let sum: i32 = (0..SIDE).map(|k| left_at(k, row) * right_at(k, column)).sum();
            sum + right_at(column, row)
        };
        match self {
            Kernel::PlainProduct | Kernel::TunedProduct => bits(square(&product, false)),
            Kernel::GeneralProduct => bits(square(&of_transposed, true)),
            Kernel::IntegerDot => vec![3 * 13 + 11 * 23 - 5 * 17 - 7 * 19],
            Kernel::FourLaneDot => bits(vec![1.0 * 4.0 - 2.0 * 5.0 + 3.0 * 6.0 - 4.0 * 7.0]),
            // A's first row holds 1 and 13 in columns 0 and 3, its last 4 and 16.
            Kernel::SparseProduct => bits(vec![140.0, 1400.0, 0.0, 0.0, 0.0, 0.0, 200.0, 2000.0]),
        }
    }
}

/// The operands of the integer kernel.
const INTEGERS: ([i64; 4], [i64; 4]) = ([3, -5, 7, 11], [13, 17, -19, 23]);

/// Small whole numbers without a pattern that would shorten a product.
fn left_at(row: usize, column: usize) -> i32 {
    (row * 16 + column * 5) as i32 % 7 - 3
}

fn right_at(row: usize, column: usize) -> i32 {
    (row * 3 + column * 11) as i32 % 9 - 4
}

fn square_of(at: fn(usize, usize) -> i32) -> Square {
    std::array::from_fn(|row| std::array::from_fn(|column| at(row, column) as f32))
}

fn left() -> Square {
    square_of(left_at)
}

fn right() -> Square {
    square_of(right_at)
}

#[inline(never)]
fn four_lane_dots(loops: u64) -> u64 {
    let (one, other) = ([1.0, -2.0, 3.0, -4.0_f32], [4.0, 5.0, 6.0, 7.0_f32]);
    let mut sum = 0_u64;
    for _ in 0..loops {
        let (one, other) = (f32x4::new(*black_box(&one)), f32x4::new(*black_box(&other)));
        sum = sum.wrapping_add(u64::from((one * other).reduce_add().to_bits()));
    }
    sum
}

#[inline(never)]
fn tuned_products(loops: u64) -> u64 {
    let (left, right) = (left(), right());
    let (left, right): (ArrayView2<'_, f32>, ArrayView2<'_, f32>) = (aview2(&left), aview2(&right));
    let mut product = Array2::zeros((SIDE, SIDE));
    let mut sum = 0_u64;
    for index in 0..loops {
        general_mat_mul(1.0, black_box(&left), black_box(&right), 0.0, &mut product);
        sum = sum.wrapping_add(one_of(black_box(&product), index));
    }
    sum
}

#[inline(never)]
fn general_products(loops: u64) -> u64 {
    let (left, right) = (left(), right());
    let (left, right): (ArrayView2<'_, f32>, ArrayView2<'_, f32>) = (aview2(&left), aview2(&right));
    let before = right.t().to_owned();
    let mut product = before.clone();
    let mut sum = 0_u64;
    for index in 0..loops {
        product.assign(&before);
        general_mat_mul(0.5, &black_box(&left).t(), black_box(&right), 0.5, &mut product);
        sum = sum.wrapping_add(one_of(black_box(&product), index));
    }
    sum
}

fn one_of(product: &Array2<f32>, index: u64) -> u64 {
    let place = index as usize % (SIDE * SIDE);
    u64::from(product[(place / SIDE, place % SIDE)].to_bits())
}

#[inline(never)]
fn sparse_products(loops: u64) -> u64 {
    let sparse = Sparse::of(4, &[(0, 0, 1.0), (3, 0, 4.0), (0, 3, 13.0), (3, 3, 16.0)]);
    let dense = [[10.0, 100.0], [-1.0, -1.0], [-1.0, -1.0], [10.0, 100.0_f32]];
    let mut product = [[0.0_f32; 2]; 4];
    let mut sum = 0_u64;
    for index in 0..loops {
        black_box(&sparse).multiply(black_box(&dense), &mut product);
        let place = index as usize % 8;
        let one = black_box(&product)[place / 2][place % 2];
        sum = sum.wrapping_add(u64::from(one.to_bits()));
    }
    sum
}
