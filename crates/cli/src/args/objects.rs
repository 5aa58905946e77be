//! The arguments of `check` of a store's address, and of `import` of a store's report.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use steadfast::manifest::Format;
use steadfast_objects::Address;

use super::LevelArgs;

const STATUSES: &str = "

Exit status: 0 nothing wrong; 1 something is modified or missing, or with --require-tags unknown; \
2 could not tell (not comparable, refused, unreadable, no object on record, usage); \
3 something is corrupt; 130 interrupted. 3 outranks 1, 1 outranks 2.";

/// Compare the objects of a store with local records, without downloading.
///
/// Requests the digests that the store keeps, and compares them with tags, a manifest or a
/// catalogue.
///
/// Keys come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or from the
/// profile in ~/.aws. They are never printed. They need the rights to list the bucket and to get
/// the heads and attributes of objects.
#[derive(Debug, Args)]
#[command(bin_name = "steadfast check", after_long_help = "\
Examples:
  steadfast check s3://archive/photos ~/Pictures
  steadfast check --endpoint http://127.0.0.1:9000 s3://archive --manifest SHA256SUMS"
    .to_owned() + STATUSES)]
pub(crate) struct ObjectsCheckArgs {
    /// The objects, as s3://BUCKET/FOLDER. The rest of each key is the path of a file
    #[arg(value_name = "URL", value_parser = address)]
    pub(crate) address: Address,
    /// The address of the store, for example http://127.0.0.1:9000 [default: AWS_ENDPOINT_URL_S3,
    /// AWS_ENDPOINT_URL, the profile's, or Amazon's]
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// Trust these certificates (PEM) to identify the store [default: AWS_CA_BUNDLE, the profile's,
    /// or those of browsers]
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_bundle: Option<PathBuf>,
    /// The region [default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1]
    #[arg(long, value_name = "NAME")]
    pub(crate) region: Option<String>,
    /// The profile in ~/.aws [default: AWS_PROFILE, or default]
    #[arg(long, value_name = "NAME", conflicts_with = "anonymous")]
    pub(crate) profile: Option<String>,
    /// Send requests without a key, for public buckets
    #[arg(long)]
    pub(crate) anonymous: bool,
    #[command(flatten)]
    pub(crate) compared: ComparedArgs,
}

/// Compare files with a report made by their store.
///
/// The report is the manifest.json of a batch job that computed digests or of an inventory in CSV,
/// with its files beside it, or one CSV file.
#[derive(Debug, Args)]
#[command(bin_name = "steadfast import", after_long_help = "\
Examples:
  steadfast import job-1/manifest.json --of s3://archive/photos --catalogue ~/Pictures
  steadfast import list.csv --columns 'Bucket, Key, Size, ETag' --of s3://archive ."
    .to_owned() + STATUSES)]
pub(crate) struct ObjectsImportArgs {
    /// The report
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// The objects to compare, as s3://BUCKET/FOLDER. Others are ignored
    #[arg(long, value_name = "URL", value_parser = address)]
    pub(crate) of: Address,
    /// REPORT is one CSV file of an inventory with these columns, for example "Bucket, Key, Size,
    /// ETag"
    #[arg(long, value_name = "NAMES")]
    pub(crate) columns: Option<String>,
    /// The report is complete: files that it does not name are missing
    #[arg(long)]
    pub(crate) complete: bool,
    #[command(flatten)]
    pub(crate) compared: ComparedArgs,
}

/// What objects are compared with, and how the result is printed.
#[derive(Debug, Args)]
pub(crate) struct ComparedArgs {
    /// The directory of the files, whose tags are compared by default [default: the current
    /// directory]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Compare with the digests in FILE, in any format that `check --manifest` reads
    #[arg(long, value_name = "FILE", conflicts_with = "catalogue")]
    pub(crate) manifest: Option<PathBuf>,
    /// The format of FILE [default: recognised by its name and first bytes]
    #[arg(long, value_name = "NAME", requires = "manifest")]
    pub(crate) format: Option<Format>,
    /// Compare with the records of the files below DIR in the catalogue of the tree at or above DIR
    #[arg(long, value_name = "DIR", conflicts_with = "path")]
    pub(crate) catalogue: Option<PathBuf>,
    /// Read no file. Otherwise a file is read if its record and the digest of the store are of
    /// different kinds
    #[arg(long)]
    pub(crate) no_read: bool,
    /// Treat objects without a record as failures
    #[arg(long)]
    pub(crate) require_tags: bool,
    /// Send requests and read in N threads [default: 16 for requests, one per processor for
    /// reading]
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<NonZeroUsize>,
    /// Print one JSON object per object, the summary last
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
