//! `check` against references that are not our tags: read, hash, compare with a manifest or another
//! tool's record.

use steadfast_sys::file::File;

use super::judge::{judge_length, judge_undigested};
use super::tag_context::TagContext;
use crate::event::FileEvent;
use crate::pipeline::{Algorithms, Contents, Plan, Task};
use crate::reference::Reference;

/// Compares every file that has a reference.
pub(super) struct CompareTask {
    pub(super) context: TagContext,
}

impl Task for CompareTask {
    fn open(&self, _file: &File, event: &mut FileEvent) -> Plan {
        if judge_length(event).is_some() {
            return Plan::Done;
        }
        match event.reference.as_deref().and_then(algorithms) {
            Some(algorithms) => Plan::Hash { algorithms, settled: false },
            None => {
                judge_undigested(event);
                Plan::Done
            }
        }
    }

    fn conclude(&self, _file: &File, event: &mut FileEvent, contents: Contents) {
        self.context.judge_by_reference(event, contents);
    }
}

/// Returns the algorithms to hash with: the two strongest, if the reference has more.
pub(super) fn algorithms(reference: &Reference) -> Option<Algorithms> {
    let mut algorithms = reference.digests.iter().map(|(algorithm, _)| *algorithm);
    let first = algorithms.next()?;
    Some(algorithms.next().map_or(Algorithms::one(first), |other| Algorithms::two(first, other)))
}
