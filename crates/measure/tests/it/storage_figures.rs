//! Figures of writing and reading from records whose truth is known.

use steadfast_measure::figures::storage::{SeriesFigures, Why, of};
use steadfast_measure::random::Random;
use steadfast_measure::record::{
    Beside, Cache, Clock, Factors, Format, Machine, Place, Record, Sample, Series, Stage, Unit,
    VERSION, Workload,
};
use steadfast_measure::stats::Cause;
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

    fn rest(&mut self, seconds: f64) {
        self.now_s += seconds;
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

    fn figures(self, stage: Stage) -> SeriesFigures {
        of(&self.record(stage), Workload::Write).unwrap().series.remove(0)
    }
}

/// The standard files, told with a mood that may depend on the index and the bytes so far.
fn standard(seed: u64, stage: Stage, mood: impl Fn(usize, f64) -> Mood) -> SeriesFigures {
    let mut told = Told::new(seed);
    for (index, file) in Plan::new(Profile::Standard, seed).files().into_iter().enumerate() {
        let mood = mood(index, told.bytes);
        told.file(file.set, file.length, mood);
    }
    told.figures(stage)
}

fn causes(figures: &SeriesFigures) -> Vec<Cause> {
    figures.steps.iter().map(|step| step.cause).collect()
}

#[test]
fn a_calm_disk_has_its_rate_within_its_interval_and_no_step() {
    let figures = standard(1, Stage::Write, |_, _| CALM);
    assert_eq!((figures.files, figures.bytes), (160, 53_300_000_000));
    let line = figures.line.unwrap();
    let rate = line.rate_per_s.unwrap();
    assert!((rate.point / 2e9 - 1.0).abs() < 0.01, "{rate:?}");
    assert!(rate.low < 2e9 && 2e9 < rate.high, "{rate:?}");
    let latency = line.latency_s.unwrap();
    assert!((latency.point - 0.001).abs() < 1e-4, "{latency:?}");
    assert!((figures.rate_overall_per_s / 2e9 - 1.0).abs() < 0.02);
    assert!(figures.rate_overall_interval.is_some());
    assert_eq!((figures.steps.len(), figures.phases.len()), (0, 1));
    assert!(!figures.is_cache_prone);
}

#[test]
fn throttling_is_named_when_hashing_in_memory_falls_with_the_clock() {
    let hot = Mood { rate_per_s: 1.2e9, core_rate_per_s: 1.1e9, frequency_khz: 2_200_000, ..CALM };
    let figures = standard(2, Stage::Read, |index, _| if index < 90 { CALM } else { hot });
    assert_eq!(causes(&figures), [Cause::Throttling], "{:?}", figures.steps);
    assert!((figures.steps[0].ratio - 0.6).abs() < 0.03);
    let (before, after) = (&figures.phases[0], &figures.phases[1]);
    assert!(before.files.end.abs_diff(90) <= 4, "{before:?}");
    assert!((before.rate_per_s.unwrap() / 2e9 - 1.0).abs() < 0.02);
    assert!((after.rate_per_s.unwrap() / 1.2e9 - 1.0).abs() < 0.02);
    assert_eq!(before.bytes, after.from_bytes);
}

#[test]
fn other_work_is_named_when_others_took_processors() {
    let busy = Mood { rate_per_s: 1.4e9, core_rate_per_s: 1.3e9, others: 1.6, ..CALM };
    let figures = standard(3, Stage::Write, |index, _| if index < 80 { CALM } else { busy });
    assert_eq!(causes(&figures), [Cause::OtherWork], "{:?}", figures.steps);
}

/// Sets of 60 files, and a cache that takes so many bytes after each rest.
fn cached_disk(seed: u64, cache_bytes: f64, rest_s: f64, recovers: bool) -> SeriesFigures {
    let mut told = Told::new(seed);
    let mut taken = 0.0;
    for round in 0..4 {
        for _ in 0..60 {
            let length = told.random.log_uniform(10e6, 100e6) as u64;
            let full = taken >= cache_bytes;
            taken += length as f64;
            let rate_per_s = if full { 0.5e9 } else { 2e9 };
            told.file(round, length, Mood { rate_per_s, ..CALM });
        }
        told.rest(rest_s);
        if recovers {
            taken = 0.0;
        }
    }
    told.figures(Stage::Write)
}

#[test]
fn a_full_cache_is_named_when_rests_bring_the_rate_back_each_time() {
    let figures = cached_disk(4, 1e9, 30.0, true);
    let falls: Vec<_> = figures.steps.iter().filter(|step| step.ratio < 1.0).collect();
    assert_eq!(falls.len(), 4, "{:?}", figures.steps);
    // The last fall has no rest after it, so nothing is known of its recovery.
    assert!(falls[..3].iter().all(|step| step.cause == Cause::CacheExhausted), "{falls:?}");
    assert_eq!(falls[3].cause, Cause::Unexplained);
    let rises = figures.steps.iter().filter(|step| step.ratio > 1.0);
    assert!(rises.clone().count() == 3 && rises.clone().all(|s| s.cause == Cause::Unexplained));
}

#[test]
fn the_same_rates_without_evidence_are_named_nothing() {
    // No rests: nobody knows whether the rate would come back.
    let figures = cached_disk(5, 4e9, 0.0, false);
    assert_eq!(causes(&figures), [Cause::Unexplained], "{:?}", figures.steps);
    assert_eq!(figures.steps[0].evidence.recovered_after_idle, None);
    // Rests that do not help: no cache.
    let figures = cached_disk(6, 1e9, 30.0, false);
    assert_eq!(causes(&figures), [Cause::Unexplained], "{:?}", figures.steps);
    assert_eq!(figures.steps[0].evidence.recovered_after_idle, Some(false));
    // A read has no such cache, whatever it looks like.
    let read =
        standard(
            7,
            Stage::Read,
            |index, _| {
                if index < 80 { CALM } else { Mood { rate_per_s: 1e9, ..CALM } }
            },
        );
    assert_eq!(causes(&read), [Cause::Unexplained]);
}

#[test]
fn impossible_rates_are_flagged_and_possible_ones_are_not() {
    let record = |link, copy, cached_bytes| {
        let mut told = Told::new(11);
        for index in 0..20 {
            told.file(index / 4, 100_000_000, CALM);
        }
        let mut record = told.record(Stage::Read);
        record.places[0].link_bytes_per_s_max = link;
        record.series[0].factors.cache = Some(Cache::Unknown);
        record.series[0].samples[3].cached_bytes = cached_bytes;
        let mut memory = record.series[1].clone();
        memory.factors.stage = Some(Stage::Copy);
        memory.samples.truncate(1);
        memory.samples[0].amount = copy;
        memory.samples[0].elapsed_ns = 1_000_000_000;
        record.series.push(memory);
        of(&record, Workload::Write).unwrap().series.remove(0).impossible
    };
    assert_eq!(record(None, 9_000_000_000, Some(0)), []);
    assert_eq!(record(Some(7_876_923_076), 9_000_000_000, None), []);
    let above_link = record(Some(600_000_000), 9_000_000_000, Some(0));
    assert_eq!((above_link.len(), above_link[0].files), (1, 20));
    assert_eq!(above_link[0].why, Why::AboveLink(600_000_000.0));
    let above_memory = record(None, 1_000_000_000, Some(0));
    assert!(matches!(above_memory[0].why, Why::AboveMemory(_)) && above_memory[0].files == 20);
    let cached = record(None, 9_000_000_000, Some(4096));
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
    let figures = told.figures(Stage::Write);
    assert_eq!((figures.files, figures.too_small), (10, 10));
    assert!(!figures.is_cache_prone);
    let mut told = Told::new(13);
    for round in 0..5 {
        for length in [4_000, 64_000, 2_000_000] {
            told.file(round, length, CALM);
        }
    }
    let figures = told.figures(Stage::Write);
    assert_eq!((figures.files, figures.too_small), (15, 0));
    assert!(figures.is_cache_prone);
}
