//! `measure` and `report` from outside: a record, a page about it in every form, and what is
//! refused.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use steadfast::qos::Process;

use crate::tree::{Outcome, Tree};

/// A quick session that writes 8 MB.
const QUEUE: [&str; 11] = [
    "measure", "queue", "--quick", "--size", "8MiB", "--block", "4KiB", "--depth", "1,2", "--seed",
    "7",
];

fn measured() -> Tree {
    let tree = Tree::new();
    fs::create_dir(tree.path("disk")).unwrap();
    let said = tree.run(QUEUE.into_iter().chain(["--export", "one.json", "disk"])).succeeds();
    for words in ["Queue", "random 4 KiB", "p99", "encryption"] {
        assert!(said.stdout().contains(words), "{words}: {}", said.stdout());
    }
    assert!(fs::read_dir(tree.path("disk")).unwrap().next().is_none(), "something was left");
    tree
}

fn json(tree: &Tree, name: &str) -> serde_json::Value {
    serde_json::from_slice(&fs::read(tree.path(name)).unwrap()).unwrap()
}

#[test]
fn a_record_becomes_a_page_in_every_form() {
    let tree = measured();
    let record = json(&tree, "one.json");
    assert_eq!(record["format"], "steadfast record");
    assert_eq!(record["series"].as_array().unwrap().len(), 4);
    assert_eq!(record["series"][0]["seed"], 7);
    for (name, words) in [
        ("page.html", "<!DOCTYPE html>"),
        ("page.md", "## Queue"),
        ("page.csv", "bytes_per_second"),
        ("page.json", "\"steadfast report\""),
    ] {
        tree.run(["measure", "report", "one.json", "-o", name]).succeeds();
        let page = fs::read_to_string(tree.path(name)).unwrap();
        assert!(page.contains(words), "{name}: {page}");
        // Once more, over our own page.
        tree.run(["measure", "report", "one.json", "-o", name]).succeeds();
    }
    let other = ["measure", "report", "one.json", "-o", "chart.svg", "--chart", "other"];
    let said = tree.run(other).ends(2);
    assert!(said.stderr().contains("queue-rate-4-KiB"), "{}", said.stderr());
    tree.run(["measure", "report", "one.json", "-o", "chart.svg", "--chart", "queue-rate-4-KiB"])
        .succeeds();
    let both = [
        "measure",
        "report",
        "one.json",
        "one.json",
        "-o",
        "both.svg",
        "--chart",
        "queue-rate-4-KiB",
    ];
    let said = tree.run(both).ends(2);
    assert!(said.stderr().contains("several records"), "{}", said.stderr());
    assert!(fs::read_to_string(tree.path("chart.svg")).unwrap().starts_with("<svg"));
    tree.run(["measure", "report", "one.json", "one.json", "-o", "both.csv"]).succeeds();
    let both = fs::read_to_string(tree.path("both.csv")).unwrap();
    let rows: Vec<&str> = both.lines().collect();
    let twice = (1..rows.len()).find(|&at| rows[..at].contains(&rows[at]));
    assert_eq!(twice.map(|at| rows[at]), None, "rows of two records are told apart");
    // A page that holds a record beside those that were published.
    let said = tree.run(["measure", "report", "one.json", "--against", "published"]).succeeds();
    assert!(said.stdout().contains("Oakley"), "{}", said.stdout());
}

#[test]
fn nothing_else_is_overwritten_or_taken_for_a_record() {
    let tree = Tree::new();
    fs::create_dir(tree.path("disk")).unwrap();
    fs::write(tree.path("photo.json"), "mine").unwrap();
    fs::write(tree.path("photo.html"), "mine").unwrap();
    let said = tree.run(QUEUE.into_iter().chain(["--export", "photo.json", "disk"])).ends(2);
    assert!(said.stderr().contains("not overwritten"), "{}", said.stderr());
    tree.run(["measure", "report", "published", "-o", "photo.html"]).ends(2);
    tree.run(["measure", "report", "published", "-o", "page.pdf"]).ends(2);
    for name in ["photo.json", "photo.html"] {
        assert_eq!(fs::read_to_string(tree.path(name)).unwrap(), "mine");
    }
    let said = tree.run(["measure", "report", "photo.json"]).ends(2);
    assert!(said.stderr().contains("`photo.json`"), "{}", said.stderr());
    fs::write(tree.path("foreign.json"), "{\"fio version\": \"fio-3.33\"}").unwrap();
    let said = tree.run(["measure", "report", "foreign.json"]).ends(2);
    assert!(said.stderr().contains("not a record"), "{}", said.stderr());
}

#[test]
fn an_interrupted_session_keeps_its_samples_and_says_so() {
    let tree = Tree::new();
    fs::create_dir(tree.path("disk")).unwrap();
    let arguments = [
        "measure",
        "queue",
        "--size",
        "8MiB",
        "--block",
        "4KiB",
        "--rounds",
        "10000",
        "--export",
        "one.json",
        "--progress",
        "always",
        "disk",
    ];
    let mut command = tree.command(arguments);
    command.stderr(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The first plain line of progress comes at once, the next after ten seconds. All are judged
    // after the end, so that a test that fails leaves nothing running.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let told: Vec<String> = lines.by_ref().take(4).map(Result::unwrap).collect();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(told[0].contains("will be written"), "{told:?}");
    assert!(told[1].contains("of the 600 TB"), "{told:?}");
    assert!(told[2].contains("preparing"), "{told:?}");
    assert!(told[3].contains("reads of 4 KiB, depth") && told[3].contains('%'), "{told:?}");
    let record = json(&tree, "one.json");
    assert_eq!(record["partial"], "interrupted");
    assert!(!record["series"].as_array().unwrap().is_empty());
    assert!(fs::read_dir(tree.path("disk")).unwrap().next().is_none(), "something was left");
    let said = tree.run(["measure", "report", "one.json"]).succeeds();
    assert!(said.stdout().contains("this record is partial"), "{}", said.stdout());
}

#[test]
fn a_record_without_figures_keeps_its_page_beside_others() {
    let tree = measured();
    let mut cut = json(&tree, "one.json");
    cut["series"] = serde_json::json!([]);
    cut["partial"] = "interrupted".into();
    cut["name"] = "cut short".into();
    fs::write(tree.path("cut.json"), cut.to_string()).unwrap();
    let said = tree.run(["measure", "report", "cut.json", "one.json"]).succeeds();
    for words in ["cut short", "this record is partial", "there are no figures"] {
        assert!(said.stdout().contains(words), "{words}: {}", said.stdout());
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let tree = Tree::new();
    for (arguments, words) in [
        (&["measure", "cpu", "--rounds", "0"][..], "no rounds"),
        (&["measure", "cipher", "--no-file", "--rounds", "0"], "no rounds"),
        (&["measure", "queue", "--qos", "background"], "qos run"),
        (&["measure", "pair", ".", "/", "--qos", "9"], "qos run"),
        (&["measure", "hash", "--part", "kernels", "--qos", "9"], "a part that has levels"),
    ] {
        let said = tree.run(arguments).ends(2);
        assert!(said.stderr().contains(words), "{arguments:?}: {}", said.stderr());
        assert_eq!(said.stdout(), "");
    }
}

#[test]
fn sessions_are_gathered_in_one_record_and_go_on() {
    let tree = Tree::new();
    let cpu = ["measure", "cpu", "--quick", "--kernel", "i64-dot", "--threads", "1"];
    let gather = |count, kernel| {
        let more = ["--qos", kernel, "--rounds", "5", "--export", "r.json", "--sessions", count];
        tree.run(cpu.into_iter().chain(more))
    };
    let rounds = || {
        let record = json(&tree, "r.json");
        let samples = record["series"][0]["samples"].as_array().unwrap();
        let first: Vec<u64> = record["sessions"].as_array().map_or(Vec::new(), |sessions| {
            sessions.iter().map(|one| one["first_round"].as_u64().unwrap()).collect()
        });
        (samples.len(), first)
    };
    gather("1", "default").succeeds();
    assert_eq!(rounds(), (5, vec![]));
    gather("3", "default").succeeds();
    assert_eq!(rounds(), (15, vec![5, 10]));
    let other = gather("4", "background").ends(2);
    assert!(other.stderr().contains("another command"), "{}", other.stderr());
    assert_eq!(rounds(), (15, vec![5, 10]));
    assert!(!tree.path("r.json.session").exists());
}

#[test]
fn what_is_named_twice_is_measured_once() {
    let tree = Tree::new();
    fs::create_dir(tree.path("disk")).unwrap();
    let twice = ["--depth", "1", "--block", "4KiB", "--json", "disk"];
    let record = tree.run(QUEUE.into_iter().chain(twice)).succeeds();
    let record: serde_json::Value = serde_json::from_str(record.stdout()).unwrap();
    assert_eq!(record["series"].as_array().unwrap().len(), 4);
    fs::create_dir(tree.path("other")).unwrap();
    let pair = ["measure", "pair", "--quick", "--rounds", "2", "disk", "other", "--json"];
    let record =
        tree.run(pair.into_iter().chain(["--size", "9kB,1kB,9kB", "--depth", "1,1"])).succeeds();
    let record: serde_json::Value = serde_json::from_str(record.stdout()).unwrap();
    let series = record["series"].as_array().unwrap();
    assert_eq!(series.len(), 16, "two folders: three steps with two lengths, two with a depth");
    assert!(series.iter().all(|series| series["samples"].as_array().unwrap().len() == 2));
}

#[test]
fn a_page_within_the_tree_is_a_new_file_and_nothing_else() {
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    let beside = ["--report", "page.html", "--trace", "trace.json", "."];
    tree.run(["tag", "."].into_iter().chain(beside)).succeeds();
    fs::remove_file(tree.path("trace.json")).unwrap();
    // Neither a draft nor a trace that is still written was taken for a file of the tree.
    tree.run(["check", "--require-tags", "a", "b", "sub"]).succeeds();
    for _ in 0..2 {
        let said = tree.run(["check"].into_iter().chain(beside)).succeeds();
        assert!(!said.stdout().contains("missing"), "{}", said.stdout());
        fs::remove_file(tree.path("trace.json")).unwrap();
    }
    let tree = Tree::small();
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag", "."]).succeeds();
    tree.run(["check", "--require-tags", "--report", "page.html", "."]).succeeds();
    assert!(fs::read_to_string(tree.path("page.html")).unwrap().contains("Check of 3 files"));
}

#[test]
fn what_was_found_stands_whatever_becomes_of_the_page() {
    let tree = Tree::tagged();
    tree.corrupt("a");
    let said = tree.run(["check", "--report", "page.svg", "."]).ends(2);
    assert!(said.stderr().contains("no single chart"), "{}", said.stderr());
    assert_eq!(said.stdout(), "", "it is refused before the run");
    // A shell that lets no file grow: the page's place can be claimed, and the page not be written.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
    shell.arg(crate::tree::PROGRAM);
    shell.args(["check", "--report", "page.html", "."]).current_dir(tree.path(""));
    let said = Outcome::of(&mut shell).ends(3);
    assert!(said.stderr().contains("the report of the run was not kept"), "{}", said.stderr());
    assert!(said.stdout().contains("corrupt"), "{}", said.stdout());
    let entries = fs::read_dir(tree.path("")).unwrap().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert!(names.all(|name| !name.starts_with("page")), "a draft was left");
}

#[test]
fn a_check_becomes_a_page() {
    let tree = Tree::new();
    for name in ["sound", "decayed", "gone"] {
        fs::write(tree.path(name), name.repeat(100)).unwrap();
    }
    tree.run(["init", "--tags-only", "."]).succeeds();
    tree.run(["tag", "."]).succeeds();
    let damaged = tree.path("decayed");
    let modified = fs::metadata(&damaged).unwrap().modified().unwrap();
    fs::write(&damaged, "DECAYED".repeat(100)).unwrap();
    fs::File::options().write(true).open(&damaged).unwrap().set_modified(modified).unwrap();
    fs::remove_file(tree.path("gone")).unwrap();
    let page = tempfile::tempdir().unwrap();
    for name in ["check.html", "check.json"] {
        let file = page.path().join(name);
        let words = ["check".as_ref(), ".".as_ref(), "--report".as_ref(), file.as_os_str()];
        tree.run(words).ends(3);
        let text = fs::read_to_string(&file).unwrap();
        for words in ["decayed", "corrupt", "missing", "proved", "worker "] {
            assert!(text.contains(words), "{name}: {words}");
        }
        assert!(!text.contains("sound"), "{name}: what is intact is counted, not told");
    }
}

#[test]
fn a_record_keeps_the_level_it_was_made_at() {
    let tree = Tree::new();
    fs::create_dir(tree.path("disk")).unwrap();
    let program = crate::tree::PROGRAM;
    let run = ["qos", "run", "background", "--", program];
    let measured = QUEUE.into_iter().chain(["--export", "low.json", "disk"]);
    let said = tree.run(run.into_iter().chain(measured)).succeeds();
    let level = &json(&tree, "low.json")["level"];
    assert_eq!((&level["requested"], &level["effective"]), (&9.into(), &9.into()), "{level}");
    assert!(said.stdout().contains("background (9), scheduling class"), "{}", said.stdout());
    tree.run(QUEUE.into_iter().chain(["--export", "plain.json", "disk"])).succeeds();
    // What nobody lowered has the level of these tests, which run at any niceness.
    let own = Process::find(std::process::id()).and_then(|process| process.level()).unwrap();
    assert_eq!(json(&tree, "plain.json")["level"]["effective"], own.number());
    let page = tree.run(["measure", "report", "low.json", "plain.json"]).succeeds();
    assert!(page.stdout().contains("at background (9)"), "{}", page.stdout());
}

#[test]
fn what_will_be_written_is_said_before() {
    let tree = Tree::new();
    fs::create_dir(tree.path("disk")).unwrap();
    let said = tree.run(QUEUE.into_iter().chain(["disk"])).succeeds();
    assert!(said.stderr().contains("up to 8.39 MB will be written in `disk`"), "{}", said.stderr());
    let share = "8.39 MB is less than a thousandth of the 600 TB that an SSD";
    assert!(said.stderr().contains(share), "{}", said.stderr());
    let loops = ["measure", "cpu", "--quick", "--kernel", "i64-dot"];
    let memory = ["measure", "hash", "--quick", "--part", "kernels", "--rounds", "1"];
    for nothing in [&loops[..], &memory[..]] {
        let said = tree.run(nothing.iter().copied()).succeeds();
        assert!(!said.stderr().contains("written"), "{}", said.stderr());
        assert!(!said.stderr().contains("600 TB"), "{}", said.stderr());
    }
}

#[test]
fn on_a_terminal_much_writing_is_asked_about() {
    if steadfast_testing::program("script").is_none() {
        return;
    }
    let tree = Tree::new();
    let asked = |args: &str| {
        let line = format!("'{}' measure {args} nowhere", crate::tree::PROGRAM);
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(tree.path(""));
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = script.spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"n\n").unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // One folder of 53.3 GB; two that together have 12 GB; a cipher's file, again in each round.
    let pair = "pair elsewhere --files-only --size 1GB --rounds 6";
    let cipher = "cipher --task aes-256-gcm --size 1GB --isa full,no-aes --rounds 5";
    for much in ["write", pair, cipher] {
        let (status, said) = asked(much);
        assert!(said.contains("Write them? [y/N]"), "{much}: {said}");
        assert!(said.contains("nothing was measured"), "{much}: {said}");
        assert_eq!(status, Some(2), "{much}: {said}");
    }
    for little in ["write --yes", "write --profile quick"] {
        let (_, said) = asked(little);
        assert!(said.contains("will be written") && !said.contains("[y/N]"), "{little}: {said}");
    }
}

#[test]
fn what_was_measured_stands_beside_what_was_published() {
    let tree = Tree::new();
    fs::create_dir(tree.path("disk")).unwrap();
    let beside = |args: &[&str], wanted: &[&str]| {
        let args = ["measure"].iter().chain(args).chain(&["--quick", "--against", "published"]);
        let said = tree.run(args.copied()).succeeds();
        for words in wanted {
            assert!(said.stdout().contains(words), "{words}: {}", said.stdout());
        }
    };
    let levels = ["cpu", "--kernel", "i64-dot", "--qos", "background,default", "--rounds", "2"];
    beside(&levels, &["i64-dot, at background (9)", "Loops, Xeon W, low QoS"]);
    let pair = ["pair", "--files-only", "--size", "10kB", "--rounds", "2", "disk", "other"];
    fs::create_dir(tree.path("other")).unwrap();
    beside(&pair, &["Reading in disk", "Reading 160 files, encrypted"]);
    let cipher = ["cipher", "--algorithm", "aes-256-cbc", "--no-file", "--rounds", "2"];
    beside(&cipher, &["AES-256, a file of 832 MB in 23 s"]);
    let write = ["write", "--single", "10kB", "--rounds", "2", "disk"];
    beside(&write, &["Writing 160 files, plain"]);
}

/// The folder does not exist, so what is said was said before anything was written.
#[test]
fn every_measurement_that_writes_says_how_much() {
    let tree = Tree::new();
    let fails = |args: &[&str], wanted: &str| {
        let said = tree.run(std::iter::once("measure").chain(args.iter().copied())).ends(2);
        let wanted = format!("up to {wanted} will be written in `nowhere` and removed again");
        assert!(said.stderr().contains(&wanted), "{args:?}: {}", said.stderr());
        assert!(said.stderr().contains(" of the 600 TB that an SSD"), "{}", said.stderr());
    };
    fails(&["hash", "--quick", "--part", "sizes", "nowhere"], "341 MB");
    fails(&["read", "--profile", "quick", "--rounds", "2", "nowhere"], "180 MB");
    fails(&["write", "--profile", "standard", "nowhere"], "53.3 GB");
    fails(&["write", "--single", "10GB,20GB", "--rounds", "1", "nowhere"], "30.0 GB");
    fails(&["queue", "--size", "8MiB", "nowhere"], "8.39 MB");
    let pair = ["pair", "--files-only", "--size", "1GB", "--rounds", "3", "nowhere", "elsewhere"];
    fails(&pair, "3.00 GB");
    let cipher = ["cipher", "--quick", "--isa", "full", "--algorithm", "sha256", "--rounds", "2"];
    // The file, and for each round the same with a tag of 16 bytes for each MiB.
    fails(
        &[&cipher[..], &["--size", "64MiB", "--task", "aes-256-gcm", "nowhere"]].concat(),
        "201 MB",
    );
    let all = ["all", "--quick", "--rounds", "1", "nowhere"];
    let said = tree.run(["measure"].into_iter().chain(all)).ends(2);
    assert_eq!(said.stderr().matches("will be written").count(), 1, "{}", said.stderr());
}
