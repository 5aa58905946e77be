//! Writing and reading files: whole sessions on small plans.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use steadfast_measure::figures::storage;
use steadfast_measure::record::{self, Cache, Order, Record, Series, Stage};
use steadfast_measure::runner::{Doing, End, Session, Unwatched, Watch};
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::read::{Read, Way};
use steadfast_measure::workload::storage::plan::{Plan, Profile};
use steadfast_measure::workload::write::Write;

fn measured(workload: &dyn Workload, watch: &mut dyn Watch, stop: &AtomicBool) -> (Record, End) {
    let mut session = Session::begin("test".into(), Vec::new(), stop, watch);
    workload.plan(&mut session);
    let outcome = workload.run(&mut session).err();
    let partial = outcome.as_ref().map(|_| "ended early".to_owned());
    let record = session.end(partial);
    // What is measured is a record that others can read.
    let read = record::read(&record::write(&record)).unwrap();
    assert_eq!(read, record);
    (record, outcome.unwrap_or(End::Stopped))
}

fn whole(workload: &dyn Workload) -> Record {
    let (record, end) = measured(workload, &mut Unwatched, &AtomicBool::new(false));
    assert_eq!(record.partial, None, "{end:?}");
    record
}

fn series<'a>(record: &'a Record, stage: Stage, label: &str) -> &'a Series {
    let mut found = record
        .series
        .iter()
        .filter(|series| series.factors.stage == Some(stage) && series.label.contains(label));
    found.next().unwrap_or_else(|| panic!("no series {label} in {:?}", labels(record)))
}

fn labels(record: &Record) -> Vec<&str> {
    record.series.iter().map(|series| &*series.label).collect()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

fn small(seed: u64) -> Plan {
    Plan { sets: 2, ..Plan::new(Profile::SmallFiles, seed) }
}

#[test]
fn written_files_are_read_back_in_their_order() {
    let root = tempfile::tempdir().unwrap();
    let workload = Write { folder: root.path().into(), plan: small(9), order: Order::Written };
    let record = whole(&workload);
    let lengths =
        |series: &Series| series.samples.iter().map(|sample| sample.amount).collect::<Vec<u64>>();
    let written = series(&record, Stage::Write, "written");
    let read = series(&record, Stage::Read, "cold");
    assert_eq!(
        lengths(written),
        workload.plan.files().iter().map(|f| f.length).collect::<Vec<_>>()
    );
    assert_eq!(lengths(read), lengths(written));
    assert_eq!(written.samples.iter().filter(|sample| sample.round == 1).count(), 100);
    assert_eq!((written.seed, written.place), (Some(9), Some(0)));
    assert!(written.method.contains("fsync"), "{}", written.method);
    assert!(record.warnings.iter().any(|warning| warning.contains("not standard")));
    assert!(is_empty(root.path()));
}

#[test]
fn cold_is_what_the_page_cache_confirms() {
    let root = tempfile::tempdir().unwrap();
    let ways = vec![Way::Cold, Way::Direct, Way::Warm];
    let files = Plan { sets: 1, ..small(3) };
    let record = whole(&Read { folder: root.path().into(), files, ways, order: Order::Sequential });
    let cold = series(&record, Stage::Read, "cold");
    let all_cold = cold.samples.iter().all(|sample| sample.cached_bytes == Some(0));
    assert_eq!(cold.factors.cache == Some(Cache::Cold), all_cold);
    let warm = series(&record, Stage::Read, "warm");
    let all_warm = warm.samples.iter().all(|sample| sample.cached_bytes == Some(sample.amount));
    assert_eq!(warm.factors.cache == Some(Cache::Warm), all_warm);
    let direct = series(&record, Stage::Read, "direct");
    let aligned = record.places[0].direct_alignment_bytes.is_some_and(|bytes| bytes > 0);
    if aligned {
        assert_eq!(direct.factors.cache, Some(Cache::Direct));
    }
    assert_eq!(direct.samples.len(), 100);
    let files = storage::of(&record, record::Workload::Read);
    assert_eq!(files.len(), 3);
    let prone = files.iter().all(|files| storage::is_cache_prone(files.series));
    assert!(prone && files.iter().all(|files| files.points.len() == 100));
    let flagged = |label: &str| {
        let files = files.iter().find(|files| files.series.label.contains(label));
        storage::impossible(&record, files.unwrap())
            .iter()
            .any(|found| found.why == storage::Why::Cached)
    };
    assert_eq!(flagged("cold"), !all_cold);
    assert!(is_empty(root.path()));
}

/// Raises the flag at the n-th step.
struct StopsAt<'a> {
    steps: usize,
    flag: &'a AtomicBool,
}

impl Watch for StopsAt<'_> {
    fn doing(&mut self, doing: &Doing<'_>) {
        assert!((0.0..=1.0).contains(&doing.done));
        if self.steps == 0 {
            self.flag.store(true, Ordering::Relaxed);
        }
        self.steps = self.steps.saturating_sub(1);
    }
}

#[test]
fn a_stop_keeps_the_samples_and_removes_the_files() {
    for steps in [0, 7, 250] {
        let root = tempfile::tempdir().unwrap();
        let workload = Write { folder: root.path().into(), plan: small(1), order: Order::Written };
        let flag = AtomicBool::new(false);
        let (record, end) = measured(&workload, &mut StopsAt { steps, flag: &flag }, &flag);
        assert!(matches!(end, End::Stopped), "{end:?}");
        assert!(record.partial.is_some());
        let kept: usize = record
            .series
            .iter()
            .filter(|series| matches!(series.factors.stage, Some(Stage::Write | Stage::Read)))
            .map(|series| series.samples.len())
            .sum();
        assert_eq!(kept, steps);
        assert!(is_empty(root.path()), "stopped at {steps}");
    }
}

#[test]
fn without_flushing_it_says_so_and_a_rest_shows_in_the_times() {
    let root = tempfile::tempdir().unwrap();
    let pause = Duration::from_millis(60);
    let plan = Plan { sync: false, pause, ..small(4) };
    let record = whole(&Write { folder: root.path().into(), plan, order: Order::Written });
    let written = series(&record, Stage::Write, "written");
    assert!(written.method.contains("not flushed") && written.method.contains("0.06 s of rest"));
    let between = written.samples.windows(2).filter(|pair| pair[0].round != pair[1].round);
    for pair in between {
        let gap_ns = pair[1].start_ns - pair[0].start_ns - pair[0].elapsed_ns;
        assert!(gap_ns >= 60_000_000, "{gap_ns}");
    }
    assert!(record.warnings.iter().any(|warning| warning.contains("memory takes what it can")));
}

#[test]
fn a_single_file_is_one_sample_a_set() {
    let root = tempfile::tempdir().unwrap();
    let plan = Plan::new(Profile::Single(vec![3_000_001]), 2);
    let record = whole(&Write { folder: root.path().into(), plan, order: Order::Written });
    let written = series(&record, Stage::Write, "written");
    let rounds: Vec<u32> = written.samples.iter().map(|sample| sample.round).collect();
    assert_eq!(rounds, [0, 1, 2]);
    assert!(written.samples.iter().all(|sample| sample.amount == 3_000_001));
    let files = storage::of(&record, record::Workload::Write);
    assert!(files[0].fit.is_none(), "one length has no line");
    assert!(files[0].rate.unwrap().value > 0.0 && files[0].rate == files[0].overall());
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_written() {
    let root = tempfile::tempdir().unwrap();
    let folder = || root.path().to_path_buf();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let plan = |profile| Plan::new(profile, 1);
    let refused = |workload: &dyn Workload| {
        let (record, end) = measured(workload, &mut Unwatched, &AtomicBool::new(false));
        assert!(record.series.is_empty());
        assert!(matches!(end, End::Failed(_)));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    };
    let order = Order::Written;
    refused(&Write { folder: folder(), plan: plan(Profile::Random(3)), order });
    refused(&Write { folder: folder(), plan: plan(Profile::Single(vec![u64::MAX / 4])), order });
    refused(&Write { folder: folder(), plan: Plan { sets: 0, ..small(1) }, order });
    refused(&Write { folder: file.clone(), plan: small(1), order });
    refused(&Write { folder: folder().join("absent"), plan: small(1), order });
    refused(&Read { folder: folder(), files: small(1), ways: Vec::new(), order });
}
