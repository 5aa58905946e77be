//! Documents about a check of objects in a store.
//!
//! In: findings of `steadfast-objects` and their summary. Out: lines of text, or JSON lines with
//! the summary last, which `docs/reference/objects.md` specifies.

mod json;
mod text;

use steadfast::Verdict;
use steadfast_objects::{Judged, ObjectFinding, ObjectsSummary};

use crate::output::Output;
use crate::units::Units;

/// How the documents look.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectsOptions {
    /// Whether to write JSON.
    pub json: bool,
    /// Whether every object gets a line.
    pub verbose: bool,
    /// Whether to write failures only.
    pub quiet: bool,
    /// Whether an object without a record is a failure.
    pub require_tags: bool,
    /// The multiples of bytes.
    pub units: Units,
}

impl ObjectsOptions {
    /// Appends the result for one object, if the options ask for it.
    pub fn write_finding(&self, finding: &ObjectFinding, output: &mut Output) {
        let wrong = !finding.judged.exit_status(self.require_tags).is_fine();
        let untagged = finding.judged == Judged::Verdict(Verdict::Untagged);
        match self.json {
            true if wrong || !self.quiet => json::write_finding(finding, &mut output.answer),
            false if wrong || (self.verbose || untagged) && !self.quiet => {
                text::write_finding(finding, &mut output.answer);
            }
            _ => {}
        }
    }

    /// Appends the end.
    pub fn write_end(&self, summary: &ObjectsSummary, elapsed_ns: u64, output: &mut Output) {
        match (self.json, self.quiet) {
            (true, _) => json::write_end(summary, elapsed_ns, &mut output.answer),
            (false, false) => {
                text::write_end(summary, elapsed_ns, self.units, &mut output.answer);
            }
            (false, true) => {}
        }
    }
}
