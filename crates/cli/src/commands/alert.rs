//! `steadfast alert`: arguments → the user's list of alerts, or a test message to each.

use anyhow::Context as _;
use steadfast_watch::{
    Alert, AlertList, Channel, CheckSchedule, Delivery, Details, Occasion, Sender, WatchPlaces,
    WebhookForm,
};

use crate::args::{AlertAddArgs, AlertArgs, AlertCommand};
use crate::exit;
use crate::output;
use crate::state_folder;
use steadfast::ExitStatus;

pub(super) fn run(args: &AlertArgs) -> anyhow::Result<ExitStatus> {
    let mut alerts = places()?.alerts()?;
    match &args.command {
        AlertCommand::Add(args) => {
            let alert = alert_of(args);
            let target = alert.target();
            alerts.add(alert)?;
            output::answer(format!("{target}\n`steadfast alert test` tries it\n").as_bytes())?;
        }
        AlertCommand::List(_) => {
            let lines = alerts.alerts().iter().enumerate().map(|(index, alert)| {
                let Alert { on, details, .. } = alert;
                format!("{}  {}, on {on}, with {details}\n", index + 1, alert.target())
            });
            output::answer(lines.collect::<String>().as_bytes())?;
        }
        AlertCommand::Remove(args) => {
            let removed = alerts.remove(args.number)?;
            output::answer(format!("removed: {}\n", removed.target()).as_bytes())?;
        }
        AlertCommand::Test(_) => return test(&alerts),
    }
    Ok(ExitStatus::Fine)
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
    let sender = Sender::of_this_machine();
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
    let AlertAddArgs { webhook, ping, sendmail, command, .. } = args;
    let channel = match (webhook, ping, sendmail, command) {
        (Some(url), ..) => Channel::Webhook { url: url.clone(), form: WebhookForm::of(url) },
        (_, Some(url), ..) => Channel::Ping(url.clone()),
        (_, _, Some(address), _) => Channel::Sendmail(address.clone()),
        (.., Some(words)) => Channel::Command(words.clone()),
        _ => Channel::Desktop,
    };
    let on = if args.every_run { Occasion::EveryRun } else { Occasion::Trouble };
    let details = if args.paths { Details::Paths } else { Details::Counts };
    Alert { channel, on, details }
}

/// Sends a test message to every alert.
fn test(alerts: &AlertList) -> anyhow::Result<ExitStatus> {
    anyhow::ensure!(
        !alerts.alerts().is_empty(),
        "there is no alert: `steadfast alert add` adds one"
    );
    let deliveries = Sender::of_this_machine().test(alerts.alerts());
    let delivered = deliveries.iter().filter(|delivery| delivery.result.is_ok());
    let lines: String =
        delivered.map(|delivery| format!("delivered: {}\n", delivery.target)).collect();
    output::answer(lines.as_bytes())?;
    Ok(ExitStatus::Undetermined.only_if(!report(&deliveries)))
}
