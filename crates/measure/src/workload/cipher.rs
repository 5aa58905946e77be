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
use self::worker::CipherWorker;
use super::{ROUNDS_MAX, Workload, is_settled, warn_unless_standard};
use crate::error::Error;
use crate::random::Random;
use crate::record::{self, Factors, Isa, Sample, Series, Stage, Unit};
use crate::runner::{End, SeriesId, Session};

/// Bytes per call of a cipher or digest; the largest length that `openssl speed` uses.
pub const BUFFER_LEN_BYTES: usize = 16 * 1024;

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

    /// Returns whether other machines can be compared by its figures.
    fn is_standard(&self) -> bool {
        let task = self.task.as_ref().map(|task| Task::standard(task.folder.clone()));
        let standard = Cipher::standard(self.worker.clone(), task, self.seed);
        let of = |cipher: &Cipher| (cipher.buffer_len_bytes, cipher.sample_ns, cipher.task.clone());
        of(self) == of(&standard) && self.rounds >= standard.rounds
    }

    fn run_kernels(
        &self,
        session: &mut Session<'_>,
        isolated: &mut [Isolated],
        random: &mut Random,
    ) -> Result<(), End> {
        let mut running = Vec::new();
        for &kernel in &self.kernels {
            for (process, one) in isolated.iter().enumerate() {
                let id = session.add_series(self.series(kernel, one));
                running.push(CipherRun { kernel, process, id, begun: false });
            }
        }
        let mut answers: HashMap<CipherKernel, Vec<u8>> = HashMap::new();
        for round in 0..self.rounds.max(self.rounds_max) {
            if round >= self.rounds {
                running.retain(|one| !is_settled(session.series(one.id)));
            }
            random.shuffle(&mut running);
            for one in &mut running {
                session.doing(&session.series(one.id).label.clone())?;
                let worker = &mut isolated[one.process].worker;
                if !std::mem::replace(&mut one.begun, true) {
                    // The first sample also prepares and calibrates, so it is dropped.
                    worker.time(one.kernel, self.buffer_len_bytes, self.sample_ns)?;
                }
                let start_ns = session.now_ns();
                let timed = worker.time(one.kernel, self.buffer_len_bytes, self.sample_ns)?;
                if let Some(answer) = timed.answer {
                    let first = answers.entry(one.kernel).or_insert_with(|| answer.clone());
                    if *first != answer {
                        let name = one.kernel.algorithm;
                        let message = format!("{name} gives other answers with other instructions");
                        return Err(Error::wrong(message).into());
                    }
                }
                let sample = Sample {
                    round,
                    amount: timed.amount,
                    start_ns,
                    elapsed_ns: timed.elapsed_ns,
                    cpu_ns: Some(timed.cpu_ns),
                    ..Sample::default()
                };
                session.add_sample(one.id, sample);
                session.did(self.sample_ns as f64 / 1e9);
            }
        }
        Ok(())
    }
}

/// A process with an instruction set.
struct Isolated {
    isa: Isa,
    worker: CipherWorker,
    library: String,
    capabilities: String,
}

/// A series that is being measured.
struct CipherRun {
    kernel: CipherKernel,
    /// Index of its process.
    process: usize,
    id: SeriesId,
    /// Whether the process has prepared the kernel.
    begun: bool,
}

impl Workload for Cipher {
    fn plan(&self, session: &mut Session<'_>) {
        let combinations = self.kernels.len() * self.isas.len();
        let samples = combinations as f64 * f64::from(self.rounds);
        session.plan(samples * self.sample_ns as f64 / 1e9);
        if let Some(task) = &self.task {
            let each = task::weight(task) * f64::from(task.rounds);
            session.plan(each * task::isas(task, &self.isas).len() as f64);
        }
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        let bytes = |task: &Task| {
            // The file itself, and an enciphered one in each round and process.
            let files = u64::from(task.rounds) * task::isas(task, &self.isas).len() as u64;
            let tag_len = kernels::cipher(task.algorithm).map_or(0, |cipher| cipher.tag_len());
            let chunks = task.len_bytes.div_ceil(file::CHUNK_LEN_BYTES as u64);
            task.len_bytes + files * (task.len_bytes + chunks * tag_len as u64)
        };
        self.task.iter().map(|task| (task.folder.as_path(), bytes(task))).collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), End> {
        if self.task.as_ref().is_some_and(|task| !task.len_bytes.is_multiple_of(16)) {
            return Err(Error::usage("a file to encipher has a multiple of 16 bytes").into());
        }
        if self.rounds == 0 || self.task.as_ref().is_some_and(|task| task.rounds == 0) {
            return Err(Error::no_rounds().into());
        }
        warn_unless_standard(session, "cipher", self.is_standard());
        let mut isolated = self.start(session)?;
        let mut random = Random::new(self.seed);
        self.run_kernels(session, &mut isolated, &mut random)?;
        match &self.task {
            Some(task) => self.run_task(session, task, &mut isolated, &mut random),
            None => Ok(()),
        }
    }
}
