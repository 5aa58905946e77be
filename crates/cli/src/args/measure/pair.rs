//! Arguments of `steadfast measure pair`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use steadfast_measure::record::Side;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::pair::Pair;

use super::super::quantity;
use super::write::ProfileArg;
use super::{SessionArgs, each_once, rising};

/// Measure the same work in two folders in turn, for example encrypted and plain
///
/// Writes, reads, and reads and hashes files in A and in B, in a new random order in every round,
/// then reads and writes 4 KiB at random with several in flight, and prints the ratio of A to B
/// with its interval. Drift affects both alike. If A is reached through something else, such as
/// FUSE or a share, --control names a folder that is reached in the same way without what A adds.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure pair /mnt/encrypted /mnt/plain
  steadfast measure pair --profile standard /mnt/encrypted /mnt/plain
  steadfast measure pair --size 1GB --depth 1,32 /mnt/encrypted /mnt/plain
  steadfast measure pair --sequential --pause 20s /mnt/encrypted /mnt/plain
  steadfast measure pair ~/vault /mnt/plain --control ~/fuse-without-cipher --rounds 15

Exit status: 0 measured; 2 something could not be measured; 130 interrupted.")]
pub(crate) struct PairArgs {
    /// The folder to measure
    #[arg(value_name = "A")]
    a: PathBuf,

    /// The folder to compare it with
    #[arg(value_name = "B")]
    b: PathBuf,

    /// A folder reached like A, without what A adds
    #[arg(long, value_name = "DIR")]
    control: Option<PathBuf>,

    /// Use files of SIZE, for example 64MB. Repeatable [default: 1MB, 16MB and 256MB, with --quick
    /// 1MB, 4MB and 16MB]
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = quantity::bytes)]
    size: Vec<u64>,

    /// Use the lengths of this profile of `measure write`; standard is the protocol of 160 files
    #[arg(long, value_enum, conflicts_with = "size")]
    profile: Option<ProfileArg>,

    /// Read and write 4 KiB at random with N in flight. Repeatable [default: 1, 8 and 32, with
    /// --quick 1 and 32]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    depth: Vec<u32>,

    /// With each depth, also read 1 MiB at a time in sequence
    #[arg(long)]
    sequential: bool,

    /// Only use files, without random reads and writes in flight
    #[arg(long, conflicts_with_all = ["depth", "sequential"])]
    files_only: bool,

    /// Rest for TIME between rounds, so that drives can write out their caches and cool down
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = quantity::duration)]
    pause: Duration,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl PairArgs {
    /// Returns what is to be measured.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        let session = &self.session;
        session.refuse_levels()?;
        let mut folders = vec![(Side::A, self.a.clone()), (Side::B, self.b.clone())];
        folders.extend(self.control.clone().map(|folder| (Side::Control, folder)));
        let seed = session.seed();
        let of = if session.quick { Pair::quick } else { Pair::standard };
        let mut pair = of(folders, seed);
        pair.pause = self.pause;
        if let Some(profile) = self.profile.map(ProfileArg::profile) {
            (pair.lens_bytes, pair.rounds) = (profile.lens_bytes(seed), profile.sets());
            pair.span = None;
        }
        if !self.size.is_empty() {
            pair.lens_bytes = rising(&self.size);
        }
        if let Some(rounds) = session.rounds {
            // Where a number of rounds is asked for, no time cuts it short.
            (pair.rounds, pair.span) = (rounds, None);
        }
        pair.depths = pair.depths.filter(|_| !self.files_only);
        if let Some(in_flight) = &mut pair.depths {
            in_flight.sequential = self.sequential;
            if !self.depth.is_empty() {
                in_flight.depths = each_once(&self.depth);
                in_flight.depths.sort_unstable();
            }
        }
        Ok(Box::new(pair))
    }
}
