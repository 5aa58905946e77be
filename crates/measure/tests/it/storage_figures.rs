//! Figures of writing and reading from records whose truth is known.

use steadfast_measure::figures::Curve;
use steadfast_measure::figures::storage::{self, Why};
use steadfast_measure::random::Random;
use steadfast_measure::record::{
    Beside, Cache, Clock, Factors, Format, Machine, Place, Record, Sample, Series, Stage, Unit,
    VERSION, Workload,
};
use steadfast_measure::workload::storage::plan::{Plan, Profile};

const S: f64 = 1e9;

/// A session that never was, file by file.
struct Told {
    files: Vec<Sample>,
    core: Vec<Sample>,
    now_s: f64,
    bytes: f64,
    random: Random,
}

/// What the machine does when a file's turn comes.
#[derive(Clone, Copy)]
struct Mood {
    rate_per_s: f64,
    core_rate_per_s: f64,
    others: f64,
    frequency_khz: u64,
}

const CALM: Mood =
    Mood { rate_per_s: 2e9, core_rate_per_s: 1.8e9, others: 0.02, frequency_khz: 3_700_000 };

impl Told {
    fn new(seed: u64) -> Told {
        let random = Random::new(seed);
        Told { files: Vec::new(), core: Vec::new(), now_s: 1.0, bytes: 0.0, random }
    }

    fn file(&mut self, round: u32, length: u64, mood: Mood) {
        let noise = (self.random.normal() * 0.03).exp();
        let elapsed_s = (0.001 + length as f64 / mood.rate_per_s) * noise;
        let sample = |now_s: f64, elapsed_s: f64, amount| Sample {
            round,
            amount,
            start_ns: (now_s * S) as u64,
            elapsed_ns: (elapsed_s * S) as u64,
            ..Sample::default()
        };
        let beside = Beside {
            clock_khz: None,
            others_ns: Some((mood.others * elapsed_s * S) as u64),
            stolen_ns: Some(0),
            frequency_khz: Some(mood.frequency_khz),
            temperature_millidegrees: None,
        };
        let file = sample(self.now_s, elapsed_s, length);
        self.files.push(Sample { beside: Some(beside), ..file });
        self.now_s += elapsed_s;
        let noise = (self.random.normal() * 0.01).exp();
        let core_s = 4e6 / mood.core_rate_per_s * noise;
        self.core.push(sample(self.now_s, core_s, 4_000_000));
        self.now_s += core_s;
        self.bytes += length as f64;
    }

    fn record(self, stage: Stage) -> Record {
        let series = |stage, samples: Vec<Sample>, place| Series {
            workload: Workload::Write,
            label: "told".into(),
            method: String::new(),
            factors: Factors { stage: Some(stage), ..Factors::default() },
            unit: Unit::Bytes,
            seed: Some(1),
            place,
            samples,
            stated: None,
        };
        Record {
            format: Format::Record,
            version: VERSION,
            made_by: "test".into(),
            command: Vec::new(),
            name: None,
            published: None,
            started_unix_s: 0,
            elapsed_ns: (self.now_s * S) as u64,
            partial: None,
            level: None,
            machine: Machine { logical_cpus: 4, ..Machine::default() },
            clock: Clock::default(),
            places: vec![Place::default()],
            sessions: Vec::new(),
            series: vec![series(stage, self.files, Some(0)), series(Stage::Hash, self.core, None)],
            warnings: Vec::new(),
        }
    }
}

/// Returns the figures of the files of a record.
fn figures(record: &Record) -> Curve<'_> {
    storage::of(record, Workload::Write).remove(0)
}

/// The standard files, told with a mood that may depend on the index and the bytes so far.
fn standard(seed: u64, stage: Stage, mood: impl Fn(usize, f64) -> Mood) -> Record {
    let mut told = Told::new(seed);
    for (index, file) in Plan::new(Profile::Standard, seed).files().into_iter().enumerate() {
        let mood = mood(index, told.bytes);
        told.file(file.set, file.length, mood);
    }
    told.record(stage)
}

#[test]
fn a_calm_disk_has_its_rate_within_its_interval_and_no_step() {
    let record = standard(1, Stage::Write, |_, _| CALM);
    let figures = figures(&record);
    assert_eq!((figures.points.len(), figures.amount()), (160, 53_300_000_000));
    let line = figures.fit.as_ref().unwrap();
    let rate = line.rate_per_s.unwrap();
    assert!((rate.value / 2e9 - 1.0).abs() < 0.01, "{rate:?}");
    assert!(rate.interval.is_some_and(|(low, high)| low < 2e9 && 2e9 < high), "{rate:?}");
    let latency = line.latency_s;
    assert!((latency.value - 0.001).abs() < 1e-4, "{latency:?}");
    assert_eq!(figures.rate, line.rate_per_s);
    let overall = figures.overall().unwrap();
    assert!((overall.value / 2e9 - 1.0).abs() < 0.02 && overall.interval.is_some());
    assert!(!storage::is_cache_prone(figures.series));
}

#[test]
fn what_others_took_is_told() {
    let busy = Mood { rate_per_s: 1.2e9, others: 1.6, ..CALM };
    let record = standard(2, Stage::Read, |_, _| busy);
    let figures = figures(&record);
    let others = storage::others(&figures).unwrap();
    assert!((others - 1.6).abs() < 0.01, "{others:?}");
    assert_eq!(storage::queued(&figures), None);
}

#[test]
fn impossible_rates_are_flagged_and_possible_ones_are_not() {
    let record = |link, cached_bytes| {
        let mut told = Told::new(11);
        for index in 0..20 {
            told.file(index / 4, 100_000_000, CALM);
        }
        let mut record = told.record(Stage::Read);
        record.places[0].link_bytes_per_s_max = link;
        record.series[0].factors.cache = Some(Cache::Unknown);
        record.series[0].samples[3].cached_bytes = cached_bytes;
        storage::impossible(&record, &figures(&record))
    };
    assert_eq!(record(None, Some(0)), []);
    assert_eq!(record(Some(7_876_923_076), None), []);
    let above_link = record(Some(600_000_000), Some(0));
    assert_eq!((above_link.len(), above_link[0].files), (1, 20));
    assert_eq!(above_link[0].why, Why::AboveLink(600_000_000.0));
    let cached = record(None, Some(4096));
    assert_eq!((cached.len(), cached[0].files), (1, 1));
    assert_eq!(cached[0].why, Why::Cached);
}

#[test]
fn short_files_are_left_out_and_counted_unless_all_are_short() {
    let mut told = Told::new(12);
    for round in 0..5 {
        for length in [3_000, 9_999, 10_000, 3_000_000] {
            told.file(round, length, CALM);
        }
    }
    let counted = |told: Told| {
        let record = told.record(Stage::Write);
        let files = figures(&record);
        let prone = storage::is_cache_prone(files.series);
        (files.points.len(), storage::left_out(&files), prone)
    };
    assert_eq!(counted(told), (10, 10, false));
    let mut told = Told::new(13);
    for round in 0..5 {
        for length in [4_000, 64_000, 2_000_000] {
            told.file(round, length, CALM);
        }
    }
    assert_eq!(counted(told), (15, 0, true));
}
