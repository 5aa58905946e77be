//! Engines and stores that fail at the n-th call, for every n: the run goes on, no file is lost,
//! nothing is called intact that was not read, and tags are absent or true.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use steadfast::event::FileError;
use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast::store::xattr::Xattr;
use steadfast::store::{Replaces, Store, StoredTag};
use steadfast::{Action, HashOptions, Tag, Verb, Verdict};
use steadfast_sys::file::{File, Status};

use crate::tree::Tree;

/// Fails once, at the call of this number.
struct Fault {
    at: u64,
    calls: AtomicU64,
}

impl Fault {
    fn at(at: u64) -> Fault {
        Fault { at, calls: AtomicU64::new(0) }
    }

    fn strikes(&self) -> bool {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1 == self.at
    }

    fn has_struck(&self) -> bool {
        self.calls.load(Ordering::Relaxed) >= self.at
    }
}

/// How a faulty engine misbehaves.
#[derive(Clone, Copy, Debug)]
enum Read {
    Error,
    EndOfFile,
    Short,
}

struct FaultyEngine {
    fault: Fault,
    how: Read,
}

impl Engine for FaultyEngine {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if !self.fault.strikes() {
            return Buffered.read_at(file, buffer, offset);
        }
        match self.how {
            Read::Error => Err(io::Error::from_raw_os_error(5)),
            Read::EndOfFile => Ok(0),
            Read::Short => Buffered.read_at(file, &mut buffer[..1], offset),
        }
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

struct FaultyStore {
    reads: Fault,
    writes: Fault,
}

impl Store for FaultyStore {
    fn tag(&self, file: &File) -> io::Result<StoredTag> {
        if self.reads.strikes() {
            return Err(io::Error::from_raw_os_error(5));
        }
        Xattr.tag(file)
    }

    fn previous(&self, file: &File) -> io::Result<StoredTag> {
        Xattr.previous(file)
    }

    fn write(&self, file: &File, tag: &Tag, replaces: Replaces) -> Result<(), FileError> {
        if self.writes.strikes() {
            return Err(FileError::new("set the tag", "no space left"));
        }
        Xattr.write(file, tag, replaces)
    }

    fn remove(&self, file: &File) -> Result<bool, FileError> {
        Xattr.remove(file)
    }
}

/// Small files, files of one chunk and of several.
fn tree() -> Tree {
    let tree = Tree::new();
    for number in 0..12_usize {
        tree.write(format!("small-{number:02}"), vec![number as u8; number * 991]);
    }
    tree.write("m-chunk", vec![1; 200_000]);
    tree.write("m-large", vec![2; 1_500_000]);
    tree.write("m-other", vec![3; 900_000]);
    tree
}

const FILES: usize = 15;

#[test]
fn a_read_that_fails_spoils_one_file_only() {
    let tree = tree();
    assert_eq!(tree.run(Verb::tag()).summary.actions(Action::Tagged), FILES as u64);
    for how in [Read::Error, Read::EndOfFile, Read::Short] {
        for at in 1.. {
            let engine = Arc::new(FaultyEngine { fault: Fault::at(at), how });
            let said = tree.run_through(Verb::check(), Some(engine.clone()), None);
            let struck = engine.fault.has_struck();
            assert_eq!(said.files.len(), FILES, "{how:?} at {at}");
            let intact = said.summary.verdicts(Verdict::Intact);
            let bad = said.files.iter().filter(|event| event.verdict != Some(Verdict::Intact));
            let bad: Vec<_> = bad.collect();
            match (how, struck) {
                (_, false) => {
                    assert_eq!((intact, said.status()), (FILES as u64, 0));
                    break;
                }
                // A short read is no fault: the rest is asked for again.
                (Read::Short, true) => assert_eq!(intact, FILES as u64, "at {at}"),
                (Read::Error, true) => {
                    assert_eq!(bad.len(), 1, "at {at}");
                    assert_eq!(bad[0].verdict, Some(Verdict::Unreadable));
                    assert_eq!(said.status(), 2);
                }
                (Read::EndOfFile, true) => {
                    // An empty file ends at its first read, and rightly.
                    assert!(bad.len() <= 1, "at {at}");
                    assert!(bad.iter().all(|event| event.verdict == Some(Verdict::Unstable)));
                }
            }
            assert!(at < 1_000, "the run never ended");
        }
    }
}

#[test]
fn a_file_that_could_not_be_hashed_whole_is_not_judged() {
    let tree = tree();
    tree.run(Verb::tag());
    let options = crate::tree::usual().with(|options| options.reading.workers = Some(1));
    let hash = Verb::Hash(HashOptions { judge: true, ..HashOptions::default() });
    let engine = FaultyEngine { fault: Fault::at(1), how: Read::Error };
    let said = tree.run_by(hash, &options, Arc::new(engine));
    let failed: Vec<_> = said.files.iter().filter(|event| event.trouble.is_some()).collect();
    assert_eq!((failed.len(), failed[0].stored), (1, None));
    assert!(said.files.iter().filter(|event| event.stored.is_some()).count() == FILES - 1);
}

#[test]
fn a_read_that_fails_while_tagging_leaves_that_file_without_a_tag() {
    for at in 1..60 {
        let tree = tree();
        let engine = Arc::new(FaultyEngine { fault: Fault::at(at), how: Read::Error });
        let said = tree.run_through(Verb::tag(), Some(engine.clone()), None);
        let struck = u64::from(engine.fault.has_struck());
        assert_eq!(said.summary.actions(Action::Tagged), FILES as u64 - struck, "at {at}");
        let check = tree.run(Verb::check());
        assert_eq!(check.summary.verdicts(Verdict::Intact), FILES as u64 - struck, "at {at}");
        assert_eq!(check.summary.verdicts(Verdict::Untagged), struck, "at {at}");
        assert_eq!(tree.run(Verb::tag()).summary.actions(Action::Tagged), struck);
        if struck == 0 {
            return;
        }
    }
    panic!("more reads than there can be");
}

#[test]
fn an_attribute_that_cannot_be_written_is_named_and_the_old_tag_stands() {
    for at in 1..=FILES as u64 + 1 {
        let tree = tree();
        let store = FaultyStore { reads: Fault::at(0), writes: Fault::at(at) };
        let said = tree.run_through(Verb::tag(), None, Some(Arc::new(store)));
        let failed = u64::from(at <= FILES as u64);
        assert_eq!((said.summary.counts.failed, u64::from(said.status())), (failed, 2 * failed));
        assert!(said.notices.is_empty(), "{:?}", said.notices);
        let check = tree.run(Verb::check());
        assert_eq!(check.summary.verdicts(Verdict::Untagged), failed);
        assert_eq!(check.summary.verdicts(Verdict::Intact), FILES as u64 - failed);

        tree.run(Verb::tag());
        tree.edit("m-large", vec![5; 1_500_000]);
        let store = FaultyStore { reads: Fault::at(0), writes: Fault::at(1) };
        let said = tree.run_through(Verb::update(), None, Some(Arc::new(store)));
        let event = said.of("m-large");
        assert_eq!((event.action, event.verdict), (None, Some(Verdict::Modified)));
        assert_eq!(said.status(), 1);
        assert_eq!(tree.run(Verb::check()).verdict("m-large"), Some(Verdict::Modified));
    }
}

#[test]
fn a_tag_that_cannot_be_read_is_unreadable() {
    let tree = tree();
    tree.run(Verb::tag());
    for at in 1..=FILES as u64 {
        let store = FaultyStore { reads: Fault::at(at), writes: Fault::at(0) };
        let said = tree.run_through(Verb::check(), None, Some(Arc::new(store)));
        assert_eq!(said.summary.verdicts(Verdict::Unreadable), 1);
        assert_eq!(said.summary.verdicts(Verdict::Intact), FILES as u64 - 1);
        assert_eq!(said.status(), 2);
    }
}

/// Changes the file while it is being read.
struct Meddler {
    path: std::path::PathBuf,
    done: std::sync::atomic::AtomicBool,
    change: fn(&std::path::Path),
}

impl Engine for Meddler {
    fn name(&self) -> &'static str {
        "meddler"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = Buffered.read_at(file, buffer, offset);
        if buffer.starts_with(b"victim") && !self.done.swap(true, Ordering::Relaxed) {
            (self.change)(&self.path);
        }
        read
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_unstable_and_gets_no_tag() {
    use std::fs;
    let changes: [fn(&std::path::Path); 4] = [
        |path| fs::File::options().write(true).open(path).unwrap().set_len(10).unwrap(),
        |path| fs::write(path, "victim, and something else").unwrap(),
        |path| {
            use std::io::Write;
            fs::File::options().append(true).open(path).unwrap().write_all(b"!").unwrap();
        },
        // Even the times put back: the change time tells.
        |path| {
            let mtime = fs::metadata(path).unwrap().modified().unwrap();
            let mut contents = fs::read(path).unwrap();
            contents[7] ^= 1;
            fs::write(path, contents).unwrap();
            crate::tree::set_mtime(path, mtime);
        },
    ];
    for size in [5_000, 2_000_000] {
        for change in changes {
            for verb in [Verb::tag(), Verb::check(), Verb::update()] {
                let tree = tree();
                let mut contents = b"victim".to_vec();
                contents.resize(size, 7);
                let path = tree.write("victim", &contents);
                if verb != Verb::tag() {
                    tree.run(Verb::tag());
                }
                let before = tree.run(Verb::Show).of("victim").stored;
                let engine = Meddler { path, done: false.into(), change };
                let said = tree.run_through(verb, Some(Arc::new(engine)), None);
                assert_eq!(said.verdict("victim"), Some(Verdict::Unstable), "{verb:?} {size}");
                assert_eq!(said.status(), 2);
                assert_eq!(tree.run(Verb::Show).of("victim").stored, before);
            }
        }
    }
}

/// Writes to an empty file between the first look and the first read.
#[cfg(target_os = "linux")]
struct Filler;

#[cfg(target_os = "linux")]
impl Engine for Filler {
    fn name(&self) -> &'static str {
        "filler"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        if status.length == 0 {
            let path = std::path::PathBuf::from(format!(
                "/proc/self/fd/{}",
                std::os::fd::AsRawFd::as_raw_fd(&std::os::fd::AsFd::as_fd(file))
            ));
            std::fs::write(path, "a line of log")?;
        }
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Buffered.read_at(file, buffer, offset)
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_empty_file_that_gets_its_first_bytes_is_unstable_and_gets_no_tag() {
    let tree = Tree::new();
    tree.write("log", "");
    let said = tree.run_through(Verb::tag(), Some(Arc::new(Filler)), None);
    assert_eq!((said.verdict("log"), said.status()), (Some(Verdict::Unstable), 2));
    assert_eq!(said.summary.counts.failed, 0);
    assert_eq!(tree.run(Verb::Show).of("log").stored, None);
}

#[test]
fn a_tag_that_came_meanwhile_is_not_replaced() {
    let tree = tree();
    tree.run(Verb::tag());
    let file = File::open(&tree.at("m-large")).unwrap();
    let stored = tree.run(Verb::Show).of("m-large").stored.unwrap();
    let other = Tag { length: 1, ..stored };
    let (kept, lost) = (Replaces::TagKept(other), Replaces::LostKept(other));
    for replaces in [Replaces::Nothing, Replaces::Tag(other), kept, lost] {
        assert!(Xattr.write(&file, &other, replaces).is_err(), "{replaces:?}");
        assert_eq!(Xattr.tag(&file).unwrap(), StoredTag::Whole(stored));
        assert_eq!(Xattr.previous(&file).unwrap(), StoredTag::Absent);
    }
    assert!(Xattr.write(&file, &stored, Replaces::Nothing).is_ok(), "the same may be there");
    assert!(Xattr.write(&file, &other, Replaces::TagKept(stored)).is_ok());
    assert_eq!(Xattr.previous(&file).unwrap(), StoredTag::Whole(stored));
}
