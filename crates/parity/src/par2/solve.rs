//! How lost blocks follow from recovery blocks: a system of linear equations.
//!
//! A recovery block with exponent e is the sum of all blocks, block i multiplied by the e-th power
//! of its constant. The constants are the powers of 2 that have the order 65,535.

use std::sync::atomic::{AtomicBool, Ordering};

use super::field::{ORDER, inverse, multiply, power_of_2};
use crate::error::{Error, ErrorKind};

/// The most blocks that are rebuilt: their equations take 64 MiB.
pub const MISSING_MAX: usize = 4096;

/// Returns the logarithms of the constants of the blocks, in order.
fn logarithms() -> impl Iterator<Item = u32> {
    (1..ORDER).filter(|n| [3, 5, 17, 257].iter().all(|prime| n % prime != 0))
}

/// The equations of some lost blocks, solved.
pub struct Solution {
    /// The logarithm of the constant of each block of the set.
    logarithms: Vec<u32>,
    /// Which of the recovery blocks are used, and their exponents.
    used: Vec<(usize, u32)>,
    /// The inverse matrix: a row for each lost block.
    inverse: Vec<u16>,
}

impl Solution {
    /// Solves for the lost blocks of a set of so many blocks, by the exponents of the recovery
    /// blocks that are left. Thousands of lost blocks take minutes, unless `stop` is set.
    ///
    /// # Errors
    /// `TooManyLost` if they do not suffice, or if there are more than [`MISSING_MAX`] lost blocks;
    /// `Stopped` if it was stopped.
    pub fn new(
        blocks: usize,
        lost: &[usize],
        exponents: &[u32],
        stop: &AtomicBool,
    ) -> Result<Solution, Error> {
        let too_many = |message: String| Error::new(ErrorKind::TooManyLost, message);
        if lost.len() > MISSING_MAX {
            let message = format!("{} blocks are lost; {MISSING_MAX} can be rebuilt", lost.len());
            return Err(too_many(message));
        }
        let logarithms: Vec<u32> = logarithms().take(blocks).collect();
        let count = lost.len();
        let row_of = |exponent: u32| -> Vec<u16> {
            let of = |block: &usize| u64::from(logarithms[*block]) * u64::from(exponent);
            lost.iter().map(|block| power_of_2(of(block))).collect()
        };
        // By Gauss and Jordan: the row of a used recovery block has a 1 for one lost block and
        // zeros for those of the other rows, and behind these the factors of the used ones.
        let (mut used, mut rows) = (Vec::new(), Vec::<(usize, Vec<u16>)>::new());
        for (number, exponent) in exponents.iter().enumerate() {
            if used.len() == count {
                break;
            }
            go_on(stop)?;
            let mut row = row_of(*exponent);
            row.resize(count + used.len(), 0);
            row.push(1);
            for (pivot, other) in &rows {
                let factor = row[*pivot];
                add_row(&mut row, other, factor);
            }
            // An equation that follows from those before it is left out.
            let Some(pivot) = row[..count].iter().position(|value| *value != 0) else { continue };
            let factor = inverse(row[pivot]);
            row.iter_mut().for_each(|value| *value = multiply(*value, factor));
            for (_, other) in &mut rows {
                let factor = other[pivot];
                other.resize(row.len(), 0);
                add_row(other, &row, factor);
            }
            rows.push((pivot, row));
            used.push((number, *exponent));
        }
        if used.len() < count {
            let message = format!("{count} blocks are lost, and {} can be rebuilt", used.len());
            return Err(too_many(message));
        }
        rows.sort_unstable_by_key(|(pivot, _)| *pivot);
        let inverse = rows.into_iter().flat_map(|(_, row)| row.into_iter().skip(count)).collect();
        Ok(Solution { logarithms, used, inverse })
    }

    /// Returns the numbers of the recovery blocks that are used.
    pub fn used(&self) -> impl Iterator<Item = usize> {
        self.used.iter().map(|(number, _)| *number)
    }

    /// Returns the factor of a block in a used recovery block.
    pub fn factor(&self, used: usize, block: usize) -> u16 {
        power_of_2(u64::from(self.logarithms[block]) * u64::from(self.used[used].1))
    }

    /// Returns the factor of a used recovery block, freed of all blocks that are there, in a lost
    /// block.
    pub fn weight(&self, lost: usize, used: usize) -> u16 {
        self.inverse[lost * self.used.len() + used]
    }
}

fn go_on(stop: &AtomicBool) -> Result<(), Error> {
    match stop.load(Ordering::Relaxed) {
        true => Err(Error::new(ErrorKind::Stopped, "it was stopped before it was solved")),
        false => Ok(()),
    }
}

/// Adds a multiple of a row to another.
fn add_row(to: &mut [u16], from: &[u16], factor: u16) {
    if factor != 0 {
        to.iter_mut().zip(from).for_each(|(to, from)| *to ^= multiply(*from, factor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_of_the_specification() {
        let first: Vec<u16> = logarithms().take(5).map(|n| power_of_2(n.into())).collect();
        assert_eq!(first, [2, 4, 16, 128, 256]);
        assert_eq!(logarithms().count(), 32_768);
    }

    #[test]
    fn lost_blocks_follow_from_any_recovery_blocks() {
        let blocks: Vec<u16> = (0..40).map(|at| (at * 7919 + 5) as u16).collect();
        for (lost, exponents) in [
            (vec![3], vec![9]),
            (vec![0, 39], vec![0, 1]),
            (vec![1, 2, 17, 30], vec![5, 65_535 + 5, 0, 3, 100, 2]),
        ] {
            let solution = Solution::new(blocks.len(), &lost, &exponents, &false.into());
            let solution = solution.unwrap();
            let freed: Vec<u16> = (0..lost.len())
                .map(|used| {
                    let terms =
                        lost.iter().map(|at| multiply(solution.factor(used, *at), blocks[*at]));
                    terms.fold(0, |sum, term| sum ^ term)
                })
                .collect();
            for (number, at) in lost.iter().enumerate() {
                let terms = (0..lost.len())
                    .map(|used| multiply(solution.weight(number, used), freed[used]));
                assert_eq!(terms.fold(0, |sum, term| sum ^ term), blocks[*at]);
            }
        }
        let error = Solution::new(40, &[1, 2, 3], &[4, 5, 4], &false.into()).err().unwrap();
        assert_eq!(error.to_string(), "3 blocks are lost, and 2 can be rebuilt");
    }

    #[test]
    fn solving_ends_when_it_is_told_to() {
        let error = Solution::new(40, &[1, 2], &[4, 5], &true.into()).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Stopped);
    }
}
