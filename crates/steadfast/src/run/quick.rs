//! `check --quick`: walk, compare with the catalogue. Opens no file.

use std::cell::RefCell;
use std::time::Instant;

use super::recording::ShownPaths;
use super::{DatalessUse, Options, Verb, judge, no_file, not_catalogued, open_catalogue};
use crate::advice::counted;
use crate::catalogue::Catalogue;
use crate::error::Error;
use crate::event::Notice;
use crate::monitor::{Event, HashingMeans, Monitor, Summary};
use crate::selection::Selection;
use crate::verb_kind::VerbKind;

/// Compares the length, times and inode of files with the catalogue.
///
/// No file is opened, so the result does not verify contents and is not recorded. The monitor
/// cannot end it.
///
/// # Errors
/// If there is no catalogue, or it cannot be read.
pub fn quick(
    selection: &Selection,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let reading = Options { dry_run: true, ..options.clone() };
    let session = open_catalogue::open(Verb::check(), selection, &reading)?;
    let session = session.ok_or_else(not_catalogued)?;
    let means = HashingMeans { engine: "quick", workers: 1, ..HashingMeans::default() };
    let mut summary =
        Summary { verb: VerbKind::Check, means, catalogued: true, ..Summary::default() };
    compare(session.into_catalogue(), selection, options, &mut summary, monitor)?;
    if let Some(notice) = summary.unproved(no_file(), options.allow_empty) {
        summary.raise_status(notice.status);
        monitor.notice(notice);
    }
    summary.elapsed_ns = start.elapsed().as_nanos() as u64;
    Ok(summary)
}

/// Compares a selection with its catalogue, and reports what differs.
fn compare(
    catalogue: Catalogue,
    selection: &Selection,
    options: &Options,
    summary: &mut Summary,
    monitor: &mut dyn Monitor,
) -> Result<(), Error> {
    let paths = ShownPaths::of(catalogue.root(), selection);
    let listeners = RefCell::new((summary, monitor));
    let fails = options.dataless == DatalessUse::Fail;
    let tell = |mut event: Event| {
        let (summary, monitor) = &mut *listeners.borrow_mut();
        if let Event::File(event) = &mut event {
            event.apply_dataless(fails);
        }
        match &event {
            Event::File(event) => summary.count(event, judge::exit_status(event, false, false)),
            Event::Finding(event) => summary.note(&event.finding),
            Event::Notice(notice) => summary.raise_status(notice.status),
        }
        let _ = monitor.event(&event);
    };
    let quick = catalogue.quick(
        selection,
        (options.now)(),
        &options.controls.stop,
        &mut |finding| tell(paths.event(finding)),
        &mut |event| tell(Event::File(Box::new(event))),
    )?;
    let files = counted(quick.files, "file was", "files were");
    let text = format!("{files} looked at by length, times and inode: no contents were compared");
    tell(Event::Notice(Notice::new(text)));
    let (summary, _) = listeners.into_inner();
    summary.files = quick.files;
    summary.skipped = quick.skipped.with_files_of(summary.skipped);
    summary.interrupted = !quick.whole;
    Ok(())
}
