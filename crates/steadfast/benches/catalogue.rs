//! What a catalogue costs: made trees of 10⁴ to 10⁷ files in; seconds, bytes and memory out.
//!
//! `cargo bench -p steadfast --bench catalogue [-- FILES…] [--tree DIR]`. The made trees exist in
//! the catalogue only; the quick look is taken over a real one.

#![allow(clippy::print_stdout)]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use steadfast::catalogue::{
    Catalogue, CatalogueReader, DueOptions, LockRequest, Observation, Recorder, RunScope, RunStart,
};
use steadfast::tag::TagPlace;
use steadfast::{Action, Algorithm, Selection, Tag, Timestamp, VerbKind, Verdict};
use steadfast::{FilePath, Origin, Subject};
use steadfast_digest::AlgorithmHasher;
use steadfast_sys::clock::process_cpu_ns;
use steadfast_sys::file::{FileKind, Status};

/// Files in one directory.
const DIRECTORY_LEN: usize = 100;

fn main() {
    let mut sizes = Vec::new();
    let mut tree = None;
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--tree" => tree = arguments.next().map(PathBuf::from),
            other => sizes.extend(other.parse::<usize>()),
        }
    }
    if sizes.is_empty() {
        sizes = vec![10_000, 100_000, 1_000_000];
    }
    println!(
        "{:>9} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "files",
        "fill s",
        "B/file",
        "open ms",
        "same µs",
        "changed µs",
        "due ms",
        "audit ms",
        "tag µs",
        "verify s",
        "RSS MiB"
    );
    for size in sizes {
        measure(size);
    }
    if let Some(tree) = tree {
        quick(&tree);
    }
}

fn moment(seconds: i64) -> Timestamp {
    Timestamp { seconds, nanoseconds: 0 }
}

fn writer() -> LockRequest<'static> {
    LockRequest { verb: VerbKind::Check, now: moment(1), wait: None }
}

/// A file that is made up from its number.
struct Made {
    path: FilePath,
    status: Status,
    tag: Tag,
}

/// Makes files in walk order.
struct Maker {
    root: PathBuf,
    parent: Arc<Path>,
    next: usize,
    size: usize,
}

impl Maker {
    fn new(root: &Path, size: usize) -> Maker {
        Maker { root: root.to_owned(), parent: Arc::from(root), next: 0, size }
    }
}

impl Iterator for Maker {
    type Item = Made;

    fn next(&mut self) -> Option<Made> {
        let number = self.next;
        if number == self.size {
            return None;
        }
        self.next += 1;
        if number.is_multiple_of(DIRECTORY_LEN) {
            let directory = number / DIRECTORY_LEN;
            let path = self.root.join(format!("{:03}/{:05}", directory / 200, directory));
            self.parent = Arc::from(path);
        }
        let mut digest = AlgorithmHasher::new(Algorithm::Sha256);
        digest.update(&number.to_le_bytes());
        let mtime = Timestamp {
            seconds: 1_600_000_000 + number as i64,
            nanoseconds: (number as u32).wrapping_mul(97) % 1_000_000_000,
        };
        let length = 1000 + (number as u64).wrapping_mul(7919) % 64_000;
        Some(Made {
            path: FilePath {
                parent: Arc::clone(&self.parent),
                name: OsString::from(format!("IMG_{number:08}.jpeg")),
            },
            status: Status {
                device: 1,
                inode: 2_000_000 + number as u64,
                kind: FileKind::Regular,
                length,
                links: 1,
                mtime,
                ctime: Timestamp { seconds: 1_700_000_000, ..mtime },
                mode: 0o100_644,
                uid: 0,
                gid: 0,
                dataless: false,
            },
            tag: Tag {
                algorithm: Algorithm::Sha256,
                digest: digest.finalize(),
                length,
                mtime,
                tagged: moment(1_700_000_000),
            },
        })
    }
}

fn recorder(file: &Path, scope: &RunScope, verb: VerbKind, now: i64) -> Recorder {
    let catalogue = Catalogue::open_writer(file, &writer()).expect("it is there");
    let begin = RunStart {
        verb,
        read_from: Some(Origin::Cache),
        backend: "",
        now: moment(now),
        accepts: false,
    };
    catalogue.recorder(scope.clone(), &begin).expect("it can be written")
}

/// Follows a run over the made tree; returns seconds of wall time and of processor time for the
/// keeping alone.
fn follow(
    file: &Path,
    root: &Path,
    size: usize,
    action: Option<Action>,
    change: impl Fn(usize, &mut Made),
) -> (f64, f64) {
    const BUNCH: usize = 10_000;
    let scope = RunScope::whole(root);
    let mut recorder = recorder(file, &scope, VerbKind::Check, 2);
    let (mut wall, mut cpu) = (0.0, 0.0);
    let mut maker = Maker::new(root, size).enumerate();
    let mut seconds = 2;
    loop {
        // What makes the files up is no part of it.
        let mut bunch: Vec<(usize, Made)> = maker.by_ref().take(BUNCH).collect();
        if bunch.is_empty() {
            break;
        }
        bunch.iter_mut().for_each(|(number, made)| change(*number, made));
        let (start, start_cpu) = (Instant::now(), process_cpu_ns());
        for (_, made) in &bunch {
            let observation = Observation {
                path: &made.path,
                subject: Subject::File,
                status: Some(made.status),
                verdict: action.is_none().then_some(Verdict::Intact),
                action,
                stored: action.is_none().then_some(made.tag),
                actual: Some(made.tag),
                place: TagPlace::Attribute,
                attributes: None,
            };
            recorder.observe(&observation, &mut |_| {}).expect("it can be written");
        }
        seconds += 1;
        recorder.tick(moment(seconds)).expect("it can be written");
        wall += start.elapsed().as_secs_f64();
        cpu += (process_cpu_ns() - start_cpu) as f64 / 1e9;
    }
    let (start, start_cpu) = (Instant::now(), process_cpu_ns());
    recorder.finish(true, moment(seconds), &mut |_| {}).expect("it can be written");
    wall += start.elapsed().as_secs_f64();
    cpu += (process_cpu_ns() - start_cpu) as f64 / 1e9;
    (wall, cpu)
}

fn measure(size: usize) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is room");
    let root = folder.path().canonicalize().expect("it was just made");
    fs::write(root.join("something"), "so that it is not empty").expect("there is room");
    let file = Catalogue::create(&root, None, &writer()).expect("there is none").file().to_owned();
    let (fill, _) = follow(&file, &root, size, Some(Action::Tagged), |_, _| {});
    let bytes = fs::metadata(&file).expect("it is there").len() as f64 / size as f64;
    let start = Instant::now();
    drop(Catalogue::open_writer(&file, &writer()).expect("it is there"));
    let open = start.elapsed().as_secs_f64();
    let (_, same) = follow(&file, &root, size, None, |_, _| {});
    // One file in each directory has another change time.
    let (_, changed) = follow(&file, &root, size, None, |number, made| {
        made.status.ctime.seconds += i64::from(number.is_multiple_of(DIRECTORY_LEN));
    });
    let start = Instant::now();
    let reader = || Catalogue::open_reader(&file).expect("it is there");
    let mut due = reader().due(&DueOptions::default(), moment(3)).expect("it can be read");
    assert_eq!(due.total().0, size as u64);
    for _ in 0..1000 {
        assert!(due.next().expect("it can be read").is_some());
    }
    let due = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let audit = reader().audit(&[1, 30], moment(3)).expect("it can be read");
    assert_eq!(audit.tagged, size as u64);
    let audit = start.elapsed().as_secs_f64();
    let records = CatalogueReader::open(&reader(), RunScope::whole(&root)).expect("it is there");
    let start = Instant::now();
    let asked = size.min(100_000);
    for made in Maker::new(&root, asked) {
        assert!(records.tag(&made.path).expect("it can be read").is_some());
    }
    let tag = start.elapsed().as_secs_f64() / asked as f64;
    let start = Instant::now();
    assert!(reader().verify().expect("it can be read").is_sound());
    let verify = start.elapsed().as_secs_f64();
    println!(
        "{size:>9} {fill:>8.2} {bytes:>8.1} {:>8.2} {:>8.3} {:>9.3} {:>8.1} {:>8.1} {:>8.2} \
         {verify:>8.2} {:>8}",
        open * 1e3,
        same / size as f64 * 1e6,
        changed / size as f64 * 1e6,
        due * 1e3,
        audit * 1e3,
        tag * 1e6,
        rss_mib_max()
    );
}

/// Looks quickly at a real tree, whose catalogue is kept elsewhere.
fn quick(tree: &Path) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is room");
    let file = folder.path().join("catalogue.sqlite");
    let root = tree.canonicalize().expect("it is there");
    Catalogue::create(&root, Some(&file), &writer()).expect("there is none");
    let mut recorder = recorder(&file, &RunScope::whole(&root), VerbKind::Tag, 2);
    let mut stack = vec![root.clone()];
    while let Some(directory) = stack.pop() {
        let entries = fs::read_dir(&directory).expect("it can be listed");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it is").path()).collect();
        paths.sort();
        let parent: Arc<Path> = Arc::from(directory);
        for path in paths {
            let status = Status::of_link(&path).expect("it is there");
            if status.kind == FileKind::Directory {
                stack.push(path);
            } else if status.kind == FileKind::Regular {
                let name = path.file_name().expect("it has one").to_owned();
                let path = FilePath { parent: Arc::clone(&parent), name };
                let made = Maker::new(&root, 1).next().expect("one");
                let observation = Observation {
                    path: &path,
                    subject: Subject::File,
                    status: Some(status),
                    verdict: None,
                    action: Some(Action::Tagged),
                    stored: None,
                    actual: Some(Tag { length: status.length, ..made.tag }),
                    place: TagPlace::Attribute,
                    attributes: None,
                };
                recorder.observe(&observation, &mut |_| {}).expect("it can be written");
            }
        }
    }
    recorder.finish(true, moment(3), &mut |_| {}).expect("it can be written");
    let selection = Selection::of([root]);
    let (mut best, mut best_cpu) = (f64::MAX, f64::MAX);
    let mut files = 0;
    for _ in 0..5 {
        let reader = Catalogue::open_reader(&file).expect("it is there");
        let (start, start_cpu) = (Instant::now(), process_cpu_ns());
        let stop = Arc::new(AtomicBool::new(false));
        let summary = reader.quick(
            &selection,
            moment(4),
            &stop,
            &mut |finding| panic!("{finding:?}"),
            &mut |event| panic!("{event:?}"),
        );
        best = best.min(start.elapsed().as_secs_f64());
        best_cpu = best_cpu.min((process_cpu_ns() - start_cpu) as f64 / 1e9);
        files = summary.expect("it can be read").files;
    }
    println!(
        "quick look at {}: {files} files in {best:.3} s; {:.0} in a second of processor time",
        tree.display(),
        files as f64 / best_cpu
    );
}

/// The most memory that the process ever had, in MiB; of the largest size so far.
fn rss_mib_max() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map_or("?".to_owned(), |kib| (kib / 1024).to_string())
}
