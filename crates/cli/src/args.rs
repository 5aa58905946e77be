//! What the command line may say. The doc comments are the help texts.
//!
//! In: arguments. Out: plain values; `args/verbs.rs` has one struct for each verb, made of the
//! groups here, so nothing is written twice.

mod catalogue;
mod code;
mod fleet;
mod help;
mod measure;
mod objects;
mod pages;
mod qos;
mod quantity;
mod report;
mod selection;
mod serve;
mod verbs;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};
use steadfast::{Algorithm, Backend, CatalogueUse, DueChoice, Options, ReadFrom};
use steadfast_report::{FindingRule, TextOptions, Units};

use crate::output::stdout_has_color;
use crate::state_folder;

pub(crate) use catalogue::{AuditArgs, DocumentArgs, HistoryArgs};
pub(crate) use code::{
    CodeArgs, CodeCommand, CodeCostArgs, CodeOutputArgs, CodeShowArgs, CodeVerifyArgs,
};
pub(crate) use fleet::{
    FleetArgs, FleetCommand, FleetMergeArgs, FleetPlanArgs, FleetRunArgs, FleetStatusArgs,
};
pub(crate) use measure::{MeasureArgs, MeasureCommand, RecordArgs, cipher_worker};
pub(crate) use objects::{
    ComparedArgs, ObjectsArgs, ObjectsCheckArgs, ObjectsCommand, ObjectsImportArgs,
};
pub(crate) use pages::{KeepPagesArgs, PagesArgs, PagesCommand, PagesDigestArgs, PagesSourceArgs};
pub(crate) use qos::{
    LevelArgs, LevelOf, QosArgs, QosCommand, QosRunArgs, QosSetArgs, QosShowArgs,
};
pub(crate) use report::ReportArgs;
pub(crate) use serve::{LanguageArg, OpenArgs, ServeArgs};
pub(crate) use verbs::{
    CheckArgs, Command, DiffArgs, ExportArgs, HashArgs, ImportArgs, InitArgs, ProbeArgs, RetagArgs,
    ShowArgs, TagArgs, UntagArgs, UpdateArgs,
};

/// Detect silent file corruption, and see what each check costs.
///
/// `steadfast tag` stores a digest of every file in an extended attribute, the tag. `steadfast
/// check` reads the files again, compares them with their tags, and tells edits from decay.
#[derive(Debug, Parser)]
#[command(
    name = "steadfast",
    version,
    long_version = long_version(),
    arg_required_else_help = true,
    after_long_help = "\
Begin with `steadfast tag DIR`, once. Run `steadfast check DIR` from time to time; after edits, \
`steadfast update DIR`. `steadfast VERB --help` describes a verb.

Exit status: 0 nothing wrong; 1 something is modified or missing; 2 could not tell (usage, \
unreadable, unstable); 3 something is corrupt; 130 interrupted. 3 outranks 1, 1 outranks 2."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line.
    ///
    /// # Errors
    /// If it is not understood, or asks for help or the version.
    pub(crate) fn read() -> Result<Cli, clap::Error> {
        let matches = help::grouped(Cli::command()).try_get_matches().map_err(suggested)?;
        Cli::from_arg_matches(&matches)
    }
}

/// Which files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which files")]
pub(crate) struct PathArgs {
    /// Files and directories; directories are walked to their ends. Symbolic links are followed
    /// here and nowhere below [default: the current directory]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Read further paths from FILE, one on each line; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,

    /// The paths in --files-from end with NUL, as `find -print0` writes them
    #[arg(short = '0', long, requires = "files_from")]
    pub(crate) null: bool,

    /// Leave out what PATTERN matches, in the syntax of .gitignore, relative to each PATH.
    /// Repeatable; nothing is left out unasked
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
}

/// Whether a run that comes to nothing is a success.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct AllowEmptyArg {
    /// End with status 0 although no file was found, or none could be judged
    #[arg(long)]
    pub(crate) allow_empty: bool,
}

impl AllowEmptyArg {
    /// Puts the choice into a run's options.
    pub(crate) fn choose(self, options: Options) -> Options {
        options.with(|options| options.allow_empty = self.allow_empty)
    }
}

/// How files are read and hashed.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to read and hash")]
pub(crate) struct EngineArgs {
    /// Hash in N threads [default: one for each processor that the QoS level may use]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,

    /// Use this SHA-256 backend or fail; `steadfast --version` lists those of this machine
    /// [default: the fastest, measured]
    #[arg(long, value_name = "NAME", value_parser = Backend::named)]
    backend: Option<Backend>,

    /// Hash N files at once in each thread, as the backend allows [default: the fastest]
    #[arg(long, value_name = "N")]
    lanes: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    /// Where bytes come from. `media` bypasses the page cache where the file system can, so that
    /// the check proves the storage rather than the RAM
    #[arg(long, value_name = "PLACE", value_enum, default_value = "cache")]
    read_from: ReadFromArg,

    /// Read from N places at a time [default: 1 where a disk rotates, else as many as pay]
    #[arg(long, value_name = "N")]
    queue_depth: Option<NonZeroUsize>,

    /// Read at most RATE in a second, as 50MB, so that others get their share
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    rate_limit: Option<u64>,
}

impl EngineArgs {
    /// Fills in a run's options.
    pub(crate) fn options(&self) -> Options {
        Options::default().with(|options| {
            options.workers = self.workers.map(NonZeroUsize::get);
            options.backend = self.backend;
            options.lanes = self.lanes.map(NonZeroUsize::get);
            options.qos = self.level.level();
            options.read_from = match self.read_from {
                ReadFromArg::Cache => ReadFrom::Cache,
                ReadFromArg::Media => ReadFrom::Media,
            };
            options.queue_depth = self.queue_depth.map(NonZeroUsize::get);
            options.rate_limit_bytes_per_s = self.rate_limit;
        })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReadFromArg {
    Cache,
    Media,
}

/// The algorithm of new digests.
#[derive(Debug, Args)]
pub(crate) struct AlgorithmArg {
    /// Digest with ALGORITHM: sha256, sha512, sha384, sha1, md5, blake2b, blake3, xxh3-128, crc32c
    /// or fletcher64 [default: sha256; where there is a tag, the tag's]
    #[arg(long, value_name = "ALGORITHM")]
    pub(crate) algorithm: Option<Algorithm>,
}

impl AlgorithmArg {
    /// Puts the choice into a run's options.
    pub(crate) fn choose(&self, options: Options) -> Options {
        options.with(|options| options.algorithm = self.algorithm)
    }
}

/// Which catalogue is kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "The catalogue")]
pub(crate) struct CatalogueArgs {
    /// Keep the catalogue FILE instead of that of the nearest tree at or above PATH
    #[arg(long, value_name = "FILE")]
    catalogue: Option<PathBuf>,

    /// Keep no catalogue
    #[arg(long, conflicts_with = "catalogue")]
    no_catalogue: bool,

    /// Wait for another run that keeps it, rather than to refuse
    #[arg(long)]
    wait: bool,
}

impl CatalogueArgs {
    /// Puts the choice into a run's options.
    pub(crate) fn choose(&self, options: Options) -> Options {
        let catalogue = match (&self.catalogue, self.no_catalogue) {
            (Some(file), _) => CatalogueUse::At(file.clone()),
            (None, true) => CatalogueUse::Off,
            (None, false) => CatalogueUse::Nearest,
        };
        options.with(|options| {
            options.catalogue = catalogue;
            options.wait = self.wait;
            options.trees = state_folder::trees();
        })
    }
}

/// Which part of a catalogued tree is checked.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is due, in a catalogued tree")]
pub(crate) struct DueArgs {
    /// Check only what was not checked for TIME, as 30d, the longest-unchecked first
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    older_than: Option<Duration>,

    /// End after TIME, as 2h. The longest-unchecked come first; files not finished stay due
    #[arg(long, value_name = "TIME", value_parser = quantity::time_limit)]
    max_time: Option<Duration>,

    /// Check files of at most SIZE together, as 500G; the longest-unchecked come first
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    max_bytes: Option<u64>,

    /// Check what the last run did not come to, if it was interrupted
    #[arg(long)]
    resume: bool,

    /// Compare length, times and inode with the catalogue and open nothing: quick, and no proof
    #[arg(
        long,
        conflicts_with_all = ["older_than", "max_time", "max_bytes", "resume", "read_from"]
    )]
    pub(crate) quick: bool,
}

impl DueArgs {
    /// Returns the choice, if one was made.
    pub(crate) fn choice(&self) -> Option<DueChoice> {
        let mut choice = DueChoice::default();
        choice.older_than = self.older_than;
        choice.max_time = self.max_time;
        choice.max_bytes = self.max_bytes;
        choice.resume = self.resume;
        (choice != DueChoice::default()).then_some(choice)
    }
}

/// How the answer looks.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to print")]
pub(crate) struct OutputArgs {
    /// Print one JSON object for each file, the summary last; times in nanoseconds
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print CSV, one row for each file, below a header
    #[arg(long)]
    pub(crate) csv: bool,

    /// Print a line for every file, with its seconds and GB/s, and one for every thread
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Print only what went wrong; corrupt files always
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Write what every thread did, and when, to a new FILE, as JSON for chrome://tracing and
    /// ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Write a page about the run to FILE: .html with charts, or .md, .csv, .json
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Multiples of bytes: `si` for MB and GB, `iec` for MiB and GiB
    #[arg(long, value_enum, default_value = "si")]
    units: UnitsArg,

    /// Show progress on stderr. `auto`: one line on a terminal, elsewhere a line every 10 s, none
    /// with --quiet, and with --json or --csv only on a terminal
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) progress: When,
}

impl OutputArgs {
    /// Returns the multiples of bytes.
    pub(crate) fn units(&self) -> Units {
        self.units.units()
    }

    /// Returns how text is written, with the colours that stdout and the environment allow.
    pub(crate) fn text(&self, rule: FindingRule) -> TextOptions {
        TextOptions {
            verbose: self.verbose,
            quiet: self.quiet,
            color: stdout_has_color(),
            units: self.units(),
            rule,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UnitsArg {
    Si,
    Iec,
}

impl UnitsArg {
    fn units(self) -> Units {
        match self {
            UnitsArg::Si => Units::Si,
            UnitsArg::Iec => Units::Iec,
        }
    }
}

/// When to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Never,
    Always,
}

/// Whether a writing verb writes.
#[derive(Debug, Args)]
pub(crate) struct DryRunArg {
    /// Say what would be written, and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

/// Verbs of other tools, and what does the same here.
const GUESSED: [(&str, &str); 18] = [
    ("verify", "check"),
    ("validate", "check"),
    ("scan", "check"),
    ("scrub", "check"),
    ("test", "check"),
    ("status", "audit"),
    ("info", "show"),
    ("list", "show"),
    ("ls", "show"),
    ("add", "tag"),
    ("create", "tag"),
    ("generate", "tag"),
    ("sum", "hash"),
    ("compare", "diff"),
    ("log", "history"),
    ("remove", "untag"),
    ("accept", "retag"),
    ("refresh", "update"),
];

/// Adds to an error about an unknown verb which one does what other tools call so.
fn suggested(mut error: clap::Error) -> clap::Error {
    let guessed = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(guessed)) => guessed.to_lowercase(),
        _ => return error,
    };
    if let Some((_, verb)) = GUESSED.iter().find(|(name, _)| *name == guessed) {
        let verb = ContextValue::Strings(vec![(*verb).to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, verb);
    }
    error
}

/// The version, and what this machine offers.
fn long_version() -> String {
    let backends: Vec<&str> = Backend::detected().map(Backend::name).collect();
    format!("{}\nSHA-256 backends here: {}", env!("CARGO_PKG_VERSION"), backends.join(", "))
}
