//! Steps, slides and populations: found where they are, and not where there is only noise.

use steadfast_measure::random::Random;
use steadfast_measure::stats::{
    Cause, Change, Direction, Evidence, Point, cause, change_points, drift, drifts, populations,
    segments,
};

use crate::synthetic::{Files, LATENCY_S, assert_near, levels, percent_of_seeds};

/// Noise as media have it: how much each level resembles the one before, and stalls.
const NOISES: [(f64, f64); 4] = [(0.0, 0.0), (0.5, 0.0), (0.0, 0.05), (0.5, 0.05)];

/// A series of 160 levels that steps to a share of its rate at the 96th.
fn stepped(noise: (f64, f64), share: f64, seed: u64) -> Vec<f64> {
    let mut levels = levels(160, noise.0, noise.1, seed);
    levels[96..].iter_mut().for_each(|level| *level += share.ln());
    levels
}

#[test]
fn noise_has_no_steps() {
    for noise in NOISES {
        let alarms =
            percent_of_seeds(400, |seed| !change_points(&stepped(noise, 1.0, seed)).is_empty());
        assert!(alarms <= 2.5, "{noise:?}: {alarms} % false alarms");
    }
}

#[test]
fn steps_are_found_where_they_are() {
    let near = |noise, share, reach| {
        percent_of_seeds(400, |seed| {
            let found = change_points(&stepped(noise, share, seed));
            found.iter().any(|step| step.abs_diff(96) <= reach)
        })
    };
    let a_tenth = NOISES.map(|noise| (near(noise, 0.9, 4), near(noise, 0.9, 12)));
    let mean = a_tenth.iter().map(|(near, _)| near).sum::<f64>() / 4.0;
    assert!(mean >= 89.0, "a drop of 10 %, within four: {a_tenth:?}");
    // Where neighbours resemble each other, noise moves a small step by some points.
    assert!(a_tenth.iter().all(|&(near, about)| near >= 85.0 && about >= 95.0), "{a_tenth:?}");
    for noise in NOISES {
        assert!(near(noise, 0.8, 4) >= 98.0, "a drop of 20 %, {noise:?}");
        assert!(near(noise, 0.3, 4) >= 99.0, "a drop to 30 %, {noise:?}");
    }
}

#[test]
fn steps_agree_with_a_second_program() {
    // Two steps and a stall; the research program in Python finds 20 and 36.
    let levels = [
        -0.073, 0.097, 0.055, -0.053, 0.069, 0.002, -0.091, -0.921, -0.025, 0.08, -0.04, -0.013,
        -0.014, -0.019, -0.046, 0.011, 0.054, 0.031, -0.046, -0.057, -0.394, -0.435, -0.432,
        -0.484, -0.302, -0.354, -0.449, -0.355, -0.333, -0.519, -0.427, -0.419, -0.368, -0.406,
        -0.412, -0.403, -0.057, -0.042, -0.176, -0.196, -0.015, -0.199, -0.179, -0.148, -0.126,
        -0.099, -0.13, -0.194,
    ];
    assert_eq!(change_points(&levels), [20, 36]);
    assert_eq!(change_points(&levels[..15]), [0; 0]);
    assert_eq!(change_points(&[1.0; 100]), [0; 0]);
    let broken = levels.map(|level| if level == -0.921 { f64::NAN } else { level });
    assert_eq!(change_points(&broken), [0; 0]);
}

/// Ten sets of 16 files of 2 MB to 2 GB, whose medium slows to a share of its rate.
fn series(share: f64, seed: u64) -> Vec<Point> {
    let mut random = Random::new(seed);
    let fresh = Files { stalled: 0.02, ..Files::STEADY };
    let full = Files { rate: fresh.rate * share, ..fresh };
    let files = (0..160).map(|index| if index < 96 { fresh } else { full });
    files.map(|files| files.draw(&mut random)).collect()
}

#[test]
fn segments_are_by_bytes_and_have_their_own_lines() {
    let points = series(0.4, 11);
    let found = segments(&points).unwrap();
    let [change] = found.changes[..] else { panic!("{:?}", found.changes) };
    // A stalled file before the step may pass for one after it.
    let step = change.index;
    assert!(step.abs_diff(96) <= 2, "{change:?}");
    let before: f64 = points[..step].iter().map(|point| point.amount).sum();
    assert_eq!(change.at_amount, before);
    assert_near(change.ratio, 0.4, 0.05);
    let [first, second] = &found.segments[..] else { panic!("{:?}", found.segments) };
    assert_eq!((first.range.clone(), second.range.clone()), (0..step, step..160));
    assert_eq!((first.amount_before, first.amount, second.amount_before), (0.0, before, before));
    assert_near(first.line.unwrap().rate_per_s().unwrap(), 1e9, 0.02);
    assert_near(second.line.unwrap().rate_per_s().unwrap(), 0.4e9, 0.02);
    assert!(first.rate_overall_per_s > 2.0 * second.rate_overall_per_s);
}

#[test]
fn lengths_are_no_steps() {
    // Small files first: their rate is low because of their latency.
    let mut points = series(1.0, 12);
    points.sort_by(|a, b| a.amount.total_cmp(&b.amount));
    let rates = points.iter().map(|point| point.rate_per_s().ln());
    assert_ne!(change_points(&rates.collect::<Vec<f64>>()), [0; 0], "as the rates have it");
    assert_eq!(segments(&points).unwrap().changes, []);
    // Chunks of one length have no line, and steps all the same.
    let chunk = |index| Point { amount: 1e6, time_s: if index < 50 { 1e-3 } else { 2e-3 } };
    let found = segments(&(0..100).map(chunk).collect::<Vec<Point>>()).unwrap();
    let [change] = found.changes[..] else { panic!("{found:?}") };
    assert_eq!((change.index, change.at_amount, found.segments[0].line), (50, 50e6, None));
    assert_near(change.ratio, 0.5, 1e-9);
    assert_eq!(segments(&[]), None);
    assert_eq!(segments(&[Point { amount: 0.0, time_s: 1.0 }]), None);
}

#[test]
fn causes_are_named_with_evidence_only() {
    let fall = Change { index: 96, at_amount: 50e9, ratio: 0.4 };
    let nothing = Evidence::none(Direction::Write);
    assert_eq!(cause(&fall, &nothing), Cause::Unexplained);

    let recovered = Evidence { recovered_after_idle: Some(true), ..nothing };
    assert_eq!(cause(&fall, &recovered), Cause::Unexplained, "heat goes away as well");
    let full = Evidence { earlier_at_amount: Some(52e9), in_core_ratio: Some(1.0), ..recovered };
    assert_eq!(cause(&fall, &full), Cause::CacheExhausted);
    let elsewhere = Evidence { earlier_at_amount: Some(30e9), ..full };
    assert_eq!(cause(&fall, &elsewhere), Cause::Unexplained);
    assert_eq!(
        cause(&fall, &Evidence { recovered_after_idle: Some(false), ..full }),
        Cause::Unexplained
    );
    assert_eq!(cause(&fall, &Evidence { direction: Direction::Read, ..full }), Cause::Unexplained);

    let hot = Evidence { in_core_ratio: Some(0.7), temperature_rise_k: Some(20.0), ..nothing };
    assert_eq!(cause(&fall, &hot), Cause::Throttling);
    let slowed = Evidence { temperature_rise_k: None, frequency_ratio: Some(0.7), ..hot };
    assert_eq!(cause(&fall, &slowed), Cause::Throttling);
    let cool = Evidence { temperature_rise_k: Some(0.5), frequency_ratio: Some(1.0), ..hot };
    assert_eq!(cause(&fall, &cool), Cause::Unexplained);
    let warm = Evidence { in_core_ratio: Some(1.0), ..hot };
    assert_eq!(cause(&fall, &warm), Cause::Unexplained, "the processor kept its rate");

    assert_eq!(cause(&fall, &Evidence { load_rise: Some(1.0), ..full }), Cause::OtherWork);
    assert_eq!(cause(&fall, &Evidence { steal_rise: Some(0.2), ..hot }), Cause::OtherWork);
    assert_eq!(cause(&fall, &Evidence { steal_rise: Some(0.01), ..full }), Cause::CacheExhausted);

    let rise = Change { ratio: 2.5, ..fall };
    for evidence in [full, hot, Evidence { load_rise: Some(1.0), ..nothing }] {
        assert_eq!(cause(&rise, &evidence), Cause::Unexplained);
    }
}

/// Ninety-six files at two rates in turn, too often for steps.
fn two_rates(slow: f64, noise: f64, seed: u64) -> Vec<Point> {
    let mut random = Random::new(seed);
    let file = |index: usize| {
        let rate = if index % 5 < 2 { slow } else { 2e9 };
        Files { rate, noise, stalled: 0.0 }.draw(&mut random)
    };
    (0..96).map(file).collect()
}

#[test]
fn two_populations_are_told_apart() {
    // As was seen on a drive that throttled: 2 GB/s and less than 0.7.
    let points = two_rates(0.65e9, 0.05, 21);
    assert_eq!(segments(&points).unwrap().changes, []);
    let found = populations(&points).unwrap();
    assert_near(found.fast.rate_per_s().unwrap(), 2e9, 0.02);
    assert_near(found.slow.rate_per_s().unwrap(), 0.65e9, 0.03);
    assert_near(found.fast.latency_s, LATENCY_S, 0.05);
    let misplaced = (0..96)
        .filter(|&index| found.is_slow[index] != (index % 5 < 2) && points[index].amount > 5e6);
    assert_eq!(misplaced.count(), 0);
    assert!((found.slow_share() - 0.4).abs() < 0.05);
    let missed = percent_of_seeds(50, |seed| populations(&two_rates(0.65e9, 0.05, seed)).is_none());
    assert!(missed <= 2.0, "{missed} % missed");
}

#[test]
fn stalls_are_no_population() {
    for stalled in [0.0, 0.1, 0.25] {
        let files = Files { stalled, ..Files::STEADY };
        let alarms = percent_of_seeds(200, |seed| {
            populations(&files.rounds(6, 16, seed).concat()).is_some()
        });
        assert!(alarms <= 4.0, "{stalled} stalled: {alarms} % false alarms");
    }
    assert_eq!(populations(&[]), None);
    assert_eq!(populations(&[Point { amount: 1.0, time_s: 1.0 }; 20]), None);
}

#[test]
fn slides_are_told_from_noise() {
    let places: Vec<f64> = (0..160).map(f64::from).collect();
    let sliding = |noise: (f64, f64), slide: f64, seed| {
        let mut levels = levels(160, noise.0, noise.1, seed);
        levels.iter_mut().zip(&places).for_each(|(level, place)| *level -= slide * place / 159.0);
        drift(&places, &levels).unwrap().is_evident()
    };
    for noise in NOISES {
        let alarms = percent_of_seeds(300, |seed| sliding(noise, 0.0, seed));
        assert!(alarms <= 4.0, "{noise:?}: {alarms} % false alarms");
        let found = percent_of_seeds(300, |seed| sliding(noise, 0.1, seed));
        assert!(found >= 89.0, "{noise:?}: {found} % found");
    }
}

#[test]
fn slides_agree_with_a_second_program() {
    // `kendalltau` and `theilslopes` of SciPy, the rest written apart in Python.
    let levels = [
        -0.0364, 0.0037, -0.0172, -0.0438, -0.0468, -0.0205, -0.011, -0.0439, -0.0304, -0.0143,
        -0.0311, -0.0179, -0.0342, -0.0374, -0.0012, -0.0413, -0.0601, -0.0467, -0.0996, -0.0861,
        -0.0562, -0.0651, -0.0415, -0.0917,
    ];
    let places: Vec<f64> = (0..24).map(f64::from).collect();
    let found = drift(&places, &levels).unwrap();
    assert_near(found.ratio, 0.948_747_580_948_926_1, 1e-9);
    assert_near(found.chance, 0.007_718_905_067_704_638, 1e-6);
    assert_near(found.error, 0.370_175, 1e-9);
    assert!(found.is_evident());
    assert_eq!(drift(&places[..9], &levels[..9]), None);
    assert_eq!(drift(&places[..12], &levels), None);
}

#[test]
fn what_fills_up_follows_bytes_and_what_warms_follows_time() {
    // Written in three bursts with long pauses between, in which nothing cools and nothing drains.
    let start_s = |index: u32| f64::from(index) + f64::from(index / 40) * 300.0;
    let starts: Vec<f64> = (0..120).map(start_s).collect();
    let sliding = |along: &dyn Fn(usize) -> f64| -> Vec<Point> {
        let noise = levels(120, 0.0, 0.0, 31);
        let time_s = |index: usize| (0.3 * along(index) - 0.3 * noise[index]).exp();
        (0..120).map(|index| Point { amount: 1e9, time_s: time_s(index) }).collect()
    };
    let by_bytes = drifts(&starts, &sliding(&|index| index as f64 / 119.0)).unwrap();
    assert!(by_bytes.by_amount.is_evident());
    assert_near(by_bytes.by_amount.ratio, (-0.3_f64).exp(), 0.02);
    assert!(by_bytes.by_amount.error < 0.6 * by_bytes.by_time.error, "{by_bytes:?}");
    let by_time = drifts(&starts, &sliding(&|index| starts[index] / starts[119])).unwrap();
    assert!(by_time.by_time.is_evident());
    assert!(by_time.by_time.error < 0.6 * by_time.by_amount.error, "{by_time:?}");
    assert_eq!(drifts(&starts[1..], &sliding(&|_| 0.0)), None);
}
