//! One struct for each verb.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use steadfast::Options;
use steadfast::catalogue::Readers;
use steadfast::manifest::Format;
use steadfast::store::foreign::ForeignKind;

use super::{
    AlgorithmArg, AllowEmptyArg, CatalogueArgs, CatalogueFileArg, DocumentArgs, DryRunArg, DueArgs,
    EngineArgs, KeepPagesArgs, LevelArgs, OutputArgs, ParityArgs, PathArgs, QosArgs, RepairArgs,
    ShardArgs, WalkArgs, WholeSystemArg, named,
};

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(InitArgs),
    Tag(TagArgs),
    Check(CheckArgs),
    Merge(super::MergeArgs),
    Update(UpdateArgs),
    Untag(UntagArgs),
    Show(ShowArgs),
    Hash(HashArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Diff(DiffArgs),
    Copy(super::CopyArgs),
    Move(super::MoveArgs),
    Safe(super::SafeVerbArgs),
    Known(super::KnownArgs),
    Status(super::StatusArgs),
    Schedule(super::ScheduleArgs),
    Alert(super::AlertArgs),
    #[cfg(feature = "companions")]
    Code(super::CodeArgs),
    Parity(ParityArgs),
    Repair(RepairArgs),
    #[cfg(feature = "companions")]
    Measure(super::MeasureArgs),
    Qos(QosArgs),
    #[command(hide = true)]
    Help(super::HelpArgs),
    #[cfg(feature = "serve")]
    Serve(super::ServeArgs),
}

/// What every verb takes that reads files and writes their tags.
#[derive(Debug, Args)]
pub(crate) struct TagWriteArgs {
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) whole_system: WholeSystemArg,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl TagWriteArgs {
    /// Makes sure that the paths were meant.
    ///
    /// # Errors
    /// As [`WholeSystemArg::ensure_meant`].
    pub(crate) fn ensure_meant(&self, verb: &str) -> anyhow::Result<()> {
        match self.paths.files_from {
            Some(_) => Ok(()),
            None => self.whole_system.ensure_meant(
                verb,
                &self.paths.paths,
                self.catalogue.catalogue.as_deref(),
            ),
        }
    }

    /// Returns a run's options.
    pub(crate) fn options(&self) -> Options {
        let options = self.engine.options().with(|options| options.dry_run = self.dry_run.dry_run);
        self.catalogue.choose(self.paths.walk.empty.choose(options))
    }
}

/// Record every file of a folder. Begin here.
///
/// Makes the catalogue, DIR/.steadfast/catalogue.sqlite, and reads every file once. From then on
/// `check` finds files that changed, decayed, moved or are missing. Each file also gets a tag, an
/// extended attribute of about 60 bytes; contents, names and dates stay as they are. A file that
/// has a tag already is compared with it. After an interruption, run it again: it goes on where it
/// was.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast init ~/Pictures
  steadfast init --tags-only ~/Pictures   enter the tags that are there, and read no file
  steadfast init --catalogue ~/dvd-17.sqlite /media/dvd   for a read-only medium
  steadfast init --rebuild ~/Pictures     replace a damaged catalogue

Exit status: 0 every file is recorded; 1 a file with a tag is modified; 2 the catalogue could not \
be made, or some files could not be read or tagged; 3 a file with a tag is corrupt or suspect; \
130 interrupted.")]
pub(crate) struct InitArgs {
    /// The root of the tree [default: the current directory, if it has a catalogue]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) whole_system: WholeSystemArg,
    /// Enter the files that have a tag, and read no contents. Files without one stay unrecorded
    #[arg(long)]
    pub(crate) tags_only: bool,
    /// Make the catalogue in FILE instead of in the tree
    #[arg(long, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,
    /// Rename the existing catalogue, and make a new one
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Accept that the tree is in another place, for example after a copy to a new disk
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) rebind: bool,
    /// Who can read the names and digests in the catalogue [default: owner]. Of an existing one,
    /// changes only that
    #[arg(long, value_name = "WHO", value_parser = named::<Readers>(), conflicts_with = "rebind")]
    pub(crate) readers: Option<Readers>,
    /// Forget that the tree had a catalogue, after you deleted it
    #[arg(long, conflicts_with_all = ["rebuild", "rebind", "catalogue", "readers"])]
    pub(crate) forget: bool,
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl InitArgs {
    /// Returns the root of the tree.
    pub(crate) fn root(&self) -> &Path {
        self.directory.as_deref().unwrap_or(Path::new("."))
    }
}

/// Hash every file that has no tag, and tag it.
///
/// A tag is one extended attribute. It holds the algorithm, digest, length, modification time and
/// the time of tagging. Files that have a tag keep it and are not read, so a second run is quick.
/// Without a catalogue (`init`), a check does not notice missing files, and a file that a program
/// saved anew counts as untagged.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast tag ~/Pictures            tag everything below a directory
  steadfast tag --dry-run .           see how much there is to tag
  steadfast tag --exclude '*.tmp' /srv

Exit status: 0 every file has a tag now; 2 some could not be read or tagged, or no file was found; \
130 interrupted.")]
pub(crate) struct TagArgs {
    #[command(flatten)]
    pub(crate) write: TagWriteArgs,
    #[command(flatten)]
    pub(crate) pages: KeepPagesArgs,
}

/// Read every file again, and say what changed without you.
///
/// A file with the same contents is intact, or touched if its date changed. With other contents and
/// another date it is modified, as after an edit. With other contents and the same date it is
/// corrupt if nothing wrote to it; otherwise it is suspect, or modified if its length changed. A
/// check does not write to the files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast check ~/Pictures
  steadfast check --read-from media /mnt/disk   test the disk and not the page cache
  steadfast check --quiet --require-tags /srv   for a scheduler: prints only problems
  steadfast check --where ~/Videos/wedding.mkv   which parts are damaged, after tag --pages
  steadfast check photos.par2                   by the PAR2 set of another tool
  steadfast check --manifest photos.json ~/Pictures   by what rclone lists of a store

Exit status: 0 nothing wrong; 1 something is modified, missing, or with --require-tags untagged; \
2 could not tell (unreadable, unstable, no file found or judged, usage); 3 something is corrupt \
or suspect; 130 interrupted. 3 outranks 1, 1 outranks 2.")]
pub(crate) struct CheckArgs {
    /// Verify each PATH page by page, and print its damaged ranges. Needs a PATH, and the leaves
    /// that `tag --pages` stores
    #[arg(
        long,
        conflicts_with_all = [
            "manifest", "require_tags", "older_than", "max_time", "max_bytes", "resume", "quick",
            "csv", "report", "trace"
        ]
    )]
    pub(crate) r#where: bool,
    /// Treat untagged files as failures, with status 1. Cannot be combined with options that check
    /// part of a tree
    #[arg(
        long,
        conflicts_with_all = ["older_than", "max_time", "max_bytes", "resume", "quick"]
    )]
    pub(crate) require_tags: bool,
    /// Check the files that the manifest FILE names. It has any format that `export` writes, or is
    /// a database of chkbit or bitrot, an OCFL inventory, what `rclone lsjson --hash -R` or `aws
    /// s3api` print, or the directory of a BagIt bag; `-` is stdin. Names are relative to PATH.
    /// Without PATH they are relative to the folder of FILE or, if none of them is there, to the
    /// working directory
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["older_than", "max_time", "max_bytes", "resume", "quick"]
    )]
    pub(crate) manifest: Option<PathBuf>,
    /// The format of FILE [default: recognised by its name and first bytes]
    #[arg(long, value_name = "NAME", requires = "manifest")]
    pub(crate) format: Option<Format>,
    /// Names in FILE begin with PREFIX, which is removed
    #[arg(long, value_name = "PREFIX", requires = "manifest")]
    pub(crate) strip: Option<PathBuf>,
    /// Also report each file beneath PATH that FILE does not name, with status 1. The payload of a
    /// bag is always compared like this
    #[arg(long, requires = "manifest")]
    pub(crate) new: bool,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) due: DueArgs,
    #[command(flatten)]
    pub(crate) shard: ShardArgs,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Check, and record new and edited files.
///
/// A new file gets a tag, an edited one a new tag beside its previous one. Each edited file is
/// listed unless --quiet is given: if you did not edit it, it may be damaged. Corrupt and suspect
/// files are reported and keep their tags as evidence.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast update ~/Documents
  steadfast update --dry-run ~/Documents         what changed since the last time?
  steadfast update --accept scan-0042.tiff       accept this file although it seems corrupt
  steadfast update --convert --algorithm blake3 ~/Documents

If more than 5 % of at least 40 files are missing or modified at once, the run ends before it \
writes anything: is the right volume mounted? --accept-many accepts them.

Exit status: 0 every file has a correct tag now; 1 with --dry-run, something is modified, or too \
many files are missing or modified; 2 some could not be read or tagged, or no file was found; 3 \
something is corrupt or suspect; 130 interrupted.")]
pub(crate) struct UpdateArgs {
    /// Accept the files of PATH as they are, also corrupt and suspect ones and those with a damaged
    /// tag, and tag no new ones. Needs a PATH, because it discards the record of the previous
    /// contents
    #[arg(
        long,
        conflicts_with_all =
            ["restore_tags", "accept_missing", "accept_suspect", "only_suspect", "convert"]
    )]
    pub(crate) accept: bool,
    /// Replace every tag by one of --algorithm. Corrupt and suspect files keep theirs
    #[arg(
        long,
        requires = "algorithm",
        conflicts_with_all = ["restore_tags", "accept_missing", "accept_suspect", "only_suspect"]
    )]
    pub(crate) convert: bool,
    /// Restore lost tags from the catalogue
    #[arg(long)]
    pub(crate) restore_tags: bool,
    /// Remove missing files from the catalogue, and accept tags that another program replaced, and
    /// do nothing else. Reads no other file
    #[arg(long)]
    pub(crate) accept_missing: bool,
    /// Accept suspect files too: a program of yours changed them and kept their dates
    #[arg(long)]
    pub(crate) accept_suspect: bool,
    /// Accept suspect files only, and leave new and edited ones alone
    #[arg(long, conflicts_with_all = ["accept_suspect", "restore_tags", "accept_missing"])]
    pub(crate) only_suspect: bool,
    /// Update even if more than 5 % of the files are missing or modified
    #[arg(long)]
    pub(crate) accept_many: bool,
    /// Accept the files of a question that a message or `status` asked about the tree PATH, and
    /// nothing else. A file that changed since it was asked is left out and named
    #[arg(
        long,
        value_name = "NUMBER",
        conflicts_with_all = [
            "accept",
            "convert",
            "restore_tags",
            "accept_missing",
            "accept_suspect",
            "only_suspect",
            "accept_many",
        ]
    )]
    pub(crate) answer: Option<String>,
    #[command(flatten)]
    pub(crate) write: TagWriteArgs,
}

/// Remove tags.
///
/// Needs a PATH, because it discards the record of the contents. Contents and modification times do
/// not change.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast untag --dry-run old/    count the tags
  steadfast untag old/

Exit status: 0 done; 2 some tags could not be removed, or no file was found; 130 interrupted.")]
pub(crate) struct UntagArgs {
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) whole_system: WholeSystemArg,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Show what is known of a file: its tag, and its history.
///
/// Reads no contents. Without --history, prints the tag of each file. With it, prints the present
/// state of a file, then every run, oldest first: when, by which verb and version, read from where,
/// the verdict, and the old and new digest if the tag changed; of a directory, the runs over it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast show IMG_0042.jpg
  steadfast show --history ~/Pictures/2019/IMG_0042.jpg
  steadfast show --json . | jq -r 'select(.stored) | .stored.digest'
  steadfast show --history --premis IMG_0042.jpg > IMG_0042.premis.xml

Exit status: 0 done; 2 some tags could not be read, no file was found, or with --history there is \
no catalogue, or it has no record of the file; 130 interrupted.")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    /// Print everything that happened to PATH, a file or a directory, which may have been deleted
    #[arg(
        long,
        conflicts_with_all = ["files_from", "exclude", "exclude_from"],
        help_heading = "What to print"
    )]
    pub(crate) history: bool,
    #[command(flatten)]
    pub(crate) place: CatalogueFileArg,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
    /// Print only what went wrong
    #[arg(short, long, conflicts_with = "history")]
    pub(crate) quiet: bool,
}

/// Print digests, or check files against a list of digests.
///
/// Tags are not used. Prints the format of sha256sum. With --check, reads that format and those of
/// the BSD tools and of OpenSSL. Directories are walked; the file that stdout is written to is
/// skipped. `-` is stdin. Without a PATH, hashes stdin if it is not a terminal, otherwise the
/// current directory.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast hash *.iso > SHA256SUMS
  steadfast hash --check SHA256SUMS       names are beneath the working directory
  tar c photos | tee photos.tar | steadfast hash
  find . -name '*.jpg' -print0 | steadfast hash -0 --files-from - --algorithm blake3

Exit status: 0 done, or every file matches; 1 with --check, a file does not match or cannot be \
read; 2 a file could not be read, or usage; 130 interrupted.")]
pub(crate) struct HashArgs {
    /// Print the BSD format, which names the algorithm: `SHA256 (name) = ...`
    #[arg(long, conflicts_with = "check")]
    pub(crate) tag: bool,
    /// End lines with NUL, and escape nothing. With --check, read such lines
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

/// Reads digests instead of printing them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checking against a list")]
pub(crate) struct CompareArgs {
    /// Read digests and names from each PATH (`-` is stdin), and compare the files. --quiet omits
    /// files that match
    #[arg(
        short,
        long,
        conflicts_with_all = [
            "json", "csv", "trace", "files_from", "exclude", "exclude_from", "allow_empty"
        ]
    )]
    pub(crate) check: bool,
    /// Print nothing, only set the exit status
    #[arg(long, requires = "check")]
    pub(crate) status: bool,
    /// Fail if a line is improperly formatted
    #[arg(long, requires = "check")]
    pub(crate) strict: bool,
    /// Warn about each improperly formatted line
    #[arg(short, long, requires = "check")]
    pub(crate) warn: bool,
    /// Skip files that do not exist
    #[arg(long, requires = "check")]
    pub(crate) ignore_missing: bool,
}

/// Write tags as a manifest, or as another tool's attributes.
///
/// The manifest is written to stdout. Its names are relative to PATH. Files without a tag, and
/// files modified since they were tagged, are reported and omitted; --read hashes every file
/// instead. The file that stdout is written to is skipped.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast export --format gnu ~/Pictures > SHA256SUMS
  steadfast check --manifest SHA256SUMS ~/Pictures
  steadfast export --format sfv --read --algorithm crc32 . > files.sfv
  steadfast export --attributes shatag ~/Pictures

Exit status: 0 every file was written; 2 some were not, or the format cannot express them; \
130 interrupted.")]
pub(crate) struct ExportArgs {
    /// Write a manifest in this format: steadfast, gnu, gnu-zero, bsd, openssl, hashdeep, bagit,
    /// chkbit, chkbit-db, bitrot, sfv, ni or mtree
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,
    /// Set the attributes of another tool beside the tags: shatag, dintch or unraid
    #[arg(long, value_name = "TOOL", conflicts_with = "format", value_parser = foreign_kind)]
    pub(crate) attributes: Option<ForeignKind>,
    /// Hash every file instead of using its tag
    #[arg(long, conflicts_with = "attributes")]
    pub(crate) read: bool,
    /// Files and directories [default: the current directory]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) empty: AllowEmptyArg,
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Make tags from a manifest, or from another tool's attributes.
///
/// A record with the modification time of its digest becomes a tag without reading the file. Other
/// files are read and compared first. Files that have a tag keep it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast import --attributes ~/Pictures      tags of shatag, Dintch, Unraid
  steadfast import SHA256SUMS                   names are relative to the folder of the manifest
  steadfast import SHA256SUMS ~/Pictures        names are relative to ~/Pictures
  steadfast import --format hashdeep known.txt /mnt/disk

Exit status: 0 every file has a tag now; 1 something differs from its record or is missing; 2 some \
could not be read or tagged; 3 something is corrupt or suspect; 130 interrupted.")]
pub(crate) struct ImportArgs {
    /// Import the attributes that other tools set on the files of PATH
    #[arg(long, conflicts_with_all = ["format", "trust"])]
    pub(crate) attributes: bool,
    /// The format of the manifest that PATH names [default: recognised by its name and first bytes]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,
    /// Names in the manifest begin with PREFIX, which is removed
    #[arg(long, value_name = "PREFIX", conflicts_with = "attributes")]
    pub(crate) strip: Option<PathBuf>,
    /// Also accept digests without a modification time, and read no file
    #[arg(long)]
    pub(crate) trust: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) whole_system: WholeSystemArg,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Finds a tool by its name.
fn foreign_kind(name: &str) -> Result<ForeignKind, String> {
    let mut kinds = ForeignKind::ALL.into_iter().filter(|kind| *kind != ForeignKind::Ima);
    kinds.find(|kind| kind.name() == name).ok_or_else(|| "known are shatag, unraid, dintch".into())
}

/// Compare two folders: is B a faithful copy of A?
///
/// Compares tags and reads no contents; with --read, compares the contents. Reports files that
/// differ, that are on one side only or that were moved, tags that the copy lost, and files that
/// could not be compared.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast diff ~/Pictures /mnt/backup/Pictures          by tags
  steadfast diff --read ~/Pictures /mnt/backup/Pictures   by reading both sides
  steadfast diff ~/Pictures SHA256SUMS                    with a manifest, by tags
  steadfast diff --json A B | jq -r 'select(.difference == \"tag_lost\") | .path'

Exit status: 0 B is a faithful copy; 1 something is different, on one side only, elsewhere, or \
lost its tag; 2 could not tell (unknown, unreadable, usage); 130 interrupted. 1 outranks 2.")]
pub(crate) struct DiffArgs {
    /// The original folder
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,

    /// The copy, or a manifest
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,

    /// The format of B if it is a manifest [default: recognised by its name and first bytes]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,

    /// Read and hash both sides instead of comparing tags
    #[arg(long)]
    pub(crate) read: bool,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
