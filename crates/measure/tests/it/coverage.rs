//! Simulations: how near estimates come to a known truth, and how often intervals hold it.

use steadfast_measure::random::Random;
use steadfast_measure::stats::{
    Bootstrap, Fits, fit, fit_rounds, median, ratio_apart, ratio_in_turn, trimmed_mean,
};

use crate::synthetic::{Files, LATENCY_S, percent_of_seeds};

/// Returns the root of the mean square of estimates' relative errors, in percent.
fn error_percent(fits: &[Fits], rate: impl Fn(&Fits) -> f64) -> f64 {
    let square = fits.iter().map(|fits| (rate(fits) / 1e9 - 1.0).powi(2)).sum::<f64>();
    100.0 * (square / fits.len() as f64).sqrt()
}

fn fits(stalled: f64) -> Vec<Fits> {
    let files = Files { stalled, ..Files::STEADY };
    (0..200).map(|seed| fit(&files.rounds(10, 16, seed).concat()).expect("many lengths")).collect()
}

#[test]
fn the_reported_line_errs_least_where_files_stall() {
    for (stalled, robust_max, least_squares_min) in [(0.1, 0.5, 8.0), (0.25, 0.6, 20.0)] {
        let fits = fits(stalled);
        let robust = error_percent(&fits, |fits| fits.robust.rate_per_s().unwrap());
        let theil_sen = error_percent(&fits, |fits| fits.theil_sen.rate_per_s().unwrap());
        let absolute = error_percent(&fits, |fits| fits.least_absolute.rate_per_s().unwrap());
        let squares = error_percent(&fits, |fits| fits.least_squares.rate_per_s().unwrap());
        let overall = error_percent(&fits, |fits| fits.rate_overall_per_s);
        let errors = (stalled, robust, theil_sen, absolute, squares, overall);
        assert!(robust <= robust_max && robust < theil_sen, "{errors:?}");
        assert!(theil_sen < absolute && absolute < squares, "{errors:?}");
        assert!(squares > least_squares_min && overall > least_squares_min, "{errors:?}");
        let latency = fits.iter().map(|fits| (fits.robust.latency_s / LATENCY_S - 1.0).powi(2));
        let latency = 100.0 * (latency.sum::<f64>() / fits.len() as f64).sqrt();
        assert!(latency < 10.0, "latency {latency} %");
    }
    let calm = fits(0.0);
    let robust = error_percent(&calm, |fits| fits.robust.rate_per_s().unwrap());
    assert!(robust < error_percent(&calm, |fits| fits.least_squares.rate_per_s().unwrap()));
}

#[test]
fn means_of_rates_are_biased_by_small_files() {
    let points = Files::STEADY.rounds(20, 100, 1).concat();
    let rates: Vec<f64> = points.iter().map(|point| point.rate_per_s()).collect();
    assert!(trimmed_mean(&rates, 0.2).unwrap() < 0.98e9);
    assert!(median(&rates).unwrap() < 0.99e9);
    assert!((fit(&points).unwrap().robust.rate_per_s().unwrap() / 1e9 - 1.0).abs() < 0.004);
}

#[test]
fn intervals_hold_the_truth() {
    let files = Files { stalled: 0.1, ..Files::STEADY };
    let found: Vec<_> = (0..500)
        .map(|seed| {
            let bootstrap = Bootstrap { resamples: 200, ..Bootstrap::new(seed) };
            fit_rounds(&files.rounds(10, 16, seed), &bootstrap).unwrap()
        })
        .collect();
    let holding = |low_and_high: &dyn Fn(usize) -> (f64, f64), truth: f64| {
        percent_of_seeds(500, |seed| {
            let (low, high) = low_and_high(seed as usize);
            low <= truth && truth <= high
        })
    };
    let rate = |index: usize| found[index].rate_per_s.map(|rate| (rate.low, rate.high)).unwrap();
    let latency = |index: usize| found[index].latency_s.map(|one| (one.low, one.high)).unwrap();
    let squares = |index: usize| {
        found[index].least_squares_rate_per_s.map(|rate| (rate.low, rate.high)).unwrap()
    };
    let rate = holding(&rate, 1e9);
    assert!((93.0..=99.0).contains(&rate), "rate: {rate} %");
    let latency = holding(&latency, LATENCY_S);
    assert!((92.0..=99.0).contains(&latency), "latency: {latency} %");
    let squares = holding(&squares, 1e9);
    assert!(squares < 65.0, "least squares promise too much: {squares} %");
}

#[test]
fn ratios_hold_the_truth_from_few_rounds() {
    let truth_held = |rounds: u64| {
        percent_of_seeds(500, |seed| {
            let mut random = Random::new(seed);
            let mut noisy = |rate: f64, spread: f64| rate * (spread * random.normal()).exp();
            // A mood that both share is six times as strong as what each has of its own.
            let sides = (0..rounds).map(|_| {
                let mood = noisy(1e9, 0.3);
                noisy(0.5 * mood, 0.05) / noisy(mood, 0.05)
            });
            let found = ratio_in_turn(&sides.collect::<Vec<f64>>()).unwrap();
            found.low <= 0.5 && 0.5 <= found.high
        })
    };
    for rounds in [6, 7, 10, 30] {
        let held = truth_held(rounds);
        assert!(held >= 93.0, "{rounds} rounds: {held} %");
    }
}

#[test]
fn ratios_of_sides_apart_hold_the_truth() {
    let held = percent_of_seeds(500, |seed| {
        let mut random = Random::new(seed);
        let mut side = |rate: f64| -> Vec<f64> {
            (0..10).map(|_| rate * (0.05 * random.normal()).exp()).collect()
        };
        let (ours, reference) = (side(1.87e9), side(1e9));
        let found = ratio_apart(&ours, &reference).unwrap();
        found.low <= 1.87 && 1.87 <= found.high
    });
    assert!((93.0..=99.9).contains(&held), "{held} %");
}
