//! Levels: shown, taken by every verb, given to commands and to processes that run.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use steadfast::Level;
use steadfast_testing::{Need, skip};

use crate::tree::{Outcome, Tree};

const LEVELS: [(&str, &str, &str); 5] = [
    ("background", "9", "tortoise"),
    ("utility", "17", "walk"),
    ("default", "21", "bicycle"),
    ("user-initiated", "25", "car"),
    ("user-interactive", "33", "racing-car"),
];

/// The line of a run's output that says what came of its level, if any.
fn told(outcome: &Outcome) -> Option<String> {
    let text = format!("{}\n{}", outcome.stdout(), outcome.stderr());
    text.lines().find(|line| line.contains("QoS ")).map(str::to_owned)
}

/// `proc_pid_stat(5)`: nice value and scheduling class, the 19th and 41st fields.
fn nice_and_class(stat: &str) -> (i32, i32) {
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    (fields[19 - 3].parse().unwrap(), fields[41 - 3].trim().parse().unwrap())
}

#[test]
fn every_verb_takes_every_level_by_name_number_and_pace() {
    let tree = Tree::tagged();
    std::fs::copy(tree.path("a"), tree.path("copy")).unwrap();
    let copied = Command::new("cp").arg("-a").args([tree.path("sub"), tree.path("other")]).status();
    assert!(copied.unwrap().success());
    for (name, number, pace) in LEVELS {
        for choice in [["--qos", name], ["--qos", number], ["--qos", pace], ["--pace", pace]] {
            let checked = tree.run(["check", choice[0], choice[1], "."]).succeeds();
            match (name, told(&checked)) {
                ("default", told) => assert_eq!(told, None),
                (_, told) => assert!(told.unwrap().contains(&format!("QoS {name}: "))),
            }
        }
    }
    let verbs: [&[&str]; 12] = [
        &["tag", "."],
        &["check", "."],
        &["update", "."],
        &["update", "."],
        &["show", "."],
        &["hash", "a"],
        &["diff", "sub", "other"],
        &["diff", "--read", "sub", "other"],
        &["import", "--attributes", "."],
        &["export", "--attributes", "shatag", "."],
        &["init", "--tags-only", "."],
        &["untag", "copy"],
    ];
    for verb in verbs {
        tree.run(verb.iter().chain(&["--qos", "background"])).succeeds();
    }
    for verb in [["show", "--history", "a"], ["status", "--audit", "."]] {
        tree.run(verb.iter().chain(&["--pace", "walk"])).succeeds();
    }
}

#[test]
fn anything_else_is_refused_with_the_five() {
    let tree = Tree::tagged();
    for (choice, told) in [
        (["--qos", "22"], "utility (17)"),
        (["--qos", "-1"], "-1"),
        (["--qos", "rocket"], "user-interactive (33)"),
        (["--pace", "run"], "tortoise, walk, bicycle, car, racing-car"),
    ] {
        let refused = tree.run(["check", choice[0], choice[1], "."]).ends(2);
        assert!(refused.stderr().contains(told), "{choice:?}: {}", refused.stderr());
    }
    tree.run(["check", "--qos", "9", "--pace", "tortoise", "."]).ends(2);
    tree.run(["qos", "show", "22"]).ends(2);
    tree.run(["qos", "run", "22", "--", "true"]).ends(2);
    tree.run(["qos", "set", "22", "--pid", "1"]).ends(2);
}

#[test]
fn a_run_in_the_background_keeps_its_answer_and_its_status() {
    let tree = Tree::tagged();
    let plain = tree.run(["check", "--json", "."]).succeeds();
    let lowered = tree.run(["check", "--json", "--qos", "background", "."]).succeeds();
    assert_eq!(plain.summary()["files"], lowered.summary()["files"]);
    assert_eq!(plain.summary()["workers"], lowered.summary()["workers"], "of one core type");
    tree.corrupt("a");
    tree.run(["check", "--qos", "background", "."]).ends(3);
    let one = ["check", "--json", "--qos", "background", "--workers", "1", "b"];
    assert_eq!(tree.run(one).succeeds().summary()["workers"], 1);
    let hashed = tree.run_with(["hash", "--qos", "background", "-"], b"abc").succeeds();
    assert!(hashed.stdout().starts_with("ba7816bf"), "{}", hashed.stdout());
}

/// Returns whether a process handles an interrupt by now.
fn handles_interrupts(pid: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else {
        // Where this cannot be asked, it is given time to get there.
        std::thread::sleep(std::time::Duration::from_secs(3));
        return true;
    };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 0b10 != 0)
}

#[test]
fn a_background_run_that_is_interrupted_ends_in_good_order() {
    // A file that is being read is finished first, so one alone may end the run as if nothing was.
    let some = |tree: Tree, number| tree.file(format!("f{number:02}"), &vec![0; 1 << 20]);
    let tree = (0..64).fold(Tree::new(), some);
    // It would read for a minute, in a session of its own where there are such.
    let mut command = tree.command(["hash", "--qos", "background", "--rate-limit", "1MB", "."]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !handles_interrupts(child.id()) {
        assert!(child.try_wait().unwrap().is_none(), "it reads slowly");
        std::thread::yield_now();
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn show_tells_the_machine_and_each_step_of_each_level() {
    let tree = Tree::new();
    let shown = tree.run(["qos", "show", "--json"]).succeeds();
    let objects = shown.objects();
    let machine = &objects[0]["machine"];
    let known = ["types", "one_type", "virtual_machine", "not_told"];
    assert!(known.contains(&machine["core_types"].as_str().unwrap()), "{machine}");
    let levels: Vec<&Value> = objects.iter().filter(|object| !object["level"].is_null()).collect();
    let told = levels.iter().map(|level| {
        let text = |name: &str| level[name].as_str().unwrap();
        (text("level"), level["number"].to_string(), text("pace"))
    });
    let expected = LEVELS.map(|(name, number, pace)| (name, number.to_owned(), pace));
    assert_eq!(told.collect::<Vec<_>>(), expected);
    for level in &levels {
        let steps = level["steps"].as_array().unwrap();
        assert_eq!(steps.is_empty(), level["level"] == "default");
        for step in steps {
            assert_eq!(step["done"] == false, step["error"].is_string(), "{step}");
        }
    }
    // Trying sticks to nothing: this thread and the default level's are what they were.
    assert_eq!(machine["thread"], levels[2]["thread"]);
    assert_eq!(objects.last().unwrap()["summary"]["levels"], 5);
    let page = tree.run(["qos", "show", "17"]).succeeds();
    assert!(page.stdout().contains("\nutility (17, --pace walk): "), "{}", page.stdout());
    assert!(!page.stdout().contains("background ("), "{}", page.stdout());
}

#[test]
fn run_becomes_the_command() {
    let tree = Tree::new();
    let run = |arguments: &[&str]| tree.run(["qos", "run"].iter().chain(arguments));
    run(&["background", "--", "sh", "-c", "exit 7"]).ends(7);
    run(&["9", "--session", "--", "sh", "-c", "exit 7"]).ends(7);
    // With a session the command is a child; in a control group it needs none.
    let killed = ["qos", "run", "background", "--session", "--", "sh", "-c", "kill -TERM $$"];
    let ended = tree.command(killed).stderr(Stdio::null()).status().unwrap();
    let child = steadfast::qos::wants_own_session(Level::Background);
    assert_eq!(ended.code(), child.then_some(128 + 15));
    assert_eq!(ended.signal(), (!child).then_some(15));
    run(&["background", "--", "./gone"]).ends(127);
    run(&["background", "--", "."]).ends(126);
    run(&["background"]).ends(2);
    let said = run(&["default", "--", "printf", "%s", "-v --json"]).succeeds();
    assert_eq!((said.stdout(), said.stderr()), ("-v --json", ""));
    // It is the command itself, and not a parent of it.
    let mut command = tree.command(["qos", "run", "background", "--", "sh", "-c", "kill -TERM $$"]);
    let ended = command.stderr(Stdio::null()).status().unwrap();
    assert_eq!(ended.signal(), Some(15));
}

#[test]
fn a_command_has_the_level_that_it_was_run_at() {
    let tree = Tree::new();
    if !std::path::Path::new("/proc/self/stat").exists() {
        return skip(Need::System("/proc"), "this system has none");
    }
    for (level, nice, class) in [("background", 19, 5), ("utility", 10, 3)] {
        let said = tree.run(["qos", "run", level, "--", "cat", "/proc/self/stat"]).succeeds();
        assert_eq!(nice_and_class(said.stdout()), (nice, class), "{level}");
    }
}

/// A process that waits for its stdin to end.
fn waiting() -> Child {
    let mut child =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"here\n").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "here\n");
    child
}

fn set(tree: &Tree, level: &str, pid: u32) -> Outcome {
    let pid = pid.to_string();
    let mut command = tree.command(["qos", "set", level, "--pid", pid.as_str()]);
    Outcome::of(
        command.env("STEADFAST_IGNORE_CTIME", "1").env("XDG_STATE_HOME", tree.path("state")),
    )
}

#[test]
fn levels_are_shown_by_name_number_and_pace() {
    let tree = Tree::new();
    let level = |named: &str| {
        let said = tree.run(["qos", "show", "--json", named]).succeeds();
        let shown = said.objects().into_iter().find(|object| object.get("pace").is_some());
        shown.unwrap()["level"].as_str().unwrap().to_owned()
    };
    for (name, number, pace) in LEVELS {
        assert_eq!([level(name), level(number), level(pace)], [name, name, name]);
    }
    let refused = tree.run(["qos", "show", "rocket"]).ends(2);
    assert!(refused.stderr().contains("utility (17)"), "{}", refused.stderr());
}

#[test]
fn a_state_that_is_damaged_says_what_to_delete() {
    let tree = Tree::new();
    let mut child = waiting();
    let file = tree.path(format!("state/steadfast/qos/{}", child.id()));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "damaged").unwrap();
    let refused = set(&tree, "background", child.id()).ends(2);
    assert!(refused.stderr().contains("; delete it"), "{}", refused.stderr());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_process_is_lowered_and_never_raised() {
    let tree = Tree::new();
    let mut child = waiting();
    let pid = child.id();
    let refused = set(&tree, "default", pid).ends(2);
    assert!(refused.stderr().contains("nothing of process"), "{}", refused.stderr());
    for level in ["user-initiated", "33"] {
        let refused = set(&tree, level, pid).ends(2);
        assert!(refused.stderr().contains("only lowered here"), "{}", refused.stderr());
    }
    let refused = set(&tree, "background", 1).ends(2);
    assert!(refused.stderr().contains("left alone"), "{}", refused.stderr());
    let lowered = set(&tree, "background", pid).succeeds();
    assert!(lowered.stdout().contains(": done"), "{}", lowered.stdout());
    let again = set(&tree, "background", pid).succeeds();
    assert!(again.stdout().contains("nothing had to change"), "{}", again.stdout());
    let refused = set(&tree, "utility", pid).ends(2);
    assert!(refused.stderr().contains("utility is above that"), "{}", refused.stderr());
    assert!(tree.path(format!("state/steadfast/qos/{pid}")).exists());
    drop(child.stdin.take());
    child.wait().unwrap();
    let gone = set(&tree, "background", pid).ends(2);
    assert!(gone.stderr().contains("there is no process"), "{}", gone.stderr());
    // What was kept of it has gone with it.
    assert!(!tree.path(format!("state/steadfast/qos/{pid}")).exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_is_watched_before_and_after_it_is_lowered() {
    let tree = Tree::new();
    let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let pid = busy.id().to_string();
    // It begins as urgent as the tests are, which may have been started with `nice`.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let begun = match nice_and_class(&stat).0 {
        19.. => "background",
        10.. => "utility",
        _ => "default",
    };
    let mut command = tree.command(["qos", "watch", "--json", "--every", "1s", pid.as_str()]);
    let mut watch = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    set(&tree, "background", busy.id()).succeeds();
    let lowered = lines.find(|line| line.contains("background"));
    busy.kill().unwrap();
    busy.wait().unwrap();
    let all: Vec<String> = [first].into_iter().chain(lowered).chain(lines).collect();
    assert!(watch.wait().unwrap().success(), "{all:?}");
    let objects = all.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let whole: Vec<Value> = objects.filter(|object| object["for_s"].is_number()).collect();
    let levels: Vec<&str> = whole.iter().map(|object| object["level"].as_str().unwrap()).collect();
    let mut expected = vec![begun, "background"];
    expected.dedup();
    assert_eq!(levels, expected, "{all:?}");
    let used = whole[0]["cores"].as_f64().unwrap();
    assert!(used > 0.0 && used < 1.5, "{all:?}");
    assert!(!whole[0]["processors"].as_array().unwrap().is_empty(), "{all:?}");
}

#[test]
fn what_was_lowered_is_taken_back() {
    let stat = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/stat"));
    let tree = Tree::new();
    let mut child = waiting();
    let pid = child.id();
    let before = stat(pid).map(|stat| nice_and_class(&stat)).ok();
    set(&tree, "utility", pid);
    set(&tree, "background", pid);
    let state = tree.path(format!("state/steadfast/qos/{pid}"));
    assert!(state.exists());
    let back = set(&tree, "default", pid);
    // Without privileges Linux refuses, which is told, and what was changed is kept.
    let refused = back.stdout().contains("refused");
    assert_eq!((back.status, state.exists()), if refused { (2, true) } else { (0, false) });
    assert_eq!(back.stdout().contains("taken back in part"), refused, "{}", back.stdout());
    if !refused {
        assert_eq!(stat(pid).map(|stat| nice_and_class(&stat)).ok(), before);
        set(&tree, "default", pid).ends(2);
    }
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// Where Linux shares processors by session, a level has an effect against other sessions only by
/// the session's own nice value, which is nobody else's if the process is alone there.
#[test]
fn a_session_is_lowered_with_its_only_process() {
    let tree = Tree::new();
    let autogroup = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/autogroup"));
    let on = std::fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled");
    let shown = tree.run(["qos", "show", "--json", "default"]).succeeds();
    let by_session = shown.objects().iter().any(|one| one["machine"]["shared_by"] == "session");
    if on.is_err() || !by_session {
        return skip(Need::System("autogroup"), "processors are not shared by session");
    }
    let mut alone = Command::new("setsid")
        .args(["cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    alone.stdin.as_mut().unwrap().write_all(b"here\n").unwrap();
    let mut line = String::new();
    BufReader::new(alone.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let lowered = set(&tree, "background", alone.id()).succeeds();
    assert!(lowered.stdout().contains("nice 19 of its session"), "{}", lowered.stdout());
    assert!(autogroup(alone.id()).unwrap().ends_with("nice 19\n"));
    set(&tree, "default", alone.id());
    assert!(autogroup(alone.id()).unwrap().ends_with("nice 0\n"));
    drop(alone.stdin.take());
    alone.wait().unwrap();
    // This process shares its session with the test.
    let mut shared = waiting();
    let before = autogroup(shared.id()).unwrap();
    let lowered = set(&tree, "background", shared.id()).succeeds();
    // The session of the test may be that low already.
    if !before.ends_with("nice 19\n") {
        assert!(lowered.stdout().contains("the level has no effect"), "{}", lowered.stdout());
    }
    assert_eq!(autogroup(shared.id()).unwrap(), before);
    drop(shared.stdin.take());
    shared.wait().unwrap();
}

#[test]
fn a_state_that_cannot_be_kept_changes_nothing() {
    let tree = Tree::new().file("state/steadfast", b"no folder");
    let mut child = waiting();
    let refused = set(&tree, "background", child.id()).ends(2);
    assert!(refused.stderr().contains("state/steadfast"), "{}", refused.stderr());
    std::fs::remove_file(tree.path("state/steadfast")).unwrap();
    // Nothing was remembered, and there is all of it to lower.
    let lowered = set(&tree, "background", child.id()).succeeds();
    assert!(lowered.stdout().contains(": done"), "{}", lowered.stdout());
    drop(child.stdin.take());
    child.wait().unwrap();
}
