//! How a run ended: the statuses of every surface, and their order.

use std::fmt;
use std::process::ExitCode;

/// How a run ended, ordered by severity: the status of two runs is the `max` of theirs.
///
/// The order is that of `docs/reference/verdicts.md`: 3 outranks 130, 130 outranks 1, 1 outranks 2.
/// An interrupted run reports decay that it found, but it cannot say that it found every edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "json", serde(into = "u8", try_from = "u8"))]
#[must_use]
pub enum ExitStatus {
    /// Nothing is wrong: 0.
    #[default]
    Fine,
    /// Something could not be determined: 2.
    Undetermined,
    /// Something was modified or is missing: 1.
    Changed,
    /// The run was stopped before its end: 130, as shells have it for SIGINT.
    Interrupted,
    /// Something is corrupt: 3.
    Corrupt,
}

impl ExitStatus {
    /// Returns the number with which a process ends.
    pub fn code(self) -> u8 {
        match self {
            ExitStatus::Fine => 0,
            ExitStatus::Changed => 1,
            ExitStatus::Undetermined => 2,
            ExitStatus::Corrupt => 3,
            ExitStatus::Interrupted => 130,
        }
    }

    /// Returns whether nothing is wrong.
    pub fn is_fine(self) -> bool {
        self == ExitStatus::Fine
    }

    /// Returns this status if the condition holds, and otherwise [`ExitStatus::Fine`].
    pub fn only_if(self, condition: bool) -> ExitStatus {
        if condition { self } else { ExitStatus::Fine }
    }

    /// Becomes the other status if that is more severe.
    pub fn raise(&mut self, other: ExitStatus) {
        *self = other.max(*self);
    }
}

impl From<ExitStatus> for u8 {
    fn from(status: ExitStatus) -> u8 {
        status.code()
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> ExitCode {
        status.code().into()
    }
}

impl TryFrom<u8> for ExitStatus {
    type Error = String;

    fn try_from(code: u8) -> Result<ExitStatus, String> {
        match code {
            0 => Ok(ExitStatus::Fine),
            1 => Ok(ExitStatus::Changed),
            2 => Ok(ExitStatus::Undetermined),
            3 => Ok(ExitStatus::Corrupt),
            130 => Ok(ExitStatus::Interrupted),
            _ => Err(format!("{code} is not an exit status")),
        }
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_outranks_130_outranks_one_outranks_two() {
        let by_rank = [0, 2, 1, 130, 3].map(|code| ExitStatus::try_from(code).unwrap());
        assert!(by_rank.is_sorted());
        assert_eq!(by_rank.map(ExitStatus::code), [0, 2, 1, 130, 3]);
        for (at, status) in by_rank.into_iter().enumerate() {
            for (other_at, other) in by_rank.into_iter().enumerate() {
                let mut raised = status;
                raised.raise(other);
                assert_eq!(raised, by_rank[at.max(other_at)]);
            }
        }
        assert!((4..130).all(|code| ExitStatus::try_from(code).is_err()));
    }

    #[test]
    fn a_condition_that_does_not_hold_makes_it_fine() {
        assert!(ExitStatus::Corrupt.only_if(false).is_fine());
        assert_eq!(ExitStatus::Corrupt.only_if(true), ExitStatus::Corrupt);
    }
}
