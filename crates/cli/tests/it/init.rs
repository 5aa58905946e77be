//! `steadfast init`: one command that makes the catalogue and records every file.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::tree::{Outcome, Tree};

fn state(tree: &Tree) -> String {
    let said = tree.run(["status", "--json"]);
    said.objects()[0]["state"].as_str().unwrap().to_owned()
}

#[test]
fn it_records_every_file_and_says_what_is_next() {
    let tree = Tree::small();
    let said = tree.run(["init", "--progress", "always", "."]).succeeds();
    assert_eq!(said.stderr(), "3 files to read, 14 B\n");
    assert!(said.stdout().starts_with("looked at 3 files: 3 tagged\n"), "{}", said.stdout());
    assert!(said.stdout().contains("\nEvery file is recorded. Next:\n  steadfast check ."));
    assert_eq!(state(&tree), "recorded");
    let again = tree.run(["init", "--progress", "always", "."]).succeeds();
    assert_eq!(again.stderr(), "3 files are recorded already; 0 to read, 0 B\n");
    tree.run(["check", "."]).succeeds();
    assert_eq!(state(&tree), "fine");
}

#[test]
fn what_is_next_can_be_typed_as_printed() {
    let name = "l'été à deux";
    let tree = Tree::new().file(format!("{name}/a"), b"alpha");
    let said = tree.run(["init", name]).succeeds();
    let next = said.stdout().split_once("Next:\n").unwrap().1;
    let commands: Vec<&str> = next.lines().map(|line| line.rsplit_once("  ").unwrap().0).collect();
    let verbs = ["check", "update", "schedule add"];
    for (command, verb) in commands.iter().zip(verbs) {
        let words = format!("steadfast {verb} 'l'\\''été à deux'");
        assert_eq!(command.trim(), words);
        if verb != "schedule add" {
            let program = tree.command([""; 0]).get_program().to_owned();
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("steadfast() {{ \"$0\" \"$@\"; }}; {command}")]);
            shell.arg(program).current_dir(tree.path("")).env("XDG_STATE_HOME", tree.state(""));
            Outcome::of(&mut shell).succeeds();
        }
    }
    assert_eq!(commands.len(), verbs.len());
}

#[test]
fn of_an_empty_folder_it_does_not_say_that_all_is_recorded() {
    let tree = Tree::new();
    std::fs::create_dir(tree.path("empty")).unwrap();
    let said = tree.run(["init", "empty"]).succeeds();
    assert!(said.stdout().contains("There is nothing to record yet."), "{}", said.stdout());
    assert!(!said.stdout().contains("Every file is recorded"), "{}", said.stdout());
    // Who removed all files on purpose has a way out.
    std::fs::write(tree.path("empty/file"), "one").unwrap();
    tree.run(["update", "empty"]).succeeds();
    std::fs::remove_file(tree.path("empty/file")).unwrap();
    let said = tree.run(["check", "empty"]).ends(2);
    assert!(said.stderr().contains("`steadfast init --forget "), "{}", said.stderr());
    tree.run(["init", "--forget", "empty"]).succeeds();
    assert!(!tree.run(["status"]).stdout().contains("empty"));
}

#[test]
fn what_decayed_before_is_told_and_not_accepted() {
    let tree = Tree::tagged();
    tree.corrupt("a");
    for _ in 0..2 {
        let said = tree.run(["init", "."]).ends(3);
        assert!(said.stdout().contains("1 file is corrupt. Mend: "), "{}", said.stdout());
        assert!(!said.stdout().contains("Every file is recorded"), "{}", said.stdout());
    }
    assert_eq!(tree.run(["check", "--json"]).ends(3).verdict("a").as_deref(), Some("corrupt"));
    assert_eq!(state(&tree), "trouble");
}

#[test]
fn the_order_of_tags_and_catalogue_does_not_matter() {
    for verbs in [["tag", "init"], ["init", "tag"]] {
        let tree = Tree::small();
        for verb in verbs {
            tree.run([verb, "."]).succeeds();
        }
        assert_eq!(state(&tree), "recorded", "{verbs:?}");
    }
}

#[test]
fn a_catalogue_is_its_owners_alone_until_a_person_opens_it() {
    let tree = Tree::small();
    let mode = |name: &str| {
        let path = tree.path(format!(".steadfast/catalogue.sqlite{name}"));
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    tree.run(["init", "."]).succeeds();
    assert_eq!((mode(""), mode(".lock")), (0o600, 0o600));
    let told = "others can read the names";
    assert!(!tree.run(["status"]).stderr().contains(told));
    for (readers, expected) in [("group", 0o640), ("all", 0o644), ("owner", 0o600)] {
        let said = tree.run(["init", "--readers", readers, "."]).succeeds();
        assert_eq!((mode(""), said.stdout()), (expected, ""));
        assert_eq!(mode(".lock"), 0o600, "who may only read keeps nobody from writing");
        assert!(!tree.run(["status"]).stderr().contains(told), "it was asked for");
    }
    // One that exists keeps its rights, and one that takes its place gets them.
    let catalogue = tree.path(".steadfast/catalogue.sqlite");
    fs::set_permissions(&catalogue, fs::Permissions::from_mode(0o660)).unwrap();
    tree.run(["check", "--quiet", "."]).succeeds();
    assert_eq!((mode(""), mode(".lock")), (0o660, 0o660));
    tree.run(["init", "--rebuild", "."]).succeeds();
    assert_eq!(mode(""), 0o660);

    let tree = Tree::small();
    tree.run(["init", "--readers", "group", "."]).succeeds();
    let catalogue = tree.path(".steadfast/catalogue.sqlite");
    assert_eq!(fs::metadata(&catalogue).unwrap().permissions().mode() & 0o777, 0o640);
    let tree = Tree::small();
    tree.run(["init", "."]).succeeds();
    let catalogue = tree.path(".steadfast/catalogue.sqlite");
    fs::set_permissions(&catalogue, fs::Permissions::from_mode(0o644)).unwrap();
    let first = tree.run(["status"]);
    assert!(first.stderr().contains(told), "{}", first.stderr());
    assert!(!tree.run(["status"]).stderr().contains(told), "once is enough");
}

#[test]
fn a_catalogue_that_this_user_may_not_read_is_named_and_not_taken_for_none() {
    let tree = Tree::small();
    tree.run(["init", "."]).succeeds();
    let own = fs::metadata("/proc/self").map_or(u32::MAX, |own| own.uid());
    let close = |name: &str, mode: u32| {
        fs::set_permissions(tree.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    let run = |arguments: &[&str]| {
        let mut command = tree.command(arguments);
        if own == 0 {
            command.uid(12_345).gid(12_345);
        }
        Outcome::of(&mut command)
    };
    close("", 0o755);
    for (name, opened, closed) in
        [(".steadfast/catalogue.sqlite", 0o600, 0o000), (".steadfast", 0o755, 0o000)]
    {
        close(name, closed);
        let mut all = vec![
            &["check", "--quiet", "."][..],
            &["show", "--history", "a"],
            &["known", "a", "--in", "."],
            &["safe", "a", "--in", "."],
            &["show", "a"],
            &["init", "."],
            &["update", "--quiet", "."],
        ];
        // In a closed folder, a repair that was cut off cannot be seen either, which comes first.
        all.truncate(if name == ".steadfast" { 4 } else { all.len() });
        for arguments in all {
            let told = run(arguments).ends(2);
            let words = ["it belongs to ", "may not read it", "--readers all ", "sudo chown "];
            for words in words {
                assert!(told.stderr().contains(words), "{arguments:?}: {}", told.stderr());
            }
            assert!(own != 0 || told.stderr().contains("`root`"), "{}", told.stderr());
        }
        close(name, opened);
    }
}
