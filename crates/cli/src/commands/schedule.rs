//! `steadfast schedule`: arguments → the user's schedules, the system's timers, or a run.

mod night;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use steadfast::ExitStatus;
use steadfast::Options;
use steadfast::catalogue::{Catalogue, CataloguedTree, RunState};
use steadfast::parity::ParityPlace;
use steadfast_report::Units;
use steadfast_watch::{CheckSchedule, ScheduleList, TimerKind, forecast, name_of, timer};

use crate::args::{
    ScheduleAddArgs, ScheduleArgs, ScheduleCommand, ScheduleMetricsArgs, ScheduleRunArgs,
};
use crate::exit;
use crate::output;
use crate::state_folder;

use super::{news, tree_status};

/// Runs that are looked at for the rate of earlier checks.
const RUNS_LOOKED_AT: u32 = 64;

pub(super) fn run(args: &ScheduleArgs) -> anyhow::Result<ExitStatus> {
    let mut schedules = tree_status::list()?;
    match &args.command {
        ScheduleCommand::Add(args) => add(args, &mut schedules),
        ScheduleCommand::List(_) => {
            let lines = schedules.schedules().iter().map(|schedule| described(schedule) + "\n");
            output::answer(lines.collect::<String>().as_bytes())?;
            Ok(ExitStatus::Fine)
        }
        ScheduleCommand::Show(args) => show(schedules.find(&args.name)?, &host()?),
        ScheduleCommand::Metrics(args) => metrics(args, &mut schedules),
        ScheduleCommand::Remove(args) => {
            let name = schedules.find(&args.name)?.name.clone();
            schedules.dissolve(&name, &host()?, &tree_status::journals()?)?;
            output::answer(format!("removed: {name}\n").as_bytes())?;
            Ok(ExitStatus::Fine)
        }
        ScheduleCommand::Run(args) => run_due(args, &schedules),
    }
}

/// Adds a schedule and its timer.
fn add(args: &ScheduleAddArgs, schedules: &mut ScheduleList) -> anyhow::Result<ExitStatus> {
    let root = args.directory.canonicalize();
    let root = root.with_context(|| format!("cannot find `{}`", args.directory.display()))?;
    let tree = tree_status::tree_of(&root)?;
    let host = host()?;
    let taken: Vec<&str> = schedules.schedules().iter().map(|one| one.name.as_str()).collect();
    let known = schedules.schedules().iter().find(|one| one.directory == root);
    let name = match (&args.name, known) {
        (Some(name), _) => name.clone(),
        (None, Some(known)) => known.name.clone(),
        (None, None) => name_of(&root, &taken),
    };
    ensure!(
        !args.parity || ParityPlace::nearest(&root)?.is_some_and(|place| place.root() == root),
        "`{0}` has no parity: `steadfast parity make {0}` makes it",
        root.display()
    );
    let now_s = (Options::default().now)().seconds;
    let days = args.cover.as_secs().div_ceil(86_400);
    let kind = args.timer.map(|timer| timer.kind(host.is_root));
    let schedule = CheckSchedule {
        name,
        directory: root,
        every: args.every,
        at: args.at,
        cover_days: u32::try_from(days).unwrap_or(u32::MAX),
        max_time_s: args.max_time.map(|time| time.as_secs()),
        update: args.update,
        parity: args.parity,
        timer: kind.unwrap_or_else(|| host.detect(std::env::consts::OS)),
        // A change of a schedule does not begin its cover anew.
        made_s: known.map_or(now_s, |known| known.made_s),
    };
    schedules.establish(schedule.clone(), &host)?;
    let mut text = described(&schedule) + "\n" + &outlook(&schedule, &tree)?;
    if schedule.timer == TimerKind::Manual {
        let line = timer::command_line(&schedule, &host);
        text.push_str(&format!("enter this in the scheduler of your system:\n  {line}\n"));
    }
    if schedule.timer == TimerKind::SystemdUser {
        text.push_str(
            "it runs while you are logged in; `loginctl enable-linger` lets it run always\n",
        );
    }
    output::answer(text.as_bytes())?;
    Ok(ExitStatus::Fine)
}

/// Says whether the cover can be reached at the rate of earlier checks.
fn outlook(schedule: &CheckSchedule, tree: &CataloguedTree) -> anyhow::Result<String> {
    let catalogue = Catalogue::open_reader(&tree.catalogue)?;
    let audit = catalogue.audit(&[], (Options::default().now)())?;
    let runs = catalogue.runs(i64::MAX, RUNS_LOOKED_AT)?;
    let rates = runs.iter().filter(|run| run.verb == "check" && run.state == RunState::Whole);
    let rate = rates
        .filter(|run| run.bytes > 100_000_000 && run.latest.seconds > run.started.seconds)
        .map(|run| run.bytes as f64 / (run.latest.seconds - run.started.seconds) as f64)
        .next();
    let interval_s = schedule.every.interval_s();
    let seen = forecast(audit.bytes, interval_s, schedule.cover_s(), rate, schedule.max_time_s);
    let (total, each) = (Units::Si.bytes(audit.bytes), Units::Si.bytes(seen.run_bytes));
    let days = schedule.cover_days;
    let mut text = format!("{total} in {days} days: about {each} in each run");
    match (rate, seen.run_s) {
        (Some(rate), Some(run_s)) => {
            let (minutes, rate) = (run_s / 60.0, rate / 1e6);
            text.push_str(&format!(", {minutes:.0} minutes at {rate:.0} MB/s\n"));
        }
        _ => text.push_str("; how long that takes is known after the first whole check\n"),
    }
    if let Some(cover) = seen.cover_days.filter(|_| !seen.is_reached) {
        text.push_str(&format!(
            "the time limit is too short: it covers the folder in {cover:.0} days\n"
        ));
    }
    Ok(text)
}

fn show(schedule: &CheckSchedule, host: &timer::TimerHost) -> anyhow::Result<ExitStatus> {
    let mut text = described(schedule) + "\n";
    for file in timer::files(schedule, host) {
        text.push_str(&format!("\n# {}\n{}", file.path.display(), file.text));
    }
    text.push_str(&format!("\ncommand: {}\n", timer::command_line(schedule, host)));
    output::answer(text.as_bytes())?;
    Ok(ExitStatus::Fine)
}

/// Sets the file of metrics that every run writes, and writes it.
fn metrics(args: &ScheduleMetricsArgs, schedules: &mut ScheduleList) -> anyhow::Result<ExitStatus> {
    let file = args.file.as_deref().map(std::path::absolute).transpose();
    let file = file.context("cannot find the file of metrics")?;
    if let Some(file) = &file {
        tree_status::write_metrics_file(file, schedules, (Options::default().now)().seconds)?;
    }
    schedules.set_metrics(file)?;
    // A service of the system may write to the folders that its file names, and to no other.
    let host = host()?;
    let of_system = |schedule: &&CheckSchedule| schedule.timer == TimerKind::SystemdSystem;
    for schedule in schedules.schedules().iter().filter(of_system) {
        timer::install(schedule, &host)?;
    }
    Ok(ExitStatus::Fine)
}

/// Runs one schedule, or every one that is due.
fn run_due(args: &ScheduleRunArgs, schedules: &ScheduleList) -> anyhow::Result<ExitStatus> {
    let chosen: Vec<&CheckSchedule> = match &args.name {
        Some(name) => vec![schedules.find(name)?],
        None => schedules.schedules().iter().collect(),
    };
    let mut status = ExitStatus::Fine;
    for schedule in &chosen {
        match night::run(schedule, args) {
            Ok(one) => status.raise(one),
            // Trouble with one folder must not keep the others from their checks.
            Err(error) => {
                exit::complain(&format!("schedule `{}`: {}", schedule.name, exit::words(&error)));
                status.raise(ExitStatus::Undetermined);
            }
        }
    }
    // If the timer of another schedule does not work, this one tells.
    let chosen = |schedule: &&CheckSchedule| chosen.iter().any(|one| one.name == schedule.name);
    let others = schedules.schedules().iter().filter(|schedule| !chosen(schedule));
    let now_s = (Options::default().now)().seconds;
    news::look_after(others, now_s);
    if let Some(file) = schedules.metrics()
        && let Err(error) = tree_status::write_metrics_file(file, schedules, now_s)
    {
        // As with an alert: the findings of the run stand.
        exit::complain(&format!("the metrics were not written: {}", exit::words(&error)));
    }
    Ok(status)
}

fn described(schedule: &CheckSchedule) -> String {
    let CheckSchedule { name, directory, every, at, cover_days, timer, .. } = schedule;
    let limit = schedule.max_time_s.map(|limit| format!(", at most {limit} s each"));
    let update = match (schedule.update, schedule.parity) {
        (false, false) => "",
        (true, false) => ", with update",
        (false, true) => ", with parity",
        (true, true) => ", with update and parity",
    };
    format!(
        "{name}: {} every {every} at {at}, all within {cover_days} days{}{update}, by {timer}",
        directory.display(),
        limit.unwrap_or_default()
    )
}

/// Returns the facts of this machine and user that timers depend on.
pub(super) fn host() -> anyhow::Result<timer::TimerHost> {
    let home = state_folder::home().context("HOME is not set")?;
    let config = state_folder::configuration().and_then(|path| Some(path.parent()?.to_owned()));
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    ensure!(home.is_absolute(), "HOME is not an absolute path");
    let state = state_folder::folder().into_iter().chain(state_folder::configuration());
    let schedules = tree_status::list()?;
    let metrics = schedules.metrics().and_then(Path::parent);
    let program: PathBuf = std::env::current_exe().context("cannot find this program")?;
    Ok(timer::TimerHost {
        program,
        config: config.unwrap_or_else(|| home.join(".config")),
        home,
        state: state.chain(metrics.map(Path::to_owned)).collect(),
        is_root,
        search_path: None,
        root: "/".into(),
    })
}
