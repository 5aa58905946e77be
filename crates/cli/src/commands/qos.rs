//! `steadfast qos`: shows levels, runs a command at one, lowers a process to one.

mod run;
mod set;
mod state;

use steadfast::Level;
use steadfast::qos::{Offer, Trial};
use steadfast_report::qos::{write_json, write_text};

use crate::args::{QosArgs, QosCommand, QosShowArgs};
use crate::output::answer;

pub(super) fn run(args: &QosArgs) -> anyhow::Result<u8> {
    match &args.command {
        QosCommand::Show(args) => show(args),
        QosCommand::Run(args) => run::run(args),
        QosCommand::Set(args) => set::run(args),
    }
}

fn show(args: &QosShowArgs) -> anyhow::Result<u8> {
    let levels = args.level.map_or(Level::ALL.to_vec(), |level| vec![level]);
    let trials: Vec<Trial> = levels.into_iter().map(Trial::of).collect();
    let (offer, mut document) = (Offer::of_machine(), Vec::new());
    if args.json {
        write_json(&offer, &trials, &mut document);
    } else {
        write_text(&offer, &trials, &mut document);
    }
    tell(&document)
}

/// Writes an answer, and returns status 0.
fn tell(document: &[u8]) -> anyhow::Result<u8> {
    answer(document)?;
    Ok(0)
}
