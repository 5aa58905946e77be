//! The kernel's messages about failed reads and writes of a drive, since the machine started.
//!
//! Source: Linux 2.6 to 6.12, `block/blk-core.c`: `I/O error, dev sda, sector 5 op 0x0:(READ)` and
//! `critical medium error, dev sda, sector 5`.

use super::{DriveFinding, counted, finding};

/// Counts the messages about a drive.
pub(super) fn parse(log: &str, name: &str) -> Vec<DriveFinding> {
    let of_drive = format!(" error, dev {name}, sector ");
    let lines = log.lines().filter(|line| line.contains(&of_drive));
    // The kernel reports an error of the medium with its own words and, until 5.x, again as one of
    // reading.
    let (medium, other): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| line.contains("critical medium error"));
    let count = medium.len().max(other.len()) as u64;
    let words = counted(count, "read or write", "reads or writes");
    let text = format!("{words} of this drive failed, by the kernel's log: see `dmesg`");
    finding("kernel_io_errors", count, text).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_the_drive_itself() {
        let log = include_str!("../../tests/samples/kernel.log");
        let rows = [("sda", Some(2)), ("sdb", Some(1)), ("sdab", Some(1)), ("sd", None)];
        for (name, expected) in rows {
            let found = parse(log, name);
            assert_eq!(found.first().map(|one| one.count), expected, "{name}");
        }
        let text = &parse(log, "sdb")[0].text;
        assert_eq!(text, "1 read or write of this drive failed, by the kernel's log: see `dmesg`");
    }
}
