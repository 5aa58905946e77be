//! `measure hash`: small sessions that really measure, and figures of records made up.

use std::cell::Cell;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::read::buffered::Buffered;
use steadfast::run::read_without_hashing;
use steadfast::{Algorithm, Backend, Event, Level, Monitor, Options, Selection};
use steadfast_measure::ErrorKind;
use steadfast_measure::figures::hash;
use steadfast_measure::record::{
    self, Cache, Factors, Record, Sample, Series, Stage, Unit, Workload as Name,
};
use steadfast_measure::runner::{Doing, End, Session, Unwatched, Watch};
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::hash::{Hash, Part};

/// The least of everything that still is everything.
fn tiny(folder: &Path) -> Hash {
    Hash {
        rounds: 2,
        rounds_max: 2,
        sizes_bytes: vec![50_000, 1_000_000],
        folder_files: (5, 70_001),
        levels: vec![Level::Background, Level::UserInteractive],
        kernel_ns: 100_000,
        ..Hash::quick(folder.to_owned(), 7)
    }
}

/// Runs a workload to its end, and returns how that was with the record.
fn measure(
    workload: &dyn Workload,
    stop: &AtomicBool,
    watch: &mut dyn Watch,
) -> (Record, Result<(), End>) {
    let mut session = Session::begin("test".into(), vec!["measure".into()], stop, watch);
    workload.plan(&mut session);
    let outcome = workload.run(&mut session);
    (session.end(None), outcome)
}

fn series_of<'a>(record: &'a Record, stage: Stage, engine: Option<&str>) -> Vec<&'a Series> {
    let fits = |series: &&Series| {
        let Factors { stage: of, engine: by, .. } = &series.factors;
        *of == Some(stage) && by.as_deref() == engine
    };
    record.series.iter().filter(fits).collect()
}

#[test]
fn everything_is_measured_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let workload = tiny(folder.path());
    let (record, outcome) = measure(&workload, &AtomicBool::new(false), &mut Unwatched);
    outcome.unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "files are left");
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
    assert!(record.warnings.iter().any(|text| text.contains("hash: not standard")));

    let memory = series_of(&record, Stage::Hash, None);
    for backend in Backend::detected() {
        for &lanes in backend.lane_choices() {
            let found = memory.iter().any(|series| {
                let Factors { backend: of, lanes: at, algorithm, .. } = &series.factors;
                of.as_deref() == Some(backend.name())
                    && at == &Some(lanes as u32)
                    && algorithm.as_deref() == Some("sha256")
            });
            assert!(found, "{backend} x{lanes}");
        }
    }
    for algorithm in Algorithm::ALL {
        let name = Some(algorithm.name());
        assert!(memory.iter().any(|series| series.factors.algorithm.as_deref() == name));
    }
    for stage in [Stage::Read, Stage::ReadHash] {
        let null = series_of(&record, stage, Some("null"));
        assert_eq!(null.len(), 2, "one file, and a folder");
        for series in series_of(&record, stage, Some("buffered")) {
            let folder = series.samples[0].files.is_some();
            assert_eq!(series.samples.len(), if folder { 2 } else { 4 }, "{}", series.label);
            let bytes: u64 = series.samples.iter().map(|sample| sample.amount).sum();
            assert_eq!(bytes, if folder { 2 * 5 * 70_001 } else { 2 * 1_050_000 });
            for sample in &series.samples {
                let held = sample.cached_bytes;
                match series.factors.cache.unwrap() {
                    Cache::Cold => assert_eq!(held, Some(0)),
                    Cache::Warm => assert_eq!(held, Some(sample.amount)),
                    _ => assert!(record.warnings.iter().any(|text| text.contains(&series.label))),
                }
            }
        }
    }
    let figures = hash::of(&record).unwrap();
    assert_eq!(figures.lines.len(), 7, "memory, and two stages cold, warm and without bytes");
    assert_eq!(figures.folders.len(), 6);
    let levels: Vec<u8> = figures.levels.iter().filter_map(|level| level.factors.qos).collect();
    assert_eq!(levels, [9, 33, 9, 33]);
    assert_eq!(figures.level_ratios().len(), 2);
    assert!(figures.lines.iter().all(|line| line.factors.qos.is_none()));
}

#[test]
fn sizes_are_measured_at_each_level() {
    let folder = tempfile::tempdir().unwrap();
    let levels = vec![Level::Background, Level::UserInteractive];
    let parts = vec![Part::Sizes];
    let workload = Hash { parts, size_levels: levels, ..tiny(folder.path()) };
    let (record, outcome) = measure(&workload, &AtomicBool::new(false), &mut Unwatched);
    outcome.unwrap();
    let level = record.level.as_ref().unwrap();
    assert!(level.effective.is_some() && level.requested.is_none());
    let figures = hash::of(&record).unwrap();
    assert!(figures.levels.is_empty());
    let levels = |stage: Stage| -> Vec<u8> {
        let lines = figures.lines.iter().filter(|line| line.factors.stage == Some(stage));
        lines.filter_map(|line| line.factors.qos).collect()
    };
    for stage in [Stage::Read, Stage::ReadHash] {
        assert_eq!(levels(stage), [33, 33, 9, 9], "warm and cold, the highest level first");
    }
    let shares: Vec<u8> = figures.overlaps.iter().filter_map(|of| of.qos).collect();
    assert_eq!(shares, [33, 33, 9, 9]);
    assert!(figures.overlaps.iter().all(|of| of.overlap.is_none() && of.net_by_read.value > 0.0));
}

#[test]
fn one_algorithm_is_measured_in_memory_and_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let parts = vec![Part::Kernels, Part::Sizes, Part::Folder];
    let algorithm = Some(Algorithm::Blake3);
    let workload = Hash { parts, algorithm, ..tiny(folder.path()) };
    let (record, outcome) = measure(&workload, &AtomicBool::new(false), &mut Unwatched);
    outcome.unwrap();
    for series in &record.series {
        let wanted = (series.factors.stage != Some(Stage::Read)).then_some("blake3");
        assert_eq!(series.factors.algorithm.as_deref(), wanted, "{}", series.label);
        assert_eq!(series.label.contains("blake3"), wanted.is_some(), "{}", series.label);
    }
    assert_eq!(hash::of(&record).unwrap().lines.len(), 7);
}

/// Does something as soon as a label begins with a word, after some calls.
struct At<'a> {
    label: &'a str,
    calls: usize,
    act: &'a dyn Fn(),
}

impl Watch for At<'_> {
    fn doing(&mut self, doing: &Doing<'_>) {
        if doing.what.starts_with(self.label) {
            match self.calls {
                0 => (self.act)(),
                _ => self.calls -= 1,
            }
        }
    }
}

#[test]
fn stopped_it_keeps_its_samples_and_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let raise = || stop.store(true, Ordering::Relaxed);
    let mut watch = At { label: "", calls: 90, act: &raise };
    let (record, outcome) = measure(&tiny(folder.path()), &stop, &mut watch);
    assert!(matches!(outcome, Err(End::Stopped)), "{outcome:?}");
    assert!(!record.series.is_empty());
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
    assert!(hash::of(&record).is_some());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "files are left");
}

#[test]
fn a_wrong_digest_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let spoilt = Cell::new(false);
    let spoil = || {
        if spoilt.replace(true) {
            return;
        }
        let own = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        for number in 0..7 {
            let file = own.join(format!("f{number:08}"));
            let mut bytes = fs::read(&file).unwrap();
            bytes[10] ^= 1;
            fs::write(&file, bytes).unwrap();
        }
    };
    let mut watch = At { label: "read and hash", calls: 0, act: &spoil };
    let (_, outcome) = measure(&tiny(folder.path()), &AtomicBool::new(false), &mut watch);
    match outcome {
        Err(End::Failed(error)) => assert_eq!(error.kind(), ErrorKind::Wrong, "{error}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "files are left");
}

#[test]
fn no_rounds_and_no_folder_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let none = Hash { rounds: 0, ..tiny(folder.path()) };
    let elsewhere = tiny(&folder.path().join("absent"));
    for workload in [none, elsewhere] {
        let (record, outcome) = measure(&workload, &stop, &mut Unwatched);
        assert!(matches!(outcome, Err(End::Failed(_))));
        assert!(record.series.is_empty());
    }
}

#[test]
fn sizes_can_be_limited() {
    let mut hash = Hash::standard(PathBuf::from("."), 1);
    hash.limit_sizes(10_000_000_000);
    assert_eq!(hash.sizes_bytes.len(), 13);
    hash.limit_sizes(150_000_000);
    assert_eq!(hash.sizes_bytes.last(), Some(&100_000_000));
    hash.limit_sizes(1_000);
    assert_eq!(hash.sizes_bytes, [1_000]);
}

/// Counts what a run says.
#[derive(Default)]
struct Count {
    files: usize,
    digests: usize,
    troubles: usize,
}

impl Monitor for Count {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::File(event) = event {
            self.files += 1;
            self.digests += usize::from(event.actual.is_some() || event.verdict.is_some());
            self.troubles += usize::from(event.trouble.is_some());
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn the_path_without_hashing_reads_everything_and_judges_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (name, length) in [("empty", 0), ("small", 1_000), ("large", 3_000_000)] {
        fs::write(folder.path().join(name), vec![3; length]).unwrap();
    }
    let selection = Selection::of([folder.path().to_owned()]);
    let mut count = Count::default();
    let (options, engine) = (Options::default(), Arc::new(Buffered));
    let summary = read_without_hashing(&selection, &options, engine, &mut count).unwrap();
    assert_eq!((summary.files, summary.bytes, summary.exit_status().code()), (3, 3_001_000, 0));
    assert_eq!((count.files, count.digests, count.troubles), (3, 0, 0));
}

/// Bytes per second of made-up series.
const READ: f64 = 2e9;
const HASH: f64 = 1e9;
const COST_S: f64 = 0.002;

fn series(factors: Factors, samples: Vec<Sample>) -> Series {
    Series {
        workload: Name::Hash,
        label: "made up".into(),
        method: "made up".into(),
        factors,
        unit: Unit::Bytes,
        seed: Some(3),
        place: None,
        samples,
        stated: None,
    }
}

fn sample(round: u32, amount: u64, seconds: f64) -> Sample {
    let elapsed_ns = (1e9 * seconds) as u64;
    Sample { round, amount, elapsed_ns, ..Sample::default() }
}

/// Samples of six rounds and five sizes, of a time that each size takes.
fn sized(seconds: impl Fn(f64) -> f64) -> Vec<Sample> {
    let sizes = [1_000_000_u64, 4_000_000, 16_000_000, 64_000_000, 256_000_000];
    let round = |round: u32| {
        // Rounds differ, and all series of a round alike.
        let mood = 1.0 + 0.01 * f64::from(round);
        let seconds = &seconds;
        sizes.map(move |size| sample(round, size, mood * seconds(size as f64)))
    };
    (0..6).flat_map(round).collect()
}

fn record_of(series: Vec<Series>) -> Record {
    let stop = AtomicBool::new(false);
    let mut watch = Unwatched;
    let session = Session::begin("test".into(), Vec::new(), &stop, &mut watch);
    Record { series, elapsed_ns: u64::MAX, ..session.end(None) }
}

fn path(stage: Stage, engine: &str, cache: Option<Cache>) -> Factors {
    Factors { stage: Some(stage), engine: Some(engine.into()), cache, ..Factors::default() }
}

/// Figures of a made-up record in which reading and hashing together take `both` seconds.
fn figures(both: fn(f64) -> f64) -> Record {
    let warm = Some(Cache::Warm);
    record_of(vec![
        series(path(Stage::Hash, "memory", None), sized(|size| size / HASH)),
        series(path(Stage::Read, "buffered", warm), sized(|size| COST_S + size / READ)),
        series(path(Stage::ReadHash, "buffered", warm), sized(both)),
        series(path(Stage::Read, "null", None), sized(|_| COST_S)),
    ])
}

#[test]
fn rates_and_costs_are_found_again() {
    let record = figures(|size| COST_S + size / HASH);
    let figures = hash::of(&record).unwrap();
    let reading = figures.lines[1].fit.as_ref().unwrap();
    let (low, high) = reading.rate_per_s.unwrap().interval.unwrap();
    assert!(low <= READ / 1.02 && high >= READ / 1.03, "{low} {high}");
    assert!((reading.line.latency_s / COST_S - 1.025).abs() < 0.02);
    assert!(!reading.is_doubtful);
    assert_eq!(figures.lines[1].amounts(), (1e6, 256e6));
}

#[test]
fn overlap_is_none_where_they_take_turns_and_all_where_one_hides_the_other() {
    let record = figures(|size| size / HASH);
    let hidden = hash::of(&record).unwrap();
    let [overlap] = &hidden.overlaps[..] else { panic!("{:?}", hidden.overlaps) };
    assert_eq!(overlap.size_bytes_min, 16_000_000);
    assert!((overlap.overlap.unwrap().value - 1.0).abs() < 0.01, "{overlap:?}");
    assert!((overlap.net_by_read.value - 0.51).abs() < 0.02, "{overlap:?}");
    let record = figures(|size| COST_S + size / HASH + size / READ);
    let turns = hash::of(&record).unwrap();
    let overlap = &turns.overlaps[0];
    assert!(overlap.overlap.unwrap().value.abs() < 0.01, "{overlap:?}");
    let (low, high) = overlap.overlap.unwrap().bounds().unwrap();
    assert!(low <= overlap.overlap.unwrap().value && overlap.overlap.unwrap().value <= high);
    assert!((overlap.net_by_hash.unwrap().value - 2.0 / 3.0).abs() < 0.02, "{overlap:?}");
}

#[test]
fn gains_buffers_and_levels_are_compared_round_by_round() {
    let kernel = |backend: &str, lanes| Factors {
        stage: Some(Stage::Hash),
        algorithm: Some("sha256".into()),
        backend: Some(backend.into()),
        lanes: Some(lanes),
        threads: Some(1),
        ..Factors::default()
    };
    let level = |qos| Factors { qos: Some(qos), ..kernel("portable", 1) };
    // Rounds differ by far more than what is compared.
    let steady = |rate: f64| -> Vec<Sample> {
        (0..6).map(|round| sample(round, 1_000_000, 1e6 / rate * f64::from(1 + round))).collect()
    };
    let record = record_of(vec![
        series(kernel("portable", 1), steady(1e8)),
        series(kernel("x86_shani", 1), steady(4e8)),
        series(level(33), steady(4e8)),
        series(level(9), steady(1e8)),
    ]);
    let found = hash::of(&record).unwrap();
    assert_eq!(found.gain(&found.kernels[0]), None);
    let gain = found.gain(&found.kernels[1]).unwrap();
    assert!((gain.value - 4.0).abs() < 1e-6 && gain.bounds().unwrap().0 > 3.99, "{gain:?}");
    let levels: Vec<u8> = found.levels.iter().filter_map(|level| level.factors.qos).collect();
    assert_eq!(levels, [9, 33]);
    assert_eq!(found.level_ratios()[0].levels, (33, 9));
    assert!((found.level_ratios()[0].ratio.value - 4.0).abs() < 1e-6);
}
