//! Arguments of `steadfast measure queue`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::queue::{Queue, QueueWork};
use strum::VariantArray as _;

use super::super::named::named;
use super::super::quantity;
use super::{SessionArgs, each_once, rising};

/// Length of the file of the four rows: the default of CrystalDiskMark.
const FOUR_ROWS_FILE_BYTES: u64 = 1 << 30;

/// Measure the time of reads and writes with 1 to 32 in flight
///
/// Reads blocks of several sizes past the page cache, in sequence and at random; with --work also
/// writes them. --four-rows measures the rows that CrystalDiskMark prints. Depth 1 shows what
/// lies between program and device: a cipher adds its time to every read.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure queue --quick /mnt
  steadfast measure queue --depth 1,8 --block 4KiB /mnt
  steadfast measure queue --four-rows --time 5s /mnt
  steadfast measure queue --depth 1,32 /mnt/encrypted /mnt/plain")]
pub(crate) struct QueueArgs {
    /// Create the file in each DIR, in a folder that is removed afterwards. Several take turns
    #[arg(value_name = "DIR", default_value = ".")]
    folders: Vec<PathBuf>,

    /// Read a file of SIZE, for example 4GB [default: 4GiB, with --quick 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    size: Option<u64>,

    /// Keep N reads in flight. Repeatable [default: 1, 2, 4, 8, 16, 32]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    depth: Vec<u32>,

    /// Read SIZE at a time, for example 4KiB. Repeatable [default: 4KiB, 64KiB, 1MiB]
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = quantity::bytes)]
    block: Vec<u64>,

    /// Read, write, or mix seven reads with three writes. Repeatable [default: read]
    #[arg(long, value_name = "WORK", value_delimiter = ',', value_parser = named::<QueueWork>())]
    work: Vec<QueueWork>,

    /// Measure SEQ1M Q8T1, SEQ1M Q1T1, RND4K Q32T1 and RND4K Q1T1: read, write and mix, in a file
    /// of 1 GiB
    #[arg(long, conflicts_with_all = ["depth", "block"])]
    four_rows: bool,

    /// Measure each combination for TIME in each round [default: 1s, with --quick 120ms]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    time: Option<Duration>,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl QueueArgs {
    /// Returns what is to be measured.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        let session = &self.session;
        session.refuse_levels()?;
        let seed = session.seed();
        let of = if session.quick { Queue::quick } else { Queue::standard };
        let mut queue = of(self.folders.clone(), seed);
        queue.rounds = session.rounds.unwrap_or(queue.rounds);
        queue.four_rows = self.four_rows;
        if self.four_rows {
            queue.works = QueueWork::VARIANTS.to_vec();
            queue.file_len_bytes = queue.file_len_bytes.min(FOUR_ROWS_FILE_BYTES);
        }
        if !self.work.is_empty() {
            queue.works = each_once(&self.work);
        }
        queue.span = self.time.unwrap_or(queue.span);
        queue.file_len_bytes = self.size.unwrap_or(queue.file_len_bytes);
        if !self.depth.is_empty() {
            queue.depths = each_once(&self.depth);
            queue.depths.sort_unstable();
        }
        if !self.block.is_empty() {
            queue.block_lens_bytes = rising(&self.block);
        }
        Ok(Box::new(queue))
    }
}
