//! A tree as one side of a comparison: the pipeline of a run, with a task that reads tags and
//! files.
//!
//! Takes a directory and the means that both sides share; returns its files in walk order, which is
//! path order. Writes nothing.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{thread, vec};

use steadfast_digest::Algorithm;
use steadfast_sys::file::{File, FileKind, Status, Timestamp};
use steadfast_sys::machine;

use super::known_damage::KnownDamage;
use super::pair::FileSide;
use super::source::{DiffSource, EntryContent, NextEntry, SideEntry};
use super::{Trees, defect};
use crate::beneath;
use crate::calibration::LaneChoice;
use crate::error::Error;
use crate::event::{FileError, FileEvent, Notice, Resized, Skipped, Subject};
use crate::evidence::{LastProof, evidence_of};
use crate::pipeline::{Algorithms, Contents, Pipeline, Plan, Settings, Task};
use crate::read::Engine;
use crate::run::{
    Options, engine_of, lanes_of, no_file, prepare_open_files, queue_depth_of, workers_of,
};
use crate::selection::Selection;
use crate::store::{StoredTag, has_tag, tag_at};
use crate::verdict::{ChangeEvidence, Judgement, Reading, Stored};
use crate::walk::{Excludes, WalkItem, walk};
use steadfast_manifest::tag::Tag;

/// The most entries by which one side may be ahead of the other: a quarter of that of a run,
/// because an entry may take a kilobyte and there are two sides.
const WINDOW: u64 = 4_096;

/// Tags that are read to determine the algorithm of the trees.
const TAGS_LOOKED_AT: usize = 256;

/// What both sides share. Determined before the first file is opened.
pub(super) struct DiffSetup {
    selection: Selection,
    excludes: Arc<Excludes>,
    engine: Arc<dyn Engine>,
    lanes: LaneChoice,
    settings: Settings,
    queue_depth: Option<usize>,
    algorithm: Algorithm,
    /// Whether the user chose the algorithm, so that no other is computed.
    forced: bool,
    read: bool,
    options: Options,
}

impl DiffSetup {
    /// Determines them.
    ///
    /// # Errors
    ///
    /// If an option is not valid.
    pub(super) fn of(
        trees: &Trees,
        options: &Options,
        excludes: &Arc<Excludes>,
    ) -> Result<DiffSetup, Error> {
        let processors = machine::logical_cpus();
        let workers = workers_of(options, processors, "a comparison")?;
        let lanes = lanes_of(options)?;
        let (of_side, open_files) = (workers.div_ceil(2), prepare_open_files() / 2);
        let settings = Settings::new(processors, of_side, lanes.now(), open_files, options.qos);
        let selection =
            Selection { one_file_system: trees.one_file_system, ..Selection::default() };
        let algorithm = trees.algorithm.or_else(|| {
            let selection = Selection { roots: vec![trees.here.clone()], ..selection.clone() };
            trees
                .read
                .then(|| algorithm_of_tags(&selection, excludes, &options.controls.stop))
                .flatten()
        });
        Ok(DiffSetup {
            selection,
            excludes: Arc::clone(excludes),
            // One engine for both sides, so a rate limit applies to both together.
            engine: engine_of(options),
            lanes,
            settings: Settings { window: WINDOW, ..settings },
            queue_depth: options.reading.queue_depth,
            algorithm: algorithm.unwrap_or(Algorithm::Sha256),
            forced: trees.algorithm.is_some(),
            read: trees.read,
            options: options.clone(),
        })
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the number of workers of both sides.
    pub(super) fn workers(&self) -> usize {
        2 * self.settings.workers
    }

    pub(super) fn backend(&self) -> String {
        self.lanes.to_string()
    }

    pub(super) fn engine_name(&self) -> &'static str {
        self.engine.name()
    }

    /// Returns a notice about reading, if there is one.
    pub(super) fn notice(&self) -> Option<Notice> {
        self.engine.notice().map(Notice::new)
    }
}

/// Returns the algorithm of the first tag in a tree. With that algorithm, one digest serves to
/// compare both sides and to check their tags.
fn algorithm_of_tags(
    selection: &Selection,
    excludes: &Excludes,
    stop: &AtomicBool,
) -> Option<Algorithm> {
    let (mut algorithm, mut looked_at) = (None, 0);
    walk(selection, excludes, has_tag, stop, &mut |found| {
        if let WalkItem::File(entry) = found {
            looked_at += 1;
            let path = entry.path.to_path();
            if let Ok(StoredTag::Whole(tag)) = entry.open().and_then(|file| tag_at(&file, &path)) {
                algorithm = Some(tag.algorithm);
            }
        }
        match algorithm.is_some() || looked_at >= TAGS_LOOKED_AT {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    algorithm
}

/// A tree during its walk, and its finished files.
pub(super) struct TreeSide {
    root: PathBuf,
    /// The prefix of the walk's paths.
    prefix: PathBuf,
    pipeline: Pipeline,
    walked: Arc<Mutex<Skipped>>,
    task: Arc<DiffTask>,
    ready: vec::IntoIter<Box<FileEvent>>,
    files: u64,
    /// What is known of files that are not read.
    known: KnownDamage,
}

impl TreeSide {
    /// Starts the walk of a directory and the threads for its files. `other` is the other
    /// directory, unless that side is a list.
    ///
    /// # Errors
    ///
    /// If the system cannot start threads.
    pub(super) fn start(
        root: &Path,
        other: Option<&Path>,
        means: &DiffSetup,
    ) -> Result<TreeSide, Error> {
        let second = means.read && !means.forced;
        let prefix = if root == Path::new(".") { PathBuf::new() } else { root.to_owned() };
        let task = Arc::new(DiffTask {
            algorithm: means.read.then_some(means.algorithm),
            second,
            no_place: AtomicBool::new(false),
            ignore_change_times: means.options.ignore_change_times,
            prefix: prefix.clone(),
            other: other.and_then(|other| OtherSide::of(other, &means.selection)),
        });
        let queue_depth = queue_depth_of(means.queue_depth, [root])?;
        let settings = means.settings.with_queue_depth(queue_depth);
        let engine = Arc::clone(&means.engine);
        let look = Arc::clone(&task) as Arc<dyn Task>;
        let pipeline = Pipeline::start(look, engine, means.lanes, settings, None)?;
        let selection = Selection { roots: vec![root.to_owned()], ..means.selection.clone() };
        let walked = spawn_walk(&pipeline, selection, &means.excludes)?;
        let known = match means.read {
            true => KnownDamage::default(),
            false => KnownDamage::of(root, &means.options),
        };
        let (root, ready) = (root.to_owned(), Vec::new().into_iter());
        Ok(TreeSide { root, prefix, pipeline, walked, task, ready, files: 0, known })
    }

    /// Returns the entries that the walk skipped, once it has ended.
    pub(super) fn skipped(&self) -> Skipped {
        *self.walked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns notices about this side.
    pub(super) fn notices(&self, whole: bool) -> Vec<Notice> {
        let mut notices = self.pipeline.notices();
        let mut note = |text: &str| {
            notices.push(Notice::new(text).at(&self.root));
        };
        if self.task.no_place.load(Ordering::Relaxed) {
            note("its file system keeps no extended attributes, so its files have no tags");
        }
        if whole && self.files == 0 {
            notices.push(no_file().at(&self.root));
        }
        notices.extend(self.known.notice());
        notices
    }

    fn entry(&mut self, event: FileEvent) -> SideEntry {
        let path = beneath(&self.prefix, &event.path.to_path());
        self.files += u64::from(event.subject == Subject::File);
        let found = match (event.subject, event.trouble) {
            (Subject::Directory, Some(trouble)) => EntryContent::Hidden(trouble),
            (_, trouble) => {
                let mut side = Box::new(FileSide::of(FileEvent { trouble, ..event }));
                self.known.say(&path, &mut side);
                EntryContent::File(side)
            }
        };
        SideEntry { path, found }
    }
}

impl DiffSource for TreeSide {
    fn take(&mut self, patience: Duration) -> Result<NextEntry, Error> {
        let mut patience = Some(patience);
        loop {
            if let Some(event) = self.ready.next() {
                return Ok(NextEntry::Entry(self.entry(*event)));
            }
            // Asked before taking an entry: after the threads have ended, no more entries appear.
            let over = self.pipeline.is_over();
            let wait = match patience.take() {
                Some(_) if over => Duration::ZERO,
                Some(patience) => patience,
                None => return Ok(NextEntry::Pending),
            };
            self.ready = self.pipeline.finished(wait).into_iter();
            if over && self.ready.len() == 0 {
                let whole = !self.pipeline.has_failed() && self.pipeline.finished_every_entry();
                return if whole { Ok(NextEntry::End) } else { Err(defect()) };
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.pipeline.bytes().0
    }
}

/// Returns the path of a file beneath the directory. `prefix` is the prefix of the walk's paths.
fn beneath(prefix: &Path, path: &Path) -> PathBuf {
    match path.strip_prefix(prefix) {
        Ok(beneath) if beneath != Path::new(".") => beneath.to_owned(),
        _ => PathBuf::new(),
    }
}

/// The other directory, for the length of a file's counterpart.
struct OtherSide {
    root: PathBuf,
    /// The only device of its walk, if the walk is limited to one.
    device: Option<u64>,
}

impl OtherSide {
    fn of(root: &Path, selection: &Selection) -> Option<OtherSide> {
        let device = match selection.one_file_system {
            true => Some(Status::of(root).ok()?.device),
            false => None,
        };
        Some(OtherSide { root: root.to_owned(), device })
    }

    /// Returns whether the counterpart of a file has another length, so that the two certainly
    /// differ.
    fn has_other_length(&self, path: &Path, length: u64) -> bool {
        let there = beneath::presence(&self.root, path).of_kind(FileKind::Regular);
        there.status().is_some_and(|status| {
            status.length != length && self.device.is_none_or(|device| device == status.device)
        })
    }
}

/// Starts the thread of the walk, which stores the skipped entries at its end.
fn spawn_walk(
    pipeline: &Pipeline,
    selection: Selection,
    excludes: &Arc<Excludes>,
) -> Result<Arc<Mutex<Skipped>>, Error> {
    let mut feeder = pipeline.feeder();
    let walked = Arc::new(Mutex::new(Skipped::default()));
    let (result, excludes, stop) = (Arc::clone(&walked), Arc::clone(excludes), feeder.stop_flag());
    thread::Builder::new()
        .name("walk".to_owned())
        .spawn(move || {
            feeder.begin();
            let (skipped, _) = walk(&selection, &excludes, has_tag, &stop, &mut |found| {
                if feeder.feed(found) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            *result.lock().unwrap_or_else(PoisonError::into_inner) = skipped;
            feeder.end();
        })
        .map_err(|error| Error::system("start a thread", error))?;
    Ok(walked)
}

/// Reads a file's tag, and the file if required.
struct DiffTask {
    /// The algorithm of the comparison; `None` if tags are trusted.
    algorithm: Option<Algorithm>,
    /// Whether to compute the algorithm of the file's own tag too, to check the file.
    second: bool,
    /// Whether a file cannot have a tag.
    no_place: AtomicBool,
    ignore_change_times: bool,
    /// The prefix of the walk's paths.
    prefix: PathBuf,
    other: Option<OtherSide>,
}

impl DiffTask {
    /// Judges a file without reading it if its counterpart has another length. Returns whether it
    /// did.
    fn judge_by_length(&self, file: &File, event: &mut FileEvent) -> bool {
        let (Some(other), Some(status)) = (&self.other, event.visit.status) else { return false };
        let path = beneath(&self.prefix, &event.path.to_path());
        if !other.has_other_length(&path, status.length) {
            return false;
        }
        let Status { length, mtime, .. } = status;
        event.reading.resized = Some(Resized { length, mtime });
        if let Some(stored) = event.stored.filter(|stored| stored.length != length) {
            let reading = Reading::Resized { length, mtime };
            let evidence = || self.evidence(file, event);
            let judged = Judgement::of(Stored::Tag(&stored), reading, evidence);
            event.judged(judged);
        }
        true
    }

    /// Returns what the change time of a file says about the time since it was tagged.
    fn evidence(&self, file: &File, event: &FileEvent) -> ChangeEvidence {
        let Some(status) = event.visit.status else { return ChangeEvidence::NotKnown };
        let proof = event.stored.map(|stored| LastProof::Tagged(stored.tagged));
        evidence_of(file, &status, proof, self.ignore_change_times)
    }

    fn algorithms(&self, event: &FileEvent) -> Option<Algorithms> {
        let own = event.stored.filter(|_| self.second).map(|tag| tag.algorithm);
        self.algorithm.map(|first| Algorithms::two(first, own.unwrap_or(first)))
    }
}

impl Task for DiffTask {
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan {
        match tag_at(file, &event.path.to_path()) {
            Ok(StoredTag::Whole(tag)) => event.stored = Some(tag),
            Ok(StoredTag::Absent) => {}
            Ok(StoredTag::Impossible) => self.no_place.store(true, Ordering::Relaxed),
            Ok(StoredTag::Damaged(error)) => {
                event.trouble = Some(FileError::new("read the tag", error));
            }
            Err(error) => event.trouble = Some(FileError::from_io("read the tag", &error)),
        }
        match self.algorithms(event) {
            Some(_) if self.judge_by_length(file, event) => Plan::Done,
            Some(algorithms) => Plan::Hash { algorithms, settled: false },
            None => Plan::Done,
        }
    }

    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let Contents { digests, length, mtime } = contents;
        let Some(Algorithms { first, second }) = self.algorithms(event) else { return };
        let tagged = Timestamp::default();
        let actual = Tag { algorithm: first, digest: digests.first, length, mtime, tagged };
        event.actual = Some(actual);
        let by_second = second.zip(digests.second);
        let by_own =
            by_second.map_or(actual, |(algorithm, digest)| Tag { algorithm, digest, ..actual });
        if let Some(stored) = &event.stored
            && stored.algorithm == by_own.algorithm
        {
            let evidence = || self.evidence(file, event);
            let judged = Judgement::of(Stored::Tag(stored), Reading::Whole(&by_own), evidence);
            event.judged(judged);
        }
    }
}
