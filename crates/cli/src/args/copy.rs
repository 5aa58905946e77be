//! `steadfast known`, `safe`, `copy` and `move`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use steadfast::Algorithm;
use steadfast::manifest::mhl::{algorithm_of, element_of};
use steadfast::safe::SafeRule;
use steadfast_report::Units;

use super::{AlgorithmArg, EngineArgs, OutputArgs, PathArgs, WalkArgs, When, named};

/// Say which files are in other archives already, and where.
///
/// Compares contents, whatever the names. An archive is a directory with a catalogue or with tags,
/// a list of digests, or the file of a catalogue, whose volume need not be mounted. A file with a
/// tag that is up to date is not read; others are read once. A place whose file changed since it
/// was recorded does not count. Folders whose files are all in one folder of an archive are named
/// at the end.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast known /media/card --in ~/Pictures
  steadfast known ~/old-disk --in ~/Pictures --in ~/dvd-17.sqlite   a catalogue of another medium
  steadfast known --json /media/card --in ~/Pictures | jq -r 'select(.known == \"unknown\") | .path'

Exit status: 0 every file is in an archive; 1 some are nowhere else; 2 could not tell (unreadable, \
no file found, usage); 130 interrupted. 1 outranks 2.")]
pub(crate) struct KnownArgs {
    /// Search in TREE, a directory, a list or the file of a catalogue. Repeatable
    #[arg(long = "in", value_name = "TREE", required = true)]
    pub(crate) archives: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// How the answer looks.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "What to print")]
pub(crate) struct AnswerArgs {
    /// Print one JSON object per file, the summary last
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only what went wrong, and the last line
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Units of sizes: `si` for MB and GB, `iec` for MiB and GiB
    #[arg(long, default_value = "si", value_parser = named::<Units>())]
    pub(crate) units: Units,
    /// Show progress on stderr. `auto`: one line on a terminal, otherwise a line every 10 s; none
    /// with --quiet; with --json only on a terminal
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    progress: When,
}

impl AnswerArgs {
    /// Returns how progress is shown.
    pub(crate) fn output(self) -> OutputArgs {
        let AnswerArgs { json, quiet, units, progress } = self;
        let (trace, report) = (None, None);
        OutputArgs { json, csv: false, verbose: false, quiet, trace, report, units, progress }
    }
}

/// How much is asked of copies.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "When it is safe to erase")]
pub(crate) struct SafeArgs {
    /// Ask for N copies on different devices, the source not counted
    #[arg(long, value_name = "N", default_value = "2")]
    copies: NonZeroUsize,
    /// Count places as two where the system does not tell. It does not tell of virtual disks, of
    /// network volumes, and of what FUSE or an overlay shows. What it knows to be one stays one
    #[arg(long)]
    apart: bool,
    /// Accept what a server or a FUSE program answers. It may come from its memory and not from
    /// its medium. With --apart, also what a list says
    #[arg(long)]
    trust_servers: bool,
    /// Accept small files that Btrfs keeps in its tree, if they cannot be read past its cache
    #[arg(long)]
    trust_tree: bool,
}

impl SafeArgs {
    /// Returns the rule.
    pub(crate) fn rule(self) -> SafeRule {
        let SafeArgs { copies, apart, trust_servers: servers, trust_tree: tree } = self;
        SafeRule { copies: copies.get(), apart, servers, tree }
    }
}

/// Ask whether a card or disk may be erased: is everything in enough other places?
///
/// Reads every file of PATH, finds its contents in archives by their catalogues or tags, and
/// reads each of these copies from its medium: a record alone proves nothing. The last line is the
/// answer: yes only if every file is on enough different devices. Writes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast safe /media/card --in ~/Pictures --in /mnt/backup
  steadfast safe --copies 1 /media/card --in /mnt/backup

Exit status: 0 it is safe to erase; 1 something is in too few places; 2 could not tell \
(unreadable, read through a cache, devices not told apart, no file found, usage); 130 \
interrupted.")]
pub(crate) struct SafeVerbArgs {
    /// Search for copies in TREE, a directory, a list or the file of a catalogue. Repeatable
    #[arg(long = "in", value_name = "TREE", required = true)]
    pub(crate) archives: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) safe: SafeArgs,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}

/// Copy files, prove each copy from its medium, and say whether the source may be erased.
///
/// Each SRC gets its own name in each destination; the contents of `SRC/.` go into it directly.
/// Every file is read once for all destinations and compared with its tag. A copy is flushed, read
/// back from the medium, tagged and entered in the catalogue of the destination before it gets its
/// name. Files that are there are never replaced: one with the same contents counts as the copy.
/// After an interruption, give the same command again. Symbolic links are not copied.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast copy /media/card --to ~/Pictures/2026 --to /mnt/backup/2026
  steadfast copy --copies 1 /media/card ~/Pictures/2026    the last path is the destination
  steadfast copy --unknown --in ~/Pictures /media/card ~/Pictures/new   what is not there yet
  steadfast copy --mhl /media/A001 --to /raid --to /shuttle             with an ASC MHL history

Exit status: 0 it is safe to erase the source; 1 there are too few copies on different devices; 2 \
something could not be copied, proved or told (usage); 3 a file of the source is corrupt; 130 \
interrupted.")]
pub(crate) struct CopyArgs {
    #[command(flatten)]
    pub(crate) copy: CopyPathArgs,
}

/// Copy files, prove each copy from its medium, and remove from the source what is safe.
///
/// As `copy`; then each file of the source is removed that is proved in enough places. Folders
/// stay.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast move /media/card --to ~/Pictures/2026 --to /mnt/backup/2026
  steadfast move --copies 1 old/scans /mnt/archive

Exit status: as of `copy`; 0 means that every file was moved.")]
pub(crate) struct MoveArgs {
    #[command(flatten)]
    pub(crate) copy: CopyPathArgs,
}

/// Reads the name of a hash of ASC MHL.
fn mhl_algorithm(text: &str) -> Result<Algorithm, String> {
    let known = algorithm_of(text).or_else(|| text.parse().ok());
    let known = known.filter(|it| element_of(*it).is_some());
    known.ok_or_else(|| "ASC MHL has xxh64, xxh3, xxh128, c4, sha1 and md5".to_owned())
}

/// What `copy` and `move` take.
#[derive(Debug, Args)]
pub(crate) struct CopyPathArgs {
    /// Files and directories to copy; without --to, the last one is the destination
    #[arg(value_name = "SRC", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Copy to the directory DEST. Repeatable: one reading serves all
    #[arg(long, value_name = "DEST")]
    pub(crate) to: Vec<PathBuf>,
    /// Copy only files whose contents are in none of the archives of --in
    #[arg(long, requires = "archives")]
    pub(crate) unknown: bool,
    /// With --unknown, an archive: a directory or the file of a catalogue. Repeatable
    #[arg(long = "in", id = "archives", value_name = "TREE", requires = "unknown")]
    pub(crate) archives: Vec<PathBuf>,
    /// Read files without a tag only once. Otherwise they are read again, from the medium, and
    /// compared
    #[arg(long)]
    pub(crate) once: bool,
    /// Copy the rest if a destination cannot hold some names or lengths
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Make each destination a BagIt bag, with the copies in `data`
    #[arg(long, conflicts_with = "mhl")]
    pub(crate) bag: bool,
    /// Add a generation of ASC MHL to each copied folder. HASH is xxh64, xxh3, xxh128, c4, sha1 or
    /// md5 [default: xxh64]
    #[arg(long, value_name = "HASH", num_args = 0..=1, require_equals = true,
          default_missing_value = "xxh64", value_parser = mhl_algorithm)]
    pub(crate) mhl: Option<Algorithm>,
    #[command(flatten)]
    pub(crate) safe: SafeArgs,
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) answer: AnswerArgs,
}
