//! One builder for all tests: a tagged tree, a job of it, and what came of it.

use std::fs::{self, File, FileTimes};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use steadfast::{CatalogueUse, Event, FileEvent, Monitor, Options, Selection, Summary, Verb};
use steadfast_fleet::{
    Error, Job, JobSource, MergeOptions, MergedJob, PlanOptions, PlannedJob, ShardRun, ShardWorker,
    Size, TreeSource, merge, plan, run,
};
use tempfile::TempDir;

/// Returns options for files that a test damages: decay that is played from above the file system
/// moves the change time.
pub(crate) fn usual() -> Options {
    Options::default().with(|options| options.ignore_change_times = true)
}

/// Keeps what it hears.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) files: Vec<FileEvent>,
    pub(crate) notices: Vec<String>,
}

impl Monitor for Heard {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(event) => self.files.push((**event).clone()),
            Event::Notice(notice) => self.notices.push(notice.to_string()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// A folder on a file system that keeps extended attributes, with a tree in it.
pub(crate) struct Folder {
    dir: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir(dir.path().join("tree")).unwrap();
        Folder { dir }
    }

    /// A tree with so many files, all tagged.
    pub(crate) fn tagged(files: u32) -> Folder {
        let folder = Folder::new();
        for number in 0..files {
            let contents = vec![number as u8; 10 + number as usize * 7 % 500];
            folder.file(format!("d{}/f{number}", number % 5), &contents);
        }
        folder.tag();
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.path("tree")
    }

    /// Adds a file to the tree, modified a day ago so that any edit moves its time.
    pub(crate) fn file(&self, name: impl AsRef<Path>, contents: &[u8]) {
        let path = self.tree().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        set_modified(&path, SystemTime::now() - Duration::from_secs(86_400));
    }

    pub(crate) fn tag(&self) {
        assert_eq!(self.run(Verb::tag()).0.exit_status().code(), 0);
    }

    /// Has the library do a verb on the tree.
    pub(crate) fn run(&self, verb: Verb) -> (Summary, Vec<FileEvent>) {
        let selection = Selection::of([self.tree()]);
        let options = usual().with(|options| options.catalogue.choice = CatalogueUse::Off);
        let mut heard = Heard::default();
        let summary = steadfast::unguarded::run(verb, &selection, &options, &mut heard).unwrap();
        (summary, heard.files)
    }

    /// Flips a bit and puts the modification time back.
    pub(crate) fn corrupt(&self, name: &str) {
        let path = self.tree().join(name);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let mut contents = fs::read(&path).unwrap();
        contents[0] ^= 1;
        fs::write(&path, contents).unwrap();
        set_modified(&path, modified);
    }

    /// Plans the tree.
    pub(crate) fn plan(&self, name: &str, shards: u64) -> Job {
        let selection = Selection::of([self.tree()]);
        let mut tree = TreeSource::new(&selection, &usual()).unwrap();
        self.plan_of(name, &mut tree, Size::Shards(shards)).unwrap().job
    }

    pub(crate) fn plan_of(
        &self,
        name: &str,
        source: &mut dyn JobSource,
        size: Size,
    ) -> Result<PlannedJob, Error> {
        let options = PlanOptions { size, ..PlanOptions::new((Options::default().now)()) };
        plan(source, &self.path(name), &options, &AtomicBool::new(false), &mut |_| {})
    }

    /// Merges a job.
    pub(crate) fn merge(&self, job: &Job, partial: bool) -> Result<(MergedJob, Heard), Error> {
        let options = MergeOptions {
            partial,
            require_tags: false,
            allow_empty: false,
            catalogue: true,
            now: Options::default().now,
            stop: Arc::default(),
        };
        let mut heard = Heard::default();
        let merged = merge(job, &self.path("result.jsonl"), &options, &mut heard)?;
        Ok((merged, heard))
    }

    /// Runs every shard, merges and returns the bytes of the result.
    pub(crate) fn result(&self, job: &Job) -> Vec<u8> {
        for shard in 0..job.header().shards {
            run_shard(job, shard).unwrap();
        }
        self.merge(job, false).unwrap();
        fs::read(self.path("result.jsonl")).unwrap()
    }
}

pub(crate) fn run_shard(job: &Job, shard: u64) -> Result<ShardRun, Error> {
    run_with(job, shard, &usual())
}

pub(crate) fn run_with(job: &Job, shard: u64, options: &Options) -> Result<ShardRun, Error> {
    run(job, shard, &worker(), options, &mut Heard::default())
}

pub(crate) fn worker() -> ShardWorker {
    ShardWorker { host: "here".to_owned(), root: None, accept_missing: false }
}

/// The names in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> =
        entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn set_modified(path: &Path, modified: SystemTime) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(modified)).unwrap();
}
