//! The arguments of a check in shards, and of the merge of their results.

use std::path::PathBuf;

use clap::Args;
use steadfast::Shard;

use super::{AllowEmptyArg, OutputArgs};

/// Which shard of a check.
#[derive(Debug, Args)]
#[command(next_help_heading = "Many machines")]
pub(crate) struct ShardArgs {
    /// Check only shard I of N, from 0 to N-1: the files of PATH whose hash of the path says so.
    /// They are those of the catalogue, or of --files-from; with neither, PATH is walked. Records
    /// nothing
    #[arg(
        long,
        value_name = "I/N",
        requires = "result",
        conflicts_with_all = [
            "where", "manifest", "max_time", "max_bytes", "resume", "quick", "wait"
        ]
    )]
    pub(crate) shard: Option<Shard>,

    /// Write the result of the shard to FILE, which `merge` reads. It replaces an earlier one
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(crate) result: Option<PathBuf>,
}

/// Merge the results of a check in shards.
///
/// Reads the results of `check --shard`, and reports them as one check. A result that is cut off or
/// altered does not count, and of two results of one shard the later one does. Shards without a
/// result are named, and are never a success. Results of different checks are refused.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast check --shard 0/2 --result results/0 /archive   on one machine
  steadfast check --shard 1/2 --result results/1 /archive   on another one
  steadfast merge results
  steadfast merge --enter --report check.html results

Sorting takes as much space as the results, in the folder TMPDIR or /var/tmp.

Exit status: as that of `check`; 2 also if a shard has no result that counts, or two results are \
of different checks.")]
pub(crate) struct MergeArgs {
    /// The result of each shard, or folders that have nothing else
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Enter the check in the catalogue of its tree, as one run that began with the first shard
    #[arg(long)]
    pub(crate) enter: bool,
    /// Enter it in the catalogue FILE [default: that of the nearest tree at or above its root]
    #[arg(long, value_name = "FILE", requires = "enter")]
    pub(crate) catalogue: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) empty: AllowEmptyArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
