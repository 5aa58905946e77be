//! `probe` from outside: its table, its JSON, and that it leaves nothing.

use std::fs;
use std::process::{Command, Stdio};

use crate::tree::Tree;

fn left(tree: &Tree) -> usize {
    let of_probe = |name: &str| name.starts_with(".steadfast-probe");
    let entries = fs::read_dir(tree.path(".")).unwrap().flatten();
    entries.filter(|entry| entry.file_name().to_str().is_some_and(of_probe)).count()
}

#[test]
fn a_table_for_people() {
    let tree = Tree::new();
    let said = tree.run(["probe", "."]).succeeds();
    let text = said.stdout();
    assert!(text.starts_with("A  .  ("), "{text}");
    for row in ["\n  extended attributes", "\n  cp -a", "\n  new file renamed over"] {
        assert!(text.contains(row), "{row}: {text}");
    }
    let kept = text.lines().find(|line| line.starts_with("  cp -a ")).unwrap();
    assert!(kept.ends_with("  kept"), "{text}");
    assert_eq!((said.stderr(), left(&tree)), ("", 0));
}

#[test]
fn objects_for_programs() {
    let tree = Tree::new();
    let said = tree.run(["probe", "--json", "."]).succeeds();
    let objects = said.objects();
    assert_eq!(objects[0]["path"], ".");
    assert_eq!(objects[0]["attributes"], true);
    let copy = objects.iter().find(|object| object["operation"] == "cp -a").unwrap();
    assert_eq!(copy["outcomes"][0]["outcome"], "kept");
    assert_eq!(said.summary()["directories"], 1);
    assert_eq!(said.summary()["exit_status"], 0);
}

#[test]
fn tools_that_are_missing_are_named() {
    let tree = Tree::new();
    let mut command = tree.command(["probe", "--json", "."]);
    // Rust looks tools up in the caller's path.
    command.env("PATH", tree.path("nowhere"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let last = String::from_utf8(output.stdout).unwrap();
    let last: serde_json::Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    let absent = last["summary"]["absent"].as_array().unwrap();
    assert!(["cp", "mv", "tar"].iter().all(|tool| absent.iter().any(|one| one == tool)), "{last}");
}

#[test]
fn a_place_that_is_not_there_is_status_two() {
    let tree = Tree::new();
    let said = tree.run(["probe", "gone"]).ends(2);
    assert!(said.stdout().contains("cannot make a folder of its own: no such file"));
    tree.run(["probe"]).ends(2);
}

#[test]
fn interrupted_it_cleans_up_and_killed_the_next_one_does() {
    let tree = Tree::new();
    // A tool that would never end holds the probe where it can be hit.
    let tools = tree.path("tools");
    fs::create_dir(&tools).unwrap();
    let script = "#!/bin/sh\n: > \"$PROBE_READY\"\nexec /bin/sleep 30\n";
    fs::write(tools.join("cp"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(tools.join("cp"), mode).unwrap();
    for (signal, status) in [("-INT", Some(130)), ("-KILL", None)] {
        let ready = tree.path(format!("ready{signal}"));
        let mut command = tree.command(["probe", "."]);
        command.env("PATH", &tools).env("PROBE_READY", &ready);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        while !ready.exists() {
            assert!(child.try_wait().unwrap().is_none(), "it waits for its tool");
            std::thread::yield_now();
        }
        assert_eq!(left(&tree), 1);
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), status);
        assert_eq!(left(&tree), usize::from(signal == "-KILL"));
    }
    tree.run(["probe", "--json", "."]).succeeds();
    assert_eq!(left(&tree), 0);
}
