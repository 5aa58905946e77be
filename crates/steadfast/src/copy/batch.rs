//! A batch of files on their way: read and written, flushed together, proved, named, flushed again,
//! and only then reported.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use steadfast_sys::file::Status;
use steadfast_sys::machine;

use steadfast_digest::{Algorithm, Digest};
use steadfast_manifest::tag::Tag;

use super::CopyMonitor;
use super::destination::Destination;
use super::lists::{CopyLists, ListedCopy};
use super::one_file::{BatchFile, CopyMeans, FileCopy, name_of};
use super::removal::{Removal, remove_all};
use super::replica::{ProvedReplica, Replica};
use super::result::{CopiedFile, CopiedPlace, CopyRequest, CopySummary};
use super::sources::{each_file, name_at_destination};
use crate::beneath::LastDir;
use crate::error::Error;
use crate::event::{FileError, Notice};
use crate::known::SeenFile;
use crate::monitor::Progress;
use crate::repair::{Mender, NamedAgain, renew, unmark};
use crate::run::{FileJudge, Options, ProvedFile, engine_of, workers_of};
use crate::safe::{
    Device, Devices, FileIdentity, FileSum, Grade, HeldPath, Lack, SafeAnswer, missing_files,
};
use crate::selection::Selection;
use crate::verb_kind::VerbKind;
use crate::walk::{Entry, WalkItem};

/// The most files of a batch, each of which has as many open files as there are destinations.
const FILES_MAX: usize = 128;

/// Bytes after which a batch is complete.
const BYTES_MAX: u64 = 256 << 20;

/// The most files with several names that are remembered. Further names become files.
const LINKED_MAX: usize = 100_000;

/// Interval of progress reports.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// The batch, and what lasts longer.
pub(super) struct CopyBatch<'a> {
    means: CopyMeans<'a>,
    destinations: Vec<Destination>,
    files: Vec<BatchFile>,
    bytes: u64,
    /// What was written, by destination; `None` for one without a catalogue.
    written: Vec<Option<WrittenFiles>>,
    /// The copies of each inode that has several names.
    linked: HashMap<(u64, u64), LinkedFile>,
    /// Devices of the source.
    sources: Devices,
    /// The files of the source that were judged and are still there.
    source: FileSum,
    /// Their copies, by destination.
    copies: Vec<FileSum>,
    lists: CopyLists,
    /// Whether nothing of the source is removed any more, because a copy was gone.
    keeps_source: bool,
    /// Files that had other names for a while.
    stay: Vec<NamedAgain>,
    /// Roots of catalogued trees that are marked because files are removed from them.
    marked: BTreeSet<PathBuf>,
    start: Instant,
    total: (u64, u64),
}

/// The files that were written at a destination, to be entered in its catalogue.
#[derive(Default)]
pub(super) struct WrittenFiles {
    /// Their paths beneath it.
    pub(super) paths: Vec<PathBuf>,
    /// What reading them back proved.
    pub(super) proved: Vec<ProvedFile>,
}

/// The first name of a file that has several.
#[derive(Clone, Default)]
struct LinkedFile {
    relative: PathBuf,
    /// Its copy at each destination, once it is permanent.
    copies: Vec<Option<ProvedReplica>>,
    digests: Vec<(Algorithm, Digest)>,
    tag: Option<Tag>,
    /// What is lacking of the file itself.
    lack: Option<Lack>,
}

/// Counts a worker that ends, by a panic too, which the scope of the threads then passes on.
struct WorkerEnd<'a> {
    ended: &'a AtomicUsize,
    caller: &'a Thread,
}

impl Drop for WorkerEnd<'_> {
    fn drop(&mut self) {
        self.ended.fetch_add(1, Ordering::Release);
        self.caller.unpark();
    }
}

impl LinkedFile {
    /// Gives a further name the lacks, the digests and the tag of the first one, or takes these
    /// from the first one. Returns the digests.
    fn share(
        &mut self,
        relative: &Path,
        (lack, tag): (&mut Option<Lack>, &mut Option<Tag>),
        read: Option<Vec<(Algorithm, Digest)>>,
        copies: Vec<Option<ProvedReplica>>,
    ) -> Vec<(Algorithm, Digest)> {
        *lack = lack.take().or(self.lack);
        self.tag = self.tag.or(*tag);
        *tag = self.tag;
        if self.relative == relative {
            self.lack = *lack;
            (self.copies, self.digests) = (copies, read.clone().unwrap_or_default());
        }
        read.unwrap_or_else(|| self.digests.clone())
    }
}

impl<'a> CopyBatch<'a> {
    pub(super) fn new(
        (selection, request, options): (&Selection, &'a CopyRequest, &'a Options),
        (destinations, devices): (Vec<Destination>, Devices),
        lists: CopyLists,
        start: Instant,
        total: (u64, u64),
    ) -> CopyBatch<'a> {
        CopyBatch {
            means: CopyMeans {
                request,
                options,
                engine: engine_of(options),
                algorithms: lists.algorithms(),
                bytes_read: AtomicU64::new(0),
                judge: FileJudge::new(selection, options),
                mender: Mutex::new(Mender::new(selection, options)),
            },
            written: destinations
                .iter()
                .map(|to| to.is_catalogued().then(Default::default))
                .collect(),
            copies: vec![FileSum::default(); destinations.len()],
            source: FileSum::default(),
            lists,
            destinations,
            files: Vec::new(),
            bytes: 0,
            linked: HashMap::new(),
            sources: devices,
            keeps_source: false,
            stay: Vec::new(),
            marked: BTreeSet::new(),
            start,
            total,
        }
    }

    /// Adds a file, and copies the batch if it is complete.
    pub(super) fn add(
        &mut self,
        entry: Entry,
        relative: PathBuf,
        summary: &mut CopySummary,
        monitor: &mut CopyMonitor<'_>,
    ) {
        let status = entry.status().ok();
        let identity = status.and_then(|status| identity_of(&status));
        let is_link = identity.is_some_and(|it| self.linked.contains_key(&it));
        if let Some(identity) = identity.filter(|_| !is_link && self.linked.len() < LINKED_MAX) {
            let relative = relative.clone();
            let first = LinkedFile { relative, ..LinkedFile::default() };
            self.linked.insert(identity, first);
        }
        self.push(entry, relative, status, is_link);
        if self.files.len() >= FILES_MAX || self.bytes >= BYTES_MAX {
            self.run(summary, monitor);
        }
    }

    /// Makes a folder that has no files at every destination. Returns what went wrong.
    pub(super) fn make_folder(&mut self, relative: &Path, source: &Path) -> Vec<Notice> {
        let make = |to: &mut Destination| {
            let error = to.directory(relative, source).err()?;
            let text = FileError::from_io("make the folder", &error).message();
            Some(Notice::failure(text).at(&to.path.join(relative)))
        };
        self.lists.add_folder(relative);
        self.destinations.iter_mut().filter_map(make).collect()
    }

    fn push(&mut self, entry: Entry, relative: PathBuf, status: Option<Status>, is_link: bool) {
        let source = entry.path.to_path();
        let source = source.parent().unwrap_or(Path::new("."));
        let parent = relative.parent().unwrap_or(Path::new(""));
        let dirs = self.destinations.iter_mut().map(|to| to.directory(parent, source)).collect();
        self.bytes += status.map_or(0, |status| status.length);
        let copy = FileCopy::default();
        self.files.push(BatchFile { entry, relative, dirs, status, is_link, copy });
    }

    /// Copies what is in the batch, and reports it.
    pub(super) fn run(&mut self, summary: &mut CopySummary, monitor: &mut CopyMonitor<'_>) {
        let files = std::mem::take(&mut self.files);
        self.bytes = 0;
        let mut tick = |batch: &Self| {
            monitor.progress(&Progress {
                files: summary.files,
                bytes: batch.means.bytes_read.load(Ordering::Relaxed),
                total: Some(batch.total),
                elapsed_ns: batch.start.elapsed().as_nanos() as u64,
                ..Progress::default()
            });
        };
        let files = self.each(files, &mut tick, &|batch, file| {
            file.copy = batch.means.copy_one(file, &batch.destinations);
        });
        // One flush for all is quicker than one for each, which then finds little to do.
        for destination in &self.destinations {
            let _ = destination.flush();
        }
        let files = self.each(files, &mut tick, &|batch, file| {
            batch.means.prove_one(file, &batch.destinations);
        });
        let is_kept = |to: &Destination| to.flush().is_ok() && to.is_here();
        let kept: Vec<bool> = self.destinations.iter().map(is_kept).collect();
        let settled = files.into_iter().filter_map(|file| self.settle(file, &kept));
        let mut settled: Vec<(CopiedFile, Option<Removal>)> = settled.collect();
        self.remove(&mut settled);
        for (file, _) in settled {
            summary.count(&file);
            monitor.result(&file);
        }
    }

    /// Removes files that may be, unless a copy was gone before.
    fn remove(&mut self, settled: &mut [(CopiedFile, Option<Removal>)]) {
        let stop = &self.means.options.controls.stop;
        let of = settled.iter_mut().filter_map(|(file, removal)| Some((removal.as_ref()?, file)));
        let of: Vec<_> = of.collect();
        if !of.is_empty() && !self.keeps_source {
            self.keeps_source =
                !remove_all(of, &self.destinations, stop, (&mut self.stay, &mut self.marked));
        }
        for (file, removal) in settled {
            let Some(removal) = removal.as_ref().filter(|_| !file.was_removed) else { continue };
            let copies: Vec<_> = removal.copies.iter().copied().map(Some).collect();
            if let Ok(status) = removal.entry.status() {
                self.add_up(&removal.relative, &status, &copies);
            }
        }
    }

    /// Records anew the files that stayed although they had other names for a while.
    pub(super) fn renew(&mut self, selection: &Selection) -> Result<(), Error> {
        let (stay, options) = (std::mem::take(&mut self.stay), self.means.options);
        std::mem::take(&mut self.marked).iter().for_each(|root| unmark(root));
        renew(stay, &selection.confines(), options, VerbKind::Move)
    }

    /// Returns whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Ends the copy. Returns what was written at each destination that has a catalogue.
    pub(super) fn finish(
        &mut self,
        selection: &Selection,
        monitor: &mut CopyMonitor<'_>,
    ) -> Vec<Option<WrittenFiles>> {
        let within = selection.confines();
        for destination in &mut self.destinations {
            if let Err(error) = destination.finish(&within) {
                let text = FileError::from_io("flush the folders", &error).message();
                monitor.notice(&Notice::failure(text).at(&destination.path));
            }
        }
        std::mem::take(&mut self.written)
    }

    /// Returns whether the path of every destination still leads to it.
    pub(super) fn is_here(&self) -> bool {
        self.destinations.iter().all(Destination::is_here)
    }

    /// Returns whether a file is the chain of a history, which the lists continue.
    pub(super) fn is_chain(&self, relative: &Path) -> bool {
        self.lists.is_chain(relative)
    }

    /// Writes the lists of every destination.
    pub(super) fn write_lists(&self, summary: &mut CopySummary, monitor: &mut CopyMonitor<'_>) {
        for destination in self.destinations.iter().enumerate() {
            let (notices, differ) = self.lists.write(destination, (self.means.options.now)());
            for notice in notices {
                summary.status.raise(notice.status);
                monitor.notice(&notice);
            }
            if differ {
                let text = "files differ from what an earlier list of their history says";
                monitor.notice(&Notice::failure(text).at(&destination.1.path));
                summary.answer.note(Lack::Corrupt, 1);
            }
        }
    }

    /// Returns which catalogues of the source could not be used.
    pub(super) fn take_troubles(&self) -> Vec<Notice> {
        self.means.judge.take_troubles()
    }

    /// Names the files that catalogues of the source miss and that no destination has: an earlier
    /// move may have taken them there.
    pub(super) fn missing_files(&self, selection: &Selection) -> Vec<Notice> {
        missing_files(selection, self.means.options, &|root, below| {
            let relative = name_at_destination(root).join(below);
            let has = |to: &Destination| to.status_of(&relative, &mut LastDir::default()).is_ok();
            self.destinations.iter().all(has)
        })
    }

    /// Walks the source again, and returns what is lacking because a path leads elsewhere by now:
    /// the answer is about the files that the user finds there.
    ///
    /// # Errors
    /// If an option is not valid.
    pub(super) fn confirm(
        &self,
        selection: &Selection,
        roots: &[HeldPath],
        answer: &SafeAnswer,
    ) -> Result<Option<Lack>, Error> {
        if !self.is_here() {
            return Ok(Some(Lack::OtherVolume));
        }
        if !roots.iter().all(HeldPath::is_here) {
            return Ok(Some(Lack::Changed));
        }
        if !answer.is_yes() {
            return Ok(None);
        }
        let mut source = self.source.begin_again();
        let mut copies: Vec<FileSum> = self.copies.iter().map(FileSum::begin_again).collect();
        let mut dirs: Vec<LastDir> = copies.iter().map(|_| LastDir::default()).collect();
        each_file(selection, self.means.request, self.means.options, &mut |item, relative| {
            let (WalkItem::File(entry) | WalkItem::Leaves(entry)) = item else { return };
            if self.is_chain(&relative) {
                return;
            }
            let Ok(status) = entry.status() else { return };
            source.add(&relative, self.source_identity(&status));
            for ((to, sum), dir) in self.destinations.iter().zip(&mut copies).zip(&mut dirs) {
                if let Ok(copy) = to.status_of(&relative, dir) {
                    sum.add(&relative, to.copy_identity(&copy, &status));
                }
            }
        })?;
        let are_kept = self.copies.iter().zip(&copies).all(|(one, other)| one.is_same(other));
        Ok(match source.is_same(&self.source) {
            false => Some(Lack::Changed),
            true => (!are_kept || !self.is_here()).then_some(Lack::OtherVolume),
        })
    }

    fn source_identity(&self, status: &Status) -> FileIdentity {
        let device = self.sources.known(status.device);
        let identity = FileIdentity::of(SeenFile::of(status), device);
        let loses_names = self.means.request.moves && status.links > 1;
        if loses_names { identity.of_linked() } else { identity }
    }

    /// Does something with every file, in several threads.
    fn each(
        &self,
        files: Vec<BatchFile>,
        tick: &mut dyn FnMut(&Self),
        work: &(dyn Fn(&Self, &mut BatchFile) + Sync),
    ) -> Vec<BatchFile> {
        let workers =
            workers_of(self.means.options, machine::logical_cpus(), "a copy").unwrap_or(1);
        let count = workers.min(files.len());
        let files: Vec<Mutex<BatchFile>> = files.into_iter().map(Mutex::new).collect();
        let (next, ended, caller) = (AtomicUsize::new(0), AtomicUsize::new(0), thread::current());
        let work_on = || {
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                work(self, &mut file.lock().unwrap_or_else(PoisonError::into_inner));
            }
        };
        thread::scope(|scope| {
            let work_to_end = || {
                let _ending = WorkerEnd { ended: &ended, caller: &caller };
                work_on();
            };
            let begin = |_: &usize| thread::Builder::new().spawn_scoped(scope, work_to_end).is_ok();
            let threads = (0..count).filter(begin).count();
            // The system may refuse threads.
            if threads == 0 {
                work_on();
            }
            while ended.load(Ordering::Acquire) < threads {
                thread::park_timeout(PROGRESS_EVERY);
                tick(self);
            }
        });
        let owned = |it: Mutex<BatchFile>| it.into_inner().unwrap_or_else(PoisonError::into_inner);
        files.into_iter().map(owned).collect()
    }

    /// Judges a file after its copies are permanent, and makes further names of it. Returns also
    /// how it is removed, if it is to be moved.
    ///
    /// Returns nothing for a further name that cannot be made: the file goes into the next batch.
    fn settle(
        &mut self,
        mut file: BatchFile,
        kept: &[bool],
    ) -> Option<(CopiedFile, Option<Removal>)> {
        let identity = file.status.and_then(|status| identity_of(&status));
        if file.is_link {
            let Some(links) = self.link(&mut file, identity) else {
                self.push(file.entry, file.relative, file.status, false);
                return None;
            };
            file.copy.replicas = links;
        }
        let mut copy = file.copy;
        let read = copy.source.as_ref().map(|(_, _, contents)| contents.digests.clone());
        let mut replicas = copy.replicas;
        replicas.resize_with(self.destinations.len(), || {
            Replica::Failed(FileError::new("copy", "the source was not copied"))
        });
        let copies: Vec<Option<ProvedReplica>> = replicas
            .iter()
            .zip(kept)
            .map(|(it, is_kept)| it.proved().filter(|_| *is_kept).cloned())
            .collect();
        let proved: Vec<Option<Status>> =
            copies.iter().map(|it| Some(it.as_ref()?.status)).collect();
        let of = replicas.into_iter().zip(&self.destinations).zip(kept);
        let places: Vec<CopiedPlace> = of
            .map(|((it, to), is_kept)| CopiedPlace::of(it, *is_kept, to.path.join(&file.relative)))
            .collect();
        let mut tag = copy.tag;
        let digests = match identity.and_then(|it| self.linked.get_mut(&it)) {
            None => read.unwrap_or_default(),
            Some(first) => {
                let of_file = (&mut copy.lack, &mut tag);
                first.share(&file.relative, of_file, read, copies)
            }
        };
        if let Some(status) = file.status {
            let places = places.iter().map(|place| place.grade.is_some()).collect();
            self.lists.add(ListedCopy { relative: file.relative.clone(), status, digests, places });
        }
        let is_failed = places.iter().any(|place| place.grade.is_none());
        let short = self.lack_of_copies((&file.entry.path.to_path(), file.status), &places);
        let short = short.map(|lack| if is_failed { Lack::NotCopied } else { lack });
        let has_all = |place: &CopiedPlace| place.grade.is_some() && place.withheld.is_empty();
        let is_bare = !places.iter().any(has_all);
        let lack = copy.lack.or(short).or(is_bare.then_some(Lack::Belongings));
        let moves = self.means.request.moves && lack.is_none() && !is_failed;
        let is_there = moves.then(|| self.is_there(&file.relative, &proved));
        let lack = lack.or((is_there == Some(false)).then_some(Lack::OtherVolume));
        self.note_written(&file.relative, &places, &proved, tag);
        let all: Option<Vec<Status>> = proved.iter().copied().collect();
        let of_move = file.status.zip(tag).zip(all).filter(|_| is_there == Some(true));
        if let Some(status) = file.status.filter(|_| of_move.is_none()) {
            self.add_up(&file.relative, &status, &proved);
        }
        let report = CopiedFile {
            path: file.entry.path.to_path(),
            length: file.status.map_or(0, |status| status.length),
            tag: copy.tag,
            is_proved: copy.is_proved || file.is_link,
            verdict: copy.verdict,
            mended: copy.mended.map(|mended| mended.sources),
            places,
            lack,
            was_removed: false,
            trouble: copy.trouble,
        };
        let BatchFile { entry, relative, .. } = file;
        let removal =
            of_move.map(|((status, tag), copies)| Removal { entry, relative, status, tag, copies });
        Some((report, removal))
    }

    /// Returns what its copies lack for the rule that was asked for.
    fn lack_of_copies(
        &mut self,
        (path, status): (&Path, Option<Status>),
        places: &[CopiedPlace],
    ) -> Option<Lack> {
        let source = status.map(|status| self.sources.of(path, status.device));
        let proofs = self.destinations.iter().zip(places);
        let proofs: Vec<(&Device, Grade)> =
            proofs.filter_map(|(to, place)| Some((&to.device, place.grade?))).collect();
        self.means.request.rule.lack(source, &proofs)
    }

    /// Notes the copies of a file that are new, for the catalogues of their destinations.
    fn note_written(
        &mut self,
        relative: &Path,
        places: &[CopiedPlace],
        proved: &[Option<Status>],
        tag: Option<Tag>,
    ) {
        for ((written, place), proved) in self.written.iter_mut().zip(places).zip(proved) {
            let is_new = place.grade.is_some() && !place.was_there;
            if let Some(written) = written.as_mut().filter(|_| is_new) {
                written.paths.push(relative.to_owned());
                let proved = proved.zip(tag).map(|(status, tag)| ProvedFile { status, tag });
                written.proved.extend(proved);
            }
        }
    }

    /// Returns whether every copy of a file is found by the path of its destination.
    fn is_there(&self, relative: &Path, proved: &[Option<Status>]) -> bool {
        let mut of = self.destinations.iter().zip(proved);
        of.all(|(to, status)| status.is_some_and(|status| to.has(relative, &status)))
    }

    /// Adds a file that stays, and its copies, to what is confirmed at the end.
    fn add_up(&mut self, relative: &Path, status: &Status, proved: &[Option<Status>]) {
        self.source.add(relative, self.source_identity(status));
        for ((to, sum), copy) in self.destinations.iter().zip(&mut self.copies).zip(proved) {
            if let Some(copy) = copy {
                sum.add(relative, to.copy_identity(copy, status));
            }
        }
    }

    /// Makes a further name of a file at every destination, if the first one was proved at all.
    fn link(&self, file: &mut BatchFile, identity: Option<(u64, u64)>) -> Option<Vec<Replica>> {
        let first = self.linked.get(&identity?)?;
        let name = name_of(&file.relative);
        let dirs = std::mem::take(&mut file.dirs);
        let copies = first.copies.iter().cloned().collect::<Option<Vec<_>>>()?;
        let mut links = Vec::new();
        for ((dir, to), copy) in dirs.into_iter().zip(&self.destinations).zip(copies) {
            let first = (&*first.relative, &copy.status);
            let (status, was_there) = to.link(first, &*dir.ok()?, name).ok()?;
            links.push(Replica::Proved(ProvedReplica { status, was_there, rewrites: 0, ..copy }));
        }
        (links.len() == self.destinations.len()).then_some(links)
    }
}

impl CopiedPlace {
    /// Tells what became of a replica. `is_kept` says whether its destination was flushed and is
    /// still there.
    fn of(replica: Replica, is_kept: bool, path: PathBuf) -> CopiedPlace {
        let mut place = CopiedPlace {
            path,
            grade: None,
            was_there: false,
            rewrites: 0,
            withheld: Vec::new(),
            trouble: None,
        };
        match replica {
            Replica::Proved(proved) if is_kept => {
                place.grade = Some(proved.grade);
                place.was_there = proved.was_there;
                place.rewrites = proved.rewrites;
                place.withheld = proved.withheld;
            }
            Replica::Failed(trouble) => place.trouble = Some(trouble),
            _ => {
                let reason = "it could not be flushed, or its volume is gone";
                place.trouble = Some(FileError::new("keep the copy", reason));
            }
        }
        place
    }
}

/// Returns device and inode of a file that has several names.
fn identity_of(status: &Status) -> Option<(u64, u64)> {
    (status.links > 1).then_some((status.device, status.inode))
}
