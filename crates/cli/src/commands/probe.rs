//! `steadfast probe`: arguments → one probe → a table or JSON.

use steadfast_report::probe::{write_json, write_table};

use crate::args::ProbeArgs;
use crate::exit;
use crate::output::answer;
use steadfast::ExitStatus;

pub(super) fn run(args: &ProbeArgs) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    let probe = steadfast_probe::probe(&args.directories, &stop)?;
    let mut document = Vec::new();
    if args.json {
        write_json(&probe, &mut document);
    } else {
        write_table(&probe, &mut document);
    }
    answer(&document)?;
    Ok(probe.exit_status())
}
