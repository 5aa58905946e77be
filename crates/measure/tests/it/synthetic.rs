//! Series made up from known truths: files of a size, a rate, a latency, noise and stalls.

use steadfast_measure::random::Random;
use steadfast_measure::stats::{Figure, Point};

/// What made-up files are like.
#[derive(Clone, Copy)]
pub(crate) struct Files {
    /// Bytes per second of the medium.
    pub(crate) rate: f64,
    /// Standard deviation of the logarithm of the time.
    pub(crate) noise: f64,
    /// Share of the files that take 1.3 to 4 times as long.
    pub(crate) stalled: f64,
}

/// Seconds that opening a made-up file takes.
pub(crate) const LATENCY_S: f64 = 1.5e-3;

impl Files {
    pub(crate) const STEADY: Files = Files { rate: 1e9, noise: 0.03, stalled: 0.0 };

    /// Draws a file of 2 MB to 2 GB.
    pub(crate) fn draw(self, random: &mut Random) -> Point {
        let amount = random.log_uniform(2e6, 2e9).round();
        let noise = (self.noise * random.normal()).exp();
        let stall = if random.unit() < self.stalled { random.uniform(1.3, 4.0) } else { 1.0 };
        Point { amount, time_s: (LATENCY_S + amount / self.rate) * noise * stall }
    }

    pub(crate) fn rounds(self, rounds: usize, files: usize, seed: u64) -> Vec<Vec<Point>> {
        let mut random = Random::new(seed);
        (0..rounds).map(|_| (0..files).map(|_| self.draw(&mut random)).collect()).collect()
    }
}

/// Returns the share of seeds for which something holds, in percent.
pub(crate) fn percent_of_seeds(seeds: u64, holds: impl Fn(u64) -> bool) -> f64 {
    (0..seeds).filter(|&seed| holds(seed)).count() as f64 * 100.0 / seeds as f64
}

/// Asserts that a figure is what it should be, to so many parts of it.
#[track_caller]
pub(crate) fn assert_near(got: f64, wanted: f64, parts: f64) {
    assert!((got - wanted).abs() <= parts * wanted.abs(), "{got} is not {wanted}");
}

/// Returns half of an interval's width as a share of the figure.
pub(crate) fn half_width(figure: &Figure) -> f64 {
    let (low, high) = figure.interval.expect("there are enough rounds");
    (high - low) / 2.0 / figure.value.abs()
}
