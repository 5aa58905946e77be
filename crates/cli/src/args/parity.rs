//! The arguments of `steadfast parity`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use steadfast::ReadFrom;
use steadfast::parity::{ParityOptions, Redundancy};

use super::named::named;
use super::usual::usual_options;
use super::{LevelArgs, WholeSystemArg, quantity};

/// Keep parity for a tree, to rebuild damaged and missing files.
///
/// Parity is redundancy over sets of files, in the order of their paths. With 10 %, a set is up to
/// 80 MiB of files, and up to 8 MiB of it in one piece can be rebuilt without another copy: part of
/// a file, or several files. Parity is kept in DIR/.steadfast/parity, or in another folder. A
/// file without a tag, or one that fails it, is not protected.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast parity make ~/Pictures                      protect what is tagged
  steadfast parity update ~/Pictures                    after new or edited files were tagged
  steadfast parity verify ~/Pictures                    read the parity itself")]
pub(crate) struct ParityArgs {
    #[command(subcommand)]
    pub(crate) what: ParityCommand,
}

/// What to do about parity.
#[derive(Debug, Subcommand)]
pub(crate) enum ParityCommand {
    Make(ParityMakeArgs),
    Update(ParityUpdateArgs),
    Verify(ParityVerifyArgs),
    Show(ParityShowArgs),
    Drop(ParityDropArgs),
}

const MADE: &str = "\
Exit status: 0 every tagged file is protected; 3 a file is corrupt; 2 a file could not be \
protected (modified, unreadable, missing, or the time was up), or no file has a tag; 130 \
interrupted. 3 outranks the \
others.";

/// Make parity for everything in a tree that has a tag.
///
/// Each file is read once and compared with its tag, so this is a check as well. A second run reads
/// the parity, and makes only the sets whose files or parity changed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast parity make ~/Pictures
  steadfast parity make --redundancy 20 --parity-at /mnt/usb/pictures-parity ~/Pictures

".to_owned() + MADE)]
pub(crate) struct ParityMakeArgs {
    #[command(flatten)]
    pub(crate) made: ParityMadeArgs,
}

/// Make parity for what is new or changed.
///
/// Reads the indices of the parity, and of the tree only files that are not protected yet and those
/// that share a set with a changed one. There must be parity already.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast update ~/Pictures && steadfast parity update ~/Pictures
  steadfast parity update --forget-missing ~/Pictures   after files were removed on purpose

".to_owned() + MADE)]
pub(crate) struct ParityUpdateArgs {
    #[command(flatten)]
    pub(crate) made: ParityMadeArgs,
}

/// How parity is made.
#[derive(Debug, Args)]
pub(crate) struct ParityMadeArgs {
    /// How much parity, in percent of the files: 2 to 100 [default: as before, or 10]
    #[arg(long, value_name = "PERCENT", value_parser = redundancy)]
    pub(crate) redundancy: Option<Redundancy>,

    /// End the protection of files that are gone from the tree. Without it, they can still be
    /// restored. Files on a volume that is not mounted stay protected, and so do those of a folder
    /// that is empty now
    #[arg(long)]
    pub(crate) forget_missing: bool,

    /// End the protection of what is at or beneath PATH, relative to DIR, and is missing, has no
    /// tag, or differs from it. Repeatable
    #[arg(long, value_name = "PATH")]
    forget: Vec<PathBuf>,

    /// Keep the parity of files that were edited for TIME, so that decay that was taken for an edit
    /// can be undone. 0d keeps none. Later runs remember it [default: as before, or 30d]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    keep_earlier: Option<Duration>,

    /// Stop after TIME, for example 2h. What was protected until then stays, and the next run goes
    /// on; a file longer than a set is begun again
    #[arg(long, value_name = "TIME", value_parser = quantity::time_limit)]
    max_time: Option<Duration>,

    /// Where to read files from. `media` bypasses the page cache if the file system can
    #[arg(long, value_name = "PLACE", default_value = "cache", value_parser = named::<ReadFrom>())]
    read_from: ReadFrom,

    /// Read at most RATE per second, for example 50MB
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    rate_limit: Option<u64>,

    #[command(flatten)]
    pub(crate) whole_system: WholeSystemArg,
    #[command(flatten)]
    pub(crate) place: ParityPlaceArgs,
}

impl ParityMadeArgs {
    /// Returns how parity is to be made.
    pub(crate) fn options(&self) -> ParityOptions {
        let mut options = ParityOptions::default();
        options.run = usual_options();
        options.redundancy = self.redundancy;
        options.forget_missing = self.forget_missing;
        options.forget = self.forget.clone();
        options.keep_earlier = self.keep_earlier;
        options.max_time = self.max_time;
        options.run.qos = self.place.level.level();
        options.run.reading.from = self.read_from;
        options.run.reading.rate_limit_bytes_per_s = self.rate_limit;
        options
    }
}

/// Read all parity, and find damage in it.
///
/// Every block and page is compared with its check value or digest. Files of the tree are read only
/// with --strength.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast parity verify ~/Pictures
  steadfast parity verify --strength ~/Pictures   also how much more may be lost

Exit status: 0 nothing is damaged; 3 some parity is damaged, or more is lost than can be rebuilt; \
2 could not tell (no parity, unreadable); 130 interrupted. 3 outranks the others.")]
pub(crate) struct ParityVerifyArgs {
    /// Read the files too, and say how many pages of each set are lost and how many more it can
    /// lose. Files that were edited since count as lost
    #[arg(long)]
    pub(crate) strength: bool,

    #[command(flatten)]
    pub(crate) place: ParityPlaceArgs,
}

/// Show the sets of a tree, and which of their files changed or are missing.
///
/// Reads the indices of the sets, and the tags of the files. DIR can also be a file or folder in a
/// tree that has parity: then only its sets are shown.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast parity show ~/Pictures
  steadfast parity show ~/Pictures/2019/a.jpg
  steadfast parity show --json ~/Pictures | jq 'select(.missing > 0)'

Exit status: 0 shown; 3 an index is damaged; 2 could not tell (no parity, unreadable); \
130 interrupted.")]
pub(crate) struct ParityShowArgs {
    /// Only sets with files at or beneath PATH, which is relative to DIR
    #[arg(long, value_name = "PATH")]
    pub(crate) of: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) place: ParityPlaceArgs,
}

/// Remove the parity of a tree, or one set of it, and nothing else.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast parity drop --yes ~/Pictures
  steadfast parity drop --set 9f86d081884c7d659a2feaa0c55ad015 ~/Pictures

Exit status: 0 removed; 2 there is none, it was not removed, or --yes is missing.")]
pub(crate) struct ParityDropArgs {
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Remove only the set with this identity, also if it is still needed or cannot be read
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<String>,

    #[command(flatten)]
    pub(crate) place: ParityPlaceArgs,
}

impl ParityPlaceArgs {
    /// Returns the root of the tree.
    pub(crate) fn root(&self) -> &Path {
        self.directory.as_deref().unwrap_or(Path::new("."))
    }
}

/// Which tree, and where its parity is.
#[derive(Debug, Args)]
pub(crate) struct ParityPlaceArgs {
    /// The root of the tree [default: the current directory; `make` wants it to have a catalogue]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,

    /// The folder of the parity, for example on another disk. `make` lets the tree remember it. One
    /// folder is for one tree [default: as the tree remembers, or DIR/.steadfast/parity]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) parity_at: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    /// Print one JSON object per set or unprotected file, the summary last
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a number of percent.
fn redundancy(text: &str) -> Result<Redundancy, String> {
    let digits = text.strip_suffix('%').unwrap_or(text);
    let percent = digits.parse().map_err(|_| "a number from 2 to 100 is expected".to_owned())?;
    Redundancy::new(percent).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redundancies_are_numbers_of_percent() {
        assert_eq!(redundancy("10").unwrap().percent(), 10);
        assert_eq!(redundancy("100%").unwrap().percent(), 100);
        for text in ["", "%", "1", "101", "300", "-5", "10 %", "ten"] {
            assert!(redundancy(text).is_err(), "{text}");
        }
    }
}
