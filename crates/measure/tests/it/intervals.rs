//! Intervals, ratios and findings: against a second program, and what is refused.

use steadfast_measure::stats::{
    Amdahl, Bootstrap, Estimate, Finding, Method, Point, ROUNDS_MIN, enough, finding, fit_rounds,
    gain_of_task, mean, median, ratio_apart, ratio_in_turn, rounds_needed, theil_sen_rate,
};

use crate::synthetic::{Files, assert_near};

const FEW: [f64; 12] = [
    232.796, 231.795, 54.52, 93.237, 385.893, 67.264, 120.78, 97.9, 183.899, 69.426, 85.868,
    127.428,
];
const OTHERS: [f64; 9] = [50.515, 45.675, 54.479, 43.508, 43.994, 43.588, 54.835, 48.197, 45.145];
const MANY: [f64; 40] = [
    8.864, 10.421, 8.945, 8.728, 10.614, 8.803, 9.678, 9.993, 9.555, 9.946, 11.339, 9.483, 8.741,
    8.163, 9.795, 9.648, 10.265, 9.536, 9.521, 9.279, 9.48, 10.16, 9.62, 10.1, 11.901, 10.479,
    8.424, 11.734, 10.348, 9.059, 10.907, 10.018, 9.385, 9.366, 9.007, 10.048, 11.069, 9.675,
    10.421, 11.876,
];

fn drawing(seed: u64) -> Bootstrap {
    Bootstrap { resamples: 500, ..Bootstrap::new(seed) }
}

fn singly(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|&value| vec![value]).collect()
}

#[track_caller]
fn assert_estimate(found: Estimate, point: f64, low: f64, high: f64) {
    assert_near(found.point, point, 1e-12);
    assert_near(found.low, low, 1e-9);
    assert_near(found.high, high, 1e-9);
}

// Wanted intervals: the same drawing, written apart in Python with NumPy and SciPy.

#[test]
fn intervals_agree_with_a_second_program() {
    let found = drawing(42).of_rounds(&singly(&FEW), mean).unwrap();
    assert_estimate(found, 145.900_5, 102.438_890_243_200_7, 239.326_523_818_585_63);
    assert_eq!((found.method, found.rounds, found.resamples), (Method::Bca, 12, 500));
    assert_eq!((found.level, found.seed), (0.95, 42));
    let found = drawing(42).of_rounds(&singly(&FEW), median).unwrap();
    assert_estimate(found, 109.34, 72.332_645_030_150_6, 231.795);
    let many = Bootstrap { level: 0.9, ..drawing(43) };
    let found = many.of_rounds(&singly(&MANY), mean).unwrap();
    assert_estimate(found, 9.859_85, 9.618_312_835_300_28, 10.105_260_321_732_25);
    assert_eq!((found.method, found.rounds), (Method::Percentile, 40));
    let percent = |ours: &[f64], theirs: &[f64]| Some(100.0 * median(ours)? / median(theirs)?);
    let found = drawing(44).of_sides([&singly(&FEW), &singly(&OTHERS)], percent).unwrap();
    assert_estimate(found, 239.386_973_180_076_64, 149.690_527_473_589_84, 499.066_887_805_146_5);
    assert_eq!((found.method, found.rounds), (Method::Bca, 9));
}

#[test]
fn a_seed_gives_the_same_interval() {
    let of = |seed| drawing(seed).of_rounds(&singly(&FEW), mean);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1).map(|found| found.low), of(2).map(|found| found.low));
    assert_eq!(Bootstrap::new(9), Bootstrap { resamples: 2000, level: 0.95, seed: 9 });
}

#[test]
fn five_rounds_hold_no_more_than_15_of_16_cases() {
    let of = |rounds: usize| Bootstrap::new(1).of_rounds(&singly(&FEW[..rounds]), median).unwrap();
    let five = of(5);
    assert_eq!(five.level, 0.9375);
    let least = FEW[..5].iter().copied().fold(f64::INFINITY, f64::min);
    assert!(five.low >= least, "no resample goes below the least: {five:?}");
    assert_eq!(of(6).level, 0.95);
}

#[test]
fn rounds_are_drawn_whole() {
    // Files of a round are alike: drawn by files, the interval would be a fourth as wide.
    let rounds: Vec<Vec<f64>> = FEW.iter().map(|&value| vec![value; 16]).collect();
    let whole = drawing(42).of_rounds(&rounds, mean).unwrap();
    let single = drawing(42).of_rounds(&singly(&FEW), mean).unwrap();
    assert_near(whole.low, single.low, 1e-12);
    assert_near(whole.high, single.high, 1e-12);
}

#[test]
fn too_little_has_no_interval() {
    let of = |values: &[f64]| drawing(1).of_rounds(&singly(values), median);
    assert_eq!(of(&FEW[..ROUNDS_MIN - 1]), None);
    assert!(of(&FEW[..ROUNDS_MIN]).is_some());
    assert_eq!(of(&[]), None);
    assert_eq!(drawing(1).of_rounds(&singly(&FEW), |_| None), None);
    assert_eq!(drawing(1).of_rounds(&singly(&FEW), |_| Some(f64::NAN)), None);
    // The figure has a value for all rounds, and for hardly any resample.
    let fussy = |values: &[f64]| (values[..3] == FEW[..3]).then_some(1.0);
    assert_eq!(drawing(1).of_rounds(&singly(&FEW), fussy), None);
    assert_eq!(Bootstrap { resamples: 0, ..drawing(1) }.of_rounds(&singly(&FEW), mean), None);
    assert_eq!(ratio_apart(&FEW, &OTHERS[..4]), None);
    assert_eq!(ratio_apart(&FEW, &[0.0; 9]), None);
}

#[test]
fn what_never_varies_has_an_interval_of_one_point() {
    let found = drawing(1).of_rounds(&singly(&[2.5; 7]), median).unwrap();
    assert_eq!((found.point, found.low, found.high, found.half_width()), (2.5, 2.5, 2.5, 0.0));
}

#[test]
fn lines_have_intervals() {
    let rounds = Files { stalled: 0.1, ..Files::STEADY }.rounds(10, 16, 5);
    let found = fit_rounds(&rounds, &drawing(5)).unwrap();
    let (rate, latency) = (found.rate_per_s.unwrap(), found.latency_s.unwrap());
    assert_near(rate.point, found.fits.robust.rate_per_s().unwrap(), 1e-9);
    assert_near(latency.point, found.fits.robust.latency_s, 1e-9);
    assert!(rate.low < rate.point && rate.point < rate.high && rate.half_width() < 0.02);
    assert!(latency.low < latency.point && latency.point < latency.high);
    let check = theil_sen_rate(&rounds, &drawing(5)).unwrap();
    assert_eq!(Some(check.point), found.fits.theil_sen.rate_per_s());
    let squares = found.least_squares_rate_per_s.unwrap();
    assert!(squares.half_width() > 5.0 * rate.half_width(), "{squares:?} {rate:?}");
    // Four rounds: lines, and no intervals.
    let few = fit_rounds(&rounds[..4], &drawing(5)).unwrap();
    assert_eq!((few.rate_per_s, few.latency_s, few.least_squares_rate_per_s), (None, None, None));
    assert_eq!(fit_rounds(&[vec![Point { amount: 1.0, time_s: 1.0 }; 3]], &drawing(5)), None);
}

#[test]
fn ratios_outlive_what_both_sides_share() {
    // The machine's mood halves and doubles from round to round; the ratio stays.
    let moods = [1.0, 2.0, 0.5, 1.7, 0.9, 1.2, 0.6];
    let small = [0.51, 0.5, 0.49, 0.505, 0.495, 0.5, 0.502];
    let rounds: Vec<f64> =
        moods.iter().zip(small).map(|(mood, small)| mood * small / mood).collect();
    let found = ratio_in_turn(&rounds).unwrap();
    assert_eq!((found.method, found.rounds), (Method::Signs, 7));
    assert_near(found.point, 0.5, 1e-12);
    assert!(found.half_width() < 0.03, "{found:?}");
    assert_eq!(finding(Some(&found), 0.02), Finding::Slower);
    assert_eq!(ratio_in_turn(&rounds[..5]), None);
    for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut broken = rounds.clone();
        broken[2] = ratio;
        assert_eq!(ratio_in_turn(&broken), None, "{ratio}");
    }
}

#[test]
fn findings_follow_the_interval() {
    let between = |low: f64, high: f64| {
        let known = drawing(1).of_rounds(&singly(&FEW), mean).unwrap();
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
fn measuring_goes_on_until_enough_is_known() {
    let known = drawing(1).of_rounds(&singly(&FEW), mean).unwrap();
    let estimate = Estimate { point: 100.0, low: 97.0, high: 103.0, rounds: 10, ..known };
    assert_near(estimate.half_width(), 0.03, 1e-12);
    assert!(enough(&estimate, 0.031) && !enough(&estimate, 0.03));
    assert_eq!(rounds_needed(&estimate, 0.01), Some(90));
    assert_eq!(rounds_needed(&estimate, 0.05), Some(10));
    let nothing = Estimate { point: 0.0, ..estimate };
    assert!(!enough(&nothing, 0.5));
    assert_eq!(rounds_needed(&nothing, 0.5), None);
    let turned = estimate.scaled(-2.0);
    assert_eq!((turned.point, turned.low, turned.high), (-200.0, -206.0, -194.0));
}

#[test]
fn gains_are_accounted_for() {
    // A kernel 20 times as fast, a task 2.1 times: the kernel had 55 % of the task.
    let found = Amdahl::of(20.0, 2.1).unwrap();
    assert_near(found.share, 0.551_378_446_115_288_2, 1e-12);
    assert_near(found.limit(), 2.229_050_279_329_609, 1e-12);
    assert_near(gain_of_task(found.share, 20.0), 2.1, 1e-12);
    assert_eq!(Amdahl::of(20.0, 1.0).unwrap().share, 0.0);
    assert_eq!(Amdahl::of(4.0, 4.0).unwrap().limit(), f64::INFINITY);
    assert_eq!(gain_of_task(1.0, 4.0), 4.0);
    // More than the kernel gives, less than nothing, or a kernel that did not gain.
    let unexplained =
        [(14.0, 14.1), (20.0, 0.9), (1.0, 1.0), (0.5, 0.4), (f64::NAN, 2.0), (2.0, f64::NAN)];
    for (kernel_gain, task_gain) in unexplained {
        assert_eq!(Amdahl::of(kernel_gain, task_gain), None, "{kernel_gain} {task_gain}");
    }
}
