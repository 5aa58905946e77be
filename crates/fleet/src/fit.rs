//! Fits the cost of a file to the parts of a job: time by files and by bytes.
//!
//! In: files, bytes and time of each part. Out: the bytes that could be checked in the overhead of
//! one file; or nothing, if the parts are too few or too similar.

/// Fewest parts for a fit.
const PARTS_MIN: u64 = 10;

/// Sums for least squares of `time = a × files + b × bytes`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fit {
    parts: u64,
    files_files: f64,
    files_bytes: f64,
    bytes_bytes: f64,
    files_time: f64,
    bytes_time: f64,
}

impl Fit {
    pub(crate) fn add(&mut self, files: u64, bytes: u64, elapsed_ns: u64) {
        let (files, bytes, time) = (files as f64, bytes as f64, elapsed_ns as f64);
        self.parts += 1;
        self.files_files += files * files;
        self.files_bytes += files * bytes;
        self.bytes_bytes += bytes * bytes;
        self.files_time += files * time;
        self.bytes_time += bytes * time;
    }

    /// Returns `a ÷ b`.
    pub(crate) fn file_cost_bytes(&self) -> Option<u64> {
        let alike = self.files_bytes * self.files_bytes;
        let apart = self.files_files * self.bytes_bytes - alike;
        // Parts with the same mean length of files cannot distinguish files from bytes.
        if self.parts < PARTS_MIN || apart <= alike * 1e-3 {
            return None;
        }
        let per_file = self.files_time * self.bytes_bytes - self.bytes_time * self.files_bytes;
        let per_byte = self.bytes_time * self.files_files - self.files_time * self.files_bytes;
        (per_file > 0.0 && per_byte > 0.0).then_some((per_file / per_byte) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(parts: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
        let mut fit = Fit::default();
        // 5 µs for each file, half a nanosecond for each byte.
        parts.for_each(|(files, bytes)| fit.add(files, bytes, 5_000 * files + bytes / 2));
        fit.file_cost_bytes()
    }

    #[test]
    fn the_cost_is_found() {
        let found = fit((1..20).map(|part| (part * 37 % 11 * 1_000, part * 53 % 17 * 10_000_000)));
        assert!(found.unwrap().abs_diff(10_000) < 10, "{found:?}");
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        assert_eq!(fit((1..20).map(|part| (part, part * 1_000_000))), None);
        assert_eq!(fit([(1, 5_000), (900, 10)].into_iter()), None);
        assert_eq!(fit(std::iter::empty()), None);
    }
}
