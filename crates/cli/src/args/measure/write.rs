//! Arguments of `steadfast measure write`, and of the files that `read` shares with it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use steadfast_measure::record::Order;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::storage::plan::{Plan, Profile};
use steadfast_measure::workload::write::Write;

use super::super::quantity;
use super::{SessionArgs, rising};

/// Measure writing files, and reading them back
///
/// Writes 160 files of 2 MB to 2 GB, 53.3 GB in ten sets of 16 lengths, each set in another order,
/// and flushes each. Then reads them back with an empty page cache, and compares every byte. Works
/// in a new folder within DIR that is always removed. Fails if too little space would be left.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure write --quick /mnt
  steadfast measure write --profile medium --export disk.json /mnt
  steadfast measure write --single 1GB,2GB,5GB,10GB /mnt        with the line through them")]
pub(crate) struct WriteArgs {
    /// Write in DIR, in a folder that is removed afterwards
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    #[command(flatten)]
    files: FileArgs,

    /// Read back in this order
    #[arg(long, value_enum, default_value = "written")]
    order: OrderArg,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// Which files are written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which files")]
pub(super) struct FileArgs {
    /// Write the lengths of this profile
    #[arg(long, value_enum, default_value = "standard", conflicts_with_all = ["single", "random"])]
    profile: ProfileArg,
    /// Write one file of each SIZE per set, for example 1GB,5GB,10GB; 10GB without SIZE
    #[arg(long, value_name = "SIZE", num_args = 0..=1, default_missing_value = "10GB")]
    #[arg(value_delimiter = ',', value_parser = quantity::bytes, conflicts_with = "random")]
    single: Vec<u64>,
    /// Write N files per set, 5 to 100, of random lengths between 2 MB and 2 GB
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=100))]
    random: Option<u32>,
    /// Pause for TIME between sets, for example 30s, so that a disk can empty its cache
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pause: Option<Duration>,
    /// Do not flush. Memory then takes what it can, and the record says so
    #[arg(long)]
    no_sync: bool,
}

/// Lengths of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProfileArg {
    /// 16 lengths from 2 MB to 2 GB, ten sets: 53.3 GB
    Standard,
    /// 12 lengths up to 400 MB, ten sets: 9.3 GB; not standard
    Medium,
    /// 10 lengths up to 100 MB, ten sets: 3.3 GB; not standard
    Small,
    /// 7 lengths up to 40 MB, five sets: 450 MB; not standard
    Quick,
    /// 10 lengths from 4 kB to 2 MB, 500 files: 202 MB; often measures memory instead of the disk
    SmallFiles,
}

impl ProfileArg {
    pub(super) fn profile(self) -> Profile {
        match self {
            ProfileArg::Standard => Profile::Standard,
            ProfileArg::Medium => Profile::Medium,
            ProfileArg::Small => Profile::Small,
            ProfileArg::Quick => Profile::Quick,
            ProfileArg::SmallFiles => Profile::SmallFiles,
        }
    }
}

/// The order in which files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OrderArg {
    /// As they were written
    Written,
    /// As the folder lists them
    Folder,
}

impl OrderArg {
    pub(super) fn order(self) -> Order {
        match self {
            OrderArg::Written => Order::Written,
            OrderArg::Folder => Order::Sequential,
        }
    }
}

impl FileArgs {
    /// Returns the files that are asked for.
    pub(super) fn plan(&self, session: &SessionArgs) -> Plan {
        let profile = match (self.single.as_slice(), self.random, self.profile) {
            ([_, ..], _, _) => Profile::Single(rising(&self.single)),
            (_, Some(count), _) => Profile::Random(count),
            (_, _, ProfileArg::Standard) if session.quick => Profile::Quick,
            (_, _, named) => named.profile(),
        };
        let plan = Plan::new(profile, session.seed());
        Plan {
            sets: session.rounds.unwrap_or(plan.sets),
            pause: self.pause.unwrap_or(plan.pause),
            sync: !self.no_sync,
            ..plan
        }
    }
}

impl WriteArgs {
    /// Returns what is to be measured.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        self.session.refuse_levels()?;
        let plan = self.files.plan(&self.session);
        plan.check()?;
        Ok(Box::new(Write { folder: self.folder.clone(), plan, order: self.order.order() }))
    }
}
