//! Reading from the medium: every length and the file's changes under the reader's hands, where
//! the bytes are said to come from, and what is left in the page cache.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use steadfast::read::buffered::Buffered;
use steadfast::read::direct::Direct;
use steadfast::read::null::Null;
use steadfast::read::{Engine, Origin, PositionedRead};
use steadfast::store::xattr::Xattr;
use steadfast::unguarded::run_with;
use steadfast::{Event, Monitor, Options, ReadFrom, Verb, Verdict};
use steadfast_sys::cache::{cached_bytes, drop_cached};
use steadfast_sys::file::{AlignedBuffer, File, Status};
#[cfg(target_os = "linux")]
use steadfast_sys::storage::{bytes_in_tree, is_in_tree, storage_place};
use steadfast_testing::{Need, skip};

use crate::image::{BTRFS, EXT4, Image, Kind, TMPFS, XFS, command};
use crate::tree::{Tree, retag};

/// A block, in which direct reads are aligned, and the seams of what is read at a time.
const BLOCK: usize = 4096;
const LENGTHS: [usize; 9] =
    [1, 511, BLOCK - 1, BLOCK, BLOCK + 1, 65_536, 65_537, 1 << 20, (2 << 20) + 3 * BLOCK + 77];

fn contents(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 11) as u8).collect()
}

fn name(length: usize) -> String {
    format!("file-{length}")
}

/// Writes a file of each length, and one that is mostly a hole.
fn fill(tree: &Tree) {
    for length in LENGTHS {
        tree.write(name(length), contents(length));
    }
    let hole = fs::File::create(tree.at("hole")).unwrap();
    hole.write_all_at(b"after the hole", 1_500_000).unwrap();
    hole.set_len(2_000_001).unwrap();
    let said = tree.run(Verb::tag());
    assert_eq!(said.status(), 0);
}

fn names() -> Vec<String> {
    LENGTHS.into_iter().map(name).chain(["hole".to_owned()]).collect()
}

fn media() -> Options {
    crate::tree::usual().with(|options| options.reading.from = ReadFrom::Media)
}

#[test]
#[cfg(target_os = "linux")]
fn what_btrfs_keeps_in_its_tree_is_read_from_the_device() {
    let Some(image) = Image::make(BTRFS) else { return };
    let (kept, changed) = (b"kept in the tree".as_slice(), b"Kept in the tree".as_slice());
    image.tree.write("small", kept);
    image.tree.write("large", contents(65_536));
    image.sync();
    let place = storage_place(image.tree.path()).unwrap();
    let device = &place.folders[0].mounted_as;
    let [small, large] = ["small", "large"].map(|name| File::open(&image.tree.at(name)).unwrap());
    assert!(is_in_tree(&small) && !is_in_tree(&large));
    assert_eq!(bytes_in_tree(&small, device).unwrap().as_deref(), Some(kept));
    assert_eq!(bytes_in_tree(&large, device).unwrap(), None);
    assert!(image.change(kept, changed) > 0);
    assert_eq!(fs::read(image.tree.at("small")).unwrap(), kept, "the tree has a cache");
    assert_eq!(bytes_in_tree(&small, device).unwrap().as_deref(), Some(changed));
}

fn cached(tree: &Tree, name: &str) -> u64 {
    let file = File::open(&tree.at(name)).unwrap();
    cached_bytes(&file, file.status().unwrap().length).unwrap()
}

/// Puts a file into the page cache, or out of it; says whether that came about.
fn set_cached(tree: &Tree, name: &str, wanted: bool) -> bool {
    let length = if wanted {
        fs::read(tree.at(name)).unwrap().len() as u64
    } else {
        drop_cached(&File::open(&tree.at(name)).unwrap()).unwrap();
        0
    };
    cached(tree, name) == length
}

/// Checks from the medium files that are not cached, then files that are; neither is changed.
fn the_page_cache_is_left_as_it_was(kind: Kind) {
    let Some(image) = Image::make(kind) else { return };
    let tree = &image.tree;
    fill(tree);
    image.sync();
    for wanted in [false, true] {
        let as_wanted: Vec<_> =
            names().into_iter().filter(|name| set_cached(tree, name, wanted)).collect();
        let before: Vec<_> = as_wanted.iter().map(|name| cached(tree, name)).collect();
        assert!(as_wanted.len() > 5, "{}: hardly any file is cached: {wanted}", kind.name);
        let said = tree.run_as(Verb::check(), &media());
        assert_eq!(said.summary.verdicts(Verdict::Intact), names().len() as u64);
        for (name, before) in as_wanted.iter().zip(before) {
            let event = said.of(name);
            let after = cached(tree, name);
            // btrfs keeps the shortest files in its own records, and reads these through the cache.
            if event.reading.origin == Some(Origin::Media) || wanted {
                assert_eq!(after, before, "{}, {name}, cached: {wanted}", kind.name);
            }
            let told = kind.name != "btrfs";
            if told {
                assert_eq!(event.reading.origin, Some(Origin::Media), "{}, {name}", kind.name);
            } else if wanted || after > 0 {
                assert_eq!(event.reading.origin, Some(Origin::Cache), "{}, {name}", kind.name);
            } else {
                assert_eq!(event.reading.origin, Some(Origin::Media), "{}, {name}", kind.name);
            }
        }
        if !wanted {
            let large = said.of(&name(1 << 20));
            assert_eq!(large.reading.origin, Some(Origin::Media), "{}", kind.name);
        }
    }
}

#[test]
fn the_page_cache_is_left_as_it_was_on_ext4() {
    the_page_cache_is_left_as_it_was(EXT4);
}

#[test]
fn the_page_cache_is_left_as_it_was_on_xfs() {
    the_page_cache_is_left_as_it_was(XFS);
}

#[test]
fn the_page_cache_is_left_as_it_was_on_btrfs() {
    the_page_cache_is_left_as_it_was(BTRFS);
}

#[test]
fn what_is_read_through_the_cache_after_all_is_not_said_to_come_from_the_medium() {
    // Compressed files accept direct reads and then read through the cache.
    let Some(image) = Image::make(Kind { options: "rw,compress-force=zlib", ..BTRFS }) else {
        return;
    };
    let tree = &image.tree;
    tree.write("dense", vec![b'a'; 1 << 20]);
    assert_eq!(tree.run(Verb::tag()).status(), 0);
    image.sync();
    assert!(set_cached(tree, "dense", false), "it could not be put out of the cache");
    let said = tree.run_as(Verb::check(), &media());
    assert!(cached(tree, "dense") > 0, "it was not read through the cache");
    assert_eq!(said.of("dense").verdict, Some(Verdict::Intact));
    assert_eq!(said.of("dense").reading.origin, Some(Origin::Cache));
    assert_eq!(said.summary.bytes_from_media, 0);
    let told = said.notices.iter().filter(|notice| notice.text.contains("medium")).count();
    assert_eq!(told, 1, "{:?}", said.notices);
}

#[test]
fn what_is_in_memory_alone_does_not_come_from_a_medium() {
    let Some(image) = Image::make(TMPFS) else { return };
    fill(&image.tree);
    let said = image.tree.run_as(Verb::check(), &media());
    assert_eq!((said.status(), said.summary.bytes_from_media), (0, 0));
    assert!(said.files.iter().all(|event| event.reading.origin == Some(Origin::Cache)));
    let told = said.notices.iter().filter(|notice| notice.text.contains("medium")).count();
    assert_eq!(told, 1, "{:?}", said.notices);
}

#[test]
fn where_direct_reads_are_not_offered_nothing_comes_from_the_medium() {
    let Some(image) = Image::make(Kind { options: "rw,data=journal", ..EXT4 }) else { return };
    fill(&image.tree);
    image.sync();
    for name in names() {
        set_cached(&image.tree, &name, false);
    }
    let said = image.tree.run_as(Verb::check(), &media());
    assert_eq!((said.status(), said.summary.bytes_from_media), (0, 0));
    assert!(said.files.iter().all(|event| event.reading.origin == Some(Origin::Cache)));
    assert!(cached(&image.tree, &name(1 << 20)) > 0, "it was not read through the cache");
}

#[test]
fn encrypted_folders_are_read_through_the_cache_and_said_to_be() {
    let kind = Kind {
        format: &["mkfs.ext4", "-q", "-F", "-I", "256", "-b", "4096", "-O", "encrypt"],
        ..EXT4
    };
    let Some(image) = Image::make(kind) else { return };
    let tree = &image.tree;
    fs::create_dir(tree.at("sealed")).unwrap();
    let script = "key=$(head -c 64 /dev/zero | xfs_io -c 'add_enckey' \"$0\") && \
                  xfs_io -c \"set_encpolicy -v 2 ${key##* }\" \"$0/sealed\"";
    if let Err(why) =
        command(std::process::Command::new("sh").args(["-c", script]).arg(tree.path()))
    {
        return skip(Need::System("encrypted folders"), why);
    }
    tree.write("sealed/file", contents(1 << 20));
    assert_eq!(tree.run(Verb::tag()).status(), 0);
    image.sync();
    set_cached(tree, "sealed/file", false);
    let said = tree.run_as(Verb::check(), &media());
    let through_cache = cached(tree, "sealed/file") > 0;
    let origin = if through_cache { Origin::Cache } else { Origin::Media };
    assert_eq!(said.of("sealed/file").reading.origin, Some(origin));
}

/// Changes a file's length after so many reads, behind the engine's back.
struct Meddler {
    file: fs::File,
    reads: AtomicU64,
    at: u64,
    length: u64,
}

impl Meddler {
    fn meddle(&self, reads: u64) {
        let before = self.reads.fetch_add(reads, Ordering::Relaxed);
        if (before..before + reads).contains(&self.at) {
            self.file.set_len(self.length).unwrap();
        }
    }
}

impl Engine for Meddler {
    fn name(&self) -> &'static str {
        "meddler"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Direct.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.meddle(1);
        Direct.read_at(file, buffer, offset)
    }

    fn read_many(&self, reads: &mut [PositionedRead<'_>]) {
        self.meddle(reads.len() as u64);
        Direct.read_many(reads);
    }

    fn in_flight(&self) -> usize {
        Direct.in_flight()
    }

    fn alignment(&self) -> usize {
        Direct.alignment()
    }
}

#[test]
fn a_file_that_changes_its_length_while_read_is_unstable() {
    for was in [5_000, 3_000_001] {
        let tree = Tree::new();
        let path = tree.write("file", contents(was));
        tree.run(Verb::tag());
        assert_eq!(tree.run(Verb::check()).verdict("file"), Some(Verdict::Intact));
        for length in [0, 1, BLOCK, was / 2, was - 1, was + 1, was + BLOCK, 2 * was] {
            fs::write(&path, contents(was)).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            let (reads, at, length) = (AtomicU64::new(0), 0, length as u64);
            let meddler = Arc::new(Meddler { file, reads, at, length });
            let said = tree.run_through(Verb::check(), Some(meddler.clone()), None);
            assert!(meddler.reads.load(Ordering::Relaxed) > 0);
            assert_eq!(said.verdict("file"), Some(Verdict::Unstable), "{was} to {length}");
            assert_eq!(said.status(), 2);
        }
    }
}

/// Reads a file whole with `read_many`, several reads at a time.
fn read_whole(engine: &dyn Engine, file: &File) -> Vec<u8> {
    let mut whole = Vec::new();
    let mut buffers: Vec<_> = (0..11).map(|_| AlignedBuffer::new(16 * BLOCK)).collect();
    loop {
        let start = whole.len() as u64;
        let offset = |number: usize| start + (number * 16 * BLOCK) as u64;
        let reads = buffers.iter_mut().enumerate();
        let mut reads: Vec<_> = reads
            .map(|(number, buffer)| PositionedRead::new(file, buffer, offset(number)))
            .collect();
        engine.read_many(&mut reads);
        for read in reads {
            let count = read.outcome.unwrap();
            whole.extend_from_slice(&read.buffer[..count]);
            if count < read.buffer.len() {
                return whole;
            }
        }
    }
}

#[test]
fn many_reads_give_what_one_after_another_gives() {
    let tree = Tree::new();
    for length in LENGTHS {
        let path = tree.write("file", contents(length));
        for engine in [&Direct as &dyn Engine, &Buffered] {
            let file = File::open(&path).unwrap();
            engine.prepare(&file, &file.status().unwrap()).unwrap();
            assert!(read_whole(engine, &file) == contents(length), "{}, {length}", engine.name());
        }
    }
}

#[test]
fn errors_of_many_reads_are_those_of_one() {
    let tree = Tree::new();
    let file = File::open(&tree.path().join(".")).unwrap();
    let mut buffers = [AlignedBuffer::new(BLOCK), AlignedBuffer::new(BLOCK)];
    let mut reads: Vec<_> =
        buffers.iter_mut().map(|buffer| PositionedRead::new(&file, buffer, 0)).collect();
    Direct.read_many(&mut reads);
    for read in reads {
        assert_eq!(read.outcome.unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }
}

#[test]
fn the_null_engine_reads_whole_lengths_and_leaves_the_buffer_alone() {
    let tree = Tree::new();
    let file = File::open(&tree.write("file", contents(10_000))).unwrap();
    assert_eq!(Null.prepare(&file, &file.status().unwrap()).unwrap(), Origin::Cache);
    let mut buffer = [7; 8192];
    for (offset, read) in [(0, 8192), (8192, 1808), (9_999, 1), (10_000, 0), (u64::MAX, 0)] {
        assert_eq!(Null.read_at(&file, &mut buffer, offset).unwrap(), read);
        assert_eq!(buffer, [7; 8192]);
    }
}

struct Deaf;

impl Monitor for Deaf {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[test]
fn made_up_bytes_are_hashed_but_never_judged_or_tagged() {
    let tree = Tree::new();
    fill(&tree);
    let said = tree.run_through(Verb::hash(), Some(Arc::new(Null)), None);
    let bytes: usize = LENGTHS.iter().sum::<usize>() + 2_000_001;
    assert_eq!((said.status(), said.summary.bytes), (0, bytes as u64));
    assert_eq!(said.summary.bytes_from_media, 0);
    let retag = retag(true);
    for verb in [Verb::tag(), Verb::check(), Verb::update(), retag, Verb::Show, Verb::Untag] {
        let (selection, options) = (tree.selection(), crate::tree::usual());
        let (engine, store) = (Arc::new(Null), Arc::new(Xattr));
        let error = run_with(verb, &selection, &options, engine, store, &mut Deaf).unwrap_err();
        assert!(error.to_string().contains("null"), "{error}");
    }
    assert_eq!(tree.run(Verb::check()).status(), 0);
}
