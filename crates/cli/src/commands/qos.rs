//! `steadfast qos`: shows levels, runs a command at one, lowers a process to one, watches one.

mod run;
mod set;
mod state;
mod watch;

use steadfast::ExitStatus;
use steadfast::Level;
use steadfast::qos::{Offer, Trial};
use steadfast_report::qos::{write_json, write_text};

use crate::args::{QosArgs, QosCommand, QosShowArgs};
use crate::output::answer;

pub(super) fn run(args: &QosArgs) -> anyhow::Result<u8> {
    match &args.command {
        QosCommand::Show(args) => show(args).map(u8::from),
        QosCommand::Run(args) => run::run(args),
        QosCommand::Set(args) => set::run(args).map(u8::from),
        QosCommand::Watch(args) => watch::run(args).map(u8::from),
    }
}

fn show(args: &QosShowArgs) -> anyhow::Result<ExitStatus> {
    let levels = args.level.map_or(Level::ALL.to_vec(), |level| vec![level]);
    let trials: Vec<Trial> = levels.into_iter().map(Trial::of).collect();
    let (offer, mut document) = (Offer::of_machine(), Vec::new());
    if args.json {
        write_json(&offer, &trials, &mut document);
    } else {
        write_text(&offer, &trials, &mut document);
    }
    answer(&document)?;
    Ok(ExitStatus::Fine)
}
