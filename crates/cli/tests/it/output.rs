//! What the streams carry: JSON, CSV, colours; readers that leave, and signals.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use steadfast_testing::{Need, skip, took_at_most};

use crate::tree::{Outcome, Tree};

#[test]
fn every_line_of_json_is_an_object_and_the_last_is_the_summary() {
    let tree = Tree::tagged();
    tree.corrupt("a");
    let checked = tree.run(["check", "--json"]).ends(3);
    let objects = checked.objects();
    assert_eq!(objects.len(), 4);
    for object in &objects[..3] {
        assert!(object["path"].is_string() && object["verdict"].is_string(), "{object}");
        assert!(object["path_b64"].is_null());
        assert_eq!(object["digest"].as_str().unwrap().len(), 64);
    }
    assert_ne!(objects[0]["digest"], objects[0]["stored"]["digest"]);
    assert_eq!(objects[0]["mtime_ns"], objects[0]["stored"]["mtime_ns"]);
    let summary = checked.summary();
    assert_eq!(summary["verb"], "check");
    assert_eq!(summary["verdicts"].as_object().unwrap().len(), 11);
    assert_eq!(summary["verdicts"]["corrupt"], 1);
    assert_eq!(summary["interrupted"], false);
    assert!(summary["cost"]["hash_ns"].is_u64());
    assert_eq!(checked.stderr(), "");
}

#[test]
fn csv_has_a_header_and_a_row_for_each_file() {
    let tree = Tree::tagged();
    let checked = tree.run(["check", "--csv"]).succeeds();
    let lines: Vec<&str> = checked.stdout().lines().collect();
    assert!(lines[0].starts_with("path,path_b64,kind,verdict,action,algorithm,digest,length,"));
    assert_eq!(lines.len(), 4);
    assert!(lines[1].starts_with("a,,,intact,,sha256,"), "{}", lines[1]);
}

#[test]
fn colours_obey_the_environment() {
    let tree = Tree::tagged();
    tree.corrupt("a");
    let colored = |variables: &[(&str, &str)]| {
        let mut command = tree.command(["check"]);
        command.envs(variables.iter().copied());
        Outcome::of(&mut command).stdout().contains('\x1b')
    };
    assert!(!colored(&[]), "a pipe is no terminal");
    assert!(colored(&[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn units_are_decimal_unless_asked() {
    let tree = Tree::new().file("a", &[0; 1 << 20]);
    assert!(tree.run(["tag", "."]).succeeds().stdout().contains("\n1.05 MB in "));
    let iec = tree.run(["check", "--units", "iec"]).succeeds();
    assert!(iec.stdout().contains("\n1.00 MiB in "), "{}", iec.stdout());
}

#[test]
fn a_reader_who_leaves_is_no_error() {
    let mut tree = Tree::new();
    for number in 0..3000 {
        tree = tree.file(format!("{number:0200}"), b"");
    }
    // `show` ends with the same status whether the pipe breaks during the run or after it. A check
    // of files without tags would not.
    let mut command = tree.command(["show", "."]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert!(line.starts_with("0000"), "{line}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Starts hashing a small file and a sparse one of 1 TiB, and waits until the small one is told.
fn amid_a_long_run(tree: &Tree) -> (std::process::Child, BufReader<std::process::ChildStdout>) {
    let file = std::fs::File::create(tree.path("big")).unwrap();
    file.set_len(1 << 40).unwrap();
    let mut command = tree.command(["hash", "--json", "a", "big"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("\"a\""), "{line}");
    (child, stdout)
}

fn interrupt(child: &std::process::Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn the_first_interrupt_ends_within_a_second_with_a_summary() {
    let tree = Tree::small();
    let (mut child, mut stdout) = amid_a_long_run(&tree);
    let start = Instant::now();
    interrupt(&child);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(took_at_most(start, Duration::from_secs(2)), "{:?}", start.elapsed());
    let last: serde_json::Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert_eq!(last["summary"]["interrupted"], true);
    assert_eq!(last["summary"]["exit_status"], 130);
}

#[test]
fn an_interrupted_tagging_leaves_whole_tags() {
    let tree = Tree::small();
    let file = std::fs::File::create(tree.path("big")).unwrap();
    file.set_len(1 << 40).unwrap();
    let mut command = tree.command(["tag", "--json", "a", "big"]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    interrupt(&child);
    stdout.read_to_string(&mut String::new()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let shown = tree.run(["show", "a", "big"]).succeeds();
    assert!(shown.stdout().contains("a\n  sha256  "), "{}", shown.stdout());
    assert!(shown.stdout().ends_with("big\n  no tag\n"), "{}", shown.stdout());
}

#[test]
fn progress_stays_out_of_the_way() {
    let tree = Tree::tagged();
    for when in ["auto", "never", "always"] {
        let checked = tree.run(["check", "--progress", when]).succeeds();
        assert_eq!(checked.stderr(), "", "{when}");
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_told() {
    let tree = Tree::tagged();
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return skip(Need::System("/dev/full"), "it cannot be opened for writing");
    };
    let output = tree.command(["check"]).stdout(full).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.starts_with("steadfast: cannot write to stdout: "), "{told}");
}

#[test]
fn a_tagging_whose_reader_went_away_still_tags_everything() {
    let mut tree = Tree::new();
    for number in 0..3_000 {
        tree = tree.file(format!("{number}-{}", "x".repeat(60)), b"contents");
    }
    let mut command = tree.command(["tag", "-v", "."]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    tree.run(["check", "--require-tags"]).succeeds();
}
