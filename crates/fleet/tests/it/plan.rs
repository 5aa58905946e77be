//! How files are cut: all of them, once, in order, by device, within bounds.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast::manifest::{Format, Record, read};
use steadfast::run::{List, Unlisted};
use steadfast::{Reference, Skipped, Verb, Verdict};
use steadfast_fleet::{
    By, Error, ErrorKind, Job, JobFile, JobSource, ManifestSource, ShardRow, Size, SourceFailure,
    SourceItem, SourceSink,
};

use crate::folder::{Folder, run_shard};

/// Files that are nowhere.
struct Invented {
    root: PathBuf,
    files: Vec<SourceItem>,
    fails: bool,
}

impl JobSource for Invented {
    fn root(&self) -> &Path {
        &self.root
    }

    fn by(&self) -> By {
        By::Tags
    }

    fn each(&mut self, _: &AtomicBool, sink: &mut SourceSink<'_>) -> Result<Skipped, Error> {
        self.files.drain(..).try_for_each(sink)?;
        if self.fails { Err(Error::usage("the source fails")) } else { Ok(Skipped::default()) }
    }
}

fn entry(path: &str, device: u64, bytes: u64) -> SourceItem {
    let record =
        Record { path: path.into(), digests: Vec::new(), length: None, mtime: None, tagged: None };
    SourceItem::File(JobFile { record, device, bytes, checked_s: Some(1_000 - bytes as i64) })
}

fn shards(job: &Job) -> Vec<(ShardRow, Vec<PathBuf>)> {
    let mut shards = Vec::new();
    job.each_shard(&mut |row| {
        let path = job.folder().join(format!("shards/{:05}.jsonl", row.shard));
        let reader = BufReader::new(File::open(path).unwrap());
        let records = read(Format::Steadfast, None, reader);
        shards.push((row, records.map(|record| record.unwrap().path).collect()));
        Ok(())
    })
    .unwrap();
    shards
}

#[test]
fn every_file_is_in_one_shard_of_its_device_and_a_shard_is_a_manifest() {
    let folder = Folder::new();
    let files: Vec<SourceItem> = (0..1_000)
        .map(|number| {
            let number = number * 7_919 % 1_000;
            entry(&format!("d{}/f{number:03}", number % 7), 70 + number % 3, number)
        })
        .collect();
    let mut source = Invented { root: folder.tree(), files, fails: false };
    let job = folder.plan_of("job", &mut source, Size::Shards(10)).unwrap().job;
    let shards = shards(&job);
    assert_eq!((shards.len(), job.header().devices, job.header().files), (10, 3, 1_000));
    let mut all = BTreeSet::new();
    for (row, paths) in &shards {
        assert_eq!(row.files, paths.len() as u64);
        assert!(paths.is_sorted(), "{paths:?}");
        let numbers = paths.iter().map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name[1..].parse::<u64>().unwrap()
        });
        let numbers: Vec<u64> = numbers.collect();
        let devices: BTreeSet<u64> = numbers.iter().map(|number| number % 3).collect();
        assert_eq!(devices.len(), 1);
        assert_eq!(row.bytes, numbers.iter().sum::<u64>());
        let least = numbers.iter().max().unwrap();
        assert_eq!(row.checked_s, Some(1_000 - *least as i64), "the longest-unchecked");
        all.extend(numbers);
    }
    assert_eq!(all.len(), 1_000);
    let devices: Vec<u64> = shards.iter().map(|(row, _)| row.device).collect();
    assert!(devices.is_sorted(), "{devices:?}");
}

#[test]
fn a_source_that_fails_leaves_nothing() {
    let folder = Folder::new();
    let files = vec![entry("a", 1, 1)];
    let mut source = Invented { root: folder.tree(), files, fails: true };
    let error = folder.plan_of("job", &mut source, Size::Shards(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(!folder.path("job").exists());
}

#[test]
fn what_could_not_be_planned_is_in_the_result() {
    let folder = Folder::tagged(10);
    let files = folder.run(Verb::Show).1.into_iter().map(|event| {
        let path = event.path.to_path();
        entry(path.strip_prefix(folder.tree()).unwrap().to_str().unwrap(), 1, 5)
    });
    let mut files: Vec<SourceItem> = files.collect();
    let reason = "permission denied".to_owned();
    files.insert(
        3,
        SourceItem::Failure(SourceFailure { path: "d2/secret".into(), doing: "open", reason }),
    );
    let mut source = Invented { root: folder.tree(), files, fails: false };
    let job = folder.plan_of("job", &mut source, Size::Shards(3)).unwrap().job;
    folder.result(&job);
    let (merged, heard) = folder.merge(&job, false).unwrap();
    assert_eq!((merged.summary.files, merged.summary.exit_status().code()), (10, 2));
    let paths: Vec<PathBuf> = heard.files.iter().map(|event| event.path.to_path()).collect();
    assert!(paths.is_sorted() && paths.len() == 11, "{paths:?}");
    let trouble = heard.files.iter().find(|event| event.trouble.is_some()).unwrap();
    assert_eq!(trouble.path.to_path(), folder.tree().join("d2/secret"));
    assert_eq!(trouble.verdict, Some(Verdict::Unreadable));
}

/// A list of what the tree's tags say.
fn list_of(folder: &Folder) -> Vec<Result<(PathBuf, Option<Reference>), Unlisted>> {
    let events = folder.run(Verb::Show).1.into_iter();
    let lines = events.map(|event| {
        let path = event.path.to_path().strip_prefix(folder.tree()).unwrap().to_owned();
        let record = Record::of_tag(path.clone(), &event.stored.unwrap());
        Ok((path, Some(Reference::of_record(record))))
    });
    lines.collect()
}

#[test]
fn a_manifest_may_name_files_twice_and_contradict_itself() {
    let folder = Folder::tagged(20);
    let document = folder.path("list");
    fs::write(&document, "").unwrap();
    let mut lines = list_of(&folder);
    let (path, reference) = lines[4].clone().unwrap();
    let mut other = reference.clone().unwrap();
    other.digests[0].1 = lines[5].as_ref().unwrap().1.as_ref().unwrap().digests[0].1;
    lines.push(Ok((path.clone(), reference)));
    lines.push(Ok((path.clone(), Some(other))));
    let reason = "line 23, column 1: no digest".to_owned();
    lines.push(Err(Unlisted { document: document.clone(), reason }));
    let list: List = Box::new(lines.into_iter());
    let mut source = ManifestSource::new(&folder.tree(), &document, list).unwrap();
    let planned = folder.plan_of("job", &mut source, Size::Shards(4)).unwrap();
    assert_eq!((planned.job.header().files, planned.troubles.len()), (20, 2));
    assert_eq!(planned.job.by(), By::Manifest);
    // Tags play no part: the manifest is what counts.
    let _ = folder.run(Verb::Untag);
    folder.corrupt("d0/f5");
    folder.result(&planned.job);
    let (merged, heard) = folder.merge(&planned.job, false).unwrap();
    let verdicts = |verdict| merged.summary.verdicts(verdict);
    assert_eq!((verdicts(Verdict::Intact), verdicts(Verdict::Corrupt)), (19, 1));
    assert_eq!((verdicts(Verdict::Unreadable), merged.summary.exit_status().code()), (2, 3));
    let references = heard.files.iter().filter_map(|event| event.reference.as_ref());
    assert!(references.clone().count() == 20 && references.clone().all(|r| r.source == "manifest"));
}

#[test]
fn shards_of_a_cost() {
    let folder = Folder::new();
    let files = (0..100).map(|number| entry(&format!("f{number:02}"), 1, 936_000_000)).collect();
    let mut source = Invented { root: folder.tree(), files, fails: false };
    let planned = folder.plan_of("job", &mut source, Size::Cost(10_000_000_000)).unwrap();
    assert_eq!(planned.job.header().shards, 10);
    let cost = 10 * (936_000_000 + steadfast_fleet::FILE_COST_BYTES);
    assert_eq!(planned.cost_bytes, (cost, cost));
    let empty = &mut Invented { root: folder.tree(), files: Vec::new(), fails: false };
    let none = folder.plan_of("none", empty, Size::Shards(5)).unwrap().job;
    assert_eq!((none.header().shards, none.header().files), (0, 0));
    assert_eq!(folder.merge(&none, false).unwrap().0.summary.files, 0);
    assert!(run_shard(&none, 0).is_err());
}
