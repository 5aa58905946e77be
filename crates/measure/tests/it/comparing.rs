//! Pages that compare two records, or two folders in turn, simulated: how often a page claims a
//! difference where there is none, and how many of the differences it finds.

use steadfast_measure::figures::compare::{self, Compared};
use steadfast_measure::figures::pair::{self, PairRow};
use steadfast_measure::published;
use steadfast_measure::random::Random;
use steadfast_measure::record::{Factors, Record, Sample, Series, Side, Stage, Unit, Workload};
use steadfast_measure::stats::{Finding, Point, Ratios, enough, level_of_each};

use crate::synthetic::{Files, assert_near, percent_of_seeds};

/// Files of two records: rounds, files in each.
const STANDARD: (usize, usize) = (10, 16);
const QUICK: (usize, usize) = (5, 7);

fn record(workload: Workload, lines: &[Vec<Vec<Point>>]) -> Record {
    let series = lines.iter().enumerate().map(|(at, rounds)| {
        let algorithm = Some(format!("series {at}"));
        let factors = Factors { stage: Some(Stage::Hash), algorithm, ..Factors::default() };
        let mut series = Series::new(workload, "made up", "drawn from a seed", factors);
        for (round, points) in (0..).zip(rounds) {
            let sample = |point: &Point| Sample {
                round,
                amount: point.amount as u64,
                elapsed_ns: (1e9 * point.time_s) as u64,
                ..Sample::default()
            };
            series.samples.extend(points.iter().map(sample));
        }
        series
    });
    Record { published: None, series: series.collect(), ..published::records().remove(0) }
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

/// Compares two records of as many series. The first has a tenth less of the rate in some of them.
fn page(
    (series, slower): (usize, usize),
    (workload, seed): (Workload, u64),
    rounds: impl Fn(f64, u64) -> Vec<Vec<Point>>,
) -> Vec<Compared> {
    let seed = seed * 2 * series as u64;
    let side = |rate: f64, seed: u64| {
        let lines = (0..series)
            .map(|at| rounds(if at < slower { 1e9 * rate } else { 1e9 }, seed + at as u64));
        record(workload, &lines.collect::<Vec<_>>())
    };
    let found = compare::of(&side(0.9, seed), &side(1.0, seed + series as u64));
    assert_eq!(found.len(), series);
    found
}

fn claims(finding: Finding) -> bool {
    matches!(finding, Finding::Slower | Finding::Faster)
}

/// Returns the share of pages that claim any difference where there is none, in percent.
fn percent_wrong(
    series: usize,
    (workload, seeds): (Workload, u64),
    rounds: impl Fn(f64, u64) -> Vec<Vec<Point>>,
) -> f64 {
    percent_of_seeds(seeds, |seed| {
        page((series, 0), (workload, seed), &rounds).iter().any(|found| claims(found.finding()))
    })
}

/// Returns the share of the differences that pages find, in percent.
fn percent_found(
    shape: (usize, usize),
    (workload, seeds): (Workload, u64),
    rounds: impl Fn(f64, u64) -> Vec<Vec<Point>>,
) -> f64 {
    let (_, slower) = shape;
    let found = |seed| {
        let found = page(shape, (workload, seed), &rounds);
        found[..slower].iter().filter(|found| found.finding() == Finding::Slower).count()
    };
    100.0 * (0..seeds).map(found).sum::<usize>() as f64 / (seeds * slower as u64) as f64
}

/// `docs/reference/measuring.md` has the same tables, of more pages.
const FITTED_PAGES: u64 = 400;
const MEDIAN_PAGES: u64 = 400;

#[test]
fn pages_of_equal_records_claim_no_difference() {
    let fitted = |shape| percent_wrong(3, (Workload::Write, FITTED_PAGES), files(shape));
    let medians = |rounds| percent_wrong(60, (Workload::Cipher, MEDIAN_PAGES), kernel(rounds));
    let wrong = [fitted(STANDARD), fitted(QUICK), medians(20), medians(10), medians(5)];
    // Where 5 of 100 pages are wrong, more than 7.5 % of 400 seldom are.
    assert!(wrong.iter().all(|&wrong| wrong <= 7.5), "{wrong:?} %");
}

#[test]
fn a_tenth_less_is_found_although_a_tenth_stalls() {
    let fitted = |shape| percent_found((3, 3), (Workload::Write, FITTED_PAGES), files(shape));
    let medians = |shape, rounds| percent_found(shape, (Workload::Cipher, 50), kernel(rounds));
    let found = [
        fitted(STANDARD),
        fitted(QUICK),
        medians((60, 60), 20),
        medians((6, 1), 20),
        medians((60, 1), 20),
        medians((60, 60), 10),
    ];
    let wanted = [98.0, 95.0, 98.0, 90.0, 80.0, 85.0];
    let enough = found.iter().zip(wanted).all(|(&found, wanted)| found >= wanted);
    assert!(enough, "{found:?} instead of {wanted:?} %");
}

/// An interval excludes 1 exactly where the page calls the records different: one part of the page
/// never says what another part denies.
#[test]
fn intervals_and_findings_agree() {
    for seed in 0..20 {
        let found = page((20, 5), (Workload::Cipher, seed), kernel(10));
        let levels = found.iter().filter_map(|found| Some(found.ratio.interval?.level));
        let levels: Vec<f64> = levels.collect();
        assert!(levels.len() == 20 && levels.iter().all(|level| *level == levels[0]), "{levels:?}");
        for one in &found {
            let (low, high) = one.ratio.bounds().unwrap();
            let within = low >= 0.98 && high <= 1.02;
            let excluded = !within && (high < 1.0 || low > 1.0);
            assert_eq!(excluded, claims(one.finding()), "{one:?}");
        }
    }
}

/// A session that was interrupted in its last round has a round of one file, which has no line.
#[test]
fn a_round_without_a_line_is_left_out() {
    let mut rounds = files(STANDARD)(0.9e9, 5);
    rounds[9].truncate(1);
    let (one, other) = (record(Workload::Write, &[rounds]), files(STANDARD)(1e9, 6));
    let found = compare::of(&one, &record(Workload::Write, &[other])).remove(0);
    assert_eq!(found.ratio.interval.map(|ratio| ratio.rounds), Some(9));
    assert_eq!(found.finding(), Finding::Slower);
}

/// A page of two folders: a sample of A and of B for each series and round.
#[derive(Clone, Copy)]
struct PairPage {
    lengths: usize,
    depths: usize,
    rounds: usize,
}

const PAIR_QUICK: PairPage = PairPage { lengths: 3, depths: 4, rounds: 20 };
const PAIR_PROFILE: PairPage = PairPage { lengths: 16, depths: 6, rounds: 10 };
const PAIR: PairPage = PairPage { lengths: 3, depths: 6, rounds: 40 };

impl PairPage {
    /// Draws the rates of a series, of which a tenth stalls. Both sides share the mood of a round.
    fn in_turn(self, ratio: f64, random: &mut Random) -> Vec<(f64, f64)> {
        let one = |random: &mut Random, rate: f64| {
            let stall = if random.unit() < 0.1 { random.uniform(1.3, 4.0) } else { 1.0 };
            rate * (0.03 * random.normal()).exp() / stall
        };
        let mut round = |_| {
            let mood = 1e9 * (0.3 * random.normal()).exp();
            (one(random, ratio * mood), one(random, mood))
        };
        (0..self.rounds).map(&mut round).collect()
    }

    /// Draws a session.
    fn session(self, ratio: f64, seed: u64) -> Vec<(Factors, Vec<(f64, f64)>)> {
        let mut random = Random::new(seed);
        let steps = [Stage::Write, Stage::Read, Stage::ReadHash];
        let files = steps.into_iter().flat_map(|stage| {
            (1..=self.lengths as u64).map(move |length| (stage, Some(length << 20), None))
        });
        let deep = (0..self.depths as u32).map(|at| {
            let stage = if at % 2 == 0 { Stage::Read } else { Stage::Write };
            (stage, Some(4096), Some(1 << (at / 2)))
        });
        let series = files.chain(deep).map(|(stage, block_len_bytes, queue_depth)| {
            let stage = Some(stage);
            let factors = Factors { stage, block_len_bytes, queue_depth, ..Factors::default() };
            (factors, self.in_turn(ratio, &mut random))
        });
        series.collect()
    }
}

/// Returns the rows of a record with so many rounds of a session.
fn rows(session: &[(Factors, Vec<(f64, f64)>)], rounds: usize) -> Vec<PairRow> {
    let series = |factors: &Factors, side: Side, rates: Vec<f64>| {
        let factors = Factors { side: Some(side), ..factors.clone() };
        let unit = if factors.queue_depth.is_some() { Unit::Operations } else { Unit::Bytes };
        let series = Series::new(Workload::Pair, "made up", "drawn from a seed", factors);
        let sample = |(round, rate): (u32, f64)| {
            let amount = 1 << 26;
            let elapsed_ns = (amount as f64 * 1e9 / rate) as u64;
            Sample { round, amount, elapsed_ns, ..Sample::default() }
        };
        Series { unit, samples: (0..).zip(rates).map(sample).collect(), ..series }
    };
    let both = |(factors, rates): &(Factors, Vec<(f64, f64)>)| {
        let rates = &rates[..rounds];
        let (ours, theirs) = (rates.iter().map(|of| of.0), rates.iter().map(|of| of.1));
        let (ours, theirs) = (ours.collect(), theirs.collect());
        [series(factors, Side::A, ours), series(factors, Side::B, theirs)]
    };
    let series = session.iter().flat_map(both).collect();
    let record = Record { published: None, series, ..published::records().remove(0) };
    pair::of(&record).unwrap().rows
}

const PAIR_PAGES: u64 = 400;

#[test]
fn pages_of_equal_folders_claim_no_difference() {
    let wrong = [PAIR_QUICK, PAIR_PROFILE, PAIR].map(|page| {
        percent_of_seeds(PAIR_PAGES, |seed| {
            let rows = rows(&page.session(1.0, seed), page.rounds);
            rows.iter().any(|row| claims(row.a_to_b.finding))
        })
    });
    assert!(wrong.iter().all(|&wrong| wrong <= 7.5), "{wrong:?} %");
}

#[test]
fn folders_that_differ_are_told_apart() {
    // Of steps with all lengths, of depths, and of single lengths, in percent.
    let found = |page: PairPage| {
        let pages =
            (0..PAIR_PAGES / 2).flat_map(|seed| rows(&page.session(0.9, seed), page.rounds));
        let pages: Vec<PairRow> = pages.collect();
        let kinds: [fn(&PairRow) -> bool; 3] = [
            |row| row.len_bytes.is_none(),
            |row| row.depth.is_some(),
            |row| row.depth.is_none() && row.len_bytes.is_some(),
        ];
        kinds.map(|kind| {
            let all: Vec<&PairRow> = pages.iter().filter(|row| kind(row)).collect();
            let found = all.iter().filter(|row| row.a_to_b.finding == Finding::Slower);
            100.0 * found.count() as f64 / all.len() as f64
        })
    };
    let found = [found(PAIR_QUICK), found(PAIR_PROFILE), found(PAIR)];
    let wanted = [[95.0, 75.0, 75.0], [95.0, 20.0, 0.0], [99.0, 99.0, 99.0]];
    let enough = found.as_flattened().iter().zip(wanted.as_flattened());
    assert!(enough.clone().all(|(found, wanted)| found >= wanted), "{found:?} %");
    assert_eq!(found[1][2], 0.0, "ten rounds are too few for 48 lengths");
}

/// A session ends once its ratios are precise in three rounds in a row. Looking after every round
/// must not make claims.
#[test]
fn ending_early_claims_no_difference_where_there_is_none() {
    let wrong = percent_of_seeds(PAIR_PAGES, |seed| {
        let session = PAIR.session(1.0, seed);
        let precise = |rounds: usize| {
            session.iter().all(|(_, rates)| {
                let ratios: Vec<f64> =
                    rates[..rounds].iter().map(|(one, other)| one / other).collect();
                let level = level_of_each(session.len());
                let ratio = Ratios::in_turn(&ratios).unwrap().interval(level);
                ratio.is_some_and(|ratio| enough(&ratio, 0.05))
            })
        };
        let ended = (8..40).find(|&rounds| (rounds - 2..=rounds).all(precise)).unwrap_or(40);
        rows(&session, ended).iter().any(|row| claims(row.a_to_b.finding))
    });
    assert!(wrong <= 7.5, "{wrong} %");
}

#[test]
fn a_stalled_file_does_not_decide_a_step() {
    let mut session = PAIR_QUICK.session(1.0, 3);
    // The longest file of A stalls in every round.
    let longest = session.iter_mut().find(|(factors, _)| factors.block_len_bytes == Some(3 << 20));
    longest.unwrap().1.iter_mut().for_each(|(one, _)| *one /= 4.0);
    let rows = rows(&session, 20);
    let [length, step] = [Some(3 << 20), None].map(|length| {
        rows.iter().find(|row| (row.stage, row.len_bytes) == (Stage::Write, length)).unwrap()
    });
    assert_eq!(length.a_to_b.finding, Finding::Slower);
    assert_near(step.a_to_b.ratio.unwrap().value, 1.0, 0.05);
}

#[test]
fn processor_time_is_compared_where_a_processor_is_measured() {
    let by_cpu = |workload| {
        let [mut one, mut other] =
            [0.9e9, 1e9].map(|rate| record(workload, &[files(STANDARD)(rate, 7)]));
        for sample in one.series.iter_mut().chain(&mut other.series).flat_map(|of| &mut of.samples)
        {
            sample.cpu_ns = Some(sample.elapsed_ns * 9 / 10);
        }
        compare::of(&one, &other).remove(0).ratio_by_cpu_time
    };
    let hashed = by_cpu(Workload::Hash).expect("samples have processor time");
    assert!((hashed.value - 0.9).abs() < 0.02, "{hashed:?}");
    assert_eq!(by_cpu(Workload::Write), None);
}

/// The rate of a series is the same in the comparison and in its own section.
#[test]
fn rates_are_those_of_the_sections() {
    let mut one = record(Workload::Write, &[files(STANDARD)(1e9, 3)]);
    one.series[0].factors.stage = Some(Stage::Write);
    let figures = steadfast_measure::figures::storage::of(&one, Workload::Write).unwrap();
    let shown = figures.series[0].line.as_ref().unwrap().line.rate_per_s().unwrap();
    let found = compare::of(&one, &one).remove(0);
    assert_near(found.one_per_s, shown, 1e-6);
    assert_near(found.ratio.value, 1.0, 1e-12);
}
