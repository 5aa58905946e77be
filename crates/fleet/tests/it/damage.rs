//! What is damaged, gone or of another job is told, and never becomes a result.

use std::fs;
use std::path::Path;

use steadfast::{Options, Selection};
use steadfast_fleet::{
    Error, ErrorKind, Job, MergeOptions, ShardWorker, TreeSource, existing, merge, run,
};

use crate::folder::{Folder, Heard, names, run_shard, worker};

#[track_caller]
fn fails<T>(result: Result<T, Error>, kind: ErrorKind, words: &str) {
    let Err(error) = result else { panic!("it did not fail") };
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_shard_is_not_run() {
    let folder = Folder::tagged(10);
    let job = folder.plan("job", 2);
    let shard = job.folder().join("shards/00000.jsonl");
    let length = fs::metadata(&shard).unwrap().len() as usize;
    for at in (0..length).step_by(11) {
        flip(&shard, at);
        let error = run_shard(&job, 0).unwrap_err();
        assert_ne!(error.kind(), ErrorKind::Temporary, "{error}");
        flip(&shard, at);
    }
    assert_eq!(names(&job.folder().join("parts")), [""; 0]);
    fs::copy(job.folder().join("shards/00001.jsonl"), &shard).unwrap();
    fails(run_shard(&job, 0), ErrorKind::Damaged, "another one of this");
}

#[test]
fn a_shard_that_is_whole_and_not_the_planned_one_is_not_run() {
    let folder = Folder::tagged(10);
    let job = folder.plan("job", 1);
    run_shard(&job, 0).unwrap();
    let shard = job.folder().join("shards/00000.jsonl");
    let text = fs::read_to_string(&shard).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (header, files) = (lines[0], &lines[1..lines.len() - 1]);
    let fewer = format!("{header}\n{}\n", files[0]);
    let sum = steadfast_digest::sha256(fewer.as_bytes());
    fs::write(&shard, format!("{fewer}{{\"records\":1,\"sha256\":\"{sum}\"}}\n")).unwrap();
    fails(run_shard(&job, 0), ErrorKind::Damaged, "not the shard that was planned");
    assert!(existing(&job, 0).unwrap().is_none());
}

#[test]
fn a_tree_that_is_not_there_is_not_a_tree_of_missing_files() {
    let folder = Folder::tagged(20);
    let job = folder.plan("job", 1);
    let elsewhere = folder.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("other"), "other").unwrap();
    let worker = ShardWorker { root: Some(elsewhere), ..worker() };
    let run_as =
        |worker: &ShardWorker| run(&job, 0, worker, &crate::folder::usual(), &mut Heard::default());
    fails(run_as(&worker), ErrorKind::Temporary, "not one of the files of shard 0 is there");
    assert!(existing(&job, 0).unwrap().is_none());
    let ran = run_as(&ShardWorker { accept_missing: true, ..worker }).unwrap();
    assert_eq!(ran.outcome.verdicts["missing"], 20);
    // A nested mount that is gone leaves a folder that is empty, or none.
    let job = folder.plan("nested", 1000);
    fs::remove_file(folder.tree().join("d0/f0")).unwrap();
    let gone = |job: &Job| (0..20).filter(|shard| run_shard(job, *shard).is_err()).count();
    assert_eq!(gone(&job), 0, "the others of its folder are there");
    fs::remove_dir_all(folder.tree().join("d1")).unwrap();
    assert_eq!(gone(&job), 4);
    fs::create_dir(folder.tree().join("d1")).unwrap();
    assert_eq!(gone(&job), 4);
}

#[test]
fn a_slip_of_the_pen_is_not_tried_again() {
    let folder = Folder::tagged(5);
    let job = folder.plan("job", 1);
    run_shard(&job, 0).unwrap();
    let typo = Selection::of([folder.path("tere")]);
    fails(
        TreeSource::new(&typo, &crate::folder::usual()).map(|_| ()),
        ErrorKind::Usage,
        "cannot find it",
    );
    let options = MergeOptions {
        partial: false,
        require_tags: false,
        allow_empty: false,
        catalogue: true,
        now: Options::default().now,
        stop: Default::default(),
    };
    let out = folder.path("nowhere/result.jsonl");
    let merged = merge(&job, &out, &options, &mut Heard::default());
    fails(merged, ErrorKind::Usage, "there is no folder");
    fs::write(folder.path("taken"), "mine").unwrap();
    let size = steadfast_fleet::Size::Shards(1);
    let selection = Selection::of([folder.tree()]);
    let mut tree = TreeSource::new(&selection, &crate::folder::usual()).unwrap();
    fails(folder.plan_of("taken", &mut tree, size), ErrorKind::Usage, "cannot make it");
}

#[test]
fn what_is_gone_may_come_back() {
    let folder = Folder::tagged(10);
    let job = folder.plan("job", 2);
    fs::remove_file(job.folder().join("shards/00000.jsonl")).unwrap();
    fails(run_shard(&job, 0), ErrorKind::Temporary, "cannot open it");
    fs::rename(folder.tree(), folder.path("away")).unwrap();
    fails(run_shard(&job, 1), ErrorKind::Temporary, "cannot list it");
    fs::create_dir(folder.tree()).unwrap();
    fails(run_shard(&job, 1), ErrorKind::Temporary, "is it mounted?");
    assert_eq!(names(&job.folder().join("parts")), [""; 0]);
    fs::remove_dir(folder.tree()).unwrap();
    fs::rename(folder.path("away"), folder.tree()).unwrap();
    // Empty folders do not survive every copy.
    for name in ["parts", "failures"] {
        fs::remove_dir_all(job.folder().join(name)).unwrap();
    }
    fails(run_shard(&job, 0), ErrorKind::Temporary, "cannot open it");
    run_shard(&job, 1).unwrap();
    assert_eq!(names(&job.folder().join("parts")), ["00001.jsonl"]);
    assert_eq!(names(&job.folder().join("failures")), ["00000.jsonl"]);
    fs::remove_dir_all(job.folder()).unwrap();
    fails(Job::open(job.folder()), ErrorKind::Temporary, "there is no job here");
}

#[test]
fn a_damaged_part_is_made_again_and_never_merged() {
    let folder = Folder::tagged(10);
    let job = folder.plan("job", 2);
    let expected = folder.result(&job);
    fs::remove_file(folder.path("result.jsonl")).unwrap();
    let part = job.folder().join("parts/00001.jsonl");
    let length = fs::metadata(&part).unwrap().len() as usize;
    for at in (0..length).step_by(37) {
        flip(&part, at);
        assert!(folder.merge(&job, false).is_err(), "byte {at}");
        assert!(folder.merge(&job, true).is_err(), "byte {at}");
        assert!(!folder.path("result.jsonl").exists());
        assert!(steadfast_fleet::existing(&job, 1).unwrap().is_none());
        flip(&part, at);
    }
    flip(&part, length / 2);
    fails(
        folder.merge(&job, false),
        ErrorKind::Damaged,
        "00001.jsonl`: it is not as it was written",
    );
    let words = format!("`steadfast fleet run {} --shard 1` makes it anew", job.folder().display());
    fails(folder.merge(&job, true), ErrorKind::Damaged, &words);
    assert!(folder.result(&job) == expected, "it was made again");
}

#[test]
fn nothing_is_left_out_unasked() {
    let folder = Folder::tagged(30);
    let job = folder.plan("job", 3);
    let files = fs::read_to_string(job.folder().join("shards/00001.jsonl")).unwrap();
    let files = files.lines().count() as u64 - 2;
    run_shard(&job, 0).unwrap();
    run_shard(&job, 2).unwrap();
    fails(folder.merge(&job, false), ErrorKind::Temporary, "1 of 3 parts is missing: 1;");
    assert!(!folder.path("result.jsonl").exists());
    let (merged, heard) = folder.merge(&job, true).unwrap();
    let notice = format!("1 of 3 parts is missing: 1; of {files} files nothing is said");
    assert!(heard.notices.contains(&notice), "{:?}", heard.notices);
    assert_eq!((merged.missing, merged.summary.files), (vec![1], 30 - files));
    assert_eq!(merged.summary.exit_status().code(), 2, "of what is missing it could not be told");
    let result = fs::read_to_string(folder.path("result.jsonl")).unwrap();
    assert!(result.contains(&format!("\"missing_files\":{files}")), "{result}");
}

#[test]
fn nothing_is_counted_twice() {
    let folder = Folder::tagged(30);
    let (job, other) = (folder.plan("job", 3), folder.plan("other", 3));
    for shard in 0..3 {
        run_shard(&job, shard).unwrap();
        run_shard(&other, shard).unwrap();
    }
    let parts = job.folder().join("parts");
    fs::copy(parts.join("00000.jsonl"), parts.join("00001.jsonl")).unwrap();
    fails(folder.merge(&job, false), ErrorKind::Damaged, "another one of this");
    fs::copy(other.folder().join("parts/00001.jsonl"), parts.join("00001.jsonl")).unwrap();
    fails(folder.merge(&job, false), ErrorKind::Damaged, "a part of another job");
    run_shard(&job, 1).unwrap();
    // What is no part is passed over.
    fs::write(parts.join(".00001.jsonl.0123456789abcdef.draft"), "half").unwrap();
    fs::write(parts.join("notes.txt"), "mine").unwrap();
    folder.merge(&job, false).unwrap();
    assert_eq!(names(&parts), ["00000.jsonl", "00001.jsonl", "00002.jsonl", "notes.txt"]);
}

#[test]
fn what_is_no_result_is_not_overwritten() {
    let folder = Folder::tagged(5);
    let job = folder.plan("job", 1);
    run_shard(&job, 0).unwrap();
    fs::write(folder.path("result.jsonl"), "mine").unwrap();
    fails(folder.merge(&job, false), ErrorKind::Usage, "is not overwritten");
    assert_eq!(fs::read(folder.path("result.jsonl")).unwrap(), b"mine");
    fs::remove_file(folder.path("result.jsonl")).unwrap();
    folder.merge(&job, false).unwrap();
    folder.merge(&job, false).unwrap();
}

#[test]
fn a_job_needs_a_folder_of_its_own_and_leaves_nothing_where_it_fails() {
    let folder = Folder::tagged(5);
    fs::create_dir(folder.path("full")).unwrap();
    fs::write(folder.path("full/mine"), "mine").unwrap();
    let job = folder.plan("job", 1);
    let list = Box::new(std::iter::empty());
    let document = folder.path("full/mine");
    let mut listed = steadfast_fleet::ManifestSource::new(&folder.tree(), &document, list).unwrap();
    let size = steadfast_fleet::Size::Shards(1);
    fails(folder.plan_of("full", &mut listed, size), ErrorKind::Usage, "is not empty");
    fails(folder.plan_of("job", &mut listed, size), ErrorKind::Usage, "is not empty");
    assert_eq!(names(&folder.path("full")), ["mine"]);
    assert!(Job::open(job.folder()).is_ok());
}
