//! `parity make` and `parity update`, killed or refused at every call that changes a file: the old
//! parity is there or the new one, what it protects can be rebuilt from it, and the next run
//! finishes and leaves nothing behind.
//!
//! A kill between two such calls leaves the files as a kill at the second does, so these are all
//! states that a kill can leave.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use steadfast::parity::{
    NotProtected, ParityMonitor, ParityOptions, ParityPlace, ParitySource, make_parity,
    update_parity, verify_parity,
};
use steadfast::store::{StoredTag, tag_at};
use steadfast::{Event, Monitor, Tag};
use steadfast_sys::file::File;

use crate::parity::contents;
use crate::tree::Tree;

/// The calls that change files and directories. A kill at an `openat` leaves what one at the next
/// of these calls leaves.
const CALLS: [&str; 12] = [
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fchmod",
    "fchown",
    "mkdirat",
    "renameat",
    "renameat2",
    "linkat",
    "unlinkat",
];

/// A file beneath `data`, its tag and its contents.
type Known = (PathBuf, Tag, Vec<u8>);

struct Silent;

impl Monitor for Silent {
    fn event(&mut self, _event: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl ParityMonitor for Silent {
    fn not_protected(&mut self, file: &NotProtected) {
        panic!("{file:?}");
    }
}

/// A tree, the parity that it had before, and what that protects.
struct Scene {
    tree: Tree,
    words: [&'static str; 3],
    /// A copy of the parity; `None` if there was none.
    before: Option<PathBuf>,
    protected: Vec<Known>,
}

impl Scene {
    /// A tree without parity.
    fn make() -> Scene {
        let words = ["parity", "make", "data"];
        Scene { tree: files(), words, before: None, protected: Vec::new() }
    }

    /// A tree with parity of which one file was edited and one is new.
    fn update() -> Scene {
        let tree = files();
        tree.run(["parity", "make", "data"]).succeeds();
        let tree = tree.file("data/new", &contents(9, 50_000));
        fs::write(tree.path("data/1"), contents(8, 20_000)).unwrap();
        let (folder, before) = (tree.path("data/.steadfast"), tree.path("before"));
        // `update` would bring the parity up to date.
        fs::rename(&folder, &before).unwrap();
        tree.run(["update", "data"]).succeeds();
        let names = ["0", "2", "3", "sub/4"];
        let protected = names.iter().map(|name| known(&tree, name)).collect();
        Scene { tree, words: ["parity", "update", "data"], before: Some(before), protected }
    }

    fn place(&self) -> ParityPlace {
        ParityPlace::new(&self.tree.path("data"), None).unwrap()
    }

    fn reset(&self) {
        let folder = self.tree.path("data/.steadfast");
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        if let Some(before) = &self.before {
            copy(before, &folder);
        }
    }

    /// Runs the command with something done to the n-th of its calls of a kind; returns whether
    /// the command failed.
    fn fails_with(&self, call: &str, what: &str, number: u32) -> bool {
        let command = self.tree.command(self.words);
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e"]);
        traced.arg(format!("inject={call}:{what}:when={number}"));
        traced.arg(command.get_program()).args(self.words).current_dir(self.tree.path(""));
        traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        !traced.status().unwrap().success()
    }

    /// What the old parity protects can be rebuilt, or what the new one does.
    fn assert_protected(&self, name: &str) {
        let place = self.place();
        let Ok(source) = ParitySource::open(&place) else {
            assert!(self.protected.is_empty(), "{name}: the parity is gone");
            return;
        };
        for (path, tag, bytes) in &self.protected {
            let copy = source.copy_of(path, tag, None, None, &false.into()).unwrap();
            let copy = copy.unwrap_or_else(|| panic!("{name}: no set has {}", path.display()));
            let mut found = vec![0; bytes.len()];
            let mut end = 0;
            while end < found.len() {
                let read = copy.file.read_at(&mut found[end..], end as u64).unwrap();
                assert!(read > 0, "{name}: {} is short", path.display());
                end += read;
            }
            assert!(found == *bytes, "{name}: {}", path.display());
        }
        if let Ok(totals) = verify_parity(&place, false, &false.into(), &mut |_| ()) {
            assert_eq!(totals.exit_status().code(), 0, "{name}: {totals:?}");
        }
    }

    /// The next run protects every file and leaves sets and the lock alone.
    fn assert_goes_on(&self, name: &str) {
        let place = self.place();
        let work = if self.words[1] == "make" { make_parity } else { update_parity };
        let made = work(&place, &ParityOptions::default(), &mut Silent).unwrap();
        let tagged = 5 + u64::from(!self.protected.is_empty());
        assert_eq!((made.exit_status().code(), made.files), (0, tagged), "{name}: {made:?}");
        let totals = verify_parity(&place, false, &false.into(), &mut |_| ()).unwrap();
        assert_eq!(totals.exit_status().code(), 0, "{name}: {totals:?}");
        let mut sets = 0;
        for found in files_beneath(&self.tree.path("data/.steadfast")) {
            let is_set = found.file_name().unwrap().len() == 32;
            if found.components().any(|part| part.as_os_str() == "earlier") {
                assert!(is_set, "{name}: left {}", found.display());
                continue;
            }
            assert!(is_set || found.ends_with("lock"), "{name}: left {}", found.display());
            sets += u64::from(is_set);
        }
        assert_eq!(sets, totals.sets, "{name}");
    }

    /// Kills the command at each of its calls, and tells it at each that the disk is full. Returns
    /// how many calls there were.
    fn each_call(&self) -> u32 {
        let (mut points, mut unheard) = (0, Vec::new());
        for call in CALLS {
            for number in 1.. {
                if !self.goes_on_after(call, "signal=KILL", number) {
                    break;
                }
                points += 1;
                if !self.goes_on_after(call, "error=ENOSPC", number) {
                    unheard.push(format!("{call} {number}"));
                }
            }
        }
        println!("{:?}: {points} calls", self.words);
        assert!(
            unheard.is_empty(),
            "{:?}: no status tells that these failed: {unheard:?}",
            self.words
        );
        points
    }

    /// Does something to a call and fails unless everything is protected, then and after the next
    /// run. Returns whether the command failed.
    fn goes_on_after(&self, call: &str, what: &str, number: u32) -> bool {
        self.reset();
        let name = format!("{:?}, {call} {number}: {what}", self.words);
        let has_failed = self.fails_with(call, what, number);
        self.assert_protected(&name);
        self.assert_goes_on(&name);
        has_failed
    }
}

fn files() -> Tree {
    let mut tree = Tree::new().file("data/sub/4", &contents(4, 70_000));
    for number in 0..4 {
        tree = tree.file(format!("data/{number}"), &contents(number, 20_000 + 4096 * number));
    }
    tree.run(["tag", "data"]).succeeds();
    tree
}

fn known(tree: &Tree, name: &str) -> Known {
    let path = tree.path("data").join(name);
    match tag_at(&File::open(&path).unwrap(), &path).unwrap() {
        StoredTag::Whole(tag) => (PathBuf::from(name), tag, fs::read(&path).unwrap()),
        other => panic!("{name}: {other:?}"),
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

fn files_beneath(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_beneath(&path)),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn a_kill_or_a_full_disk_at_any_call_of_make_leaves_whole_parity_or_none() {
    if steadfast_testing::program("strace").is_some() {
        assert!(Scene::make().each_call() >= 8, "the calls are not those that were expected");
    }
}

#[test]
fn a_kill_or_a_full_disk_at_any_call_of_update_leaves_the_old_parity_or_the_new() {
    if steadfast_testing::program("strace").is_some() {
        assert!(Scene::update().each_call() >= 8, "the calls are not those that were expected");
    }
}
