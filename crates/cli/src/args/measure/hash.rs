//! Arguments of `steadfast measure hash`.

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use steadfast::Algorithm;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::hash::{ExistingHash, FolderEstimate, Hash, Part};

use super::super::named::named;
use super::super::quantity;
use super::{SessionArgs, each_once, rising};

/// Rounds of an estimate, as few as give an interval.
const ESTIMATE_ROUNDS: u32 = 5;

/// Rounds over files that are there already, as few as give an interval.
const EXISTING_ROUNDS: u32 = 5;

/// Measure hashing, reading, and both as in a check
///
/// Measures every algorithm and backend in memory. Then, with files of 1 MB to 10 GB created for
/// it: reading alone, reading and hashing, and the same stages without moving bytes, from the page
/// cache and past it; buffers of 4 KiB to 64 MiB; and every QoS level, alone and beside busy
/// threads. With --part sizes, --qos measures every size at each level. With --estimate, predicts
/// how long checking a folder will take. With --existing, hashes files that are there already.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure hash --quick
  steadfast measure hash --estimate ~/Pictures
  steadfast measure hash --existing ~/Pictures --algorithm blake3
  steadfast measure hash --part kernels --export this.json
  steadfast measure hash --algorithm blake3 --size-max 1GB
  steadfast measure hash --part sizes --qos background,user-interactive
  steadfast measure hash --part contended            levels on a busy machine")]
pub(crate) struct MeasureHashArgs {
    /// Create the files in DIR, in a folder that is removed afterwards
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Predict how long checking DIR will take, from runs over some of its files. Creates no file
    #[arg(long, value_name = "DIR", conflicts_with_all = ["size_max", "sizes", "part", "folder"])]
    estimate: Option<PathBuf>,

    /// Read and hash the files in PATH, or the file PATH, in one stream and in many: from the disk,
    /// for which they are removed from the page cache, and from memory. Creates no file
    #[arg(long, value_name = "PATH")]
    #[arg(conflicts_with_all = ["estimate", "size_max", "sizes", "part", "folder"])]
    existing: Option<PathBuf>,

    /// Create no file longer than SIZE, for example 256MB
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    size_max: Option<u64>,

    /// Create files of these lengths instead of the standard ones, for example 1MB,1GB. Repeatable
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes, value_delimiter = ',')]
    sizes: Vec<u64>,

    /// Measure only this algorithm, in memory and from files. A single file is one stream
    /// [default: every algorithm in memory, and sha256 from files]
    #[arg(long, value_name = "NAME", conflicts_with = "estimate")]
    algorithm: Option<Algorithm>,

    /// Measure only these parts. Repeatable [default: all]
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = named::<Part>())]
    part: Vec<Part>,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl MeasureHashArgs {
    /// Returns what is to be measured.
    pub(crate) fn workload(&self) -> anyhow::Result<Box<dyn Workload>> {
        let session = &self.session;
        let seed = session.seed();
        if let Some(root) = self.estimate.clone() {
            session.refuse_levels()?;
            let rounds = session.rounds.unwrap_or(ESTIMATE_ROUNDS);
            return Ok(Box::new(FolderEstimate { root, rounds, seed }));
        }
        if let Some(path) = self.existing.clone() {
            session.refuse_levels()?;
            let rounds = session.rounds.unwrap_or(EXISTING_ROUNDS);
            let algorithm = self.algorithm.unwrap_or(Algorithm::Sha256);
            return Ok(Box::new(ExistingHash { path, rounds, seed, algorithm }));
        }
        let folder = self.folder.clone();
        let mut hash = match session.quick {
            true => Hash::quick(folder, seed),
            false => Hash::standard(folder, seed),
        };
        hash.rounds = session.rounds.unwrap_or(hash.rounds);
        hash.algorithm = self.algorithm;
        if !session.qos.is_empty() {
            hash.levels = each_once(&session.qos);
        }
        if !self.part.is_empty() {
            hash.parts = self.part.clone();
            let at_levels = [Part::Levels, Part::Sizes, Part::Contended];
            ensure!(
                session.qos.is_empty() || hash.parts.iter().any(|part| at_levels.contains(part)),
                "with --qos, name a part that has levels: sizes, levels or contended"
            );
            // Without --part, levels are compared by the folder alone: with every size, each level
            // would take as long as the whole measurement.
            if hash.parts.contains(&Part::Sizes) {
                hash.size_levels = each_once(&session.qos);
            }
        }
        if !self.sizes.is_empty() {
            hash.set_sizes(rising(&self.sizes));
        }
        if let Some(size_max) = self.size_max {
            hash.limit_sizes(size_max);
        }
        Ok(Box::new(hash))
    }
}
