//! Steps: found where they are, and not where there is only noise.

use steadfast_measure::random::Random;
use steadfast_measure::stats::{
    Cause, Change, Direction, Evidence, Point, cause, change_points, segments,
};

use crate::synthetic::{Files, assert_near, levels, percent_of_seeds};

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
