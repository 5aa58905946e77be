//! The part of a run that verifies repair data.

use std::time::Duration;

use steadfast::parity::{ParityPlace, parity_sets, verify_parity_sets};

use super::limit::StepLimit;
use crate::journal::{KEPT_MAX, LastRun};
use crate::pace::bytes_due;
use crate::schedule::CheckSchedule;

/// What is known of the repair data of a folder.
#[derive(Default)]
pub(super) struct RepairData {
    /// The last set that was verified in turn.
    pub(super) verified: Option<String>,
    /// Sets that are damaged.
    pub(super) damaged: Vec<String>,
}

/// Verifies a part of the repair data, so that all of it is within the cover, and what was
/// found damaged before.
///
/// # Errors
/// If it cannot be told where the repair data is.
pub(super) fn verify_due_sets(
    schedule: &CheckSchedule,
    last: &LastRun,
    left_time: Option<Duration>,
) -> Result<RepairData, steadfast::Error> {
    let root = &schedule.directory;
    let LastRun { verified_set, damaged_sets, .. } = last;
    let kept = || RepairData { verified: verified_set.clone(), damaged: damaged_sets.clone() };
    let place = ParityPlace::nearest(root)?.filter(|place| place.root() == root);
    let Some(place) = place else { return Ok(RepairData::default()) };
    let Ok(mut sets) = parity_sets(&place) else { return Ok(kept()) };
    sets.sort();
    let total: u64 = sets.iter().map(|(_, length)| length).sum();
    let elapsed_s = schedule.every.interval_s();
    let mut left = bytes_due(total, elapsed_s, schedule.cover_s());
    let turn = verified_set.as_deref().unwrap_or_default();
    let at = sets.partition_point(|(set, _)| set.as_str() <= turn);
    sets.rotate_left(at);
    let mut due = Vec::new();
    for (set, length) in &sets {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(*length);
        due.push(set.as_str());
    }
    let is_due = |set: &str| due.contains(&set) || damaged_sets.iter().any(|one| one == set);
    let mut damaged = Vec::new();
    let limit = StepLimit::begin(left_time);
    let verified = verify_parity_sets(&place, &is_due, &limit.stop, &mut |report| {
        if !report.is_whole() && damaged.len() < KEPT_MAX {
            damaged.push(report.set.clone());
        }
    });
    Ok(match verified {
        Ok(totals) if !totals.interrupted => {
            RepairData { verified: due.last().map(|set| (*set).to_owned()), damaged }
        }
        _ => kept(),
    })
}
