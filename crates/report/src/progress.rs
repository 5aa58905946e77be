//! Writes the progress of a run as one line of text.
//!
//! In: a [`Progress`]. Out: its line. Does not know when or where the line is drawn.

use steadfast::{Bound, Progress};

use crate::units::{self, Units};

/// Returns the share of the run that is done, 0 to 1, if the total is known.
///
/// It is a share of the bytes; of the files if there are no bytes to read.
pub fn share(progress: &Progress) -> Option<f64> {
    let (files, bytes) = progress.total?;
    let share = match (files, bytes) {
        (0, _) => return None,
        (files, 0) => progress.files as f64 / files as f64,
        (_, bytes) => (progress.bytes + progress.bytes_passed) as f64 / bytes as f64,
    };
    Some(share.clamp(0.0, 1.0))
}

/// Returns the time left at the present rate, in nanoseconds, once enough is done to estimate it.
pub fn remaining_ns(progress: &Progress) -> Option<u64> {
    let share = share(progress)?;
    let known = share >= 0.01 && progress.elapsed_ns >= 1_000_000_000;
    known.then(|| (progress.elapsed_ns as f64 * (1.0 - share) / share) as u64)
}

/// Returns the line. The most important part comes first: a narrow terminal cuts the end.
///
/// ```text
/// 12 %, 12.3 GB of 98.4 GB, 1,234 files, 2.40 GB/s, 36 s left, bound by hash
/// ```
pub fn line(progress: &Progress, units: Units) -> String {
    let mut parts = Vec::with_capacity(6);
    parts.extend(share(progress).map(units::percent));
    let bytes = units.bytes(progress.bytes);
    parts.push(match progress.total {
        Some((_, total)) => format!("{bytes} of {}", units.bytes(total)),
        None => bytes,
    });
    parts.push(units::counted(progress.files, "file", "files"));
    parts.push(units.rate(progress.bytes, progress.elapsed_ns));
    let left = remaining_ns(progress).map(units::rough_duration);
    parts.extend(left.map(|left| format!("{left} left")));
    let bound = progress.bound.map(Bound::name);
    parts.extend(bound.map(|bound| format!("bound by {bound}")));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast::Stage;

    #[test]
    fn the_line_says_more_once_the_end_is_known() {
        let mut progress = Progress::default();
        progress.files = 1234;
        progress.bytes = 11_300_000_000;
        progress.bytes_passed = 1_000_000_000;
        progress.elapsed_ns = 5_125_000_000;
        progress.bound = Some(Bound::Stage(Stage::Hash));
        assert_eq!(line(&progress, Units::Si), "11.3 GB, 1,234 files, 2.20 GB/s, bound by hash");
        progress.total = Some((12_345, 98_400_000_000));
        assert_eq!(
            line(&progress, Units::Si),
            "12 %, 11.3 GB of 98.4 GB, 1,234 files, 2.20 GB/s, 36 s left, bound by hash"
        );
    }

    #[test]
    fn no_share_is_told_of_nothing() {
        let mut none = Progress::default();
        none.total = Some((0, 0));
        assert_eq!((share(&none), remaining_ns(&none)), (None, None));
        let mut empty_files = Progress::default();
        empty_files.files = 1;
        empty_files.total = Some((2, 0));
        assert_eq!(share(&empty_files), Some(0.5));
        let mut grown = Progress::default();
        grown.files = 9;
        grown.bytes = 9;
        grown.total = Some((2, 2));
        assert_eq!(share(&grown), Some(1.0));
    }
}
