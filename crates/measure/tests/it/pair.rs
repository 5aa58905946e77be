//! The same work in two folders: small sessions, and ratios of made series.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_measure::figures::{self, MARGIN};
use steadfast_measure::random::Random;
use steadfast_measure::record::{self, Record, Sample, Side, Stage, Unit};
use steadfast_measure::runner::{End, Session, Unwatched};
use steadfast_measure::stats::Finding;
use steadfast_measure::workload::Workload as _;
use steadfast_measure::workload::pair::{Pair, PairDepths};

use crate::synthetic::half_width;

fn pair(folders: &[(Side, &Path)]) -> Pair {
    Pair {
        folders: folders.iter().map(|(side, folder)| (*side, folder.to_path_buf())).collect(),
        lens_bytes: vec![10_000, 2_500_000],
        depths: None,
        rounds: 6,
        span: Some(Duration::from_secs(600)),
        pause: Duration::ZERO,
        seed: 4,
    }
}

fn run(pair: &Pair) -> (Record, Option<End>) {
    let stop = AtomicBool::new(false);
    let mut watch = Unwatched;
    let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut watch);
    pair.plan(&mut session);
    let end = pair.run(&mut session).err();
    (session.end(None), end)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn every_folder_does_every_step_in_every_round() {
    let (a, b, control) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folders = [(Side::A, a.path()), (Side::B, b.path()), (Side::Control, control.path())];
    let (record, end) = run(&pair(&folders));
    assert!(end.is_none(), "{end:?}");
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
    // Three folders, three steps, two lengths.
    assert_eq!((record.series.len(), record.places.len()), (18, 3));
    for series in &record.series {
        let rounds: Vec<u32> = series.samples.iter().map(|sample| sample.round).collect();
        assert_eq!(rounds, [0, 1, 2, 3, 4, 5], "{}", series.label);
    }
    // Folders took turns: within a round no folder was first every time.
    let first = |side: Side| {
        let written = record.series.iter().filter(|series| {
            series.factors.stage == Some(Stage::Write) && series.factors.side == Some(side)
        });
        written.flat_map(|series| &series.samples).map(|sample| sample.start_ns).collect::<Vec<_>>()
    };
    let (firsts, seconds) = (first(Side::A), first(Side::B));
    let before = firsts.iter().zip(&seconds).filter(|(a, b)| a < b).count();
    assert!((1..firsts.len()).contains(&before), "A was first {before} times");
    let figures = figures::pair::of(&record).expect("there is a pair");
    assert_eq!(figures.rows.len(), 10, "three steps, each with two lengths and their sum; hashing");
    assert_eq!(figures.rows.iter().filter(|row| row.len_bytes.is_none()).count(), 4);
    assert!(figures.rows.iter().all(|row| row.a_to_b.ratio.is_some()));
    // Six rounds are enough for one ratio, and too few for eighteen.
    assert!(figures.rows.iter().all(|row| row.a_to_b.ratio.unwrap().interval.is_none()));
    assert!(figures.rows.iter().all(|row| row.a_to_b.finding == Finding::NotEnoughData));
    assert!(figures.rows.iter().all(|row| row.a_to_control.is_some()));
    assert!([a, b, control].iter().all(|folder| is_empty(folder.path())), "something was left");
}

#[test]
fn a_round_that_was_measured_twice_counts_once() {
    let root = tempfile::tempdir().unwrap();
    let (a, b) = (root.path().join("a"), root.path().join("b"));
    fs::create_dir(&a).unwrap();
    fs::create_dir(&b).unwrap();
    let (mut record, _) = run(&pair(&[(Side::A, &a), (Side::B, &b)]));
    for series in &mut record.series {
        let is_a = series.factors.side == Some(Side::A);
        for sample in &mut series.samples {
            sample.elapsed_ns = sample.amount;
        }
        // The second of A took three times as long: both together took twice as long.
        let twice = series.samples.iter().flat_map(|sample| {
            let slow = if is_a { 3 * sample.elapsed_ns } else { sample.elapsed_ns };
            [sample.clone(), Sample { elapsed_ns: slow, ..sample.clone() }]
        });
        series.samples = twice.collect();
    }
    let rows = figures::pair::of(&record).unwrap().rows;
    for row in rows.iter().filter(|row| row.len_bytes.is_some()) {
        let ratio = row.a_to_b.ratio.unwrap();
        assert!((ratio.value - 0.5).abs() < 1e-9, "{ratio:?}");
    }
}

#[test]
fn reads_and_writes_in_flight_are_compared_too() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let depths = PairDepths { depths: vec![1, 4], ..deep_of(1) };
    let folders = [(Side::A, a.path()), (Side::B, b.path())];
    let deep = Pair { depths: Some(depths), lens_bytes: vec![10_000], ..pair(&folders) };
    // Files, the two files of the depths, and 10 MB for each depth, with a request of each thread.
    let written = 6 * 10_000 + 2 * (1 << 20) + 6 * (2 * 9_998_336 + 5 * 4096);
    assert_eq!(deep.writes(), [(a.path(), written), (b.path(), written)]);
    let (record, end) = run(&deep);
    assert!(end.is_none(), "{end:?}");
    assert_eq!(record::read(&record::write(&record)).unwrap(), record);
    let written: u64 = record
        .series
        .iter()
        .filter(|series| series.factors.stage == Some(Stage::Write))
        .filter(|series| series.factors.side == Some(Side::A))
        .flat_map(|series| {
            series.samples.iter().map(|sample| match series.unit {
                Unit::Operations => sample.amount * 4096,
                _ => sample.amount,
            })
        })
        .sum();
    assert!(written + 2 * (1 << 20) <= deep.writes()[0].1, "more was written than was said");
    let rows = figures::pair::of(&record).unwrap().rows;
    let found: Vec<_> = rows.iter().map(|row| (row.stage, row.depth)).collect();
    assert_eq!(rows.iter().map(|row| usize::from(row.sequential)).sum::<usize>(), 2);
    let (write, read) = (Stage::Write, Stage::Read);
    let both = [(Stage::ReadHash, None), (Stage::Hash, None)];
    let files = [[(write, None), (read, None)], both].concat();
    let deep = [
        (write, Some(1)),
        (write, Some(4)),
        (read, Some(1)),
        (read, Some(4)),
        (read, Some(1)),
        (read, Some(4)),
    ];
    assert_eq!(found, [&files[..], &deep[..]].concat());
    assert!(rows.iter().all(|row| row.a_to_b.ratio.is_some() && row.rates.len() == 2));
    assert!(is_empty(a.path()) && is_empty(b.path()), "something was left");
    let nonsense = PairDepths { depths: vec![0], ..deep_of(4) };
    assert!(run(&Pair { depths: Some(nonsense), ..pair(&folders) }).1.is_some());
}

/// Random requests of so many in flight.
fn deep_of(depth: u32) -> PairDepths {
    PairDepths {
        depths: vec![depth],
        file_len_bytes: 1 << 20,
        span: Duration::from_millis(10),
        sequential: true,
    }
}

#[test]
fn one_folder_or_four_are_no_pair() {
    let root = tempfile::tempdir().unwrap();
    for count in [1, 4] {
        let folders = vec![(Side::A, root.path()); count];
        let (_, end) = run(&pair(&folders));
        assert!(matches!(end, Some(End::Failed(_))), "{count} folders");
    }
    assert!(is_empty(root.path()));
}

/// Both sides drift by a factor of four from round to round; A takes 1.25 times as long as B.
#[test]
fn what_drifts_does_not_reach_the_ratio() {
    let root = tempfile::tempdir().unwrap();
    let (a, b) = (root.path().join("a"), root.path().join("b"));
    fs::create_dir(&a).unwrap();
    fs::create_dir(&b).unwrap();
    let (mut record, _) = run(&pair(&[(Side::A, &a), (Side::B, &b)]));
    let mut random = Random::new(1);
    let moods: Vec<f64> = (0..40).map(|_| random.log_uniform(1.0, 4.0)).collect();
    for series in &mut record.series {
        let slow = if series.factors.side == Some(Side::A) { 1.25 } else { 1.0 };
        let length = series.factors.block_len_bytes.unwrap();
        let sample = |(round, mood): (usize, &f64)| {
            let noise = 1.0 + 0.02 * random.normal();
            let time = length as f64 * mood * slow * noise;
            Sample {
                round: round as u32,
                amount: length,
                elapsed_ns: time as u64,
                ..Sample::default()
            }
        };
        series.samples = moods.iter().enumerate().map(sample).collect();
    }
    record.elapsed_ns = u64::MAX;
    let figures = figures::pair::of(&record).expect("there is a pair");
    for row in &figures.rows {
        let ratio = row.a_to_b.ratio.unwrap();
        let (low, high) = ratio.interval.expect("forty rounds give an interval");
        assert!((ratio.value - 0.8).abs() < 0.02, "{ratio:?}");
        assert!(low <= 0.8 && 0.8 <= high, "{ratio:?}");
        assert!(half_width(&ratio) < 0.03 && MARGIN < 0.1, "{ratio:?}");
        assert_eq!(row.a_to_b.finding, Finding::Slower);
        // Without rounds to pair, the rates alone would tell far less.
        let (_, rate_a, _) = row.rates[0];
        let (_, rate_b, _) = row.rates[1];
        assert!((rate_a / rate_b - 0.8).abs() < 0.1);
    }
}
