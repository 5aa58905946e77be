//! Arguments of `steadfast measure cpu`.

use std::num::NonZero;

use clap::Args;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::cpu::Cpu;
use steadfast_measure::workload::cpu::kernels::Kernel;

use super::{SessionArgs, each_once};

/// Measure loops in one core
///
/// Runs six kernels in one thread and in four, at every QoS level: two plain loops, one vector of
/// four floats, two from a tuned library, one sparse matrix. Shows the rate at each level, and the
/// rate of one thread while four run. With --against RECORD, also percentages of that record's
/// rates at its highest level.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure cpu --quick
  steadfast measure cpu --kernel i64-dot --threads 1,2 --against other.json
  steadfast measure cpu --mixed --qos background,user-interactive")]
pub(crate) struct CpuArgs {
    /// Measure only these kernels, for example f32-product-plain or i64-dot
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    kernel: Vec<String>,

    /// Run N threads at once. Repeatable [default: 1 and 4]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<NonZero<u32>>,

    /// Also run two threads at the lowest level beside two at the highest
    #[arg(long)]
    mixed: bool,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl CpuArgs {
    /// Returns what is to be measured.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        let session = &self.session;
        let seed = session.seed();
        let mut cpu = if session.quick { Cpu::quick(seed) } else { Cpu::standard(seed) };
        cpu.mixed = self.mixed;
        if let Some(rounds) = session.rounds {
            (cpu.rounds, cpu.rounds_max) = (rounds, rounds);
        }
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
}
