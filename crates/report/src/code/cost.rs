//! Writes what a check of some code costs, as lines of text and as a JSON object.

use std::fmt::Write as _;
use std::path::Path;

use steadfast_codesign::VerifyCost;

use crate::escape;
use crate::json::{CountsByName, JsonObject, write_object};
use crate::units::{self, Units};

/// The cost of checking some code on this machine.
#[derive(Clone, Copy)]
pub struct CostOfCode<'a> {
    /// Its path, as the user wrote it.
    pub path: &'a Path,
    /// How much a check reads and hashes.
    pub cost: &'a VerifyCost,
    /// Number of threads of a check.
    pub workers: usize,
    /// How long hashing takes in so many threads.
    pub hashing_ns: u64,
}

/// Appends the lines about one piece of code.
pub fn write_cost_text(of: &CostOfCode<'_>, units: Units, out: &mut Vec<u8>) {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{}", escape::path(of.path));
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "  {label:<12}{value}");
    };
    line("to read", units.bytes(of.cost.metadata_bytes + of.cost.read_bytes));
    for (algorithm, bytes) in of.cost.hashed() {
        line("to hash", format!("{} with {algorithm}", units.bytes(*bytes)));
    }
    let threads = units::counted(of.workers as u64, "thread", "threads");
    let duration = units::duration(of.hashing_ns);
    line("hashing", format!("{duration} at the rate of this machine, in {threads}"));
    out.extend_from_slice(text.as_bytes());
}

/// Appends the line about one piece of code.
pub fn write_cost_json(of: &CostOfCode<'_>, out: &mut Vec<u8>) {
    let hashed = of.cost.hashed().iter().map(|(algorithm, bytes)| (algorithm.name(), *bytes));
    let object = JsonObject::at(of.path)
        .field("read_bytes", of.cost.read_bytes)
        .field("metadata_bytes", of.cost.metadata_bytes)
        .field("hashed_bytes", CountsByName(hashed.collect()))
        .field("workers", of.workers)
        .field("hashing_ns", of.hashing_ns);
    write_object(&object, out);
}
