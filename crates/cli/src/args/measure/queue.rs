//! Arguments of `steadfast measure queue`.

use std::path::PathBuf;

use clap::Args;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::queue::Queue;

use super::super::quantity;
use super::{SessionArgs, each_once, rising};

/// Measure the time of reads with 1 to 32 in flight
///
/// Reads blocks of several sizes past the page cache, in sequence and at random. Depth 1 shows what
/// lies between program and device: a cipher adds its time to every read.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure queue --quick /mnt
  steadfast measure queue --depth 1,8 --block 4KiB /mnt")]
pub(crate) struct QueueArgs {
    /// Create the file in DIR, in a folder that is removed afterwards
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Read a file of SIZE, for example 4GB [default: 4GiB, with --quick 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    size: Option<u64>,

    /// Keep N reads in flight. Repeatable [default: 1, 2, 4, 8, 16, 32]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    depth: Vec<u32>,

    /// Read SIZE at a time, for example 4KiB. Repeatable [default: 4KiB, 64KiB, 1MiB]
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = quantity::bytes)]
    block: Vec<u64>,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl QueueArgs {
    /// Returns what is to be measured.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        let session = &self.session;
        session.refuse_levels()?;
        let seed = session.seed();
        let mut queue = queue_of(self.folder.clone(), seed, session.quick);
        queue.rounds = session.rounds.unwrap_or(queue.rounds);
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

/// Returns the usual measurement, or a quick one.
pub(super) fn queue_of(folder: PathBuf, seed: u64, quick: bool) -> Queue {
    match quick {
        true => Queue::quick(folder, seed),
        false => Queue::standard(folder, seed),
    }
}
