//! A job as programs read it: one object, in base units.

use std::collections::BTreeMap;

use serde::Serialize;
use steadfast_events::PathText;
use steadfast_fleet::{Job, JobStatus, PartOutcome, PlannedJob};

use crate::json::write_object;

/// Appends what was planned.
pub fn write_planned_json(planned: &PlannedJob, exit_status: u8, out: &mut Vec<u8>) {
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
pub(super) struct ExistingPart<'a> {
    shard: u64,
    existing: &'a BTreeMap<String, u64>,
    files: u64,
}

impl<'a> ExistingPart<'a> {
    pub(super) fn of(shard: u64, outcome: &'a PartOutcome) -> ExistingPart<'a> {
        ExistingPart { shard, existing: &outcome.verdicts, files: outcome.files }
    }
}

/// Appends how far a job is.
pub fn write_status_json(job: &Job, status: &JobStatus, exit_status: u8, out: &mut Vec<u8>) {
    let job = &job.header().job;
    let object = StatusObject { job, complete: status.is_complete(), status, exit_status };
    write_object(&object, out);
}

#[derive(Serialize)]
struct StatusObject<'a> {
    job: &'a str,
    complete: bool,
    #[serde(flatten)]
    status: &'a JobStatus,
    exit_status: u8,
}
