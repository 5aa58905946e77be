//! What the command line may say. The doc comments are the help texts.
//!
//! In: arguments. Out: plain values; `args/verbs.rs` has one struct for each verb, made of the
//! groups here, so nothing is written twice.

mod usual;
mod catalogue;
#[cfg(feature = "companions")]
mod code;
mod copy;
mod help;
#[cfg(feature = "companions")]
mod measure;
mod meant;
mod pages;
mod parity;
mod parse;
mod qos;
mod quantity;
mod repair;
mod named;
mod schedule;
mod selection;
#[cfg(feature = "serve")]
mod serve;
mod shard;
mod store;
mod verbs;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};
use steadfast::{Algorithm, Backend, CatalogueUse, DatalessUse, DueChoice, Options, ReadFrom};
use steadfast_report::{FindingRule, TextOptions, Units};

use self::named::named;
use crate::local_time::moments;
use crate::output::stdout_has_color;
use crate::state_folder;

pub(crate) use catalogue::AuditArgs;
pub(crate) use catalogue::{CatalogueFileArg, DocumentArgs};
#[cfg(feature = "companions")]
pub(crate) use code::{
    CodeArgs, CodeCommand, CodeCostArgs, CodeOutputArgs, CodeShowArgs, CodeVerifyArgs,
};
pub(crate) use copy::{AnswerArgs, CopyArgs, CopyPathArgs, KnownArgs, MoveArgs, SafeVerbArgs};
pub(crate) use help::{HelpArgs, all_verbs, described, page_of};
pub(crate) use meant::WholeSystemArg;
#[cfg(feature = "serve")]
pub(crate) use measure::workload_of;
#[cfg(feature = "companions")]
pub(crate) use measure::{MeasureArgs, MeasureCommand, RecordArgs, ReportArgs};
pub(crate) use pages::KeepPagesArgs;
pub(crate) use parity::{
    ParityArgs, ParityCommand, ParityDropArgs, ParityMadeArgs, ParityPlaceArgs,
};
pub(crate) use qos::{
    LevelArgs, LevelOf, QosArgs, QosCommand, QosRunArgs, QosSetArgs, QosShowArgs, QosWatchArgs,
};
pub(crate) use repair::{Discarded, RememberedArgs, RepairArgs};
pub(crate) use schedule::{
    AlertAddArgs, AlertArgs, AlertCommand, AlertSnoozeArgs, ScheduleAddArgs, ScheduleArgs,
    ScheduleCommand, ScheduleMetricsArgs, ScheduleRunArgs, StatusArgs,
};
pub(crate) use selection::NAMES_MANY;
#[cfg(feature = "serve")]
pub(crate) use serve::ServeArgs;
pub(crate) use shard::{MergeArgs, ShardArgs};
pub(crate) use usual::{ignores_change_times, usual_options};
pub(crate) use verbs::{
    CheckArgs, Command, DiffArgs, ExportArgs, HashArgs, ImportArgs, InitArgs, ShowArgs, TagArgs,
    UntagArgs, UpdateArgs,
};

/// Steadfast finds the files that changed without you, and mends them.
#[derive(Debug, Parser)]
#[command(
    name = "steadfast",
    version,
    long_version = long_version(),
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// The level that this process is to be at.
    #[arg(skip)]
    pub(crate) level: Option<LevelOf>,
}

impl Cli {
    /// Parses the words of a command line by the whole command, the program's name first.
    ///
    /// # Errors
    /// If they are not understood, or ask for help or the version.
    fn of_all_verbs(words: &[OsString]) -> Result<Cli, clap::Error> {
        let matches = help::page(Cli::command()).try_get_matches_from(words).map_err(suggested)?;
        Cli::of_matches(&matches)
    }

    fn of_matches(matches: &ArgMatches) -> Result<Cli, clap::Error> {
        Ok(Cli { level: LevelOf::of(matches), ..Cli::from_arg_matches(matches)? })
    }
}

/// Which files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which files")]
pub(crate) struct PathArgs {
    /// Files, and directories with everything in them. A symbolic link named here is followed,
    /// those below are not [default: the current directory]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Read more paths from FILE, one per line; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,

    /// Paths in --files-from end with NUL, as `find -print0` writes them
    #[arg(short = '0', long, requires = "files_from")]
    pub(crate) null: bool,

    #[command(flatten)]
    pub(crate) walk: WalkArgs,
}

/// Which files a walk leaves out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which files")]
pub(crate) struct WalkArgs {
    /// Skip files that match PATTERN, in the syntax of .gitignore, relative to the directory named.
    /// Repeatable. Without it, no file is skipped
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,

    /// Read patterns from FILE, one per line
    #[arg(long, value_name = "FILE")]
    pub(crate) exclude_from: Vec<PathBuf>,

    /// Do not enter directories on other file systems
    #[arg(long)]
    pub(crate) one_file_system: bool,

    #[command(flatten)]
    pub(crate) empty: AllowEmptyArg,
}

/// Whether a run that checks no file is a success.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct AllowEmptyArg {
    /// Exit with status 0 even if no file was found, or none could be checked
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
    /// Hash in N threads [default: one per processor that the QoS level may use]
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroUsize>,

    /// Use this SHA-256 backend, or fail. `steadfast --version` lists those of this machine
    /// [default: the fastest, measured at the start]
    #[arg(long, value_name = "NAME", value_parser = Backend::named)]
    backend: Option<Backend>,

    /// Hash N files at once in each thread, if the backend can [default: the fastest]
    #[arg(long, value_name = "N")]
    lanes: Option<NonZeroUsize>,

    #[command(flatten)]
    pub(crate) level: LevelArgs,

    /// Where to read from. `media` bypasses the page cache if the file system can, so the check
    /// tests the storage and not the memory
    #[arg(long, value_name = "PLACE", default_value = "cache", value_parser = named::<ReadFrom>())]
    read_from: ReadFrom,

    /// Download files whose contents are in a cloud and not on this machine, and read them like any
    /// other. Without it, they are skipped and counted
    #[arg(long, conflicts_with = "require_local")]
    download: bool,

    /// Treat a file whose contents are not on this machine as unreadable: status 2
    #[arg(long)]
    require_local: bool,

    /// Keep N reads in flight [default: 1 on a rotating disk, otherwise as many as help]
    #[arg(long, value_name = "N")]
    queue_depth: Option<NonZeroUsize>,

    /// Read at most RATE per second, for example 50MB
    #[arg(long, value_name = "RATE", value_parser = quantity::rate)]
    rate_limit: Option<u64>,
}

impl EngineArgs {
    /// Returns the number of threads that hash.
    pub(crate) fn workers(&self) -> NonZeroUsize {
        self.level.workers(self.workers)
    }

    /// Fills in a run's options.
    pub(crate) fn options(&self) -> Options {
        usual_options().with(|options| {
            options.reading.workers = self.workers.map(NonZeroUsize::get);
            options.reading.backend = self.backend;
            options.reading.lanes = self.lanes.map(NonZeroUsize::get);
            options.qos = self.level.level();
            options.reading.from = self.read_from;
            options.dataless = match (self.download, self.require_local) {
                (true, _) => DatalessUse::Download,
                (_, true) => DatalessUse::Fail,
                _ => DatalessUse::Skip,
            };
            options.reading.queue_depth = self.queue_depth.map(NonZeroUsize::get);
            options.reading.rate_limit_bytes_per_s = self.rate_limit;
        })
    }
}

/// The algorithm of new digests.
#[derive(Debug, Args)]
pub(crate) struct AlgorithmArg {
    /// Hash with ALGORITHM: sha256, sha512, sha384, sha1, md5, blake2b, blake3, xxh3-128, xxh64,
    /// xxh3-64, crc32c, crc32, crc64nvme or fletcher64 [default: the algorithm of the
    /// file's tag, or sha256]
    #[arg(long, value_name = "ALGORITHM")]
    pub(crate) algorithm: Option<Algorithm>,
}

/// Which catalogue a run uses.
#[derive(Debug, Args)]
#[command(next_help_heading = "The catalogue")]
pub(crate) struct CatalogueArgs {
    /// Use the catalogue FILE [default: that of the nearest tree at or above PATH]
    #[arg(long, value_name = "FILE")]
    pub(crate) catalogue: Option<PathBuf>,

    /// Use no catalogue
    #[arg(long, conflicts_with = "catalogue")]
    no_catalogue: bool,

    /// Wait if another run has the catalogue locked, instead of failing
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
            options.catalogue.choice = catalogue;
            options.catalogue.wait = self.wait;
            options.catalogue.trees = state_folder::trees();
        })
    }
}

/// Which part of a catalogued tree is checked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Part of a tree that has a catalogue")]
pub(crate) struct DueArgs {
    /// Check only files not checked for TIME, for example 30d
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    older_than: Option<Duration>,

    /// Stop after TIME, for example 2h. Files not checked for longest come first; those not
    /// finished stay due
    #[arg(long, value_name = "TIME", value_parser = quantity::time_limit)]
    max_time: Option<Duration>,

    /// Check at most SIZE in total, for example 500G. Files not checked for longest come first
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    max_bytes: Option<u64>,

    /// Continue the last run if it was interrupted
    #[arg(long)]
    resume: bool,

    /// Compare length, times and inode with the catalogue, and open no file. Quick, but contents
    /// are not checked
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
    /// Print one JSON object per file, the summary last. Times are in nanoseconds
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,

    /// Print CSV: a header, then one row per file
    #[arg(long)]
    pub(crate) csv: bool,

    /// Print a line for every file, with its seconds and GB/s, and a line for every thread
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// Print only what went wrong
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Write what each thread did and when to a new FILE, as JSON for chrome://tracing and
    /// ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Write a report of the run to FILE: .html with charts, or .md, .csv or .json
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Units of sizes: `si` for MB and GB, `iec` for MiB and GiB
    #[arg(long, default_value = "si", value_parser = named::<Units>())]
    pub(crate) units: Units,

    /// Show progress on stderr. `auto`: one line on a terminal, otherwise a line every 10 s; none
    /// with --quiet; with --json or --csv only on a terminal
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    pub(crate) progress: When,
}

impl OutputArgs {
    /// Returns how a run is shown by a verb that has no more choices than these.
    pub(crate) fn of_document(document: &DocumentArgs, quiet: bool) -> OutputArgs {
        let DocumentArgs { json, csv, units, .. } = *document;
        let (trace, report, progress) = (None, None, When::Auto);
        OutputArgs { json, csv, verbose: false, quiet, trace, report, units, progress }
    }

    /// Returns how text is written, with the colours that stdout and the environment allow.
    pub(crate) fn text(&self, rule: FindingRule) -> TextOptions {
        TextOptions {
            verbose: self.verbose,
            quiet: self.quiet,
            color: stdout_has_color(),
            units: self.units,
            rule,
            moments: moments(),
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
    /// Print what would be written, and write nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

/// Verbs of other tools, and what does the same here.
const GUESSED: [(&str, &str); 19] = [
    ("verify", "check"),
    ("validate", "check"),
    ("scan", "check"),
    ("scrub", "check"),
    ("test", "check"),
    ("info", "show"),
    ("list", "show"),
    ("ls", "show"),
    ("add", "tag"),
    ("create", "tag"),
    ("generate", "tag"),
    ("sum", "hash"),
    ("compare", "diff"),
    ("log", "show"),
    ("remove", "untag"),
    ("accept", "update"),
    ("refresh", "update"),
    ("fix", "repair"),
    ("heal", "repair"),
];

/// Verbs that a build can lack, each with the Cargo feature that it needs and the page about it.
const FEATURES: [(&str, &str, &str); 3] = [
    ("code", "companions", "signed-code.md"),
    ("measure", "companions", "measure.md"),
    ("serve", "serve", "serve.md"),
];

/// Says which feature an absent verb needs, or suggests our verb for what another tool calls it.
fn suggested(mut error: clap::Error) -> clap::Error {
    let guessed = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(guessed)) => guessed.to_lowercase(),
        _ => return error,
    };
    if let Some((verb, feature, page)) = FEATURES.iter().find(|(verb, ..)| *verb == guessed) {
        let message = format!(
            "`{verb}` is not in this build: it needs the Cargo feature `{feature}`, as has one \
             by: cargo install --path crates/cli --all-features\n\
             What it does: docs/reference/{page}\n"
        );
        return clap::Error::raw(ErrorKind::InvalidSubcommand, message);
    }
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
