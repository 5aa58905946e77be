//! Counts the tests that passed and failed, from the lines that cargo prints.

use std::fmt;

/// The sums over every test binary of a run.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// Tests that passed without checking everything, because something was missing.
    pub(super) skipped: u64,
    /// What the machine lacks and CI's must have.
    pub(super) gaps: usize,
}

impl Counts {
    /// Adds what a line says, if it is a summary: `test result: ok. 3 passed; 0 failed; …`.
    pub(super) fn add_line(&mut self, line: &str) {
        let Some((_, rest)) = line.split_once("test result: ") else { return };
        let rest = rest.split_once(". ").map_or(rest, |(_, counts)| counts);
        for part in rest.split(';') {
            let mut words = part.split_whitespace();
            let Some(Ok(count)) = words.next().map(str::parse::<u64>) else { continue };
            match words.next() {
                Some("passed") => self.passed += count,
                Some("failed") => self.failed += count,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        match self.gaps {
            0 => Ok(()),
            1 => write!(f, ", 1 gap"),
            gaps => write!(f, ", {gaps} gaps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_added_up() {
        let mut counts = Counts::default();
        let output = "running 3 tests\n\
            test a ... ok\n\
            test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; \
            finished in 0.00s\n\
            test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 9 filtered out\n";
        output.lines().for_each(|line| counts.add_line(line));
        assert_eq!(counts, Counts { passed: 15, failed: 2, ..Counts::default() });
        assert_eq!(counts.to_string(), "15 passed, 2 failed");
        let counts = Counts { skipped: 3, gaps: 1, ..counts };
        assert_eq!(counts.to_string(), "15 passed, 2 failed, 3 skipped, 1 gap");
    }
}
