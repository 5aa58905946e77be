//! Reads, checks and writes records.
//!
//! A record that is read contradicts itself nowhere; an error names the place of a contradiction.

use super::{Factors, Latencies, Record, Sample, Series, Stage, Unit, VERSION, Workload};
use crate::error::Error;

/// Refuses what is no record of a version that is known, before its fields are looked at: those of
/// a version to come would look like damage.
fn recognize(document: &[u8]) -> Result<(), Error> {
    let value: serde_json::Value = serde_json::from_slice(document).map_err(|error| {
        Error::record("", format!("not a record, or only a part of one: {error}"))
    })?;
    if value["format"] != "steadfast record" {
        return Err(Error::record("format", "not a record: no `steadfast record` there"));
    }
    match value["version"].as_u64() {
        Some(version) if version == 0 || version > u64::from(VERSION) => Err(Error::record(
            "",
            format!("a record of version {version}; this program reads up to {VERSION}"),
        )),
        // What is no number is told of as any other wrong type.
        _ => Ok(()),
    }
}

/// Reads a record and checks it.
///
/// # Errors
/// If it is not JSON, not a record, of a version to come, or contradicts itself; the message names
/// the place, as `series[2].samples[0].elapsed_ns`.
pub fn read(document: &[u8]) -> Result<Record, Error> {
    recognize(document)?;
    let mut json = serde_json::Deserializer::from_slice(document);
    let record: Record = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let place = error.path().to_string();
        Error::record(&place, error.into_inner())
    })?;
    check(&record)?;
    Ok(record)
}

/// Writes a record.
pub fn write(record: &Record) -> Vec<u8> {
    let mut document =
        serde_json::to_vec_pretty(record).expect("a record holds nothing that JSON cannot");
    document.push(b'\n');
    document
}

/// Returns the schema of records, as it is published in `crates/measure/record.schema.json`.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Record);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// Refuses the first of some contradictions: whether it is one, its place, and the message.
fn refuse<const N: usize>(found: [(bool, String, &str); N]) -> Result<(), Error> {
    match found.into_iter().find(|(is_wrong, ..)| *is_wrong) {
        Some((_, place, message)) => Err(Error::record(&place, message)),
        None => Ok(()),
    }
}

/// Checks what types cannot say.
fn check(record: &Record) -> Result<(), Error> {
    for (index, series) in record.series.iter().enumerate() {
        let at = |field: &str| format!("series[{index}].{field}");
        let no_place = series.place.is_some_and(|place| place >= record.places.len());
        let both = series.samples.is_empty() != series.stated.is_some();
        let no_source = series.stated.is_some() && record.published.is_none();
        let rate = series.stated.map(|stated| stated.per_second);
        let no_rate = rate.is_some_and(|rate| !(rate.is_finite() && rate > 0.0));
        let no_level = series.factors.qos.is_some_and(|qos| ![9, 17, 21, 25, 33].contains(&qos));
        let exclusive = "a series has samples or a stated figure, and not both";
        refuse([
            (no_place, at("place"), "there is no such place"),
            (both, at("samples"), exclusive),
            (no_source, at("stated"), "a stated figure needs the publication it is from"),
            (no_rate, at("stated.per_second"), "not a rate"),
            (no_level, at("factors.qos"), "no such level"),
        ])?;
        // What a publication tells is not always told apart as finely.
        if series.stated.is_none() {
            check_factors(index, series)?;
        }
        check_samples(record, index, series)?;
    }
    Ok(())
}

/// Refuses a series without the factors that its figures are found by, or in another unit.
fn check_factors(index: usize, series: &Series) -> Result<(), Error> {
    let Factors { stage, algorithm, isa, threads, .. } = &series.factors;
    let Factors { block_len_bytes: block, queue_depth: depth, order, side, .. } = &series.factors;
    let needed: &[(&str, bool)] = match series.workload {
        Workload::Hash | Workload::Read | Workload::Write => &[],
        Workload::Queue => &[
            ("block_len_bytes", block.is_some()),
            ("queue_depth", depth.is_some()),
            ("order", order.is_some()),
        ],
        Workload::Pair => &[("block_len_bytes", block.is_some()), ("side", side.is_some())],
        Workload::Cipher => &[("algorithm", algorithm.is_some()), ("isa", isa.is_some())],
        Workload::Cpu => &[("algorithm", algorithm.is_some()), ("threads", threads.is_some())],
    };
    let stage_needed = [("stage", stage.is_some())];
    let lacking = stage_needed.iter().chain(needed).find(|(_, there)| !there);
    if let Some((name, _)) = lacking {
        let workload = series.workload.name();
        let message = format!("a series of `{workload}` needs it");
        return Err(Error::record(&format!("series[{index}].factors.{name}"), message));
    }
    let unit = match (series.workload, stage) {
        (Workload::Queue, _) | (Workload::Cipher, Some(Stage::Sign | Stage::Verify)) => {
            Unit::Operations
        }
        (Workload::Pair, _) if depth.is_some() => Unit::Operations,
        (Workload::Cpu, _) => Unit::Loops,
        _ => Unit::Bytes,
    };
    if series.unit != unit {
        let message = format!("`{}` counts something else", series.workload.name());
        return Err(Error::record(&format!("series[{index}].unit"), message));
    }
    Ok(())
}

fn check_samples(record: &Record, index: usize, series: &Series) -> Result<(), Error> {
    let mut before: Option<&Sample> = None;
    let reads = series.unit == Unit::Bytes || series.workload == Workload::Queue;
    for (number, sample) in series.samples.iter().enumerate() {
        let at = |field: &str| format!("series[{index}].samples[{number}].{field}");
        let end = sample.start_ns.checked_add(sample.elapsed_ns);
        let late = end.is_none_or(|end| end > record.elapsed_ns);
        let back = before.is_some_and(|before| before.round > sample.round);
        // Files that are counted may all be empty.
        let nothing = sample.amount == 0 && sample.files.is_none();
        refuse([
            (sample.elapsed_ns == 0, at("elapsed_ns"), "nothing takes no time"),
            (nothing, at("amount"), "nothing was done"),
            (late, at("elapsed_ns"), "it ends after the record"),
            (back, at("round"), "rounds go backwards"),
            (sample.cached_bytes.is_some() && !reads, at("cached_bytes"), "nothing was read"),
        ])?;
        if let Some(latencies) = &sample.latencies {
            let check = check_latencies(latencies);
            check.map_err(|message| Error::record(&at("latencies.buckets"), message))?;
        }
        before = Some(sample);
    }
    Ok(())
}

/// Refuses latencies that cannot be. How many they count is not held against the sample's amount:
/// the frozen record of version 1 has more.
fn check_latencies(latencies: &Latencies) -> Result<(), &'static str> {
    let buckets = &latencies.buckets;
    if !buckets.windows(2).all(|pair| pair[0].0 < pair[1].0) {
        return Err("bounds do not rise");
    }
    if buckets.last().is_some_and(|&(bound, _)| bound > latencies.max_ns) {
        return Err("the last bound is above the longest");
    }
    let all = buckets.iter().try_fold(0_u64, |sum, &(_, count)| sum.checked_add(count));
    match all {
        Some(1..) => Ok(()),
        Some(0) => Err("they count nothing"),
        None => Err("they count more than there can be"),
    }
}
