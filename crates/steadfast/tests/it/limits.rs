//! Bounds on a run: it ends when its time is up, and it reads no more of a file than it needs.

use std::fs::File as StdFile;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast::run::init;
use steadfast::{DueChoice, Event, Monitor, Options, Verb, Verdict};
use steadfast_sys::file::{File, Status};

use crate::tree::{Said, Tree};

/// Reads slowly, and counts what it reads.
#[derive(Default)]
struct Slow {
    /// Time that each read takes beside what the storage needs.
    pause: Duration,
    bytes_read: AtomicU64,
}

impl Engine for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        thread::sleep(self.pause);
        let read = Buffered.read_at(file, buffer, offset)?;
        self.bytes_read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

struct Deaf;

impl Monitor for Deaf {
    fn event(&mut self, _event: &Event) {}
}

/// Makes a catalogued and tagged tree of sparse files.
fn tagged(files: usize, len_bytes: u64) -> Tree {
    let tree = Tree::new();
    for number in 0..files {
        let path = tree.write(format!("f{number:04}"), "");
        StdFile::options().write(true).open(path).unwrap().set_len(len_bytes).unwrap();
    }
    init(tree.path(), None, &Options::default(), &mut Deaf).unwrap();
    tree.run(Verb::Tag);
    tree
}

/// Checks what is due for `time`, with reads that take `pause` each.
fn check_for(tree: &Tree, time: Duration, pause: Duration, workers: usize) -> Said {
    let due = DueChoice { max_time: Some(time), ..DueChoice::default() };
    let options = Options { due: Some(due), workers: Some(workers), ..Options::default() };
    let start = Instant::now();
    let said = tree.run_by(Verb::Check, &options, Arc::new(Slow { pause, ..Slow::default() }));
    let late = start.elapsed().saturating_sub(time);
    assert!(late < Duration::from_secs(1), "the check ended {late:?} after its deadline");
    assert!(!said.summary.interrupted);
    said
}

#[test]
fn a_check_ends_when_its_time_is_up_and_what_is_not_finished_stays_due() {
    for workers in [1, 2] {
        // Eight chunks each: 2.4 s of reading in all for one thread.
        let tree = tagged(30, 2 << 20);
        let said = check_for(&tree, Duration::from_millis(500), Duration::from_millis(10), workers);
        let finished = said.summary.verdicts(Verdict::Intact);
        assert!((1..30).contains(&finished), "{finished}");
        assert_eq!(said.files.len() as u64, finished, "only finished files are told of");
        assert_eq!(said.summary.still_due, Some(30 - finished));
        assert_eq!(said.status(), 0);
        // The next night begins where this one ended.
        let later = check_for(&tree, Duration::from_secs(60), Duration::ZERO, workers);
        assert_eq!(later.summary.still_due, None);
        let order = later.order(tree.path());
        assert_eq!(order[0], format!("f{finished:04}").into_bytes());
        assert_eq!(order.len(), 30);
    }
}

#[test]
fn a_check_of_small_files_ends_within_a_batch() {
    let tree = tagged(400, 100);
    let said = check_for(&tree, Duration::from_millis(300), Duration::from_millis(20), 1);
    assert!((1..400).contains(&said.summary.files), "{}", said.summary.files);
    assert_eq!(said.summary.still_due, Some(400 - said.summary.files));
    assert!(said.files.iter().all(|file| file.verdict == Some(Verdict::Intact)));
}

#[test]
fn a_check_whose_time_is_up_before_it_judged_a_file_is_no_success() {
    let tree = tagged(3, 1 << 20);
    let said = check_for(&tree, Duration::from_millis(200), Duration::from_secs(1), 2);
    assert_eq!((said.summary.files, said.summary.still_due), (0, Some(3)));
    assert_eq!(said.status(), 2);
    assert!(said.notices.iter().any(|notice| notice.text.contains("--max-time")));
}
