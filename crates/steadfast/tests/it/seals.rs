//! What the file system grants and refuses: where tags are kept and what they cost, files and
//! mounts that cannot be written, places without attributes, mounts within the tree.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use steadfast::Advice;
use steadfast::event::FileError;
use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast::store::{Replaces, Store, StoredTag};
use steadfast::{
    Action, CatalogueUse, CheckOptions, Event, InitOptions, Monitor, Selection, Subject, Tag, Verb,
    Verdict,
};
use steadfast_sys::file::{File, Status};
use steadfast_sys::xattr;

use crate::image::{BLOCK_LEN, EXT4, Image, Kind, Mount, RAMFS, TMPFS, command};
use crate::tree::{Said, Tree, run_on, usual};

/// As `mkfs` makes it unasked.
const EXT4_BY_DEFAULT: Kind =
    Kind { format: &["mkfs.ext4", "-q", "-F"], size_bytes: 600 << 20, ..EXT4 };

fn write_files(tree: &Tree, files: u64) {
    for number in 0..files {
        let contents = format!("{number} ").repeat(1 + number as usize % 700);
        tree.write(format!("{}/{number:04}", number % 8), contents);
    }
}

/// Returns the blocks that each file takes, its attributes included.
fn blocks_of_files(said: &Said) -> Vec<u64> {
    said.files.iter().map(|event| fs::metadata(event.path.to_path()).unwrap().blocks()).collect()
}

/// Returns every attribute of a file and its value.
fn attributes(path: &Path) -> Vec<(OsString, Vec<u8>)> {
    let file = File::open(path).unwrap();
    let value = |name: OsString| {
        let mut value = vec![0; 64 << 10];
        let len = xattr::get(&file, name.to_str().unwrap(), &mut value).unwrap().unwrap();
        value.truncate(len);
        (name, value)
    };
    xattr::list(&file).unwrap().into_iter().map(value).collect()
}

/// Returns what went wrong with a file, in words.
fn trouble(said: &Said, name: &str) -> String {
    said.of(name).trouble.as_ref().map_or_else(String::new, ToString::to_string)
}

#[test]
fn tagging_allocates_no_block() {
    const FILES: u64 = 2_000;
    let Some(image) = Image::make(EXT4_BY_DEFAULT) else { return };
    write_files(&image.tree, FILES);
    image.sync();
    let before = image.free_blocks();
    let blocks = blocks_of_files(&image.tree.run(Verb::Show));

    let said = image.tree.run(Verb::tag());
    assert_eq!((said.summary.actions(Action::Tagged), said.status()), (FILES, 0));
    image.sync();
    assert_eq!(image.free_blocks(), before);
    assert_eq!(blocks_of_files(&said), blocks);

    // A record written out in words does take a block of every file.
    for (number, event) in said.files.iter().enumerate() {
        let file = File::open(&event.path.to_path()).unwrap();
        xattr::set(&file, "user.words", format!("{number:0140}").as_bytes()).unwrap();
    }
    image.sync();
    assert_eq!(image.free_blocks(), before - FILES);
    let with_words = blocks.iter().map(|blocks| blocks + BLOCK_LEN as u64 / 512);
    assert!(blocks_of_files(&said).into_iter().eq(with_words));
    assert_eq!(image.tree.run(Verb::check()).summary.verdicts(Verdict::Intact), FILES);
}

/// Makes a file that takes every block that is left, without writing them.
fn fill_blocks(filler: &Path) {
    let (mut len, mut step) = (0, EXT4.size_bytes);
    while step >= BLOCK_LEN as u64 {
        let (offset, length) = (len.to_string(), step.to_string());
        let mut allocate = Command::new("fallocate");
        match command(allocate.args(["-o", &offset, "-l", &length]).arg(filler)) {
            Ok(_) => len += step,
            Err(_) => step /= 2,
        }
    }
}

#[test]
fn a_full_file_system_still_takes_tags() {
    let Some(image) = Image::make(EXT4) else { return };
    write_files(&image.tree, 300);
    let witness = image.tree.write("witness", "takes no further attribute");
    image.sync();
    fill_blocks(&image.tree.at("filler"));
    let full = xattr::set(&File::open(&witness).unwrap(), "user.words", &[b'w'; 2_000]);
    assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull, "it is not full");

    let selection =
        image.tree.selection().with(|selection| selection.excludes = vec!["filler".into()]);
    let said = run_on(Verb::tag(), &selection, &crate::tree::usual());
    assert_eq!((said.summary.actions(Action::Tagged), said.status()), (301, 0));
    let said = run_on(Verb::check(), &selection, &crate::tree::usual());
    assert_eq!(said.summary.verdicts(Verdict::Intact), 301);
}

#[test]
fn a_file_that_may_not_be_changed_is_named_and_the_others_are_tagged() {
    let Some(image) = Image::make(EXT4) else { return };
    write_files(&image.tree, 20);
    let sealed = [("immutable", "i"), ("append-only", "a")];
    let before = sealed.map(|(name, flag)| {
        let path = image.tree.write(name, "as it is");
        command(Command::new("chattr").arg(format!("+{flag}")).arg(&path)).unwrap();
        fs::metadata(path).unwrap()
    });
    let said = image.tree.run(Verb::tag());
    assert_eq!((said.summary.actions(Action::Tagged), said.summary.counts.failed), (20, 2));
    assert_eq!(said.status(), 2);
    for ((name, _), before) in sealed.iter().zip(before) {
        let path = image.tree.at(name);
        let after = fs::metadata(&path).unwrap();
        let times = |of: &fs::Metadata| (of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec());
        assert_eq!(times(&after), times(&before), "{name}");
        assert_eq!(attributes(&path), [], "{name}");
        assert_eq!(said.action(name), None);
        let (mark, letter) = (name, if *name == "immutable" { 'i' } else { 'a' });
        let reason = format!("the file is {mark}: `chattr -{letter} FILE` allows changes");
        assert_eq!(trouble(&said, name), format!("cannot set the tag: {reason}"));
        assert_eq!(said.of(name).reading.bytes, 0, "nothing is read for a tag that cannot be set");
    }
    let check = image.tree.run(Verb::check());
    assert_eq!(check.summary.verdicts(Verdict::Intact), 20);
    assert_eq!(check.summary.verdicts(Verdict::Untagged), 2);
}

/// Gives a file attributes until not one byte more is taken.
fn fill_attributes(path: &Path) {
    let file = File::open(path).unwrap();
    let mut len = 700;
    for number in 0.. {
        loop {
            match xattr::set(&file, &format!("user.{number}"), &vec![b'v'; len]) {
                Ok(()) => break,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::StorageFull),
            }
            if len == 0 {
                return;
            }
            len /= 2;
        }
    }
}

#[test]
fn a_file_without_room_for_a_tag_is_named_and_keeps_what_it_has() {
    const NO_ROOM: &str = "no space left for extended attributes of this file";
    let Some(image) = Image::make(EXT4) else { return };
    let tree = &image.tree;
    write_files(tree, 20);
    let path = tree.write("crowded", "no room");
    fill_attributes(&path);
    let before = attributes(&path);
    assert!(before.len() > 4);
    let said = tree.run(Verb::tag());
    assert_eq!((said.summary.actions(Action::Tagged), said.status()), (20, 2));
    assert_eq!(trouble(&said, "crowded"), format!("cannot set the tag: {NO_ROOM}"));
    assert_eq!(attributes(&path), before);
    let check = tree.run(Verb::check());
    assert_eq!((check.verdict("crowded"), check.status()), (Some(Verdict::Untagged), 0));

    // Room for one tag and none for the one before it: nothing is replaced that is not kept.
    let path = tree.write("half", "room for one");
    tree.run(Verb::tag());
    fill_attributes(&path);
    tree.edit("half", "room for one, edited");
    let before = attributes(&path);
    let said = tree.run(Verb::update());
    assert_eq!(trouble(&said, "half"), format!("cannot keep the previous tag: {NO_ROOM}"));
    assert_eq!((said.verdict("half"), said.action("half")), (Some(Verdict::Modified), None));
    assert_eq!(attributes(&path), before);
    assert_eq!(tree.run(Verb::check()).verdict("half"), Some(Verdict::Modified));

    // A tag of the same length takes the place of the old one, room or not.
    tree.edit("half", "room for one");
    assert_eq!(tree.run(Verb::update()).action("half"), Some(Action::Refreshed));
    assert_eq!(tree.run(Verb::check()).verdict("half"), Some(Verdict::Intact));
}

#[test]
fn where_no_attributes_are_kept_nothing_is_read_for_nothing() {
    const NONE: &str = "cannot set the tag: this file system keeps no extended attributes";
    let Some(image) = Image::make(RAMFS) else { return };
    write_files(&image.tree, 50);
    for verb in [Verb::tag(), Verb::update()] {
        let said = image.tree.run(verb);
        assert_eq!((said.files.len(), said.summary.counts.failed), (50, 50));
        assert_eq!((said.summary.bytes, said.status()), (0, 2));
        assert_eq!(trouble(&said, "0/0000"), NONE);
        assert_eq!(advice(&said), 1);
        assert_eq!(said.files.iter().filter(|event| !event.repeats_trouble()).count(), 1);
    }
    let said = image.tree.run(Verb::check());
    assert_eq!(advice(&said), 1);
    assert_eq!(said.summary.verdicts(Verdict::Untagged), 50);
    assert_eq!((said.summary.bytes, said.status()), (0, 2), "nothing was judged");
    let required = CheckOptions { require_tags: true, ..CheckOptions::default() };
    assert_eq!(image.tree.run(Verb::Check(required)).status(), 1);
    assert_eq!(image.tree.run(Verb::Untag).status(), 0);
}

/// Counts the notices that suggest a catalogue.
fn advice(said: &Said) -> usize {
    said.notices.iter().filter(|notice| notice.advice == Some(Advice::TagInCatalogue)).count()
}

#[test]
fn of_several_volumes_each_without_attributes_is_named_once_and_the_others_are_tagged() {
    let Some(image) = Image::make(EXT4) else { return };
    let tree = &image.tree;
    write_files(tree, 20);
    for name in ["one", "two"] {
        fs::create_dir(tree.at(name)).unwrap();
    }
    let _one = Mount::ramfs(&tree.at("one"));
    let _two = Mount::ramfs(&tree.at("two"));
    for number in 0..10 {
        tree.write(format!("one/{number}"), "in memory");
        tree.write(format!("two/{number}"), "in memory too");
    }
    let said = tree.run(Verb::tag());
    assert_eq!((said.summary.actions(Action::Tagged), said.summary.counts.failed), (20, 20));
    assert_eq!((advice(&said), said.status()), (2, 2));
    let read = said.files.iter().filter(|event| event.trouble.is_some());
    assert_eq!(read.map(|event| event.reading.bytes).sum::<u64>(), 0);
    let check = tree.run(Verb::check());
    assert_eq!((check.summary.verdicts(Verdict::Intact), advice(&check)), (20, 2));
}

struct Silent;

impl Monitor for Silent {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A file system that shows no attributes and refuses to set any, as a server may.
struct Refusing;

impl Store for Refusing {
    fn tag(&self, _file: &File) -> io::Result<StoredTag> {
        Ok(StoredTag::Absent)
    }

    fn previous(&self, _file: &File) -> io::Result<StoredTag> {
        Ok(StoredTag::Absent)
    }

    fn ready(&self, _file: &File) -> Result<(), FileError> {
        Err(FileError::from_io("set the tag", &io::ErrorKind::Unsupported.into()))
    }

    fn write(&self, _file: &File, _tag: &Tag, _replaces: Replaces) -> Result<(), FileError> {
        unreachable!("no file is ready")
    }

    fn remove(&self, _file: &File) -> Result<bool, FileError> {
        Ok(false)
    }
}

#[test]
fn a_server_that_refuses_attributes_is_found_before_anything_is_read() {
    let tree = Tree::new();
    write_files(&tree, 20);
    for verb in [Verb::tag(), Verb::update()] {
        let said = tree.run_through(verb, None, Some(Arc::new(Refusing)));
        assert_eq!((said.summary.bytes, said.summary.counts.failed, said.status()), (0, 20, 2));
        assert_eq!(advice(&said), 1);
    }
    // The catalogue that is suggested then keeps the tags, and none of them counts as lost.
    let _ = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([tree.path()]),
        crate::tree::usual(),
    )
    .run(&mut Silent)
    .unwrap();
    let said = tree.run_through(Verb::tag(), None, Some(Arc::new(Refusing)));
    assert_eq!((said.summary.actions(Action::Tagged), said.status()), (20, 0));
    for _ in 0..2 {
        let said = tree.run_through(Verb::check(), None, Some(Arc::new(Refusing)));
        assert_eq!((said.summary.verdicts(Verdict::Intact), said.status()), (20, 0));
        assert!(said.summary.counts.findings.is_empty(), "{:?}", said.summary.counts.findings);
    }
    tree.corrupt("0/0008", "decayed");
    let said = tree.run_through(Verb::check(), None, Some(Arc::new(Refusing)));
    assert_eq!((said.verdict("0/0008"), said.status()), (Some(Verdict::Corrupt), 3));
}

#[test]
fn what_is_mounted_read_only_is_checked_and_not_tagged() {
    let Some(image) = Image::make(EXT4) else { return };
    write_files(&image.tree, 50);
    image.tree.run(Verb::tag());
    image.tree.write("new", "since then");
    image.tree.edit("0/0008", "edited");
    image.remount("remount,ro");
    for verb in [Verb::tag(), Verb::update()] {
        let said = image.tree.run(verb);
        assert_eq!(trouble(&said, "new"), "cannot set the tag: read-only file system");
        assert_eq!((said.action("new"), said.of("new").reading.bytes), (None, 0));
    }
    assert_eq!(image.tree.run(Verb::tag()).status(), 2);
    let said = image.tree.run(Verb::update());
    assert_eq!((said.verdict("0/0008"), said.status()), (Some(Verdict::Modified), 1));
    assert_eq!(trouble(&said, "0/0008"), "cannot keep the previous tag: read-only file system");
    let said = image.tree.run(Verb::check());
    assert_eq!(said.summary.verdicts(Verdict::Intact), 49);
    assert_eq!(said.verdict("new"), Some(Verdict::Untagged));
    assert_eq!((said.verdict("0/0008"), said.status()), (Some(Verdict::Modified), 1));
}

#[test]
fn what_takes_no_tag_is_recorded_in_the_catalogue_alone_until_it_takes_one() {
    let Some(image) = Image::make(EXT4) else { return };
    let (tree, outside) = (&image.tree, tempfile::tempdir().unwrap());
    let options = usual().with(|options| {
        options.catalogue.choice = CatalogueUse::At(outside.path().join("catalogue.sqlite"));
    });
    let run = |verb: Verb, files: u64, status: u8| {
        let said = tree.run_as(verb, &options);
        assert_eq!((said.summary.counts.catalogue_only, said.status()), (files, status));
        let text = "only the catalogue has the tag of";
        let told = said.notices.iter().filter(|notice| notice.text.starts_with(text)).count();
        assert_eq!(told, usize::from(files > 0));
        said
    };
    let has_tag = |name: &str| {
        let names = attributes(&tree.at(name)).into_iter().map(|(name, _)| name);
        names.filter(|name| *name == xattr::TAG).count() == 1
    };
    let is_fine = |said: &Said, files: u64| {
        assert_eq!(said.summary.verdicts(Verdict::Intact), files);
        assert!(!said.summary.counts.findings.keys().any(|name| name.starts_with("tag")));
    };
    tree.write("a", "alpha");
    tree.write("b", "beta");
    image.remount("remount,ro");
    run(Verb::Init(InitOptions::default()), 2, 0);
    is_fine(&run(Verb::check(), 0, 0), 2);
    is_fine(&run(Verb::update(), 0, 0), 2);
    image.remount("remount,rw");
    fs::rename(tree.at("b"), tree.at("c")).unwrap();
    for _ in 0..2 {
        is_fine(&run(Verb::check(), 0, 0), 2);
    }
    assert_eq!(run(Verb::update(), 0, 0).summary.actions(Action::Restored), 2);
    assert!(has_tag("a") && has_tag("c"));
    xattr::remove(&File::open(&tree.at("a")).unwrap(), xattr::TAG).unwrap();
    assert_eq!(run(Verb::check(), 0, 1).summary.counts.findings["tag lost"], 1, "it had one");

    tree.write("fixed", "for now");
    let chattr = |mark: &str| command(Command::new("chattr").arg(mark).arg(tree.at("fixed")));
    chattr("+i").unwrap();
    assert_eq!(run(Verb::update(), 1, 1).action("fixed"), Some(Action::Tagged));
    chattr("-i").unwrap();
    tree.edit("fixed", "edited");
    assert_eq!(run(Verb::check(), 0, 1).verdict("fixed"), Some(Verdict::Modified));
    assert_eq!(run(Verb::update(), 0, 1).action("fixed"), Some(Action::Retagged));
    assert!(has_tag("fixed"));
    assert_eq!(run(Verb::check(), 0, 1).verdict("fixed"), Some(Verdict::Intact));
}

#[test]
fn a_tree_mounted_inside_itself_is_done_once_and_named() {
    let Some(image) = Image::make(TMPFS) else { return };
    let tree = &image.tree;
    write_files(tree, 40);
    tree.write("sub/deep/file", "before and after the loop");
    tree.write("sub/zeal", "after the loop");
    let again = tree.at("sub/again");
    fs::create_dir(&again).unwrap();
    let _loop = Mount::bind(tree.path(), &again);
    let said = tree.run(Verb::tag());
    assert_eq!((said.summary.actions(Action::Tagged), said.status()), (42, 2));
    let troubled: Vec<_> = said.files.iter().filter(|event| event.trouble.is_some()).collect();
    assert_eq!(troubled.len(), 1);
    assert_eq!((troubled[0].path.to_path(), troubled[0].subject), (again, Subject::Directory));
    assert_eq!(
        trouble(&said, "sub/again"),
        "cannot enter: it is mounted inside itself: not entered again"
    );
    let said = tree.run(Verb::check());
    assert_eq!((said.summary.verdicts(Verdict::Intact), said.status()), (42, 2));
}

#[test]
fn other_file_systems_are_left_out_when_so_wanted_and_counted() {
    let Some(image) = Image::make(EXT4) else { return };
    let tree = &image.tree;
    write_files(tree, 40);
    fs::create_dir_all(tree.at("0/other")).unwrap();
    let _other = Mount::tmpfs(&tree.at("0/other"));
    tree.write("0/other/inside", "on another file system");
    let selection = tree.selection().with(|selection| selection.one_file_system = true);
    let said = run_on(Verb::tag(), &selection, &crate::tree::usual());
    assert_eq!((said.summary.actions(Action::Tagged), said.status()), (40, 0));
    assert_eq!(said.summary.skipped.other_file_systems, 1);

    let said = tree.run(Verb::check());
    assert_eq!((said.files.len(), said.summary.skipped.other_file_systems), (41, 0));
    assert_eq!(said.verdict("0/other/inside"), Some(Verdict::Untagged));

    // Named as a root of its own, it is what the run is about.
    let roots = vec![tree.path().to_owned(), tree.at("0/other")];
    let selection = Selection::of(roots).with(|selection| selection.one_file_system = true);
    assert_eq!(run_on(Verb::check(), &selection, &crate::tree::usual()).files.len(), 41);
}

/// Removes a folder before it lets anything be read.
struct Remover {
    folder: std::path::PathBuf,
    done: Mutex<bool>,
}

impl Engine for Remover {
    fn name(&self) -> &'static str {
        "remover"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        let mut done = self.done.lock().unwrap();
        if !*done {
            fs::remove_dir_all(&self.folder)?;
            *done = true;
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

#[test]
fn a_folder_that_vanishes_before_it_is_entered_is_named_and_the_run_goes_on() {
    // More files before it than a run takes in hand unread: the walk is not there yet.
    const AHEAD: usize = 2_000;
    let tree = Tree::new();
    for number in 0..AHEAD {
        tree.write(format!("a/{number:04}"), "x");
    }
    tree.write("m/gone", "gone with its folder");
    tree.write("z/last", "after it");
    for (verb, verdict) in [(Verb::tag(), None), (Verb::check(), Some(Verdict::Intact))] {
        tree.write("m/gone", "gone with its folder");
        let engine = Remover { folder: tree.at("m"), done: Mutex::new(false) };
        let said = tree.run_through(verb, Some(Arc::new(engine)), None);
        let gone = said.of("m");
        assert_eq!((gone.subject, gone.verdict), (Subject::Directory, Some(Verdict::Unreadable)));
        assert_eq!(trouble(&said, "m"), "cannot open: no such file or directory");
        assert_eq!((said.files.len(), said.status()), (AHEAD + 2, 2));
        assert_eq!(said.summary.files, AHEAD as u64 + 1, "a folder is no file");
        assert_eq!(said.verdict("z/last"), verdict);
    }
}
