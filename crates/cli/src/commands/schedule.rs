//! `steadfast schedule`: arguments → the user's schedules, the system's timers, or a run.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use steadfast::parity::ParityPlace;
use steadfast::{ExitStatus, Options, ReadFrom, Selection, Verb};
use steadfast_report::Units;
use steadfast_report::advice::typed_path;
use steadfast_report::units::{counted, rough_duration};
use steadfast_watch::{
    CheckSchedule, CoverForecast, Delivery, NightSurface, ScheduleList, TimerKind, WatchPlaces,
    run_schedule, timer,
};

use crate::args::{
    ScheduleAddArgs, ScheduleArgs, ScheduleCommand, ScheduleMetricsArgs, ScheduleRunArgs,
    usual_options,
};
use crate::exit;
use crate::output;

use super::status::write_metrics_file;
use super::{alert, execute, parity, repair, report};

pub(super) fn run(args: &ScheduleArgs) -> anyhow::Result<ExitStatus> {
    let places = alert::places()?;
    let mut schedules = places.schedules()?;
    match &args.command {
        ScheduleCommand::Add(args) => add(args, &places, &mut schedules),
        ScheduleCommand::List(_) => {
            let lines = schedules.schedules().iter().map(|schedule| described(schedule) + "\n");
            output::answer(lines.collect::<String>().as_bytes())?;
            Ok(ExitStatus::Fine)
        }
        ScheduleCommand::Show(args) => show(schedules.find(&args.name)?, &alert::host()?),
        ScheduleCommand::Metrics(args) => metrics(args, &places, &mut schedules),
        ScheduleCommand::Remove(args) => {
            let name = schedules.find(&args.name)?.name.clone();
            schedules.dissolve(&name, &alert::host()?, &places.journals())?;
            output::answer(format!("removed: {name}\n").as_bytes())?;
            Ok(ExitStatus::Fine)
        }
        ScheduleCommand::Run(args) => run_due(args, &places, &schedules),
    }
}

/// Adds a schedule and its timer.
fn add(
    args: &ScheduleAddArgs,
    places: &WatchPlaces,
    schedules: &mut ScheduleList,
) -> anyhow::Result<ExitStatus> {
    let root = args.directory.canonicalize();
    let root = root.with_context(|| format!("cannot find `{}`", args.directory.display()))?;
    let tree = places.enter(&root)?;
    let host = alert::host()?;
    ensure!(
        !args.parity || ParityPlace::nearest(&root)?.is_some_and(|place| place.root() == root),
        "`{}` has no parity: `steadfast parity make {}` makes it",
        root.display(),
        typed_path(&root)
    );
    let now_s = (Options::default().now)().seconds;
    let days = args.cover.as_secs().div_ceil(86_400);
    let kind = args.timer.map(|timer| timer.kind(host.is_root));
    let timer = kind.unwrap_or_else(|| host.detect(std::env::consts::OS));
    let mut schedule = CheckSchedule {
        every: args.every,
        at: args.at,
        cover_days: u32::try_from(days).unwrap_or(u32::MAX),
        max_time_s: args.max_time.map(|time| time.as_secs()),
        update: args.update,
        parity: args.parity,
        repair: args.repair,
        from_medium: args.read_from.map(|from| from == ReadFrom::Media),
        timer,
        ..schedules.draft(&root, timer, now_s)
    };
    schedule = schedule.made_for(&tree);
    schedule.name = args.name.clone().unwrap_or(schedule.name);
    schedules.establish(schedule.clone(), &host)?;
    let mut text = described(&schedule) + "\n" + &outlook(&schedule, &tree.catalogue)?;
    if schedule.timer == TimerKind::Manual {
        let line = timer::command_line(&schedule, &host);
        text.push_str(&format!(
            "no timer was installed: enter this in the scheduler of your system:\n  {line}\n"
        ));
    }
    if timer::is_running(&schedule, &host) == Some(false) {
        let timer = schedule.timer;
        text.push_str(&format!("nothing starts it: {timer} does not run on this machine\n"));
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
fn outlook(schedule: &CheckSchedule, catalogue: &Path) -> anyhow::Result<String> {
    let seen = CoverForecast::of(schedule, catalogue)?;
    let (total, each) = (Units::Si.bytes(seen.total_bytes), Units::Si.bytes(seen.run_bytes));
    let days = schedule.cover_days;
    let mut text = format!("{total} in {days} days: about {each} in each run");
    match (seen.bytes_per_s, seen.run_s) {
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
fn metrics(
    args: &ScheduleMetricsArgs,
    places: &WatchPlaces,
    schedules: &mut ScheduleList,
) -> anyhow::Result<ExitStatus> {
    let file = args.file.as_deref().map(std::path::absolute).transpose();
    let file = file.context("cannot find the file of metrics")?;
    if let Some(file) = &file {
        write_metrics_file(file, places, schedules, (Options::default().now)().seconds)?;
    }
    schedules.set_metrics(file)?;
    // A service of the system may write to the folders that its file names, and to no other.
    let host = alert::host()?;
    let of_system = |schedule: &&CheckSchedule| schedule.timer == TimerKind::SystemdSystem;
    for schedule in schedules.schedules().iter().filter(of_system) {
        timer::install(schedule, &host)?;
    }
    Ok(ExitStatus::Fine)
}

/// Runs one schedule, or every one that is due.
fn run_due(
    args: &ScheduleRunArgs,
    places: &WatchPlaces,
    schedules: &ScheduleList,
) -> anyhow::Result<ExitStatus> {
    let chosen: Vec<&CheckSchedule> = match &args.name {
        Some(name) => vec![schedules.find(name)?],
        None => schedules.schedules().iter().collect(),
    };
    let sender = alert::sender();
    let mut status = ExitStatus::Fine;
    for schedule in &chosen {
        let mut night = NightOfCommand { name: &schedule.name, args };
        match run_schedule(places, &sender, schedule, args.now, &mut night) {
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
    alert::send_idle(places, others, now_s);
    if let Some(file) = schedules.metrics()
        && let Err(error) = write_metrics_file(file, places, schedules, now_s)
    {
        // As with an alert: the findings of the run stand.
        exit::complain(&format!("the metrics were not written: {}", exit::words(&error)));
    }
    Ok(status)
}

fn described(schedule: &CheckSchedule) -> String {
    let CheckSchedule { name, directory, every, at, cover_days, timer, .. } = schedule;
    let limit = schedule.max_time_s.map(|limit| format!(", at most {limit} s each"));
    let steps =
        [(schedule.update, "update"), (schedule.parity, "parity"), (schedule.repair, "repair")];
    let steps: Vec<&str> = steps.iter().filter(|(is_on, _)| *is_on).map(|one| one.1).collect();
    let update = match steps.is_empty() {
        true => String::new(),
        false => format!(", with {}", steps.join(" and ")),
    };
    format!(
        "{name}: {} every {every} at {at}, all within {cover_days} days{}{update}, timer: {timer}",
        directory.display(),
        limit.unwrap_or_default()
    )
}

/// A run of a schedule in the command: the verbs print as they always do.
struct NightOfCommand<'a> {
    name: &'a str,
    args: &'a ScheduleRunArgs,
}

impl NightSurface for NightOfCommand<'_> {
    type Error = anyhow::Error;

    fn options(&self) -> Options {
        usual_options().with(|options| options.qos = self.args.level.level())
    }

    fn run(
        &mut self,
        verb: Verb,
        selection: &Selection,
        options: Options,
    ) -> anyhow::Result<ExitStatus> {
        execute(verb, selection, options, &self.args.output, report(&selection.roots))
    }

    fn update_parity(
        &mut self,
        place: &ParityPlace,
        options: Options,
    ) -> anyhow::Result<ExitStatus> {
        parity::keep_up(place, options, self.args.output.json)
    }

    fn mend(
        &mut self,
        selection: &Selection,
        options: Options,
    ) -> anyhow::Result<(Vec<PathBuf>, u64)> {
        repair::mend(selection, &options, self.args.output.json)
    }

    fn complain(&mut self, text: &str) {
        exit::complain(&format!("schedule `{}`: {text}", self.name));
    }

    fn delivered(&mut self, deliveries: &[Delivery]) {
        alert::report(deliveries);
    }

    fn words_of(&self, error: &anyhow::Error) -> String {
        exit::words(error)
    }

    fn words_of_check(&self, files: u64, bytes: u64, elapsed_s: u64) -> String {
        let time = rough_duration(elapsed_s.saturating_mul(1_000_000_000));
        format!("{}, {}, in {time}", counted(files, "file", "files"), Units::Si.bytes(bytes))
    }

    fn was_stopped(&self) -> bool {
        exit::was_signalled()
    }
}
