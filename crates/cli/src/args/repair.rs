//! `steadfast repair`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::{CatalogueArgs, DryRunArg, EngineArgs, PathArgs, WholeSystemArg};

/// The options of a repair, which those that repair nothing exclude.
const REPAIRING: [&str; 9] = [
    "from",
    "yes",
    "dry_run",
    "in_place",
    "set_id",
    "suspect",
    "to_tag",
    "to_previous",
    "all_lost",
];

/// Mend damaged and missing files, from copies or parity.
///
/// Checks PATH, and mends what is damaged or missing. Suspect files stay as they are, except with
/// --suspect, and edited ones except with --to-tag. A file is replaced only if the result has the
/// length and the digest of its tag. Owner, mode, attributes and times stay. The damaged file is
/// kept in .steadfast/damaged. Contents come from an intact copy or from parity; if leaves are
/// stored (`tag --pages`), also page by page from several damaged copies. A PATH that is a PAR2
/// file stands for the files of its set.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast repair --dry-run --from /mnt/backup/Pictures ~/Pictures   what can be repaired
  steadfast repair --from /mnt/backup/Pictures ~/Pictures             shows it, and asks
  steadfast repair --yes --from /mnt/a --from /mnt/b ~/Pictures/2019
  steadfast repair --in-place --from /mnt/a ~/Pictures   files with hard links, or little room
  steadfast repair --suspect --from /mnt/a ~/Pictures   what changed and kept its date, too
  steadfast repair --to-tag --from /mnt/a ~/Pictures/cat.jpg     undo an edit
  steadfast repair --to-previous ~/Pictures/cat.jpg      undo an edit that was recorded
  steadfast repair --all-lost --from /mnt/a ~/Pictures   the folder is empty, and mounted
  steadfast repair --discard 3 ~/Pictures                remove what repair 3 replaced
  steadfast repair --remember-copy /mnt/backup/Pictures ~/Pictures    no --from any more
  steadfast repair photos.par2                           by the PAR2 set of another tool

Exit status: 0 everything is as tagged; 1 edited files were left alone; 3 something damaged \
or suspect remains; 2 could not tell (usage, files without a readable tag, no file found); 130 \
interrupted. \
3 outranks 130, 1 and 2, in this order.")]
pub(crate) struct RepairArgs {
    /// Look for copies in COPY: a copy of the tree, of PATH, or of the one file. Repeatable. Files
    /// of the same contents in the tree's own catalogue are used as well
    #[arg(long, value_name = "COPY")]
    pub(crate) from: Vec<PathBuf>,
    /// Do not ask
    #[arg(short, long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Write damaged pages into the file itself instead of replacing it: for files with several
    /// names (hard links), and where there is no room for a copy. A journal is written before, with
    /// which the next repair finishes one that was cut off
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Also give missing files and folders back the set-user-ID, set-group-ID and sticky bits and
    /// the capabilities that they had according to the catalogue, the parity or a copy. Otherwise
    /// these are named, and the exit status is 2
    #[arg(long)]
    pub(crate) set_id: bool,
    /// Also restore suspect files, which something changed that kept their dates. Without this,
    /// only a suspect file that is itself a PATH. The plan says when it changed and how old the
    /// copy is
    #[arg(long)]
    pub(crate) suspect: bool,
    /// Also restore edited files that are named as PATH to the contents of their tags. The edited
    /// file is kept as damaged ones are
    #[arg(long)]
    pub(crate) to_tag: bool,
    /// Restore each PATH, which must be a file, to the contents of the tag before its present one:
    /// after an `update` that took decay for an edit. They come from the copies, or from the parity
    /// as it was before the edit. The present contents are kept as damaged ones are
    #[arg(long, conflicts_with = "to_tag")]
    pub(crate) to_previous: bool,
    /// Restore the files of a tree that lost all of them. Without this, an empty tree is refused,
    /// because its volume may not be mounted
    #[arg(long)]
    pub(crate) all_lost: bool,
    /// Remove the damaged files that repair RUN of the tree kept, and do nothing else. `unfinished`
    /// removes the journals of repairs in place that were cut off and cannot be finished
    #[arg(long, value_name = "RUN", conflicts_with_all = REPAIRING)]
    pub(crate) discard: Option<Discarded>,
    #[command(flatten)]
    pub(crate) meant: RepairMeantArgs,
    #[command(flatten)]
    pub(crate) copies: RememberedArgs,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    /// Print one JSON object for each file, the summary last. Without --yes, nothing is written
    #[arg(long, help_heading = "What to print")]
    pub(crate) json: bool,
}

/// What a repair may act on.
#[derive(Debug, Args)]
pub(crate) struct RepairMeantArgs {
    /// Mend the files of a question that a message or `status` asked about the tree PATH, and
    /// nothing else
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["to_tag", "to_previous", "all_lost"])]
    pub(crate) answer: Option<String>,
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) whole_system: WholeSystemArg,
}

/// Copies that repairs use without being told.
#[derive(Debug, Args)]
#[command(next_help_heading = "Registered copies")]
pub(crate) struct RememberedArgs {
    /// Register COPY as a copy of the tree of PATH, and do nothing else. From then on, every repair
    /// of the tree uses it without being told, also that of a schedule with --repair. A copy whose
    /// disk is away is not used
    #[arg(long, value_name = "COPY", conflicts_with_all = REPAIRING)]
    pub(crate) remember_copy: Option<PathBuf>,
    /// Forget a registered copy, and do nothing else
    #[arg(long, value_name = "COPY", conflicts_with_all = REPAIRING)]
    pub(crate) forget_copy: Option<PathBuf>,
    /// List the registered copies of the tree of PATH, and do nothing else
    #[arg(long, conflicts_with_all = REPAIRING)]
    pub(crate) list_copies: bool,
}

/// What is to be removed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Discarded {
    /// What a repair kept.
    Run(u64),
    /// Journals that cannot be used.
    Unfinished,
}

impl FromStr for Discarded {
    type Err = String;

    fn from_str(text: &str) -> Result<Discarded, String> {
        match text {
            "unfinished" => Ok(Discarded::Unfinished),
            number => number
                .parse()
                .map(Discarded::Run)
                .map_err(|_| "it is the number of a repair, or `unfinished`".to_owned()),
        }
    }
}
