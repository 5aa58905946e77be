//! Storage on file systems made for one test: what is said of them, and what cold is there.
//!
//! Needs root, a loop device and the file systems' tools; where they are missing the test is
//! skipped.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use steadfast_measure::figures::storage::{self, Why};
use steadfast_measure::place;
use steadfast_measure::record::{self, Cache, Order, Record};
use steadfast_measure::runner::{End, Session, Unwatched};
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::read::{Read, Way};
use steadfast_measure::workload::storage::plan::{Plan, Profile};
use steadfast_testing::{Need, skip};

/// A mounted file system, unmounted and gone when dropped.
struct Mounted {
    folder: tempfile::TempDir,
    _backing: tempfile::TempDir,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = command("umount", &["-l", path(self.folder.path())]);
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn command(program: &str, arguments: &[&str]) -> Result<(), String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

/// Mounts a file system: `ext4` on a loop device, or `tmpfs`.
fn mounted(name: &str, size: &str) -> Option<Mounted> {
    let folder = tempfile::tempdir().unwrap();
    let backing = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let image = backing.path().join("image");
    let made = match name {
        "tmpfs" => {
            let size = format!("size={size}");
            command("mount", &["-t", "tmpfs", "-o", &size, "none", path(folder.path())])
        }
        _ => command("truncate", &["-s", size, path(&image)])
            .and_then(|()| command("mkfs.ext4", &["-q", "-F", "-O", "encrypt", path(&image)]))
            .and_then(|()| command("mount", &["-o", "loop", path(&image), path(folder.path())])),
    };
    match made {
        Ok(()) => Some(Mounted { folder, _backing: backing }),
        Err(why) => {
            skip(Need::Root, format_args!("{name} on a loop device: {why}"));
            None
        }
    }
}

fn read_all_ways(folder: &Path, plan: Plan) -> (Record, Option<End>) {
    let stop = AtomicBool::new(false);
    let mut watch = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut watch);
    let ways = vec![Way::Cold, Way::Direct, Way::Warm];
    let folder = folder.to_path_buf();
    let read = Read { folder, files: plan, ways, order: Order::Written };
    let outcome = read.run(&mut session).err();
    (session.end(None), outcome)
}

fn cache(record: &Record, label: &str) -> Option<Cache> {
    let series = record.series.iter().find(|series| series.label.ends_with(label));
    series.unwrap().factors.cache
}

fn small() -> Plan {
    Plan { sets: 1, ..Plan::new(Profile::SmallFiles, 1) }
}

#[test]
fn on_ext4_cold_direct_and_warm_are_proved() {
    let Some(mounted) = mounted("ext4", "300M") else { return };
    let folder = mounted.folder.path();
    let (record, end) = read_all_ways(folder, small());
    assert!(end.is_none(), "{end:?}");
    assert_eq!(cache(&record, "cold"), Some(Cache::Cold));
    assert_eq!(cache(&record, "direct"), Some(Cache::Direct));
    assert_eq!(cache(&record, "warm"), Some(Cache::Warm));
    let place = &record.places[0];
    assert_eq!(place.file_system, "ext4");
    assert!(place.device.as_ref().unwrap().starts_with("loop"), "{place:?}");
    assert_eq!(place.encryption, "none seen");
    assert!(place.direct_alignment_bytes.unwrap() > 0);
    assert!(place.mount_options.as_ref().unwrap().starts_with("rw"));
    // Only what mkfs made is left.
    let names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["lost+found"]);
}

#[test]
fn what_fits_only_without_a_margin_is_refused() {
    let Some(mounted) = mounted("ext4", "300M") else { return };
    let free = place::examine(mounted.folder.path()).unwrap().free_bytes;
    let plan = Plan { sets: 1, ..Plan::new(Profile::Single(vec![free - 1_000_000]), 1) };
    let (record, end) = read_all_ways(mounted.folder.path(), plan);
    assert!(record.series.is_empty());
    let Some(End::Failed(error)) = end else { panic!("{end:?}") };
    assert!(error.to_string().contains("too little room"), "{error}");
    assert_eq!(fs::read_dir(mounted.folder.path()).unwrap().count(), 1);
}

#[test]
fn memory_is_never_taken_for_cold_storage() {
    let Some(mounted) = mounted("tmpfs", "200M") else { return };
    let (record, end) = read_all_ways(mounted.folder.path(), small());
    assert!(end.is_none(), "{end:?}");
    assert_eq!(cache(&record, "cold"), Some(Cache::Unknown));
    assert_ne!(cache(&record, "direct"), Some(Cache::Direct));
    assert_eq!(record.places[0].medium.as_deref(), Some("memory"));
    assert!(record.warnings.iter().any(|warning| warning.contains("in memory")));
    let files = storage::of(&record, record::Workload::Read);
    let cold = files.iter().find(|files| files.series.label.ends_with("cold")).unwrap();
    let impossible = storage::impossible(&record, cold);
    assert!(impossible.iter().any(|found| found.why == Why::Cached && found.files == 100));
}
