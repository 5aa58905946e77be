//! Bootstrap intervals of figures, over whole rounds.
//!
//! Files of one round share the state of the machine. Resampling files instead of rounds would give
//! intervals that are too narrow.

use super::describe::{at_place, sorted};
use super::normal::{distance_of, distance_of_student, share_below};
use crate::random::Random;

/// The least number of rounds for an interval: the median of all rounds is between the least and
/// the greatest of five in 15 of 16 cases, of four in 7 of 8.
pub const ROUNDS_MIN: usize = 5;

/// With fewer rounds, an interval is corrected for bias and skew.
const ROUNDS_CORRECTED: usize = 30;

/// The least share of the resamples that must give a figure.
const RESAMPLES_USABLE_MIN: f64 = 0.9;

/// How rounds are resampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How often all rounds are drawn.
    pub resamples: usize,
    /// Share of the cases in which the interval should contain the true value.
    pub level: f64,
    /// Seed of the resampling, kept with the figure.
    pub seed: u64,
}

impl Bootstrap {
    /// Returns the standard resampling: 2,000 resamples, a level of 95 %; for five rounds it is 94
    /// %.
    pub const fn new(seed: u64) -> Bootstrap {
        Bootstrap { resamples: 2000, level: 0.95, seed }
    }
}

/// How an interval is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Percentiles of the resamples.
    Percentile,
    /// Their percentiles, corrected for bias and skew: for fewer than 30 rounds.
    Bca,
    /// Ranks instead of resamples.
    Ranks,
    /// Signs instead of resamples.
    Signs,
}

impl Method {
    /// Returns the name as documents show it.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Percentile => "percentile bootstrap over rounds",
            Method::Bca => "BCa bootstrap over rounds",
            Method::Ranks => "ranks of rounds (Mann and Whitney)",
            Method::Signs => "signs of rounds (sign test)",
        }
    }
}

/// A figure with its interval, in the unit of the figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure from all rounds.
    pub point: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Share of the cases in which the interval should contain the true value: the requested level,
    /// or the highest that so few rounds allow, which is 15 of 16 for five.
    pub level: f64,
    /// The method of the interval.
    pub method: Method,
    /// Rounds from which it is made; of two sides, of the side that has fewer.
    pub rounds: usize,
    /// Resamples that gave a figure; 0 if the interval is from ranks or signs.
    pub resamples: usize,
    /// Seed of the resampling; 0 if the interval is from ranks or signs.
    pub seed: u64,
}

impl Estimate {
    /// Returns half of the interval's width as a share of the figure; infinite for a figure of 0.
    pub fn half_width(&self) -> f64 {
        match self.point {
            0.0 => f64::INFINITY,
            point => (self.high - self.low) / 2.0 / point.abs(),
        }
    }

    /// Returns the estimate in another unit, which is `factor` times the number.
    pub fn scaled(self, factor: f64) -> Estimate {
        let (low, high) = (self.low * factor, self.high * factor);
        let (low, high) = (low.min(high), low.max(high));
        Estimate { point: self.point * factor, low, high, ..self }
    }
}

impl Bootstrap {
    /// Returns a figure from the samples of all rounds, with its interval.
    ///
    /// `None` if there are fewer than [`ROUNDS_MIN`] rounds, if the figure has no value, or if it
    /// has none for a tenth of the resamples.
    pub fn of_rounds<T: Copy>(
        &self,
        rounds: &[Vec<T>],
        figure: impl Fn(&[T]) -> Option<f64>,
    ) -> Option<Estimate> {
        let figures = self.of_rounds_many(rounds, |samples| figure(samples).map(|one| [one]));
        figures.map(|[one]| one)
    }

    /// As [`Bootstrap::of_rounds`], for several figures from the same computation.
    pub fn of_rounds_many<T: Copy, const N: usize>(
        &self,
        rounds: &[Vec<T>],
        figures: impl Fn(&[T]) -> Option<[f64; N]>,
    ) -> Option<[Estimate; N]> {
        let mut samples = Vec::new();
        self.draw(&[rounds.len()], |picks| {
            samples.clear();
            picks[0].iter().for_each(|&round| samples.extend_from_slice(&rounds[round]));
            figures(&samples)
        })
    }

    /// Returns a figure from two sides that were not measured in the same rounds. The rounds of
    /// each side are resampled separately.
    pub fn of_sides<T: Copy>(
        &self,
        sides: [&[Vec<T>]; 2],
        figure: impl Fn(&[T], &[T]) -> Option<f64>,
    ) -> Option<Estimate> {
        let mut drawn = [Vec::new(), Vec::new()];
        let figures = self.draw(&sides.map(<[Vec<T>]>::len), |picks| {
            for ((drawn, picks), side) in drawn.iter_mut().zip(picks).zip(sides) {
                drawn.clear();
                picks.iter().for_each(|&pick| drawn.extend_from_slice(&side[pick]));
            }
            figure(&drawn[0], &drawn[1]).map(|one| [one])
        });
        figures.map(|[one]| one)
    }

    /// Draws as many rounds of each side as it has, and computes figures from their indexes.
    fn draw<const N: usize>(
        &self,
        counts: &[usize],
        mut figures: impl FnMut(&[Vec<usize>]) -> Option<[f64; N]>,
    ) -> Option<[Estimate; N]> {
        let rounds = *counts.iter().min()?;
        if rounds < ROUNDS_MIN {
            return None;
        }
        let mut figures = |picks: &[Vec<usize>]| {
            figures(picks).filter(|figures| figures.iter().all(|figure| figure.is_finite()))
        };
        let mut picks: Vec<Vec<usize>> = counts.iter().map(|&count| (0..count).collect()).collect();
        let points = figures(&picks)?;
        let left_out = (rounds < ROUNDS_CORRECTED).then(|| leave_out(&picks, &mut figures));
        let mut random = Random::new(self.seed);
        let mut resamples = Vec::with_capacity(self.resamples);
        for _ in 0..self.resamples {
            for (picks, &count) in picks.iter_mut().zip(counts) {
                picks.iter_mut().for_each(|pick| *pick = random.below(count as u64) as usize);
            }
            resamples.extend(figures(&picks));
        }
        if (resamples.len() as f64) < RESAMPLES_USABLE_MIN * self.resamples.max(1) as f64 {
            return None;
        }
        let estimate = |which: usize| {
            let drawn = sorted(&resamples.iter().map(|drawn| drawn[which]).collect::<Vec<f64>>());
            let drawn = drawn.expect("all figures are finite, and there are some");
            let bend = left_out.as_ref().map(|sides| skew(sides, which));
            let (low, high) = self.interval(points[which], &drawn, rounds, bend);
            Estimate {
                point: points[which],
                low,
                high,
                level: self.level.min(level_max(rounds)),
                method: if bend.is_some() { Method::Bca } else { Method::Percentile },
                rounds,
                resamples: drawn.len(),
                seed: self.seed,
            }
        };
        Some(std::array::from_fn(estimate))
    }

    /// Returns the interval of a figure. `bend` is its skew, if the interval is to be corrected for
    /// it.
    ///
    /// Figures from few rounds vary less than the population, so the interval is widened by
    /// Student's distribution. Without that, intervals of ten rounds contain the true value too
    /// seldom.
    ///
    /// Source: B. Efron, "Better bootstrap confidence intervals", Journal of the American
    /// Statistical Association 82 (1987), number 397; T. Hesterberg, "What teachers should know
    /// about the bootstrap", The American Statistician 69 (2015), number 4, section 3.2.
    fn interval(&self, point: f64, drawn: &[f64], rounds: usize, bend: Option<f64>) -> (f64, f64) {
        let rounds = rounds as f64;
        let student = distance_of_student((1.0 + self.level) / 2.0, rounds as usize - 1);
        let reach = student * (rounds / (rounds - 1.0)).sqrt();
        let (bias, bend) = bend.map_or((0.0, 0.0), |bend| (bias(point, drawn), bend));
        let end = |distance: f64| {
            let moved = bias + distance;
            // With few rounds and one outlier, the divisor could reach zero.
            let share = share_below(bias + moved / (1.0 - bend * moved).max(0.1));
            // The drawn figures divide all possible figures into one part more than their number.
            at_place(drawn, share * (drawn.len() + 1) as f64 - 1.0)
        };
        (end(-reach), end(reach))
    }
}

/// Returns the share of the cases in which the true value is between the least and the greatest of
/// this many rounds, if each is as likely above as below it. No interval of these rounds has a
/// higher level.
fn level_max(rounds: usize) -> f64 {
    1.0 - 0.5_f64.powf(rounds as f64 - 1.0)
}

/// Returns the distance of the figure from the middle of the drawn figures, in standard deviations.
fn bias(point: f64, drawn: &[f64]) -> f64 {
    let below = drawn.partition_point(|&figure| figure < point);
    let upto = drawn.partition_point(|&figure| figure <= point);
    // Drawn figures that equal the figure count half. The share is never 0 and never 1.
    let share = (below + upto) as f64 / 2.0 / drawn.len() as f64;
    let least = 0.5 / drawn.len() as f64;
    distance_of(share.clamp(least, 1.0 - least))
}

/// Returns the figures without each round in turn: `sides[side][round]`.
fn leave_out<const N: usize>(
    picks: &[Vec<usize>],
    figures: &mut impl FnMut(&[Vec<usize>]) -> Option<[f64; N]>,
) -> Vec<Vec<Option<[f64; N]>>> {
    let mut picks = picks.to_vec();
    let mut sides = Vec::with_capacity(picks.len());
    for side in 0..picks.len() {
        let count = picks[side].len();
        let without = (0..count).map(|round| {
            picks[side] = (0..count).filter(|&other| other != round).collect();
            figures(&picks)
        });
        sides.push(without.collect());
        picks[side] = (0..count).collect();
    }
    sides
}

/// Returns the skew of a figure, from its values without each round; 0 if one of those is missing.
fn skew<const N: usize>(sides: &[Vec<Option<[f64; N]>>], which: usize) -> f64 {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for side in sides {
        let count = side.len() as f64;
        let figures: Option<Vec<f64>> =
            side.iter().map(|figures| figures.map(|figures| figures[which])).collect();
        let Some(figures) = figures else { return 0.0 };
        let mean = figures.iter().sum::<f64>() / count;
        // The effect of a round on the figure, per round.
        let pulls = figures.iter().map(|figure| (mean - figure) * (count - 1.0) / count);
        cubes += pulls.clone().map(|pull| pull.powi(3)).sum::<f64>();
        squares += pulls.map(|pull| pull * pull).sum::<f64>();
    }
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}
