//! The fitted line: against a second program, on exact lines, and on hostile points.

use steadfast_measure::random::Random;
use steadfast_measure::stats::{Line, LineFit, Point, rate_overall, robust};

use crate::synthetic::{Files, assert_near};

/// Thirty files, bytes and nanoseconds: 1 GB/s and 1.5 ms with 3 % noise, three of them stalled.
pub(crate) fn points() -> Vec<Point> {
    const POINTS: [(u64, u64); 30] = [
        (520042415, 501753037),
        (530704004, 532534451),
        (70308313, 71726744),
        (14402375, 15757845),
        (2902833, 9386455),
        (28257688, 29406090),
        (33608537, 33977700),
        (2734359, 4065658),
        (2800935, 4330036),
        (1988649937, 1925006766),
        (181191295, 189219307),
        (10105565, 11857758),
        (40352704, 39417974),
        (1673356886, 1688586159),
        (986422159, 955803558),
        (681903796, 684081875),
        (30077656, 31619016),
        (60269703, 98927608),
        (214337445, 214331285),
        (3043954, 4509218),
        (92857790, 97120633),
        (13043219, 14036785),
        (870930531, 891962674),
        (3116544, 4466821),
        (218059290, 217387958),
        (815258813, 2468909309),
        (9615803, 11609569),
        (971347694, 989573389),
        (827211188, 891427119),
        (2272906, 3846266),
    ];
    POINTS.map(|(amount, elapsed_ns)| Point::of(amount, elapsed_ns)).to_vec()
}

#[track_caller]
fn assert_line(line: Line, time_s_per_unit: f64, latency_s: f64) {
    assert_near(line.time_s_per_unit, time_s_per_unit, 1e-9);
    assert_near(line.latency_s, latency_s, 1e-8);
}

fn fit(points: &[Point]) -> Option<LineFit> {
    LineFit::of_rounds(&[points.to_vec()])
}

#[test]
fn the_line_agrees_with_a_second_program() {
    let found = fit(&points()).unwrap();
    // Two hundred rounds of reweighting, written apart in Python with NumPy.
    assert_line(found.line, 9.988_345_792_974_86e-10, 0.001_469_122_212_678_239);
    assert_near(found.rate_overall_per_s, 862_506_737.959_521_9, 1e-13);
    assert!(!found.is_doubtful, "{found:?}");
}

#[test]
fn a_straight_line_is_found() {
    let exact = |amount: f64| Point { amount, time_s: 0.25 + amount / 64.0 };
    let points: Vec<Point> = [1.0, 2.0, 2.0, 8.0, 16.0, 100.0].map(exact).to_vec();
    let line = robust(&points).unwrap();
    assert_near(line.rate_per_s().unwrap(), 64.0, 1e-12);
    assert_near(line.latency_s, 0.25, 1e-9);
    assert_near(line.time_s(32.0), 0.75, 1e-9);
    let late = Point { amount: 64.0, time_s: 2.5 };
    assert_near(line.excess(late), 1.0, 1e-9);
}

#[test]
fn stalls_do_not_bend_the_line() {
    let mut points: Vec<Point> = Files::STEADY.rounds(10, 16, 1).concat();
    let before = fit(&points).unwrap();
    points.iter_mut().step_by(9).for_each(|point| point.time_s *= 5.0);
    let after = fit(&points).unwrap();
    let rate = |fit: &LineFit| fit.line.rate_per_s().unwrap();
    assert!((rate(&before) / rate(&after) - 1.0).abs() < 0.004);
    assert!(after.rate_overall_per_s < 0.8 * before.rate_overall_per_s);
}

#[test]
fn estimates_that_disagree_are_doubtful() {
    // Two rates, the fast one of small files only: no line is right.
    let mut points = Files::STEADY.rounds(4, 16, 2).concat();
    assert!(!fit(&points).unwrap().is_doubtful);
    for point in points.iter_mut().filter(|point| point.amount > 2e8) {
        point.time_s *= 3.0;
    }
    assert!(fit(&points).unwrap().is_doubtful);
    // Larger files took no longer: there is no rate, and that is doubtful as well.
    let flat: Vec<Point> =
        (1..9_u8).map(|amount| Point { amount: amount.into(), time_s: 1.0 }).collect();
    let flat = fit(&flat).unwrap();
    assert_eq!(flat.line.rate_per_s(), None);
    assert!(flat.is_doubtful);
}

#[test]
fn a_latency_below_nothing_is_doubtful() {
    let found = |latency_s: f64| {
        let point = |amount| Point { amount, time_s: latency_s + amount / 64.0 };
        fit(&[16.0, 20.0, 32.0, 64.0, 128.0].map(point)).unwrap()
    };
    assert!(!found(-0.02).is_doubtful);
    assert!(found(-0.1).is_doubtful);
    assert!(!found(0.1).is_doubtful);
}

#[test]
fn points_without_a_line_have_none() {
    let one = Point { amount: 5.0, time_s: 1.0 };
    let other = Point { amount: 6.0, ..one };
    let unsound = [
        Point { time_s: f64::NAN, ..other },
        Point { time_s: 0.0, ..other },
        Point { time_s: -1.0, ..other },
        Point { amount: -6.0, ..other },
        Point { amount: f64::INFINITY, ..other },
    ];
    assert_eq!((fit(&[]), fit(&[one]), fit(&[one, one, one])), (None, None, None));
    for point in unsound {
        assert_eq!(fit(&[one, other, point]), None, "{point:?}");
        assert_eq!(rate_overall(&[one, point]), None, "{point:?}");
        assert_eq!(robust(&[one, other, point]), None, "{point:?}");
    }
    assert!(fit(&[one, other]).is_some());
    assert_eq!(rate_overall(&[]), None);
}

#[test]
fn many_points_have_their_pairs_drawn() {
    let mut random = Random::new(3);
    let files = Files { stalled: 0.1, ..Files::STEADY };
    let points: Vec<Point> = (0..5000).map(|_| files.draw(&mut random)).collect();
    let line = robust(&points).unwrap();
    assert_near(line.rate_per_s().unwrap(), 1e9, 0.002);
    assert_eq!(robust(&points), Some(line), "the same pairs every time");
}
