//! `hash` and `sha256sum` understand each other, whatever the names.

use std::fs;
use std::process::Command;

use steadfast::Algorithm;

use crate::names::nasty_tree;
use crate::tree::{Outcome, Tree};

const ALPHA: &str = "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8";

/// Runs a tool of the system in the tree; records a skip and returns `None` if it is missing.
fn tool(tree: &Tree, name: &str, arguments: &[&str]) -> Option<Outcome> {
    steadfast_testing::program(name)?;
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{name} {}", arguments.join(" "))]).current_dir(tree.path("."));
    Some(Outcome::of(&mut command))
}

fn save(tree: &Tree, outcome: &Outcome) {
    std::fs::write(tree.path(".sums"), &outcome.stdout).unwrap();
}

#[test]
fn sha256sum_reads_our_lines() {
    let tree = nasty_tree();
    for arguments in [&["hash", "."][..], &["hash", "--tag", "."]] {
        save(&tree, &tree.run(arguments).succeeds());
        let Some(theirs) = tool(&tree, "sha256sum", &["--strict", "--check", ".sums"]) else {
            return;
        };
        let theirs = theirs.succeeds();
        assert_eq!(theirs.stdout.split(|&byte| byte == b'\n').count(), 9);
        std::fs::remove_file(tree.path(".sums")).unwrap();
    }
}

/// Lines without the escapes of a backslash: sha256sum of coreutils 9.7 has them where 9.1 has not.
fn unescaped(told: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(told);
    let name = |line: &str| match line.strip_prefix('\\') {
        Some(escaped) => escaped.replace(r"\\", r"\"),
        None => line.to_owned(),
    };
    text.split('\n').map(name).collect()
}

#[test]
fn we_read_the_lines_of_sha256sum_and_print_the_same() {
    let tree = nasty_tree();
    for option in ["", "--binary", "--tag"] {
        let Some(theirs) = tool(&tree, "sha256sum", &[option, "./*"]) else { return };
        save(&tree, &theirs.succeeds());
        let ours = tree.run(["hash", "--check", "--strict", ".sums"]).succeeds();
        assert_eq!(ours.stdout.split(|&byte| byte == b'\n').count(), 9, "{option}");
        assert_eq!(ours.stderr(), "");
        let words = tool(&tree, "sha256sum", &["--check", ".sums"]).unwrap().succeeds();
        assert_eq!(unescaped(&ours.stdout), unescaped(&words.stdout));
        std::fs::remove_file(tree.path(".sums")).unwrap();
    }
    let names = ["a b", "*star", "back\\slash", "new\nline"];
    for ending in [None, Some("-z")] {
        let ours = tree.run(["hash"].into_iter().chain(ending).chain(["--"]).chain(names));
        let mut theirs = Command::new("sha256sum");
        theirs.args(ending).arg("--").args(names).current_dir(tree.path("."));
        assert_eq!(ours.succeeds().stdout, Outcome::of(&mut theirs).stdout);
    }
}

#[test]
fn files_are_told_in_order_and_as_often_as_named() {
    let tree = Tree::small();
    let hashed = tree.run_with(["hash", "b", "-", "a", "a"], b"alpha").succeeds();
    let names: Vec<&str> = hashed.stdout().lines().map(|line| &line[66..]).collect();
    assert_eq!(names, ["b", "-", "a", "a"]);
    assert!(hashed.stdout().lines().skip(1).all(|line| line.starts_with(ALPHA)));
    let failed = tree.run(["hash", "a", "gone", "b"]).ends(2);
    assert_eq!(failed.stdout().lines().count(), 2);
    assert_eq!(failed.stderr(), "steadfast: gone: cannot open: no such file or directory\n");
    let verbose = tree.run(["hash", "-v", "a"]).succeeds();
    assert_eq!(verbose.stdout(), format!("{ALPHA}  a\n"));
    assert!(verbose.stderr().starts_with("hashed 1 file\n5 B in "), "{}", verbose.stderr());
}

#[test]
fn every_algorithm_checks_its_own_lines() {
    let tree = Tree::small();
    for algorithm in ["sha512", "sha384", "sha1", "md5", "blake2b", "blake3", "xxh3-128", "crc32c"]
    {
        for tag in [None, Some("--tag")] {
            let arguments = ["hash", "--algorithm", algorithm].into_iter().chain(tag);
            save(&tree, &tree.run(arguments.chain(["a", "b"])).succeeds());
            let told = ["hash", "--check", "--strict", "--algorithm", algorithm, ".sums"];
            assert_eq!(tree.run(told).succeeds().stdout(), "a: OK\nb: OK\n", "{algorithm}");
        }
    }
    // Lines that name their algorithms may be mixed, and need no option.
    let mixed = format!("SHA256 (a) = {ALPHA}\nSHA1 (b) = {}\n", "00".repeat(20));
    let checked = tree.run_with(["hash", "--check"], mixed.as_bytes()).ends(1);
    assert_eq!(checked.stdout(), "a: OK\nb: FAILED\n");
}

#[test]
fn checking_speaks_and_ends_as_coreutils_do() {
    let tree = Tree::small();
    let zero = "00".repeat(32);
    let lines = format!("{ALPHA}  a\n{zero}  b\nnot a line\n{zero}  gone\n");
    let check = |options: &[&str]| {
        let arguments = ["hash", "--check"].iter().chain(options);
        tree.run_with(arguments, lines.as_bytes()).ends(1)
    };
    let plain = check(&[]);
    assert_eq!(plain.stdout(), "a: OK\nb: FAILED\ngone: FAILED open or read\n");
    let told: Vec<&str> = plain.stderr().lines().collect();
    assert_eq!(
        told[..3],
        [
            "steadfast: gone: cannot open: no such file or directory",
            "steadfast: WARNING: 1 line is improperly formatted",
            "steadfast: WARNING: 1 listed file could not be read",
        ]
    );
    assert!(told[3].starts_with("steadfast: WARNING: 1 computed "), "{}", told[3]);
    assert!(told[3].ends_with(" did NOT match"), "{}", told[3]);
    assert_eq!(check(&["--quiet"]).stdout(), "b: FAILED\ngone: FAILED open or read\n");
    assert_eq!(check(&["--status"]).stdout(), "");
    assert_eq!(check(&["--ignore-missing"]).stdout(), "a: OK\nb: FAILED\n");
    assert!(check(&["--warn"]).stderr().starts_with("steadfast: -: 3: improperly formatted"));

    let good = format!("{ALPHA}  a\nnot a line\n");
    tree.run_with(["hash", "--check"], good.as_bytes()).succeeds();
    tree.run_with(["hash", "--check", "--strict"], good.as_bytes()).ends(1);
    tree.run_with(["hash", "--check"], b"nothing here\n").ends(1);
    let gone = format!("{zero}  gone\n");
    let none = tree.run_with(["hash", "-c", "--ignore-missing"], gone.as_bytes()).ends(1);
    assert!(none.stderr().contains("no file was verified"), "{}", none.stderr());
    for document in ["absent", "sub"] {
        let failed = tree.run(["hash", "--check", document]).ends(1);
        assert!(failed.stderr().starts_with(&format!("steadfast: {document}: ")));
    }
}

#[test]
fn a_list_leads_neither_out_of_the_working_directory_nor_through_links() {
    let tree = Tree::small();
    let inner = tree.path("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::copy(tree.path("a"), inner.join("mine")).unwrap();
    std::os::unix::fs::symlink("../a", inner.join("link")).unwrap();
    std::os::unix::fs::symlink("..", inner.join("folder")).unwrap();
    let outside = tree.path("a");
    let names = ["../a", "link", "folder/a", "mine/../../a", outside.to_str().unwrap()];
    let own = inner.join("mine");
    let names = names.into_iter().chain(["mine", "./mine", own.to_str().unwrap()]);
    let lines: String = names.map(|name| format!("{ALPHA}  {name}\n")).collect();
    std::fs::write(inner.join("list"), &lines).unwrap();
    let mut command = tree.command(["hash", "--check", "list"]);
    let checked = command.current_dir(&inner).output().unwrap();
    let shown = String::from_utf8(checked.stdout).unwrap();
    let wrong = shown.lines().take(5).all(|line| line.ends_with(": FAILED open or read"));
    assert!(wrong && shown.lines().skip(5).all(|line| line.ends_with(": OK")), "{shown}");
    assert_eq!((checked.status.code(), shown.lines().count()), (Some(1), 8), "{shown}");
    let told = String::from_utf8(checked.stderr).unwrap();
    assert!(told.contains("../a: not read, because it is not beneath"), "{told}");
    let list = inner.join("list");
    let above = tree.command(["hash", "--check", list.to_str().unwrap()]).output().unwrap();
    let shown = String::from_utf8(above.stdout).unwrap();
    assert!(shown.contains(&format!("{}: OK", outside.display())), "{shown}");
}

#[test]
fn a_dash_in_a_list_is_stdin() {
    let tree = Tree::small();
    std::fs::write(tree.path("list"), format!("{ALPHA}  a\n{ALPHA}  -\n")).unwrap();
    let checked = tree.run_with(["hash", "--check", "list"], b"alpha").succeeds();
    assert_eq!(checked.stdout(), "a: OK\n-: OK\n");
    let both = format!("{ALPHA}  -\n{ALPHA}  a\n");
    let checked = tree.run_with(["hash", "--check", "-"], both.as_bytes()).ends(1);
    assert_eq!(checked.stdout(), "-: FAILED open or read\na: OK\n");
}

#[test]
fn stdin_is_hashed_when_nothing_is_named() {
    let tree = Tree::small();
    let binary: Vec<u8> = (0..=255).cycle().take(3_000_001).collect();
    for contents in [&b""[..], b"alpha", &binary] {
        let digest = steadfast::run::digest_of(&mut &contents[..], Algorithm::Sha256).unwrap();
        for arguments in [&["hash"][..], &["hash", "-"]] {
            let said = tree.run_with(arguments, contents).succeeds();
            assert_eq!(said.stdout(), format!("{digest}  -\n"));
        }
    }
    let said = tree.run_with(["hash", "--tag", "--algorithm", "md5"], b"").succeeds();
    assert_eq!(said.stdout(), "MD5 (-) = d41d8cd98f00b204e9800998ecf8427e\n");
    // A walk is described, a list is given, or the form of the output has no place for it.
    let said = tree.run_with(["hash", "--exclude", "sub"], b"x").succeeds();
    assert!(said.stdout().contains("  a\n") && !said.stdout().contains("  -\n"));
    let said = tree.run_with(["hash", "--files-from", "-"], b"a\n").succeeds();
    assert!(said.stdout().ends_with("  a\n"), "{}", said.stdout());
    let said = tree.run_with(["hash", "--json"], b"x").ends(2);
    assert!(said.stderr().contains("steadfast hash ."), "{}", said.stderr());
    // What cannot be read has no digest.
    let mut command = tree.command(["hash"]);
    command.stdin(fs::File::open(tree.path(".")).unwrap());
    let said = Outcome::of(&mut command).ends(2);
    assert_eq!(said.stdout(), "");
}

#[test]
fn a_long_stream_is_hashed_in_bounded_memory() {
    let tree = Tree::new();
    let script = "ulimit -v 1500000; head -c 3000000000 /dev/zero | \"$1\" hash --algorithm xxh128";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", crate::tree::PROGRAM]).current_dir(tree.path("."));
    let said = Outcome::of(&mut command).succeeds();
    assert!(said.stdout().ends_with("  -\n"), "{}", said.stdout());
}
