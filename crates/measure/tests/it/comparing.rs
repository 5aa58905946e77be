//! Comparisons of two records, and of two folders in turn, simulated: how often a difference is
//! found, and how often one is claimed that is none.

use steadfast_measure::figures::compare::{self, Compared};
use steadfast_measure::figures::pair;
use steadfast_measure::published;
use steadfast_measure::random::Random;
use steadfast_measure::record::{Factors, Record, Sample, Series, Side, Stage, Workload};
use steadfast_measure::stats::{Bootstrap, Finding, Point, enough, ratio_in_turn};

use crate::synthetic::{Files, assert_near, percent_of_seeds};

/// Files of two records: rounds, files in each.
const STANDARD: (usize, usize) = (10, 16);
const QUICK: (usize, usize) = (5, 7);

/// Samples in memory, all of one amount: rounds.
const KERNEL_STANDARD: usize = 10;
const KERNEL_QUICK: usize = 5;

fn record(workload: Workload, rounds: &[Vec<Point>]) -> Record {
    let factors = Factors { stage: Some(Stage::Hash), ..Factors::default() };
    let mut series = Series::new(workload, "made up", "drawn from a seed", factors);
    for (round, points) in (0..).zip(rounds) {
        let sample = |point: &Point| Sample {
            round,
            amount: point.amount as u64,
            elapsed_ns: (1e9 * point.time_s) as u64,
            cpu_ns: Some((0.9e9 * point.time_s) as u64),
            ..Sample::default()
        };
        series.samples.extend(points.iter().map(sample));
    }
    Record { published: None, series: vec![series], ..published::records().remove(0) }
}

/// Compares two records, the second of which has this multiple of the first's rate.
fn compared(
    ratio: f64,
    (workload, seed): (Workload, u64),
    rounds: impl Fn(f64, u64) -> Vec<Vec<Point>>,
) -> Compared {
    let [one, other] = [(ratio, 2 * seed), (1.0, 2 * seed + 1)]
        .map(|(rate, seed)| record(workload, &rounds(1e9 * rate, seed)));
    // The interval of five rounds is nearly as wide as all resamples, so it needs more of them.
    let rounds = one.series[0].samples.last().map_or(0, |sample| sample.round + 1);
    let resamples = if rounds > 5 { 200 } else { 1000 };
    let bootstrap =
        |_: &Series| Bootstrap { resamples, level: compare::LEVEL, ..Bootstrap::new(seed) };
    compare::resampled(&one, &other, &bootstrap).remove(0)
}

/// Files of several lengths, of which a tenth stalls.
fn files((rounds, files): (usize, usize)) -> impl Fn(f64, u64) -> Vec<Vec<Point>> {
    move |rate, seed| Files { rate, noise: 0.03, stalled: 0.1 }.rounds(rounds, files, seed)
}

/// One sample of a kernel in each round, of which a tenth stalls.
fn kernel(rounds: usize) -> impl Fn(f64, u64) -> Vec<Vec<Point>> {
    move |rate, seed| {
        let mut random = Random::new(seed);
        let mut sample = || {
            let noise = (0.02 * random.normal()).exp();
            let stall = if random.unit() < 0.1 { random.uniform(1.3, 4.0) } else { 1.0 };
            vec![Point { amount: 64e6, time_s: 64e6 / rate * noise * stall }]
        };
        (0..rounds).map(|_| sample()).collect()
    }
}

/// Returns the share of comparisons, in percent, that have such a finding.
fn percent_found(
    (ratio, seeds): (f64, u64),
    workload: Workload,
    rounds: impl Fn(f64, u64) -> Vec<Vec<Point>>,
    is: impl Fn(Finding) -> bool,
) -> f64 {
    percent_of_seeds(seeds, |seed| is(compared(ratio, (workload, seed), &rounds).finding()))
}

/// Resampled comparisons take long. The table in `docs/measuring.md` is of more.
const FEW_SEEDS: u64 = 40;
const MANY_SEEDS: u64 = 1000;

#[test]
fn a_tenth_less_is_found_although_a_tenth_stalls() {
    let slower = |finding| finding == Finding::Slower;
    let storage = |shape| percent_found((0.9, FEW_SEEDS), Workload::Write, files(shape), slower);
    let memory = |rounds| percent_found((0.9, MANY_SEEDS), Workload::Hash, kernel(rounds), slower);
    let found = [storage(STANDARD), storage(QUICK), memory(KERNEL_STANDARD), memory(KERNEL_QUICK)];
    let wanted = [85.0, 85.0, 85.0, 50.0];
    let enough = found.iter().zip(wanted).all(|(&found, wanted)| found >= wanted);
    assert!(enough, "{found:?} instead of {wanted:?} %");
}

#[test]
fn no_difference_is_claimed_where_there_is_none() {
    let claims = |finding| matches!(finding, Finding::Slower | Finding::Faster);
    let storage = |shape| percent_found((1.0, FEW_SEEDS), Workload::Write, files(shape), claims);
    let memory = |rounds| percent_found((1.0, MANY_SEEDS), Workload::Hash, kernel(rounds), claims);
    let claimed =
        [storage(STANDARD), storage(QUICK), memory(KERNEL_STANDARD), memory(KERNEL_QUICK)];
    assert!(claimed.iter().all(|&claimed| claimed <= 5.0), "{claimed:?} %");
}

/// Rounds of two folders in turn: the quick form, the standard profile, and the most.
const TURNS: [usize; 3] = [9, 10, 40];

/// Draws rates of two folders in turn, of which a tenth stalls. Both share the mood of a round.
fn in_turn(ratio: f64, rounds: usize, seed: u64) -> Vec<(f64, f64)> {
    let mut random = Random::new(seed);
    let mut rate = |rate: f64| {
        let stall = if random.unit() < 0.1 { random.uniform(1.3, 4.0) } else { 1.0 };
        rate * (0.03 * random.normal()).exp() / stall
    };
    let mut moods = Random::new(seed ^ 1);
    let mut mood = || 1e9 * (0.3 * moods.normal()).exp();
    (0..rounds).map(|_| mood()).map(|mood| (rate(ratio * mood), rate(mood))).collect()
}

/// Returns the finding of a record of two folders with these rates.
fn found_in_turn(rounds: &[(f64, f64)]) -> Finding {
    let series = |side: Side, rate: fn(&(f64, f64)) -> f64| {
        let factors = Factors { stage: Some(Stage::Read), side: Some(side), ..Factors::default() };
        let mut series = Series::new(Workload::Pair, "made up", "drawn from a seed", factors);
        series.samples.extend((0..).zip(rounds).map(|(round, rates)| Sample {
            round,
            amount: 1 << 26,
            elapsed_ns: ((1_u64 << 26) as f64 * 1e9 / rate(rates)) as u64,
            ..Sample::default()
        }));
        series
    };
    let series = vec![series(Side::A, |rates| rates.0), series(Side::B, |rates| rates.1)];
    let record = Record { published: None, series, ..published::records().remove(0) };
    pair::of(&record).unwrap().rows[0].a_to_b.finding
}

#[test]
fn folders_in_turn_are_told_apart_only_if_they_differ() {
    let slower = |rounds: usize| {
        percent_of_seeds(MANY_SEEDS, |seed| {
            found_in_turn(&in_turn(0.9, rounds, seed)) == Finding::Slower
        })
    };
    let claims = |finding| matches!(finding, Finding::Slower | Finding::Faster);
    let claimed = |rounds: usize| {
        percent_of_seeds(MANY_SEEDS, |seed| claims(found_in_turn(&in_turn(1.0, rounds, seed))))
    };
    let (found, wrong) = (TURNS.map(slower), TURNS.map(claimed));
    let powers = found.iter().zip([65.0, 65.0, 99.0]).all(|(found, wanted)| *found >= wanted);
    assert!(powers, "{found:?} %");
    assert!(wrong.iter().all(|&wrong| wrong <= 5.0), "{wrong:?} %");
}

/// A session ends once its ratios are precise in three rounds in a row. Looking after every round
/// must not make claims.
#[test]
fn ending_early_claims_no_difference_where_there_is_none() {
    let wrong = percent_of_seeds(4 * MANY_SEEDS, |seed| {
        let all = in_turn(1.0, 40, seed);
        let precise =
            |count: usize| ratio_in_turn(&all[..count]).is_some_and(|of| enough(&of, 0.02));
        let ended = (8..40).find(|&count| (count - 2..=count).all(precise)).unwrap_or(40);
        matches!(found_in_turn(&all[..ended]), Finding::Slower | Finding::Faster)
    });
    assert!(wrong <= 5.0, "{wrong} %");
}

#[test]
fn processor_time_is_compared_where_a_processor_is_measured() {
    let by_cpu = |workload| compared(0.9, (workload, 7), files(STANDARD)).ratio_by_cpu_time;
    let hashed = by_cpu(Workload::Hash).expect("samples have processor time");
    assert!((hashed.value - 0.9).abs() < 0.02, "{hashed:?}");
    assert_eq!(by_cpu(Workload::Write), None);
}

/// The rate of a series is the same in the comparison and in its own section.
#[test]
fn rates_are_those_of_the_sections() {
    let mut one = record(Workload::Write, &files(STANDARD)(1e9, 3));
    one.series[0].factors.stage = Some(Stage::Write);
    let figures = steadfast_measure::figures::storage::of(&one, Workload::Write).unwrap();
    let shown = figures.series[0].line.as_ref().unwrap().fits.robust.rate_per_s().unwrap();
    let found = compare::of(&one, &one).remove(0);
    assert_near(found.one_per_s, shown, 1e-6);
    assert_near(found.ratio.value, 1.0, 1e-12);
}
