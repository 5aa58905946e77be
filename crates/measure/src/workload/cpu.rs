//! Workload `cpu`: six kernels on one thread and on four, at QoS levels.
//!
//! Combinations are measured in turn, in another order each round. A sample has the loops and the
//! mean time of the threads. The kernels use no storage and hardly any memory, so they show the
//! speed of the cores and the effect of a level.

pub mod kernels;
pub mod plain;
mod sparse;

use std::num::NonZero;
use std::thread;

use steadfast::Level;
use steadfast_sys::{clock, qos};

use self::kernels::Kernel;
use super::together::{Together, thread_count, together};
use super::{Bench, Outline, Phase, ROUNDS_MAX, SweepStep, Workload, departs};
use crate::calibrate::{self, REPETITION_TRIES};
use crate::error::Error;
use crate::record::{self, Factors, Sample, Series, Stage, Unit};
use crate::runner::{End, SeriesId, Session};

/// Threads at each of two levels that run at once.
const MIXED_THREADS: u32 = 2;

/// Options of `measure cpu`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// The QoS levels.
    pub levels: Vec<Level>,
    /// The numbers of threads at once.
    pub threads: Vec<NonZero<u32>>,
    /// Whether two threads at the lowest level also run beside two at the highest.
    pub mixed: bool,
    /// How often each combination is measured.
    pub rounds: u32,
    /// The most rounds, until the fastest agree.
    pub rounds_max: u32,
    /// How long one thread works for an undisturbed sample, in nanoseconds.
    pub sample_ns: u64,
    /// Draws the order of each round.
    pub seed: u64,
}

impl Cpu {
    /// Returns the standard: every kernel at every level, on one thread and on four, 20 rounds.
    pub fn standard(seed: u64) -> Cpu {
        Cpu {
            kernels: Kernel::ALL.to_vec(),
            levels: Level::ALL.to_vec(),
            threads: [1, 4].into_iter().filter_map(NonZero::new).collect(),
            mixed: false,
            rounds: 20,
            rounds_max: ROUNDS_MAX,
            sample_ns: 100_000_000,
            seed,
        }
    }

    /// Returns a short form of some eight seconds: lowest and default level, 8 rounds of 15 ms.
    pub fn quick(seed: u64) -> Cpu {
        let levels = vec![Level::Background, Level::Default];
        Cpu { levels, rounds: 8, sample_ns: 15_000_000, ..Cpu::standard(seed) }
    }

    /// Returns what runs at once, for each sample of a round: threads of one combination, or of two
    /// if levels are mixed.
    fn combinations(&self) -> Vec<Vec<Combination>> {
        let levels = self.levels.iter().copied();
        let (low, high) = (levels.clone().min_by_key(number), levels.max_by_key(number));
        let mut combinations = Vec::new();
        for &kernel in &self.kernels {
            for &level in &self.levels {
                for &threads in &self.threads {
                    let threads = threads.get();
                    combinations.push(vec![Combination { kernel, level, threads, beside: None }]);
                }
            }
            if let (true, Some(low), Some(high)) = (self.mixed && low != high, low, high) {
                let mixed = [(low, high), (high, low)].map(|(level, beside)| Combination {
                    kernel,
                    level,
                    threads: MIXED_THREADS,
                    beside: Some(beside),
                });
                combinations.push(mixed.to_vec());
            }
        }
        combinations
    }

    /// Expected seconds of one sample. Threads that share a processor wait for each other.
    fn weight(&self, parts: &[Combination]) -> f64 {
        let cpus = thread::available_parallelism().map_or(1, NonZero::get);
        let threads: u32 = parts.iter().map(|part| part.threads).sum();
        let crowding = (f64::from(threads) / cpus as f64).max(1.0);
        self.sample_ns as f64 / 1e9 * crowding
    }

    fn series(&self, combination: Combination) -> Series {
        let Combination { kernel, level, threads, beside } = combination;
        let beside_it = beside
            .map_or(String::new(), |beside| format!(" beside {MIXED_THREADS} threads at {beside}"));
        let counted =
            if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        let mixed = match beside {
            None => "",
            Some(_) => {
                " Threads of both levels begin together; the time of those at this level counts."
            }
        };
        let milliseconds = self.sample_ns as f64 / 1e6;
        let label = format!("{}, {level}, {counted}{beside_it}", kernel.name());
        let method = format!(
            "One loop: {}. A sample is as many loops as took {milliseconds} ms in the fastest of \
             {REPETITION_TRIES} runs on one thread beforehand, the same number on each thread; its \
             time is the mean of the threads' own times. A sum over the results is \
             checked.{mixed}",
            kernel.definition()
        );
        let factors = Factors {
            stage: Some(Stage::Kernel),
            algorithm: Some(kernel.name().to_owned()),
            backend: Some(kernel.backend().to_owned()),
            threads: Some(threads),
            qos: Some(level.number()),
            busy_threads: beside.map(|_| MIXED_THREADS),
            ..Factors::default()
        };
        let series = Series::new(record::Workload::Cpu, label, method, factors);
        Series { unit: Unit::Loops, ..series.seeded(self.seed) }
    }
}

/// What distinguishes a series.
#[derive(Clone, Copy, Debug)]
struct Combination {
    kernel: Kernel,
    level: Level,
    threads: u32,
    /// The level of other threads that run at the same time, if levels are mixed.
    beside: Option<Level>,
}

/// Threads that run at once. Those of each combination have a series of their own.
struct CpuRun {
    parts: Vec<Combination>,
    ids: Vec<SeriesId>,
    loops: u64,
    cost: f64,
}

impl CpuRun {
    fn kernel(&self) -> Kernel {
        self.parts[0].kernel
    }
}

fn number(level: &Level) -> u8 {
    level.number()
}

impl Workload for Cpu {
    fn outline(&self) -> Outline {
        let round_s = self.combinations().iter().map(|parts| self.weight(parts)).sum();
        let phase = Phase { rounds_max: self.rounds_max, ..Phase::of(self.rounds, round_s) };
        let standard = Cpu::standard(self.seed);
        let is_standard = self.rounds >= standard.rounds && self.sample_ns == standard.sample_ns;
        let workload = record::Workload::Cpu;
        let (seed, departs) = (self.seed, departs(is_standard));
        Outline { workload, seed, departs, making_s: 0.0, phases: vec![phase] }
    }

    fn check(&self) -> Result<(), Error> {
        self.threads.iter().try_for_each(|threads| thread_count(threads.get().into()).map(drop))
    }

    fn prepare<'w>(&'w self, session: &mut Session<'_>) -> Result<Box<dyn Bench + 'w>, End> {
        let mut running: Vec<CpuRun> = Vec::new();
        for parts in self.combinations() {
            let kernel = parts[0].kernel;
            let doing = format!("calibrating {}", kernel.name());
            let loops = match running.last() {
                // The same kernel does the same number of loops everywhere.
                Some(last) if last.kernel() == kernel => last.loops,
                _ => calibrate::repetitions(self.sample_ns, |loops| {
                    session.doing(&doing)?;
                    Ok::<u64, End>(time_of(kernel, loops)?)
                })?,
            };
            let ids = parts.iter().map(|&part| session.add_series(self.series(part))).collect();
            let cost = self.weight(&parts);
            running.push(CpuRun { parts, ids, loops, cost });
        }
        Ok(Box::new(running))
    }
}

impl Bench for Vec<CpuRun> {
    fn steps(&self) -> Vec<SweepStep> {
        self.iter()
            .map(|run| SweepStep { phase: 0, series: run.ids.clone(), cost: run.cost })
            .collect()
    }

    fn sample(&mut self, session: &mut Session<'_>, step: usize, round: u32) -> Result<(), End> {
        Ok(measure(session, &self[step], round)?)
    }

    fn close(self: Box<Self>, _session: &mut Session<'_>) -> Result<(), End> {
        Ok(())
    }
}

/// Runs a kernel in this thread, checks its result, and returns its processor time in nanoseconds.
fn time_of(kernel: Kernel, loops: u64) -> Result<u64, Error> {
    let begun = clock::thread_cpu_ns();
    let sum = kernel.run(loops);
    let took = (clock::thread_cpu_ns() - begun).max(1);
    check(kernel, loops, sum)?;
    Ok(took)
}

fn check(kernel: Kernel, loops: u64, sum: u64) -> Result<(), Error> {
    if sum == kernel.expected(loops) {
        return Ok(());
    }
    Err(Error::wrong(format!("{} computed something else than it must", kernel.name())))
}

/// Runs a kernel on its threads, and adds a sample for each combination: the mean of its threads'
/// times.
fn measure(session: &mut Session<'_>, run: &CpuRun, round: u32) -> Result<(), Error> {
    let (kernel, loops) = (run.kernel(), run.loops);
    let repeated = |part: &Combination| vec![part.level; part.threads as usize];
    let levels: Vec<Level> = run.parts.iter().flat_map(repeated).collect();
    let enter = |thread: usize| {
        let level = levels[thread];
        let refused = qos::apply_to_thread(level).into_iter().filter_map(|step| {
            let error = step.result.err()?;
            Some(format!("level {level} is not what it should be: {}: {error}", step.what))
        });
        refused.collect()
    };
    let work = |_| kernel.run(loops);
    let Together { timed, times_ns, results } = together(session, levels.len(), &enter, &work)?;
    for sum in results {
        check(kernel, loops, sum)?;
    }
    let mut times_ns = times_ns.as_slice();
    for (part, id) in run.parts.iter().zip(&run.ids) {
        let (own, others) = times_ns.split_at(part.threads as usize);
        times_ns = others;
        let mean_ns = own.iter().sum::<u64>() / own.len() as u64;
        let mut sample = Sample { elapsed_ns: mean_ns, ..timed.sample(round, loops) };
        if part.beside.is_some() {
            // The process's time is that of all threads.
            (sample.cpu_ns, sample.performance_cpu_ns, sample.energy_nj) = (None, None, None);
        }
        session.add_sample(*id, sample);
    }
    Ok(())
}
