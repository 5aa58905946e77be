//! Arguments of `steadfast measure read`.

use std::path::PathBuf;

use clap::Args;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::read::{Read, Way};

use super::super::named::named;
use super::write::{FileArgs, OrderArg};
use super::{SessionArgs, each_once};

/// Measure reading files: with an empty page cache, past it, and from it
///
/// Writes files as `measure write` does, without timing that, and reads each in every way in turn.
/// All bytes are compared afterwards.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure read --quick /mnt
  steadfast measure read --from cold,direct,warm /mnt")]
pub(crate) struct ReadArgs {
    /// Read in DIR, from files created for it in a folder that is removed afterwards
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

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
        let files = self.files.plan(&self.session);
        files.check()?;
        let (ways, order) = (each_once(&self.from), self.order.order());
        Ok(Box::new(Read { folder: self.folder.clone(), files, ways, order }))
    }
}
