//! `steadfast measure`: arguments → workloads → a record, and a page about it.

mod report;
mod sessions;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use steadfast_measure::record::{self, Record};
use steadfast_measure::runner::{Doing, End, Session, Watch};
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::cipher::serve;
use steadfast_report::document::write_text;
use steadfast_report::{Units, escape, machines, measure, units};

use crate::args::{MeasureArgs, MeasureCommand, RecordArgs};
use crate::document_file::{DocumentFile, is_record};
use crate::exit;
use crate::output::answer;
use crate::progress::ProgressLine;
use crate::session::level_of_environment;
use steadfast::ExitStatus;

/// Bytes above which a person is asked before they are written.
const ASKED_BYTES: u64 = 10_000_000_000;

/// Bytes that may be written to an SSD of 1 TB in its life, as makers commonly rate it.
///
/// Source: specifications of the Samsung 990 PRO, the WD Black SN850X and the Crucial T500 of 1 TB,
/// as shops and reviews give them: 600 TBW each. SATA drives of that size are rated lower, such as
/// the Crucial MX500 with 360 TBW.
const ENDURANCE_BYTES: f64 = 600e12;

/// The reason of a session that ended early because of a signal.
const INTERRUPTED: &str = "interrupted";

pub(super) fn run(args: &MeasureArgs) -> anyhow::Result<ExitStatus> {
    if let MeasureCommand::Report(args) = &args.what {
        return report::run(args);
    }
    let Some(session) = args.what.session() else {
        serve(&mut io::stdin().lock(), &mut io::stdout().lock())
            .context("cannot talk to the process that asks")?;
        return Ok(ExitStatus::Fine);
    };
    // If this record cannot be read, the user should know before measuring.
    let against = session.record.against.as_deref();
    let others = against.map(report::read).transpose()?.unwrap_or_default();
    let workloads = match &args.what {
        MeasureCommand::All(args) => args.workloads()?,
        one => vec![one.workload()?],
    };
    workloads.iter().filter_map(|one| one.notice()).for_each(|text| exit::complain(&text));
    agree_to_write(&workloads, session.yes)?;
    if let (Some(count), Some(export)) = (session.sessions, &session.record.export) {
        show(&sessions::gather(count, export)?, &others, &session.record)?;
        return Ok(ExitStatus::Fine);
    }
    execute(&session.record, &workloads, &others)
}

/// Says how much will be written where, and asks on a terminal if it is much.
fn agree_to_write(workloads: &[Box<dyn Workload>], yes: bool) -> anyhow::Result<()> {
    let mut folders: BTreeMap<&Path, u64> = BTreeMap::new();
    for (folder, bytes) in workloads.iter().flat_map(|workload| workload.writes()) {
        *folders.entry(folder).or_default() += bytes;
    }
    folders.retain(|_, bytes| *bytes > 0);
    for (folder, &bytes) in &folders {
        let (folder, shown) = (escape::path(folder), Units::Si.bytes(bytes));
        let text = format!("up to {shown} will be written in `{folder}` and removed again");
        exit::complain(&text);
    }
    let bytes: u64 = folders.into_values().sum();
    if bytes > 0 {
        exit::complain(&compared_with_endurance(bytes));
    }
    if yes || bytes <= ASKED_BYTES || !io::stdin().is_terminal() {
        return Ok(());
    }
    write!(io::stderr(), "Write them? [y/N] ")?;
    let mut reply = String::new();
    io::stdin().read_line(&mut reply)?;
    ensure!(matches!(reply.trim(), "y" | "Y" | "yes"), "nothing was measured");
    Ok(())
}

/// States what share of a drive's life so many bytes are. Folders may be on one drive.
fn compared_with_endurance(bytes: u64) -> String {
    let share = match bytes as f64 / ENDURANCE_BYTES {
        share if share < 0.001 => "less than a thousandth".to_owned(),
        share => units::share(share),
    };
    let bytes = Units::Si.bytes(bytes);
    format!("{bytes} is {share} of the 600 TB that an SSD of 1 TB is commonly rated for")
}

/// Runs workloads in one session, saves the record and shows it, beside other records if there are
/// any.
fn execute(
    args: &RecordArgs,
    workloads: &[Box<dyn Workload>],
    others: &[Record],
) -> anyhow::Result<ExitStatus> {
    let export = args.export.as_deref().map(|file| DocumentFile::claim(file, is_record));
    let export = export.transpose()?;
    let stop = exit::stop_on_signals()?;
    let mut line = ProgressLine::new(args.progress, args.json, false, args.text.units);
    let mut session = Session::begin(made_by(), command(), &stop, &mut line);
    if let Some(level) = level_of_environment() {
        session.requested(level);
    }
    for workload in workloads {
        workload.plan(&mut session);
    }
    let mut partial: Vec<String> = Vec::new();
    for workload in workloads {
        match workload.run(&mut session) {
            Ok(()) => {}
            Err(End::Stopped) => {
                partial.push(INTERRUPTED.to_owned());
                break;
            }
            Err(End::Failed(error)) => {
                exit::complain(&error.to_string());
                partial.push(error.to_string());
            }
        }
    }
    let mut record = session.end((!partial.is_empty()).then(|| partial.join("; ")));
    line.clear();
    record.name = args.name.clone();
    if record.series.is_empty() {
        // There is nothing to save or to show. An earlier record stays.
        return Ok(status_of(&partial));
    }
    let kept = export.map(|file| keep(file, &record));
    let shown = show(&record, others, args);
    if let Some(Err(error)) = kept {
        exit::complain(&format!("{}; the record follows on stdout", exit::words(&error)));
        answer(&record::write(&record))?;
        return Ok(ExitStatus::Undetermined);
    }
    shown?;
    Ok(status_of(&partial))
}

/// Saves a record. A partial one does not replace an earlier record.
fn keep(file: DocumentFile, record: &Record) -> anyhow::Result<()> {
    let document = record::write(record);
    if record.partial.is_none() {
        return file.write(&document);
    }
    if let Some(beside) = file.write_partial(&document)? {
        let beside = beside.display();
        exit::complain(&format!("the earlier record was kept; the partial one is `{beside}`"));
    }
    Ok(())
}

/// Returns the exit status of a session by why it is partial, if it is.
fn status_of(partial: &[String]) -> ExitStatus {
    match partial.last() {
        None => ExitStatus::Fine,
        Some(why) if why == INTERRUPTED => ExitStatus::Interrupted,
        Some(_) => ExitStatus::Undetermined,
    }
}

/// Shows a record in the requested format.
fn show(record: &Record, others: &[Record], args: &RecordArgs) -> anyhow::Result<()> {
    if args.json {
        return answer(&record::write(record));
    }
    let text = args.text.options();
    let only = match others {
        [only] => Some(only),
        _ => None,
    };
    let all: Vec<&Record> = std::iter::once(record).chain(others).collect();
    let together = if others.is_empty() { None } else { machines::document(&all, text.units) };
    let alone = measure::document_against(record, only, text.units);
    let documents = std::iter::once(alone).chain(together);
    let pages: Vec<String> = documents.map(|document| write_text(&document, text)).collect();
    answer(pages.join("\n\n").as_bytes())
}

/// Returns the program, version and system.
pub(super) fn made_by() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("steadfast {version} ({}-{})", std::env::consts::ARCH, std::env::consts::OS)
}

/// The command, without the place of the program.
fn command() -> Vec<String> {
    let rest = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("steadfast".to_owned()).chain(rest).collect()
}

impl Watch for ProgressLine {
    fn doing(&mut self, doing: &Doing<'_>) {
        let left = doing.left.map(|left: Duration| {
            let left_ns = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
            format!(", {} left", units::rough_duration(left_ns))
        });
        let done = units::percent(doing.done);
        let what = escape::text(doing.what);
        self.print(&format!("{done}{}: {what}", left.unwrap_or_default()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_drive_is_stated() {
        let rest = "of the 600 TB that an SSD of 1 TB is commonly rated for";
        for (bytes, share) in [
            (21_000_000, "21.0 MB is less than a thousandth"),
            (53_300_000_000, "53.3 GB is less than a thousandth"),
            (6_000_000_000_000, "6.00 TB is 1.0 %"),
        ] {
            assert_eq!(compared_with_endurance(bytes), format!("{share} {rest}"));
        }
    }
}
