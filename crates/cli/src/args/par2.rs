//! The arguments of `steadfast par2`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{DryRunArg, LevelArgs};

/// Verify files by a PAR2 set of another tool, and repair them.
///
/// A set is read from SET, one of its PAR2 files, and from the PAR2 files beside it whose names
/// begin alike. Its files are those beneath the same folder.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast par2 verify photos.par2                      compare every block
  steadfast par2 repair --dry-run photos.par2            what can be repaired
  steadfast par2 repair photos.par2                      shows it, and asks")]
pub(crate) struct Par2Args {
    #[command(subcommand)]
    pub(crate) what: Par2Command,
}

/// What to do with a PAR2 set.
#[derive(Debug, Subcommand)]
pub(crate) enum Par2Command {
    Verify(Par2VerifyArgs),
    Repair(Par2RepairArgs),
}

/// Compare every block of the files with a PAR2 set.
///
/// Writes nothing. A file that differs from the set but not from its own tag was edited after the
/// set was made, and is reported as modified.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast par2 verify photos.par2
  steadfast par2 verify --json photos.par2 | jq 'select(.verdict == \"corrupt\")'

Exit status: 0 every file is as the set says; 1 one is missing or was edited; 3 one is damaged; 2 \
could not tell (no set, unreadable); 130 interrupted. 3 outranks 1, 1 outranks 2.")]
pub(crate) struct Par2VerifyArgs {
    #[command(flatten)]
    pub(crate) source: Par2SourceArgs,
}

/// Repair damaged and missing files by a PAR2 set.
///
/// Each file is written as a draft beside the damaged one, and put in its place only if it has the
/// length and the MD5 of the set, and the digest of its tag if it has one. Owner, mode, attributes
/// and times stay. The damaged file is kept in .steadfast/damaged beside the set. A file that was
/// edited after the set was made is left alone.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast par2 repair --dry-run photos.par2
  steadfast par2 repair --yes photos.par2
  steadfast par2 repair --from renamed.jpg photos.par2

Exit status: 0 every file is as the set says; 1 one was edited; 3 something damaged or missing \
remains; 2 could not tell (no set, unreadable); 130 interrupted. 3 outranks 1, 1 outranks 2.")]
pub(crate) struct Par2RepairArgs {
    /// Do not ask
    #[arg(short, long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) source: Par2SourceArgs,
}

/// What every verb takes that reads a set.
#[derive(Debug, Args)]
pub(crate) struct Par2SourceArgs {
    /// A PAR2 file of each set. Further files of the same set may be given too
    #[arg(value_name = "SET", required = true)]
    pub(crate) sets: Vec<PathBuf>,
    /// Search this file too for blocks that are lost: a renamed file of a set, or a copy. May be
    /// repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    /// Print one JSON object for each file, the summary last
    #[arg(long)]
    pub(crate) json: bool,
}
