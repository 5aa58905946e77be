//! `steadfast alert`: arguments → the user's list of alerts, or a test message to each.

use std::time::Duration;

use anyhow::Context as _;
use steadfast_watch::{
    Alert, AlertList, Channel, Delivery, Details, Occasion, Sender, WebhookForm,
};

use crate::args::{AlertAddArgs, AlertArgs, AlertCommand};
use crate::exit;
use crate::output;
use crate::state_folder;
use steadfast::ExitStatus;

/// How long the delivery of one message may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);

pub(super) fn run(args: &AlertArgs) -> anyhow::Result<ExitStatus> {
    let mut alerts = list()?;
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

/// Returns the alerts of the user.
pub(super) fn list() -> anyhow::Result<AlertList> {
    let folder = state_folder::configuration();
    let folder = folder.context("neither XDG_CONFIG_HOME nor HOME is set")?;
    Ok(AlertList::read(&folder.join("alerts.toml"))?)
}

/// Returns the sender of this machine.
pub(super) fn sender() -> Sender {
    Sender { time_limit: TIME_LIMIT, search_path: None, os: std::env::consts::OS }
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
    let deliveries = sender().test(alerts.alerts());
    let delivered = deliveries.iter().filter(|delivery| delivery.result.is_ok());
    let lines: String =
        delivered.map(|delivery| format!("delivered: {}\n", delivery.target)).collect();
    output::answer(lines.as_bytes())?;
    Ok(ExitStatus::Undetermined.only_if(!report(&deliveries)))
}
