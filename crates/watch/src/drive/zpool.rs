//! The answer of `zpool status -p`: the state and the counters of every pool.
//!
//! Source: zpool-status(8). The text is parsed, because releases before OpenZFS 2.3 have no JSON.

use super::{DriveFinding, DriveReport, counted, danger, finding};

/// Parses the answer. A pool is in it with its devices, each with a state and three counters.
pub(super) fn parse(text: &str) -> Vec<DriveReport> {
    let mut reports: Vec<DriveReport> = Vec::new();
    let mut in_table = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["pool:", name] = words.as_slice() {
            let name = (*name).to_owned();
            in_table = false;
            reports.push(DriveReport { name, sources: vec!["zpool"], ..DriveReport::default() });
            continue;
        }
        let Some(report) = reports.last_mut() else { continue };
        match words.as_slice() {
            ["NAME", "STATE", "READ", "WRITE", "CKSUM", ..] => in_table = true,
            ["errors:", count, "data", "errors,", ..] => {
                let count = count.parse().unwrap_or(1);
                let words = counted(count, "place", "places");
                let text = format!("the pool could not restore {words}: see `zpool status -v`");
                report.findings.extend(danger("zfs_data_errors", count, text));
                in_table = false;
            }
            ["errors:", ..] => in_table = false,
            [name, state, counters @ ..] if in_table => {
                // The first line of the table repeats the sums of its devices.
                let is_pool = *name == report.name;
                report.findings.extend(of_device(name, state, counters, is_pool));
            }
            _ => {}
        }
    }
    reports
}

fn of_device(name: &str, state: &str, counters: &[&str], is_pool: bool) -> Vec<DriveFinding> {
    let what = if is_pool { "the pool".to_owned() } else { name.to_owned() };
    let bad = !matches!(state, "ONLINE" | "AVAIL" | "INUSE");
    let text = format!("{what} is {}: see `zpool status`", state.to_lowercase());
    let mut findings: Vec<DriveFinding> =
        danger("zfs_state", u64::from(bad), text).into_iter().collect();
    if is_pool {
        return findings;
    }
    let kinds = [
        ("zfs_read", "reads that failed"),
        ("zfs_write", "writes that failed"),
        ("zfs_damaged", "blocks that were damaged"),
    ];
    for ((key, words), count) in kinds.into_iter().zip(counters) {
        let count = count.parse().unwrap_or(0);
        findings.extend(finding(key, count, format!("ZFS counted on {name}: {count} {words}")));
    }
    findings
}
