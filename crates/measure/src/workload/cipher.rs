//! Workload `cipher`: ciphers, digests and signatures with and without processor instructions for
//! them.
//!
//! Adds a series for each combination, measured in turn, and series of a whole task, which show how
//! much a user gains. A set of instructions is trusted only if the words of the library confirm it,
//! and refused if it cannot be switched.

mod dsa;
mod file;
pub mod kernels;
pub mod masks;
mod primitives;
mod signatures;
mod task;
mod vectors;
mod worker;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub use self::worker::{WorkerCommand, serve};

use self::kernels::CipherKernel;
use self::masks::Mask;
use self::task::TaskBench;
use self::worker::CipherWorker;
use super::{Bench, Outline, Phase, ROUNDS_MAX, SweepStep, Workload, departs};
use crate::error::Error;
use crate::record::{self, Factors, Isa, Sample, Series, Stage, Unit};
use crate::runner::{End, SeriesId, Session};

/// Bytes per call of a cipher or digest; the largest length that `openssl speed` uses.
pub const BUFFER_LEN_BYTES: usize = 16 * 1024;

/// Expected rate of the task, before it is measured.
const TASK_BYTES_PER_S: f64 = 300e6;

/// The file of the task, in bytes.
pub const FILE_LEN_BYTES: u64 = 832_000_000;

/// Options of `measure cipher`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cipher {
    /// Starts a process that calls [`serve`].
    pub worker: WorkerCommand,
    /// The kernels that are timed in memory.
    pub kernels: Vec<CipherKernel>,
    /// The instruction sets. One that this processor lacks is left out with a warning.
    pub isas: Vec<Isa>,
    /// Whether an unavailable instruction set is an error instead.
    pub strict: bool,
    /// Bytes per call of a cipher or digest.
    pub buffer_len_bytes: usize,
    /// How often each kernel is measured in memory.
    pub rounds: u32,
    /// The most rounds of a kernel, until the fastest agree.
    pub rounds_max: u32,
    /// How long a sample in memory takes, in nanoseconds.
    pub sample_ns: u64,
    /// The file to encrypt, if any.
    pub task: Option<Task>,
    /// Draws the order of each round, and the file's bytes.
    pub seed: u64,
}

/// The task: encrypt a file into another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The folder in which both files are made and removed.
    pub folder: PathBuf,
    /// Its cipher.
    pub algorithm: &'static str,
    /// Its length in bytes, a multiple of 16.
    pub len_bytes: u64,
    /// How often it is done.
    pub rounds: u32,
}

impl Task {
    /// Returns the task of 832 MB by AES-256-CBC, as `openssl enc` does it; 7 rounds.
    pub fn standard(folder: PathBuf) -> Task {
        Task { folder, algorithm: "aes-256-cbc", len_bytes: FILE_LEN_BYTES, rounds: 7 }
    }

    /// Returns the same of 64 MB and 5 rounds.
    pub fn quick(folder: PathBuf) -> Task {
        Task { len_bytes: 64_000_000, rounds: 5, ..Task::standard(folder) }
    }
}

impl Cipher {
    /// Returns the standard: all kernels with every instruction set, 20 rounds.
    pub fn standard(worker: WorkerCommand, task: Option<Task>, seed: u64) -> Cipher {
        Cipher {
            worker,
            kernels: CipherKernel::all(),
            isas: masks::ALL.to_vec(),
            strict: false,
            buffer_len_bytes: BUFFER_LEN_BYTES,
            rounds: 20,
            rounds_max: ROUNDS_MAX,
            sample_ns: 50_000_000,
            task,
            seed,
        }
    }

    /// Returns a short form of some eight seconds: 6 rounds of 5 ms.
    pub fn quick(worker: WorkerCommand, task: Option<Task>, seed: u64) -> Cipher {
        let standard = Cipher::standard(worker, task, seed);
        Cipher { rounds: 6, sample_ns: 5_000_000, ..standard }
    }

    /// Starts a process for each instruction set, and checks what it detects.
    fn start(&self, session: &mut Session<'_>) -> Result<Vec<Isolated>, End> {
        let mut full = CipherWorker::start(&self.worker, None)?;
        let unmasked = full.library_facts()?;
        let mut isolated = Vec::new();
        for &isa in &self.isas {
            session.doing(&format!("starting with instructions: {}", masks::name(isa)))?;
            let started = Mask::of(isa, &unmasked.words).and_then(|mask| {
                let mut worker = CipherWorker::start(&self.worker, Some(&mask))?;
                let seen = worker.library_facts()?;
                mask.check(&unmasked.words, &seen.words)?;
                let capabilities = masks::hex(&seen.words);
                Ok(Isolated { isa, worker, library: seen.library, capabilities })
            });
            match started {
                Ok(one) => isolated.push(one),
                Err(error) if self.strict => return Err(error.into()),
                Err(error) => session.warn(format!("not measured with {error}")),
            }
        }
        Ok(isolated)
    }

    fn series(&self, kernel: CipherKernel, isolated: &Isolated) -> Series {
        let CipherKernel { algorithm, stage } = kernel;
        let (unit, doing, buffer) = match stage {
            Stage::Sign => (Unit::Operations, "signing, ", None),
            Stage::Verify => (Unit::Operations, "verifying, ", None),
            _ => (Unit::Bytes, "", Some(self.buffer_len_bytes as u64)),
        };
        let given = match stage {
            Stage::Encrypt => {
                "One thread; a buffer in memory enciphered into another, again and \
                               again, each time from the beginning. Checked against a published \
                               vector before, and against the other processes after."
            }
            Stage::Hash => {
                "One thread; a buffer in memory, again and again. Checked against a \
                            published vector before, and against the other processes after."
            }
            _ => {
                "One thread; 32 bytes, with a key made in the process. Signatures are verified, \
                  and those of another message found bad."
            }
        };
        let isa = masks::name(isolated.isa);
        let label = format!("{algorithm}, {doing}{isa}");
        let factors = Factors {
            stage: Some(stage),
            buffer_len_bytes: buffer,
            ..self.factors(algorithm, isolated)
        };
        let series = Series::new(record::Workload::Cipher, label, given, factors);
        Series { unit, ..series.seeded(self.seed) }
    }

    fn factors(&self, algorithm: &str, isolated: &Isolated) -> Factors {
        Factors {
            algorithm: Some(algorithm.to_owned()),
            backend: Some(isolated.library.clone()),
            isa: Some(isolated.isa),
            capabilities: Some(isolated.capabilities.clone()),
            threads: Some(1),
            ..Factors::default()
        }
    }
}

/// A process with an instruction set.
struct Isolated {
    isa: Isa,
    worker: CipherWorker,
    library: String,
    capabilities: String,
}

/// A series that is being measured in memory.
struct CipherRun {
    kernel: CipherKernel,
    /// Index of its process.
    process: usize,
    id: SeriesId,
    /// Whether the process has prepared the kernel.
    begun: bool,
}

/// The processes, the kernels in each, and the task.
struct CipherBench<'w> {
    cipher: &'w Cipher,
    isolated: Vec<Isolated>,
    running: Vec<CipherRun>,
    answers: HashMap<CipherKernel, Vec<u8>>,
    task: Option<TaskBench<'w>>,
}

impl Bench for CipherBench<'_> {
    fn steps(&self) -> Vec<SweepStep> {
        let step =
            |phase: usize| move |series: Vec<SeriesId>| SweepStep { phase, series, cost: 1.0 };
        let kernels = self.running.iter().map(|one| vec![one.id]).map(step(0));
        let tasks = self.task.iter().flat_map(|task| task.series()).map(step(1));
        kernels.chain(tasks).collect()
    }

    fn sample(&mut self, session: &mut Session<'_>, step: usize, round: u32) -> Result<(), End> {
        let (len, sample_ns) = (self.cipher.buffer_len_bytes, self.cipher.sample_ns);
        let Some(one) = self.running.get_mut(step) else {
            let task = self.task.as_mut().expect("the other steps are those of the task");
            return task.sample(session, step - self.running.len(), &mut self.isolated, round);
        };
        let worker = &mut self.isolated[one.process].worker;
        if !std::mem::replace(&mut one.begun, true) {
            // The first sample also prepares and calibrates, so it is dropped.
            worker.time(one.kernel, len, sample_ns)?;
        }
        let start_ns = session.now_ns();
        let timed = worker.time(one.kernel, len, sample_ns)?;
        if let Some(answer) = timed.answer {
            let first = self.answers.entry(one.kernel).or_insert_with(|| answer.clone());
            if *first != answer {
                let name = one.kernel.algorithm;
                let message = format!("{name} gives other answers with other instructions");
                return Err(Error::wrong(message).into());
            }
        }
        let (amount, elapsed_ns, cpu_ns) = (timed.amount, timed.elapsed_ns, Some(timed.cpu_ns));
        let sample = Sample { round, amount, start_ns, elapsed_ns, cpu_ns, ..Sample::default() };
        session.add_sample(one.id, sample);
        Ok(())
    }

    fn close(self: Box<Self>, _session: &mut Session<'_>) -> Result<(), End> {
        self.task.map_or(Ok(()), |task| Ok(task.folder.scratch.close()?))
    }
}

impl Workload for Cipher {
    fn outline(&self) -> Outline {
        let round_s = (self.kernels.len() * self.isas.len()) as f64 * self.sample_ns as f64 / 1e9;
        let kernels = Phase { rounds_max: self.rounds_max, ..Phase::of(self.rounds, round_s) };
        let task = self.task.iter().map(|task| {
            let each = task.len_bytes as f64 / TASK_BYTES_PER_S;
            Phase::of(task.rounds, each * task.isas(&self.isas).len() as f64)
        });
        let usual = self.task.as_ref().map(|task| Task::standard(task.folder.clone()));
        let standard = Cipher::standard(self.worker.clone(), usual, self.seed);
        let of = |cipher: &Cipher| (cipher.buffer_len_bytes, cipher.sample_ns, cipher.task.clone());
        let is_standard = of(self) == of(&standard) && self.rounds >= standard.rounds;
        let workload = record::Workload::Cipher;
        let (seed, departs) = (self.seed, departs(is_standard));
        Outline {
            workload,
            seed,
            departs,
            making_s: 0.0,
            phases: std::iter::once(kernels).chain(task).collect(),
        }
    }

    fn check(&self) -> Result<(), Error> {
        match &self.task {
            Some(task) if !task.len_bytes.is_multiple_of(16) => {
                Err(Error::usage("a file to encipher has a multiple of 16 bytes"))
            }
            _ => Ok(()),
        }
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        let bytes = |task: &Task| {
            // The file itself, and an enciphered one in each round and process.
            let files = u64::from(task.rounds) * task.isas(&self.isas).len() as u64;
            let tag_len = kernels::cipher(task.algorithm).map_or(0, |cipher| cipher.tag_len());
            let chunks = task.len_bytes.div_ceil(file::CHUNK_LEN_BYTES as u64);
            task.len_bytes + files * (task.len_bytes + chunks * tag_len as u64)
        };
        self.task.iter().map(|task| (task.folder.as_path(), bytes(task))).collect()
    }

    fn prepare<'w>(&'w self, session: &mut Session<'_>) -> Result<Box<dyn Bench + 'w>, End> {
        let isolated = self.start(session)?;
        let mut running = Vec::new();
        for &kernel in &self.kernels {
            for (process, one) in isolated.iter().enumerate() {
                let id = session.add_series(self.series(kernel, one));
                running.push(CipherRun { kernel, process, id, begun: false });
            }
        }
        let task = self.task.as_ref();
        let task = task.map(|task| TaskBench::open(self, task, session, &isolated)).transpose()?;
        let answers = HashMap::new();
        Ok(Box::new(CipherBench { cipher: self, isolated, running, answers, task }))
    }
}
