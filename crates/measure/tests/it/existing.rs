//! Hashing the files that are in a folder already.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::Algorithm;
use steadfast_measure::figures::hash::{self, Streams};
use steadfast_measure::record::{self, Cache, Record, Sample, Series, Stage};
use steadfast_measure::runner::{Doing, End, Session, Unwatched, Watch};
use steadfast_measure::workload::Workload as _;
use steadfast_measure::workload::hash::ExistingHash;

fn run(path: &Path, watch: &mut dyn Watch) -> (Record, Result<(), End>) {
    let existing =
        ExistingHash { path: path.to_owned(), rounds: 5, seed: 3, algorithm: Algorithm::Blake3 };
    let stop = AtomicBool::new(false);
    let mut session = Session::begin("test".into(), Vec::new(), &stop, watch);
    existing.plan(&mut session);
    assert!(existing.writes().is_empty());
    let outcome = existing.run(&mut session);
    (session.end(None), outcome)
}

/// Makes a folder of three files, 1,300,007 bytes, and of what is not to be read.
fn folder(root: &Path, elsewhere: &Path) -> Vec<PathBuf> {
    fs::create_dir_all(root.join("deep/er")).unwrap();
    let files = [("one", 300_000), ("deep/two", 1_000_000), ("deep/er/._one", 7)];
    for (name, length) in files {
        fs::write(root.join(name), vec![7; length]).unwrap();
    }
    fs::write(root.join("empty"), "").unwrap();
    fs::write(elsewhere.join("theirs"), [1; 5_000]).unwrap();
    fs::hard_link(root.join("one"), root.join("deep/one too")).unwrap();
    symlink(elsewhere, root.join("planted")).unwrap();
    symlink(elsewhere.join("theirs"), root.join("deep/planted")).unwrap();
    files.iter().map(|(name, _)| root.join(name)).collect()
}

/// Returns names, lengths and times of a folder's entries.
fn state(folder: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let status = fs::symlink_metadata(&path).unwrap();
        if status.is_dir() {
            entries.extend(state(&path));
        }
        entries.push((path, status.len(), status.modified().unwrap()));
    }
    entries.sort();
    entries
}

#[test]
fn what_is_there_is_hashed_in_one_stream_and_in_many() {
    let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    folder(root.path(), elsewhere.path());
    let before = state(root.path());
    let (record, outcome) = run(root.path(), &mut Unwatched);
    outcome.unwrap();
    assert_eq!(state(root.path()), before, "something was written");
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
    // Read, and read and hashed; in one stream and in many; cold and warm.
    assert_eq!(record.series.len(), 8);
    for series in &record.series {
        let expected: Vec<(u64, Option<u64>)> = vec![(1_300_007, Some(3)); 5];
        let samples: Vec<(u64, Option<u64>)> =
            series.samples.iter().map(|sample| (sample.amount, sample.files)).collect();
        assert_eq!(samples, expected, "{}", series.label);
        let hashes = series.factors.stage == Some(Stage::ReadHash);
        assert_eq!(series.factors.algorithm.as_deref(), hashes.then_some("blake3"));
    }
    let figures = hash::of(&record).unwrap();
    assert!(figures.lines.is_empty() && figures.kernels.is_empty() && figures.levels.is_empty());
    for streams in [Streams::One, Streams::Many] {
        let hashed = figures.folders.iter().filter(|of| {
            of.streams == Some(streams) && of.stage == Stage::ReadHash && of.files == 3
        });
        let hashed: Vec<_> = hashed.collect();
        assert_eq!(hashed.len(), 2, "{streams:?}");
        assert!(hashed.iter().all(|of| of.rate.interval.is_some() && of.net_by_read.is_some()));
        assert!(hashed.iter().any(|of| of.cache == Some(Cache::Warm)));
    }
}

#[test]
fn one_file_can_be_named_and_a_link_cannot() {
    let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = folder(root.path(), elsewhere.path());
    let (record, outcome) = run(&files[1], &mut Unwatched);
    outcome.unwrap();
    assert!(record.series.iter().flat_map(|of| &of.samples).all(|of| of.amount == 1_000_000));
    for refused in ["planted", "deep/planted", "planted/", "gone", "empty/x"] {
        let (record, outcome) = run(&root.path().join(refused), &mut Unwatched);
        assert!(matches!(outcome, Err(End::Failed(_))), "{refused}");
        assert!(record.series.is_empty(), "{refused}");
    }
    let nothing = tempfile::tempdir().unwrap();
    let Err(End::Failed(error)) = run(nothing.path(), &mut Unwatched).1 else { panic!("empty") };
    assert!(error.to_string().contains("no files"), "{error}");
}

/// Changes a file after so many samples.
struct Changing<'a> {
    path: &'a Path,
    after: usize,
    seen: usize,
    changed: &'a AtomicBool,
}

impl Watch for Changing<'_> {
    fn doing(&mut self, _doing: &Doing<'_>) {}

    fn sampled(&mut self, _series: &Series, _sample: &Sample) {
        self.seen += 1;
        if self.seen == self.after {
            fs::write(self.path, [9; 1_234]).unwrap();
            self.changed.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_file_that_changes_is_left_out_and_the_rest_is_measured() {
    let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = folder(root.path(), elsewhere.path());
    let changed = AtomicBool::new(false);
    let mut watch = Changing { path: &files[0], after: 4, seen: 0, changed: &changed };
    let (record, outcome) = run(root.path(), &mut watch);
    outcome.unwrap();
    assert!(changed.load(Ordering::Relaxed));
    let amounts = |amount: u64| {
        let samples = record.series.iter().flat_map(|series| &series.samples);
        samples.filter(|sample| sample.amount == amount).count()
    };
    // One pass found the file changed, and is no sample.
    assert_eq!((amounts(1_300_007), amounts(1_000_007)), (4, 35));
    assert!(record.warnings.iter().any(|of| of.contains("changed")), "{:?}", record.warnings);
}
