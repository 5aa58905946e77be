//! Simulations: how near estimates come to a known truth, and how often intervals hold it.

use steadfast_measure::random::Random;
use steadfast_measure::stats::{Figure, LineFit, median};

use crate::synthetic::{Files, LATENCY_S, percent_of_seeds};

/// Returns the root of the mean square of relative errors, in percent.
fn error_percent(found: impl Iterator<Item = f64>, truth: f64) -> f64 {
    let squares: Vec<f64> = found.map(|found| (found / truth - 1.0).powi(2)).collect();
    100.0 * (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

fn fits(stalled: f64, rounds: usize, seeds: u64) -> Vec<LineFit> {
    let files = Files { stalled, ..Files::STEADY };
    let fit = |seed| LineFit::of_rounds(&files.rounds(rounds, 16, seed)).expect("many lengths");
    (0..seeds).map(fit).collect()
}

#[test]
fn the_line_errs_little_where_files_stall() {
    for (stalled, error_max, overall_min) in [(0.0, 0.4, 0.0), (0.1, 0.5, 8.0), (0.25, 0.6, 20.0)] {
        let fits = fits(stalled, 10, 200);
        let rate = error_percent(fits.iter().map(|fit| fit.line.rate_per_s().unwrap()), 1e9);
        let overall = error_percent(fits.iter().map(|fit| fit.rate_overall_per_s), 1e9);
        let latency = error_percent(fits.iter().map(|fit| fit.line.latency_s), LATENCY_S);
        let errors = (stalled, rate, overall, latency);
        assert!(rate <= error_max && overall > overall_min && latency < 10.0, "{errors:?}");
    }
}

#[test]
fn medians_of_rates_are_biased_by_small_files() {
    let rounds = Files::STEADY.rounds(20, 100, 1);
    let rates: Vec<f64> = rounds.concat().iter().map(|point| point.rate_per_s()).collect();
    assert!(median(&rates).unwrap() < 0.99e9);
    let fit = LineFit::of_rounds(&rounds).unwrap();
    assert!((fit.line.rate_per_s().unwrap() / 1e9 - 1.0).abs() < 0.004);
}

/// How often intervals contain the truth, in percent. `crates/measure/METHOD.md` has these
/// figures.
#[test]
fn intervals_hold_the_truth() {
    let holds = |figure: Figure, truth: f64| {
        figure.interval.is_some_and(|(low, high)| low <= truth && truth <= high)
    };
    for rounds in [5, 10, 20] {
        let fits = fits(0.1, rounds, 1000);
        let percent = |held: usize| held as f64 / 10.0;
        let rate = fits.iter().filter(|fit| holds(fit.rate_per_s.unwrap(), 1e9)).count();
        let latency = fits.iter().filter(|fit| holds(fit.latency_s, LATENCY_S)).count();
        let held = [percent(rate), percent(latency)];
        eprintln!("{rounds} rounds: {held:?}");
        assert!(held.iter().all(|held| (90.0..=99.0).contains(held)), "{rounds}: {held:?} %");
    }
}

/// The same of medians of samples, a tenth of which stalls; and under load, where each waits for a
/// processor for up to three times its own time.
#[test]
fn intervals_of_medians_hold_the_truth() {
    let held = |rounds: usize, loaded: bool| {
        percent_of_seeds(1000, |seed| {
            let mut random = Random::new(seed);
            let mut sample = || {
                let stall = match loaded {
                    true => random.uniform(1.0, 4.0),
                    false if random.unit() < 0.1 => random.uniform(1.3, 4.0),
                    false => 1.0,
                };
                1e9 * (0.02 * random.normal()).exp() / stall
            };
            let rates: Vec<f64> = (0..rounds).map(|_| sample()).collect();
            let (low, high) = Figure::of_rounds(&rates).unwrap().interval.unwrap();
            // The median of all is below that of the nine tenths that do not stall: 4/9 of those
            // are below it.
            let truth = if loaded { 0.4e9 } else { 1e9 * (-0.1397 * 0.02_f64).exp() };
            low <= truth && truth <= high
        })
    };
    for rounds in [5, 10, 20] {
        let held = [false, true].map(|loaded| held(rounds, loaded));
        eprintln!("{rounds} rounds: {held:?}");
        assert!(held.iter().all(|held| (90.0..=99.0).contains(held)), "{rounds}: {held:?} %");
    }
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
            let sides: Vec<f64> = sides.collect();
            let ratio = Figure::at_level(median(&sides).unwrap(), &sides, 0.95);
            let (low, high) = ratio.interval.unwrap();
            low <= 0.5 && 0.5 <= high
        })
    };
    for rounds in [6, 7, 10, 30] {
        let held = truth_held(rounds);
        assert!(held >= 93.0, "{rounds} rounds: {held} %");
    }
}
