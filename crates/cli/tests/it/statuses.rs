//! The exit status of a check for each thing that can happen, alone and together.

use crate::tree::Tree;

#[test]
fn one_thing_at_a_time() {
    type FileHistoryEvent = fn(&Tree);
    let cases: [(&str, FileHistoryEvent, i32); 6] = [
        ("intact", |_| {}, 0),
        ("touched", |tree| tree.touch("a"), 0),
        ("modified", |tree| tree.edit("a"), 1),
        ("corrupt", |tree| tree.corrupt("a"), 3),
        ("unreadable", |tree| tree.damage_tag("a"), 2),
        ("untagged", |tree| std::fs::write(tree.path("a.new"), "").unwrap(), 0),
    ];
    for (verdict, happen, status) in cases {
        let tree = Tree::tagged();
        happen(&tree);
        let checked = tree.run(["check", "--json", "."]).ends(status);
        let path = if verdict == "untagged" { "a.new" } else { "a" };
        assert_eq!(checked.verdict(path).as_deref(), Some(verdict));
        assert_eq!(checked.summary()["exit_status"], status);
    }
}

#[test]
fn three_outranks_one_outranks_two() {
    let tree = Tree::tagged();
    tree.damage_tag("b");
    tree.run(["check"]).ends(2);
    tree.edit("sub/c");
    tree.run(["check"]).ends(1);
    tree.corrupt("a");
    tree.run(["check"]).ends(3);
}

#[test]
fn an_absent_path_is_not_nothing_wrong() {
    let tree = Tree::tagged();
    let checked = tree.run(["check", "a", "gone"]).ends(2);
    assert!(checked.stdout().contains("unreadable  gone  (cannot open: no such file"));
    assert!(
        checked.stdout().contains("\nchecked 1 file: 1 intact; 1 unreadable\n"),
        "{}",
        checked.stdout()
    );
}

#[test]
fn the_same_file_twice_is_one() {
    let tree = Tree::tagged();
    let checked = tree.run(["check", "--json", "a", "a"]).succeeds();
    assert_eq!(checked.summary()["files"], 1);
    let notice = &checked.objects()[1];
    assert_eq!((notice["notice"].as_str().is_some(), notice["path"].as_str()), (true, Some("a")));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let tree = Tree::tagged();
    for (arguments, told) in [
        (&["hash", "--algorithm", "sha257", "a"][..], "no algorithm is named `sha257`"),
        (&["check", "--backend", "z80", "."], "no backend is named `z80`"),
        (&["check", "--backend", "portable", "--lanes", "7", "."], "7"),
        (&["check", "--qos", "22", "."], "22"),
        (&["check", "--workers", "0", "."], "0"),
        (&["check", "--exclude", "[z-a]", "."], "[z-a]"),
        (&["check", "--null", "."], "--files-from"),
        (&["check", "--json", "--csv", "."], "--csv"),
        (&["check", "--files-from", "gone"], "cannot read the list `gone`"),
        (&["hash", "--json", "-"], "JSON and CSV cannot express"),
        (&["hash", "--strict", "a"], "--check"),
        (&["compare"], "compare"),
    ] {
        let refused = tree.run(arguments).ends(2);
        assert!(refused.stderr().contains(told), "{arguments:?}: {}", refused.stderr());
        assert_eq!(refused.stdout(), "", "{arguments:?}");
    }
}

#[test]
fn a_forced_backend_is_obeyed() {
    let tree = Tree::tagged();
    let checked = tree.run(["check", "--json", "--backend", "portable", "."]).succeeds();
    let backend = checked.summary()["backend"].as_str().unwrap().to_owned();
    assert!(backend.starts_with("portable"), "{backend}");
    let one = tree.run(["check", "--json", "--workers", "1", "--qos", "utility"]).succeeds();
    assert_eq!(one.summary()["workers"], 1);
}

#[test]
fn reading_from_the_medium_says_how_much_came_from_there() {
    let tree = Tree::new().file("a", &[7; 1 << 20]);
    tree.run(["tag", "."]).succeeds();
    let checked = tree.run(["check", "--json", "--read-from", "media", "."]).succeeds();
    let summary = checked.summary();
    let from_media = summary["bytes_from_media"].as_u64().unwrap();
    let notices = checked.objects().iter().filter(|object| !object["notice"].is_null()).count();
    assert_eq!(summary["bytes"], 1 << 20);
    assert!(from_media == 1 << 20 || notices == 1, "{}", checked.stdout());
}

#[test]
fn a_rate_limit_is_kept_and_told() {
    let tree = Tree::new().file("a", &[7; 600_000]).file("b", &[8; 600_000]);
    tree.run(["tag", "."]).succeeds();
    let checked = tree.run(["check", "--json", "--rate-limit", "2MB/s", "."]).succeeds();
    // 1.2 MB at 2 MB/s, of which a tenth of a second comes at once.
    assert!(checked.summary()["elapsed_ns"].as_u64().unwrap() >= 450_000_000);
    let notices = checked.objects().into_iter().filter(|object| !object["notice"].is_null());
    assert_eq!(notices.count(), 1, "{}", checked.stdout());
    tree.run(["check", "--rate-limit", "fast", "."]).ends(2);
}

#[test]
fn few_files_that_may_be_open_are_enough() {
    let mut tree = Tree::new();
    for number in 0..2_000 {
        tree = tree.file(format!("{number}/file"), number.to_string().as_bytes());
    }
    for limit in [96, 128, 256] {
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {limit}; exec \"$0\" \"$@\"")]);
        let command = tree.command(["tag", "."]);
        limited.arg(command.get_program()).args(command.get_args());
        limited.current_dir(tree.path("."));
        let output = limited.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "at most {limit} open files: {said}");
    }
}
