//! What checking some code would cost, as lines and as an object.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use steadfast_codesign::{Cost, Rates};

use crate::escape;
use crate::json::{Counts, PathText, write_object};
use crate::units::{self, Units};

/// What checking some code would cost on this machine.
#[derive(Clone, Copy)]
pub struct CostOfCode<'a> {
    /// Where it is, as the user wrote it.
    pub path: &'a Path,
    /// What a full check reads and hashes.
    pub cost: &'a Cost,
    /// How fast that goes here.
    pub rates: &'a Rates,
    /// How many threads there would be.
    pub workers: usize,
    /// How long opening it and verifying all but pages and resources takes, which was done to know.
    pub fixed_ns: u64,
}

impl CostOfCode<'_> {
    fn predicted_ns(&self) -> u64 {
        (self.cost.seconds(self.rates) * 1e9).round() as u64 + self.fixed_ns
    }
}

/// Appends the lines about one piece of code.
pub fn write_cost_text(of: &CostOfCode<'_>, units: Units, out: &mut Vec<u8>) {
    let mut text = String::new();
    let CostOfCode { path, cost, rates, workers, fixed_ns } = *of;
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{}", escape::path(path));
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "  {label:<12}{value}");
    };
    line("to read", units.bytes(cost.read_bytes));
    line("before that", format!("{} of headers and signatures", units.bytes(cost.metadata_bytes)));
    for (algorithm, bytes) in cost.hashed() {
        let rate = rates.hash_bytes_per_s.iter().find(|(known, _)| known == algorithm);
        let rate = rate.map_or(0, |(_, rate)| *rate as u64);
        let rate = units.rate(rate, 1_000_000_000);
        line("to hash", format!("{} with {algorithm}, at {rate}", units.bytes(*bytes)));
    }
    line("digests", units::count(cost.digests));
    let rate = units.rate(rates.read_bytes_per_s as u64, 1_000_000_000);
    line("reading", format!("at {rate}, measured now"));
    line("besides", format!("{} for signers and slots, measured", units::duration(fixed_ns)));
    let threads = units::counted(workers as u64, "thread", "threads");
    line("a check", format!("{}, in {threads}", units::duration(of.predicted_ns())));
    out.extend_from_slice(text.as_bytes());
}

#[derive(Serialize)]
struct CostObject {
    #[serde(flatten)]
    path: PathText,
    read_bytes: u64,
    metadata_bytes: u64,
    hashed_bytes: Counts,
    digests: u64,
    workers: usize,
    read_bytes_per_s: u64,
    hash_bytes_per_s: Counts,
    fixed_ns: u64,
    predicted_ns: u64,
}

/// Appends the line about one piece of code.
pub fn write_cost_json(of: &CostOfCode<'_>, out: &mut Vec<u8>) {
    let CostOfCode { path, cost, rates, workers, fixed_ns } = *of;
    let hashed = cost.hashed().iter().map(|(algorithm, bytes)| (algorithm.name(), *bytes));
    let speeds =
        rates.hash_bytes_per_s.iter().map(|(algorithm, rate)| (algorithm.name(), *rate as u64));
    let object = CostObject {
        path: PathText::of(path),
        read_bytes: cost.read_bytes,
        metadata_bytes: cost.metadata_bytes,
        hashed_bytes: Counts(hashed.collect()),
        digests: cost.digests,
        workers,
        read_bytes_per_s: rates.read_bytes_per_s as u64,
        hash_bytes_per_s: Counts(speeds.collect()),
        fixed_ns,
        predicted_ns: of.predicted_ns(),
    };
    write_object(&object, out);
}
