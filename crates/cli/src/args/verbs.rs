//! One struct for each verb.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use steadfast::manifest::Format;
use steadfast::store::foreign::ForeignKind;

use super::{
    AlgorithmArg, AllowEmptyArg, AuditArgs, CatalogueArgs, CodeArgs, DryRunArg, DueArgs,
    EngineArgs, FleetArgs, HistoryArgs, KeepPagesArgs, LevelArgs, MeasureArgs, ObjectsArgs,
    OpenArgs, OutputArgs, PagesArgs, PathArgs, QosArgs, ReportArgs, ServeArgs,
};

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(InitArgs),
    Tag(TagArgs),
    Check(CheckArgs),
    Update(UpdateArgs),
    Retag(RetagArgs),
    Untag(UntagArgs),
    Show(ShowArgs),
    Hash(HashArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Diff(DiffArgs),
    Probe(ProbeArgs),
    History(HistoryArgs),
    Audit(AuditArgs),
    Code(CodeArgs),
    Pages(PagesArgs),
    Fleet(FleetArgs),
    Objects(ObjectsArgs),
    Measure(MeasureArgs),
    Report(ReportArgs),
    Qos(QosArgs),
    Serve(ServeArgs),
    Open(OpenArgs),
}

/// Make a catalogue of a directory, so that missing files are noticed.
///
/// A tag cannot tell that its file is gone. The catalogue, DIR/.steadfast/catalogue.sqlite, can:
/// from then on `tag`, `check`, `update` and `retag` in that tree keep it, and a check also finds
/// missing and moved files and lost tags. What tags there are is entered; nothing is read yet.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast init ~/Pictures
  steadfast init --catalogue ~/dvd-17.sqlite /media/dvd   for what cannot be written
  steadfast init --rebuild ~/Pictures                     set a damaged one aside, make another

Exit status: 0 done; 2 it could not be made, or some tags could not be read; 130 interrupted.")]
pub(crate) struct InitArgs {
    /// The root of the tree [default: the current directory]
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) root: PathBuf,
    /// Make the catalogue in FILE instead of in the tree
    #[arg(long, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,
    /// Set aside the catalogue that is there, under another name, and make one from the tags
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Accept that the tree is in another place now, as after a copy to a new disk or directory
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) rebind: bool,
    /// Take the tree off the list by which runs notice that its catalogue was deleted
    #[arg(long, conflicts_with_all = ["rebuild", "rebind", "catalogue"])]
    pub(crate) forget: bool,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
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

Exit status: 0 every file has a tag now; 2 some could not be read or tagged, or no file was found; \
130 interrupted.")]
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
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) pages: KeepPagesArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Hash every tagged file, and compare it with its tag.
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
2 could not tell (unreadable, unstable, no file found or judged, usage); 3 something is corrupt; \
130 interrupted. 3 outranks 1, 1 outranks 2.")]
pub(crate) struct CheckArgs {
    /// Take a file without a tag for a failure: status 1. Not with what is due or --quick, which
    /// look at no tags of new files
    #[arg(
        long,
        conflicts_with_all = ["older_than", "max_time", "max_bytes", "resume", "quick"]
    )]
    pub(crate) require_tags: bool,
    /// Check the files that FILE names: a list of digests in any format that `export` knows, a
    /// database of chkbit or bitrot, an OCFL inventory, or a BagIt bag's directory; `-` is stdin.
    /// Its names are relative to PATH, or without one to the folder of FILE; or, if none of them is
    /// there, to the working directory
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["older_than", "max_time", "max_bytes", "resume", "quick"]
    )]
    pub(crate) manifest: Option<PathBuf>,
    /// The format of FILE [default: told by its name and its first bytes]
    #[arg(long, value_name = "NAME", requires = "manifest")]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) due: DueArgs,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Check, tag new files and retag modified ones, in one pass.
///
/// Corrupt files are reported and keep their old tags, so the evidence stays. A retagged file keeps
/// its previous tag beside the new one, and is listed unless --quiet: where you edited nothing, it
/// may be damaged.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast update ~/Documents
  steadfast update --dry-run ~/Documents   what changed since the last time?

Exit status: 0 every file has a true tag now; 1 with --dry-run, something is modified; 2 some \
could not be read or tagged, or no file was found; 3 something is corrupt; 130 interrupted.")]
pub(crate) struct UpdateArgs {
    /// Put back tags that the catalogue has and the files have lost
    #[arg(long)]
    pub(crate) restore_tags: bool,
    /// Take missing files out of the catalogue, and believe tags that others replaced
    #[arg(long)]
    pub(crate) accept_missing: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
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

/// Replace the tags of files whose contents changed.
///
/// Modified files get a tag of their present contents and are listed unless --quiet; the previous
/// tag is kept beside it. With
/// --algorithm, tags move to that algorithm. Corrupt files, and files whose tag is damaged, are
/// left alone unless --accept says that their contents are right.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast retag ~/Documents                 accept edits
  steadfast retag --accept scan-0042.tiff     accept this file although it looks corrupt
  steadfast retag --algorithm blake3 .        move tags to another algorithm

Exit status: 0 done; 2 some could not be read or tagged, or no file has a tag; 3 something is \
corrupt and was left alone; 130 interrupted.")]
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
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Remove tags.
///
/// Needs a PATH: it gives up the record of what the files held. Contents and modification times
/// stay as they are.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast untag --dry-run old/    how many tags are there?
  steadfast untag old/

Exit status: 0 done; 2 some tags could not be removed, or no file was found; 130 interrupted.")]
pub(crate) struct UntagArgs {
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Print tags without reading the files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast show IMG_0042.jpg
  steadfast show --json . | jq -r 'select(.stored) | .stored.digest'

Exit status: 0 done; 2 some tags could not be read, or no file was found; 130 interrupted.")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Print digests, or check files against a list of digests.
///
/// Prints the lines of sha256sum, and reads them with --check, also those of the BSD tools and
/// OpenSSL. Directories are walked, without the file that stdout goes to. `-` is stdin. Without a
/// PATH, stdin is hashed if it is not a terminal, otherwise the current directory.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast hash *.iso > SHA256SUMS       the lines of sha256sum
  steadfast hash --check SHA256SUMS       names are relative to the working directory
  tar c photos | tee photos.tar | steadfast hash
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
        conflicts_with_all = [
            "json", "csv", "trace", "files_from", "exclude", "exclude_from", "allow_empty"
        ]
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

/// Write tags as a manifest, or as another tool's attributes.
///
/// Names in the document are relative to PATH. Files without a tag, and files that were modified
/// since they were tagged, are left out and told; --read hashes every file instead. The file that
/// stdout goes to is left out.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast export --format gnu ~/Pictures > SHA256SUMS
  steadfast check --manifest SHA256SUMS ~/Pictures
  steadfast export --format sfv --read --algorithm crc32 . > files.sfv
  steadfast export --attributes shatag ~/Pictures

Exit status: 0 every file is in it; 2 some are not, or cannot be told in this format; \
130 interrupted.")]
pub(crate) struct ExportArgs {
    /// Write a document: steadfast, gnu, gnu-zero, bsd, openssl, hashdeep, bagit, chkbit,
    /// chkbit-db, bitrot, sfv, ni or mtree
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,
    /// Set attributes beside ours: shatag, dintch or unraid
    #[arg(long, value_name = "TOOL", conflicts_with = "format", value_parser = foreign_kind)]
    pub(crate) attributes: Option<ForeignKind>,
    /// Hash every file instead of believing its tag
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
/// A record that says which modification time its digest belongs to is believed, and nothing is
/// read. Other files are read and compared first. Files that have a tag keep it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast import --attributes ~/Pictures      tags of shatag, Dintch, Unraid
  steadfast import SHA256SUMS                   names are relative to the folder of the list
  steadfast import SHA256SUMS ~/Pictures        or to this one
  steadfast import --format hashdeep known.txt /mnt/disk

Exit status: 0 every file has a tag now; 1 something differs from its record or is missing; 2 some \
could not be read or tagged; 3 something is corrupt; 130 interrupted.")]
pub(crate) struct ImportArgs {
    /// Take the attributes that other tools set at the files of PATH
    #[arg(long, conflicts_with_all = ["format", "trust"])]
    pub(crate) attributes: bool,
    /// The format of the document, which PATH names [default: told by its name and first bytes]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,
    /// Believe digests of which the document does not say what time they are of, and read nothing
    #[arg(long)]
    pub(crate) trust: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRunArg,
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

/// Compare two directories: is B a faithful copy of A?
///
/// By their tags, which reads no contents: quick, and as true as the tags. Or with --read by the
/// contents of both. Tells what differs, what only one side has, what was moved, which tags the
/// copy lost, and of which files nothing can be told.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast diff ~/Pictures /mnt/backup/Pictures          by tags
  steadfast diff --read ~/Pictures /mnt/backup/Pictures   by reading both sides
  steadfast diff ~/Pictures SHA256SUMS                    with a list, by tags
  steadfast diff --json A B | jq -r 'select(.difference == \"tag_lost\") | .path'

Exit status: 0 B is a faithful copy; 1 something is different, on one side only, elsewhere, or \
lost its tag; 2 could not tell (unknown, unreadable, usage); 130 interrupted. 1 outranks 2.")]
pub(crate) struct DiffArgs {
    /// The directory that was copied
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,

    /// The directory that is to be a copy of it, or a manifest of what it should hold
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,

    /// The format of B, if it is a manifest [default: told by its name and its first bytes]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<Format>,

    /// Read and hash both sides instead of believing tags
    #[arg(long)]
    pub(crate) read: bool,

    /// Leave out what PATTERN matches, in the syntax of .gitignore, relative to A and to B.
    /// Repeatable
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Read such patterns from FILE, one on each line
    #[arg(long, value_name = "FILE")]
    pub(crate) exclude_from: Vec<PathBuf>,

    /// Do not enter directories on other file systems
    #[arg(long)]
    pub(crate) one_file_system: bool,

    #[command(flatten)]
    pub(crate) empty: AllowEmptyArg,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) algorithm: AlgorithmArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Test which tools and file systems keep tags.
///
/// Tries copying, moving, packing and saving with the tools that are installed, on a file of its
/// own in a folder of its own, and removes both. With several directories, moves between them too.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast probe .                        what keeps tags here?
  steadfast probe /home /mnt/usb /mnt/nas  and what keeps them on the way between these?

Exit status: 0 done, whatever was found; 2 a DIR cannot be probed; 130 interrupted.")]
pub(crate) struct ProbeArgs {
    /// Directories that can be written, best one on each file system
    #[arg(value_name = "DIR", required = true)]
    pub(crate) directories: Vec<PathBuf>,

    /// Print one JSON object for each directory and each thing tried, the summary last
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) level: LevelArgs,
}
