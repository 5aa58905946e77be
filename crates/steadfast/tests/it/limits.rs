//! Bounds on a run: it ends when its time is up, and it reads no more of a file than it needs.

use std::collections::BTreeSet;
use std::fs::{self, File as StdFile};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use steadfast::Advice;
use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast::run::{Unnamed, compare};
use steadfast::store::foreign::ForeignKind;
use steadfast::{
    Action, CheckOptions, DueChoice, Event, Monitor, Options, Reference, Verb, Verdict,
};
use steadfast_sys::file::{File, Status};
use steadfast_testing::took_at_most;

use crate::tree::{Said, Tree, retag};

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
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Makes a catalogued and tagged tree of sparse files.
fn tagged(files: usize, len_bytes: u64) -> Tree {
    let tree = Tree::new();
    for number in 0..files {
        let path = tree.write(format!("f{number:04}"), "");
        StdFile::options().write(true).open(path).unwrap().set_len(len_bytes).unwrap();
    }
    let _ = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([tree.path()]),
        crate::tree::usual(),
    )
    .run(&mut Deaf)
    .unwrap();
    tree.run(Verb::tag());
    tree
}

/// Checks what is due for `time`, with reads that take `pause` each.
fn check_for(tree: &Tree, time: Duration, pause: Duration, workers: usize) -> Said {
    let mut due = DueChoice::default();
    due.max_time = Some(time);
    // One read at a time, so that the time is known that all of them take.
    let (workers, queue_depth) = (Some(workers), Some(1));
    let check = Verb::Check(CheckOptions { due: Some(due), ..CheckOptions::default() });
    let options = crate::tree::usual().with(|options| {
        options.reading.workers = workers;
        options.reading.queue_depth = queue_depth;
    });
    let start = Instant::now();
    let said = tree.run_by(check, &options, Arc::new(Slow { pause, ..Slow::default() }));
    // It is less than one second after its deadline on a machine that has nothing else to do.
    let limit = time + Duration::from_secs(3);
    assert!(took_at_most(start, limit), "the check took {:?}", start.elapsed());
    assert!(!said.summary.interrupted);
    said
}

#[test]
fn a_check_ends_when_its_time_is_up_and_what_is_not_finished_stays_due() {
    for workers in [1, 2] {
        // Eight chunks each: 2.4 s of reading in all.
        let tree = tagged(30, 2 << 20);
        let said = check_for(&tree, Duration::from_secs(1), Duration::from_millis(10), workers);
        let finished = said.summary.verdicts(Verdict::Intact);
        assert!((1..30).contains(&finished), "{finished}");
        assert_eq!(said.files.len() as u64, finished, "only finished files are told of");
        assert_eq!(said.summary.still_due, Some(30 - finished));
        assert_eq!(said.status(), 0);
        // The next night begins where this one ended.
        let later = check_for(&tree, Duration::from_secs(60), Duration::ZERO, workers);
        assert_eq!(later.summary.still_due, None);
        let order = later.order(tree.path());
        let before: BTreeSet<_> = said.order(tree.path()).into_iter().collect();
        assert!(order[..30 - before.len()].iter().all(|name| !before.contains(name)));
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
    assert!(said.notices.iter().any(|notice| notice.advice == Some(Advice::MoreTime)));
}

/// Sets the length of a file; the modification time stands, or moves.
fn resize(tree: &Tree, name: &str, len_bytes: u64, edited: bool) {
    let file = StdFile::options().write(true).open(tree.at(name)).unwrap();
    let mtime = file.metadata().unwrap().modified().unwrap();
    file.set_len(len_bytes).unwrap();
    let later = if edited { Duration::from_secs(60) } else { Duration::ZERO };
    file.set_modified(mtime + later).unwrap();
}

/// Longer than any disk reads in the time of a test.
const HUGE_LEN_BYTES: u64 = 8 << 40;

/// Runs a verb with an engine that counts what it reads.
fn counted(tree: &Tree, verb: Verb, options: &Options) -> (Said, u64) {
    let engine = Arc::new(Slow::default());
    let said = tree.run_by(verb, options, Arc::clone(&engine) as Arc<dyn Engine>);
    (said, engine.bytes_read.load(Ordering::Relaxed))
}

#[test]
fn another_length_decides_and_nothing_is_read() {
    let tree = Tree::new();
    for name in ["decayed", "edited", "cut", "emptied", "same"] {
        tree.write(name, "contents");
    }
    tree.run(Verb::tag());
    resize(&tree, "decayed", HUGE_LEN_BYTES, false);
    resize(&tree, "edited", HUGE_LEN_BYTES, true);
    resize(&tree, "cut", 3, false);
    resize(&tree, "emptied", 0, false);
    let (said, bytes_read) = counted(&tree, Verb::check(), &crate::tree::usual());
    assert_eq!(bytes_read, 8, "only the file of the same length has bytes to compare");
    for (name, verdict, length) in [
        ("decayed", Verdict::Corrupt, HUGE_LEN_BYTES),
        ("edited", Verdict::Modified, HUGE_LEN_BYTES),
        ("cut", Verdict::Corrupt, 3),
        ("emptied", Verdict::Corrupt, 0),
        ("same", Verdict::Intact, 8),
    ] {
        assert_eq!(said.verdict(name), Some(verdict), "{name}");
        assert_eq!(said.of(name).extent().unwrap().0, length, "{name}");
    }
    assert_eq!(said.of("decayed").actual, None);
}

#[test]
fn what_keeps_its_tag_is_not_read_and_what_is_retagged_is() {
    for verb in [Verb::update(), retag(false)] {
        let tree = Tree::new();
        tree.write("decayed", "contents");
        tree.write("edited", "contents");
        tree.run(Verb::tag());
        resize(&tree, "decayed", HUGE_LEN_BYTES, false);
        resize(&tree, "edited", 3, true);
        let (said, bytes_read) = counted(&tree, verb, &crate::tree::usual());
        assert_eq!(bytes_read, 3);
        assert_eq!(said.verdict("decayed"), Some(Verdict::Corrupt));
        assert_eq!(said.action("decayed"), None);
        assert_eq!(said.action("edited"), Some(Action::Retagged));
        assert_eq!(tree.run(Verb::check()).verdict("edited"), Some(Verdict::Intact));
    }
}

#[test]
fn the_length_of_a_record_decides_as_that_of_a_tag_does() {
    let tree = Tree::new();
    tree.write("f", "contents");
    tree.write("g", "contents");
    let recorded = tree.run(Verb::hash());
    let list = |name: &str| {
        let reference = Reference::of_tag("manifest", &recorded.of(name).actual.unwrap());
        Ok((PathBuf::from(name), Some(reference)))
    };
    let lines = vec![list("f"), list("g")];
    resize(&tree, "f", HUGE_LEN_BYTES, false);
    resize(&tree, "g", HUGE_LEN_BYTES, true);
    let mut found = Verdicts::default();
    let list = Box::new(lines.into_iter());
    let summary = compare(
        tree.path(),
        list,
        Unnamed::Known(Vec::new()),
        false,
        &crate::tree::usual(),
        &mut found,
    )
    .unwrap();
    assert_eq!(found.0, [Some(Verdict::Corrupt), Some(Verdict::Modified)]);
    assert_eq!((summary.bytes, summary.exit_status().code()), (0, 3));
}

#[test]
fn another_tools_tag_with_a_length_is_not_replaced_after_reading_all() {
    let tree = Tree::new();
    tree.write("f", "contents");
    tree.run(Verb::tag());
    tree.run(Verb::Export(ForeignKind::Unraid));
    tree.run(Verb::Untag);
    resize(&tree, "f", HUGE_LEN_BYTES, false);
    for verb in [Verb::check(), Verb::tag(), Verb::update()] {
        let (said, bytes_read) = counted(&tree, verb, &crate::tree::usual());
        assert_eq!((said.verdict("f"), bytes_read), (Some(Verdict::Corrupt), 0), "{verb:?}");
        assert_eq!(said.action("f"), None);
    }
}

#[derive(Default)]
struct Verdicts(Vec<Option<Verdict>>);

impl Monitor for Verdicts {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::File(event) = event {
            self.0.push(event.verdict);
        }
        ControlFlow::Continue(())
    }
}

/// Folders below each other: nearly as many as a path can name.
const DEEP: usize = 1900;

/// Makes a tree of one folder in another, with a file in each.
fn deep() -> Tree {
    let tree = Tree::new();
    let mut folder = tree.path().to_owned();
    for number in 0..DEEP {
        fs::write(folder.join("f"), number.to_string()).unwrap();
        folder.push("d");
        fs::create_dir(&folder).unwrap();
    }
    tree
}

#[test]
fn a_deep_tree_takes_no_more_for_each_folder_than_a_flat_one() {
    let deep = deep();
    let start = Instant::now();
    let summary = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([deep.path()]),
        crate::tree::usual(),
    )
    .run(&mut Deaf)
    .unwrap();
    assert_eq!((summary.files, summary.exit_status().code()), (DEEP as u64, 0));
    let mut due = DueChoice::default();
    due.max_bytes = Some(u64::MAX);
    let due = Verb::Check(CheckOptions { due: Some(due), ..CheckOptions::default() });
    for verb in [Verb::tag(), Verb::check(), due] {
        let said = deep.run(verb);
        assert_eq!((said.summary.files, said.status()), (DEEP as u64, 0), "{verb:?}");
    }
    // Alone, it takes 40 s of processor time. It took many minutes when whole paths were hashed for
    // each ancestor of each folder.
    assert!(took_at_most(start, Duration::from_secs(300)), "{:?}", start.elapsed());
}

/// Ends the run at its first file.
struct Impatient;

impl Monitor for Impatient {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn a_monitor_ends_init_in_a_deep_tree() {
    let deep = deep();
    let start = Instant::now();
    let summary = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([deep.path()]),
        crate::tree::usual(),
    )
    .run(&mut Impatient)
    .unwrap();
    assert!(took_at_most(start, Duration::from_secs(10)), "{:?}", start.elapsed());
    assert!(summary.interrupted || summary.files == DEEP as u64);
}
