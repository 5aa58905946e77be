//! What drives say, from recorded answers and from folders like those of the kernel.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use steadfast_sys::storage::{Layer, Volume};
use steadfast_watch::{DriveProbe, DriveReport};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

/// A machine with programs and a `/sys` of the test's own.
fn probe(folder: &Path) -> DriveProbe {
    fs::create_dir_all(folder.join("sys")).expect("a folder");
    DriveProbe {
        sys: folder.join("sys"),
        programs: vec![folder.join("nowhere"), folder.join("bin")],
        time_limit: Duration::from_secs(5),
    }
}

/// Puts a program there that writes down its arguments and answers with a sample.
fn program(folder: &Path, name: &str, body: &str) {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).expect("a folder");
    let log = folder.join("log");
    let text = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n{body}\n", log.display());
    fs::write(bin.join(name), text).expect("a program");
    fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).expect("a program");
}

fn answers(folder: &Path, name: &str, file: &str) {
    // A status that is not 0 is no failure: smartctl sets bits for what it found.
    program(folder, name, &format!("cat '{}'; exit 8", sample(file).display()));
}

fn volume(file_system: &str, layers: &[(&str, bool)]) -> Volume {
    let layer = |(name, made_up): &(&str, bool)| Layer {
        name: (*name).into(),
        made_up: *made_up,
        ..Layer::default()
    };
    Volume {
        file_system: file_system.into(),
        layers: layers.iter().map(layer).collect(),
        ..Volume::default()
    }
}

/// What is said by other sources than this machine's own kernel log.
fn said(reports: &[DriveReport]) -> Vec<(&str, &str, u64, &str)> {
    let findings = reports.iter().flat_map(|report| {
        report.findings.iter().map(|one| (report.name.as_str(), one.key, one.count, &*one.text))
    });
    findings.filter(|(_, key, ..)| *key != "kernel_io_errors").collect()
}

/// Key, number and text of a finding.
type ToldFinding = (&'static str, u64, &'static str);

#[test]
fn smart_is_told_in_words() {
    let rows: [(&str, &[ToldFinding]); 5] = [
        ("ata-fine.json", &[]),
        ("nvme-fine.json", &[]),
        (
            "ata-failing.json",
            &[
                (
                    "failing",
                    1,
                    "the drive says that it is about to fail: copy its files and \
                     replace it",
                ),
                (
                    "beyond_limit",
                    1,
                    "the drive is beyond its maker's limit for Reallocated_Sector_Ct: replace it",
                ),
                (
                    "replaced_sectors",
                    2160,
                    "the drive has replaced 2160 bad sectors by spare ones: \
                     watch whether it grows",
                ),
                ("uncorrected_errors", 40, "the drive could not correct 40 errors"),
                (
                    "unreadable_sectors",
                    12,
                    "the drive has 12 sectors it could not read: replace \
                     it",
                ),
                (
                    "unreadable_in_tests",
                    1,
                    "the drive could not read 1 sector in its own tests: replace \
                     it",
                ),
                (
                    "damaged_transfers",
                    3,
                    "3 transfers between drive and computer arrived damaged and \
                     were repeated: check the cable",
                ),
            ],
        ),
        (
            "nvme-worn.json",
            &[
                (
                    "failing",
                    1,
                    "the drive says that it is about to fail: copy its files and \
                     replace it",
                ),
                ("worn", 104, "the drive has used 104 % of its life: replace it"),
                (
                    "media_errors",
                    7,
                    "the drive could not correct 7 errors of its medium: replace \
                     it",
                ),
                ("spare_low", 1, "the drive has 4 % of its spare blocks left: replace it"),
                ("unreliable", 1, "the drive calls itself unreliable: replace it"),
                ("read_only", 1, "the drive can only be read any more: replace it"),
            ],
        ),
        (
            "sas.json",
            &[
                (
                    "replaced_sectors",
                    56,
                    "the drive has replaced 56 bad sectors by spare ones: watch \
                     whether it grows",
                ),
                ("uncorrected_errors", 2, "the drive could not correct 2 errors: replace it"),
            ],
        ),
    ];
    for (file, expected) in rows {
        let folder = tempfile::tempdir().unwrap();
        answers(folder.path(), "smartctl", file);
        let reports = probe(folder.path()).of_volume(&volume("ext4", &[("sdzz", false)]));
        assert!(reports[0].sources.contains(&"smartctl"), "{file}: {reports:?}");
        let expected: Vec<(&str, &str, u64, &str)> =
            expected.iter().map(|(key, count, text)| ("sdzz", *key, *count, *text)).collect();
        assert_eq!(said(&reports), expected, "{file}");
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(log.contains("-n standby,0 /dev/sdzz"), "{log}");
    }
}

#[test]
fn a_drive_that_is_worn_out_or_fails_its_tests_is_in_danger() {
    let attribute = |id: u8, value: u8, failed: &str| {
        format!(
            "\"rotation_rate\":0,\"ata_smart_attributes\":{{\"table\":[{{\"id\":{id},\
             \"name\":\"X\",\"value\":{value},\"when_failed\":\"{failed}\",\
             \"raw\":{{\"value\":0}}}}]}}"
        )
    };
    let tests = |first: bool| {
        format!(
            "\"ata_smart_self_test_log\":{{\"standard\":{{\"table\":[{{\"status\":{{}}}},\
             {{\"status\":{{\"passed\":{first}}}}},{{\"status\":{{\"passed\":false}}}}]}}}}"
        )
    };
    let nvme =
        |used: u8| format!("\"nvme_smart_health_information_log\":{{\"percentage_used\":{used}}}");
    let nvme_tests = |value: u8| {
        format!(
            "\"nvme_self_test_log\":{{\"table\":[{{\"self_test_result\":{{\"value\":{value}}}}}]}}"
        )
    };
    let rows = [
        (attribute(231, 99, ""), None),
        (attribute(231, 1, ""), Some("worn")),
        (attribute(3, 50, "now"), Some("beyond_limit")),
        (attribute(3, 50, "past"), None),
        (tests(true), None),
        (tests(false), Some("failed_self_test")),
        (nvme(40), None),
        (nvme(96), Some("worn")),
        (nvme_tests(0), None),
        (nvme_tests(7), Some("failed_self_test")),
    ];
    for (json, expected) in rows {
        let folder = tempfile::tempdir().unwrap();
        let json = format!("{{\"smart_status\":{{\"passed\":true}},{json}}}");
        program(folder.path(), "smartctl", &format!("cat <<'EOF'\n{json}\nEOF"));
        let reports = probe(folder.path()).of_volume(&volume("ext4", &[("sdzz", false)]));
        let dangers: Vec<&str> = reports[0].dangers().map(|one| one.key).collect();
        assert_eq!(dangers, Vec::from_iter(expected), "{json}");
    }
}

#[test]
fn a_drive_that_was_not_asked_is_not_called_fine() {
    for file in ["standby.json", "no-access.json", "README.md"] {
        let folder = tempfile::tempdir().unwrap();
        answers(folder.path(), "smartctl", file);
        let reports = probe(folder.path()).of_volume(&volume("ext4", &[("sdzz", false)]));
        let asked = reports.iter().any(|report| report.sources.contains(&"smartctl"));
        assert!(!asked, "{file}: {reports:?}");
    }
    // A virtual disk has no drive of its own.
    let folder = tempfile::tempdir().unwrap();
    answers(folder.path(), "smartctl", "ata-failing.json");
    let reports = probe(folder.path()).of_volume(&volume("ext4", &[("vdz", true)]));
    assert_eq!(reports, []);
    assert!(!folder.path().join("log").exists());
}

#[test]
fn a_program_that_hangs_costs_its_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), "smartctl", "exec sleep 60");
    let probe = DriveProbe { time_limit: Duration::from_millis(200), ..probe(folder.path()) };
    let begun = Instant::now();
    let reports = probe.of_volume(&volume("ext4", &[("sdzz", false)]));
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(said(&reports), []);
}

#[test]
fn pools_are_told_in_words() {
    let folder = tempfile::tempdir().unwrap();
    answers(folder.path(), "zpool", "zpool-fine.txt");
    let reports = probe(folder.path()).of_volume(&volume("zfs", &[]));
    assert_eq!((reports.len(), said(&reports).len()), (1, 0), "{reports:?}");
    answers(folder.path(), "zpool", "zpool-degraded.txt");
    let reports = probe(folder.path()).of_volume(&volume("zfs", &[]));
    let expected = [
        ("tank", "zfs_state", 1, "the pool is degraded: see `zpool status`"),
        ("tank", "zfs_state", 1, "raidz1-0 is degraded: see `zpool status`"),
        ("tank", "zfs_damaged", 17, "ZFS counted on sda: 17 blocks that were damaged"),
        ("tank", "zfs_state", 1, "sdb is faulted: see `zpool status`"),
        ("tank", "zfs_read", 12, "ZFS counted on sdb: 12 reads that failed"),
        (
            "tank",
            "zfs_data_errors",
            3,
            "the pool could not restore 3 places: see `zpool status -v`",
        ),
    ];
    assert_eq!(said(&reports), expected);
    assert_eq!(reports[1].name, "backup");
}

#[test]
fn counters_of_btrfs_and_of_arrays_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let probe = probe(folder.path());
    let put = |path: &str, text: &str| {
        let path = folder.path().join("sys").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let stats = |corrupt: u64| {
        format!(
            "write_errs 0\nread_errs 2\nflush_errs 0\ncorruption_errs {corrupt}\n\
             generation_errs 0\n"
        )
    };
    put("fs/btrfs/1111/devinfo/1/error_stats", &stats(0));
    put("fs/btrfs/1111/devinfo/2/error_stats", &stats(5));
    put("fs/btrfs/2222/devinfo/1/error_stats", &stats(9));
    put("devices/ata1/block/sdx/sdx1/start", "2048\n");
    put("fs/btrfs/2222/devices/other", "");
    let link = folder.path().join("sys/fs/btrfs/1111/devices/sdx1");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(folder.path().join("sys/devices/ata1/block/sdx/sdx1"), link).unwrap();
    put("block/md9/md/degraded", "1\n");
    put("block/md9/md/mismatch_cnt", "128\n");
    put("block/md9/md/dev-sdy1/state", "in_sync\n");
    put("block/md9/md/dev-sdy1/errors", "3\n");
    put("block/md9/md/dev-sdz1/state", "faulty,write_error\n");
    put("block/md9/md/dev-sdz1/errors", "0\n");
    let reports = probe.of_volume(&volume("btrfs", &[("md9", true), ("sdx", true)]));
    let expected = [
        ("md9", "array_degraded", 1, "the array lacks 1 drive: replace it"),
        (
            "md9",
            "array_mismatches",
            128,
            "in the array, 128 sectors differ between drives, by its last check",
        ),
        ("md9", "array_read_errors", 3, "the array corrected 3 read errors of sdy1"),
        ("md9", "array_faulty", 1, "the array has dropped sdz1 as faulty: replace it"),
        ("btrfs", "btrfs_read", 2, "btrfs counted on device 1: 2 reads that failed; run a scrub"),
        (
            "btrfs",
            "btrfs_corruption",
            5,
            "btrfs counted on device 2: 5 blocks that were damaged; run a scrub",
        ),
        ("btrfs", "btrfs_read", 2, "btrfs counted on device 2: 2 reads that failed; run a scrub"),
    ];
    assert_eq!(said(&reports), expected);
}

#[test]
fn this_machine_answers_without_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for report in DriveProbe::default().of_folder(folder.path()) {
        assert!(!report.sources.is_empty() && !report.name.is_empty(), "{report:?}");
    }
}
