//! What `show --history` and `status --audit` take, which only read a catalogue.

use std::path::PathBuf;

use clap::Args;
use steadfast::CatalogueUse;
use steadfast_report::Units;

use super::named::named;
use super::quantity;

/// The heading of the options of an audit.
const AUDIT: &str = "What an audit tells";

/// What of a tree is audited, from its catalogue.
#[derive(Debug, Args)]
#[command(next_help_heading = AUDIT)]
pub(crate) struct AuditArgs {
    /// Show what was proved in DIR and when, which failures are open, and the last runs. A run
    /// proves a file if it reads every byte and finds the digest of its tag
    #[arg(long, conflicts_with_all = ["prometheus", "alert"])]
    pub(crate) audit: bool,
    #[command(flatten)]
    pub(crate) place: CatalogueFileArg,

    /// Count what was proved in the last N days, for each N, for example 30,365
    #[arg(
        long,
        help_heading = AUDIT,
        value_name = "N",
        value_delimiter = ',',
        default_values_t = [7, 30, 90, 365],
        conflicts_with = "premis"
    )]
    pub(crate) days: Vec<u32>,

    /// List the files not proved in the last DAYS
    #[arg(
        long,
        help_heading = AUDIT,
        value_name = "DAYS",
        conflicts_with = "premis",
        requires = "audit"
    )]
    pub(crate) overdue: Option<u32>,

    /// List files with the same contents, by their tags
    #[arg(long, help_heading = AUDIT, conflicts_with = "premis", requires = "audit")]
    pub(crate) duplicates: bool,

    /// List only duplicates of at least SIZE, for example 1MB
    #[arg(
        long,
        help_heading = AUDIT,
        value_name = "SIZE",
        requires = "duplicates",
        value_parser = quantity::bytes
    )]
    pub(crate) min: Option<u64>,

    /// Verify the catalogue itself: the seal of every run and the check value of every record
    #[arg(long, help_heading = AUDIT, conflicts_with = "premis", requires = "audit")]
    pub(crate) verify: bool,

    /// Also list settled failures, and more runs
    #[arg(short, long, help_heading = AUDIT, conflicts_with = "premis", requires = "audit")]
    pub(crate) verbose: bool,
}

/// Which catalogue is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "The catalogue")]
pub(crate) struct CatalogueFileArg {
    /// Read the catalogue FILE [default: that of the nearest tree at or above]
    #[arg(long = "catalogue", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

impl CatalogueFileArg {
    /// Returns which catalogue a run uses.
    pub(crate) fn choice(&self) -> CatalogueUse {
        self.file.clone().map_or(CatalogueUse::Nearest, CatalogueUse::At)
    }
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

    /// Print fixity events as PREMIS 3 XML, for archives. For a tree: the last proof of each file,
    /// and every failure
    #[arg(long)]
    pub(crate) premis: bool,

    /// Units of sizes: `si` for MB and GB, `iec` for MiB and GiB
    #[arg(long, default_value = "si", value_parser = named::<Units>())]
    pub(crate) units: Units,
}
