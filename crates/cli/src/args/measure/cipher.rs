//! Arguments of `steadfast measure cipher`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use steadfast_measure::record::Isa;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::cipher::kernels::{CIPHERS, CipherKernel};
use steadfast_measure::workload::cipher::{Cipher, Task, WorkerCommand};

use super::super::named::named;
use super::super::quantity;
use super::{SessionArgs, each_once};

/// What starts this program as the process that does the work.
const WORKER: [&str; 2] = ["measure", "cipher-worker"];

/// Measure ciphers, digests and signatures, with and without special instructions
///
/// Measures AES, ChaCha20-Poly1305, SHA, RSA, DSA, ECDSA and Ed25519 in memory, in one process per
/// set of instructions. Then encrypts a file, and shows why that gained less than the cipher did.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure cipher --quick --no-file
  steadfast measure cipher --isa full,no-aes --algorithm aes-256-gcm")]
pub(crate) struct CipherArgs {
    /// Create the file in DIR, in a folder that is removed afterwards
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Measure only with these instructions, or fail if the processor or the system does not have
    /// them
    #[arg(long, value_name = "SET", value_delimiter = ',', value_parser = named::<Isa>())]
    isa: Vec<Isa>,

    /// Measure only these algorithms, for example aes-256-gcm or rsa-2048
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    algorithm: Vec<String>,

    /// Encrypt a file of SIZE, a multiple of 16 bytes [default: 832MB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes, conflicts_with = "no_file")]
    size: Option<u64>,

    /// Encrypt the file with this algorithm [default: aes-256-cbc]
    #[arg(long, value_name = "NAME", conflicts_with = "no_file")]
    task: Option<String>,

    /// Encrypt no file
    #[arg(long)]
    no_file: bool,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// Returns what starts this program as the process that times ciphers.
fn cipher_worker() -> anyhow::Result<WorkerCommand> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    Ok(WorkerCommand { program, arguments: WORKER.map(Into::into).to_vec() })
}

impl CipherArgs {
    /// Returns what is to be measured.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        let session = &self.session;
        anyhow::ensure!(
            session.qos.is_empty(),
            "ciphers are not measured at QoS levels; `measure cpu` and `measure hash` are"
        );
        let of = if session.quick { Cipher::quick } else { Cipher::standard };
        let mut cipher = of(cipher_worker()?, self.task()?, session.seed());
        if let Some(rounds) = session.rounds {
            (cipher.rounds, cipher.rounds_max) = (rounds, rounds);
        }
        if !self.isa.is_empty() {
            cipher.isas = each_once(&self.isa);
            cipher.strict = true;
        }
        if !self.algorithm.is_empty() {
            cipher.kernels.clear();
            for name in &each_once(&self.algorithm) {
                cipher.kernels.extend(CipherKernel::named(name)?);
            }
        }
        Ok(Box::new(cipher))
    }

    fn task(&self) -> anyhow::Result<Option<Task>> {
        if self.no_file {
            return Ok(None);
        }
        let of = if self.session.quick { Task::quick } else { Task::standard };
        let mut task = of(self.folder.clone());
        task.len_bytes = self.size.unwrap_or(task.len_bytes);
        task.rounds = self.session.rounds.unwrap_or(task.rounds);
        if let Some(name) = &self.task {
            // A name that is refused says why; one of a digest ciphers nothing.
            CipherKernel::named(name)?;
            let known = CIPHERS.into_iter().find(|known| known == name);
            task.algorithm = known.with_context(|| format!("`{name}` is no cipher"))?;
        }
        Ok(Some(task))
    }
}
