//! Arguments of `steadfast measure pair`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use steadfast_measure::record::Side;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::pair::{Pair, PairDepths};

use super::super::quantity;
use super::write::ProfileArg;
use super::{SessionArgs, rising};

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
        let (lens_bytes, rounds, span_s) = match session.quick {
            true => (vec![1_000_000, 4_000_000, 16_000_000], 20, Some(30)),
            false => (vec![1_000_000, 16_000_000, 256_000_000], 40, Some(1800)),
        };
        let (lens_bytes, rounds, span_s) = match self.profile.map(ProfileArg::profile) {
            None => (lens_bytes, rounds, span_s),
            Some(profile) => (profile.lens_bytes(session.seed()), profile.sets(), None),
        };
        // Where a number of rounds is asked for, no time cuts it short.
        let span_s = span_s.filter(|_| session.rounds.is_none());
        let (depths, file_len_bytes, span) = match session.quick {
            true => (&[1, 32][..], 64 << 20, Duration::from_millis(40)),
            false => (&[1, 8, 32][..], 256 << 20, Duration::from_millis(100)),
        };
        let mut depths = if self.depth.is_empty() { depths.to_vec() } else { self.depth.clone() };
        depths.sort_unstable();
        depths.dedup();
        Ok(Box::new(Pair {
            folders,
            lens_bytes: if self.size.is_empty() { lens_bytes } else { rising(&self.size) },
            depths: (!self.files_only).then_some(PairDepths {
                depths,
                file_len_bytes,
                span,
                sequential: self.sequential,
            }),
            rounds: session.rounds.unwrap_or(rounds),
            span: span_s.map(Duration::from_secs),
            pause: self.pause,
            seed: session.seed(),
        }))
    }
}
