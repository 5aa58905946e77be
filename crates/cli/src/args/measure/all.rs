//! Arguments of `steadfast measure all`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use steadfast_measure::workload::Workload;

use super::{SessionArgs, workload_of};

/// Measure everything: hash, read, write, queue, cipher, cpu, and perhaps a pair of folders
///
/// Each part is what its own verb measures with the same arguments. With --quick it takes a minute
/// or less on fast storage; without, hours and 60 GB of space. --qos applies to hash and cpu; the
/// other parts are measured at the level of the command.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast measure all --quick --export this.json .
  steadfast measure all --pair /mnt/plain --export this.json /mnt/encrypted")]
pub(crate) struct AllArgs {
    /// Create files in DIR, in folders that are removed afterwards
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,

    /// Also compare DIR with this folder, as `measure pair` does
    #[arg(long, value_name = "DIR")]
    pair: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

impl AllArgs {
    /// Returns what is to be measured, in the order of [`steadfast_measure::record::Workload`].
    pub(crate) fn workloads(&self) -> anyhow::Result<Vec<Box<dyn Workload>>> {
        let folder = || self.folder.clone().into_os_string();
        let mut parts: Vec<Vec<OsString>> = vec![
            vec!["hash".into(), folder()],
            vec!["read".into(), folder()],
            vec!["write".into(), folder()],
            vec!["queue".into(), folder()],
        ];
        if let Some(other) = &self.pair {
            parts.push(vec!["pair".into(), folder(), other.clone().into_os_string()]);
        }
        parts.push(vec!["cipher".into(), folder()]);
        parts.push(vec!["cpu".into()]);
        parts.into_iter().map(|part| self.workload(part)).collect()
    }

    fn workload(&self, mut part: Vec<OsString>) -> anyhow::Result<Box<dyn Workload>> {
        let has_levels = part[0] == "hash" || part[0] == "cpu";
        let mut option = |name: &str, value: String| part.push(format!("--{name}={value}").into());
        if let Some(rounds) = self.session.rounds {
            option("rounds", rounds.to_string());
        }
        if let Some(seed) = self.session.seed {
            option("seed", seed.to_string());
        }
        for level in self.session.qos.iter().filter(|_| has_levels) {
            option("qos", level.to_string());
        }
        if self.session.quick {
            part.push("--quick".into());
        }
        workload_of(&part)
    }
}
