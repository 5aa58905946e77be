//! A sparse matrix in compressed rows, and its product with a dense one.
//!
//! Only stored values are multiplied. It is written here because libraries for it are far larger
//! than this kernel.

/// A square matrix that stores few of its numbers.
#[derive(Clone, Debug)]
pub(super) struct Sparse {
    /// Where each row begins in the other two, and where the last one ends.
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f32>,
}

impl Sparse {
    /// Makes a matrix of rows, columns and values; each place at most once.
    pub(super) fn of(side: usize, entries: &[(usize, usize, f32)]) -> Sparse {
        let mut entries = entries.to_vec();
        entries.sort_by_key(|&(row, column, _)| (row, column));
        let starts = (0..=side).map(|row| entries.partition_point(|entry| entry.0 < row)).collect();
        Sparse {
            starts,
            columns: entries.iter().map(|entry| entry.1).collect(),
            values: entries.iter().map(|entry| entry.2).collect(),
        }
    }

    /// Multiplies with a dense matrix of `N` columns.
    ///
    /// # Panics
    /// If `dense` has not as many rows as this has columns, or `product` as this has rows.
    pub(super) fn multiply<const N: usize>(&self, dense: &[[f32; N]], product: &mut [[f32; N]]) {
        for (row, bounds) in product.iter_mut().zip(self.starts.windows(2)) {
            *row = [0.0; N];
            for index in bounds[0]..bounds[1] {
                let (value, dense) = (self.values[index], &dense[self.columns[index]]);
                for (sum, &factor) in row.iter_mut().zip(dense) {
                    *sum += value * factor;
                }
            }
        }
    }
}
