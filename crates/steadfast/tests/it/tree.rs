//! The builder that all tests share: a folder of files, runs over it, and what they said.

use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast::parity::ParityOptions;
use steadfast::read::Engine;
use steadfast::read::buffered::Buffered;
use steadfast::run::PagesOptions;
use steadfast::store::Store;
use steadfast::store::xattr::Xattr;
use steadfast::unguarded::{run, run_with};
use steadfast::{
    Action, Algorithm, Event, FileEvent, Monitor, Notice, Options, RetagOptions, Selection, Summary,
};
use steadfast::{Verb, Verdict};
use tempfile::TempDir;

/// A temporary folder on a file system with extended attributes.
pub(crate) struct Tree {
    folder: TempDir,
}

/// What a run said.
pub(crate) struct Said {
    pub(crate) files: Vec<FileEvent>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) summary: Summary,
}

#[derive(Default)]
struct Listener {
    files: Vec<FileEvent>,
    notices: Vec<Notice>,
}

impl Monitor for Listener {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(file) => self.files.push((**file).clone()),
            Event::Notice(notice) => self.notices.push(notice.clone()),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Returns options for files that a test damages: writing bytes as decay would moves the change
/// time, which decay does not.
pub(crate) fn usual() -> Options {
    Options::default().with(|options| options.ignore_change_times = true)
}

/// As [`usual`], for parity.
pub(crate) fn usual_parity() -> ParityOptions {
    let mut options = ParityOptions::default();
    options.run = usual();
    options
}

/// As [`usual`], for the pages of a file.
pub(crate) fn usual_pages() -> PagesOptions {
    let mut options = PagesOptions::default();
    options.ignore_change_times = true;
    options
}

impl Tree {
    pub(crate) fn new() -> Tree {
        // Beside the build, where attributes work; the system's own folder may be in memory.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Tree { folder }
    }

    /// A folder in memory if attributes work there: nothing waits for a disk.
    pub(crate) fn in_memory() -> Tree {
        let has_attributes = |folder: &TempDir| {
            let file = fs::write(folder.path().join("try"), "")
                .and_then(|()| steadfast_sys::file::File::open(&folder.path().join("try")));
            let has = file.and_then(|file| steadfast_sys::xattr::set(&file, "user.try", b"1"));
            fs::remove_file(folder.path().join("try")).and(has).is_ok()
        };
        let folder = tempfile::tempdir_in("/dev/shm").ok().filter(has_attributes);
        folder.map_or_else(Tree::new, |folder| Tree { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn at(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path().join(name.as_ref())
    }

    /// Writes a file, making its folders.
    pub(crate) fn write(&self, name: impl AsRef<OsStr>, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    /// Changes contents and puts the modification time back: what decay looks like.
    pub(crate) fn corrupt(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.at(name);
        let mtime = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, contents).unwrap();
        set_mtime(&path, mtime);
    }

    /// Changes contents and time: an edit.
    pub(crate) fn edit(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.at(name);
        let mtime = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, contents).unwrap();
        set_mtime(&path, mtime + std::time::Duration::from_secs(60));
    }

    /// Changes the time alone.
    pub(crate) fn touch(&self, name: &str) {
        let path = self.at(name);
        let mtime = fs::metadata(&path).unwrap().modified().unwrap();
        set_mtime(&path, mtime + std::time::Duration::from_secs(3600));
    }

    pub(crate) fn selection(&self) -> Selection {
        Selection::of([self.path().to_owned()])
    }

    pub(crate) fn run(&self, verb: Verb) -> Said {
        self.run_as(verb, &usual())
    }

    pub(crate) fn run_as(&self, verb: Verb, options: &Options) -> Said {
        run_on(verb, &self.selection(), options)
    }

    /// Runs with an engine that watches.
    pub(crate) fn run_by(&self, verb: Verb, options: &Options, engine: Arc<dyn Engine>) -> Said {
        let (selection, mut listener) = (self.selection(), Listener::default());
        let store = Arc::new(Xattr);
        let summary = run_with(verb, &selection, options, engine, store, &mut listener).unwrap();
        Said { files: listener.files, notices: listener.notices, summary }
    }

    /// Runs with an engine or a store that misbehaves.
    pub(crate) fn run_through(
        &self,
        verb: Verb,
        engine: Option<Arc<dyn Engine>>,
        store: Option<Arc<dyn Store>>,
    ) -> Said {
        let mut listener = Listener::default();
        let engine = engine.unwrap_or_else(|| Arc::new(Buffered));
        let store = store.unwrap_or_else(|| Arc::new(Xattr));
        // A process that another test just started may still hold the lock of a catalogue.
        let options = usual().with(|options| {
            options.reading.workers = Some(2);
            options.catalogue.wait = true;
        });
        let selection = self.selection();
        let summary = run_with(verb, &selection, &options, engine, store, &mut listener).unwrap();
        Said { files: listener.files, notices: listener.notices, summary }
    }
}

/// Runs a verb on any selection.
pub(crate) fn run_on(verb: Verb, selection: &Selection, options: &Options) -> Said {
    let mut listener = Listener::default();
    let summary = run(verb, selection, options, &mut listener).unwrap();
    Said { files: listener.files, notices: listener.notices, summary }
}

impl Said {
    /// Returns the event of the file with this name.
    pub(crate) fn of(&self, name: &str) -> &FileEvent {
        let found = self.files.iter().find(|event| event.path.to_path().ends_with(name));
        found.unwrap_or_else(|| panic!("nothing was said of {name}"))
    }

    pub(crate) fn verdict(&self, name: &str) -> Option<Verdict> {
        self.of(name).verdict
    }

    pub(crate) fn action(&self, name: &str) -> Option<Action> {
        self.of(name).action
    }

    pub(crate) fn status(&self) -> u8 {
        self.summary.exit_status().code()
    }

    /// Returns the paths in the order in which they were said, relative to `root`.
    pub(crate) fn order(&self, root: &Path) -> Vec<Vec<u8>> {
        let relative = |event: &FileEvent| {
            let path = event.path.to_path();
            path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec()
        };
        self.files.iter().map(relative).collect()
    }
}

pub(crate) fn set_mtime(path: &Path, mtime: std::time::SystemTime) {
    fs::File::options().write(true).open(path).unwrap().set_modified(mtime).unwrap();
}

/// Returns `retag`, which also accepts what looks corrupt if that is asked for.
pub(crate) const fn retag(accept: bool) -> Verb {
    Verb::Retag(RetagOptions { algorithm: None, accept, accept_many: false })
}

/// Returns `retag` to another algorithm.
pub(crate) const fn retag_to(algorithm: Algorithm) -> Verb {
    Verb::Retag(RetagOptions { algorithm: Some(algorithm), accept: false, accept_many: false })
}
