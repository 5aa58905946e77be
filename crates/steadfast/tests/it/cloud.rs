//! Files whose contents are in a cloud: skipped, counted, told, never called missing or intact.
//!
//! macOS tells of them by a flag, which no other system can set, and by an error, which an engine
//! here gives. Before version 14 it left placeholders, which any system can have.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use steadfast::Advice;
use steadfast::read::buffered::Buffered;
use steadfast::read::{Engine, Origin};
use steadfast::run::{Unnamed, compare, quick};
use steadfast::{
    DatalessUse, Event, FileEvent, Monitor, Options, Reference, Subject, Summary, Verb, Verdict,
};
use steadfast_sys::file::{Dataless, File, Status};

use crate::tree::{Said, Tree};

/// The files of an evicting engine, by inode.
struct Evicting {
    evicted: HashSet<u64>,
}

impl Evicting {
    fn of(tree: &Tree, names: &[&str]) -> Arc<Evicting> {
        let inode = |name: &&str| fs::metadata(tree.at(name)).unwrap().ino();
        Arc::new(Evicting { evicted: names.iter().map(inode).collect() })
    }
}

impl Engine for Evicting {
    fn name(&self) -> &'static str {
        "evicting"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        Buffered.prepare(file, status)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self.evicted.contains(&file.status()?.inode) {
            true => Err(io::Error::other(Dataless)),
            false => Buffered.read_at(file, buffer, offset),
        }
    }

    fn alignment(&self) -> usize {
        Buffered.alignment()
    }
}

/// What a run that is no verb said.
#[derive(Default)]
struct Heard {
    files: Vec<FileEvent>,
}

impl Monitor for Heard {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::File(file) = event {
            self.files.push((**file).clone());
        }
        ControlFlow::Continue(())
    }
}

fn tree() -> Tree {
    let tree = Tree::new();
    tree.write("here", "here");
    tree.write("away", "in a cloud");
    tree.write("large", vec![7; 900_000]);
    tree
}

fn with_catalogue(tree: &Tree) {
    let summary = steadfast::Run::of(
        steadfast::Verb::Init(steadfast::InitOptions {
            tags_only: true,
            ..steadfast::InitOptions::default()
        }),
        steadfast::Selection::of([tree.path()]),
        crate::tree::usual(),
    )
    .run(&mut Heard::default())
    .unwrap();
    assert_eq!(summary.exit_status().code(), 0);
}

fn failing() -> Options {
    crate::tree::usual().with(|options| options.dataless = DatalessUse::Fail)
}

/// Puts the placeholder of macOS 11 to 13 in the place of a file.
fn evict(tree: &Tree, name: &str) -> PathBuf {
    fs::remove_file(tree.at(name)).unwrap();
    tree.write(format!(".{name}.icloud"), b"bplist00\xd4and so on")
}

fn skips(said: &Said) -> Vec<String> {
    let skipped = said.files.iter().filter(|event| event.reading.dataless);
    let name = |event: &FileEvent| {
        assert_eq!((event.verdict, &event.trouble, event.actual), (None, &None, None));
        event.path.to_path().file_name().unwrap().to_str().unwrap().to_owned()
    };
    skipped.map(name).collect()
}

#[test]
fn what_cannot_be_read_here_is_skipped_counted_and_told() {
    let tree = tree();
    tree.run(Verb::tag());
    let engine = Evicting::of(&tree, &["away", "large"]);
    let said = tree.run_by(Verb::check(), &crate::tree::usual(), engine.clone());
    assert_eq!(skips(&said), ["away", "large"]);
    assert_eq!(said.verdict("here"), Some(Verdict::Intact));
    assert_eq!((said.status(), said.summary.files), (0, 1));
    assert_eq!((said.summary.skipped.dataless, said.summary.judged()), (2, 1));
    let told = said.notices.iter().any(|notice| notice.text.contains("not on this machine"));
    assert!(told, "{:?}", said.notices);
    let said = tree.run_by(Verb::check(), &failing(), engine);
    assert_eq!(said.verdict("away"), Some(Verdict::Unreadable));
    assert_eq!((said.status(), said.summary.skipped.dataless), (2, 0));
}

#[test]
fn a_run_that_could_read_nothing_is_no_success() {
    let tree = Tree::new();
    tree.write("away", "in a cloud");
    tree.run(Verb::tag());
    let said = tree.run_by(Verb::check(), &crate::tree::usual(), Evicting::of(&tree, &["away"]));
    assert_eq!(said.status(), 2);
    assert!(said.notices.iter().any(|notice| notice.advice == Some(Advice::Download)));
}

#[test]
fn no_list_of_digests_lacks_a_file_silently() {
    let tree = tree();
    let said = tree.run_by(Verb::hash(), &crate::tree::usual(), Evicting::of(&tree, &["away"]));
    assert_eq!((said.status(), said.verdict("away")), (2, Some(Verdict::Unreadable)));
}

#[test]
fn tags_are_shown_although_contents_are_elsewhere() {
    let tree = tree();
    tree.run(Verb::tag());
    let said = tree.run_by(Verb::Show, &crate::tree::usual(), Evicting::of(&tree, &["away"]));
    assert!(said.of("away").stored.is_some() && !said.of("away").reading.dataless);
}

#[test]
fn the_catalogue_does_not_call_missing_what_is_in_a_cloud() {
    let tree = tree();
    with_catalogue(&tree);
    assert_eq!(tree.run(Verb::tag()).status(), 0);
    // By an error, and then by a placeholder.
    let said = tree.run_by(Verb::check(), &crate::tree::usual(), Evicting::of(&tree, &["away"]));
    assert_eq!((said.status(), skips(&said)), (0, vec!["away".to_owned()]));
    let contents = fs::read(tree.at("away")).unwrap();
    let mtime = fs::metadata(tree.at("away")).unwrap().modified().unwrap();
    let placeholder = evict(&tree, "away");
    let said = tree.run(Verb::check());
    assert_eq!((said.status(), skips(&said)), (0, vec![".away.icloud".to_owned()]));
    assert_eq!(said.summary.verdicts(Verdict::Missing), 0);
    let mut heard = Heard::default();
    let summary = quick(&tree.selection(), &crate::tree::usual(), &mut heard).unwrap();
    assert_eq!((summary.exit_status().code(), summary.skipped.dataless), (0, 1));
    // What is gone with its placeholder is missing.
    fs::remove_file(placeholder).unwrap();
    assert_eq!(tree.run(Verb::check()).summary.verdicts(Verdict::Missing), 1);
    tree.write("away", contents);
    crate::tree::set_mtime(&tree.at("away"), mtime);
    assert_eq!(tree.run(Verb::check()).summary.verdicts(Verdict::Missing), 0);
}

#[test]
fn what_is_only_named_like_a_placeholder_is_data() {
    let tree = Tree::new();
    tree.write(".notes.icloud", "about clouds");
    let said = tree.run(Verb::tag());
    assert_eq!((said.status(), said.summary.files), (0, 1));
}

#[test]
fn a_listed_file_in_a_cloud_is_not_missing() {
    let tree = tree();
    evict(&tree, "away");
    let listed = |options: &Options| -> (Summary, Vec<FileEvent>) {
        let line = |name: &str| Ok((PathBuf::from(name), None::<Reference>));
        let list = Box::new([line("away"), line("gone")].into_iter());
        let mut heard = Heard::default();
        let summary =
            compare(tree.path(), list, Unnamed::Known(Vec::new()), false, options, &mut heard)
                .unwrap();
        (summary, heard.files)
    };
    let (summary, files) = listed(&crate::tree::usual());
    assert_eq!((summary.skipped.dataless, summary.verdicts(Verdict::Missing)), (1, 1));
    assert!(files.iter().any(|event| event.reading.dataless && event.subject == Subject::File));
    assert_eq!(listed(&failing()).0.verdicts(Verdict::Unreadable), 1);
}
