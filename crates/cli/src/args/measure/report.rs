//! Arguments of `steadfast measure report`.

use std::path::PathBuf;

use clap::Args;

use super::TextArgs;

/// Make a page with charts from records of measurements.
///
/// Reads records that `measure --export` wrote. A page is one file without scripts, and loads
/// nothing from the network.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure report this.json                        as text
  steadfast measure report -o this.html this.json           a page with charts
  steadfast measure report -o all.html a.json b.json --against published
  steadfast measure report -o rate.svg --chart queue-rate-4-KiB this.json

Exit status: 0 done; 2 a record could not be read, or the page could not be written.")]
pub(crate) struct ReportArgs {
    /// Records. `published` stands for all figures published elsewhere
    #[arg(value_name = "RECORD", required = true)]
    pub(crate) records: Vec<PathBuf>,

    /// Compare the records with this one, or with `published`
    #[arg(long, value_name = "RECORD")]
    pub(crate) against: Option<PathBuf>,

    /// Write to FILE, in the format of its extension: .html, .svg, .csv, .md or .json [default:
    /// text on stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// The chart for an .svg file
    #[arg(long, value_name = "NAME", requires = "output")]
    pub(crate) chart: Option<String>,

    /// Print JSON, with all figures in base units
    #[arg(long, conflicts_with = "output")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) text: TextArgs,
}
