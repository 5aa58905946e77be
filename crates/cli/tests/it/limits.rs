//! Limits that make no sense, words that people guess, and names on a terminal.

use std::process::Command;

use steadfast_testing::{Need, skip};

use crate::tree::Tree;

#[test]
fn limits_without_a_sense_are_refused_with_an_example() {
    let tree = Tree::tagged();
    tree.run(["init", "--tags-only", "."]).succeeds();
    for time in ["0s", "0m", "0.0h"] {
        let said = tree.run(["check", "--max-time", time, "."]).ends(2);
        assert!(said.stderr().contains("30s or 2h"), "{}", said.stderr());
    }
    for rate in ["50", "50/s", "0", "0MB"] {
        let said = tree.run(["check", "--rate-limit", rate, "."]).ends(2);
        assert!(said.stderr().contains("50MB/s"), "{}", said.stderr());
    }
    tree.run(["check", "--max-bytes", "0", "."]).ends(2);
    tree.run(["check", "--workers", "0", "."]).ends(2);
    tree.run(["check", "--max-time", "1h", "--rate-limit", "50MB", "."]).succeeds();
}

#[test]
fn a_verb_of_another_tool_is_answered_with_ours() {
    let tree = Tree::new();
    for (guessed, verb) in
        [("verify", "check"), ("log", "show"), ("scan", "check"), ("Verify", "check")]
    {
        let said = tree.run([guessed, "."]).ends(2);
        assert!(said.stderr().contains(&format!("'{verb}'")), "{guessed}: {}", said.stderr());
    }
    let said = tree.run(["chekc"]).ends(2);
    assert!(said.stderr().contains("'check'"), "{}", said.stderr());
}

#[test]
fn export_without_a_format_lists_them() {
    let tree = Tree::tagged();
    let said = tree.run(["export", "."]).ends(2);
    for name in ["--format", "gnu", "bagit", "mtree", "--attributes", "shatag", "unraid"] {
        assert!(said.stderr().contains(name), "{name}: {}", said.stderr());
    }
}

#[test]
fn names_are_escaped_on_a_terminal_and_exact_elsewhere() {
    let tree = Tree::new().file("red\x1b[31m\nname", b"alpha");
    tree.run(["tag", "."]).succeeds();
    let piped = tree.run(["show", "--csv", "."]).succeeds();
    assert!(piped.stdout().contains("red\x1b[31m\nname"), "{}", piped.stdout());
    // The `script` of util-linux gives a command a terminal.
    let known = Command::new("script").arg("--version").output();
    if !known.is_ok_and(|known| String::from_utf8_lossy(&known.stdout).contains("util-linux")) {
        return skip(Need::Program("script"), "the one of util-linux is not on PATH");
    }
    for verb in ["check --csv", "show --csv", "check --json", "show .", "export --format bsd"] {
        let line = format!("{} {verb} --progress never . || true", crate::tree::PROGRAM);
        let line = match verb.starts_with("check") {
            true => line,
            false => line.replace(" --progress never", ""),
        };
        let mut command = Command::new("script");
        command.args(["-q", "-e", "-c", &line, "/dev/null"]).current_dir(tree.path("."));
        let output = command.env("NO_COLOR", "1").output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("red") && !shown.contains('\x1b'), "{verb}: {shown:?}");
        assert!(!shown.contains("31m\r\nname"), "{verb}: {shown:?}");
    }
}
