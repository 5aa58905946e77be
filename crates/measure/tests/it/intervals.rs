//! Intervals, ratios and findings: against tables, and what is refused.

use steadfast_measure::stats::{
    Amdahl, Estimate, Finding, LineFit, Point, ROUNDS_MIN, Ratios, finding, median,
};

use crate::synthetic::{Files, assert_near, half_width};

const FEW: [f64; 12] = [
    232.796, 231.795, 54.52, 93.237, 385.893, 67.264, 120.78, 97.9, 183.899, 69.426, 85.868,
    127.428,
];

fn of_median(rounds: &[f64]) -> Option<Estimate> {
    Estimate::of_rounds(median(rounds)?, rounds)
}

/// Wanted: the numbers that the tables of the sign test leave, at 5 %.
#[test]
fn intervals_lie_between_rounds() {
    let found = of_median(&FEW).unwrap();
    assert_eq!((found.level, found.rounds), (0.95, 12));
    assert_near(found.point, 109.34, 1e-12);
    // Two of twelve are left out at each end.
    assert_eq!((found.low, found.high), (69.426, 231.795));
}

#[test]
fn five_rounds_hold_no_more_than_15_of_16_cases() {
    let five = of_median(&FEW[..5]).unwrap();
    assert_near(five.level, 0.9375, 1e-12);
    assert_eq!((five.low, five.high), (54.52, 385.893));
    assert_eq!(of_median(&FEW[..6]).unwrap().level, 0.95);
}

#[test]
fn too_little_has_no_interval() {
    assert_eq!(of_median(&FEW[..ROUNDS_MIN - 1]), None);
    assert!(of_median(&FEW[..ROUNDS_MIN]).is_some());
    assert_eq!(Estimate::of_rounds(1.0, &[]), None);
    assert_eq!(Estimate::of_rounds(1.0, &[1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0]), None);
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
    let found = of_median(&[2.5; 7]).unwrap();
    assert_eq!((found.point, found.low, found.high), (2.5, 2.5, 2.5));
}

#[test]
fn lines_have_intervals() {
    let rounds = Files { stalled: 0.1, ..Files::STEADY }.rounds(10, 16, 5);
    let found = LineFit::of_rounds(&rounds).unwrap();
    let (rate, latency) = (found.rate_per_s.unwrap(), found.latency_s.unwrap());
    assert_near(rate.point, found.line.rate_per_s().unwrap(), 1e-9);
    assert_near(latency.point, found.line.latency_s, 1e-9);
    assert!(rate.low < rate.point && rate.point < rate.high && half_width(&rate) < 0.02);
    assert!(latency.low < latency.point && latency.point < latency.high);
    let band = found.band.unwrap();
    assert!(band.iter().all(|at| at.time_s.low < at.time_s.high));
    // Four rounds: a line, and no intervals.
    let few = LineFit::of_rounds(&rounds[..4]).unwrap();
    assert_eq!((few.rate_per_s, few.latency_s, few.band), (None, None, None));
    assert_eq!(LineFit::of_rounds(&[vec![Point { amount: 1.0, time_s: 1.0 }; 3]]), None);
}

#[test]
fn ratios_outlive_what_both_sides_share() {
    // The machine's mood halves and doubles from round to round; the ratio stays.
    let moods = [1.0, 2.0, 0.5, 1.7, 0.9, 1.2, 0.6];
    let small = [0.51, 0.5, 0.49, 0.505, 0.495, 0.5, 0.502];
    let rounds: Vec<f64> =
        moods.iter().zip(small).map(|(mood, small)| mood * small / mood).collect();
    let in_turn = |rounds: &[f64]| Ratios::in_turn(rounds)?.interval(0.95);
    let found = in_turn(&rounds).unwrap();
    assert_eq!(found.rounds, 7);
    assert_near(found.point, 0.5, 1e-12);
    assert!(half_width(&found) < 0.03, "{found:?}");
    assert_eq!(finding(Some(&found), 0.02), Finding::Slower);
    assert_eq!(in_turn(&rounds[..5]), None);
    for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut broken = rounds.clone();
        broken[2] = ratio;
        assert_eq!(in_turn(&broken), None, "{ratio}");
    }
}

#[test]
fn findings_follow_the_interval() {
    let between = |low: f64, high: f64| {
        let known = of_median(&FEW).unwrap();
        let ratio = Estimate { point: (low + high) / 2.0, low, high, ..known };
        finding(Some(&ratio), 0.02)
    };
    assert_eq!(between(0.7, 0.9), Finding::Slower);
    assert_eq!(between(0.95, 0.999), Finding::Slower);
    assert_eq!(between(1.001, 1.3), Finding::Faster);
    assert_eq!(between(0.98, 1.02), Finding::NoDifference);
    assert_eq!(between(0.985, 0.995), Finding::NoDifference);
    assert_eq!(between(0.97, 1.01), Finding::NotEnoughData);
    assert_eq!(between(1.0, 1.3), Finding::NotEnoughData);
    assert_eq!(finding(None, 0.02), Finding::NotEnoughData);
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
