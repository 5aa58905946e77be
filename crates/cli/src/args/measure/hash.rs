//! Arguments of `steadfast measure hash`.

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;
use steadfast::Algorithm;
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::hash::{Hash, Part};

use super::super::named::named;
use super::super::quantity;
use super::{SessionArgs, each_once, rising};

/// Measure hashing, reading, and both as in a check
///
/// Measures every algorithm and backend in memory. Then, with files of 1 MB to 10 GB created for
/// it: reading alone, reading and hashing, and the same stages without moving bytes, from the page
/// cache and past it; and every QoS level. With --part sizes, --qos measures every size at each
/// level.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure hash --quick
  steadfast measure hash --part kernels --export this.json
  steadfast measure hash --algorithm blake3 --size-max 1GB
  steadfast measure hash --part sizes --qos background,user-interactive")]
pub(crate) struct MeasureHashArgs {
    /// Create the files in DIR, in a folder that is removed afterwards
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Create no file longer than SIZE, for example 256MB
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    size_max: Option<u64>,

    /// Create files of these lengths instead of the standard ones, for example 1MB,1GB. Repeatable
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes, value_delimiter = ',')]
    sizes: Vec<u64>,

    /// Measure only this algorithm, in memory and from files. A single file is one stream
    /// [default: every algorithm in memory, and sha256 from files]
    #[arg(long, value_name = "NAME")]
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
        let folder = self.folder.clone();
        let of = if session.quick { Hash::quick } else { Hash::standard };
        let mut hash = of(folder, seed);
        if let Some(rounds) = session.rounds {
            (hash.rounds, hash.rounds_max) = (rounds, rounds);
        }
        hash.algorithm = self.algorithm;
        if !session.qos.is_empty() {
            hash.levels = each_once(&session.qos);
        }
        if !self.part.is_empty() {
            hash.parts = self.part.clone();
            let at_levels = [Part::Levels, Part::Sizes];
            ensure!(
                session.qos.is_empty() || hash.parts.iter().any(|part| at_levels.contains(part)),
                "with --qos, name a part that has levels: sizes or levels"
            );
            // Without --part, levels are compared by the folder alone: with every size, each level
            // would take as long as the whole measurement.
            if hash.parts.contains(&Part::Sizes) {
                hash.size_levels = each_once(&session.qos);
            }
        }
        if !self.sizes.is_empty() {
            hash.sizes_bytes = rising(&self.sizes);
        }
        if let Some(size_max) = self.size_max {
            hash.limit_sizes(size_max);
        }
        Ok(Box::new(hash))
    }
}
