//! Manual pages and completions: made for every verb, and accepted by what reads them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use steadfast_testing::{Need, program, skip};

use crate::tree::Tree;

/// Makes the manual in a new folder.
fn manual() -> (Tree, PathBuf) {
    let tree = Tree::new();
    tree.run(["help", "--manual", "share"]).succeeds();
    let share = tree.path("share");
    (tree, share)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.into_string().unwrap()).collect()
}

/// Runs a program that accepts what is good in silence.
fn accepts(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{command:?}: {said}");
}

#[test]
fn every_verb_has_a_page() {
    let (tree, share) = manual();
    let help = tree.run(["help", "--all"]).succeeds();
    let mut verbs = Vec::new();
    let listed = help.stdout().split("\nHelp:").next().unwrap().lines();
    for line in listed.filter(|line| line.starts_with("  ")) {
        verbs.extend(line.split_whitespace().next());
    }
    assert!(verbs.contains(&"check") && verbs.len() > 15, "{verbs:?}");
    let pages = names(&share.join("man/man1"));
    for verb in verbs {
        assert!(pages.contains(&format!("steadfast-{verb}.1")), "{verb}: {pages:?}");
    }
    assert!(pages.contains("steadfast.1") && pages.contains("steadfast-parity-make.1"));
    assert!(!pages.iter().any(|page| page.contains("help")), "{pages:?}");
    assert_eq!(names(&share.join("man/man5")), BTreeSet::from(["steadfast-formats.5".to_owned()]));
}

#[test]
fn pages_have_examples_line_by_line_and_no_warnings() {
    let (_tree, share) = manual();
    let known = Command::new("man").arg("--version").output();
    if !known.is_ok_and(|known| known.stdout.starts_with(b"man ")) {
        return skip(Need::Program("man"), "the one of man-db is not on PATH");
    }
    for folder in ["man/man1", "man/man5"] {
        for name in names(&share.join(folder)) {
            let page = share.join(folder).join(name);
            accepts(Command::new("man").args(["--warnings", "-Tutf8", "-l"]).arg(&page));
        }
    }
    let page = share.join("man/man1/steadfast-check.1");
    let mut man = Command::new("man");
    man.args(["-Tutf8", "-l"]).arg(page).env("MANWIDTH", "100").env("GROFF_NO_SGR", "1");
    let text = String::from_utf8(man.output().unwrap().stdout).unwrap();
    let example = |line: &str| line.trim_start().starts_with("steadfast check ~/Pictures");
    assert!(text.lines().any(example), "{text}");
    assert!(text.contains("Hash in N threads"), "options for experts are described: {text}");
    assert!(text.contains("        Steadfast        "), "the title is complete: {text}");
}

#[test]
fn shells_accept_the_completions() {
    let (_tree, share) = manual();
    let files = [
        ("bash", "bash-completion/completions/steadfast"),
        ("zsh", "zsh/site-functions/_steadfast"),
        ("fish", "fish/vendor_completions.d/steadfast.fish"),
    ];
    for (shell, file) in files {
        if let Some(shell) = program(shell) {
            accepts(Command::new(shell).arg("-n").arg(share.join(file)));
        }
    }
}

#[test]
fn bash_completes_verbs_and_options() {
    let (_tree, share) = manual();
    let Some(bash) = program("bash") else { return };
    let file = share.join("bash-completion/completions/steadfast");
    let complete = |words: &str, count: usize| {
        let script = format!(
            "source '{}'; COMP_WORDS=({words}); COMP_CWORD={count}; \
             _steadfast steadfast \"${{COMP_WORDS[{count}]}}\" x; echo \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let output = Command::new(&bash).args(["-c", &script]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("steadfast che", 1), "check");
    assert_eq!(complete("steadfast check --max-t", 2), "--max-time");
    assert_eq!(complete("steadfast parity mak", 2), "make");
}

#[test]
fn a_manual_is_replaced_and_a_bad_place_is_told() {
    let (tree, share) = manual();
    let page = share.join("man/man1/steadfast.1");
    fs::write(&page, "old").unwrap();
    tree.run(["help", "--manual", "share"]).succeeds();
    assert!(fs::read_to_string(&page).unwrap().contains(".TH steadfast 1"));
    let said = tree.file("taken", b"").run(["help", "--manual", "taken"]).ends(2);
    assert!(said.stderr().contains("cannot make `taken/"), "{}", said.stderr());
}
