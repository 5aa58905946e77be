//! What the command asks of the system, read from `strace`.
//!
//! Every file is on the medium before it gets its name: a loss of power leaves none that is torn.
//! A run that visits a file opens it once.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::tree::Tree;

/// The calls that flush and rename, with the paths of descriptors.
const CALLS: &str = "trace=?fsync,?fdatasync,?rename,?renameat,?renameat2,?link,?linkat";

/// Returns the arguments of a call: what stands between the first parenthesis and the last.
fn arguments(line: &str) -> Option<(&str, Vec<&str>)> {
    let (call, rest) = line.split_once('(')?;
    let (inside, result) = rest.rsplit_once(')')?;
    let done = result.trim_start().starts_with("= 0");
    done.then(|| (call.rsplit(' ').next().unwrap(), inside.split(", ").collect()))
}

/// Returns the path of a descriptor as `strace -y` shows it: `7</path>`.
fn path_of(descriptor: &str) -> &str {
    descriptor.split_once('<').unwrap().1.trim_end_matches('>')
}

/// Runs a command and returns its calls of some kinds, those of a thread together.
fn calls_of(tree: &Tree, words: &[&str], kinds: &str) -> String {
    let command = tree.command(words);
    // A log for each thread, in which the lines of no other one interrupt a call.
    let logs = tempfile::tempdir().unwrap();
    let mut traced = Command::new("strace");
    traced.args(["-ff", "-y", "-e", kinds, "-o"]).arg(logs.path().join("log"));
    traced.arg(command.get_program()).args(words);
    traced.current_dir(tree.path("")).stdin(std::process::Stdio::null());
    let output = traced.output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    let logs = fs::read_dir(logs.path()).unwrap();
    logs.map(|log| fs::read_to_string(log.unwrap().path()).unwrap()).collect()
}

/// Runs a command and returns the names that files got, each of which was flushed before.
fn renamed(tree: &Tree, words: &[&str]) -> BTreeSet<String> {
    let (mut flushed, mut names) = (BTreeSet::new(), BTreeSet::new());
    for line in calls_of(tree, words, CALLS).lines() {
        let Some((call, arguments)) = arguments(line) else { continue };
        match call {
            "fsync" | "fdatasync" => {
                flushed.insert(path_of(arguments[0]).to_owned());
            }
            "renameat" | "renameat2" | "linkat" => {
                let name = |at: usize| arguments[at].trim_matches('"');
                let from = format!("{}/{}", path_of(arguments[0]), name(1));
                assert!(flushed.contains(&from), "{words:?}: not flushed before {line}");
                names.insert(name(3).to_owned());
            }
            _ => panic!("{words:?}: not beneath an open directory: {line}"),
        }
    }
    names
}

#[test]
fn every_file_is_flushed_before_it_gets_its_name() {
    if steadfast_testing::program("strace").is_none() {
        return;
    }
    let tree = Tree::new().file("data/a", &[7; 9000]).file("data/b", &[8; 9000]);
    let tree = tree.file("alone", &[9; 9000]);
    let cases: [(&[&str], &[&str]); 5] = [
        (&["init", "--tags-only", "data"], &["catalogue.sqlite"]),
        (&["tag", "--pages", "data"], &["sha256-"]),
        (&["tag", "--pages", "--sidecar", "alone"], &["alone.steadfast-pages"]),
        (
            &["check", "--report", "page.html", "--trace", "trace.json", "alone"],
            &["page.html", "trace.json"],
        ),
        (&["check", "data", "--shard", "0/1", "--result", "result"], &["result"]),
    ];
    for (words, expected) in cases {
        let names = renamed(&tree, words);
        for name in expected {
            assert!(names.iter().any(|is| is.starts_with(name)), "{words:?}: {name} in {names:?}");
        }
    }
}

#[test]
fn a_run_that_learns_what_belongs_to_a_file_opens_it_once() {
    if steadfast_testing::program("strace").is_none() {
        return;
    }
    let tree = Tree::new().file("data/first", b"1").file("data/second", b"2");
    for words in [&["init", "--tags-only", "data"][..], &["tag", "data"], &["check", "data"]] {
        let opened = calls_of(&tree, words, "trace=?openat,?openat2,?open");
        for name in ["\"first\"", "\"second\""] {
            assert_eq!(opened.matches(name).count(), 1, "{words:?}: {name} in {opened}");
        }
    }
}
