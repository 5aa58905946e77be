//! Published figures of other people, as records for comparison. This program did not measure them.
//!
//! `published.json` has one record for each machine, in the format of every record. Each figure has
//! its source, and only figures that the text of a publication states are there, none that were
//! inferred or read off a chart.

use crate::record::Record;

/// Returns all published records, one for each machine.
pub fn records() -> Vec<Record> {
    let records = serde_json::from_str(include_str!("published.json"));
    records.expect("the records are compiled in, and a test reads them")
}
