//! The arguments of `history` and `audit`, which only read a catalogue.

use std::path::PathBuf;

use clap::Args;
use steadfast_report::Units;

use super::named::named;
use super::{LevelArgs, quantity};

/// Show all verdicts of a file, and everything that happened to it.
///
/// Prints the present state of the file, then every run, oldest first: when, by which verb and
/// version, read from where, the verdict, and the old and new digest if the tag changed. For a
/// directory, prints the runs over it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast history ~/Pictures/2019/IMG_0042.jpg
  steadfast history --json IMG_0042.jpg | jq -r 'select(.verdict == \"corrupt\") | .started_s'
  steadfast history --premis IMG_0042.jpg > IMG_0042.premis.xml

Exit status: 0 done; 2 there is no catalogue, it cannot be read, or it has no record of the file; \
130 interrupted.")]
pub(crate) struct HistoryArgs {
    /// A file or a directory, which may have been deleted
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) place: CatalogueFileArg,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
}

/// Show what was verified in a tree and when, and what failed.
///
/// A file is verified by a run that reads every byte and finds the digest of its tag. Prints how
/// much was verified in the last days, how much never was, which failures are still open, and the
/// last runs. Reads only the catalogue.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast audit ~/Pictures
  steadfast audit --overdue 90 ~/Pictures    for a scheduler: status 1 if anything is overdue
  steadfast audit --duplicates --min 1MB ~/Pictures
  steadfast audit --premis ~/Pictures > pictures.premis.xml

Exit status: 0 nothing wrong; 1 a failure is open, or with --overdue a file is overdue; 2 there is \
no catalogue, it cannot be read, it has no file with a tag, or with --verify it is damaged; 3 an \
open failure is a corrupt file; 130 interrupted. 3 outranks 1, 1 outranks 2.")]
pub(crate) struct AuditArgs {
    /// The tree, or any directory in it. The audit covers the whole tree [default: the current
    /// directory]
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) place: CatalogueFileArg,

    /// Count what was verified in the last N days, for each N, for example 30,365
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_values_t = [7, 30, 90, 365],
        conflicts_with = "premis"
    )]
    pub(crate) days: Vec<u32>,

    /// List the files not verified in the last DAYS
    #[arg(long, value_name = "DAYS", conflicts_with = "premis")]
    pub(crate) overdue: Option<u32>,

    /// List files with the same contents, by their tags
    #[arg(long, conflicts_with = "premis")]
    pub(crate) duplicates: bool,

    /// List only duplicates of at least SIZE, for example 1MB
    #[arg(long, value_name = "SIZE", requires = "duplicates", value_parser = quantity::bytes)]
    pub(crate) min: Option<u64>,

    /// Verify the catalogue itself: the seal of every run and the check value of every record
    #[arg(long, conflicts_with = "premis")]
    pub(crate) verify: bool,

    /// Also list closed failures, and more runs
    #[arg(short, long, conflicts_with = "premis")]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
}

/// Which catalogue is read.
#[derive(Debug, Args)]
pub(crate) struct CatalogueFileArg {
    /// Read the catalogue FILE [default: that of the nearest tree at or above]
    #[arg(long = "catalogue", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// How the answer looks.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to print")]
pub(crate) struct DocumentArgs {
    /// Print one JSON object per fact, the summary last
    #[arg(long, conflicts_with_all = ["csv", "premis"])]
    pub(crate) json: bool,

    /// Print CSV: a header, then one row per fact
    #[arg(long, conflicts_with = "premis")]
    pub(crate) csv: bool,

    /// Print fixity events as PREMIS 3 XML, for archives. For a tree: the last verification of each
    /// file, and every failure
    #[arg(long)]
    pub(crate) premis: bool,

    /// Units of sizes: `si` for MB and GB, `iec` for MiB and GiB
    #[arg(long, default_value = "si", value_parser = named::<Units>(), hide_short_help = true)]
    pub(crate) units: Units,
}
