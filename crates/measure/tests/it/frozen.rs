//! The frozen record stays readable, and the published schema is that of the types.

use std::path::{Path, PathBuf};

use steadfast_measure::figures::{cipher, compare, cpu, hash, hosts, pair, queue, storage};
use steadfast_measure::record::{self, Workload};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn version_1_reads_as_it_always_did() {
    let path = root().join("testdata/formats/record/v1/all.json");
    let document = std::fs::read(path).unwrap();
    let record = record::read(&document).unwrap();
    assert_eq!(record.version, 1);
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
    let same = |one: &serde_json::Value, other: &serde_json::Value| assert_eq!(one, other);
    let written = serde_json::from_slice(&record::write(&record)).unwrap();
    same(&serde_json::from_slice(&document).unwrap(), &written);
    assert!(hash::of(&record).is_some() && !queue::of(&record).is_empty());
    assert!(pair::of(&record).is_some() && cipher::of(&record).is_some());
    assert!(cpu::of(&record, None).is_some());
    for workload in [Workload::Read, Workload::Write] {
        assert!(!storage::of(&record, workload).is_empty());
    }
    assert_eq!(hosts::of(&record).len(), 1);
    assert_eq!(compare::of(&record, &record).len(), record.series.len());
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let path = root().join("crates/measure/record.schema.json");
    let schema = record::schema();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(schema, published, "UPDATE_GOLDEN=1 rewrites it");
}
