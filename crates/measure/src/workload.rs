//! The workloads, one file each, and the sweep that measures them all.
//!
//! A workload has parameters, makes what it measures, and takes a sample of it when its turn comes.
//! The sweep lets everything have its turn in every round, in an order drawn from the seed, so that
//! a disturbance affects all series. A workload verifies every result that it times, removes its
//! files, and ends when the session is stopped.

pub mod cipher;
pub mod cpu;
pub mod hash;
pub mod pair;
pub mod queue;
pub mod read;
pub mod storage;
pub mod together;
pub mod write;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::random::Random;
use crate::record::{self, Series};
use crate::runner::{End, SeriesId, Session, Stopped};
use crate::stats;

/// Of what is measured by processor time there are rounds until the fastest agree to this share, at
/// least so many, and at most [`ROUNDS_MAX`].
const SETTLED_SHARE: f64 = 0.01;
const SETTLED_ROUNDS_MIN: usize = 10;

/// The most rounds by processor time, if no number of rounds was asked for. Where five busy
/// processes ran beside two processors, 20 rounds were needed on average.
pub const ROUNDS_MAX: u32 = 80;

/// Explains that figures are not comparable with those of other machines, unless they are.
fn departs(is_standard: bool) -> Option<String> {
    (!is_standard).then(|| "not standard: fewer rounds, or other sizes".to_owned())
}

/// Time between two checks of the stop flag during a pause.
const REST_STEP: Duration = Duration::from_millis(50);

/// A workload: its parameters.
pub trait Workload: Send {
    /// Returns what it will do, and how long that is expected to take.
    fn outline(&self) -> Outline;

    /// Checks the parameters. The number of rounds is checked in any case.
    ///
    /// # Errors
    /// If there is nothing to measure, or a number is out of its bounds.
    fn check(&self) -> Result<(), Error>;

    /// Returns how many bytes it writes at most in which folder. None by default.
    fn writes(&self) -> Vec<(&Path, u64)> {
        Vec::new()
    }

    /// Returns what a person should know before it begins. Nothing by default.
    fn notice(&self) -> Option<String> {
        None
    }

    /// Makes what is measured, with the series that samples go to.
    ///
    /// # Errors
    /// If it was stopped or failed.
    fn prepare<'w>(&'w self, session: &mut Session<'_>) -> Result<Box<dyn Bench + 'w>, End>;

    /// Announces the amount of work by [`Session::plan`], in expected seconds.
    fn plan(&self, session: &mut Session<'_>) {
        let Outline { making_s, phases, .. } = self.outline();
        let rounds = phases.iter().map(|phase| phase.round_s * f64::from(phase.rounds));
        session.plan(making_s + rounds.sum::<f64>());
    }

    /// Measures, and adds the results to the session.
    ///
    /// # Errors
    /// If it was stopped or failed. The samples so far are kept.
    fn run(&self, session: &mut Session<'_>) -> Result<(), End> {
        let Outline { workload, seed, departs, making_s, phases } = self.outline();
        if phases.iter().any(|phase| phase.rounds == 0) {
            return Err(Error::usage("there is nothing to measure in no rounds").into());
        }
        self.check()?;
        if let Some(why) = departs {
            session.warn(format!("{}: {why}", workload.name()));
        }
        let mut bench = self.prepare(session)?;
        session.did(making_s);
        let mut random = Random::new(seed);
        for (number, phase) in phases.iter().enumerate() {
            phase.sweep(session, &mut *bench, (workload.name(), number), &mut random)?;
        }
        bench.close(session)
    }
}

/// What a workload will do.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Its name.
    pub workload: record::Workload,
    /// The seed of orders and contents.
    pub seed: u64,
    /// Why figures are not comparable with standard ones, if so.
    pub departs: Option<String>,
    /// Expected seconds of making what is measured.
    pub making_s: f64,
    /// What is measured, one phase after the other.
    pub phases: Vec<Phase>,
}

/// What takes turns.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// How often each step is measured.
    pub rounds: u32,
    /// The most rounds of what is measured by processor time, until the fastest agree.
    pub rounds_max: u32,
    /// Expected seconds of a round.
    pub round_s: f64,
    /// Begin no further round after this time, if there is a limit.
    pub span: Option<Duration>,
    /// Rest before each round but the first.
    pub pause: Duration,
}

/// What is measured once in each round.
#[derive(Clone, Debug)]
pub struct SweepStep {
    /// Its phase.
    pub phase: usize,
    /// Its series. Rounds go on until all of them are settled.
    pub series: Vec<SeriesId>,
    /// How long it is expected to take, beside the others of its phase; 0 if it reports itself how
    /// far it is.
    pub cost: f64,
}

/// What a workload has made to measure.
pub trait Bench {
    /// Returns what is measured in each round.
    fn steps(&self) -> Vec<SweepStep>;

    /// Takes the samples of a step: bytes, operations or loops, and their time.
    ///
    /// # Errors
    /// If it was stopped, failed, or a result is wrong.
    fn sample(&mut self, session: &mut Session<'_>, step: usize, round: u32) -> Result<(), End>;

    /// Verifies what was made, and removes it. What is dropped instead is removed unverified.
    ///
    /// # Errors
    /// If it is not what it was, or could not be removed.
    fn close(self: Box<Self>, session: &mut Session<'_>) -> Result<(), End>;
}

impl Phase {
    /// Returns a phase of so many rounds of so many expected seconds.
    pub fn of(rounds: u32, round_s: f64) -> Phase {
        Phase { rounds, round_s, ..Phase::default() }
    }

    /// Measures every step of a phase once in every round, in an order drawn anew.
    fn sweep(
        &self,
        session: &mut Session<'_>,
        bench: &mut dyn Bench,
        (name, number): (&str, usize),
        random: &mut Random,
    ) -> Result<(), End> {
        let steps = bench.steps();
        let of_phase = steps.iter().enumerate().filter(|(_, step)| step.phase == number);
        let mut order: Vec<usize> = of_phase.map(|(at, _)| at).collect();
        let whole: f64 = order.iter().map(|&at| steps[at].cost).sum();
        let begun = Instant::now();
        for round in 0..self.rounds.max(self.rounds_max) {
            if round >= self.rounds {
                let settled = |id: &SeriesId| is_settled(session.series(*id));
                order.retain(|&at| !steps[at].series.iter().all(settled));
            }
            if self.span.is_some_and(|span| begun.elapsed() > span) {
                let rounds = self.rounds;
                session.warn(format!("{name}: time was up after {round} of {rounds} rounds"));
                break;
            }
            if round > 0 {
                rest(session, self.pause)?;
            }
            random.shuffle(&mut order);
            for &at in &order {
                let own_words = steps[at].cost == 0.0;
                if let Some(id) = steps[at].series.first().filter(|_| !own_words) {
                    session.doing(&session.series(*id).label.clone())?;
                }
                bench.sample(session, at, round)?;
                session.did(self.round_s * steps[at].cost / whole.max(f64::MIN_POSITIVE));
            }
        }
        Ok(())
    }
}

/// Returns whether more rounds would not tell more of a series by processor time. Others have their
/// rounds, and no more.
fn is_settled(series: &Series) -> bool {
    let rates: Vec<f64> = series.counting().map(|sample| series.per_second(sample)).collect();
    !series.is_by_processor_time()
        || rates.len() >= SETTLED_ROUNDS_MIN && stats::fastest(&rates, SETTLED_SHARE).is_some()
}

/// Pauses between rounds, unless the session is stopped.
fn rest(session: &mut Session<'_>, pause: Duration) -> Result<(), Stopped> {
    let begun = Instant::now();
    while begun.elapsed() < pause {
        session.doing("resting")?;
        thread::sleep(REST_STEP.min(pause.saturating_sub(begun.elapsed())));
    }
    Ok(())
}
