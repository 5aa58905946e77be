//! The report of `smartctl --json`: of ATA, NVMe and SCSI drives.
//!
//! Source: smartmontools 7, schema 1.0. Only what the standards or all makers define alike is used:
//! the raw values of most attributes of ATA are the maker's own.

use serde::Deserialize;

use super::{DriveFinding, counted, danger, finding};

/// Percent of its life that a flash drive may have used. At 100 its maker promises nothing more.
const USED_PERCENT_MAX: u64 = 90;

#[derive(Deserialize)]
struct SmartReport {
    smart_status: Option<SmartStatus>,
    ata_smart_attributes: Option<AtaAttributes>,
    nvme_smart_health_information_log: Option<NvmeHealth>,
    scsi_grown_defect_list: Option<u64>,
    scsi_error_counter_log: Option<ScsiErrors>,
    ata_smart_self_test_log: Option<AtaSelfTests>,
    nvme_self_test_log: Option<NvmeSelfTests>,
    endurance_used: Option<EnduranceUsed>,
    scsi_percentage_used_endurance_indicator: Option<u64>,
    /// 0 for a drive without a motor.
    rotation_rate: Option<u64>,
}

#[derive(Deserialize)]
struct EnduranceUsed {
    current_percent: u64,
}

/// The latest test is the first.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AtaSelfTests {
    standard: AtaTestTable,
    extended: AtaTestTable,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AtaTestTable {
    table: Vec<AtaSelfTest>,
}

#[derive(Deserialize)]
struct AtaSelfTest {
    status: AtaTestStatus,
}

#[derive(Deserialize)]
struct AtaTestStatus {
    /// Absent of a test that was aborted.
    passed: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NvmeSelfTests {
    table: Vec<NvmeSelfTest>,
}

#[derive(Deserialize)]
struct NvmeSelfTest {
    self_test_result: NvmeTestResult,
}

#[derive(Deserialize)]
struct NvmeTestResult {
    value: u64,
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
    #[serde(default)]
    name: String,
    /// What is left, by the maker's scale: 100 or more when new.
    #[serde(default)]
    value: u64,
    /// "now" or "past", if the value is, or was, at the limit of the maker.
    #[serde(default)]
    when_failed: String,
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
    let says_something = report.smart_status.is_some()
        || report.ata_smart_attributes.is_some()
        || report.nvme_smart_health_information_log.is_some()
        || report.scsi_error_counter_log.is_some();
    if !says_something {
        return None;
    }
    let failing = report.smart_status.as_ref().is_some_and(|status| !status.passed);
    let mut findings = Vec::new();
    findings.extend(danger(
        "failing",
        u64::from(failing),
        "the drive says that it is about to fail: copy its files and replace it",
    ));
    findings.extend(danger(
        "failed_self_test",
        u64::from(report.has_failed_its_test()),
        "the drive failed its last test of itself: copy its files and replace it",
    ));
    let used = report.used_percent().filter(|used| *used >= USED_PERCENT_MAX);
    let text = |used| format!("the drive has used {used} % of its life: replace it");
    findings.extend(used.and_then(|used| danger("worn", used, text(used))));
    findings.extend(report.ata_smart_attributes.iter().flat_map(ata));
    findings.extend(report.nvme_smart_health_information_log.iter().flat_map(nvme));
    findings.extend(report.scsi_grown_defect_list.and_then(replaced));
    findings.extend(report.scsi_error_counter_log.and_then(scsi));
    Some(findings)
}

impl SmartReport {
    fn has_failed_its_test(&self) -> bool {
        let of_ata = self.ata_smart_self_test_log.as_ref().is_some_and(|log| {
            let mut tests = log.extended.table.iter().chain(&log.standard.table);
            tests.find_map(|test| test.status.passed) == Some(false)
        });
        // Source: NVM Express base specification 2.0, figure 100: 0 passed, 5 to 7 failed.
        let of_nvme = self.nvme_self_test_log.as_ref().is_some_and(|log| {
            let mut results = log.table.iter().map(|test| test.self_test_result.value);
            results.find(|value| matches!(value, 0 | 5..=7)).is_some_and(|value| value != 0)
        });
        of_ata || of_nvme
    }

    /// Returns how much of its life a flash drive has used, in percent.
    fn used_percent(&self) -> Option<u64> {
        let of_nvme =
            self.nvme_smart_health_information_log.as_ref().map(|log| log.percentage_used);
        let told = self.endurance_used.as_ref().map(|used| used.current_percent);
        let of_scsi = self.scsi_percentage_used_endurance_indicator;
        let is_flash = self.rotation_rate == Some(0);
        let attributes = self.ata_smart_attributes.iter().filter(|_| is_flash);
        // The attributes that makers call life left, wear levelling, or media wearout.
        let left = attributes
            .flat_map(|all| &all.table)
            .filter(|one| matches!(one.id, 169 | 177 | 202 | 231 | 233) && one.value > 0)
            .map(|one| 100_u64.saturating_sub(one.value));
        [of_nvme, told, of_scsi].into_iter().flatten().chain(left).max()
    }
}

fn ata(attributes: &AtaAttributes) -> impl Iterator<Item = DriveFinding> {
    attributes.table.iter().flat_map(|attribute| {
        let at_limit = attribute.when_failed == "now";
        let name = attribute.name.replace(|letter: char| !letter.is_ascii_graphic(), "_");
        let text = format!("the drive is beyond its maker's limit for {name}: replace it");
        danger("beyond_limit", u64::from(at_limit), text).into_iter().chain(counter(attribute))
    })
}

fn counter(attribute: &AtaAttribute) -> Option<DriveFinding> {
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
        197 => danger(
            "unreadable_sectors",
            count,
            format!("the drive has {sectors} it could not read: replace it"),
        ),
        198 => danger(
            "unreadable_in_tests",
            count,
            format!("the drive could not read {sectors} in its own tests: replace it"),
        ),
        199 => finding(
            "damaged_transfers",
            count,
            format!(
                "{} between drive and computer arrived damaged and were repeated: check the cable",
                counted(count, "transfer", "transfers")
            ),
        ),
        _ => None,
    }
}

fn replaced(count: u64) -> Option<DriveFinding> {
    let sectors = counted(count, "bad sector", "bad sectors");
    let text = format!("the drive has replaced {sectors} by spare ones: watch whether it grows");
    finding("replaced_sectors", count, text)
}

/// Source: NVM Express base specification 2.0, figure 207: bits of the critical warning.
fn nvme(health: &NvmeHealth) -> impl Iterator<Item = DriveFinding> {
    let NvmeHealth { critical_warning, available_spare, media_errors, .. } = *health;
    let bit = |number: u64| (critical_warning >> number) & 1;
    let few = available_spare < health.available_spare_threshold;
    let errors = counted(media_errors, "error", "errors");
    let findings = [
        danger(
            "media_errors",
            media_errors,
            format!("the drive could not correct {errors} of its medium: replace it"),
        ),
        danger(
            "spare_low",
            bit(0) | u64::from(few),
            format!("the drive has {available_spare} % of its spare blocks left: replace it"),
        ),
        finding("too_hot", bit(1), "the drive is too hot or too cold"),
        danger("unreliable", bit(2), "the drive calls itself unreliable: replace it"),
        danger("read_only", bit(3), "the drive can only be read any more: replace it"),
        finding("backup_failed", bit(4), "the drive may lose writes when the power fails"),
    ];
    findings.into_iter().flatten()
}

fn scsi(errors: ScsiErrors) -> Option<DriveFinding> {
    let ScsiErrors { read, write, verify } = errors;
    let counters = [read, write, verify].into_iter().flatten();
    let count = counters.map(|counter| counter.total_uncorrected_errors).sum();
    let words = counted(count, "error", "errors");
    let text = format!("the drive could not correct {words}: replace it");
    danger("uncorrected_errors", count, text)
}
