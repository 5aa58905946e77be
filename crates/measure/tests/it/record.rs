//! Records as documents: what is refused, and where; the published schema; published figures.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use steadfast_measure::ErrorKind;
use steadfast_measure::published;
use steadfast_measure::record;

/// A small record, as JSON that can be spoiled.
fn sound() -> Value {
    json!({
        "format": "steadfast record",
        "version": 1,
        "made_by": "steadfast 0.1.0 (x86_64-linux)",
        "command": ["steadfast", "measure", "hash"],
        "started_unix_s": 1_700_000_000,
        "elapsed_ns": 1_000,
        "machine": {
            "cpu": "one", "logical_cpus": 2, "backends": ["portable"], "memory_bytes": 1,
            "os": "some",
        },
        "clock": { "name": "monotonic", "resolution_ns": 1, "overhead_ns": 20 },
        "places": [],
        "series": [{
            "workload": "hash", "label": "one", "method": "somehow", "unit": "bytes",
            "factors": { "stage": "hash", "qos": 25 },
            "samples": [
                { "round": 0, "amount": 5, "start_ns": 0, "elapsed_ns": 10 },
                { "round": 1, "amount": 5, "start_ns": 20, "elapsed_ns": 10 },
            ],
        }],
    })
}

fn read(value: &Value) -> Result<record::Record, steadfast_measure::Error> {
    record::read(value.to_string().as_bytes())
}

#[test]
fn a_sound_record_is_read_and_written_alike() {
    let record = read(&sound()).unwrap();
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let cases: &[(&str, Value, &str)] = &[
        ("/format", json!("fio output"), "not a record"),
        ("/version", json!(0), "version 0"),
        ("/version", json!("1"), "at version"),
        ("/surprise", json!(1), "surprise"),
        ("/series/0/workload", json!("tea"), "series[0].workload"),
        ("/series/0/place", json!(0), "series[0].place"),
        ("/series/0/samples", json!([]), "series[0].samples"),
        ("/series/0/stated", json!({ "per_second": 1.0 }), "series[0].samples"),
        ("/series/0/factors/qos", json!(20), "series[0].factors.qos"),
        ("/series/0/samples/1/elapsed_ns", json!(0), "series[0].samples[1].elapsed_ns"),
        ("/series/0/samples/1/elapsed_ns", json!(5_000), "series[0].samples[1].elapsed_ns"),
        ("/series/0/samples/0/round", json!(7), "series[0].samples[1].round"),
        ("/series/0/samples/0/amount", json!(-1), "series[0].samples[0].amount"),
        ("/series/0/samples/0/start_ns", json!(u64::MAX), "series[0].samples[0]"),
        ("/series/0/samples/0/amount", json!(0), "series[0].samples[0].amount"),
        ("/series/0/factors", json!({}), "series[0].factors.stage"),
        ("/series/0/unit", json!("loops"), "series[0].unit"),
        ("/series/0/workload", json!("pair"), "series[0].factors.block_len_bytes"),
        ("/series/0/workload", json!("queue"), "series[0].factors.block_len_bytes"),
        ("/series/0/workload", json!("cpu"), "series[0].factors.algorithm"),
        ("/series/0/workload", json!("cipher"), "series[0].factors.algorithm"),
    ];
    for (place, value, words) in cases {
        refuse(sound(), place, value, words);
    }
}

/// Spoils one place of a record, and expects words about it.
fn refuse(mut spoiled: Value, place: &str, value: &Value, words: &str) {
    read(&spoiled).expect("it is sound before");
    let (parent, name) = place.rsplit_once('/').unwrap();
    let parent = spoiled.pointer_mut(parent).unwrap();
    match parent {
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value.clone(),
        parent => parent[name] = value.clone(),
    }
    let error = read(&spoiled).expect_err(place);
    assert_eq!(error.kind(), ErrorKind::Record, "{place}");
    assert!(error.to_string().contains(words), "{place}: {error}");
}

#[test]
fn latencies_that_contradict_their_sample_are_refused() {
    let mut queue = sound();
    let series = &mut queue["series"][0];
    series["workload"] = json!("queue");
    series["unit"] = json!("operations");
    series["factors"] = json!({
        "stage": "read", "block_len_bytes": 4096, "queue_depth": 1, "order": "random",
    });
    let latencies = json!({ "max_ns": 900, "buckets": [[100, 3], [800, 2]] });
    series["samples"][0]["latencies"] = latencies;
    let place = "/series/0/samples/0/latencies";
    for (field, value) in [
        ("max_ns", json!(799)),
        ("buckets", json!([[100, 3], [800, u64::MAX]])),
        ("buckets", json!([[100, 0]])),
        ("buckets", json!([])),
        ("buckets", json!([[800, 3], [100, 2]])),
    ] {
        refuse(queue.clone(), &format!("{place}/{field}"), &value, "samples[0].latencies.buckets");
    }
}

#[test]
fn a_version_to_come_is_told_from_damage() {
    let mut later = sound();
    later["version"] = json!(2);
    later["machine"] = json!("told otherwise");
    let error = read(&later).unwrap_err();
    assert_eq!(error.to_string(), "a record of version 2; this program reads up to 1");
}

#[test]
fn other_files_are_not_taken_for_records() {
    for document in [&b"not json"[..], b"", b"{}", b"[1, 2]", b"\xff\xfe", b"{\"format\": 1}"] {
        let error = record::read(document).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Record);
        assert!(error.to_string().contains("not a record"), "{error}");
    }
    let mut twice = sound().to_string().into_bytes();
    twice.extend_from_slice(b" {}");
    assert!(record::read(&twice).is_err(), "something after the record");
}

/// The schema beside the format's page is that of the types; `UPDATE_GOLDEN=1` writes it.
#[test]
fn the_published_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("record.schema.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(&path, record::schema()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), record::schema(), "UPDATE_GOLDEN=1?");
}

#[test]
fn published_figures_are_records_with_their_source() {
    let records = published::records();
    let rates = |name: &str| -> Vec<f64> {
        let record = records.iter().find(|record| record.name.as_deref() == Some(name)).unwrap();
        record.series.iter().map(|series| series.stated.unwrap().per_second).collect()
    };
    assert_eq!(rates("iMac Pro")[..2], [0.41e9, 0.18e9]);
    assert_eq!(rates("MacBook Pro, M3 Pro")[..2], [2.71e9, 0.52e9]);
    assert_eq!(rates("Mac mini, M4 Pro")[..2], [2.92e9, 0.64e9]);
    let shares: Vec<f64> = records
        .iter()
        .flat_map(|record| &record.published.as_ref().unwrap().shares)
        .map(|share| share.share)
        .collect();
    for share in [0.98, 0.89, 0.95, 0.97, 0.17, 0.48, 0.40, 0.16, 0.37, 0.45, 0.35, 0.66, 1.9] {
        assert!(shares.contains(&share), "{share}");
    }
    for record in &records {
        assert_eq!(record::read(&record::write(record)).unwrap(), *record);
        let published = record.published.as_ref().unwrap();
        assert!(!published.source.is_empty() && !published.note.is_empty());
    }
}

proptest! {
    /// Whatever the bytes, reading ends in a record or an error.
    #[test]
    fn no_bytes_upset_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = record::read(&bytes);
    }

    /// A record with one byte changed is refused, or is a record again.
    #[test]
    fn a_changed_byte_does_not_upset_the_reader(at in any::<prop::sample::Index>(), to: u8) {
        let mut document = sound().to_string().into_bytes();
        let at = at.index(document.len());
        document[at] = to;
        if let Ok(record) = record::read(&document) {
            prop_assert_eq!(record::read(&record::write(&record)).unwrap(), record);
        }
    }
}
