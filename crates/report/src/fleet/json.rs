//! Writes a job as JSON: one object, in base units.

use serde::Serialize;
use steadfast::ExitStatus;
use steadfast::json::PathText;
use steadfast_fleet::{Job, JobStatus, PartOutcome, PlannedJob};

use crate::json::{JsonObject, write_object};

/// Appends the plan.
pub fn write_planned_json(planned: &PlannedJob, exit_status: ExitStatus, out: &mut Vec<u8>) {
    let header = planned.job.header();
    let object = JsonObject::default()
        .field("job", &header.job)
        .field("by", &header.by)
        .field("root", PathText::of(planned.job.root()))
        .field("shards", header.shards)
        .field("files", header.files)
        .field("bytes", header.bytes)
        .field("devices", header.devices)
        .field("troubles", header.troubles)
        .field("file_cost_bytes", header.file_cost_bytes)
        .field("cost_bytes_min", planned.cost_bytes.0.min(planned.cost_bytes.1))
        .field("cost_bytes_max", planned.cost_bytes.1)
        .field("exit_status", exit_status);
    write_object(&object, out);
}

/// Appends the fact that the part of a shard exists, so that the shard need not be run.
pub(super) fn write_existing_json(shard: u64, outcome: &PartOutcome, out: &mut Vec<u8>) {
    let object = JsonObject::default()
        .field("shard", shard)
        .field("existing", &outcome.verdicts)
        .field("files", outcome.files);
    write_object(&object, out);
}

/// Appends the progress of a job.
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
