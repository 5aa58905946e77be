//! Damage on a real file system: bits flipped in the blocks of files, beneath the file system, and
//! every other kind of change beside it. Exactly the damaged files are named.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast::{Action, Options, ReadFrom, Selection, Verb, Verdict};
use steadfast_sys::cache::drop_cached;
use steadfast_sys::file::{File, Status};

use crate::image::{BLOCK_LEN, BTRFS, EXT4, Image, Kind, Log, TMPFS, XFS};
use crate::tree::{Said, Tree, run_on};

/// Without sums a flipped bit reaches the reader; and small files get blocks of their own.
const BTRFS_BARE: Kind = Kind { options: "nodatacow,nodatasum,max_inline=0", ..BTRFS };

/// With sums the file system itself notices.
const BTRFS_SUMMED: Kind = Kind { options: "datasum,max_inline=0", ..BTRFS };

/// Lengths around the seams of blocks, chunks and messages.
const SEAMS: [usize; 16] = [
    0, 1, 31, 32, 1_000, 4_095, 4_096, 4_097, 5_000, 65_537, 262_143, 262_144, 262_145, 1_000_003,
    2_097_152, 4_500_001,
];

/// Files of random lengths beside those at the seams.
const RANDOM_FILES: usize = 300;

/// Bytes that tell one block from every other.
const MARKER_LEN: usize = 32;

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let words = std::iter::repeat_with(|| self.next().to_le_bytes());
        let mut bytes: Vec<u8> = words.take(len.div_ceil(8)).flatten().collect();
        bytes.truncate(len);
        bytes
    }
}

/// The verdict of every file, by its name.
type Verdicts = BTreeMap<String, Option<Verdict>>;

/// A tree of known contents, some of them to be damaged.
struct Collection {
    files: BTreeMap<String, Vec<u8>>,
    /// The files to damage, and the byte of each that is hit.
    victims: Vec<(String, usize)>,
}

impl Collection {
    fn new() -> Collection {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut collection = Collection { files: BTreeMap::new(), victims: Vec::new() };
        for len in SEAMS {
            collection.add(format!("seams/safe-{len}"), len, &mut random, false);
            collection.add(format!("seams/hit-{len}"), len, &mut random, len >= MARKER_LEN);
        }
        for number in 0..RANDOM_FILES {
            let len = random.below(48 << 10);
            let hit = number % 7 == 3 && len >= MARKER_LEN;
            let name = format!("{}/{number:03}", ["a", "b/c", "d"][number % 3]);
            collection.add(name, len, &mut random, hit);
        }
        collection
    }

    fn add(&mut self, name: String, len: usize, random: &mut Random, hit: bool) {
        if hit {
            // First, last and any block; of the block, any byte.
            let blocks = len.div_ceil(BLOCK_LEN);
            let block = [0, blocks - 1, random.below(blocks)][self.victims.len() % 3];
            let in_block = (len - block * BLOCK_LEN).min(BLOCK_LEN);
            let block = if in_block < MARKER_LEN { 0 } else { block };
            let in_block = (len - block * BLOCK_LEN).min(BLOCK_LEN);
            let byte = [0, in_block - 1, random.below(in_block)][self.victims.len() / 3 % 3];
            self.victims.push((name.clone(), block * BLOCK_LEN + byte));
        }
        self.files.insert(name, random.bytes(len));
    }

    fn write(&self, tree: &Tree) {
        for (name, contents) in &self.files {
            tree.write(name, contents);
        }
    }

    /// Returns where on the medium the byte of each hit is.
    fn places(&self, image: &Image, hits: &[(String, usize)]) -> Vec<u64> {
        let marker = |(name, byte): &(String, usize)| {
            let block = &self.files[name][byte / BLOCK_LEN * BLOCK_LEN..];
            block[..block.len().min(MARKER_LEN)].to_vec()
        };
        let markers: Vec<Vec<u8>> = hits.iter().map(marker).collect();
        let blocks = image.locate(&markers, BLOCK_LEN);
        let place = |(block, (_, byte)): (u64, &(String, usize))| block + (byte % BLOCK_LEN) as u64;
        blocks.into_iter().zip(hits).map(place).collect()
    }

    /// Returns the verdicts to expect when the victims have one and all others another.
    fn verdicts(&self, victims: Verdict, others: Verdict) -> Verdicts {
        let mut verdicts: Verdicts =
            self.files.keys().map(|name| (name.clone(), Some(others))).collect();
        for (name, _) in &self.victims {
            verdicts.insert(name.clone(), Some(victims));
        }
        verdicts
    }

    /// Drops all of it from the page cache.
    fn drop_cached(&self, tree: &Tree) {
        let open = |name| File::open(&tree.at(name)).unwrap();
        self.files.keys().for_each(|name| drop_cached(&open(name)).unwrap());
    }

    /// Returns the names of files that were not hit.
    fn unhurt(&self) -> impl Iterator<Item = &String> {
        let hit = |name: &&String| !self.victims.iter().any(|(victim, _)| victim == *name);
        self.files.keys().filter(hit)
    }
}

/// Asserts the verdict of every file, and that none is said of twice or not at all.
#[track_caller]
fn assert_verdicts(tree: &Tree, said: &Said, expected: &Verdicts) {
    let names = said.order(tree.path()).into_iter().map(|name| String::from_utf8(name).unwrap());
    let found: Verdicts = names.zip(said.files.iter().map(|event| event.verdict)).collect();
    assert_eq!(said.files.len(), found.len(), "a file was said of twice");
    for (name, verdict) in expected {
        assert_eq!(found.get(name), Some(verdict), "{name}: {:?}", said.of(name).trouble);
    }
    assert_eq!(found.len(), expected.len(), "files were made up");
}

fn reading_from(read_from: ReadFrom) -> Options {
    crate::tree::usual().with(|options| options.reading.from = read_from)
}

fn tag_all(tree: &Tree, files: usize) {
    let said = tree.run(Verb::tag());
    assert_eq!((said.summary.actions(Action::Tagged), said.status()), (files as u64, 0));
}

/// Flips a bit in every victim's block while the file system is not mounted.
fn flip_all(image: &mut Image, places: &[u64]) {
    image.unmount();
    for (number, &place) in places.iter().enumerate() {
        image.flip(place, (number % 8) as u8);
    }
    image.mount();
}

/// Tags, damages on the medium, checks; updates, and the evidence stands; heals the medium, and
/// all is well; damages it again and changes files in every other way.
fn flipped_bits_are_named_exactly(kind: Kind) {
    let Some(mut image) = Image::make(kind) else { return };
    let collection = Collection::new();
    collection.write(&image.tree);
    tag_all(&image.tree, collection.files.len());
    image.unmount();
    // What is in a file's last block behind its end is not the file's.
    let behind_end = ("seams/safe-5000".to_owned(), 2 * BLOCK_LEN - 10);
    let hits = [&collection.victims[..], &[behind_end]].concat();
    let places = collection.places(&image, &hits);
    image.mount();
    let intact = collection.verdicts(Verdict::Intact, Verdict::Intact);
    assert_verdicts(&image.tree, &image.tree.run(Verb::check()), &intact);

    flip_all(&mut image, &places);
    let corrupt = collection.verdicts(Verdict::Corrupt, Verdict::Intact);
    for read_from in [ReadFrom::Cache, ReadFrom::Media] {
        let said = image.tree.run_as(Verb::check(), &reading_from(read_from));
        assert_verdicts(&image.tree, &said, &corrupt);
        assert_eq!(said.status(), 3);
    }
    let said = image.tree.run(Verb::update());
    assert_verdicts(&image.tree, &said, &corrupt);
    assert_eq!((said.summary.actions(Action::Retagged), said.status()), (0, 3));

    flip_all(&mut image, &places);
    assert_verdicts(&image.tree, &image.tree.run(Verb::check()), &intact);
    flip_all(&mut image, &places);
    everything_at_once(&image.tree, &collection, corrupt);
}

/// Changes a damaged tree in every other way too, and expects `verdicts` but for those changes.
fn everything_at_once(tree: &Tree, collection: &Collection, mut verdicts: Verdicts) {
    let mut unhurt = collection.unhurt();
    let mut expect = |name: &str, verdict| {
        assert!(verdicts.insert(name.to_owned(), Some(verdict)) != Some(Some(Verdict::Corrupt)));
    };
    for (number, name) in unhurt.by_ref().take(12).enumerate() {
        let mut contents = collection.files[name].clone();
        match number % 3 {
            0 => contents.push(b'!'),
            1 => contents.truncate(contents.len() / 2),
            _ => contents[0] ^= 1,
        }
        tree.edit(name, contents);
        expect(name, Verdict::Modified);
    }
    for name in unhurt.by_ref().take(9) {
        tree.touch(name);
        expect(name, Verdict::Touched);
    }
    let untagged: Vec<&String> = unhurt.by_ref().take(7).collect();
    let selection = Selection::of(untagged.iter().map(|name| tree.at(name)));
    let said = run_on(Verb::Untag, &selection, &crate::tree::usual());
    assert_eq!(said.summary.actions(Action::Removed), 7);
    untagged.into_iter().for_each(|name| expect(name, Verdict::Untagged));
    tree.write("new", "since then");
    expect("new", Verdict::Untagged);
    for len in [5_000, 3_000_000] {
        let name = format!("victim-{len}");
        let path = tree.write(&name, [b"victim".to_vec(), vec![7; len]].concat());
        let selection = Selection::of([path]);
        run_on(Verb::tag(), &selection, &crate::tree::usual());
        expect(&name, Verdict::Unstable);
    }
    let paths = [5_000, 3_000_000].map(|len| tree.at(format!("victim-{len}")));
    let engine = Truncator { victims: paths.map(|path| (path, AtomicBool::new(false))) };
    let said = tree.run_through(Verb::check(), Some(Arc::new(engine)), None);
    assert_verdicts(tree, &said, &verdicts);
    assert_eq!(said.status(), 3);
    let gone = said.of("victim-3000000").trouble.clone();
    assert_eq!(gone.unwrap().reason, "the file changed meanwhile");
}

/// Truncates each victim when its first bytes are read.
struct Truncator {
    victims: [(PathBuf, AtomicBool); 2],
}

impl Engine for Truncator {
    fn name(&self) -> &'static str {
        "truncator"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = Buffered.read_at(file, buffer, offset)?;
        if offset == 0 && buffer[..read].starts_with(b"victim") {
            let inode = file.status()?.inode;
            for (path, done) in &self.victims {
                let is_it = Status::of(path)?.inode == inode;
                if is_it && !done.swap(true, Ordering::Relaxed) {
                    fs::File::options().write(true).open(path)?.set_len(10)?;
                }
            }
        }
        Ok(read)
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

#[test]
fn flipped_bits_on_ext4_are_named_exactly() {
    flipped_bits_are_named_exactly(EXT4);
}

#[test]
fn flipped_bits_on_xfs_are_named_exactly() {
    flipped_bits_are_named_exactly(XFS);
}

#[test]
fn flipped_bits_on_btrfs_without_sums_are_named_exactly() {
    flipped_bits_are_named_exactly(BTRFS_BARE);
}

#[test]
fn what_the_file_system_refuses_to_read_is_unreadable_and_never_intact() {
    let Some(mut image) = Image::make(BTRFS_SUMMED) else { return };
    let collection = Collection::new();
    collection.write(&image.tree);
    tag_all(&image.tree, collection.files.len());
    image.unmount();
    let places = collection.places(&image, &collection.victims);
    image.mount();
    flip_all(&mut image, &places);
    let expected = collection.verdicts(Verdict::Unreadable, Verdict::Intact);
    for read_from in [ReadFrom::Cache, ReadFrom::Media, ReadFrom::Cache] {
        let said = image.tree.run_as(Verb::check(), &reading_from(read_from));
        assert_verdicts(&image.tree, &said, &expected);
        assert_eq!(said.status(), 2);
        for (name, _) in &collection.victims {
            let trouble = said.of(name).trouble.clone().unwrap();
            assert_eq!(trouble.to_string(), "cannot read: input/output error");
        }
    }
    flip_all(&mut image, &places);
    let healed = collection.verdicts(Verdict::Intact, Verdict::Intact);
    assert_verdicts(&image.tree, &image.tree.run(Verb::check()), &healed);
}

#[test]
fn damage_in_memory_is_named_exactly() {
    let Some(image) = Image::make(TMPFS) else { return };
    let collection = Collection::new();
    collection.write(&image.tree);
    tag_all(&image.tree, collection.files.len());
    for (name, byte) in &collection.victims {
        let mut contents = collection.files[name].clone();
        contents[*byte] ^= 0x10;
        image.tree.corrupt(name, contents);
    }
    let expected = collection.verdicts(Verdict::Corrupt, Verdict::Intact);
    let said = image.tree.run(Verb::check());
    assert_verdicts(&image.tree, &said, &expected);
    assert_eq!(said.status(), 3);
    everything_at_once(&image.tree, &collection, expected);
}

/// Tags half of the files for good and half just before the power is lost.
fn tags_outlive_a_loss_of_power_or_are_absent(kind: Kind, log: Log) {
    let Some(mut image) = Image::make(kind) else { return };
    let collection = Collection::new();
    collection.write(&image.tree);
    image.sync();
    let early = Selection::of([image.tree.at("a")]);
    let early = run_on(Verb::tag(), &early, &crate::tree::usual()).summary.actions(Action::Tagged);
    image.sync();
    let late = image.tree.run(Verb::tag()).summary.actions(Action::Tagged);
    assert_eq!((early, early + late), (100, collection.files.len() as u64));
    if !image.crash(log) {
        return;
    }
    let said = image.tree.run(Verb::check());
    let [intact, untagged] =
        [Verdict::Intact, Verdict::Untagged].map(|verdict| said.summary.verdicts(verdict));
    assert_eq!((intact + untagged, said.status()), (early + late, 0));
    match log {
        Log::Lost => assert!(intact >= early, "a tag that was written out is gone"),
        Log::Written => assert_eq!(untagged, 0),
    }
    assert_eq!(image.tree.run(Verb::tag()).summary.actions(Action::Tagged), untagged);
    let intact = collection.verdicts(Verdict::Intact, Verdict::Intact);
    assert_verdicts(&image.tree, &image.tree.run(Verb::check()), &intact);
}

#[test]
fn tags_outlive_a_loss_of_power_or_are_absent_on_ext4() {
    for log in [Log::Lost, Log::Written] {
        tags_outlive_a_loss_of_power_or_are_absent(EXT4, log);
    }
}

#[test]
fn tags_outlive_a_loss_of_power_or_are_absent_on_xfs() {
    for log in [Log::Lost, Log::Written] {
        tags_outlive_a_loss_of_power_or_are_absent(XFS, log);
    }
}

#[test]
fn the_medium_is_asked_and_not_the_cache_when_so_wanted() {
    let Some(image) = Image::make(EXT4) else { return };
    let tree = &image.tree;
    let collection = Collection::new();
    collection.write(tree);
    tag_all(tree, collection.files.len());
    image.sync();
    let places = collection.places(&image, &collection.victims);
    let flip = || places.iter().for_each(|&place| image.flip(place, 3));
    let intact = collection.verdicts(Verdict::Intact, Verdict::Intact);
    let corrupt = collection.verdicts(Verdict::Corrupt, Verdict::Intact);
    // Memory may be short: what falls out of the cache comes back damaged, and shows nothing.
    for _ in 0..10 {
        assert_verdicts(tree, &tree.run(Verb::check()), &intact);
        flip();
        let cached = tree.run(Verb::check());
        let media = tree.run_as(Verb::check(), &reading_from(ReadFrom::Media));
        let again = tree.run(Verb::check());
        assert_verdicts(tree, &media, &corrupt);
        assert_eq!((media.status(), media.summary.bytes_from_media), (3, media.summary.bytes));
        if cached.status() == 0 && again.status() == 0 {
            assert_verdicts(tree, &cached, &intact);
            assert_eq!(cached.summary.bytes_from_media, 0);
            return;
        }
        flip();
        collection.drop_cached(tree);
    }
    panic!("the files never stayed in the page cache");
}

/// Flips a bit in the tags of some files, in their inodes. Returns what the check said of them.
fn flipped_tags(kind: Kind) -> Option<Vec<String>> {
    let mut image = Image::make(kind)?;
    let mut random = Random(77);
    for number in 0..60 {
        image.tree.write(format!("{number:02}"), random.bytes(2_000));
    }
    tag_all(&image.tree, 60);
    let shown = image.tree.run(Verb::Show);
    let victims: Vec<String> = (0..60).step_by(4).map(|number| format!("{number:02}")).collect();
    let digest = |name: &String| shown.of(name).stored.unwrap().digest.as_bytes().to_vec();
    let markers: Vec<Vec<u8>> = victims.iter().map(digest).collect();
    image.unmount();
    let places = image.locate(&markers, 4);
    image.mount();
    flip_all(&mut image, &places);
    let said = image.tree.run(Verb::check());
    assert_eq!(said.summary.verdicts(Verdict::Unreadable), victims.len() as u64);
    assert_eq!(said.summary.verdicts(Verdict::Intact), 60 - victims.len() as u64);
    assert_eq!(said.status(), 2);
    let reason = |name: &String| said.of(name).trouble.clone().unwrap().to_string();
    Some(victims.iter().map(reason).collect())
}

#[test]
fn a_damaged_tag_is_told_from_a_damaged_file() {
    const FORMAT: [&[&str]; 2] = [
        &["mkfs.ext4", "-q", "-F", "-I", "256", "-b", "4096", "-O", "^has_journal,^metadata_csum"],
        &["mkfs.ext4", "-q", "-F", "-I", "256", "-b", "4096", "-O", "^has_journal,metadata_csum"],
    ];
    let bare = flipped_tags(Kind { format: FORMAT[0], ..EXT4 });
    for reason in bare.into_iter().flatten() {
        assert_eq!(reason, "cannot read the tag: the tag is damaged: its check value does not fit");
    }
    // Where inodes carry sums the file system refuses the whole inode.
    let summed = flipped_tags(Kind { format: FORMAT[1], ..EXT4 });
    for reason in summed.into_iter().flatten() {
        assert_eq!(reason, "cannot open: bad message");
    }
}
