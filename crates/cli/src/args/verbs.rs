//! One struct for each verb.

use clap::{Args, Subcommand};

use super::{AlgorithmArg, DryRunArg, EngineArgs, OutputArgs, PathArgs};

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Tag(TagArgs),
    Check(CheckArgs),
    Update(UpdateArgs),
    Retag(RetagArgs),
    Untag(UntagArgs),
    Show(ShowArgs),
    Hash(HashArgs),
}

/// Hash every file that has no tag, and tag it.
///
/// A tag is one extended attribute: algorithm, digest, length, modification time, and when it was
/// made. Files that have a tag keep it and are not read, so a second run is quick.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast tag ~/Pictures            tag everything below a directory
  steadfast tag --dry-run .           see how much there is to tag
  steadfast tag --exclude '*.tmp' /srv

Exit status: 0 every file has a tag now; 2 some could not be read or tagged; 130 interrupted.")]
pub(crate) struct TagArgs {
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Hash every tagged file and say what became of it.
///
/// Same contents: intact, or touched if the modification time moved. Other contents and another
/// modification time: modified, an edit. Other contents although the modification time stands:
/// corrupt, decay. A check writes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast check ~/Pictures                    findings as they come, and again at the end
  steadfast check --read-from media /mnt/disk   prove the disk, not the page cache
  steadfast check --quiet --require-tags /srv   for a scheduler: silence is good news

Exit status: 0 nothing wrong; 1 something is modified, missing, or with --require-tags untagged; \
2 could not tell (unreadable, unstable, usage); 3 something is corrupt; 130 interrupted. \
3 outranks 1, 1 outranks 2.")]
pub(crate) struct CheckArgs {
    /// Take a file without a tag for a failure: status 1
    #[arg(long)]
    pub(crate) require_tags: bool,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Check, tag new files and retag modified ones, in one pass.
///
/// Corrupt files are reported and keep their old tags, so the evidence stays. A retagged file keeps
/// its previous tag beside the new one.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast update ~/Documents
  steadfast update --dry-run ~/Documents   what changed since the last time?

Exit status: 0 every file has a true tag now; 1 with --dry-run, something is modified; 2 some \
could not be read or tagged; 3 something is corrupt; 130 interrupted.")]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Replace the tags of files whose contents changed.
///
/// Modified files get a tag of their present contents; the previous tag is kept beside it. With
/// --algorithm, tags move to that algorithm. Corrupt files, and files whose tag is damaged, are
/// left alone unless --accept says that their contents are right.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast retag ~/Documents                 accept edits
  steadfast retag --accept scan-0042.tiff     accept this file although it looks corrupt
  steadfast retag --algorithm blake3 .        move tags to another algorithm

Exit status: 0 done; 2 some could not be read or tagged; 3 something is corrupt and was left \
alone; 130 interrupted.")]
pub(crate) struct RetagArgs {
    /// Accept corrupt files and damaged tags too. Needs a PATH: it gives up the record of what the
    /// files held
    #[arg(long)]
    pub(crate) accept: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Remove tags and nothing else.
///
/// Needs a PATH: it gives up the record of what the files held. Contents and modification times
/// stay as they are.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast untag --dry-run old/    how many tags are there?
  steadfast untag old/

Exit status: 0 done; 2 some tags could not be removed; 130 interrupted.")]
pub(crate) struct UntagArgs {
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Print tags without reading the files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast show IMG_0042.jpg
  steadfast show --json . | jq -r 'select(.stored) | .stored.digest'

Exit status: 0 done; 2 some tags could not be read; 130 interrupted.")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Print digests, or check files against a list of them; tags play no part.
///
/// Prints the lines of sha256sum, and reads them with --check, also those of the BSD tools and
/// OpenSSL. Directories are walked. `-` is stdin.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast hash *.iso > SHA256SUMS       the lines of sha256sum
  steadfast hash --check SHA256SUMS
  find . -name '*.jpg' -print0 | steadfast hash -0 --files-from - --algorithm blake3

Exit status: 0 done, or every file matches; 1 with --check, a file does not match or cannot be \
read; 2 a file could not be read, or usage; 130 interrupted.")]
pub(crate) struct HashArgs {
    /// Print BSD lines, which name their algorithm: `SHA256 (name) = ...`
    #[arg(long, conflicts_with = "check")]
    pub(crate) tag: bool,
    /// End lines with NUL and escape nothing; with --check, read such lines
    #[arg(short, long)]
    pub(crate) zero: bool,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) compare: CompareArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Reading digests instead of printing them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checking against a list")]
pub(crate) struct CompareArgs {
    /// Read digests and names from each PATH (`-` is stdin) and compare the files; --quiet leaves
    /// out those that match
    #[arg(
        short,
        long,
        conflicts_with_all = ["json", "csv", "trace", "files_from", "exclude", "exclude_from"]
    )]
    pub(crate) check: bool,
    /// Print nothing: the exit status is the answer
    #[arg(long, requires = "check")]
    pub(crate) status: bool,
    /// Fail if a line is improperly formatted
    #[arg(long, requires = "check")]
    pub(crate) strict: bool,
    /// Warn about each improperly formatted line
    #[arg(short, long, requires = "check")]
    pub(crate) warn: bool,
    /// Pass over files that do not exist
    #[arg(long, requires = "check")]
    pub(crate) ignore_missing: bool,
}
