//! The arguments of `steadfast fleet`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use steadfast::manifest::Format;

use super::{AllowEmptyArg, EngineArgs, LevelArgs, OutputArgs, WalkArgs, quantity};

/// Check many files on many machines.
///
/// `plan` divides the files into shards, `run` checks one shard on any machine, `merge` makes one
/// result of all parts. A job is a folder that all machines see. Running a shard twice is harmless.
/// The Python package in fleet/ runs a job on Dask with a limit per device. Slurm arrays and
/// indexed Kubernetes jobs need a few lines.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast fleet plan /archive --out JOB --shards 200
  steadfast fleet run JOB --shard 42            on any machine that sees JOB and /archive
  steadfast fleet status JOB
  steadfast fleet merge JOB --out result.jsonl --report result.html")]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

/// What is done with a job.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    Plan(FleetPlanArgs),
    Run(FleetRunArgs),
    Status(FleetStatusArgs),
    Merge(FleetMergeArgs),
}

/// Divide files into shards of about equal cost.
///
/// The files are those below PATH, checked by their tags, or those of a manifest or a catalogue,
/// checked by its records. All files of a shard are on one device, in the order of a walk. A file
/// costs its length plus a number of bytes for opening it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast fleet plan /archive --out JOB --shards 200
  steadfast fleet plan --catalogue /archive --older-than 30d --out JOB
  steadfast fleet plan --manifest SHA256SUMS /copy --out JOB

Exit status: 0 planned; 2 planned, but no file was found, or some directories or lines could not \
be read, or not planned; 75 try again (a full disk, something not mounted); 130 interrupted.")]
pub(crate) struct FleetPlanArgs {
    /// Make the job in this folder, which must be new or empty. Every machine must see it
    #[arg(long, value_name = "JOB")]
    pub(crate) out: PathBuf,
    /// Make about N shards, at least one per device
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) shards: Option<u64>,
    /// Make shards of about this cost, for example 50G [default: 16GiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes, conflicts_with = "shards")]
    pub(crate) shard_cost: Option<u64>,
    /// The cost of a file beside its bytes: the bytes that could be checked in that time [default:
    /// 64KiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) file_cost: Option<u64>,
    /// Check the files that FILE names, in any format that `check --manifest` reads. Names are
    /// relative to PATH
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["catalogue", "exclude", "exclude_from", "one_file_system"])]
    pub(crate) manifest: Option<PathBuf>,
    /// The format of FILE [default: recognised by its name and first bytes]
    #[arg(long, value_name = "NAME", requires = "manifest")]
    pub(crate) format: Option<Format>,
    /// Check the files that have a tag in the catalogue of the tree at or above DIR. Files not
    /// checked for longest come first
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["path", "exclude", "exclude_from", "one_file_system"])]
    pub(crate) catalogue: Option<PathBuf>,
    /// Check only files not checked for TIME, for example 30d
    #[arg(long, value_name = "TIME", value_parser = quantity::duration, requires = "catalogue")]
    pub(crate) older_than: Option<Duration>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// The directory to check, or with --manifest the one that its names are relative to
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
}

/// Check the files of one shard, and write its part into the job.
///
/// A part appears only when it is complete, so an interrupted run leaves none. If the part exists,
/// nothing is run. Findings are in the part; the exit status reports only corrupt files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast fleet run JOB --shard 42
  steadfast fleet run JOB --shard $SLURM_ARRAY_TASK_ID
  steadfast fleet run JOB --shard 7 --root /mnt/archive --rate-limit 200MB

Exit status: 0 the part exists, and no file in it is corrupt; 3 the part exists, and a file in it \
is corrupt: do not retry; 75 there is no part, and a retry may help (full disk, not mounted, not \
readable, no file of the shard present); 130 interrupted, no part; 2 there is no part, and a \
person must look (usage, damaged shard).")]
pub(crate) struct FleetRunArgs {
    /// The folder of the job
    #[arg(value_name = "JOB")]
    pub(crate) job: PathBuf,
    /// The shard's number, from 0
    #[arg(long, value_name = "N")]
    pub(crate) shard: u64,
    /// Where the tree is on this machine [default: where it was when the job was planned]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Report all files as missing if none of the shard is present. Otherwise the tree is assumed
    /// not to be mounted, with status 75
    #[arg(long)]
    pub(crate) accept_missing: bool,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Show the progress of a job, what failed, and what was found.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast fleet status JOB
  steadfast fleet status --json JOB | jq .missing

Exit status: 3 something is corrupt; otherwise 75 parts are missing, or 2 if a person must look at \
each of them first; otherwise 1 something is modified or missing; 2 could not tell; 0 every part \
exists and nothing is wrong.")]
pub(crate) struct FleetStatusArgs {
    /// The folder of the job
    #[arg(value_name = "JOB")]
    pub(crate) job: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Merge all parts into one result.
///
/// The result does not depend on the shards. Every part is verified. If the job was planned from a
/// catalogue, the result is entered there as one run. --report writes a report, as for a check.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast fleet merge JOB --out result.jsonl --report result.html
  steadfast fleet merge JOB --out so-far.jsonl --partial

Exit status: 0 nothing wrong; 1 something is modified, missing, or with --require-tags untagged; \
2 could not tell, no file was checked, a part is damaged, or a person must look at every shard \
whose part is missing; 3 something is corrupt; 75 parts are missing; 130 interrupted.")]
pub(crate) struct FleetMergeArgs {
    /// The folder of the job
    #[arg(value_name = "JOB")]
    pub(crate) job: PathBuf,
    /// Write the result to FILE. Replaces an earlier result, and no other file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Merge although parts are missing, with status 2
    #[arg(long)]
    pub(crate) partial: bool,
    /// Treat untagged files as failures, with status 1
    #[arg(long)]
    pub(crate) require_tags: bool,
    /// Do not enter the result in the catalogue
    #[arg(long)]
    pub(crate) no_catalogue: bool,
    #[command(flatten)]
    pub(crate) empty: AllowEmptyArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
