//! Arguments of `steadfast measure`.

mod all;
mod cipher;
mod cpu;
mod hash;
mod pair;
mod queue;
mod read;
mod report;
mod write;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{bail, ensure};
use clap::{Args, Parser, Subcommand};
use steadfast::Level;
use steadfast_measure::scratch::by_chance;
use steadfast_measure::workload::Workload;
use steadfast_report::Units;
use steadfast_report::document::DocumentTextOptions;

pub(crate) use all::AllArgs;
pub(crate) use cipher::CipherArgs;
pub(crate) use cpu::CpuArgs;
pub(crate) use hash::MeasureHashArgs;
pub(crate) use pair::PairArgs;
pub(crate) use queue::QueueArgs;
pub(crate) use read::ReadArgs;
pub(crate) use report::ReportArgs;
pub(crate) use write::WriteArgs;

use super::When;
use super::named::named;
use super::qos::level;
use crate::output::stdout_has_color;

/// Measure what this machine can do, and what limits it.
///
/// Runs the stages of a check with a clock beside them, each alone and all together. The record has
/// every raw sample; others can repeat it, and `measure report` can compare it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure hash --quick                     takes seconds
  steadfast measure write --export disk.json /mnt    the 160-file protocol on a disk
  steadfast measure pair /mnt/plain /mnt/encrypted   the same work in two folders, in turn
  steadfast measure all --quick --export this.json .

Exit status: 0 measured; 2 something could not be measured; 130 interrupted, and the record is \
marked as partial.")]
pub(crate) struct MeasureArgs {
    #[command(subcommand)]
    pub(crate) what: MeasureCommand,
}

/// What to measure. Each variant's arguments hold [`SessionArgs`] and make the workload;
/// `commands/measure.rs` runs it.
#[derive(Debug, Subcommand)]
pub(crate) enum MeasureCommand {
    Hash(MeasureHashArgs),
    Read(ReadArgs),
    Write(WriteArgs),
    Queue(QueueArgs),
    Pair(PairArgs),
    Cipher(CipherArgs),
    Cpu(CpuArgs),
    /// Work for `measure cipher`, in a process of its own.
    #[command(hide = true)]
    CipherWorker,
    All(AllArgs),
    Report(ReportArgs),
}

/// What to measure, without the words before it.
#[derive(Debug, Parser)]
#[command(name = "steadfast measure")]
struct MeasureWords {
    #[command(subcommand)]
    what: MeasureCommand,
}

/// Returns what the arguments of `steadfast measure` ask to measure, if it is one workload.
pub(crate) fn workload_of(arguments: &[OsString]) -> anyhow::Result<Box<dyn Workload>> {
    let words = std::iter::once("steadfast measure".into()).chain(arguments.iter().cloned());
    MeasureWords::try_parse_from::<_, OsString>(words)?.what.workload()
}

impl MeasureCommand {
    /// Returns what is to be measured, if it is one workload.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        match self {
            MeasureCommand::Hash(args) => args.workload(),
            MeasureCommand::Read(args) => args.workload(),
            MeasureCommand::Write(args) => args.workload(),
            MeasureCommand::Queue(args) => args.workload(),
            MeasureCommand::Pair(args) => args.workload(),
            MeasureCommand::Cipher(args) => args.workload(),
            MeasureCommand::Cpu(args) => args.workload(),
            MeasureCommand::All(_) | MeasureCommand::Report(_) | MeasureCommand::CipherWorker => {
                bail!("it is no workload")
            }
        }
    }

    /// Returns how it is measured and where the record goes.
    pub(crate) fn session(&self) -> Option<&SessionArgs> {
        match self {
            MeasureCommand::Hash(args) => Some(&args.session),
            MeasureCommand::Read(args) => Some(&args.session),
            MeasureCommand::Write(args) => Some(&args.session),
            MeasureCommand::Queue(args) => Some(&args.session),
            MeasureCommand::Pair(args) => Some(&args.session),
            MeasureCommand::Cipher(args) => Some(&args.session),
            MeasureCommand::Cpu(args) => Some(&args.session),
            MeasureCommand::All(args) => Some(&args.session),
            MeasureCommand::Report(_) | MeasureCommand::CipherWorker => None,
        }
    }
}

/// What every measurement takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How to measure")]
pub(crate) struct SessionArgs {
    /// Use smaller sizes and fewer rounds, for a first impression: seconds instead of minutes
    #[arg(long)]
    pub(crate) quick: bool,
    /// Repeat everything N times [default: depends on the measurement]
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,
    /// Measure N sessions, each by a process of its own, into the record of --export. Sessions that
    /// it has already count, so the same command goes on after a restart
    #[arg(long, value_name = "N", requires = "export")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) sessions: Option<u32>,
    /// Draw orders and contents from SEED, so that the session can be repeated [default: random]
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// Measure hashing or loops at these QoS levels, by name, number or pace. Repeatable
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_parser = level)]
    pub(crate) qos: Vec<Level>,
    /// Write more than 10 GB without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) record: RecordArgs,
}

impl SessionArgs {
    /// Returns the seed, or a new one.
    fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(by_chance)
    }

    /// Refuses levels for storage, where threads of the kernel do much of the work at their own
    /// level.
    fn refuse_levels(&self) -> anyhow::Result<()> {
        ensure!(
            self.qos.is_empty(),
            "this is measured at the level that the command has: start it with `steadfast qos run \
             LEVEL -- steadfast measure …`"
        );
        Ok(())
    }
}

/// Returns the named values without repetitions, in the order of their first mention.
fn each_once<T: Clone + PartialEq>(named: &[T]) -> Vec<T> {
    let mut once: Vec<T> = Vec::with_capacity(named.len());
    for one in named {
        if !once.contains(one) {
            once.push(one.clone());
        }
    }
    once
}

/// Returns numbers without repetitions, in rising order.
fn rising(named: &[u64]) -> Vec<u64> {
    let mut once = named.to_vec();
    once.sort_unstable();
    once.dedup();
    once
}

/// Where the record goes, and how it is shown.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "What to show")]
pub(crate) struct RecordArgs {
    /// Write the record to FILE, with every raw sample
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// Also compare with RECORD, or with figures that others published: `published`
    #[arg(long, value_name = "RECORD")]
    pub(crate) against: Option<PathBuf>,
    /// Give the machine this name in the record
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print the record as JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) text: TextArgs,
    /// Show progress on stderr. `auto`: one line on a terminal, otherwise a line every 10 s
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) progress: When,
}

/// How documents are written.
#[derive(Clone, Debug, Args)]
pub(crate) struct TextArgs {
    /// Omit the description of the method
    #[arg(long)]
    brief: bool,
    /// Units of sizes: `si` for MB and GB, `iec` for MiB and GiB
    #[arg(long, default_value = "si", value_parser = named::<Units>())]
    pub(crate) units: Units,
}

impl TextArgs {
    /// Returns how text is written, with the colours that stdout and the environment allow.
    pub(crate) fn options(&self) -> DocumentTextOptions {
        let (color, units) = (stdout_has_color(), self.units);
        DocumentTextOptions { color, units, brief: self.brief }
    }
}
