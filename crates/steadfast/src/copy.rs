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
mod seen_draft;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use steadfast_digest::Algorithm;
use steadfast_manifest::tag::Tag;

use crate::advice::{Advice, counted};
use crate::belongings::Withheld;
use crate::builder::Run;
use crate::catalogue::real_of;
use crate::error::Error;
use crate::event::{FileError, Notice, Skipped};
use crate::exit_status::ExitStatus;
use crate::known::{KnownSummary, Search, Worklist, matched};
use crate::monitor::{NoticeMonitor, Progress, ResultMonitor};
use crate::repair::{self, RepairSource};
use crate::run::{CatalogueUse, Options, ProvedFiles, Verb};
use crate::safe::{Devices, Grade, Lack, OwnFolders, SafeAnswer, SafeRule, held_folders, left_out};
use crate::selection::Selection;
use crate::verb_kind::VerbKind;
use crate::verdict::Verdict;
use crate::walk::{Excludes, WalkItem, walk};
use batch::{CopyBatch, WrittenFiles};
use destination::{Absent, Destination};
use lists::CopyLists;
pub use lists::ListKind;

/// What is copied, and how.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyRequest {
    /// Directories that get a copy of each path of the selection, under its own name. A path that
    /// ends with `.` is copied without a name: its contents are.
    pub destinations: Vec<PathBuf>,
    /// How much is asked of copies before the source may be erased.
    pub rule: SafeRule,
    /// Whether each file of the source is removed as soon as it may be erased.
    pub moves: bool,
    /// Whether files are copied that differ from their record.
    pub with_corrupt: bool,
    /// Whether a file without a record is read once only, so that a wrong reading is copied.
    pub reads_once: bool,
    /// Whether to copy the rest if a destination cannot hold some files.
    pub anyway: bool,
    /// The algorithm of new tags; `None` for SHA-256.
    pub algorithm: Option<Algorithm>,
    /// The lists that each destination gets.
    pub list: ListKind,
    /// Archives: files whose contents one of them has by its record are not copied.
    pub unknown_in: Vec<PathBuf>,
}

impl CopyRequest {
    /// Returns the request after `change`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// Copies to these directories.
    pub fn to(destinations: impl IntoIterator<Item: Into<PathBuf>>) -> CopyRequest {
        let destinations = destinations.into_iter().map(Into::into).collect();
        CopyRequest { destinations, ..CopyRequest::default() }
    }
}

/// A copy of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedPlace {
    /// Its path.
    pub path: PathBuf,
    /// What reading it back proved; `None` if there is no copy.
    pub grade: Option<Grade>,
    /// Whether it was there before.
    pub was_there: bool,
    /// How often it was written again, because it was read back wrong.
    pub rewrites: u32,
    /// What it lacks of what belongs to the source.
    pub withheld: Vec<Withheld>,
    /// Why there is no copy.
    pub trouble: Option<FileError>,
}

/// The result for one file of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedFile {
    /// Its path, as the user would write it.
    pub path: PathBuf,
    /// Its length in bytes.
    pub length: u64,
    /// The tag of its contents, if it was read.
    pub tag: Option<Tag>,
    /// Whether its record was proved, or it was read twice.
    pub is_proved: bool,
    /// What a check says of it, if it was judged.
    pub verdict: Option<Verdict>,
    /// What gave the contents of its copies, if the file itself is damaged.
    pub mended: Option<Vec<RepairSource>>,
    /// Its copies, in the order of the destinations.
    pub places: Vec<CopiedPlace>,
    /// What is lacking before it may be erased.
    pub lack: Option<Lack>,
    /// Whether it was removed after it was copied.
    pub was_removed: bool,
    /// Why it was not copied at all.
    pub trouble: Option<FileError>,
}

/// What a copy comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyPlan {
    /// Files that would be copied.
    pub files: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Files that would not be copied because archives have them.
    pub known: u64,
    /// Bytes that are free at each destination.
    pub free_bytes: Vec<u64>,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// The result.
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct CopySummary {
    /// Whether the source may be erased.
    pub answer: SafeAnswer,
    /// Files of the source.
    pub files: u64,
    /// Files that are at every destination, and proved there.
    pub copied: u64,
    /// Files of these that were at every destination before.
    pub were_there: u64,
    /// Files that were not copied because archives have them.
    pub known: u64,
    /// Files that were removed.
    pub removed: u64,
    /// Bytes of the source.
    pub bytes: u64,
    /// Damaged files whose copies have what their records say.
    pub mended: u64,
    /// Files without a record that were read once only.
    pub unproved: u64,
    /// What copies lack that belongs to the source, by name.
    pub withheld: std::collections::BTreeMap<String, u64>,
    /// What the walk left out.
    pub skipped: Skipped,
    /// Time that it took, in nanoseconds.
    pub elapsed_ns: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    pub(crate) status: ExitStatus,
}

impl CopySummary {
    /// Returns how it ended: `Fine` if the source may be erased.
    pub fn exit_status(&self) -> ExitStatus {
        let status = self.status.max(self.answer.exit_status());
        status.max(ExitStatus::Interrupted.only_if(self.interrupted))
    }

    fn raise_each(&mut self, notices: &[Notice], monitor: &mut CopyMonitor<'_>) {
        for notice in notices {
            self.status.raise(notice.status);
            monitor.notice(notice);
        }
    }

    fn close(&mut self, options: &Options, start: Instant) {
        self.interrupted = options.controls.stop.load(Ordering::Relaxed);
        let is_unseen = self.interrupted || (self.files == 0 && self.known == 0);
        self.answer.note(Lack::NotSeen, u64::from(is_unseen));
        self.elapsed_ns = start.elapsed().as_nanos() as u64;
    }

    fn count(&mut self, file: &CopiedFile) {
        self.files += 1;
        self.bytes += file.length;
        self.copied += u64::from(file.places.iter().all(|place| place.grade.is_some()));
        self.were_there += u64::from(file.places.iter().all(|place| place.was_there));
        self.removed += u64::from(file.was_removed);
        self.mended += u64::from(file.mended.is_some());
        self.unproved += u64::from(file.tag.is_some() && !file.is_proved);
        self.answer.count(file.lack);
        // A place that was asked for and is not there, although others may be enough.
        let is_short = file.places.iter().any(|place| place.trouble.is_some());
        let is_trouble = is_short || file.trouble.is_some();
        self.status.raise(ExitStatus::Undetermined.only_if(is_trouble));
        for lacking in file.places.iter().flat_map(|place| &place.withheld) {
            *self.withheld.entry(lacking.what.clone()).or_default() += 1;
        }
    }
}

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

/// Returns the paths that are copied, and whether a link is followed.
fn sources(selection: &Selection) -> impl Iterator<Item = (&PathBuf, bool)> {
    let roots = selection.roots.iter().map(|root| (root, true));
    roots.chain(selection.listed.iter().map(|path| (path, false)))
}

/// Walks every root, and passes each item with the path that it gets beneath a destination.
fn each_file(
    selection: &Selection,
    request: &CopyRequest,
    options: &Options,
    visit: &mut dyn FnMut(WalkItem, PathBuf),
) -> Result<Skipped, Error> {
    let excludes = Excludes::new(&selection.excludes)?;
    let mut all = Skipped::default();
    let within = Path::new(if request.list == ListKind::Bag { "data" } else { "" });
    for (root, is_followed) in sources(selection) {
        let [mut roots, mut listed] = [Vec::new(), Vec::new()];
        if is_followed { &mut roots } else { &mut listed }.push(root.clone());
        let one = Selection { roots, listed, with_sidecars: true, ..selection.clone() };
        let name = name_at_destination(root);
        let stop = &options.controls.stop;
        let (skipped, _) = walk(&one, &excludes, crate::store::has_tag, stop, &mut |item| {
            let relative = match &item {
                WalkItem::File(entry) | WalkItem::Leaves(entry) => {
                    relative_of(&entry.path.to_path(), root, &name)
                }
                WalkItem::EmptyFolder(path) => relative_of(path, root, &name),
                _ => PathBuf::new(),
            };
            visit(item, within.join(relative));
            ControlFlow::Continue(())
        });
        all.symlinks += skipped.symlinks;
        all.special += skipped.special;
        all.excluded += skipped.excluded;
        all.dataless += skipped.dataless;
        all.dataless_directories += skipped.dataless_directories;
        all.other_file_systems += skipped.other_file_systems;
    }
    Ok(all)
}

/// Returns the name that what was selected gets beneath a destination.
fn name_at_destination(root: &Path) -> PathBuf {
    root.file_name().filter(|_| !is_bare(root)).map(PathBuf::from).unwrap_or_default()
}

/// Returns whether a path is copied without a name: `a/.` and `a` are the same path to this
/// system's names, and not to the user.
fn is_bare(root: &Path) -> bool {
    root.as_os_str().as_encoded_bytes().ends_with(b"/.") && !root.is_file()
}

fn relative_of(path: &Path, root: &Path, name: &Path) -> PathBuf {
    match path.strip_prefix(root) {
        Ok(down) if down.as_os_str().is_empty() && path.is_file() => {
            PathBuf::from(path.file_name().unwrap_or_default())
        }
        Ok(down) => name.join(down),
        Err(_) => name.join(path),
    }
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
