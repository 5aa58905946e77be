//! The error counters of btrfs and of Linux's software RAID, which are files of the kernel.

use std::fs;
use std::path::{Path, PathBuf};

use super::{DriveFinding, DriveReport, counted, danger, finding, number};

/// Reads the counters of the btrfs file system that is on one of these disks.
pub(super) fn btrfs(sys: &Path, disks: &[&str]) -> Option<DriveReport> {
    let is_on_disk = |file_system: &Path| {
        children(&file_system.join("devices")).iter().any(|device| {
            let real = fs::canonicalize(device).unwrap_or_else(|_| device.clone());
            real.components()
                .any(|part| part.as_os_str().to_str().is_some_and(|part| disks.contains(&part)))
        })
    };
    let file_system = children(&sys.join("fs/btrfs")).into_iter().find(|path| is_on_disk(path))?;
    let mut findings = Vec::new();
    let mut was_read = false;
    for device in children(&file_system.join("devinfo")) {
        let Ok(stats) = fs::read_to_string(device.join("error_stats")) else { continue };
        was_read = true;
        let number = device.file_name().unwrap_or_default().to_string_lossy().into_owned();
        findings.extend(btrfs_device(&stats, &number));
    }
    let report = DriveReport { name: "btrfs".to_owned(), findings, ..DriveReport::default() };
    was_read.then(|| DriveReport { sources: vec!["sysfs"], ..report })
}

/// Parses the counters of one device: a name and a number in each line.
fn btrfs_device(stats: &str, device: &str) -> Vec<DriveFinding> {
    let kinds: [(&str, &'static str, &str); 5] = [
        ("corruption_errs", "btrfs_corruption", "blocks that were damaged"),
        ("generation_errs", "btrfs_generation", "blocks that were old: a write was lost"),
        ("read_errs", "btrfs_read", "reads that failed"),
        ("write_errs", "btrfs_write", "writes that failed"),
        ("flush_errs", "btrfs_flush", "flushes that failed"),
    ];
    let lines = stats.lines().filter_map(|line| line.split_once(' '));
    let counts: Vec<(&str, u64)> =
        lines.filter_map(|(name, count)| Some((name, count.trim().parse().ok()?))).collect();
    let found = kinds.into_iter().filter_map(|(name, key, words)| {
        let count = counts.iter().find(|(known, _)| *known == name)?.1;
        let text = format!("btrfs counted on device {device}: {count} {words}; run a scrub");
        finding(key, count, text)
    });
    found.collect()
}

/// Reads the counters of a software RAID from its folder `md`.
pub(super) fn md(folder: &Path) -> Vec<DriveFinding> {
    let degraded = number(&folder.join("degraded")).unwrap_or(0);
    let mismatches = number(&folder.join("mismatch_cnt")).unwrap_or(0);
    let mut findings: Vec<DriveFinding> = Vec::new();
    findings.extend(danger(
        "array_degraded",
        degraded,
        format!("the array lacks {}: replace it", counted(degraded, "drive", "drives")),
    ));
    findings.extend(finding(
        "array_mismatches",
        mismatches,
        format!(
            "in the array, {} differ between drives, by its last check",
            counted(mismatches, "sector", "sectors")
        ),
    ));
    for member in children(folder) {
        let Some(name) = member.file_name().and_then(|name| name.to_str()) else { continue };
        let Some(name) = name.strip_prefix("dev-") else { continue };
        let state = fs::read_to_string(member.join("state")).unwrap_or_default();
        let is_faulty = state.trim().split(',').any(|word| word == "faulty");
        findings.extend(danger(
            "array_faulty",
            u64::from(is_faulty),
            format!("the array has dropped {name} as faulty: replace it"),
        ));
        let errors = number(&member.join("errors")).unwrap_or(0);
        let words = counted(errors, "read error", "read errors");
        findings.extend(finding(
            "array_read_errors",
            errors,
            format!("the array corrected {words} of {name}"),
        ));
    }
    findings
}

/// Returns what is in a folder, in the order of its names.
fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
