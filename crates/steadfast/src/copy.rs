//! Copies files to one or several destinations, proves each copy from its medium, and says whether
//! the source may be erased.
//!
//! Input: files and directories, and destinations. Each file is read once for all destinations,
//! held to its record, written to drafts, flushed, read back from the medium and compared; only
//! then it gets its name, and never that of another file. A first walk finds what a destination
//! cannot hold, before anything is written. A second walk copies, in batches: one flush serves all
//! files of a batch, and memory does not depend on how many there are.

mod batch;
mod contents;
mod destination;
mod draft_names;
mod lists;
mod one_file;
mod replica;
mod removal;
mod result;
mod seen_draft;
mod sources;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::advice::{Advice, counted};
use crate::builder::Run;
use crate::catalogue::real_of;
use crate::error::Error;
use crate::event::{FileError, Notice};
use crate::known::{KnownSummary, Search, Worklist, matched};
use crate::monitor::{NoticeMonitor, Progress, ResultMonitor};
use crate::repair;
use crate::run::{CatalogueUse, Options, ProvedFiles, Verb};
use crate::safe::{Devices, Lack, OwnFolders, held_folders, left_out};
use crate::selection::Selection;
use crate::verb_kind::VerbKind;
use crate::walk::WalkItem;
use batch::{CopyBatch, WrittenFiles};
use destination::{Absent, Destination};
use lists::CopyLists;
pub use result::{CopiedFile, CopiedPlace, CopyPlan, CopyRequest, CopySummary, ListKind};
use sources::{each_file, sources};

/// Receives what became of each file.
type CopyMonitor<'a> = dyn ResultMonitor<CopiedFile> + 'a;

/// Copies, or moves.
///
/// # Errors
/// If an option is not valid, a destination cannot be used, or it cannot hold some of the files;
/// then nothing was copied. Trouble with single files is in the results.
pub fn copy(
    selection: &Selection,
    request: &CopyRequest,
    options: &Options,
    monitor: &mut CopyMonitor<'_>,
) -> Result<CopySummary, Error> {
    let start = Instant::now();
    let (mut destinations, mut devices) = opened(selection, request, (Absent::Made, options))?;
    let roots = held_folders(selection.roots.iter().chain(&selection.listed));
    let mut summary = CopySummary::default();
    let known = known_files(selection, request, options, monitor)?;
    let is_known = |path: &Path| known.as_ref().is_some_and(|known| known.is_found(path));
    let mut lists = CopyLists::new(selection, request);
    let run = (selection, request, options);
    let (plan, moving) = foresee(run, (&mut destinations, &mut lists), &is_known, monitor)?;
    if request.moves {
        let notices = repair::give_names_back(&moving, selection, options);
        summary.raise_each(&notices, monitor);
        repair::clear_marks(selection);
    }
    seen_draft::note_views(&mut destinations, &mut devices);
    let (places, total) = ((destinations, devices), (plan.files, plan.bytes));
    let mut batch = CopyBatch::new(run, places, lists, start, total);
    let (mut failed, mut own_folders) = (0, OwnFolders::default());
    let skipped = each_file(selection, request, options, &mut |item, relative| match item {
        WalkItem::File(entry) | WalkItem::Leaves(entry) => {
            if batch.is_chain(&relative) {
                return;
            }
            if is_known(&entry.path.to_path()) {
                summary.known += 1;
                return;
            }
            batch.add(entry, relative, &mut summary, monitor);
        }
        WalkItem::Failed(event) => {
            failed += 1;
            let text = event.trouble.as_ref().map(FileError::message).unwrap_or_default();
            monitor.notice(&Notice::failure(text).at(&event.path.to_path()));
        }
        WalkItem::EmptyFolder(path) => {
            for notice in batch.make_folder(&relative, &path) {
                failed += 1;
                monitor.notice(&notice);
            }
        }
        WalkItem::Notice(notice) => summary.raise_each(&[notice], monitor),
        WalkItem::Ours(dir) => own_folders.add(&dir),
    })?;
    summary.skipped = skipped;
    while !batch.is_empty() {
        batch.run(&mut summary, monitor);
    }
    let copied = batch.finish(selection, monitor);
    summary.answer.note(Lack::LeftOut, left_out(&summary.skipped));
    summary.answer.note(Lack::NotCopied, failed);
    summary.answer.note(Lack::KnownOnly, summary.known);
    summary.answer.note_own_folders(own_folders);
    batch.missing_files(selection).iter().for_each(|notice| monitor.notice(notice));
    for notice in batch.take_troubles() {
        summary.answer.note(Lack::NotSeen, 1);
        monitor.notice(&notice);
    }
    if let Err(error) = batch.renew(selection) {
        summary.raise_each(&[Notice::of(&error)], monitor);
    }
    batch.write_lists(&mut summary, monitor);
    tell_risks(&summary, monitor);
    if batch.is_here() {
        enter((selection, request, options), copied, &mut summary, monitor);
    }
    if let Some(lack) = batch.confirm(selection, &roots, &summary.answer)? {
        summary.answer.note(lack, 1);
    }
    summary.close(options, start);
    Ok(summary)
}

/// Says what a copy comes to, and what the destinations cannot hold: the first walk of [`copy`].
/// Copies nothing, and makes no destination.
///
/// # Errors
/// As [`copy`].
pub fn plan_copy(
    selection: &Selection,
    request: &CopyRequest,
    options: &Options,
    monitor: &mut CopyMonitor<'_>,
) -> Result<CopyPlan, Error> {
    let (mut destinations, _) = opened(selection, request, (Absent::Foreseen, options))?;
    let known = known_files(selection, request, options, monitor)?;
    let is_known = |path: &Path| known.as_ref().is_some_and(|known| known.is_found(path));
    let mut lists = CopyLists::new(selection, request);
    let run = (selection, request, options);
    let (mut plan, _) = foresee(run, (&mut destinations, &mut lists), &is_known, monitor)?;
    plan.free_bytes = destinations.iter().map(|destination| destination.free_bytes).collect();
    plan.interrupted = options.controls.stop.load(Ordering::Relaxed);
    Ok(plan)
}

/// Opens the destinations of a request that makes sense.
fn opened(
    selection: &Selection,
    request: &CopyRequest,
    (absent, options): (Absent, &Options),
) -> Result<(Vec<Destination>, Devices), Error> {
    let absent = (absent, options.catalogue.trees.as_deref());
    ensure_sensible(selection, request)?;
    let devices = Devices::beneath(sources(selection).map(|(path, _)| path));
    let mut destinations = Vec::new();
    for path in &request.destinations {
        if request.list == ListKind::Bag {
            lists::ensure_own_bag(path)?;
        }
        let destination = Destination::open(path, &selection.within, absent)?;
        if devices.have_beneath(&destination.device) {
            return Err(Error::usage("the source shows the destination").at(path));
        }
        destinations.push(destination);
        repair::ensure_finished(&Selection::of([path]))?;
    }
    Ok((destinations, devices))
}

/// Refuses what makes no sense: no destination, one that is named twice, one in the source.
fn ensure_sensible(selection: &Selection, request: &CopyRequest) -> Result<(), Error> {
    if request.destinations.is_empty() || sources(selection).next().is_none() {
        return Err(Error::usage("a copy has a source and a destination"));
    }
    let real = |path: &Path| real_of(path);
    for (at, path) in request.destinations.iter().enumerate() {
        let Some(destination) = real(path) else { continue };
        if request.destinations[..at].iter().any(|other| real(other).as_ref() == Some(&destination))
        {
            return Err(Error::usage("the same destination as another").at(path));
        }
        for source in sources(selection).filter_map(|(root, _)| real(root)) {
            if destination.starts_with(&source) {
                return Err(Error::usage("the destination is in the source").at(path));
            }
        }
    }
    Ok(())
}

/// Finds the files that archives have already, if such are not to be copied.
fn known_files(
    selection: &Selection,
    request: &CopyRequest,
    options: &Options,
    monitor: &mut CopyMonitor<'_>,
) -> Result<Option<Worklist>, Error> {
    if request.unknown_in.is_empty() {
        return Ok(None);
    }
    let within = &selection.within;
    let search = Search { archives: &request.unknown_in, within, reads_all: false };
    let mut told = CopyNotices(monitor);
    let summary = &mut KnownSummary::default();
    Ok(Some(matched(selection, &search, options, summary, &mut told)?.0))
}

/// Passes on the notices of a search. The walk that copies meets what it could not open again.
struct CopyNotices<'a>(&'a mut CopyMonitor<'a>);

impl NoticeMonitor for CopyNotices<'_> {
    fn notice(&mut self, notice: &Notice) {
        if notice.status.is_fine() {
            self.0.notice(notice);
        }
    }

    fn progress(&mut self, progress: &Progress) {
        self.0.progress(progress);
    }
}

/// Walks once before anything is copied, and says what the destinations cannot hold. Returns what
/// there is to copy, and folders in which a move was cut off.
///
/// # Errors
/// If one cannot hold some files, and they were not to be left out.
fn foresee(
    (selection, request, options): (&Selection, &CopyRequest, &Options),
    (destinations, lists): (&mut [Destination], &mut CopyLists),
    is_known: &dyn Fn(&Path) -> bool,
    monitor: &mut CopyMonitor<'_>,
) -> Result<(CopyPlan, Vec<PathBuf>), Error> {
    let (mut plan, mut empty, mut refused) = (CopyPlan::default(), 0, 0);
    let mut moving = Vec::new();
    each_file(selection, request, options, &mut |item, relative| {
        if let WalkItem::Notice(Notice { advice: Some(Advice::GiveNamesBack(folder)), .. }) = &item
        {
            moving.push(folder.clone());
        }
        let (WalkItem::File(entry) | WalkItem::Leaves(entry)) = item else { return };
        if is_known(&entry.path.to_path()) {
            plan.known += 1;
            return;
        }
        let length = entry.status().map_or(0, |status| status.length);
        plan.files += 1;
        plan.bytes += length;
        empty += u64::from(length == 0);
        if let Err(reason) = lists.foresee(&entry, &relative) {
            refused += 1;
            monitor.notice(&Notice::failure(reason).at(&entry.path.to_path()));
        }
        for destination in &mut *destinations {
            let reason = destination.refusal(&relative, length);
            if let Some(reason) = reason.or_else(|| lists.refusal(&relative)) {
                refused += 1;
                monitor.notice(&Notice::failure(reason).at(&destination.path.join(&relative)));
            }
        }
    })?;
    if empty > 0 {
        let what = counted(empty, "file is empty", "files are empty");
        monitor.notice(&Notice::new(what));
    }
    for destination in &*destinations {
        if destination.has_coarse_times() {
            let text = "this file system keeps times to two seconds only";
            monitor.notice(&Notice::new(text).at(&destination.path));
        }
        if plan.bytes > destination.free_bytes {
            let (bytes, free) = (plan.bytes, destination.free_bytes);
            let text = format!("the source has {bytes} bytes, and {free} are free");
            monitor.notice(&Notice::new(text).at(&destination.path));
        }
    }
    if refused > 0 && !request.anyway {
        let what = counted(refused, "file", "files");
        let text = format!("no place for the names or lengths of {what}: nothing was copied");
        return Err(Error::usage(text));
    }
    Ok((plan, moving))
}

/// Says what the copies do not prove, or lack.
fn tell_risks(summary: &CopySummary, monitor: &mut CopyMonitor<'_>) {
    if summary.unproved > 0 {
        let files = counted(summary.unproved, "file", "files");
        let text = format!(
            "of {files} without a record, one reading at most came from the medium: if that was \
             wrong, the copies are"
        );
        monitor.notice(&Notice::new(text));
    }
    for (what, files) in &summary.withheld {
        let copies = counted(*files, "copy", "copies");
        monitor.notice(&Notice::new(format!("{copies} lack what the source has: {what}")));
    }
}

/// Enters the copies into the catalogues of their destinations, as files that were just proved.
fn enter(
    (of_copy, request, options): (&Selection, &CopyRequest, &Options),
    copied: Vec<Option<WrittenFiles>>,
    summary: &mut CopySummary,
    monitor: &mut CopyMonitor<'_>,
) {
    for (destination, written) in request.destinations.iter().zip(copied) {
        let Some(WrittenFiles { paths, proved }) = written else { continue };
        let file = crate::catalogue::Catalogue::find(destination);
        let Some(file) = file.filter(|_| !paths.is_empty()) else { continue };
        let selection = Selection::default().with(|it| {
            it.listed = paths.iter().map(|path| destination.join(path)).collect();
            it.within = match of_copy.within.is_empty() {
                true => vec![destination.clone()],
                false => of_copy.within.clone(),
            };
            it.with_sidecars = true;
        });
        let stop = Arc::default();
        let options = options.clone().with(|it| {
            it.catalogue.choice = CatalogueUse::At(file);
            let kind = if request.moves { VerbKind::Move } else { VerbKind::Copy };
            it.catalogue.recorded_as = Some(kind);
            it.allow_empty = true;
            it.controls.stop = stop;
        });
        let proved = ProvedFiles { files: proved, ..ProvedFiles::default() };
        let run = Run::of(Verb::tag(), selection, options);
        match run.run_after(Some(proved), &mut |_: &_| {}) {
            Ok(entered) => summary.status.raise(entered.exit_status()),
            Err(error) => {
                let notice = Notice::of(&error);
                summary.status.raise(notice.status);
                monitor.notice(&notice);
            }
        }
    }
}
