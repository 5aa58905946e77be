//! What a monitor hears of a run before its turn, and what changes a run while it goes on.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use steadfast::qos::Trial;
use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast::store::xattr::Xattr;
use steadfast::unguarded::run_with;
use steadfast::{Event, FileEvent, Level, Monitor, Options, Progress, Verb, Verdict};
use steadfast_sys::file::{File, Status};
use steadfast_sys::qos::{Fact, thread_facts};

use crate::tree::Tree;

/// A door that opens once.
#[derive(Default)]
struct Door(Mutex<bool>, Condvar);

impl Door {
    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }

    /// Waits until it is open.
    fn pass(&self) {
        let shut = self.0.lock().unwrap();
        drop(self.1.wait_while(shut, |open| !*open).unwrap());
    }
}

/// Holds the first read of the rest of a large file until the door is open. Other threads may read
/// on, so at least one is there for the other files.
struct SlowRest {
    door: Arc<Door>,
    holds: AtomicBool,
}

impl Engine for SlowRest {
    fn name(&self) -> &'static str {
        "slow rest"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset > 0 && !buffer.is_empty() && !self.holds.swap(true, Ordering::Relaxed) {
            self.door.pass();
        }
        Buffered.read_at(file, buffer, offset)
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

/// Opens the door when a failure is told early.
struct Early {
    door: Arc<Door>,
    early: Vec<(String, Option<Verdict>)>,
    /// The names of the events, with how many failures were told before each.
    files: Vec<(String, usize)>,
}

impl Monitor for Early {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::File(event) = event {
            self.files.push((name_of(event), self.early.len()));
        }
        ControlFlow::Continue(())
    }

    fn found_early(&mut self, event: &FileEvent) {
        self.early.push((name_of(event), event.verdict));
        self.door.open();
    }
}

fn name_of(event: &FileEvent) -> String {
    let path = event.path.to_path();
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_failure_is_told_while_a_large_file_before_it_is_read() {
    let tree = Tree::new();
    tree.write("a", vec![1; 700_000]);
    for small in ["b", "c", "d"] {
        tree.write(small, small);
    }
    assert_eq!(tree.run(Verb::tag()).status(), 0);
    tree.corrupt("c", "C");
    let door = Arc::<Door>::default();
    let mut early = Early { door: Arc::clone(&door), early: Vec::new(), files: Vec::new() };
    let (options, selection) =
        (crate::tree::usual().with(|options| options.reading.workers = Some(2)), tree.selection());
    let engine = Arc::new(SlowRest { door, holds: AtomicBool::new(false) });
    let store = Arc::new(Xattr);
    let summary = run_with(Verb::check(), &selection, &options, engine, store, &mut early).unwrap();
    assert_eq!(early.early, [("c".to_owned(), Some(Verdict::Corrupt))]);
    let ordered = ["a", "b", "c", "d"].map(|name| (name.to_owned(), 1));
    assert_eq!(early.files, ordered, "the events come in walk order, after it was told");
    assert_eq!(summary.exit_status().code(), 3);
}

/// Files of the tree: more than are batched together.
const FILES: usize = 3000;

/// Holds the run at some reads, and notes what the system says of the threads that read.
struct Noting {
    options: Options,
    reads: AtomicU64,
    facts: Mutex<Vec<(Option<Level>, Vec<Fact>)>>,
}

impl Engine for Noting {
    fn name(&self) -> &'static str {
        "noting"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let reads = self.reads.fetch_add(1, Ordering::Relaxed);
        if reads == 0 || reads == FILES as u64 / 2 {
            self.options.controls.hold.store(true, Ordering::Relaxed);
        }
        let said = (self.options.controls.dial.chosen(), thread_facts());
        let mut facts = self.facts.lock().unwrap();
        if !facts.contains(&said) {
            facts.push(said);
        }
        Buffered.read_at(file, buffer, offset)
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

/// Whenever the run is held, lets its jobs end, changes its level, and lets it go on.
struct Turning {
    options: Options,
    levels: Vec<Level>,
    looks: usize,
}

impl Monitor for Turning {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn progress(&mut self, _progress: &Progress) {
        if !self.options.controls.hold.load(Ordering::Relaxed) {
            return;
        }
        self.looks += 1;
        if self.looks == 4 {
            self.options.controls.dial.set(self.levels.remove(0));
        }
        if self.looks == 6 {
            self.looks = 0;
            self.options.controls.hold.store(false, Ordering::Relaxed);
        }
    }
}

#[test]
fn the_level_of_a_run_is_changed_down_and_up() {
    let tree = Tree::new();
    for number in 0..FILES {
        tree.write(format!("{}/{number}", number % 7), format!("contents {number}"));
    }
    let options = crate::tree::usual().with(|options| options.reading.workers = Some(2));
    let engine = Arc::new(Noting {
        options: options.clone(),
        reads: AtomicU64::new(0),
        facts: Mutex::default(),
    });
    let levels = vec![Level::Background, Level::Default];
    let mut turning = Turning { options: options.clone(), levels, looks: 0 };
    let noted: Arc<Noting> = Arc::clone(&engine);
    let selection = tree.selection();
    let summary =
        run_with(Verb::tag(), &selection, &options, engine, Arc::new(Xattr), &mut turning).unwrap();
    assert_eq!((summary.files, turning.levels.len()), (FILES as u64, 0));
    let usual = thread_facts();
    let slow = Trial::of(Level::Background).thread;
    assert_ne!(usual, slow);
    let mut facts = noted.facts.lock().unwrap().clone();
    // A job that began under the former level may note the new one with the facts of the former.
    for next in (1..facts.len().saturating_sub(1)).rev() {
        let (former, noted, later) = (&facts[next - 1], &facts[next], &facts[next + 1]);
        if noted.1 == former.1 && noted.0 == later.0 {
            facts.remove(next);
        }
    }
    let expected =
        [(None, usual.clone()), (Some(Level::Background), slow), (Some(Level::Default), usual)];
    assert_eq!(facts, expected, "threads keep no level that was changed");
}
