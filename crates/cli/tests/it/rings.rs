//! Systems that let a process have no rings: the run says so once, and reads all the same.
//!
//! Needs root, which alone may forbid rings, and Linux 6.6, which has the setting; elsewhere the
//! test is skipped.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use steadfast_testing::{Need, skip};

use crate::tree::{Outcome, Tree};

/// 0: all may have rings; 1: only who administers the system; 2: nobody.
const SETTING: &str = "/proc/sys/kernel/io_uring_disabled";

/// Puts the setting back when the test ends, however it ends.
struct Forbidden {
    before: String,
}

impl Forbidden {
    fn new() -> Option<Forbidden> {
        let before = fs::read_to_string(SETTING).ok()?;
        fs::write(SETTING, "1").ok()?;
        Some(Forbidden { before })
    }
}

impl Drop for Forbidden {
    fn drop(&mut self) {
        fs::write(SETTING, &self.before).unwrap();
    }
}

#[test]
fn without_rings_a_run_from_the_medium_says_so_once_and_gives_the_same_verdicts() {
    let long: Vec<u8> = (0..3 << 20).map(|at: u32| (at % 251) as u8).collect();
    let tree = Tree::small().file("long", &long).file("longer", &[&long[..], b"end"].concat());
    tree.run(["tag", "."]).succeeds();
    tree.corrupt("long");
    let arguments = ["check", "--json", "--read-from", "media", "."];
    let with_rings = tree.run(arguments).ends(3);

    let Some(_forbidden) = Forbidden::new() else {
        return skip(Need::Root, "only root may forbid rings, and only since Linux 6.6");
    };
    let mut command = Command::new("setpriv");
    let plain = tree.command(arguments);
    command.args(["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]);
    command.arg(plain.get_program()).args(plain.get_args()).current_dir(tree.path(""));
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let without_rings = Outcome::of(&mut command).ends(3);

    let notices = |outcome: &Outcome| {
        let objects = outcome.objects();
        let told = objects.iter().filter_map(|object| object["notice"].as_str());
        told.filter(|text| text.contains("no io_uring here")).count()
    };
    assert_eq!(notices(&with_rings), 0, "{}", with_rings.stdout());
    assert_eq!(notices(&without_rings), 1, "{}", without_rings.stdout());
    for path in ["a", "b", "sub/c", "long", "longer"] {
        assert_eq!(without_rings.verdict(path), with_rings.verdict(path), "{path}");
        assert!(without_rings.verdict(path).is_some(), "{path}");
    }
}
