//! Compares two trees: is one a faithful copy of the other?
//!
//! Two walks run side by side, and the files of both are joined path by path. The result is a
//! [`PathPair`] for each path that either side has, and a [`DiffSummary`]. Files are compared by
//! their recorded tags and what checks have found since, which reads attributes, status and
//! catalogues only, or by reading both sides. A side is
//! any source of entries in path order: a tree, or a list. Writes nothing. Specified in
//! `docs/reference/diff.md`.

mod compare;
mod known_damage;
mod links;
mod list;
mod join;
mod moves;
mod pair;
mod source;
mod tree;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use steadfast_digest::Algorithm;
use steadfast_sys::file::{FileKind, Status};

pub use pair::{DiffSummary, Difference, Doubt, FileSide, PathKind, PathPair};

use crate::advice::counted;
use crate::error::Error;
use crate::event::Notice;
use crate::monitor::{HashingMeans, Progress};
use crate::reference::Reference;
use crate::run::{Options, ReadFrom};
use crate::walk::Excludes;
use join::{Join, JoinEnd};
use list::ListSide;
use source::DiffSource;
use tree::{DiffSetup, TreeSide};

/// Which trees to compare, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trees {
    /// A, the source of the copy.
    pub here: PathBuf,
    /// B, which should be a copy of A.
    pub there: PathBuf,
    /// Whether to read both sides instead of trusting their tags.
    pub read: bool,
    /// The algorithm of files that are read; `None` for that of their tags.
    pub algorithm: Option<Algorithm>,
    /// Patterns of files to leave out on both sides, in the syntax of `.gitignore`.
    pub excludes: Vec<String>,
    /// Whether to stay on the file system of each directory.
    pub one_file_system: bool,
}

impl Trees {
    /// Compares `here`, which was copied, with `there`, the copy, by their tags.
    pub fn new(here: impl Into<PathBuf>, there: impl Into<PathBuf>) -> Trees {
        let (here, there) = (here.into(), there.into());
        Trees {
            here,
            there,
            read: false,
            algorithm: None,
            excludes: Vec::new(),
            one_file_system: false,
        }
    }
}

/// Receives the results of a comparison. Calls come one at a time, from the calling thread.
pub trait DiffMonitor {
    /// Receives one path. Calls are in path order, except for files on one side only and for moves.
    fn pair(&mut self, pair: &PathPair);

    /// Receives a notice.
    fn notice(&mut self, notice: &Notice);

    /// Receives the progress, about ten times a second.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
}

/// Compares two trees.
///
/// Ignores `options` that apply to writing or to requirements. Errors of single files are in the
/// pairs and in the exit status of the summary.
///
/// # Errors
///
/// If a side is not a directory, both are the same, an option is not valid, or the system lacks the
/// resources for the comparison.
pub fn diff(
    trees: &Trees,
    options: &Options,
    monitor: &mut dyn DiffMonitor,
) -> Result<DiffSummary, Error> {
    ensure_two_directories(trees)?;
    let excludes = Arc::new(Excludes::new(&trees.excludes)?);
    let means = DiffSetup::of(trees, options, &excludes)?;
    let there = CopySide::Tree(Box::new(TreeSide::start(&trees.there, Some(&trees.here), &means)?));
    compare_sides(trees, there, &means, &excludes, options, monitor)
}

/// Compares a tree with a list of expected files. `trees.there` is the path of the list.
///
/// # Errors
///
/// As [`diff`].
pub fn diff_list(
    trees: &Trees,
    list: Vec<(PathBuf, Reference)>,
    options: &Options,
    monitor: &mut dyn DiffMonitor,
) -> Result<DiffSummary, Error> {
    ensure_directory(&trees.here)?;
    let excludes = Arc::new(Excludes::new(&trees.excludes)?);
    let first = list.iter().find_map(|(_, reference)| reference.digests.first());
    let algorithm = trees.algorithm.or(first.map(|(algorithm, _)| *algorithm));
    let trees = &Trees { algorithm, ..trees.clone() };
    let means = DiffSetup::of(trees, options, &excludes)?;
    let itself = trees.there.canonicalize().ok().zip(trees.here.canonicalize().ok());
    let itself = itself.and_then(|(list, root)| Some(list.strip_prefix(root).ok()?.to_owned()));
    let there = CopySide::List(ListSide::new(list, itself.as_deref(), &excludes));
    compare_sides(trees, there, &means, &excludes, options, monitor)
}

/// The side that should be a copy.
enum CopySide {
    Tree(Box<TreeSide>),
    List(ListSide),
}

impl CopySide {
    fn source(&mut self) -> &mut dyn DiffSource {
        match self {
            CopySide::Tree(tree) => &mut **tree,
            CopySide::List(list) => list,
        }
    }

    fn tree(&self) -> Option<&TreeSide> {
        match self {
            CopySide::Tree(tree) => Some(tree),
            CopySide::List(_) => None,
        }
    }
}

fn compare_sides(
    trees: &Trees,
    mut there: CopySide,
    means: &DiffSetup,
    excludes: &Arc<Excludes>,
    options: &Options,
    monitor: &mut dyn DiffMonitor,
) -> Result<DiffSummary, Error> {
    let start = Instant::now();
    let other = there.tree().map(|_| trees.there.as_path());
    let mut here = TreeSide::start(&trees.here, other, means)?;
    let summary = DiffSummary {
        read: trees.read,
        algorithm: trees.read.then_some(means.algorithm()),
        means: HashingMeans {
            workers: means.workers(),
            backend: String::new(),
            engine: means.engine_name(),
        },
        ..DiffSummary::default()
    };
    let mut reporter =
        PairReporter { summary, monitor, stop: &options.controls.stop, start, told: start };
    let mut join = Join::new(&mut here, there.source());
    let ended = join.run(&mut reporter)?;
    let mut notices = join.finish(&mut reporter);
    let whole = ended == JoinEnd::Whole;
    let there_skipped = there.tree().map(TreeSide::skipped).unwrap_or_default();
    let skipped = [here.skipped(), there_skipped];
    if whole
        && there.tree().is_some()
        && skipped.iter().any(|skipped| skipped.symlinks + skipped.special > 0)
    {
        links::compare(trees, excludes, &mut reporter);
    }
    for tree in std::iter::once(&here).chain(there.tree()) {
        notices.extend(tree.notices(whole));
    }
    if whole && there.tree().is_none() && reporter.summary.files_there == 0 {
        notices.push(Notice::failure("the list names no file").at(&trees.there));
    }
    notices.extend(notice_of_origin(options, &reporter.summary));
    notices.extend(means.notice());
    for at in 0..notices.len() {
        notices[at].status = notices[at].status.only_if(!options.allow_empty);
        if !notices[..at].contains(&notices[at]) {
            reporter.monitor.notice(&notices[at]);
            reporter.summary.raise_status(notices[at].status);
        }
    }
    let PairReporter { mut summary, .. } = reporter;
    [summary.skipped_here, summary.skipped_there] = skipped;
    summary.bytes = here.bytes() + there.source().bytes();
    summary.means.backend = means.backend();
    summary.interrupted = !whole || options.controls.stop.load(Ordering::Relaxed);
    summary.elapsed_ns = start.elapsed().as_nanos() as u64;
    Ok(summary)
}

/// Passes pairs to the monitor and the summary, and reports progress.
struct PairReporter<'a> {
    summary: DiffSummary,
    monitor: &'a mut dyn DiffMonitor,
    stop: &'a AtomicBool,
    start: Instant,
    /// Time of the last progress report.
    told: Instant,
}

/// Interval of progress reports.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

impl PairReporter<'_> {
    fn report(&mut self, pair: &PathPair) {
        self.summary.count(pair);
        self.monitor.pair(pair);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Reports progress if it is time. `bytes` returns how many were read.
    fn progress(&mut self, bytes: impl FnOnce() -> u64) {
        if self.told.elapsed() < PROGRESS_EVERY {
            return;
        }
        self.told = Instant::now();
        let summary = &self.summary;
        self.monitor.progress(&Progress {
            files: summary.files_here.max(summary.files_there),
            bytes: bytes(),
            elapsed_ns: self.start.elapsed().as_nanos() as u64,
            ..Progress::default()
        });
    }
}

/// Refuses a path that is not a directory; returns its device and inode.
fn ensure_directory(path: &Path) -> Result<(u64, u64), Error> {
    match Status::of(path) {
        Ok(status) if status.kind == FileKind::Directory => Ok((status.device, status.inode)),
        Ok(_) => Err(Error::usage("not a directory").at(path)),
        Err(error) => Err(Error::system("open", error).at(path)),
    }
}

/// Refuses comparisons whose result would be wrong: a missing side, or a tree compared with itself.
fn ensure_two_directories(trees: &Trees) -> Result<(), Error> {
    if ensure_directory(&trees.here)? == ensure_directory(&trees.there)? {
        let error = "it is the same folder as the other one";
        return Err(Error::usage(error).at(&trees.there));
    }
    Ok(())
}

/// Returns a notice if reads from the medium were requested and came from the page cache.
fn notice_of_origin(options: &Options, summary: &DiffSummary) -> Option<Notice> {
    let files = summary.files_from_cache;
    (options.reading.from == ReadFrom::Media && files > 0).then(|| {
        Notice::new(format!(
            "the contents of {} cannot be said to come from the medium: the file \
             system reads them through the page cache, or does not tell",
            counted(files, "file", "files")
        ))
    })
}

/// Makes the error for a comparison whose threads lost results. It must never look complete.
fn defect() -> Error {
    let reason = "a thread failed, or a file was lost on the way: this is a defect";
    Error::system("finish the comparison", io::Error::other(reason))
}
