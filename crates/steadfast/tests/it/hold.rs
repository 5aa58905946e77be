//! A run that is held: nothing is begun meanwhile, and nothing is lost by it.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast::store::xattr::Xattr;
use steadfast::unguarded::run_with;
use steadfast::{Event, Monitor, Options, Progress, Selection, Verb};
use steadfast_sys::file::{File, Status};

use crate::tree::{Tree, run_on};

/// Files of the tree: more than are batched together.
const FILES: usize = 3000;

/// Holds the run at its first read, and counts reads.
struct Holding {
    hold: Arc<AtomicBool>,
    reads: Arc<AtomicU64>,
}

impl Engine for Holding {
    fn name(&self) -> &'static str {
        "holding"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.reads.fetch_add(1, Ordering::Relaxed) == 0 {
            self.hold.store(true, Ordering::Relaxed);
        }
        Buffered.read_at(file, buffer, offset)
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

/// Looks at a run that is held, and after some looks lets it go on or stops it.
struct Watching {
    options: Options,
    reads: Arc<AtomicU64>,
    /// Reads that were counted at each look, and the time that was told.
    looks: Vec<(u64, u64)>,
    stops: bool,
    files: usize,
    notices: Vec<String>,
}

impl Monitor for Watching {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match event {
            Event::File(_) => self.files += 1,
            Event::Notice(notice) => self.notices.push(notice.to_string()),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn progress(&mut self, progress: &Progress) {
        if self.options.controls.hold.load(Ordering::Relaxed) {
            self.looks.push((self.reads.load(Ordering::Relaxed), progress.elapsed_ns));
        }
        if self.looks.len() == 6 {
            match self.stops {
                true => self.options.controls.stop.store(true, Ordering::Relaxed),
                false => self.options.controls.hold.store(false, Ordering::Relaxed),
            }
        }
    }
}

fn held(stops: bool) -> (Watching, steadfast::Summary) {
    let tree = Tree::new();
    for number in 0..FILES {
        tree.write(format!("{}/{number}", number % 7), format!("contents {number}"));
    }
    let (reads, hold) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
    let options = crate::tree::usual().with(|options| {
        options.reading.workers = Some(2);
        options.controls.hold = Arc::clone(&hold);
    });
    let engine = Arc::new(Holding { hold, reads: Arc::clone(&reads) });
    let mut watching = Watching {
        options: options.clone(),
        reads,
        looks: Vec::new(),
        stops,
        files: 0,
        notices: Vec::new(),
    };
    let (selection, store) = (tree.selection(), Arc::new(Xattr));
    let summary = run_with(Verb::tag(), &selection, &options, engine, store, &mut watching);
    (watching, summary.unwrap())
}

#[test]
fn nothing_is_begun_while_a_run_is_held_and_nothing_is_lost() {
    let (watched, summary) = held(false);
    // The first looks may still see jobs end that were under way.
    let (reads, elapsed_ns) = watched.looks[3];
    assert_eq!(watched.looks[4].0, reads, "{:?}", watched.looks);
    assert_eq!(watched.looks[5].0, reads, "{:?}", watched.looks);
    assert!(reads < FILES as u64, "all was read before the run was held");
    assert_eq!(watched.looks[5].1, elapsed_ns, "{:?}", watched.looks);
    assert!(elapsed_ns > 0, "{:?}", watched.looks);
    assert_eq!((watched.files, summary.files), (FILES, FILES as u64));
    assert!(!summary.interrupted);
    assert!(watched.notices.iter().any(|text| text.starts_with("the run was held for")));
}

#[test]
fn what_is_held_can_be_stopped() {
    let (watched, summary) = held(true);
    assert!(summary.interrupted);
    assert!(watched.files < FILES);
}

#[test]
fn what_lies_within_is_reached_by_names_alone() {
    let (tree, outside) = (Tree::new(), Tree::new());
    tree.write("a/b/file", "inside");
    outside.write("b/file", "outside");
    std::os::unix::fs::symlink(outside.path(), tree.at("link")).unwrap();
    let hash = |path: &str| {
        let selection = Selection::default().with(|selection| {
            selection.listed = vec![tree.at(path)];
            selection.within = vec![tree.path().to_owned()];
        });
        run_on(Verb::hash(), &selection, &crate::tree::usual())
    };
    for inside in ["a", "a/b", "a/b/file"] {
        assert_eq!(hash(inside).of("file").reading.bytes, 6, "{inside}");
    }
    for out in ["link/b", "link/b/file", "a/../link/b"] {
        let said = hash(out);
        assert_eq!((said.files.len(), said.status(), said.summary.bytes), (1, 2, 0), "{out}");
    }
    assert_eq!(hash("link").summary.skipped.symlinks, 1);
}
