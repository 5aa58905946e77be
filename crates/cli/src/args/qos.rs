//! Levels: which one a verb runs at, and the arguments of `steadfast qos`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::{ArgMatches, Args, FromArgMatches as _, Subcommand};
use steadfast::Level;
use steadfast::qos::Pace;

use super::quantity;

/// The heading of these options, whatever is listed before.
const HEADING: &str = "How to read and hash";

/// The level that a verb runs at.
#[derive(Debug, Args)]
pub(crate) struct LevelArgs {
    /// Run at a QoS level: background (9, tortoise), utility (17, walk), default (21, bicycle),
    /// user-initiated (25, car), user-interactive (33, racing-car). `steadfast qos show` shows
    /// their effects on this machine [default: default]
    #[arg(long, value_name = "LEVEL", alias = "pace", value_parser = level, help_heading = HEADING)]
    qos: Option<Level>,
}

impl LevelArgs {
    /// Returns the level.
    pub(crate) fn level(&self) -> Level {
        self.qos.unwrap_or_default()
    }

    /// Returns as many threads as asked for, else one for each processor that the level may use.
    pub(crate) fn workers(&self, asked: Option<NonZeroUsize>) -> NonZeroUsize {
        let allowed = || NonZeroUsize::new(steadfast::qos::workers(self.level()));
        asked.or_else(allowed).unwrap_or(NonZeroUsize::MIN)
    }
}

/// Reads a level by its name, its number or its pace.
pub(super) fn level(text: &str) -> Result<Level, String> {
    let named =
        || text.parse::<Level>().or_else(|why| text.parse().map(Pace::level).map_err(|_| why));
    named().map_err(|why| format!("{why}, or {}", Pace::ALL.map(Pace::name).join(", ")))
}

/// What a verb's level is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelOf {
    /// A run, which tells what came of it.
    Run(Level),
    /// Work of this process that tells nothing of levels.
    Work(Level),
}

impl LevelOf {
    /// Returns the level that this process is to be at, by the options of the innermost command;
    /// `None` where that command sees to it or has no level.
    pub(super) fn of(matches: &ArgMatches) -> Option<LevelOf> {
        let (verb, mut matches) = matches.subcommand()?;
        let mut part = "";
        while let Some((name, inner)) = matches.subcommand() {
            (part, matches) = (name, inner);
        }
        if matches!(verb, "measure" | "schedule") || matches.try_contains_id("qos").is_err() {
            return None;
        }
        let level = LevelArgs::from_arg_matches(matches).ok()?.level();
        // A choice that makes a verb do something else than a run.
        let is_other = ["history", "where"].iter().any(|choice| {
            matches.try_get_one::<bool>(choice).is_ok_and(|is_set| is_set == Some(&true))
        });
        Some(match (verb, part) {
            ("status" | "code" | "parity", _) => LevelOf::Work(level),
            _ if is_other => LevelOf::Work(level),
            _ => LevelOf::Run(level),
        })
    }
}

/// Show QoS levels, run a command at one, or lower a running process.
///
/// A level says how urgent work is. The system maps it to a scheduling class, a nice value, an I/O
/// priority, and slower processors if the machine has several types. The result of every step is
/// shown.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast qos show                                the effects of levels on this machine
  steadfast qos run background -- tar cf a.tar A    run a command at low priority
  steadfast qos set background --pid 4711           lower a running process
  steadfast qos set default --pid 4711              undo that
  steadfast qos watch 4711                          what it gets of the processors meanwhile

Levels: background (9, tortoise), utility (17, walk), default (21, bicycle), user-initiated (25, \
car), user-interactive (33, racing-car).")]
pub(crate) struct QosArgs {
    #[command(subcommand)]
    pub(crate) command: QosCommand,
}

/// What to do with levels.
#[derive(Debug, Subcommand)]
pub(crate) enum QosCommand {
    Show(QosShowArgs),
    Run(QosRunArgs),
    Set(QosSetArgs),
    Watch(QosWatchArgs),
}

/// Show core types, I/O schedulers, and the result of each step of each level.
///
/// Levels are tried in a separate thread, so they do not last.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast qos show
  steadfast qos show --json background")]
pub(crate) struct QosShowArgs {
    /// Try only this level
    #[arg(value_name = "LEVEL", value_parser = level)]
    pub(crate) level: Option<Level>,

    /// Print one JSON object for the machine, per device and per level, the summary last
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run a command at a level, and return its exit status.
///
/// Steps that the system refuses are reported on stderr, and the command runs anyway.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast qos run background -- tar cf a.tar A
  steadfast qos run --session utility -- steadfast check ~/Pictures

Exit status: that of the command; 126 it cannot be run; 127 it was not found.")]
pub(crate) struct QosRunArgs {
    /// The level
    #[arg(value_name = "LEVEL", value_parser = level)]
    pub(crate) level: Level,

    /// Run the command in a session of its own, without a terminal. Where Linux shares processors
    /// by session, a level has little effect between sessions otherwise. Signals are passed on
    #[arg(long)]
    pub(crate) session: bool,

    /// The command and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub(crate) command: Vec<OsString>,
}

/// Lower all threads of a running process to a level, or undo that.
///
/// Changes are recorded until the process ends, and `default` undoes those that are still in
/// effect. Nothing else is ever raised. Without privileges, Linux does not restore scheduling class
/// and nice value.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast qos set background --pid 4711
  steadfast qos set default --pid 4711      undo that

Changes are recorded in $XDG_STATE_HOME/steadfast/qos, or ~/.local/state/steadfast/qos.

Exit status: 0 done; 2 the system refused something, or the level is above what the process has.")]
pub(crate) struct QosSetArgs {
    /// background or utility to lower the process, default to undo that
    #[arg(value_name = "LEVEL", value_parser = level)]
    pub(crate) level: Level,

    /// The number of the process
    #[arg(long, value_name = "N")]
    pub(crate) pid: u32,
}

/// Show what a running process gets of the processors, until it ends or Ctrl-C.
///
/// Every line has the cores that it used, the share of the time that its threads waited for one,
/// and on which processors they were. The last lines compare the time before and after each change
/// of its level, for example by `steadfast qos set` meanwhile.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast qos watch 4711
  steadfast qos watch 4711 --every 5s --time 1m

Exit status: 0 the process or the time ended; 2 the system does not tell; 130 interrupted.")]
pub(crate) struct QosWatchArgs {
    /// The number of the process
    #[arg(value_name = "PID")]
    pub(crate) pid: u32,

    /// Print a line every TIME
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = quantity::duration)]
    pub(crate) every: Duration,

    /// End after TIME [default: when the process ends]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time: Option<Duration>,

    /// Print JSON objects, those of the levels last
    #[arg(long)]
    pub(crate) json: bool,
}
