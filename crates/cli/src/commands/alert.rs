//! `steadfast alert`: arguments → the user's list of alerts, or a test message to each.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use steadfast::{ExitStatus, Options, Timestamp, process};
use steadfast_watch::{
    Alert, AlertList, AlertWords, Channel, CheckSchedule, Delivery, Details, Occasion, Sender,
    TimerKind, WatchPlaces, WebhookForm, timer,
};

use crate::args::{AlertAddArgs, AlertArgs, AlertCommand, AlertSnoozeArgs};
use crate::exit;
use crate::local_time::{moments, time_of_day};
use crate::output;
use crate::state_folder;

pub(super) fn run(args: &AlertArgs) -> anyhow::Result<ExitStatus> {
    let mut alerts = places()?.alerts()?;
    match &args.command {
        AlertCommand::Add(args) => {
            let alert = alert_of(args);
            let target = alert.target();
            alerts.add(alert)?;
            renew_timers()?;
            output::answer(format!("{target}\n`steadfast alert test` tries it\n").as_bytes())?;
        }
        AlertCommand::List(_) => output::answer(listed(&alerts).as_bytes())?,
        AlertCommand::Remove(args) => {
            let removed = alerts.remove(args.number)?;
            renew_timers()?;
            output::answer(format!("removed: {}\n", removed.target()).as_bytes())?;
        }
        AlertCommand::Snooze(args) => snooze(args, &mut alerts)?,
        AlertCommand::Test(_) => return test(&alerts),
    }
    Ok(ExitStatus::Fine)
}

/// Lists the alerts with their numbers, and the folders of which nothing is told for a time.
fn listed(alerts: &AlertList) -> String {
    let line = |(index, alert): (usize, &Alert)| {
        let Alert { channel, on, details, schedule, quiet } = alert;
        let quiet = quiet.map(|hours| format!(", quiet {hours}")).unwrap_or_default();
        let only = schedule.as_ref().map(|name| format!(", of {name}")).unwrap_or_default();
        let when = match channel {
            Channel::Ping(_) => "at every run".to_owned(),
            _ => format!("on {on}, with {details}"),
        };
        format!("{}  {}, {when}{only}{quiet}\n", index + 1, alert.target())
    };
    let now_s = (Options::default().now)().seconds;
    let put_off = alerts.snoozed(now_s).map(|(folder, seconds)| {
        let until = (moments().0)(Timestamp { seconds, nanoseconds: 0 });
        format!("nothing is told of {folder} until {until}\n")
    });
    alerts.alerts().iter().enumerate().map(line).chain(put_off).collect()
}

/// Returns the words of messages that depend on this machine and its user.
fn words() -> AlertWords {
    AlertWords { machine: process::machine_name(), moment: |at| (moments().0)(at), time_of_day }
}

/// Returns what sends messages from this machine.
pub(super) fn sender() -> Sender {
    Sender::of_this_machine(words(), std::env::vars_os().collect())
}

/// Returns where the schedules and alerts of the user are.
pub(super) fn places() -> anyhow::Result<WatchPlaces> {
    let configuration = state_folder::configuration();
    let state = state_folder::folder();
    Ok(WatchPlaces {
        configuration: configuration.context("neither XDG_CONFIG_HOME nor HOME is set")?,
        state: state.context("neither XDG_STATE_HOME nor HOME is set")?,
    })
}

/// Sends the alerts of schedules that nothing runs now. Returns whether all could be judged.
pub(super) fn send_idle<'a>(
    places: &WatchPlaces,
    schedules: impl IntoIterator<Item = &'a CheckSchedule>,
    now_s: i64,
) -> bool {
    let sender = sender();
    let mut all = true;
    for schedule in schedules {
        match places.alert_idle(schedule, &sender, now_s) {
            Ok(deliveries) => _ = report(&deliveries),
            Err(error) => {
                exit::complain(&format!("schedule `{}`: {error}", schedule.name));
                all = false;
            }
        }
    }
    all
}

/// Reports messages that did not arrive. Returns whether all did.
pub(super) fn report(deliveries: &[Delivery]) -> bool {
    let mut all = true;
    for Delivery { target, result } in deliveries {
        if let Err(error) = result {
            exit::complain(&format!("the alert `{target}` was not delivered: {error}"));
            all = false;
        }
    }
    all
}

fn alert_of(args: &AlertAddArgs) -> Alert {
    let AlertAddArgs { webhook, form, ping, sendmail, command, .. } = args;
    let channel = match (webhook, ping, sendmail, command) {
        (Some(url), ..) => {
            Channel::Webhook { url: url.clone(), form: form.unwrap_or(WebhookForm::of(url)) }
        }
        (_, Some(url), ..) => Channel::Ping(url.clone()),
        (_, _, Some(address), _) => Channel::Sendmail(address.clone()),
        (.., Some(words)) => Channel::Command(words.clone()),
        _ => Channel::Desktop,
    };
    let on = match (args.every_run, args.weekly) {
        (true, _) => Occasion::EveryRun,
        (false, true) => Occasion::Weekly,
        (false, false) => Occasion::Trouble,
    };
    let details = if args.no_paths { Details::Counts } else { Details::Paths };
    Alert { channel, on, details, schedule: args.schedule.clone(), quiet: args.quiet }
}

/// Returns the facts of this machine and user that timers depend on.
pub(super) fn host() -> anyhow::Result<timer::TimerHost> {
    let home = state_folder::home().context("HOME is not set")?;
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    ensure!(home.is_absolute(), "HOME is not an absolute path");
    let places = places()?;
    let schedules = places.schedules()?;
    let more_starts = places.alerts()?.ends_of_quiet();
    let WatchPlaces { configuration, state } = places;
    let metrics = schedules.metrics().and_then(Path::parent);
    let program: PathBuf = std::env::current_exe().context("cannot find this program")?;
    Ok(timer::TimerHost {
        more_starts,
        program,
        config: configuration.parent().map_or_else(|| home.join(".config"), Path::to_owned),
        home,
        state: [state, configuration].into_iter().chain(metrics.map(Path::to_owned)).collect(),
        is_root,
        search_path: None,
        root: "/".into(),
    })
}

/// Makes the timers start when quiet hours end, if there are such.
fn renew_timers() -> anyhow::Result<()> {
    let host = host()?;
    for schedule in places()?.schedules()?.schedules() {
        if timer::files(schedule, &host).iter().any(|file| !file.is_there())
            || schedule.timer == TimerKind::Crontab
        {
            timer::install(schedule, &host)?;
        }
    }
    Ok(())
}

/// Puts off what is told of a folder.
fn snooze(args: &AlertSnoozeArgs, alerts: &mut AlertList) -> anyhow::Result<()> {
    let directory = &args.directory;
    let root = directory.canonicalize().or_else(|_| std::path::absolute(directory));
    let root = root.with_context(|| format!("cannot find `{}`", directory.display()))?;
    let now_s = (Options::default().now)().seconds;
    let span_s = args.time.map(|time| i64::try_from(time.as_secs()).unwrap_or(i64::MAX));
    let until_s = span_s.map(|seconds| now_s.saturating_add(seconds));
    alerts.snooze(&root, until_s)?;
    let words = match until_s {
        Some(seconds) => {
            let at = Timestamp { seconds, nanoseconds: 0 };
            format!("nothing is told until {}\n", (moments().0)(at))
        }
        None => "alerts are told again\n".to_owned(),
    };
    output::answer(words.as_bytes())
}

/// Sends a test message to every alert.
fn test(alerts: &AlertList) -> anyhow::Result<ExitStatus> {
    ensure!(!alerts.alerts().is_empty(), "there is no alert: `steadfast alert add` adds one");
    let timers = places()?.schedules()?;
    let mut sender = sender();
    // The user's own service manager has the desktop's environment; cron and the system have not.
    let keeps = |kind| matches!(kind, TimerKind::SystemdUser | TimerKind::Launchd);
    sender.is_bare = timers.schedules().iter().any(|schedule| !keeps(schedule.timer));
    let deliveries = sender.test(alerts.alerts());
    let delivered = deliveries.iter().filter(|delivery| delivery.result.is_ok());
    let lines: String =
        delivered.map(|delivery| format!("delivered: {}\n", delivery.target)).collect();
    output::answer(lines.as_bytes())?;
    Ok(ExitStatus::Undetermined.only_if(!report(&deliveries)))
}
