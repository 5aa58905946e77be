//! Writes the estimated cost of checking some code, as lines of text and as a JSON object.

use std::fmt::Write as _;
use std::path::Path;

use steadfast_codesign::VerifyEstimate;

use crate::escape;
use crate::json::{CountsByName, JsonObject, write_object};
use crate::units::{self, Units};

/// The estimated cost of checking some code on this machine.
#[derive(Clone, Copy)]
pub struct CostOfCode<'a> {
    /// Its path, as the user wrote it.
    pub path: &'a Path,
    /// How much a check reads and hashes, and how long it takes.
    pub estimate: &'a VerifyEstimate,
    /// Number of threads of a check.
    pub workers: usize,
    /// Duration of opening it, in nanoseconds.
    pub opened_ns: u64,
}

impl CostOfCode<'_> {
    fn rest_ns(&self) -> u64 {
        self.opened_ns + self.estimate.rest_ns
    }

    fn predicted_ns(&self) -> u64 {
        self.opened_ns + self.estimate.predicted_ns()
    }
}

/// Appends the lines about one piece of code.
pub fn write_cost_text(of: &CostOfCode<'_>, units: Units, out: &mut Vec<u8>) {
    let mut text = String::new();
    let (estimate, cost) = (of.estimate, &of.estimate.cost);
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{}", escape::path(of.path));
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "  {label:<12}{value}");
    };
    line("to read", units.bytes(cost.read_bytes));
    line("before that", format!("{} of headers and signatures", units.bytes(cost.metadata_bytes)));
    for (algorithm, bytes) in cost.hashed() {
        line("to hash", format!("{} with {algorithm}", units.bytes(*bytes)));
    }
    line("digests", units::count(cost.digests));
    let tried = units.bytes(estimate.tried_bytes);
    match estimate.hashing_ns {
        0 => line("hashing", format!("done, {tried}: there is no more of it")),
        some => line("hashing", format!("{}, by {tried} that were tried", units::duration(some))),
    }
    line("the rest", format!("{}, done", units::duration(of.rest_ns())));
    line("assumed", assumed(estimate, units));
    let threads = units::counted(of.workers as u64, "thread", "threads");
    line("a check", format!("{}, in {threads}", units::duration(of.predicted_ns())));
    out.extend_from_slice(text.as_bytes());
}

/// States the state of the page cache that the estimate assumes: that of the present.
fn assumed(estimate: &VerifyEstimate, units: Units) -> String {
    match estimate.cached_bytes {
        None => {
            "bytes come from where they came from now; whether from memory cannot be told".into()
        }
        Some(cached) if cached >= estimate.len_bytes => {
            "the code stays in memory, where all of it was (warm)".into()
        }
        Some(0) => "the code is not in memory, as none of it was (cold)".into(),
        Some(cached) => {
            let (cached, all) = (units.bytes(cached), units.bytes(estimate.len_bytes));
            format!("{cached} of the code's {all} are in memory, as they were")
        }
    }
}

/// Appends the line about one piece of code.
pub fn write_cost_json(of: &CostOfCode<'_>, out: &mut Vec<u8>) {
    let (estimate, cost) = (of.estimate, &of.estimate.cost);
    let hashed = cost.hashed().iter().map(|(algorithm, bytes)| (algorithm.name(), *bytes));
    let object = JsonObject::at(of.path)
        .field("read_bytes", cost.read_bytes)
        .field("metadata_bytes", cost.metadata_bytes)
        .field("hashed_bytes", CountsByName(hashed.collect()))
        .field("digests", cost.digests)
        .field("workers", of.workers)
        .field("len_bytes", estimate.len_bytes)
        .field("cached_bytes", estimate.cached_bytes)
        .field("tried_bytes", estimate.tried_bytes)
        .field("hashing_ns", estimate.hashing_ns)
        .field("rest_ns", of.rest_ns())
        .field("predicted_ns", of.predicted_ns());
    write_object(&object, out);
}
