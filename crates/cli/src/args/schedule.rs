//! The arguments of `status`, `schedule` and `alert`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use steadfast::ReadFrom;
use steadfast_watch::{Every, QuietHours, TimeOfDay, TimerKind, WebhookForm};

use super::named::named;
use super::{AuditArgs, DocumentArgs, LevelArgs, OutputArgs, quantity};

/// Show what was checked when, what is open, and what is overdue.
///
/// Lists each catalogued folder. Reads the catalogues only, so nothing is judged. A folder that is
/// not there, or another volume in its place, is reported as such. With --audit, shows what the
/// catalogue of one tree proves.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast status
  steadfast status ~/Pictures
  steadfast status --prometheus /var/lib/prometheus/node-exporter/steadfast.prom
  steadfast status --alert    for a second timer: tells if the first does not work
  steadfast status --json | jq -r 'select(.state == \"trouble\") | .path'
  steadfast status --audit ~/Pictures               what was proved when, and by which run
  steadfast status --audit --overdue 90 ~/Pictures  which files were not proved for 90 days
  steadfast status --audit --duplicates --min 1MB ~/Pictures
  steadfast status --audit --premis ~/Pictures > pictures.premis.xml

Exit status: 0 nothing is wrong; 1 something is missing, modified or overdue; 2 a folder is not \
there, could not be judged, or has no file with a tag; 3 a file is corrupt or suspect. 3 outranks \
1, 1 outranks 2.")]
pub(crate) struct StatusArgs {
    /// Folders, each the root of a catalogued tree [default: all that are known]
    #[arg(value_name = "DIR")]
    pub(crate) directories: Vec<PathBuf>,
    /// Write metrics for Prometheus to FILE, or to stdout if FILE is `-`, instead of the states
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) prometheus: Option<PathBuf>,
    /// Also send the alerts that are due, such as of a schedule whose timer does not work
    #[arg(long)]
    pub(crate) alert: bool,
    #[command(flatten)]
    pub(crate) audit: AuditArgs,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) document: DocumentArgs,
}

/// Check folders regularly, without being asked.
///
/// A schedule reads a part of a folder each time, the longest-unchecked files first, so that every
/// byte is read within the time of --cover. The system starts it: systemd, launchd or cron.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast schedule add ~/Pictures --every night --at 02:00 --cover 30d
  steadfast schedule list
  steadfast schedule run --now pictures

Exit status: that of each command.")]
pub(crate) struct ScheduleArgs {
    #[command(subcommand)]
    pub(crate) command: ScheduleCommand,
}

/// What is done with schedules.
#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    Add(ScheduleAddArgs),
    List(ScheduleListArgs),
    Show(ScheduleShowArgs),
    Run(ScheduleRunArgs),
    Metrics(ScheduleMetricsArgs),
    Remove(ScheduleRemoveArgs),
}

/// Check a folder regularly from now on.
///
/// Writes the schedule, and a timer of the system that starts it. Says whether the cover can be
/// reached at the rate of earlier checks.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast schedule add ~/Pictures --every night --at 02:00 --cover 30d
  steadfast schedule add /srv --every night --at 01:30 --cover 90d --max-time 2h --update
  steadfast schedule add /volume1/photo --timer manual    on a NAS: prints the line to enter there

Exit status: 0 done; 2 the folder has no catalogue, or the timer could not be made.")]
pub(crate) struct ScheduleAddArgs {
    /// The root of a tree with a catalogue
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// How often
    #[arg(long, value_name = "PERIOD", default_value = "night", value_parser = named::<Every>())]
    pub(crate) every: Every,
    /// When it starts, in local time
    #[arg(long, value_name = "HH:MM", default_value = "02:00")]
    pub(crate) at: TimeOfDay,
    /// Time within which every byte is read once
    #[arg(long, value_name = "TIME", default_value = "31d", value_parser = quantity::time_limit)]
    pub(crate) cover: Duration,
    /// End each run after TIME, for example 2h. Files not reached come first the next time
    #[arg(long, value_name = "TIME", value_parser = quantity::time_limit)]
    pub(crate) max_time: Option<Duration>,
    /// Also record new and edited files, unless unusually many changed
    #[arg(long)]
    pub(crate) update: bool,
    /// Also bring the parity in DIR up to date, unless the run found damage
    #[arg(long)]
    pub(crate) parity: bool,
    /// Also mend files in the same run, if it is proved that they decayed: from the parity, or from
    /// copies that `repair --remember-copy` registered. What is less certain waits for you
    #[arg(long)]
    pub(crate) repair: bool,
    /// Where files are read from [default: the medium, where that costs little]
    #[arg(long, value_name = "PLACE", value_parser = named::<ReadFrom>())]
    pub(crate) read_from: Option<ReadFrom>,
    /// Name of the schedule [default: from the folder's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// What starts it [default: what this system has]
    #[arg(long, value_name = "KIND", value_enum)]
    pub(crate) timer: Option<TimerArg>,
}

/// What starts a schedule.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TimerArg {
    /// A systemd timer of the user, or of the system for root
    Systemd,
    /// A launch agent of macOS
    Launchd,
    /// A marked block in the user's crontab
    Crontab,
    /// Nothing is installed: the command is printed for another scheduler
    Manual,
}

impl TimerArg {
    /// Returns the kind of timer for a user.
    pub(crate) fn kind(self, is_root: bool) -> TimerKind {
        match self {
            TimerArg::Systemd if is_root => TimerKind::SystemdSystem,
            TimerArg::Systemd => TimerKind::SystemdUser,
            TimerArg::Launchd => TimerKind::Launchd,
            TimerArg::Crontab => TimerKind::Crontab,
            TimerArg::Manual => TimerKind::Manual,
        }
    }
}

/// List the schedules.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  steadfast schedule list\n\nExit status: 0 done.")]
pub(crate) struct ScheduleListArgs {}

/// Show a schedule with the files of its timer.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast schedule show pictures
  steadfast schedule show ~/Pictures

Exit status: 0 done; 2 there is no such schedule.")]
pub(crate) struct ScheduleShowArgs {
    /// Name of the schedule, or its folder
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// Remove a schedule and its timer.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast schedule remove pictures

Exit status: 0 done; 2 there is no such schedule, or its timer could not be changed.")]
pub(crate) struct ScheduleRemoveArgs {
    /// Name of the schedule, or its folder
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// Do what a schedule has to do now. Timers start this.
///
/// Runs a schedule if it is due, and not on battery or on a busy machine. A folder that is not
/// there is reported and not judged. Then the alerts are sent.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast schedule run --all
  steadfast schedule run pictures
  steadfast schedule run --now pictures    even if it is not due

Exit status: that of `check`; 2 also if the folder is not there. An alert that is not delivered \
changes nothing.")]
pub(crate) struct ScheduleRunArgs {
    /// Name of the schedule, or its folder
    #[arg(value_name = "NAME", conflicts_with = "all", required_unless_present = "all")]
    pub(crate) name: Option<String>,
    /// Every schedule
    #[arg(long)]
    pub(crate) all: bool,
    /// Run even if it is not due, on battery, or on a busy machine
    #[arg(long)]
    pub(crate) now: bool,
    #[command(flatten)]
    pub(crate) level: LevelArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Write metrics for Prometheus after every run.
///
/// Writes the state of every catalogued folder to FILE now, and from now on whenever a schedule was
/// started. FILE is replaced as a whole, and only if it is a file of metrics.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast schedule metrics /var/lib/prometheus/node-exporter/steadfast.prom
  steadfast schedule metrics --off

Exit status: 0 done; 2 FILE cannot be written. If a later run cannot write it, its status stays.")]
pub(crate) struct ScheduleMetricsArgs {
    /// The file, in the folder of node_exporter's textfile collector
    #[arg(value_name = "FILE", conflicts_with = "off", required_unless_present = "off")]
    pub(crate) file: Option<PathBuf>,
    /// Write no more metrics. The file stays
    #[arg(long)]
    pub(crate) off: bool,
}

/// Tell somebody about trouble that a schedule finds.
///
/// You get one message when something goes wrong, a reminder each week while it lasts, and one when
/// it is over. A message names up to five files.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast alert add --webhook https://ntfy.sh/my-topic
  steadfast alert add --ping https://hc-ping.com/UUID
  steadfast alert test

Exit status: that of each command.")]
pub(crate) struct AlertArgs {
    #[command(subcommand)]
    pub(crate) command: AlertCommand,
}

/// What is done with alerts.
#[derive(Debug, Subcommand)]
pub(crate) enum AlertCommand {
    Add(AlertAddArgs),
    Test(AlertTestArgs),
    Snooze(AlertSnoozeArgs),
    List(AlertListArgs),
    Remove(AlertRemoveArgs),
}

/// Add an alert.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("channel").required(true).multiple(false)),
    after_long_help = "\
Examples:
  steadfast alert add --webhook https://ntfy.sh/my-topic    also Gotify, Slack, Discord, JSON
  steadfast alert add --ping https://hc-ping.com/UUID       a monitor that notices silence
  steadfast alert add --sendmail me@example.org --quiet 22:00-07:00
  steadfast alert add --desktop
  steadfast alert add --command apprise -b - mailto://me    JSON on its standard input

Exit status: 0 done; 2 the address is not valid, or the file cannot be written."
)]
pub(crate) struct AlertAddArgs {
    /// Send a request to URL: ntfy, Gotify, Slack and Discord by their addresses, else JSON
    #[arg(long, value_name = "URL", group = "channel")]
    pub(crate) webhook: Option<String>,
    /// Form of the request, for an address of your own that is not recognised
    #[arg(long, value_name = "FORM", requires = "webhook", value_parser = named::<WebhookForm>())]
    pub(crate) form: Option<WebhookForm>,
    /// Tell a monitor at URL when a run begins, and the state of the folders at its end
    #[arg(long, value_name = "URL", group = "channel")]
    pub(crate) ping: Option<String>,
    /// Send a mail by the local `sendmail`
    #[arg(long, value_name = "ADDRESS", group = "channel")]
    pub(crate) sendmail: Option<String>,
    /// Show a notification on this machine's desktop
    #[arg(long, group = "channel")]
    pub(crate) desktop: bool,
    /// Start a program without a shell, with the run as JSON on its standard input. Must be the
    /// last option
    #[arg(long, value_name = "WORD", group = "channel", num_args = 1.., allow_hyphen_values = true)]
    pub(crate) command: Option<Vec<String>>,
    /// Also send a message after each run without trouble
    #[arg(long)]
    pub(crate) every_run: bool,
    /// Also send a message once a week if all is well
    #[arg(long, conflicts_with_all = ["every_run", "ping"])]
    pub(crate) weekly: bool,
    /// Send only messages about damage and danger in these hours. The others are sent when the
    /// hours end
    #[arg(long, value_name = "FROM-TO", conflicts_with = "ping")]
    pub(crate) quiet: Option<QuietHours>,
    /// Put numbers of files into the messages, and no paths
    #[arg(long)]
    pub(crate) no_paths: bool,
    /// Send messages about the schedule NAME only. A monitor then gets the state of its folder
    /// alone [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) schedule: Option<String>,
}

/// Send no messages about a folder for a time.
///
/// What is still wrong when the time is over is told then. Monitors (--ping) are always told.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast alert snooze ~/Pictures --for 14d
  steadfast alert snooze ~/Pictures --off

Exit status: 0 done; 2 the file cannot be written.")]
pub(crate) struct AlertSnoozeArgs {
    /// The folder of a schedule
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// For how long
    #[arg(
        long = "for",
        value_name = "TIME",
        value_parser = quantity::time_limit,
        conflicts_with = "off",
        required_unless_present = "off"
    )]
    pub(crate) time: Option<Duration>,
    /// End this, and send messages again
    #[arg(long)]
    pub(crate) off: bool,
}

/// Send a test message to every alert.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast alert test

Exit status: 0 every message was delivered; 2 one was not, or there is no alert.")]
pub(crate) struct AlertTestArgs {}

/// List the alerts with their numbers.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  steadfast alert list\n\nExit status: 0 done.")]
pub(crate) struct AlertListArgs {}

/// Remove an alert by its number.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  steadfast alert remove 1

Exit status: 0 done; 2 there is no such alert.")]
pub(crate) struct AlertRemoveArgs {
    /// Its number in `alert list`
    #[arg(value_name = "NUMBER")]
    pub(crate) number: usize,
}
