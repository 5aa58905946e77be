//! `steadfast measure`: arguments → workloads → a record, and a page about it.

use std::io;
use std::time::Duration;

use anyhow::Context as _;
use steadfast_measure::record::{self, Record};
use steadfast_measure::runner::{Doing, End, Session, Watch};
use steadfast_measure::workload::Workload;
use steadfast_measure::workload::cipher::serve;
use steadfast_report::document::write_text;
use steadfast_report::{escape, units};

use crate::args::{MeasureArgs, MeasureCommand, RecordArgs};
use crate::document_file::{DocumentFile, is_record};
use crate::exit;
use crate::output::answer;
use crate::progress::ProgressLine;

/// The reason of a session that ended early because of a signal.
const INTERRUPTED: &str = "interrupted";

pub(super) fn run(args: &MeasureArgs) -> anyhow::Result<u8> {
    let Some(record) = args.what.record() else {
        serve(&mut io::stdin().lock(), &mut io::stdout().lock())
            .context("cannot talk to the process that asks")?;
        return Ok(0);
    };
    // If this record cannot be read, the user should know before measuring.
    let other = match &args.what {
        MeasureCommand::Cpu(args) => args.other()?,
        _ => None,
    };
    let workloads = match &args.what {
        MeasureCommand::All(args) => args.workloads()?,
        one => vec![one.workload()?],
    };
    execute(record, &workloads, other.as_ref())
}

/// Runs workloads in one session, saves the record and shows it, beside another record if there is
/// one.
fn execute(
    args: &RecordArgs,
    workloads: &[Box<dyn Workload>],
    other: Option<&Record>,
) -> anyhow::Result<u8> {
    let export = args.export.as_deref().map(|file| DocumentFile::claim(file, is_record));
    let export = export.transpose()?;
    let stop = exit::stop_on_signals()?;
    let mut shown = Shown::new(args);
    let mut session = Session::begin(made_by(), command(), &stop, &mut shown);
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
    shown.line.clear();
    record.name = args.name.clone();
    if record.series.is_empty() {
        // There is nothing to save or to show. An earlier record stays.
        return Ok(status_of(&partial));
    }
    let kept = export.map(|file| keep(file, &record));
    let shown = show(&record, other, args);
    if let Some(Err(error)) = kept {
        exit::complain(&format!("{error:#}; the record follows on stdout"));
        answer(&record::write(&record))?;
        return Ok(exit::COULD_NOT_TELL);
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
fn status_of(partial: &[String]) -> u8 {
    match partial.last() {
        None => 0,
        Some(why) if why == INTERRUPTED => exit::INTERRUPTED as u8,
        Some(_) => exit::COULD_NOT_TELL,
    }
}

/// Shows a record in the requested format.
fn show(record: &Record, other: Option<&Record>, args: &RecordArgs) -> anyhow::Result<()> {
    let text = args.text();
    let page = match args.json {
        true => record::write(record),
        false => {
            let document = steadfast_report::measure::document_against(record, other, text.units);
            write_text(&document, text).into_bytes()
        }
    };
    answer(&page)
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

/// Shows what is measured.
struct Shown {
    line: ProgressLine,
}

impl Shown {
    fn new(args: &RecordArgs) -> Shown {
        let units = args.text().units;
        Shown { line: ProgressLine::new(args.progress, args.json, false, units) }
    }
}

impl Watch for Shown {
    fn doing(&mut self, doing: &Doing<'_>) {
        let left = doing.left.map(|left: Duration| {
            let left_ns = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
            format!(", {} left", units::rough_duration(left_ns))
        });
        let done = units::percent(doing.done);
        let what = escape::text(doing.what);
        self.line.say(&format!("{done}{}: {what}", left.unwrap_or_default()));
    }
}
