//! Comparing trees: what is told of copies, good and bad.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;

use steadfast::diff::{
    DiffMonitor, DiffSummary, Difference, Doubt, PathKind, PathPair, Trees, diff,
};
use steadfast::{Algorithm, Notice, Options, Selection, TagOptions, Verb, Verdict};
use steadfast_sys::file::File;
use steadfast_sys::xattr;

use crate::image::command;
use crate::tree::{Tree, retag, run_on};

/// Two trees below one folder.
struct Two {
    tree: Tree,
}

#[derive(Default)]
struct Said {
    pairs: Vec<PathPair>,
    notices: Vec<Notice>,
    summary: DiffSummary,
}

impl DiffMonitor for Said {
    fn pair(&mut self, pair: &PathPair) {
        self.pairs.push(pair.clone());
    }

    fn notice(&mut self, notice: &Notice) {
        self.notices.push(notice.clone());
    }
}

impl Two {
    /// Tags what is in A and copies it to B with all its attributes.
    fn copied(files: &[(&str, &str)]) -> Two {
        let two = Two { tree: Tree::new() };
        for (name, contents) in files {
            two.tree.write(format!("a/{name}"), contents);
        }
        two.tag("a", &crate::tree::usual());
        two.copy();
        two
    }

    fn copy(&self) {
        command(Command::new("cp").arg("-a").arg(self.at("a")).arg(self.at("b"))).unwrap();
    }

    fn at(&self, name: &str) -> PathBuf {
        self.tree.at(name)
    }

    fn run(&self, verb: Verb, name: &str, options: &Options) {
        let selection = Selection::of([self.at(name)]);
        assert_eq!(run_on(verb, &selection, options).summary.exit_status().code(), 0);
    }

    fn tag(&self, name: &str, options: &Options) {
        self.run(Verb::tag(), name, options);
    }

    fn trees(&self, read: bool) -> Trees {
        let mut trees = Trees::new(self.at("a"), self.at("b"));
        trees.read = read;
        trees
    }

    fn diff(&self, read: bool) -> Said {
        compare(&self.trees(read), &crate::tree::usual())
    }
}

fn compare(trees: &Trees, options: &Options) -> Said {
    let mut said = Said::default();
    said.summary = diff(trees, options, &mut said).unwrap();
    said
}

impl Said {
    fn of(&self, path: &str) -> &PathPair {
        let found = self.pairs.iter().find(|pair| pair.path == Path::new(path));
        found.unwrap_or_else(|| panic!("nothing was said of {path}"))
    }

    fn difference(&self, path: &str) -> Difference {
        self.of(path).difference
    }

    fn status(&self) -> u8 {
        self.summary.exit_status().code()
    }
}

#[test]
fn a_copy_with_its_tags_is_faithful_without_reading_and_with() {
    let two = Two::copied(&[("x", "one"), ("sub/y", "two"), ("sub-z", "three"), ("empty", "")]);
    for read in [false, true] {
        let said = two.diff(read);
        assert_eq!(said.status(), 0);
        assert_eq!(said.summary.differences(Difference::Same), 4);
        assert_eq!((said.summary.files_here, said.summary.files_there), (4, 4));
        assert_eq!(said.summary.bytes, if read { 22 } else { 0 });
        assert_eq!(said.summary.times_differ, 0);
        let paths: Vec<&str> = said.pairs.iter().map(|p| p.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["empty", "sub/y", "sub-z", "x"]);
        assert!(said.notices.is_empty(), "{:?}", said.notices);
    }
}

#[test]
fn every_difference_by_tags() {
    let names =
        ["same", "shorter", "edited", "here", "moved", "lost", "stale", "damaged", "both-new"];
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, *name)).collect();
    let two = Two::copied(&files[..8]);
    two.tree.write("b/shorter", "short");
    two.tree.edit("b/edited", "EDITED");
    two.run(retag(false), "b/edited", &crate::tree::usual());
    fs::remove_file(two.at("b/here")).unwrap();
    two.tree.write("b/there", "only there");
    fs::rename(two.at("b/moved"), two.at("b/away")).unwrap();
    two.run(Verb::Untag, "b/lost", &crate::tree::usual());
    two.tree.touch("b/stale");
    let damaged = File::open(&two.at("b/damaged")).unwrap();
    xattr::set(&damaged, xattr::TAG, b"not a tag").unwrap();
    for side in ["a", "b"] {
        two.tree.write(format!("{side}/both-new"), "new");
    }
    let said = two.diff(false);
    let expected = [
        ("same", Difference::Same),
        ("shorter", Difference::Different),
        ("edited", Difference::Different),
        ("here", Difference::OnlyHere),
        ("there", Difference::OnlyThere),
        ("moved", Difference::Moved),
        ("lost", Difference::TagLost),
        ("stale", Difference::Unknown),
        ("damaged", Difference::Unreadable),
        ("both-new", Difference::Unknown),
    ];
    for (path, difference) in expected {
        assert_eq!(said.difference(path), difference, "{path}");
    }
    assert_eq!(said.pairs.len(), expected.len());
    assert_eq!(said.of("moved").moved_to.as_deref(), Some(Path::new("away")));
    assert_eq!(said.of("stale").doubt, Some(Doubt::StaleThere));
    assert_eq!(said.of("both-new").doubt, Some(Doubt::NoTags));
    assert_eq!(said.status(), 1);

    let read = two.diff(true);
    let settled = [
        ("lost", Difference::TagLost),
        ("stale", Difference::Same),
        ("damaged", Difference::Same),
        ("both-new", Difference::Same),
        ("moved", Difference::Moved),
        ("edited", Difference::Different),
    ];
    for (path, difference) in settled {
        assert_eq!(read.difference(path), difference, "{path}");
    }
    assert!(read.of("stale").times_differ);
    assert_eq!(read.of("stale").there.as_ref().unwrap().verdict, Some(Verdict::Touched));
}

#[test]
fn each_difference_alone_has_its_status() {
    type FileHistoryEvent = fn(&Two);
    let cases: [(&str, FileHistoryEvent, u8); 7] = [
        ("nothing", |_| {}, 0),
        ("different", |two| drop(two.tree.write("b/x", "longer than before")), 1),
        ("only here", |two| fs::remove_file(two.at("b/x")).unwrap(), 1),
        ("only there", |two| drop(two.tree.write("b/new", "new")), 1),
        ("moved", |two| fs::rename(two.at("b/x"), two.at("b/w")).unwrap(), 1),
        ("tag lost", |two| two.run(Verb::Untag, "b/x", &crate::tree::usual()), 1),
        ("stale", |two| two.tree.touch("a/x"), 2),
    ];
    for (what, happen, status) in cases {
        let two = Two::copied(&[("x", "one"), ("y", "two")]);
        happen(&two);
        assert_eq!(two.diff(false).status(), status, "{what}");
    }
}

#[test]
fn only_reading_finds_decay_and_says_on_which_side() {
    let two = Two::copied(&[("x", "one"), ("y", "two")]);
    two.tree.corrupt("b/x", "oNe");
    assert_eq!(two.diff(false).status(), 0, "tags are believed");
    let said = two.diff(true);
    assert_eq!((said.status(), said.difference("x")), (1, Difference::Different));
    let pair = said.of("x");
    assert_eq!(pair.here.as_ref().unwrap().verdict, Some(Verdict::Intact));
    assert_eq!(pair.there.as_ref().unwrap().verdict, Some(Verdict::Corrupt));
    two.tree.corrupt("a/x", "oNe");
    let said = two.diff(true);
    assert_eq!((said.status(), said.difference("x")), (1, Difference::Same), "a copy of decay");
}

#[test]
fn files_of_different_lengths_differ_without_being_read() {
    let two = Two::copied(&[("longer", "one"), ("same", "four")]);
    two.tree.write("b/longer", "one and more");
    let said = two.diff(true);
    assert_eq!((said.status(), said.difference("longer")), (1, Difference::Different));
    assert_eq!(said.difference("same"), Difference::Same);
    let pair = said.of("longer");
    let (here, there) = (pair.here.as_ref().unwrap(), pair.there.as_ref().unwrap());
    assert_eq!((here.actual, there.actual), (None, None));
    assert_eq!((here.verdict, there.verdict), (None, Some(Verdict::Modified)));
    assert_eq!(said.summary.bytes, 8, "those of `same` on both sides");
}

#[test]
fn the_algorithm_of_the_tags_serves_unless_one_is_forced() {
    let two = Two { tree: Tree::new() };
    let blake3 = Some(Algorithm::Blake3);
    two.tree.write("a/x", "one");
    let tag = Verb::Tag(TagOptions { algorithm: blake3, ..TagOptions::default() });
    two.run(tag, "a", &crate::tree::usual());
    two.tree.write("b/x", "one");
    let said = two.diff(true);
    assert_eq!(said.summary.algorithm, Some(Algorithm::Blake3));
    assert_eq!(said.difference("x"), Difference::TagLost);
    let mut forced = two.trees(true);
    forced.algorithm = Some(Algorithm::Sha512);
    let said = compare(&forced, &crate::tree::usual());
    assert_eq!(said.summary.algorithm, Some(Algorithm::Sha512));
    let actual = said.of("x").here.as_ref().unwrap().actual.unwrap();
    assert_eq!(actual.algorithm, Algorithm::Sha512);
    two.tag("b", &crate::tree::usual());
    assert_eq!(two.diff(false).of("x").doubt, Some(Doubt::Algorithms));
    let said = two.diff(true);
    assert_eq!((said.status(), said.difference("x")), (0, Difference::Same));
    let there = said.of("x").there.as_ref().unwrap();
    assert_eq!(there.verdict, Some(Verdict::Intact), "judged by its own tag's algorithm too");
}

#[test]
fn links_and_pipes_are_compared_by_name() {
    let two = Two::copied(&[("x", "one"), ("sub/y", "two")]);
    for side in ["a", "b"] {
        symlink("x", two.at(&format!("{side}/same"))).unwrap();
    }
    assert_eq!(two.diff(false).status(), 0);
    symlink("x", two.at("a/sub/here")).unwrap();
    symlink("x", two.at("a/other")).unwrap();
    symlink("sub/y", two.at("b/other")).unwrap();
    command(Command::new("mkfifo").arg(two.at("b/pipe"))).unwrap();
    fs::create_dir(two.at("b/only")).unwrap();
    symlink("x", two.at("b/only/link")).unwrap();
    let said = two.diff(false);
    let told: Vec<(&str, PathKind, Difference)> = said
        .pairs
        .iter()
        .filter(|pair| pair.kind != PathKind::File)
        .map(|pair| (pair.path.to_str().unwrap(), pair.kind, pair.difference))
        .collect();
    let expected = [
        ("only/link", PathKind::Symlink, Difference::OnlyThere),
        ("other", PathKind::Symlink, Difference::Different),
        ("pipe", PathKind::Special, Difference::OnlyThere),
        ("sub/here", PathKind::Symlink, Difference::OnlyHere),
    ];
    assert_eq!(told, expected);
    assert_eq!((said.summary.skipped_here.symlinks, said.summary.skipped_there.special), (3, 1));
    assert_eq!(said.status(), 1);
    let mut trees = two.trees(false);
    trees.excludes = vec!["o*".to_owned(), "pipe".to_owned()];
    let said = compare(&trees, &crate::tree::usual());
    let kinds = said.pairs.iter().filter(|pair| pair.kind != PathKind::File).count();
    assert_eq!(kinds, 1, "excluded on both sides");
}

#[test]
fn a_link_where_a_directory_was_leads_nowhere() {
    let two = Two::copied(&[("d/x", "one")]);
    fs::rename(two.at("b/d"), two.at("elsewhere")).unwrap();
    symlink(two.at("elsewhere"), two.at("b/d")).unwrap();
    two.tree.write("b/y", "two");
    let said = two.diff(true);
    assert_eq!(said.difference("d/x"), Difference::OnlyHere);
    assert_eq!(
        (said.difference("d"), said.of("d").kind),
        (Difference::OnlyThere, PathKind::Symlink)
    );
}

#[test]
fn times_are_told_and_change_nothing() {
    let two = Two { tree: Tree::new() };
    two.tree.write("a/x", "one");
    two.copy();
    two.tree.touch("b/x");
    two.tag("a", &crate::tree::usual());
    two.tag("b", &crate::tree::usual());
    for read in [false, true] {
        let said = two.diff(read);
        assert_eq!((said.status(), said.summary.times_differ), (0, 1));
        assert!(said.of("x").times_differ);
    }
}

#[test]
fn what_could_only_mislead_is_refused() {
    let two = Two::copied(&[("x", "one")]);
    symlink(two.at("a"), two.at("alias")).unwrap();
    for there in ["a", "alias", "gone", "a/x"] {
        let mut trees = two.trees(false);
        trees.there = two.at(there);
        let error = diff(&trees, &crate::tree::usual(), &mut Said::default()).unwrap_err();
        assert!(error.to_string().contains(there), "{error}");
    }
    for side in ["a", "b"] {
        fs::remove_file(two.at(&format!("{side}/x"))).unwrap();
    }
    let said = two.diff(false);
    assert_eq!((said.status(), said.notices.len()), (2, 2), "nothing compared is no good news");
}

#[test]
fn a_stop_is_heard_and_no_file_is_called_missing_for_it() {
    let files: Vec<String> = (0..300).map(|number| format!("{number:03}")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|name| (name.as_str(), "x")).collect();
    let two = Two::copied(&files);
    let options = crate::tree::usual();
    options.controls.stop.store(true, Ordering::Relaxed);
    let said = compare(&two.trees(true), &options);
    assert_eq!(said.status(), 130);
    assert!(said.summary.interrupted && said.pairs.is_empty());
}

#[test]
fn names_are_bytes() {
    let two = Two { tree: Tree::new() };
    let names: [&[u8]; 5] = [b"\xff\xfe", b"new\nline", b"a", b"a ", b"a\xc3\xa9"];
    for name in names {
        let name = std::ffi::OsStr::from_bytes(name);
        two.tree.write(Path::new("a").join(name), name.as_bytes());
    }
    two.tag("a", &crate::tree::usual());
    two.copy();
    let said = two.diff(false);
    assert_eq!((said.status(), said.pairs.len()), (0, names.len()));
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    let told: Vec<&[u8]> = said.pairs.iter().map(|pair| pair.path.as_os_str().as_bytes()).collect();
    assert_eq!(told, sorted);
}

/// Small numbers from a seed: xorshift, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

#[test]
fn random_trees_agree_with_a_plain_comparison() {
    for seed in 1..=8 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let two = Two { tree: Tree::new() };
        let mut sides = [BTreeMap::new(), BTreeMap::new()];
        for _ in 0..120 {
            let depth = dice.roll(3);
            let mut name = String::new();
            for _ in 0..depth {
                name.push_str(&format!("{}/", ["d", "d-", "d.", "e"][dice.roll(4) as usize]));
            }
            name.push_str(&format!("f{}", dice.roll(40)));
            let content = format!("{:04}", dice.roll(30));
            match dice.roll(4) {
                0 => drop(sides[0].insert(name, content)),
                1 => drop(sides[1].insert(name, content)),
                2 => {
                    sides[0].insert(name.clone(), content.clone());
                    sides[1].insert(name, content);
                }
                _ => {
                    sides[0].insert(name.clone(), content);
                    sides[1].insert(name, format!("{:05}", dice.roll(30)));
                }
            }
        }
        for (side, files) in ["a", "b"].iter().zip(&sides) {
            for (name, content) in files {
                two.tree.write(format!("{side}/{name}"), content);
            }
            two.tag(side, &crate::tree::usual());
        }
        for read in [false, true] {
            check_against(&two.diff(read), &sides, seed);
        }
    }
}

/// Compares what was said with what two maps say; of moves only that they are true and maximal.
fn check_against(said: &Said, sides: &[BTreeMap<String, String>; 2], seed: u64) {
    let [here, there] = sides;
    let mut alone: BTreeMap<&str, [i64; 2]> = BTreeMap::new();
    for (name, content) in here {
        match there.get(name) {
            Some(other) if other == content => {
                assert_eq!(said.difference(name), Difference::Same, "seed {seed}: {name}");
            }
            Some(_) => {
                assert_eq!(said.difference(name), Difference::Different, "seed {seed}: {name}");
            }
            None => alone.entry(content).or_default()[0] += 1,
        }
    }
    for (_, content) in there.iter().filter(|(name, _)| !here.contains_key(*name)) {
        alone.entry(content).or_default()[1] += 1;
    }
    let count = |difference| said.summary.differences(difference) as i64;
    let moved: i64 = alone.values().map(|[here, there]| *here.min(there)).sum();
    let only = |side: usize| alone.values().map(|both| both[side]).sum::<i64>() - moved;
    assert_eq!(count(Difference::Moved), moved, "seed {seed}");
    assert_eq!(count(Difference::OnlyHere), only(0), "seed {seed}");
    assert_eq!(count(Difference::OnlyThere), only(1), "seed {seed}");
    for pair in said.pairs.iter().filter(|pair| pair.difference == Difference::Moved) {
        let (from, to) = (pair.path.to_str().unwrap(), pair.moved_to.as_ref().unwrap());
        assert_eq!(here[from], there[to.to_str().unwrap()], "seed {seed}: {from}");
    }
}

#[test]
fn more_files_than_fit_ahead_of_each_other() {
    let two = Two { tree: Tree::new() };
    for number in 0..12_000 {
        let side = if number < 9_000 { "a" } else { "b" };
        let path = two.at(&format!("{side}/{}", number / 500));
        if number % 500 == 0 {
            fs::create_dir_all(&path).unwrap();
        }
        fs::write(path.join(format!("{number}")), b"").unwrap();
    }
    let said = two.diff(false);
    assert_eq!(said.summary.differences(Difference::OnlyHere), 9_000);
    assert_eq!(said.summary.differences(Difference::OnlyThere), 3_000);
}
