//! The verbs that ask a catalogue, and change nothing.

use std::path::PathBuf;

use clap::Args;
use steadfast_report::Units;

use super::{LevelArgs, UnitsArg, quantity};

/// Show all verdicts of a file, and everything that happened to it.
///
/// Run by run, the first one first: when, by which verb and version, read from where, the verdict,
/// and old and new digests where a tag changed. First what is known of the file now. For a
/// directory, the runs over it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast history ~/Pictures/2019/IMG_0042.jpg
  steadfast history --json IMG_0042.jpg | jq -r 'select(.verdict == \"corrupt\") | .started_s'
  steadfast history --premis IMG_0042.jpg > IMG_0042.premis.xml

Exit status: 0 told; 2 there is no catalogue, it cannot be read, or does not know the file; \
130 interrupted.")]
pub(crate) struct HistoryArgs {
    /// A file or a directory; it need not be there any more
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
/// A file is proved by a run that read every byte of it and found the digest of its tag. The page
/// has how much was proved in the last days, how much never, what failed and is not settled since,
/// and the last runs. It reads nothing but the catalogue.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast audit ~/Pictures                 a page to print and sign
  steadfast audit --overdue 90 ~/Pictures    for a scheduler: status 1 if anything is overdue
  steadfast audit --duplicates --min 1MB ~/Pictures
  steadfast audit --premis ~/Pictures > pictures.premis.xml

Exit status: 0 nothing is wrong; 1 something failed and is not settled, or with --overdue is \
overdue; 2 there is no catalogue, it cannot be read, knows no file with a tag, or with --verify is \
damaged; 3 a failure that is not settled is corrupt; 130 interrupted. 3 outranks 1, 1 outranks 2.")]
pub(crate) struct AuditArgs {
    /// The tree, or any directory in it: the audit is of the whole tree [default: the current
    /// directory]
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) place: CatalogueFileArg,

    /// Count what was proved in the last N days, for each N, as 30,365
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_values_t = [7, 30, 90, 365],
        conflicts_with = "premis"
    )]
    pub(crate) days: Vec<u32>,

    /// List the files that were not proved in the last DAYS
    #[arg(long, value_name = "DAYS", conflicts_with = "premis")]
    pub(crate) overdue: Option<u32>,

    /// List files that have the same contents by their tags
    #[arg(long, conflicts_with = "premis")]
    pub(crate) duplicates: bool,

    /// Of these, only files of at least SIZE, as 1MB
    #[arg(long, value_name = "SIZE", requires = "duplicates", value_parser = quantity::bytes)]
    pub(crate) min: Option<u64>,

    /// Look through the catalogue itself: every seal and every check value
    #[arg(long, conflicts_with = "premis")]
    pub(crate) verify: bool,

    /// List settled failures too, and more runs
    #[arg(short, long, conflicts_with = "premis")]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
}

/// Which catalogue is asked.
#[derive(Debug, Args)]
pub(crate) struct CatalogueFileArg {
    /// Ask the catalogue FILE instead of that of the nearest tree at or above
    #[arg(long = "catalogue", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// How the answer looks.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to print")]
pub(crate) struct DocumentArgs {
    /// Print one JSON object for each fact, the summary last
    #[arg(long, conflicts_with_all = ["csv", "premis"])]
    pub(crate) json: bool,

    /// Print CSV, one row for each fact, below a header
    #[arg(long, conflicts_with = "premis")]
    pub(crate) csv: bool,

    /// Print fixity events as PREMIS 3 XML, for archives; of a tree, each file's last proof and
    /// every failure
    #[arg(long)]
    pub(crate) premis: bool,

    /// Multiples of bytes: `si` for MB and GB, `iec` for MiB and GiB
    #[arg(long, value_enum, default_value = "si")]
    units: UnitsArg,
}

impl DocumentArgs {
    /// Returns the multiples of bytes.
    pub(crate) fn units(&self) -> Units {
        self.units.units()
    }
}
