//! What became of objects in a store, as documents.
//!
//! In: findings of `steadfast-objects` and what they came to. Out: lines of text, or JSON objects,
//! one on each line, the summary last, specified in `docs/objects.md`.

mod json;
mod text;

use steadfast::Verdict;
use steadfast_objects::{Judged, ObjectFinding, ObjectsSummary};

use crate::output::Output;
use crate::units::Units;

/// How the documents look.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectsOptions {
    /// Whether it is JSON.
    pub json: bool,
    /// Whether every object is told.
    pub verbose: bool,
    /// Whether only what is wrong is told.
    pub quiet: bool,
    /// Whether an object of which nothing is known is wrong.
    pub require_tags: bool,
    /// The multiples of bytes.
    pub units: Units,
}

impl ObjectsOptions {
    /// Appends what one object came to, if it is to be told.
    pub fn write_finding(&self, finding: &ObjectFinding, output: &mut Output) {
        let wrong = finding.judged.exit_status(self.require_tags) != 0;
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
