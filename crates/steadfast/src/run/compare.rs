//! `check` against what is not a tag: read, hash, compare — a manifest, or another tool's record.

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::File;

use super::tag_context::TagContext;
use crate::event::{FileError, FileEvent};
use crate::pipeline::{Algorithms, Contents, Plan, Task};
use crate::reference::{Computed, Reference};
use crate::verdict::Verdict;

/// Compares every file that comes with a reference.
pub(super) struct CompareTask {
    pub(super) context: TagContext,
}

impl Task for CompareTask {
    fn open(&self, _file: &File, event: &mut FileEvent) -> Plan {
        if TagContext::judge_length(event).is_some() {
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
        compare(&self.context, event, contents);
    }
}

/// Returns the algorithms to hash with: of more than two, the two strongest.
pub(super) fn algorithms(reference: &Reference) -> Option<Algorithms> {
    let mut algorithms = reference.digests.iter().map(|(algorithm, _)| *algorithm);
    let first = algorithms.next()?;
    Some(algorithms.next().map_or(Algorithms::one(first), |other| Algorithms::two(first, other)))
}

/// Judges contents by the reference of their event.
pub(super) fn compare(context: &TagContext, event: &mut FileEvent, contents: Contents) {
    let Some(reference) = event.reference.clone() else { return };
    match contents {
        Contents::Whole { digests, length, mtime } => {
            let mut names = reference.digests.iter().map(|(algorithm, _)| *algorithm);
            let first = names.next().expect("only a reference with a digest is hashed");
            let mut computed: Vec<(Algorithm, Digest)> = vec![(first, digests.first)];
            computed.extend(names.next().zip(digests.second));
            let found = Computed { digests: &computed, length, mtime };
            event.actual = Some(context.tag_of(first, digests.first, length, mtime));
            event.verdict = Some(reference.judge(&found));
        }
        Contents::Changed => {
            let reason = "the file changed meanwhile".to_owned();
            event.trouble = Some(FileError { operation: "read it whole", reason });
            event.verdict = Some(Verdict::Unstable);
        }
        Contents::Failed(trouble) => {
            event.trouble = Some(trouble);
            event.verdict = Some(Verdict::Unreadable);
        }
        Contents::Unhashed => {
            event.trouble = Some(Contents::unhashed());
            event.verdict = Some(Verdict::Unreadable);
        }
    }
}

/// Judges a file of whose contents the record says nothing that this program can compute.
pub(super) fn judge_undigested(event: &mut FileEvent) {
    let verdict = event.reference.as_deref().zip(event.status).map(|(reference, status)| {
        reference.judge(&Computed { digests: &[], length: status.length, mtime: status.mtime })
    });
    let verdict = verdict.unwrap_or(Verdict::Unreadable);
    event.verdict = Some(verdict);
    if verdict == Verdict::Unreadable {
        let reason = "its record has no digest that this program computes".to_owned();
        event.trouble = Some(FileError { operation: "compare it", reason });
    }
}
