//! Records as documents: read and checked, or written.
//!
//! In: bytes from anywhere. Out: a record in which nothing contradicts itself, or where it does.

use super::{Record, Sample, Series, Unit, VERSION, Workload};
use crate::error::Error;

/// What a document must hold to be worth reading as a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// A record of this version.
    Record,
    /// JSON, but something else.
    Foreign,
    /// Not JSON.
    No,
}

impl Known {
    /// Says what a document is, without judging what is in it.
    pub fn of(document: &[u8]) -> Known {
        match serde_json::from_slice::<serde_json::Value>(document) {
            Ok(value) if value["format"] == "steadfast record" => Known::Record,
            Ok(_) => Known::Foreign,
            Err(_) => Known::No,
        }
    }
}

/// Reads a record and checks it.
///
/// # Errors
/// If it is not JSON, not a record, of a version to come, or contradicts itself; the message names
/// the place, as `series[2].samples[0].elapsed_ns`.
pub fn read(document: &[u8]) -> Result<Record, Error> {
    match Known::of(document) {
        Known::Record => {}
        Known::Foreign => {
            return Err(Error::record("format", "not a record: no `steadfast record` there"));
        }
        Known::No => {}
    }
    let mut json = serde_json::Deserializer::from_slice(document);
    let record: Record = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let place = error.path().to_string();
        Error::record(&place, error.into_inner())
    })?;
    json.end().map_err(|error| Error::record("", error))?;
    if record.version == 0 || record.version > VERSION {
        let message = format!("version {}, this program reads up to {VERSION}", record.version);
        return Err(Error::record("version", message));
    }
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

/// Returns the schema of records, as it is published in `docs/formats/record.schema.json`.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Record);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// Checks what types cannot say.
fn check(record: &Record) -> Result<(), Error> {
    for (index, series) in record.series.iter().enumerate() {
        let at = |field: &str| format!("series[{index}].{field}");
        if series.place.is_some_and(|place| place >= record.places.len()) {
            return Err(Error::record(&at("place"), "there is no such place"));
        }
        if series.samples.is_empty() != series.stated.is_some() {
            let message = "a series has samples or a stated figure, and not both";
            return Err(Error::record(&at("samples"), message));
        }
        if let Some(stated) = series.stated {
            if record.published.is_none() {
                let message = "a stated figure needs the publication it is from";
                return Err(Error::record(&at("stated"), message));
            }
            if !(stated.per_second.is_finite() && stated.per_second > 0.0) {
                return Err(Error::record(&at("stated.per_second"), "not a rate"));
            }
        }
        if series.factors.qos.is_some_and(|level| ![9, 17, 21, 25, 33].contains(&level)) {
            return Err(Error::record(&at("factors.qos"), "no such level"));
        }
        check_samples(record, index, series)?;
    }
    Ok(())
}

fn check_samples(record: &Record, index: usize, series: &Series) -> Result<(), Error> {
    let mut before: Option<&Sample> = None;
    for (number, sample) in series.samples.iter().enumerate() {
        let at = |field: &str| format!("series[{index}].samples[{number}].{field}");
        if sample.elapsed_ns == 0 {
            return Err(Error::record(&at("elapsed_ns"), "nothing takes no time"));
        }
        let end = sample.start_ns.checked_add(sample.elapsed_ns);
        if end.is_none_or(|end| end > record.elapsed_ns) {
            let message = "it ends after the record";
            return Err(Error::record(&at("elapsed_ns"), message));
        }
        if before.is_some_and(|before| before.round > sample.round) {
            return Err(Error::record(&at("round"), "rounds go backwards"));
        }
        if sample.cached_bytes.is_some()
            && series.unit != Unit::Bytes
            && series.workload != Workload::Queue
        {
            return Err(Error::record(&at("cached_bytes"), "nothing was read"));
        }
        if let Some(latencies) = &sample.latencies {
            let rising = latencies.buckets.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !rising {
                return Err(Error::record(&at("latencies.buckets"), "bounds do not rise"));
            }
        }
        before = Some(sample);
    }
    Ok(())
}
