//! The account of a run against times that are known: engines, stores, hashing, walks and monitors
//! slowed in turn by an amount that they measure themselves.
//!
//! Every comparison is with what was injected, not with what a quiet machine would have taken. A
//! busy machine may still put a thread aside at the wrong moment, so each has a few attempts; an
//! account that counts the wrong thing fails them all.

use std::collections::BTreeMap;
use std::fs::File as StdFile;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use steadfast::cost::{Limit, Resource, Role, Span, SpanSink, ThreadCost};
use steadfast::event::FileError;
use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast::store::xattr::Xattr;
use steadfast::store::{Replaces, Store, StoredTag};
use steadfast::unguarded::run_with;
use steadfast::{Account, Backend, Bound, Event, Monitor, Stage, Summary, Tag, Verb};
use steadfast_sys::file::{File, Status};
use steadfast_sys::{clock, machine};

use crate::tree::{Tree, set_mtime};

/// What slows something down, and how long it did so far, with and without waiting for a processor.
#[derive(Debug, Default)]
struct Brake {
    spins: bool,
    whole_ns: AtomicU64,
    elapsed_ns: AtomicU64,
    processor_ns: AtomicU64,
}

impl Brake {
    fn that(spins: bool) -> Arc<Brake> {
        Arc::new(Brake { spins, ..Brake::default() })
    }

    fn hold(&self, hold_ns: u64) {
        let (start_ns, processor_ns) = (clock::monotonic_ns(), clock::thread_cpu_ns());
        let queued_ns = || clock::thread_queued_ns().unwrap_or(0);
        let queued_before_ns = queued_ns();
        if self.spins {
            while clock::monotonic_ns() - start_ns < hold_ns {
                std::hint::spin_loop();
            }
        } else {
            thread::sleep(Duration::from_nanos(hold_ns));
        }
        let used_ns = clock::thread_cpu_ns() - processor_ns;
        let elapsed_ns = clock::monotonic_ns() - start_ns;
        let queued_ns = (queued_ns() - queued_before_ns).min(elapsed_ns);
        self.whole_ns.fetch_add(elapsed_ns, Ordering::Relaxed);
        self.elapsed_ns.fetch_add(elapsed_ns - queued_ns, Ordering::Relaxed);
        self.processor_ns.fetch_add(used_ns, Ordering::Relaxed);
    }

    fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns.load(Ordering::Relaxed)
    }

    /// With the time for which a thread that had slept enough waited for a processor: until it is
    /// there, nobody can tell that the storage has answered.
    fn whole_ns(&self) -> u64 {
        self.whole_ns.load(Ordering::Relaxed)
    }

    fn processor_ns(&self) -> u64 {
        self.processor_ns.load(Ordering::Relaxed)
    }
}

/// Takes so long for each byte.
struct SlowEngine {
    brake: Arc<Brake>,
    ns_per_byte: u64,
}

impl Engine for SlowEngine {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = Buffered.read_at(file, buffer, offset)?;
        self.brake.hold(read as u64 * self.ns_per_byte);
        Ok(read)
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

/// Takes so long for each tag.
struct SlowStore {
    brake: Arc<Brake>,
    ns_per_tag: u64,
}

impl Store for SlowStore {
    fn tag(&self, file: &File) -> io::Result<StoredTag> {
        Xattr.tag(file)
    }

    fn previous(&self, file: &File) -> io::Result<StoredTag> {
        Xattr.previous(file)
    }

    fn write(&self, file: &File, tag: &Tag, replaces: Replaces) -> Result<(), FileError> {
        self.brake.hold(self.ns_per_tag);
        Xattr.write(file, tag, replaces)
    }

    fn remove(&self, file: &File) -> Result<bool, FileError> {
        Xattr.remove(file)
    }
}

/// Takes so long for each event.
struct SlowMonitor {
    brake: Arc<Brake>,
    ns_per_event: u64,
}

impl Monitor for SlowMonitor {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        if self.ns_per_event > 0 {
            self.brake.hold(self.ns_per_event);
        }
        ControlFlow::Continue(())
    }
}

/// How a run is slowed.
#[derive(Default)]
struct Slowness {
    read_ns_per_byte: u64,
    store_ns_per_tag: u64,
    report_ns_per_event: u64,
    queue_depth: Option<usize>,
    backend: Option<Backend>,
    trace: Option<Arc<dyn SpanSink>>,
}

fn run(tree: &Tree, verb: Verb, slowness: &Slowness, brake: &Arc<Brake>) -> Summary {
    let options = crate::tree::usual().with(|options| {
        options.reading.workers = Some(2);
        options.reading.queue_depth = Some(slowness.queue_depth.unwrap_or(usize::MAX));
        options.reading.backend = slowness.backend;
        options.trace = slowness.trace.clone();
    });
    let (ns_per_byte, ns_per_tag) = (slowness.read_ns_per_byte, slowness.store_ns_per_tag);
    let (for_engine, for_store) = (Arc::clone(brake), Arc::clone(brake));
    let engine: Arc<dyn Engine> = match ns_per_byte {
        0 => Arc::new(Buffered),
        _ => Arc::new(SlowEngine { brake: for_engine, ns_per_byte }),
    };
    let store: Arc<dyn Store> = match ns_per_tag {
        0 => Arc::new(Xattr),
        _ => Arc::new(SlowStore { brake: for_store, ns_per_tag }),
    };
    let mut monitor =
        SlowMonitor { brake: Arc::clone(brake), ns_per_event: slowness.report_ns_per_event };
    let summary = run_with(verb, &tree.selection(), &options, engine, store, &mut monitor).unwrap();
    assert_eq!(summary.exit_status().code(), 0);
    summary
}

/// Files of these lengths, last modified yesterday so that nobody waits for them to settle.
fn tree(lengths: &[usize]) -> Tree {
    let tree = Tree::new();
    for (number, &length) in lengths.iter().enumerate() {
        let path = tree.write(format!("{number}"), vec![number as u8; length]);
        set_mtime(&path, SystemTime::now() - Duration::from_secs(86_400));
    }
    tree
}

/// Many small files and some large ones: 10 MB.
fn mixed_tree() -> Tree {
    tree(&[[10_000; 200].as_slice(), [1_000_000; 8].as_slice()].concat())
}

/// Says whether a time is within 10 % of the known one.
fn fits(what: &str, found_ns: u64, known_ns: u64) -> Result<(), String> {
    match found_ns as f64 / known_ns as f64 {
        0.9..=1.1 => Ok(()),
        ratio => Err(format!("{what}: {found_ns} ns, of {known_ns} ns known: {ratio:.3}")),
    }
}

fn is(what: &str, found: impl PartialEq + std::fmt::Debug, right: bool) -> Result<(), String> {
    if right { Ok(()) } else { Err(format!("{what}: {found:?}")) }
}

/// Tries until the account is right; every run's laps must add up.
fn attempts(mut attempt: impl FnMut() -> (Account, Result<(), String>)) {
    let mut told = Vec::new();
    for _ in 0..6 {
        let (account, result) = attempt();
        assert_laps_add_up(&account);
        match result {
            Ok(()) => return,
            Err(text) => told.push(format!("{text}; {:?}", account.limits())),
        }
    }
    panic!("never right:\n{}", told.join("\n"));
}

fn assert_laps_add_up(account: &Account) {
    for thread in &account.threads {
        let (sum_ns, lifetime_ns) = (thread.cost.total_ns(), thread.lifetime_ns);
        // A thread of a short run may be put aside between its last two looks at the clock.
        let slack_ns = lifetime_ns / 50 + 1_000_000;
        let difference_ns = sum_ns.abs_diff(lifetime_ns);
        assert!(difference_ns <= slack_ns, "{}: {sum_ns} of {lifetime_ns}", thread.name);
        assert!(lifetime_ns <= account.elapsed_ns, "{}", thread.name);
        assert!(thread.cost.processor_ns <= lifetime_ns + slack_ns, "{}", thread.name);
    }
}

/// What limits the run, apart from other work of the machine.
fn limit_of(account: &Account) -> Limit {
    let bounds = account.bounds().unwrap();
    match bounds.limit.bound {
        Bound::Queue => bounds.next.unwrap(),
        _ => bounds.limit,
    }
}

fn bound_of(account: &Account) -> (Resource, Bound) {
    let limit = limit_of(account);
    (limit.resource, limit.bound)
}

/// The time that the binding part took of its resource, over all processors or workers.
fn part_ns(account: &Account, capacity: usize) -> u64 {
    limit_of(account).part_ns * capacity as u64
}

#[test]
fn threads_are_started_only_when_there_is_work_for_them() {
    let names = |account: &Account| -> Vec<String> {
        account.threads.iter().map(|thread| thread.name.clone()).collect()
    };
    let brake = Brake::that(false);
    let small = run(&tree(&[1_000]), Verb::hash(), &Slowness::default(), &brake);
    assert_eq!(names(&small.account), ["worker 0", "walk", "report"]);
    assert_eq!((small.files, small.bytes, small.account.workers), (1, 1_000, 2));
    assert!(small.account.cost().elapsed_ns(Stage::Hash) > 0);
    assert_laps_add_up(&small.account);
    let slowness = Slowness { read_ns_per_byte: 100, ..Slowness::default() };
    let slow = names(&run(&mixed_tree(), Verb::hash(), &slowness, &brake).account);
    assert!(["worker 1", "reader 0"].iter().all(|name| slow.iter().any(|n| n == name)), "{slow:?}");
}

#[test]
fn reading_that_sleeps_is_waiting_for_the_storage() {
    let tree = mixed_tree();
    attempts(|| {
        let brake = Brake::that(false);
        let slowness = Slowness { read_ns_per_byte: 100, ..Slowness::default() };
        let account = run(&tree, Verb::hash(), &slowness, &brake).account;
        let result = fits("waited", account.cost().storage_wait_ns(), brake.elapsed_ns())
            .and_then(|()| {
                let bound = bound_of(&account);
                is("bound", bound, bound == (Resource::Storage, Bound::Storage))
            })
            .and_then(|()| {
                // Sleeping takes no longer in company: the best there is, is all readers at once.
                let slept = |thread: &&ThreadCost| thread.cost.storage_wait_ns() > 0;
                let threads = account.threads.iter().filter(slept).count();
                let found_ns = threads as u64 * account.storage_ns;
                // Where threads wait for processors, some begin late, and few sleep in company.
                let waits = |it: &Limit| it.part_ns * 20 > account.elapsed_ns;
                let is_busy =
                    account.limits().iter().any(|it| it.bound == Bound::Queue && waits(it));
                let most_ns = brake.whole_ns() * if is_busy { threads as u64 } else { 1 };
                let known_ns = found_ns.clamp(brake.elapsed_ns(), most_ns);
                fits("storage", found_ns, known_ns)
            });
        (account, result)
    });
}

#[test]
fn reading_in_turns_binds_though_the_processors_are_idle() {
    let tree = mixed_tree();
    for spins in [false, true] {
        attempts(|| {
            let brake = Brake::that(spins);
            let slow = Slowness { read_ns_per_byte: 30, ..Slowness::default() };
            let slowness = Slowness { queue_depth: Some(1), ..slow };
            let account = run(&tree, Verb::hash(), &slowness, &brake).account;
            let (resource, bound) = bound_of(&account);
            let right = match spins {
                false => bound == Bound::Storage,
                true => (resource, bound) == (Resource::Reads, Bound::Read),
            };
            let found_ns = part_ns(&account, 1);
            let known_ns = match spins {
                true => brake.processor_ns(),
                false => found_ns.clamp(brake.elapsed_ns(), brake.whole_ns()),
            };
            let result = is("bound", (resource, bound), right)
                .and_then(|()| fits("part", found_ns, known_ns));
            (account, result)
        });
    }
}

#[test]
fn reading_that_works_is_copying_bytes() {
    let tree = mixed_tree();
    attempts(|| {
        let brake = Brake::that(true);
        let slowness = Slowness { read_ns_per_byte: 30, ..Slowness::default() };
        let account = run(&tree, Verb::hash(), &slowness, &brake).account;
        let cost = account.cost();
        let bound = bound_of(&account);
        let result = fits("read", cost.elapsed_ns(Stage::Read), brake.elapsed_ns())
            .and_then(|()| is("bound", bound, bound.1 == Bound::Read))
            .and_then(|()| {
                let capacity = match bound.0 {
                    Resource::Workers => account.workers,
                    _ => account.processors,
                };
                fits("part", part_ns(&account, capacity), brake.processor_ns())
            });
        (account, result)
    });
}

#[test]
fn writing_tags_binds_whether_it_sleeps_or_works() {
    for spins in [false, true] {
        let tree = tree(&[500; 60]);
        attempts(|| {
            let brake = Brake::that(spins);
            let slowness = Slowness { store_ns_per_tag: 4_000_000, ..Slowness::default() };
            let _ = run(&tree, Verb::Untag, &Slowness::default(), &brake);
            let account = run(&tree, Verb::tag(), &slowness, &brake).account;
            let cost = account.cost();
            let bound = bound_of(&account);
            let result = fits("store", cost.elapsed_ns(Stage::Store), brake.elapsed_ns())
                .and_then(|()| is("bound", bound, bound.1 == Bound::Store))
                .and_then(|()| match spins {
                    false => fits("waited", cost.waited_ns(Stage::Store), brake.elapsed_ns()),
                    true => fits("work", cost.processor_ns_of(Stage::Store), brake.processor_ns()),
                })
                .and_then(|()| match spins {
                    // Only a worker that sleeps is kept from its work.
                    false => fits("part", part_ns(&account, account.workers), brake.elapsed_ns()),
                    true => Ok(()),
                });
            (account, result)
        });
    }
}

/// Hashes the first part of what it reads, and says how long that took. Processors change their
/// pace, and share their units with other work: only what is hashed in the same run, by the same
/// threads, says how long the rest of it should take.
struct HashingEngine {
    backend: Backend,
    hashed_len: AtomicU64,
    hashed_ns: AtomicU64,
}

impl HashingEngine {
    /// Of so many bytes one is hashed: less than the run hashes, which should be what binds.
    const SHARE: usize = 3;

    fn ns_for(&self, length: u64) -> u64 {
        let ns = u128::from(self.hashed_ns.load(Ordering::Relaxed)) * u128::from(length);
        (ns / u128::from(self.hashed_len.load(Ordering::Relaxed))) as u64
    }
}

impl Engine for HashingEngine {
    fn name(&self) -> &'static str {
        "hashing"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = Buffered.read_at(file, buffer, offset)?;
        let start_ns = clock::thread_cpu_ns();
        let mut hasher = steadfast_digest::Sha256::new(self.backend);
        hasher.update(&buffer[..read / Self::SHARE]);
        std::hint::black_box(hasher.finalize());
        self.hashed_ns.fetch_add(clock::thread_cpu_ns() - start_ns, Ordering::Relaxed);
        self.hashed_len.fetch_add((read / Self::SHARE) as u64, Ordering::Relaxed);
        Ok(read)
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

#[test]
fn hashing_binds_by_the_longest_file_or_by_all() {
    let backend = Backend::named("portable").unwrap();
    let length = 32 << 20;
    for files in [1, 8] {
        let tree = Tree::new();
        for number in 0..files {
            let file = StdFile::create(tree.at(format!("{number}"))).unwrap();
            file.set_len(length / files).unwrap();
        }
        attempts(|| {
            let (hashed_len, hashed_ns) = (AtomicU64::new(0), AtomicU64::new(0));
            let engine = Arc::new(HashingEngine { backend, hashed_len, hashed_ns });
            let options = crate::tree::usual().with(|options| {
                options.reading.workers = Some(2);
                options.reading.queue_depth = Some(usize::MAX);
                options.reading.backend = Some(backend);
            });
            let mut monitor = SlowMonitor { brake: Brake::that(false), ns_per_event: 0 };
            let (by, store) = (Arc::clone(&engine) as _, Arc::new(Xattr));
            let selection = tree.selection();
            let run = run_with(Verb::hash(), &selection, &options, by, store, &mut monitor);
            let account = run.unwrap().account;
            let hashed_ns = account.cost().processor_ns_of(Stage::Hash);
            let (resource, bound) = bound_of(&account);
            // A file that waited for a processor is not known to have taken the longest by itself.
            let waited = account.bounds().unwrap().limit.bound == Bound::Queue;
            let right = files > 1 || waited || resource == Resource::LongestFile;
            let result = fits("hash", hashed_ns, engine.ns_for(length))
                .and_then(|()| is("bound", bound, bound == Bound::Hash))
                .and_then(|()| is("resource", resource, right || account.processors == 1));
            (account, result)
        });
    }
}

#[test]
fn a_run_beside_busy_threads_waits_for_a_processor() {
    let is_counted = clock::thread_queued_ns().is_some();
    let tree = tree(&[4_000_000; 6]);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 * machine::logical_cpus() + 1 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let slowness =
            Slowness { backend: Some(Backend::named("portable").unwrap()), ..Slowness::default() };
        let account = run(&tree, Verb::hash(), &slowness, &Brake::that(false)).account;
        stop.store(true, Ordering::Relaxed);
        assert_laps_add_up(&account);
        let bound = account.bounds().unwrap().limit.bound;
        assert_eq!(bound == Bound::Queue, is_counted, "{:?}", account.limits());
        assert_eq!(account.cost().share(Stage::Queue) > 0.1, is_counted, "{:?}", account.cost());
    });
}

#[test]
fn a_walk_through_empty_directories_is_all_that_binds() {
    let tree = Tree::new();
    for number in 0..2_000 {
        std::fs::create_dir_all(tree.at(format!("{}/{number}", number / 100))).unwrap();
    }
    tree.write("file", "contents");
    attempts(|| {
        let brake = Brake::that(false);
        let account = run(&tree, Verb::hash(), &Slowness::default(), &brake).account;
        let bound = bound_of(&account);
        let walk = account.cost_of(|role| role == Role::Walk);
        let alive = account.threads.iter().find(|thread| thread.role == Role::Walk).unwrap();
        let walked_ns = walk.elapsed_ns(Stage::Walk) + walk.elapsed_ns(Stage::Queue);
        let result = fits("walk", walked_ns, alive.lifetime_ns)
            .and_then(|()| is("bound", bound, bound.1 == Bound::Walk));
        (account, result)
    });
}

#[test]
fn a_monitor_that_takes_its_time_binds() {
    for spins in [false, true] {
        let tree = tree(&[100; 100]);
        attempts(|| {
            let brake = Brake::that(spins);
            let slowness = Slowness { report_ns_per_event: 2_000_000, ..Slowness::default() };
            let account = run(&tree, Verb::hash(), &slowness, &brake).account;
            let bound = bound_of(&account);
            let result =
                fits("report", account.cost().elapsed_ns(Stage::Report), brake.elapsed_ns())
                    .and_then(|()| {
                        let right = (Resource::Report, Bound::Report);
                        is("bound", bound, bound == right)
                    })
                    .and_then(|()| match spins {
                        false => fits("part", part_ns(&account, 1), brake.elapsed_ns()),
                        true => fits("part", part_ns(&account, 1), brake.processor_ns()),
                    });
            (account, result)
        });
    }
}

#[test]
fn waiting_for_a_file_to_settle_is_no_work_of_any_stage() {
    let tree = Tree::new();
    tree.write("fresh", "contents");
    // A clock of seconds must come to its next step; the file system's own is too quick to see.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(now.as_secs());
    set_mtime(&tree.at("fresh"), second);
    let brake = Brake::that(false);
    let account = run(&tree, Verb::tag(), &Slowness::default(), &brake).account;
    assert!(account.elapsed_ns > 900_000_000, "{}", account.elapsed_ns);
    assert!(account.cost().elapsed_ns(Stage::Open) < 500_000_000);
    assert!(account.cost().storage_wait_ns() < 500_000_000);
    assert_laps_add_up(&account);
}

/// Keeps all spans.
#[derive(Debug, Default)]
struct Keeper {
    names: Mutex<BTreeMap<usize, String>>,
    spans: Mutex<BTreeMap<usize, Vec<Span>>>,
}

impl SpanSink for Keeper {
    fn thread(&self, thread: usize, name: &str) {
        self.names.lock().unwrap().insert(thread, name.to_owned());
    }

    fn spans(&self, thread: usize, spans: &[Span]) {
        self.spans.lock().unwrap().entry(thread).or_default().extend_from_slice(spans);
    }
}

#[test]
fn spans_tell_the_same_as_the_account() {
    let tree = mixed_tree();
    tree.write("large", vec![1; 3_000_000]);
    let keeper = Arc::new(Keeper::default());
    let slowness = Slowness { trace: Some(keeper.clone()), ..Slowness::default() };
    let brake = Brake::that(false);
    let account = run(&tree, Verb::hash(), &slowness, &brake).account;
    let (names, spans) = (keeper.names.lock().unwrap(), keeper.spans.lock().unwrap());
    let told: Vec<&String> = names.values().collect();
    let known: Vec<&String> = account.threads.iter().map(|thread| &thread.name).collect();
    assert_eq!(told, known);
    for (number, thread) in names.keys().zip(&account.threads) {
        let spans = &spans[number];
        for pair in spans.windows(2) {
            assert_eq!(pair[0].start_ns + pair[0].elapsed_ns, pair[1].start_ns, "{pair:?}");
        }
        for stage in Stage::ALL {
            let of_stage = spans.iter().filter(|span| span.stage == stage);
            let sum_ns: u64 = of_stage.map(|span| span.elapsed_ns).sum();
            assert_eq!(sum_ns, thread.cost.elapsed_ns(stage), "{} {stage:?}", thread.name);
        }
    }
    let all: Vec<&Span> = spans.values().flatten().collect();
    let hashed = all.iter().filter(|span| span.stage == Stage::Hash);
    let read = all.iter().filter(|span| span.stage == Stage::Read);
    let (hashed, read) = (hashed.map(|span| span.bytes), read.map(|span| span.bytes));
    assert_eq!((hashed.sum::<u64>(), read.sum::<u64>()), (13_000_000, 13_000_000));
    let mut paths = all.iter().filter_map(|span| span.path.as_deref());
    assert!(paths.all(|path| path.is_file()), "{all:?}");
}
