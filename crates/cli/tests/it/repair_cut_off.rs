//! A repair that is killed, or that a full disk stops, at each system call that changes something:
//! the file is damaged as before or repaired, the damaged contents are kept, and the next repair
//! ends the work.
//!
//! strace injects the signals and the errors.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::repair::{Facts, facts, flip, names};
use crate::tree::{Outcome, Tree};

/// System calls that change files, directories or attributes, or make changes permanent.
const CALLS: [&str; 18] = [
    "write",
    "pwrite64",
    "ftruncate",
    "fallocate",
    "copy_file_range",
    "ioctl",
    "fsync",
    "fdatasync",
    "fchmod",
    "fchown",
    "utimensat",
    "fsetxattr",
    "fremovexattr",
    "mkdirat",
    "linkat",
    "renameat",
    "renameat2",
    "unlinkat",
];

/// A damaged file, a copy of it, and what is known of both.
struct Ruin {
    tree: Tree,
    whole: Facts,
    damaged: Facts,
}

impl Ruin {
    /// Without a catalogue, so that all changes are of the repair.
    fn new() -> Ruin {
        let contents: Vec<u8> = (0..30_000_u32).map(|at| (at / 13 % 251) as u8).collect();
        let tree = Tree::new().file("data/film", &contents).file("copy/film", &contents);
        tree.run(["tag", "data"]).succeeds();
        let whole = facts(&tree.path("data/film"));
        flip(&tree.path("data/film"), &[5, 20_000]);
        let damaged = facts(&tree.path("data/film"));
        Ruin { tree, whole, damaged }
    }

    fn film(&self) -> Facts {
        facts(&self.tree.path("data/film"))
    }

    /// Runs a repair with a call tampered with. Says how it ended, and whether that call came.
    fn repair(&self, way: &[&str], call: &str, tamper: &str) -> (ExitStatus, bool) {
        let arguments = ["repair", "--yes", "--from", "copy", "data"];
        let command = self.tree.command(arguments);
        let log = self.tree.path("log");
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-e", "signal=none", "-e", &format!("trace=?{call}")]);
        traced.args(["-e", &format!("inject=?{call}:{tamper}"), "-o"]).arg(&log);
        traced.arg(command.get_program()).args(arguments).args(way);
        traced
            .current_dir(self.tree.path(""))
            .env("STEADFAST_IGNORE_CTIME", "1")
            .env("XDG_STATE_HOME", self.tree.state(""));
        let silent = traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = silent.status().unwrap();
        let came = fs::read_to_string(&log).unwrap().contains("(INJECTED");
        (status, came)
    }

    /// Ends what was cut off, as a user would.
    fn finish(&self, way: &[&str], place: &str) {
        let arguments = ["repair", "--yes", "--from", "copy", "data"];
        self.tree.run(arguments.iter().chain(way).copied()).succeeds();
        assert_eq!(self.film(), self.whole, "{place}");
        assert!(self.keeps_damage(), "{place}: the damaged contents are lost");
        let left = self.tree.path("data/.steadfast/damaged/unfinished");
        assert!(!left.exists() || names(&left).is_empty(), "{place}: {:?}", names(&left));
    }

    /// Checks the tree: there is one file in it, and it is judged as it is.
    fn check(&self, place: &str) -> Outcome {
        let said = self.tree.run(["check", "--json", "data"]);
        assert_eq!(said.summary()["files"], 1, "{place}");
        let film = self.film();
        let is_cut_off = format!("{}{}", said.stdout(), said.stderr()).contains("cut off here");
        let is_right = match said.status {
            0 => film == self.whole && !is_cut_off,
            3 => film != self.whole,
            2 => is_cut_off,
            _ => false,
        };
        assert!(is_right, "{place}: {} {}", said.status, said.stderr());
        said
    }

    /// Says whether the damaged bytes are still somewhere in the tree.
    fn keeps_damage(&self) -> bool {
        let page = &self.damaged.contents[..4096];
        let has = |file: &Path| {
            let bytes = fs::read(file).unwrap_or_default();
            bytes.windows(page.len()).any(|window| window == page)
        };
        let mut folders = vec![self.tree.path("data")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false if has(&path) => return true,
                    false => {}
                }
            }
        }
        false
    }
}

/// Says whether each page of a file is one that it had or one that it is to have.
fn is_between(ruin: &Ruin, film: &Facts) -> bool {
    let (old, new) = (&ruin.damaged.contents, &ruin.whole.contents);
    let pages = film.contents.chunks(4096).zip(old.chunks(4096)).zip(new.chunks(4096));
    film.contents.len() == new.len() && pages.into_iter().all(|((is, a), b)| is == a || is == b)
}

fn killed_at_every_call(way: &[&str]) {
    if steadfast_testing::program("strace").is_none() {
        return;
    }
    let (mut kills, mut untouched, mut repaired, mut between) = (0, 0, 0, 0);
    for call in CALLS {
        for number in 1.. {
            let ruin = Ruin::new();
            let (status, _) = ruin.repair(way, call, &format!("signal=KILL:when={number}"));
            let place = format!("{way:?}: killed at {call} {number}: {status}");
            if status.signal() != Some(9) {
                assert!(status.success(), "{place}");
                break;
            }
            kills += 1;
            let film = ruin.film();
            assert!(ruin.keeps_damage(), "{place}: the damaged contents are lost");
            let said = ruin.check(&place);
            if film == ruin.damaged {
                untouched += 1;
            } else if film == ruin.whole {
                repaired += 1;
            } else {
                // In place only: the journal is there, and a check says so.
                assert!(!way.is_empty() && is_between(&ruin, &film), "{place}");
                let text = format!("{}{}", said.stdout(), said.stderr());
                assert!(text.contains("was cut off"), "{place}: {text}");
                let refused = ruin.tree.run(["update", "data"]).ends(2);
                assert!(refused.stderr().contains("was cut off"), "{place}: {refused:?}");
                between += 1;
            }
            ruin.finish(way, &place);
        }
    }
    println!(
        "{way:?}: {kills} kills: {untouched} untouched, {repaired} repaired, {between} finished by \
         the next repair"
    );
    assert!(kills > 20 && untouched > 10 && repaired > 2, "{kills} {untouched} {repaired}");
    assert_eq!(between > 0, !way.is_empty());
}

#[test]
fn a_kill_at_any_call_leaves_the_damaged_file_or_the_repaired_one() {
    killed_at_every_call(&[]);
}

#[test]
fn a_kill_at_any_call_of_a_repair_in_place_is_made_good() {
    killed_at_every_call(&["--in-place"]);
}

fn full_at_every_call(way: &[&str]) {
    if steadfast_testing::program("strace").is_none() {
        return;
    }
    let (mut failures, mut untouched, mut repaired) = (0, 0, 0);
    for call in CALLS.into_iter().chain(["openat"]) {
        for number in 1.. {
            let ruin = Ruin::new();
            let inodes = || {
                let status = fs::metadata(ruin.tree.path("data/film")).unwrap();
                std::os::unix::fs::MetadataExt::ino(&status)
            };
            let before = inodes();
            let (status, came) = ruin.repair(way, call, &format!("error=ENOSPC:when={number}"));
            if !came {
                assert!(status.success(), "{call} {number}: {status}");
                break;
            }
            let place = format!("{way:?}: no room at {call} {number}: {status}");
            failures += 1;
            let film = ruin.film();
            if film == ruin.whole {
                repaired += 1;
            } else {
                assert_eq!(film, ruin.damaged, "{place}");
                assert!(!status.success(), "{place}");
                assert_eq!(inodes(), before, "{place}");
                untouched += 1;
            }
            let left = names(&ruin.tree.path("data"));
            assert!(left.iter().all(|name| !name.ends_with(".draft")), "{place}: {left:?}");
            ruin.finish(way, &place);
        }
    }
    println!("{way:?}: {failures} failures: {untouched} untouched, {repaired} repaired");
    assert!(failures > 50 && untouched > 10, "{failures} {untouched}");
}

#[test]
fn a_full_disk_at_any_call_leaves_the_damaged_file_or_the_repaired_one() {
    full_at_every_call(&[]);
}

#[test]
fn a_full_disk_at_any_call_of_a_repair_in_place_leaves_one_or_the_other() {
    full_at_every_call(&["--in-place"]);
}

#[test]
fn an_interrupt_in_the_middle_loses_nothing() {
    if steadfast_testing::program("strace").is_none() {
        return;
    }
    for way in [&[][..], &["--in-place"]] {
        for number in 1..=3 {
            let ruin = Ruin::new();
            let (status, _) = ruin.repair(way, "pwrite64", &format!("signal=INT:when={number}"));
            let film = ruin.film();
            match status.code() {
                Some(0) => assert_eq!(film, ruin.whole),
                // Something damaged remains, which outranks that it was interrupted.
                Some(3) => assert_eq!(film, ruin.damaged),
                code => panic!("{way:?} {number}: {code:?}"),
            }
            let left = names(&ruin.tree.path("data"));
            assert!(left.iter().all(|name| !name.ends_with(".draft")), "{left:?}");
            ruin.finish(way, "interrupted");
        }
    }
}
