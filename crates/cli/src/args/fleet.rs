//! The arguments of `steadfast fleet`.
//!
//! In: arguments. Out: a job, a shard, how a job is planned, run and put together.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use steadfast::Selection;
use steadfast::manifest::Format;

use super::qos::LevelOf;
use super::{AllowEmptyArg, EngineArgs, LevelArgs, OutputArgs, PathArgs, quantity};

/// Check many files on many machines.
///
/// A job is a folder that all machines see. Any engine can run it, since a shard is one command
/// whose outcome is one file, whole or absent; to run it twice does no harm. The Python package in
/// fleet/ runs a job on Dask, with a limit for each device; arrays of Slurm and indexed jobs of
/// Kubernetes need a few lines.
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

impl FleetArgs {
    /// Returns the level that this process is to be at.
    pub(crate) fn level(&self) -> Option<LevelOf> {
        match &self.command {
            FleetCommand::Plan(args) => Some(LevelOf::Work(args.level.level())),
            FleetCommand::Run(args) => Some(LevelOf::Run(args.engine.level.level())),
            FleetCommand::Status(_) | FleetCommand::Merge(_) => None,
        }
    }
}

/// What is done with a job.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    Plan(FleetPlanArgs),
    Run(FleetRunArgs),
    Status(FleetStatusArgs),
    Merge(FleetMergeArgs),
}

/// Cut files into shards of about equal cost.
///
/// The files are those beneath PATH, judged by their tags; or those that a manifest names, or a
/// catalogue has tags of, judged by these. A shard has files of one device, in the order of a walk.
/// Its cost is its bytes and a number of bytes for each file.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast fleet plan /archive --out JOB --shards 200
  steadfast fleet plan --catalogue /archive --older-than 30d --out JOB
  steadfast fleet plan --manifest SHA256SUMS /copy --out JOB

Exit status: 0 planned; 2 planned, but no file was found, or some directories or lines could not \
be made out, or not planned; 75 try again (a full disk, something not mounted); 130 interrupted.")]
pub(crate) struct FleetPlanArgs {
    /// Make the job in this folder, which must not exist yet or be empty. Every machine must see it
    #[arg(long, value_name = "JOB")]
    pub(crate) out: PathBuf,
    /// About so many shards; at least one for each device, none empty
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) shards: Option<u64>,
    /// Shards of about this cost, as 50G [default: 16GiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes, conflicts_with = "shards")]
    pub(crate) shard_cost: Option<u64>,
    /// Bytes that could be checked in the time that a file takes besides its own [default: 64KiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) file_cost: Option<u64>,
    /// Take the files that FILE names, in any format that `check --manifest` knows. A PATH then
    /// says what its names are relative to
    #[arg(long, value_name = "FILE", conflicts_with = "catalogue")]
    pub(crate) manifest: Option<PathBuf>,
    /// The format of FILE [default: told by its name and its first bytes]
    #[arg(long, value_name = "NAME", requires = "manifest")]
    pub(crate) format: Option<Format>,
    /// Take the files that the catalogue of the tree at or above DIR has tags of; the longest
    /// unchecked are run first
    #[arg(long, value_name = "DIR", conflicts_with = "path")]
    pub(crate) catalogue: Option<PathBuf>,
    /// Only what was not checked for TIME, as 30d
    #[arg(long, value_name = "TIME", value_parser = quantity::duration, requires = "catalogue")]
    pub(crate) older_than: Option<Duration>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// The directory; with --manifest, what its names are relative to
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Leave out what PATTERN matches, in the syntax of .gitignore, relative to PATH. Repeatable;
    /// nothing is left out unasked
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["manifest", "catalogue"])]
    pub(crate) exclude: Vec<String>,
    /// Read such patterns from FILE, one on each line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["manifest", "catalogue"])]
    pub(crate) exclude_from: Vec<PathBuf>,
    /// Do not enter directories on other file systems
    #[arg(long, conflicts_with_all = ["manifest", "catalogue"])]
    pub(crate) one_file_system: bool,
    #[command(flatten)]
    pub(crate) empty: AllowEmptyArg,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
}

impl FleetPlanArgs {
    /// Returns the files beneath PATH.
    pub(crate) fn selection(&self, path: &Path) -> anyhow::Result<Selection> {
        let paths = PathArgs {
            paths: vec![path.to_owned()],
            files_from: None,
            null: false,
            exclude: self.exclude.clone(),
            exclude_from: self.exclude_from.clone(),
            one_file_system: self.one_file_system,
            empty: self.empty,
        };
        paths.selection()
    }
}

/// Check the files of one shard, and leave its part in the job.
///
/// A part gets its name when it is whole, so a machine that dies leaves none. If the part is there,
/// nothing is done. Findings are in the part; only corruption is told by the exit status.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast fleet run JOB --shard 42
  steadfast fleet run JOB --shard $SLURM_ARRAY_TASK_ID
  steadfast fleet run JOB --shard 7 --root /mnt/archive --rate-limit 200MB

Exit status: 0 the part is there, and no file in it is corrupt; 3 the part is there, and some file \
is corrupt: never try again for that; 75 there is no part, and to try again may help (a full disk, \
something not mounted or not to be read, not one of its files there); 130 interrupted, no part; \
2 there is no part, and somebody must look (usage, a damaged shard).")]
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
    /// Believe it if not one file of the shard is there, and say that they are missing: otherwise
    /// something is taken for not mounted, with status 75
    #[arg(long)]
    pub(crate) accept_missing: bool,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Say how far a job is, what failed, and what was found.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Exit status: 3 something is corrupt; else 75 parts are missing, or 2 if somebody must look at each \
of these first; else 1 something is modified or missing; 2 could not tell; 0 every part is there \
and nothing is wrong.")]
pub(crate) struct FleetStatusArgs {
    /// The folder of the job
    #[arg(value_name = "JOB")]
    pub(crate) job: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Make one result of all parts, the same whatever the shards were.
///
/// Every part is read to its end and found whole. A job of a catalogue is entered there as one
/// run. A page about it is made by --report, as of a check.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast fleet merge JOB --out result.jsonl --report result.html
  steadfast fleet merge JOB --out so-far.jsonl --partial

Exit status: 0 nothing wrong; 1 something is modified, missing, or with --require-tags untagged; \
2 could not tell, no file was judged, a part is damaged, or somebody must look at every shard \
whose part is missing; 3 something is corrupt; 75 parts are missing; 130 interrupted.")]
pub(crate) struct FleetMergeArgs {
    /// The folder of the job
    #[arg(value_name = "JOB")]
    pub(crate) job: PathBuf,
    /// Write the result to FILE; an earlier result is replaced, anything else is not
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Take what there is, although parts are missing: status 2
    #[arg(long)]
    pub(crate) partial: bool,
    /// Take a file without a tag for a failure: status 1
    #[arg(long)]
    pub(crate) require_tags: bool,
    /// Do not enter it in the catalogue that the job is of
    #[arg(long)]
    pub(crate) no_catalogue: bool,
    #[command(flatten)]
    pub(crate) empty: AllowEmptyArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
