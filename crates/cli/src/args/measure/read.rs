//! Arguments of `steadfast measure read`.

use std::path::PathBuf;

use clap::Args;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::read::{ExistingFiles, Read, Source, Way};

use super::super::named::named;
use super::write::{FileArgs, OrderArg};
use super::{SessionArgs, each_once};

/// Rounds over files that are there already; five are the fewest that give an interval.
const EXISTING_ROUNDS: u32 = 5;

/// Measure reading files: with an empty page cache, past it, and from it
///
/// Writes files as `measure write` does, without timing that, and reads each in every way in turn.
/// All bytes are compared afterwards. With --existing, reads the files in DIR and writes none.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure read --quick /mnt
  steadfast measure read --existing ~/Pictures")]
pub(crate) struct ReadArgs {
    /// Read in DIR, from files created for it in a folder that is removed afterwards
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Read the files in DIR and write none. Removes them from the page cache
    #[arg(long, conflicts_with_all = ["profile", "single", "random", "pause", "no_sync"])]
    existing: bool,

    /// Read in these ways
    #[arg(long, value_name = "WAY", value_delimiter = ',', value_parser = named::<Way>())]
    #[arg(default_values = ["cold", "direct"])]
    from: Vec<Way>,

    /// Read in this order
    #[arg(long, value_enum, default_value = "written")]
    order: OrderArg,

    #[command(flatten)]
    files: FileArgs,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl ReadArgs {
    /// Returns what is to be measured.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        self.session.refuse_levels()?;
        let plan = self.files.plan(&self.session);
        plan.check()?;
        let ways = each_once(&self.from);
        let source = match self.existing {
            true => {
                let rounds = self.session.rounds.unwrap_or(EXISTING_ROUNDS);
                Source::Existing(ExistingFiles { rounds, seed: plan.seed })
            }
            false => Source::Own(plan),
        };
        let order = self.order.order();
        Ok(Box::new(Read { folder: self.folder.clone(), source, ways, order }))
    }
}
