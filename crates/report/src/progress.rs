//! Writes the progress of a run as one line of text.
//!
//! In: a [`Progress`]. Out: its line. Does not know when or where the line is drawn.

use steadfast::Progress;

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

/// The rate of a fast drive, and that of a slow one.
const DRIVES_BYTES_PER_S: [u64; 2] = [500_000_000, 100_000_000];

/// Returns about how long it takes to read so many bytes; `None` if that is at most a second.
pub fn about(bytes: u64) -> Option<String> {
    let time = |rate: u64| units::rough_duration((bytes as f64 * 1e9 / rate as f64) as u64);
    let [fast, slow] = DRIVES_BYTES_PER_S;
    match bytes {
        _ if bytes >= 2 * fast => {
            Some(format!("about {} on a fast drive, {} on a slow one", time(fast), time(slow)))
        }
        _ if bytes >= slow => Some(format!("at most about {}", time(slow))),
        _ => None,
    }
}

/// Returns how much a run is going to read, and about how long that takes. `None` if that is not
/// known.
pub fn forecast(progress: &Progress, units: Units) -> Option<String> {
    let (files, bytes) = progress.total?;
    let left = (files - progress.files, bytes - progress.bytes_passed);
    let mut line = match progress.files {
        0 => format!("{} to read", units::counted(left.0, "file", "files")),
        known => {
            let known = units::counted(known, "file is", "files are");
            format!("{known} recorded already; {} to read", units::count(left.0))
        }
    };
    line.push_str(&format!(", {}", units.bytes(left.1)));
    line.extend(about(left.1).map(|about| format!(": {about}")));
    Some(line)
}

/// Returns the line. The most important part comes first: a narrow terminal cuts the end.
///
/// ```text
/// 12 %, 12.3 GB of 98.4 GB, 1,234 files, 2.40 GB/s, 36 s left
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
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_more_once_the_end_is_known() {
        let mut progress = Progress::default();
        progress.files = 1234;
        progress.bytes = 11_300_000_000;
        progress.bytes_passed = 1_000_000_000;
        progress.elapsed_ns = 5_125_000_000;
        assert_eq!(line(&progress, Units::Si), "11.3 GB, 1,234 files, 2.20 GB/s");
        progress.total = Some((12_345, 98_400_000_000));
        assert_eq!(
            line(&progress, Units::Si),
            "12 %, 11.3 GB of 98.4 GB, 1,234 files, 2.20 GB/s, 36 s left"
        );
    }

    #[test]
    fn what_is_to_be_read_is_told_before() {
        let mut progress = Progress::default();
        assert_eq!(forecast(&progress, Units::Si), None);
        progress.total = Some((1, 2_000));
        assert_eq!(forecast(&progress, Units::Si).unwrap(), "1 file to read, 2.00 kB");
        progress.total = Some((12_345, 600_000_000_000));
        let [fast, slow] = [1_200_000_000_000, 6_000_000_000_000].map(units::rough_duration);
        let expected = format!(
            "12,345 files to read, 600 GB: about {fast} on a fast drive, {slow} on a slow one"
        );
        assert_eq!(forecast(&progress, Units::Si).unwrap(), expected);
        (progress.files, progress.bytes_passed) = (1, 599_999_000_000);
        let rest = "1 file is recorded already; 12,344 to read, 1.00 MB";
        assert_eq!(forecast(&progress, Units::Si).unwrap(), rest);
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
