//! Pages that compare two records, or two folders in turn, simulated: how often a page claims a
//! difference where there is none, and how many of the differences it finds.

use steadfast_measure::figures::compare;
use steadfast_measure::figures::pair::{self, PairRow};
use steadfast_measure::published;
use steadfast_measure::random::Random;
use steadfast_measure::record::{Factors, Record, Sample, Series, Side, Stage, Unit, Workload};
use steadfast_measure::stats::{Finding, Point};

use crate::synthetic::{Files, assert_near, percent_of_seeds};

/// Rounds of a session, and files in each.
const STANDARD: (usize, usize) = (10, 16);

/// Makes a record of series, each with its points by rounds; elapsed time is as long as processor
/// time.
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
                cpu_ns: Some((1e9 * point.time_s) as u64),
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

/// Draws a session on a machine with four busy threads to two processors: every sample waits for a
/// processor for up to three times its own time. Processor time differs by 1 % from round to round
/// and from session to session; elapsed time of storage by 10 % between sessions.
fn session(workload: Workload, rates: &[f64], seed: u64) -> Record {
    let mut random = Random::new(seed);
    let by_processor = workload != Workload::Write;
    let between = if by_processor { 0.01 } else { 0.1 };
    let series: Vec<Vec<Vec<Point>>> = rates
        .iter()
        .map(|rate| {
            let rate = rate * (between * random.normal()).exp();
            let mut round = || {
                let time_s = 64e6 / rate * (0.01 * random.normal()).exp();
                vec![Point { amount: 64e6, time_s }]
            };
            (0..10).map(|_| round()).collect()
        })
        .collect();
    let mut record = record(workload, &series);
    for sample in record.series.iter_mut().flat_map(|series| &mut series.samples) {
        sample.elapsed_ns = (sample.elapsed_ns as f64 * random.uniform(1.0, 4.0)) as u64;
    }
    record
}

/// Draws a record of several sessions.
fn sessions(count: u64, workload: Workload, rates: &[f64], seed: u64) -> Record {
    let mut record = session(workload, rates, seed);
    (1..count).for_each(|at| record.add_session(session(workload, rates, seed + (at << 32))));
    record
}

fn claims(finding: Finding) -> bool {
    matches!(finding, Finding::Slower | Finding::Faster)
}

const PAGES: u64 = 200;

#[test]
fn equal_records_made_under_load_are_not_told_apart() {
    let wrong = |count: u64, workload: Workload, series: usize| {
        percent_of_seeds(PAGES, |seed| {
            let side = |side| sessions(count, workload, &vec![1e9; series], 2 * seed + side);
            compare::of(&side(0), &side(1)).iter().any(|found| claims(found.finding()))
        })
    };
    let pages = [(1, Workload::Cipher, 60), (1, Workload::Write, 6), (3, Workload::Write, 3)];
    let wrong = pages.map(|(count, workload, series)| wrong(count, workload, series));
    eprintln!("{wrong:?} % of pages");
    assert!(wrong[1] == 0.0, "one session cannot tell by elapsed time: {wrong:?}");
    // Where 5 of 100 pages are wrong, more than 8.5 % of 200 seldom are.
    assert!(wrong.iter().all(|&wrong| wrong <= 8.5), "{wrong:?} %");
}

#[test]
fn a_tenth_of_processor_time_is_found_under_load() {
    let rates: Vec<f64> = (0..60).map(|at| if at < 6 { 0.9e9 } else { 1e9 }).collect();
    let found = |seed| {
        let (one, other) = (session(Workload::Cipher, &rates, 2 * seed), vec![1e9; 60]);
        let found = compare::of(&one, &session(Workload::Cipher, &other, 2 * seed + 1));
        assert!(found.iter().all(|found| found.by_processor_time));
        assert!(found[6..].iter().all(|found| !claims(found.finding())) || seed > 0);
        found[..6].iter().filter(|found| found.finding() == Finding::Slower).count()
    };
    let found = 100.0 * (0..PAGES).map(found).sum::<usize>() as f64 / (6 * PAGES) as f64;
    eprintln!("{found} % of tenths");
    assert!(found >= 99.0, "{found} %");
}

/// In two of three rounds another program in the other half of the core takes up to a third.
#[test]
fn a_tenth_is_found_where_most_rounds_are_disturbed() {
    let found = |ratio: f64| {
        percent_of_seeds(PAGES, |seed| {
            let mut random = Random::new(seed);
            let mut side = |rate: f64, seed| {
                let mut record = sessions(3, Workload::Cipher, &[rate], seed);
                let samples = record.series[0].samples.iter_mut().enumerate();
                for (_, sample) in samples.filter(|(at, _)| at % 3 > 0) {
                    let cpu_ns = sample.cpu_ns.unwrap() as f64;
                    sample.cpu_ns = Some((cpu_ns * random.uniform(1.0, 1.5)) as u64);
                }
                record
            };
            let (one, other) = (side(ratio * 1e9, 2 * seed), side(1e9, 2 * seed + 1));
            claims(compare::of(&one, &other)[0].finding())
        })
    };
    let (tenth, none) = (found(0.9), found(1.0));
    eprintln!("{tenth} % of tenths, {none} % of none");
    assert!(tenth >= 99.0 && none <= 1.0, "{tenth} % {none} %");
}

#[test]
fn what_was_disturbed_throughout_tells_nothing() {
    let (mut one, other) =
        (session(Workload::Cipher, &[1e9], 1), session(Workload::Cipher, &[1e9], 2));
    for (at, sample) in one.series[0].samples.iter_mut().enumerate() {
        sample.cpu_ns = sample.cpu_ns.map(|ns| ns * (120 + 3 * at as u64) / 100);
    }
    let found = compare::of(&one, &other).remove(0);
    assert!(found.by_processor_time && found.ratio.interval.is_none(), "{found:?}");
}

#[test]
fn three_times_the_elapsed_time_is_found_with_three_sessions_a_side() {
    let found = |count| {
        percent_of_seeds(PAGES, |seed| {
            let side = |rate, side| sessions(count, Workload::Write, &[rate], 2 * seed + side);
            let found = compare::of(&side(0.33e9, 0), &side(1e9, 1)).remove(0);
            assert!(!found.by_processor_time && found.finding() != Finding::Faster);
            found.finding() == Finding::Slower
        })
    };
    let found = [1, 2, 3].map(found);
    assert!(found[..2] == [0.0, 0.0] && found[2] >= 75.0, "{found:?} %");
}

/// An interval excludes 1 exactly where the page calls the records different: one part of the page
/// never says what another part denies.
#[test]
fn intervals_and_findings_agree() {
    for seed in 0..20 {
        let rates: Vec<f64> = (0..20).map(|at| 1e9 + 1e7 * f64::from(at)).collect();
        let one = session(Workload::Cipher, &rates, 2 * seed);
        for found in compare::of(&one, &session(Workload::Cipher, &[1e9; 20], 2 * seed + 1)) {
            let (low, high) = found.ratio.bounds().unwrap();
            let within = low >= 0.9 && high <= 1.1;
            let excluded = !within && (high < 1.0 || low > 1.0);
            assert_eq!(excluded, claims(found.finding()), "{found:?}");
        }
    }
}

/// A session that was interrupted in its last round has a round of one file, which has no line.
#[test]
fn a_round_without_a_line_is_left_out() {
    let mut rounds = files(STANDARD)(0.9e9, 5);
    rounds[9].truncate(1);
    let (one, other) = (record(Workload::Hash, &[rounds]), files(STANDARD)(1e9, 6));
    let found = compare::of(&one, &record(Workload::Hash, &[other])).remove(0);
    assert!(found.ratio.interval.is_some());
    assert_near(found.ratio.value, 0.9, 0.02);
}

#[test]
fn a_later_session_follows_the_first() {
    let mut record = session(Workload::Cipher, &[1e9], 1);
    let mut later = session(Workload::Cipher, &[1e9, 2e9], 2);
    later.started_unix_s += 3600;
    record.add_session(later);
    let rounds: Vec<u32> = record.series[0].samples.iter().map(|sample| sample.round).collect();
    assert_eq!(rounds, (0..20).collect::<Vec<u32>>());
    assert_eq!((record.session_of(9), record.session_of(10)), (0, 1));
    assert_eq!((record.series.len(), record.sessions[0].first_round), (2, 10));
    assert!(record.series[0].samples[10].start_ns >= 3_600_000_000_000);
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
    pair::of(&pair_record(session, rounds)).unwrap().rows
}

fn pair_record(session: &[(Factors, Vec<(f64, f64)>)], rounds: usize) -> Record {
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
    Record { published: None, series, ..published::records().remove(0) }
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

/// Both sides wait for processors; one of them hashes a tenth slower.
#[test]
fn a_tenth_of_hashing_is_found_in_turn_under_load() {
    let page = PairPage { lengths: 3, depths: 0, rounds: 20 };
    let found = |ratio: f64| {
        let finding = |seed: u64| {
            let mut random = Random::new(seed);
            let session = page.session(1.0, seed);
            let mut record = pair_record(&session, page.rounds);
            let of_hashing = |series: &&mut Series| series.factors.stage == Some(Stage::ReadHash);
            for series in record.series.iter_mut().filter(of_hashing) {
                let rate = if series.factors.side == Some(Side::A) { ratio } else { 1.0 };
                for sample in &mut series.samples {
                    let noise = (0.02 * random.normal()).exp();
                    sample.cpu_ns = Some((sample.amount as f64 / rate * noise) as u64);
                    let waited = random.uniform(1.0, 4.0);
                    sample.elapsed_ns = (sample.elapsed_ns as f64 * waited) as u64;
                }
            }
            let rows = pair::of(&record).unwrap().rows;
            let others = rows.iter().filter(|row| row.stage != Stage::Hash);
            let wrong = others.filter(|row| claims(row.a_to_b.finding)).count();
            (rows.iter().find(|row| row.stage == Stage::Hash).unwrap().a_to_b.finding, wrong > 0)
        };
        let findings: Vec<(Finding, bool)> = (0..PAIR_PAGES).map(finding).collect();
        let of = |wanted| findings.iter().filter(|of| of.0 == wanted).count() as f64 / 4.0;
        let wrong = findings.iter().filter(|of| of.1).count() as f64 / 4.0;
        (of(Finding::Slower), of(Finding::Faster), wrong)
    };
    let (slower, equal) = (found(0.9), found(1.0));
    assert!(slower.0 >= 95.0 && slower.1 == 0.0, "{slower:?} %");
    assert!(equal.0 + equal.1 <= 2.5 && equal.2 <= 7.5, "{equal:?} %");
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

/// The rate of a series is the same in the comparison and in its own section.
#[test]
fn rates_are_those_of_the_sections() {
    let mut one = record(Workload::Write, &[files(STANDARD)(1e9, 3)]);
    one.series[0].factors.stage = Some(Stage::Write);
    let shown = steadfast_measure::figures::storage::of(&one, Workload::Write)[0].per_second();
    let found = compare::of(&one, &one).remove(0);
    assert_near(found.one_per_s, shown, 1e-6);
    assert_near(found.ratio.value, 1.0, 1e-12);
}
