//! The report of `smartctl --json`: of ATA, NVMe and SCSI drives.
//!
//! Source: smartmontools 7, schema 1.0. Only what the standards or all makers define alike is used:
//! the raw values of most attributes of ATA are the maker's own.

use serde::Deserialize;

use super::{DriveFinding, counted, finding};

#[derive(Deserialize)]
struct SmartReport {
    smart_status: Option<SmartStatus>,
    ata_smart_attributes: Option<AtaAttributes>,
    nvme_smart_health_information_log: Option<NvmeHealth>,
    scsi_grown_defect_list: Option<u64>,
    scsi_error_counter_log: Option<ScsiErrors>,
}

#[derive(Deserialize)]
struct SmartStatus {
    passed: bool,
}

#[derive(Deserialize)]
struct AtaAttributes {
    table: Vec<AtaAttribute>,
}

#[derive(Deserialize)]
struct AtaAttribute {
    id: u8,
    raw: AtaRaw,
}

#[derive(Deserialize)]
struct AtaRaw {
    value: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NvmeHealth {
    critical_warning: u64,
    available_spare: u64,
    available_spare_threshold: u64,
    percentage_used: u64,
    media_errors: u64,
}

#[derive(Deserialize)]
struct ScsiErrors {
    read: Option<ScsiCounter>,
    write: Option<ScsiCounter>,
    verify: Option<ScsiCounter>,
}

#[derive(Deserialize)]
struct ScsiCounter {
    #[serde(default)]
    total_uncorrected_errors: u64,
}

/// Parses a report. `None` if it says nothing of the drive's health, as of one that sleeps or that
/// only root may ask.
pub(super) fn parse(json: &str) -> Option<Vec<DriveFinding>> {
    let report: SmartReport = serde_json::from_str(json).ok()?;
    let SmartReport {
        smart_status,
        ata_smart_attributes,
        nvme_smart_health_information_log,
        scsi_grown_defect_list,
        scsi_error_counter_log,
    } = report;
    let says_something = smart_status.is_some()
        || ata_smart_attributes.is_some()
        || nvme_smart_health_information_log.is_some()
        || scsi_error_counter_log.is_some();
    if !says_something {
        return None;
    }
    let failing = smart_status.is_some_and(|status| !status.passed);
    let mut findings = Vec::new();
    findings.extend(finding(
        "failing",
        u64::from(failing),
        "the drive says that it is about to fail: copy its files and replace it",
    ));
    findings.extend(ata_smart_attributes.iter().flat_map(ata));
    findings.extend(nvme_smart_health_information_log.iter().flat_map(nvme));
    findings.extend(scsi_grown_defect_list.and_then(replaced));
    findings.extend(scsi_error_counter_log.and_then(scsi));
    Some(findings)
}

fn ata(attributes: &AtaAttributes) -> impl Iterator<Item = DriveFinding> {
    attributes.table.iter().filter_map(|attribute| {
        // The upper bytes of a raw value hold other numbers with some makers.
        let count = attribute.raw.value & 0xffff_ffff;
        let sectors = counted(count, "sector", "sectors");
        match attribute.id {
            5 => replaced(count),
            187 => finding(
                "uncorrected_errors",
                count,
                format!("the drive could not correct {}", counted(count, "error", "errors")),
            ),
            197 => finding(
                "unreadable_sectors",
                count,
                format!("the drive has {sectors} it could not read: replace it"),
            ),
            198 => finding(
                "unreadable_in_tests",
                count,
                format!("the drive could not read {sectors} in its own tests: replace it"),
            ),
            199 => finding(
                "damaged_transfers",
                count,
                format!(
                    "{} between drive and computer arrived damaged and were repeated: check the \
                     cable",
                    counted(count, "transfer", "transfers")
                ),
            ),
            _ => None,
        }
    })
}

fn replaced(count: u64) -> Option<DriveFinding> {
    let sectors = counted(count, "bad sector", "bad sectors");
    let text = format!("the drive has replaced {sectors} by spare ones: watch whether it grows");
    finding("replaced_sectors", count, text)
}

/// Source: NVM Express base specification 2.0, figure 207: bits of the critical warning.
fn nvme(health: &NvmeHealth) -> impl Iterator<Item = DriveFinding> {
    let NvmeHealth { critical_warning, available_spare, percentage_used, media_errors, .. } =
        *health;
    let bit = |number: u64| (critical_warning >> number) & 1;
    let few = available_spare < health.available_spare_threshold;
    let worn = if percentage_used >= 100 { percentage_used } else { 0 };
    let errors = counted(media_errors, "error", "errors");
    let findings = [
        finding(
            "media_errors",
            media_errors,
            format!("the drive could not correct {errors} of its medium: replace it"),
        ),
        finding(
            "spare_low",
            bit(0) | u64::from(few),
            format!("the drive has {available_spare} % of its spare blocks left: replace it"),
        ),
        finding("too_hot", bit(1), "the drive is too hot or too cold"),
        finding("unreliable", bit(2), "the drive calls itself unreliable: replace it"),
        finding("read_only", bit(3), "the drive can only be read any more: replace it"),
        finding("backup_failed", bit(4), "the drive may lose writes when the power fails"),
        finding("worn", worn, format!("the drive has used {worn} % of the writes it was made for")),
    ];
    findings.into_iter().flatten()
}

fn scsi(errors: ScsiErrors) -> Option<DriveFinding> {
    let ScsiErrors { read, write, verify } = errors;
    let counters = [read, write, verify].into_iter().flatten();
    let count = counters.map(|counter| counter.total_uncorrected_errors).sum();
    let words = counted(count, "error", "errors");
    let text = format!("the drive could not correct {words}: replace it");
    finding("uncorrected_errors", count, text)
}
