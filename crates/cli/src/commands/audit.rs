//! `steadfast status --audit`: arguments → what a catalogue can prove → one document of it.

use std::path::{Path, PathBuf};

use anyhow::bail;
use steadfast::ExitStatus;
use steadfast::Options;
use steadfast::catalogue::{Catalogue, FileState};
use steadfast_report::TextOptions;
use steadfast_report::audit::{
    AuditCsv, AuditJson, AuditPart, AuditRenderer, AuditTally, AuditText, AuditView, WindowReading,
};

use crate::args::{AuditArgs, DocumentArgs, StatusArgs};
use crate::exit;
use crate::outlet::Outlet;
use crate::output::stdout_has_color;

use super::premis::{flow, write_tree};
use super::tree_catalogue::{each_run, open};

pub(super) fn run(args: &StatusArgs) -> anyhow::Result<ExitStatus> {
    let StatusArgs { directories, audit: args, document, .. } = args;
    let directory = match &directories[..] {
        [] => Path::new("."),
        [directory] => directory,
        _ => bail!("an audit is of one DIR"),
    };
    let (catalogue, _) = open(directory, args.place.file.as_deref())?;
    exit::stop_on_signals()?;
    let mut outlet = Outlet::new(document.csv);
    if document.premis {
        let tally = write_tree(&catalogue, Path::new(""), &mut outlet)?;
        outlet.finish()?;
        return Ok(tally.exit_status(None));
    }
    let now = (Options::default().now)();
    let verification = args.verify.then(|| catalogue.verify()).transpose()?;
    let mut days = args.days.clone();
    days.sort_unstable();
    days.dedup();
    let audit = catalogue.audit(&days, now).inspect_err(|_| {
        for problem in verification.iter().flat_map(|verification| &verification.problems) {
            exit::complain(problem);
        }
    })?;
    let mut readings = WindowReading::of(&audit);
    each_run(&catalogue, &mut |run| WindowReading::add(&mut readings, &audit, &run))?;
    let view = AuditView {
        root: catalogue.root(),
        file: catalogue.file(),
        version: env!("CARGO_PKG_VERSION"),
        audit: &audit,
        readings: &readings,
        overdue_days: args.overdue,
        verification: verification.as_ref(),
    };
    let mut renderer = renderer(args, document);
    renderer.begin(&view, &mut outlet.pending);
    let tally = stream(args, &view, &catalogue, &mut *renderer, &mut outlet)?;
    if tally.proves_nothing {
        exit::complain("the catalogue has no file with a tag, so nothing was verified");
    }
    renderer.end(&view, &tally, &mut outlet.pending);
    outlet.finish()?;
    Ok(tally.exit_status(verification.as_ref()))
}

fn renderer(args: &AuditArgs, document: &DocumentArgs) -> Box<dyn AuditRenderer> {
    match (document.json, document.csv) {
        (true, _) => Box::new(AuditJson),
        (_, true) => Box::new(AuditCsv),
        _ => Box::new(AuditText::new(TextOptions {
            verbose: args.verbose,
            color: stdout_has_color(),
            units: document.units,
            ..TextOptions::default()
        })),
    }
}

/// Renders the lists, which may not fit in memory.
fn stream(
    args: &AuditArgs,
    view: &AuditView<'_>,
    catalogue: &Catalogue,
    renderer: &mut dyn AuditRenderer,
    outlet: &mut Outlet,
) -> anyhow::Result<AuditTally> {
    let mut tally = AuditTally { proves_nothing: view.audit.tagged == 0, ..AuditTally::default() };
    let mut last = (PathBuf::new(), 0, FileState::Fine);
    renderer.begin_part(AuditPart::Failures, &mut outlet.pending);
    catalogue.failures(&mut |failure| {
        // A new file that is bad has two events in one run.
        let again = last.1 == failure.run && last.2 == failure.standing && last.0 == failure.path;
        if !again {
            tally.count_failure(&failure);
            renderer.failure(&failure, &mut outlet.pending);
            last = (failure.path, failure.run, failure.standing);
        }
        flow(outlet)
    })?;
    renderer.end_part(AuditPart::Failures, &tally, &mut outlet.pending);
    if let Some(days) = args.overdue {
        renderer.begin_part(AuditPart::Overdue, &mut outlet.pending);
        catalogue.overdue(days, view.audit.at, &mut |overdue| {
            tally.count_overdue(&overdue);
            renderer.overdue(&overdue, &mut outlet.pending);
            flow(outlet)
        })?;
        renderer.end_part(AuditPart::Overdue, &tally, &mut outlet.pending);
    }
    if args.duplicates {
        renderer.begin_part(AuditPart::Duplicates, &mut outlet.pending);
        catalogue.duplicates(args.min.unwrap_or(1), &mut |duplicates| {
            tally.count_duplicates(&duplicates);
            renderer.duplicates(&duplicates, &mut outlet.pending);
            flow(outlet)
        })?;
        renderer.end_part(AuditPart::Duplicates, &tally, &mut outlet.pending);
    }
    tally.interrupted = exit::was_signalled();
    Ok(tally)
}
