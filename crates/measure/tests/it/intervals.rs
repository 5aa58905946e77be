//! Intervals, ratios and findings: against tables, and what is refused.

use steadfast_measure::stats::{
    Amdahl, Figure, Finding, LineFit, Point, ROUNDS_MIN, fastest, level_of_each, median,
};

use crate::synthetic::{Files, assert_near, half_width};

const FEW: [f64; 12] = [
    232.796, 231.795, 54.52, 93.237, 385.893, 67.264, 120.78, 97.9, 183.899, 69.426, 85.868,
    127.428,
];

fn of_median(rounds: &[f64]) -> Option<(f64, f64)> {
    Figure::of_rounds(rounds)?.interval
}

/// Wanted: the numbers that the tables of the sign test leave, at 5 %.
#[test]
fn intervals_lie_between_rounds() {
    let found = Figure::of_rounds(&FEW).unwrap();
    assert_near(found.value, 109.34, 1e-12);
    // Two of twelve are left out at each end.
    assert_eq!(found.interval, Some((69.426, 231.795)));
}

#[test]
fn five_rounds_hold_no_more_than_15_of_16_cases() {
    assert_eq!(of_median(&FEW[..5]), Some((54.52, 385.893)));
    let five = |level| Figure::at_level(97.9, &FEW[..5], level).interval;
    assert!(five(0.9375).is_some() && five(0.94).is_none());
    assert_eq!(of_median(&FEW[..6]), Figure::at_level(97.9, &FEW[..6], 0.95).interval);
}

#[test]
fn too_little_has_no_interval() {
    assert_eq!(of_median(&FEW[..ROUNDS_MIN - 1]), None);
    assert!(of_median(&FEW[..ROUNDS_MIN]).is_some());
    assert_eq!(Figure::from_rounds(1.0, &[]).interval, None);
    assert_eq!(Figure::from_rounds(1.0, &[1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0]).interval, None);
}

#[test]
fn medians_of_few() {
    assert_eq!(median(&[3.0]), Some(3.0));
    assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    assert_eq!(median(&[9.0, 1.0, 4.0]), Some(4.0));
    for values in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY, 1.0]] {
        assert_eq!(median(values), None);
    }
}

#[test]
fn what_never_varies_has_an_interval_of_one_point() {
    assert_eq!(of_median(&[2.5; 7]), Some((2.5, 2.5)));
}

#[test]
fn lines_have_intervals() {
    let rounds = Files { stalled: 0.1, ..Files::STEADY }.rounds(10, 16, 5);
    let found = LineFit::of_rounds(&rounds).unwrap();
    let (rate, latency) = (found.rate_per_s.unwrap(), found.latency_s);
    assert_near(rate.value, found.line.rate_per_s().unwrap(), 1e-9);
    assert_near(latency.value, found.line.latency_s, 1e-9);
    let is_inside = |of: &Figure| of.interval.is_some_and(|at| at.0 < of.value && of.value < at.1);
    assert!(is_inside(&rate) && half_width(&rate) < 0.02 && is_inside(&latency));
    assert!(found.band.len() > 5 && found.band.iter().all(|(_, time_s)| is_inside(time_s)));
    // Four rounds: a line, and no intervals.
    let few = LineFit::of_rounds(&rounds[..4]).unwrap();
    assert_eq!((few.rate_per_s.unwrap().interval, few.latency_s.interval), (None, None));
    assert!(few.band.is_empty());
    assert_eq!(LineFit::of_rounds(&[vec![Point { amount: 1.0, time_s: 1.0 }; 3]]), None);
}

#[test]
fn ratios_outlive_what_both_sides_share() {
    // The machine's mood halves and doubles from round to round; the ratio stays.
    let moods = [1.0, 2.0, 0.5, 1.7, 0.9, 1.2, 0.6];
    let small = [0.51, 0.5, 0.49, 0.505, 0.495, 0.5, 0.502];
    let rounds: Vec<f64> =
        moods.iter().zip(small).map(|(mood, small)| mood * small / mood).collect();
    let in_turn = |rounds: &[f64]| {
        let ratio = Figure::at_level(median(rounds)?, rounds, level_of_each(1));
        ratio.interval.is_some().then_some(ratio)
    };
    let found = in_turn(&rounds).unwrap();
    assert_near(found.value, 0.5, 1e-12);
    assert!(half_width(&found) < 0.03, "{found:?}");
    assert_eq!(found.finding(0.02), Finding::Slower);
    assert_eq!(in_turn(&rounds[..5]), None);
    for ratio in [f64::NAN, f64::INFINITY] {
        let mut broken = rounds.clone();
        broken[2] = ratio;
        assert_eq!(in_turn(&broken), None, "{ratio}");
    }
}

#[test]
fn the_fastest_count_if_five_agree() {
    let rates = [0.7, 1.0, 0.98, 0.99, 0.5, 0.96, 0.97];
    assert_eq!(fastest(&rates, 0.05), Some((0.96, 1.0)));
    assert_eq!(fastest(&rates, 0.03), None);
    assert_eq!((fastest(&rates[..4], 0.9), fastest(&[], 0.9)), (None, None));
}

#[test]
fn findings_follow_the_interval() {
    let between = |low: f64, high: f64| {
        Figure { value: (low + high) / 2.0, interval: Some((low, high)) }.finding(0.02)
    };
    assert_eq!(between(0.7, 0.9), Finding::Slower);
    assert_eq!(between(0.95, 0.999), Finding::Slower);
    assert_eq!(between(1.001, 1.3), Finding::Faster);
    assert_eq!(between(0.98, 1.02), Finding::NoDifference);
    assert_eq!(between(0.985, 0.995), Finding::NoDifference);
    assert_eq!(between(0.97, 1.01), Finding::NotEnoughData);
    assert_eq!(between(1.0, 1.3), Finding::NotEnoughData);
    let alone = Figure { value: 0.5, interval: None };
    assert_eq!(alone.finding(0.02), Finding::NotEnoughData);
}

#[test]
fn gains_are_accounted_for() {
    // A kernel 20 times as fast, a task 2.1 times: the kernel had 55 % of the task.
    let found = Amdahl::of(20.0, 2.1).unwrap();
    assert_near(found.share, 0.551_378_446_115_288_2, 1e-12);
    assert_near(found.limit(), 2.229_050_279_329_609, 1e-12);
    assert_eq!(Amdahl::of(20.0, 1.0).unwrap().share, 0.0);
    assert_eq!(Amdahl::of(4.0, 4.0).unwrap().limit(), f64::INFINITY);
    // More than the kernel gives, less than nothing, or a kernel that did not gain.
    let unexplained =
        [(14.0, 14.1), (20.0, 0.9), (1.0, 1.0), (0.5, 0.4), (f64::NAN, 2.0), (2.0, f64::NAN)];
    for (kernel_gain, task_gain) in unexplained {
        assert_eq!(Amdahl::of(kernel_gain, task_gain), None, "{kernel_gain} {task_gain}");
    }
}
