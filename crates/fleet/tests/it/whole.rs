//! What a job comes to: the same bytes however it was cut, and what one check would have said.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use steadfast::{Verb, Verdict};
use steadfast_fleet::{ErrorKind, ShardWorker, existing, run, status};

use crate::folder::{Folder, Heard, names, run_shard, run_with, worker};

/// A tree in which something of every kind is wrong.
fn troubled() -> Folder {
    let folder = Folder::tagged(60);
    folder.corrupt("d1/f6");
    folder.corrupt("d4/f59");
    fs::write(folder.tree().join("d2/f7"), "edited").unwrap();
    folder.file("d3/untagged", b"new");
    folder.file(std::ffi::OsStr::from_bytes(b"d3/\xff name\n"), b"odd");
    folder
}

#[test]
fn the_result_is_the_same_however_the_job_is_cut() {
    let folder = troubled();
    // Which name of a file is read is nobody's business.
    fs::hard_link(folder.tree().join("d0/f5"), folder.tree().join("d4/again")).unwrap();
    let whole = folder.plan("job1", 1);
    let cut: Vec<_> =
        [2, 7, 1000].map(|shards| folder.plan(&format!("job{shards}"), shards)).into();
    // Gone between planning and running.
    fs::remove_file(folder.tree().join("d0/f10")).unwrap();
    let expected = folder.result(&whole);
    for job in &cut {
        assert_ne!(job.header().shards, 1);
        assert!(folder.result(job) == expected, "with {} shards", job.header().shards);
    }
    assert_eq!(cut[2].header().shards, 63, "no shard is empty");
}

#[test]
fn a_job_says_what_one_check_says() {
    let folder = troubled();
    let job = folder.plan("job", 5);
    folder.result(&job);
    let (merged, heard) = folder.merge(&job, false).unwrap();
    let (checked, files) = folder.run(Verb::check());
    assert_eq!(merged.summary.exit_status().code(), 3);
    assert_eq!(merged.summary.exit_status().code(), checked.exit_status().code());
    for verdict in Verdict::ALL {
        assert_eq!(merged.summary.verdicts(verdict), checked.verdicts(verdict), "{verdict}");
    }
    assert_eq!(merged.summary.verdicts(Verdict::Corrupt), 2);
    assert_eq!((merged.summary.files, merged.summary.bytes), (checked.files, checked.bytes));
    assert_eq!(heard.files.len(), files.len());
    for (ours, theirs) in heard.files.iter().zip(&files) {
        assert_eq!(ours.path.to_path(), theirs.path.to_path());
        assert_eq!((ours.verdict, ours.stored), (theirs.verdict, theirs.stored));
        assert_eq!(ours.digest(), theirs.digest());
        assert_eq!(ours.reading.bytes, theirs.reading.bytes);
    }
}

#[test]
fn a_shard_that_was_run_is_known_and_can_be_run_again() {
    let folder = Folder::tagged(20);
    let job = folder.plan("job", 2);
    assert!(existing(&job, 1).unwrap().is_none());
    let ran = run_shard(&job, 1).unwrap();
    assert_eq!(existing(&job, 1).unwrap(), Some(ran.outcome.clone()));
    assert_eq!(run_shard(&job, 1).unwrap().outcome.verdicts, ran.outcome.verdicts);
    assert_eq!(names(&job.folder().join("parts")), ["00001.jsonl"]);
    let error = run_shard(&job, 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
}

#[test]
fn a_run_that_is_told_to_stop_leaves_no_part() {
    let folder = Folder::tagged(20);
    let job = folder.plan("job", 1);
    let options = crate::folder::usual()
        .with(|options| options.controls.stop = Arc::new(AtomicBool::new(true)));
    let error = run_with(&job, 0, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
    assert_eq!(names(&job.folder().join("parts")), [""; 0]);
}

#[test]
fn another_machine_may_see_the_tree_elsewhere() {
    let folder = troubled();
    let (here, there) = (folder.plan("here", 3), folder.plan("there", 3));
    let expected = folder.result(&here);
    let moved = folder.path("moved");
    std::os::unix::fs::symlink(folder.tree(), &moved).unwrap();
    for shard in 0..there.header().shards {
        let worker = ShardWorker { root: Some(PathBuf::from(&moved)), ..worker() };
        run(&there, shard, &worker, &crate::folder::usual(), &mut Heard::default()).unwrap();
    }
    folder.merge(&there, false).unwrap();
    assert!(fs::read(folder.path("result.jsonl")).unwrap() == expected);
}

#[test]
fn the_status_tells_what_is_there() {
    let folder = troubled();
    let job = folder.plan("job", 4);
    let shards = job.header().shards;
    let begun = status(&job).unwrap();
    assert_eq!((begun.done.shards, begun.whole.shards, begun.whole.files), (0, shards, 62));
    assert_eq!(begun.missing, (0..shards).collect::<Vec<_>>());
    run_shard(&job, 2).unwrap();
    let part = job.folder().join("shards/00001.jsonl");
    fs::rename(&part, part.with_extension("away")).unwrap();
    assert!(run_shard(&job, 1).is_err());
    let failed = status(&job).unwrap();
    assert_eq!((failed.done.shards, failed.failures, failed.failed[0].shard), (1, 1, 1));
    assert!(failed.failed[0].temporary && failed.failed[0].host == "here", "{failed:?}");
    fs::rename(part.with_extension("away"), &part).unwrap();
    folder.result(&job);
    let ended = status(&job).unwrap();
    assert!(ended.is_complete() && ended.failures == 0, "{ended:?}");
    assert_eq!((ended.checked_status.code(), ended.verdicts["corrupt"]), (3, 2));
    fs::write(job.folder().join("parts/00000.jsonl"), "{}\n").unwrap();
    assert_eq!(status(&job).unwrap().damaged, [0]);
    // A part that tells of fewer files than were planned is none.
    let part = job.folder().join("parts/00001.jsonl");
    let text = fs::read_to_string(&part).unwrap();
    fs::write(&part, text.replace("{\"summary\":{\"files\":1", "{\"summary\":{\"files\":"))
        .unwrap();
    let ended = status(&job).unwrap();
    assert_eq!((ended.damaged, ended.done.shards), (vec![0, 1], shards - 2));
}
