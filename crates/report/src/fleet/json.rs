//! A job as programs read it: one object, in base units.

use std::collections::BTreeMap;

use serde::Serialize;
use steadfast_fleet::{Amount, Failed, Job, Outcome, Planned, Status};

use crate::json::{PathText, write_object};

/// Appends what was planned.
pub fn write_planned_json(planned: &Planned, exit_status: u8, out: &mut Vec<u8>) {
    let header = planned.job.header();
    let object = PlannedObject {
        job: &header.job,
        by: &header.by,
        root: PathText::of(planned.job.root()),
        shards: header.shards,
        files: header.files,
        bytes: header.bytes,
        devices: header.devices,
        troubles: header.troubles,
        file_cost_bytes: header.file_cost_bytes,
        cost_bytes_min: planned.cost_bytes.0.min(planned.cost_bytes.1),
        cost_bytes_max: planned.cost_bytes.1,
        exit_status,
    };
    write_object(&object, out);
}

#[derive(Serialize)]
struct PlannedObject<'a> {
    job: &'a str,
    by: &'a str,
    root: PathText,
    shards: u64,
    files: u64,
    bytes: u64,
    devices: u64,
    troubles: u64,
    file_cost_bytes: u64,
    cost_bytes_min: u64,
    cost_bytes_max: u64,
    exit_status: u8,
}

/// The part of a shard that need not be run.
#[derive(Serialize)]
pub(super) struct Existing<'a> {
    shard: u64,
    existing: &'a BTreeMap<String, u64>,
    files: u64,
}

impl<'a> Existing<'a> {
    pub(super) fn of(shard: u64, outcome: &'a Outcome) -> Existing<'a> {
        Existing { shard, existing: &outcome.verdicts, files: outcome.files }
    }
}

/// Appends how far a job is.
pub fn write_status_json(job: &Job, status: &Status, exit_status: u8, out: &mut Vec<u8>) {
    let object = StatusObject {
        job: &job.header().job,
        complete: status.is_complete(),
        whole: AmountObject::of(status.whole),
        done: AmountObject::of(status.done),
        verdicts: &status.verdicts,
        elapsed_ns: status.elapsed_ns,
        rate_limited: status.rate_limited,
        file_cost_bytes: status.file_cost_bytes,
        troubles: status.troubles,
        missing: &status.missing,
        damaged: &status.damaged,
        failures: status.failures,
        failed: status.failed.iter().map(FailedObject::of).collect(),
        devices: status
            .devices
            .iter()
            .map(|device| DeviceObject {
                device: device.device,
                whole: AmountObject::of(device.whole),
                done: AmountObject::of(device.done),
            })
            .collect(),
        exit_status,
    };
    write_object(&object, out);
}

#[derive(Serialize)]
struct StatusObject<'a> {
    job: &'a str,
    complete: bool,
    whole: AmountObject,
    done: AmountObject,
    verdicts: &'a BTreeMap<&'static str, u64>,
    elapsed_ns: u64,
    rate_limited: u64,
    file_cost_bytes: Option<u64>,
    troubles: u64,
    missing: &'a [u64],
    damaged: &'a [u64],
    failures: u64,
    failed: Vec<FailedObject<'a>>,
    devices: Vec<DeviceObject>,
    exit_status: u8,
}

#[derive(Serialize)]
struct AmountObject {
    shards: u64,
    files: u64,
    bytes: u64,
}

impl AmountObject {
    fn of(amount: Amount) -> AmountObject {
        AmountObject { shards: amount.shards, files: amount.files, bytes: amount.bytes }
    }
}

#[derive(Serialize)]
struct DeviceObject {
    device: u64,
    whole: AmountObject,
    done: AmountObject,
}

#[derive(Serialize)]
struct FailedObject<'a> {
    shard: u64,
    host: &'a str,
    at_s: i64,
    temporary: bool,
    error: &'a str,
}

impl<'a> FailedObject<'a> {
    fn of(failed: &'a Failed) -> FailedObject<'a> {
        FailedObject {
            shard: failed.shard,
            host: &failed.host,
            at_s: failed.at_s,
            temporary: failed.temporary,
            error: &failed.error,
        }
    }
}
