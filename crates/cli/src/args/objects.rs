//! The arguments of `steadfast objects`.
//!
//! In: arguments. Out: which objects, what they are compared with, how the store is reached.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use steadfast::manifest::Format;
use steadfast_objects::Address;

use super::LevelArgs;
use super::qos::LevelOf;

/// Compare objects in a store with local records, without downloading.
///
/// Stores keep digests of their objects. `check` asks for them; `import` reads a report that a
/// store made. Either compares them with tags, a manifest or a catalogue, and says what it rests
/// on.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast objects check s3://archive/photos ~/Pictures
  steadfast objects check s3://archive --manifest SHA256SUMS --no-read
  steadfast objects import job-1/manifest.json --of s3://archive/photos --catalogue ~/Pictures")]
pub(crate) struct ObjectsArgs {
    #[command(subcommand)]
    pub(crate) command: ObjectsCommand,
}

impl ObjectsArgs {
    /// Returns the level that this process is to be at.
    pub(crate) fn level(&self) -> Option<LevelOf> {
        let common = match &self.command {
            ObjectsCommand::Check(args) => &args.compared,
            ObjectsCommand::Import(args) => &args.compared,
        };
        Some(LevelOf::Work(common.level.level()))
    }
}

/// Where digests of objects come from.
#[derive(Debug, Subcommand)]
pub(crate) enum ObjectsCommand {
    Check(ObjectsCheckArgs),
    Import(ObjectsImportArgs),
}

const STATUSES: &str = "\
Exit status: 0 nothing wrong; 1 something is modified or missing, or with --require-tags unknown; \
2 could not tell (not comparable, refused, unreadable, no object known, usage); \
3 something is corrupt; 130 interrupted. 3 outranks 1, 1 outranks 2.";

/// Ask a store for the digests that it keeps, and compare them.
///
/// Keys come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or else from the
/// profile in ~/.aws. They are never printed. Needed are the rights to list the bucket and to ask
/// for objects' heads and attributes.
#[derive(Debug, Args)]
#[command(after_long_help = STATUSES)]
pub(crate) struct ObjectsCheckArgs {
    /// The objects, as s3://BUCKET/FOLDER: what follows are the files' paths
    #[arg(value_name = "URL", value_parser = address)]
    pub(crate) address: Address,
    /// The store, as http://127.0.0.1:9000 [default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or
    /// Amazon's]
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// Certificates (PEM) of whom to believe who the store is [default: AWS_CA_BUNDLE, the
    /// profile's, or those of browsers]
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_bundle: Option<PathBuf>,
    /// The region [default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1]
    #[arg(long, value_name = "NAME")]
    pub(crate) region: Option<String>,
    /// The profile in ~/.aws [default: AWS_PROFILE, or default]
    #[arg(long, value_name = "NAME", conflicts_with = "anonymous")]
    pub(crate) profile: Option<String>,
    /// Ask as anybody, without a key: of public buckets
    #[arg(long)]
    pub(crate) anonymous: bool,
    #[command(flatten)]
    pub(crate) compared: ComparedArgs,
}

/// Judge files by a report that their store made.
///
/// A report is of a batch job that computed digests, or an inventory, in CSV: name its
/// manifest.json, and the files that this names must be beside it; or one CSV file.
#[derive(Debug, Args)]
#[command(after_long_help = STATUSES)]
pub(crate) struct ObjectsImportArgs {
    /// The report
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// Which objects are the files, as s3://BUCKET/FOLDER; others are passed by
    #[arg(long, value_name = "URL", value_parser = address)]
    pub(crate) of: Address,
    /// REPORT is one CSV file of an inventory with these columns, as "Bucket, Key, Size, ETag"
    #[arg(long, value_name = "NAMES")]
    pub(crate) columns: Option<String>,
    /// The report tells of all objects: what it does not name is missing
    #[arg(long)]
    pub(crate) complete: bool,
    #[command(flatten)]
    pub(crate) compared: ComparedArgs,
}

/// What objects are compared with, and how it is told.
#[derive(Debug, Args)]
pub(crate) struct ComparedArgs {
    /// The directory of the files; their tags are compared unless told otherwise [default: the
    /// current directory]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Compare with what FILE says, in any format that `check --manifest` knows
    #[arg(long, value_name = "FILE", conflicts_with = "catalogue")]
    pub(crate) manifest: Option<PathBuf>,
    /// The format of FILE [default: told by its name and its first bytes]
    #[arg(long, value_name = "NAME", requires = "manifest")]
    pub(crate) format: Option<Format>,
    /// Compare with what the catalogue of the tree at or above DIR says of the files beneath DIR
    #[arg(long, value_name = "DIR", conflicts_with = "path")]
    pub(crate) catalogue: Option<PathBuf>,
    /// Read no file here. Otherwise a file is read where its record and the store's digest are of
    /// different kinds
    #[arg(long)]
    pub(crate) no_read: bool,
    /// Take an object of which nothing is known for a failure
    #[arg(long)]
    pub(crate) require_tags: bool,
    /// Ask and read in N threads [default: 16 to ask, one for each processor to read]
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<NonZeroUsize>,
    /// Print one JSON object for each object, the summary last
    #[arg(long)]
    pub(crate) json: bool,
    /// Print a line for every object
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print only what is wrong
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
}

fn address(text: &str) -> Result<Address, String> {
    Address::parse(text).map_err(|error| error.to_string())
}
