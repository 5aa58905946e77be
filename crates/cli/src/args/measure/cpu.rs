//! Arguments of `steadfast measure cpu`.

use std::num::NonZero;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use steadfast_measure::record::{self, Record};
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::cpu::Cpu;
use steadfast_measure::workload::cpu::kernels::Kernel;

use super::{RecordArgs, SessionArgs, each_once};

/// Measure loops in one core
///
/// Runs six kernels on one thread and on four, at every QoS level: two in plain loops, one in a
/// vector of four floats, two by a tuned library, one of a sparse matrix. Says what a level leaves,
/// and what is left of one thread where four run.
#[derive(Debug, Args)]
pub(crate) struct CpuArgs {
    /// Measure these kernels only, as f32-product-plain or i64-dot
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    kernel: Vec<String>,

    /// Run so many threads at once; repeatable [default: 1 and 4]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<NonZero<u32>>,

    /// Show rates also in per cent of those in RECORD, at its highest level
    #[arg(long, value_name = "RECORD")]
    against: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) session: SessionArgs,

    #[command(flatten)]
    pub(crate) record: RecordArgs,
}

impl CpuArgs {
    /// Returns what is to be measured.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        let session = &self.session;
        let seed = session.seed();
        let mut cpu = if session.quick { Cpu::quick(seed) } else { Cpu::standard(seed) };
        cpu.rounds = session.rounds.unwrap_or(cpu.rounds);
        if !session.qos.is_empty() {
            cpu.levels = each_once(&session.qos);
        }
        if !self.threads.is_empty() {
            cpu.threads = each_once(&self.threads);
        }
        if !self.kernel.is_empty() {
            let find = |name: &String| Kernel::named(name);
            cpu.kernels = each_once(&self.kernel).iter().map(find).collect::<Result<_, _>>()?;
        }
        Ok(Box::new(cpu))
    }

    /// Reads the record to compare with, if one was named.
    pub(crate) fn other(&self) -> anyhow::Result<Option<Record>> {
        let Some(file) = &self.against else { return Ok(None) };
        let document =
            std::fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let record = record::read(&document)
            .with_context(|| format!("`{}` cannot be compared with", file.display()))?;
        Ok(Some(record))
    }
}
