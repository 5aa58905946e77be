//! Writes a job as text.

use std::fmt::Write as _;

use steadfast::Verdict;
use steadfast_fleet::{JobStatus, PartOutcome, PlannedJob};

use super::ranges;
use crate::escape;
use crate::units::{self, Units};

/// Most shards that are named in each list.
const NAMED_MAX: usize = 20;

/// Appends the plan, and what to do next.
pub fn write_planned_text(planned: &PlannedJob, size: Units, out: &mut Vec<u8>) {
    let header = planned.job.header();
    let files = units::counted(header.files, "file", "files");
    let mut text = format!(
        "planned {files}, {}, on {}, in {}",
        size.bytes(header.bytes),
        units::counted(header.devices, "device", "devices"),
        units::counted(header.shards, "shard", "shards")
    );
    if header.shards > 0 {
        let (least, most) = planned.cost_bytes;
        let (least, most) = (size.bytes(least), size.bytes(most));
        let file_cost = size.bytes(header.file_cost_bytes);
        let _ = write!(text, " that cost {least} to {most}, {file_cost} for each file among it");
    }
    text.push('\n');
    if header.troubles > 0 {
        let troubles = units::counted(header.troubles, "directory or line", "directories or lines");
        let _ = writeln!(text, "{troubles} could not be read; the result will list them");
    }
    let job = escape::path(planned.job.folder());
    if header.shards > 0 {
        let _ = writeln!(text, "run each, from 0: steadfast fleet run {job} --shard N");
    }
    out.extend_from_slice(text.as_bytes());
}

/// Appends the fact that the part of a shard exists.
pub fn write_existing(shard: u64, outcome: &PartOutcome, json: bool, out: &mut Vec<u8>) {
    if json {
        return super::json::write_existing_json(shard, outcome, out);
    }
    let files = units::counted(outcome.files, "file", "files");
    let line = format!("the part of shard {shard} is there: {files}, nothing was done\n");
    out.extend_from_slice(line.as_bytes());
}

/// Appends the progress of a job.
pub fn write_status_text(status: &JobStatus, size: Units, out: &mut Vec<u8>) {
    let mut text = String::new();
    let (whole, done) = (status.whole, status.done);
    let _ = writeln!(
        text,
        "{} of {}, {} of {}, {} of {}",
        units::count(done.shards),
        units::counted(whole.shards, "shard", "shards"),
        units::count(done.files),
        units::counted(whole.files, "file", "files"),
        size.bytes(done.bytes),
        size.bytes(whole.bytes)
    );
    if status.devices.len() > 1 {
        for device in &status.devices {
            let (whole, done) = (device.whole, device.done);
            let number = device.device;
            let (ours, all) = (units::count(done.shards), units::count(whole.shards));
            let (read, bytes) = (size.bytes(done.bytes), size.bytes(whole.bytes));
            let _ = writeln!(text, "  device {number}: {ours} of {all} shards, {read} of {bytes}");
        }
    }
    for verdict in Verdict::ALL {
        if let Some(files) = status.verdicts.get(verdict.name()) {
            let _ = writeln!(text, "  {:<10}  {}", verdict.name(), units::count(*files));
        }
    }
    if status.is_complete() && status.judged == 0 {
        text.push_str("no file was judged\n");
    }
    if status.elapsed_ns > 0 {
        let took = units::duration(status.elapsed_ns);
        let rate = size.rate(done.bytes, status.elapsed_ns);
        let _ = writeln!(text, "the parts took {took}, one after the other ({rate})");
    }
    if status.rate_limited > 0 {
        let parts = units::counted(status.rate_limited, "part was", "parts were");
        let _ = writeln!(text, "{parts} bound by --rate-limit, not by the storage");
    }
    if let Some(cost) = status.file_cost_bytes {
        let cost = size.bytes(cost);
        let _ = writeln!(text, "by these parts a file cost as much as {cost}: plan --file-cost");
    }
    write_troubles(status, &mut text);
    out.extend_from_slice(text.as_bytes());
}

fn write_troubles(status: &JobStatus, text: &mut String) {
    if status.troubles > 0 {
        let troubles = units::counted(status.troubles, "directory or line", "directories or lines");
        let _ = writeln!(text, "{troubles} could not be read when the job was planned");
    }
    for (what, shards) in [("no part yet", &status.missing), ("damaged parts", &status.damaged)] {
        if !shards.is_empty() {
            let named = &shards[..shards.len().min(NAMED_MAX)];
            let more = if shards.len() > NAMED_MAX { ", …" } else { "" };
            let word = if shards.len() == 1 { "shard" } else { "shards" };
            let _ = writeln!(text, "{what}: {word} {}{more}", ranges(named));
        }
    }
    if !status.damaged.is_empty() {
        let _ = writeln!(text, "to replace a damaged part: steadfast fleet run JOB --shard N");
    }
    for failed in status.failed.iter().take(NAMED_MAX) {
        let again = if failed.temporary { "may be tried again" } else { "somebody must look" };
        let (host, error) = (escape::text(&failed.host), escape::text(&failed.error));
        let _ = writeln!(text, "shard {} failed on {host}, {again}: {error}", failed.shard);
    }
    let more = status.failures.saturating_sub(NAMED_MAX as u64);
    if more > 0 {
        let _ = writeln!(text, "and {} more failed", units::count(more));
    }
}
