//! The task: a file that each process encrypts in turn.
//!
//! Adds two series per process: the task, and its time in the cipher. The encrypted files are
//! compared by their digests.

use std::io::Read as _;
use std::path::Path;

use steadfast_digest::{Digest, Sha256};
use steadfast_sys::cache::cached_bytes;

use super::file::CHUNK_LEN_BYTES;
use super::{Cipher, Isolated, Task, kernels, masks};
use crate::contents::TestBytes;
use crate::error::Error;
use crate::record::{Cache, Factors, Isa, Sample, Series, Stage, Workload};
use crate::runner::{End, SeriesId, Session};
use crate::workload::storage::folder::OwnFolder;
use crate::workload::storage::plan::PlannedFile;

/// Numbers of the two files in the folder.
const PLAIN: u32 = 0;
const ENCIPHERED: u32 = 1;

impl Task {
    /// Returns the instruction sets for the task: all of them, and those without the instructions
    /// of its cipher.
    pub(super) fn isas(&self, isas: &[Isa]) -> Vec<Isa> {
        let uses = kernels::uses(self.algorithm);
        let without = [Isa::NoAes, Isa::Baseline].into_iter().find(|isa| isas.contains(isa));
        let wanted = |isa: &Isa| *isa == Isa::Full || (uses.aes && Some(*isa) == without);
        isas.iter().copied().filter(wanted).collect()
    }
}

/// The file to encrypt, and the series of each process that does it.
pub(super) struct TaskBench<'w> {
    task: &'w Task,
    pub(super) folder: OwnFolder,
    /// Index of the process, the series of the task, and that of its time in the cipher.
    processes: Vec<(usize, [SeriesId; 2])>,
    /// The digest of the encrypted file.
    digest: Option<Digest>,
}

impl<'w> TaskBench<'w> {
    /// Makes the file.
    pub(super) fn open(
        cipher: &Cipher,
        task: &'w Task,
        session: &mut Session<'_>,
        isolated: &[Isolated],
    ) -> Result<TaskBench<'w>, End> {
        let folder = OwnFolder::open(session, &task.folder, 2 * task.len_bytes)?;
        session.doing("writing a file")?;
        let plain = PlannedFile { number: PLAIN, set: 0, length: task.len_bytes };
        folder.write(session, &mut TestBytes::new(cipher.seed), plain, true, |_| {})?;
        let mut processes = Vec::new();
        for isa in task.isas(&cipher.isas) {
            let found = isolated.iter().position(|one| one.isa == isa);
            let Some(process) = found else { continue };
            let series = cipher.task_series(task.algorithm, &isolated[process]);
            let ids = series.map(|series| session.add_series_at(folder.place, series));
            processes.push((process, ids));
        }
        Ok(TaskBench { task, folder, processes, digest: None })
    }

    /// Returns the series of each process.
    pub(super) fn series(&self) -> impl Iterator<Item = Vec<SeriesId>> {
        self.processes.iter().map(|(_, ids)| ids.to_vec())
    }

    /// Lets a process encrypt the file once, and compares the result with those of the others.
    pub(super) fn sample(
        &mut self,
        session: &mut Session<'_>,
        at: usize,
        isolated: &mut [Isolated],
        round: u32,
    ) -> Result<(), End> {
        let (task, folder, scratch) = (self.task, &self.folder, &self.folder.scratch);
        let (process, [whole, within]) = self.processes[at];
        let path = |number: u32| scratch.path_of(number);
        let made = scratch.create(ENCIPHERED);
        drop(made.map_err(|error| folder.failed("make a file in it", error))?);
        let plain = scratch.open(PLAIN);
        let plain = plain.map_err(|error| folder.failed("read a file in it", error))?;
        let cached = cached_bytes(&plain, task.len_bytes).ok();
        let start_ns = session.now_ns();
        let worker = &mut isolated[process].worker;
        let filed = worker.file(task.algorithm, &path(PLAIN), &path(ENCIPHERED))?;
        if filed.bytes != task.len_bytes {
            return Err(Error::wrong("the file that was enciphered has another length").into());
        }
        let mut sample = Sample {
            round,
            amount: filed.bytes,
            start_ns,
            elapsed_ns: filed.elapsed_ns,
            cpu_ns: Some(filed.cpu_ns),
            cached_bytes: cached,
            ..Sample::default()
        };
        let warm = cached.is_some_and(|cached| cached >= task.len_bytes);
        let factors = &mut session.series_mut(whole).factors;
        let cache = if warm { Cache::Warm } else { Cache::Unknown };
        // A single sample that was not warm decides for the whole series.
        if factors.cache.is_none() || cache == Cache::Unknown {
            factors.cache = Some(cache);
        }
        session.add_sample(whole, sample.clone());
        sample.elapsed_ns = filed.enciphering_ns.max(1);
        (sample.cpu_ns, sample.cached_bytes) = (None, None);
        session.add_sample(within, sample);
        let found = digest_of(&path(ENCIPHERED))?;
        let removed = scratch.remove(ENCIPHERED);
        removed.map_err(|error| folder.failed("remove a file in it", error))?;
        if *self.digest.get_or_insert(found) != found {
            let message = "the file enciphered with other instructions is another";
            return Err(Error::wrong(message).into());
        }
        Ok(())
    }
}

impl Cipher {
    fn task_series(&self, algorithm: &str, isolated: &Isolated) -> [Series; 2] {
        let isa = masks::name(isolated.isa);
        let base = Factors {
            buffer_len_bytes: Some(CHUNK_LEN_BYTES as u64),
            ..self.factors(algorithm, isolated)
        };
        let series = |label: String, stage, method: &str| {
            let factors = Factors { stage: Some(stage), ..base.clone() };
            Series::new(Workload::Cipher, label, method, factors).seeded(self.seed)
        };
        [
            series(
                format!("a file enciphered by {algorithm}, {isa}"),
                Stage::EncryptFile,
                "One thread reads the file in chunks through the page cache, where it still is \
                 since it was made, enciphers each and writes it to another file. That is not \
                 flushed: the page cache takes it. What is written is compared between the \
                 processes.",
            ),
            series(
                format!("a file enciphered by {algorithm}, {isa}: its time in the cipher"),
                Stage::Encrypt,
                "Of the same task, the time between handing chunks to the cipher and having them \
                 back.",
            ),
        ]
    }
}

/// Returns the digest of a file by our own kernels, to which no mask applies.
fn digest_of(path: &Path) -> Result<Digest, Error> {
    let failed = |error| Error::system("read it", error).at(path);
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mut hasher = Sha256::new(steadfast_digest::Backend::default());
    let mut buffer = vec![0; CHUNK_LEN_BYTES];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(hasher.finalize()),
            length => hasher.update(&buffer[..length]),
        }
    }
}
