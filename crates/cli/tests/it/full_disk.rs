//! Nights on a disk that is full: they are told, `status` answers, and repair data that only undoes
//! edits gives way.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use crate::change_time::Loop;

/// A disk of small blocks, with files that are tagged.
fn disk(mib: u64) -> Option<Loop> {
    let disk = Loop::make(&["mkfs.ext4", "-q", "-F", "-b", "1024"], "rw", mib)?;
    for number in 0..8_u8 {
        fs::write(disk.mounted().join(number.to_string()), vec![number; 100_000]).unwrap();
    }
    disk.run(["init", "."]).succeeds();
    disk.run(["tag", "."]).succeeds();
    Some(disk)
}

/// Fills a disk but for some bytes.
fn fill(disk: &Loop, free: u64) -> PathBuf {
    let filler = disk.mounted().join(".steadfast/filler");
    let mut file = fs::File::create(&filler).unwrap();
    for length in [1 << 20, 4096, 1024] {
        while file.write_all(&vec![1; length]).and_then(|()| file.sync_data()).is_ok() {}
    }
    let length = file.metadata().unwrap().len();
    file.set_len(length - free).unwrap();
    file.sync_all().unwrap();
    filler
}

#[test]
fn a_night_on_a_full_disk_is_told_and_status_answers() {
    let Some(disk) = disk(8) else { return };
    let add = ["schedule", "add", ".", "--timer", "manual", "--name", "disk", "--cover", "1d"];
    disk.run(add).succeeds();
    for free in [0, 9 << 10, 40 << 10] {
        let filler = fill(&disk, free);
        let night = disk.run(["schedule", "run", "--now", "disk"]).ends(2);
        let said = night.stderr();
        assert!(said.contains("/.steadfast/catalogue.sqlite`"), "{said}");
        assert!(said.contains("no space is left on its volume"), "{said}");
        let status = disk.run(["status", "--json"]).ends(2);
        let status = &status.objects()[0];
        assert_eq!((&status["state"], &status["files"]), (&"trouble".into(), &8.into()));
        for verb in ["check", "update", "tag"] {
            let ended = disk.run([verb, "."]).status;
            assert_eq!(ended, if verb == "check" { 0 } else { 2 }, "{verb}, {free} bytes");
        }
        fs::remove_file(filler).unwrap();
        disk.run(["schedule", "run", "--now", "disk"]).succeeds();
        disk.run(["status"]).succeeds();
    }
}

/// A copy was found: that there is no room for it must not read as if nothing could help.
#[test]
fn a_repair_without_room_does_not_say_that_no_copy_was_found() {
    let Some(disk) = disk(8) else { return };
    let good = disk.mounted().join("../good");
    fs::create_dir_all(&good).unwrap();
    fs::copy(disk.mounted().join("3"), good.join("3")).unwrap();
    let file = disk.mounted().join("3");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, vec![9; 100_000]).unwrap();
    fs::File::open(&file).unwrap().set_modified(time).unwrap();
    let filler = fill(&disk, 20 << 10);
    let repair = ["repair", "--yes", "--suspect", "--from", "../good", "."];
    let said = disk.run(repair).ends(3);
    let reason = "1 file: there is no room for the repaired file. Make room on its drive, then \
                  repair again.";
    assert!(said.stdout().contains(reason), "{}{}", said.stdout(), said.stderr());
    let json = disk.run([&repair[..], &["--json"]].concat()).ends(3);
    assert_eq!(json.objects()[0]["failure"], "no-room");
    assert_eq!(json.summary()["failures"]["no-room"], 1);
    fs::remove_file(filler).unwrap();
    disk.run(repair).succeeds();
    fs::remove_dir_all(good).unwrap();
}

#[test]
fn repair_data_that_undoes_edits_gives_way_where_room_is_short() {
    let Some(disk) = disk(16) else { return };
    disk.run(["parity", "make", "--redundancy", "100", "."]).succeeds();
    let edit = |number: u8| {
        let path = disk.mounted().join(number.to_string());
        fs::write(path, vec![number ^ 0xff; 100_000]).unwrap();
    };
    let sets = || disk.run(["parity", "show", "--json", "."]).succeeds().summary();
    edit(0);
    assert!(!disk.run(["update", "."]).succeeds().stderr().contains("nearly full"));
    assert_eq!(sets()["earlier_sets"], 1);
    // A set takes 900 kB.
    let filler = fill(&disk, 400 << 10);
    edit(1);
    let said = disk.run(["update", "."]).succeeds();
    assert!(said.stderr().contains("the disk is nearly full"), "{}", said.stderr());
    assert_eq!(sets()["earlier_sets"], 0);
    disk.run(["parity", "verify", "."]).succeeds();
    // Without one that may go, the sets that are needed stay.
    fill(&disk, 400 << 10);
    edit(2);
    let said = disk.run(["update", "."]).ends(2);
    assert!(said.stderr().contains("the parity was not brought up to date"), "{}", said.stderr());
    assert!(sets()["sets"].as_u64().unwrap() > 0);
    fs::remove_file(filler).unwrap();
    disk.run(["parity", "update", "."]).succeeds();
    disk.run(["parity", "verify", "."]).succeeds();
}
