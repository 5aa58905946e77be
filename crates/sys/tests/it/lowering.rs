//! Other processes: lowered thread by thread, and taken back.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use steadfast_sys::qos::Level;
use steadfast_sys::qos::process::{Process, Reverted, ThreadChange};
use steadfast_testing::{Need, skip};

/// A process with threads, which ends with its stdin.
struct Subject {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Subject {
    fn start() -> Subject {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "lowering::a_child_with_threads", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut subject = Subject { child, stdin, stdout: BufReader::new(stdout) };
        subject.wait_for("ready");
        subject.raise();
        subject
    }

    /// Gives every thread the niceness that is usual, whatever that of the tests is.
    fn raise(&self) {
        if rustix::process::getpriority_process(None).unwrap() == 0 {
            return;
        }
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap() {
            let number = thread.unwrap().file_name().to_str().unwrap().parse().unwrap();
            let thread = rustix::process::Pid::from_raw(number);
            if rustix::process::setpriority_process(thread, 0).is_err() {
                skip(
                    Need::Root,
                    "the tests have another niceness than 0, and only root raises a thread",
                );
                return;
            }
        }
    }

    fn wait_for(&mut self, word: &str) {
        let mut line = String::new();
        while !line.trim().ends_with(word) {
            line.clear();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "it ended before `{word}`");
        }
    }

    /// Lets it start another thread.
    fn grow(&mut self) {
        self.stdin.write_all(b"more\n").unwrap();
        self.wait_for("more");
    }

    fn process(&self) -> Process {
        Process::find(self.child.id()).unwrap()
    }

    fn end(self) {
        let Subject { mut child, stdin, .. } = self;
        drop(stdin);
        child.wait().unwrap();
    }
}

/// Whether this test may raise what it lowered; records a skip where it may not.
fn may_raise() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        skip(Need::Root, "without root Linux does not give back what was lowered");
    }
    root
}

fn lower(process: &Process, level: Level) -> Vec<ThreadChange> {
    let plan = process.plan(level, None).unwrap();
    // The nice of a session is left alone if others share it, as they do where tests run together.
    let of_session = |line: &&String| line.contains("of its session");
    let left_alone: Vec<&String> =
        plan.left_alone.iter().filter(|line| !of_session(line)).collect();
    assert!(left_alone.is_empty(), "{left_alone:?}");
    for change in &plan.changes {
        process.change(change).unwrap_or_else(|error| panic!("{}: {error}", change.describe()));
    }
    plan.changes
}

#[test]
#[ignore = "the tests of this file start it"]
fn a_child_with_threads() {
    std::thread::spawn(std::thread::park);
    let mut threads = 2;
    println!("ready");
    for line in std::io::stdin().lines() {
        assert_eq!(line.unwrap(), "more");
        std::thread::spawn(std::thread::park);
        threads += 1;
        println!("more");
    }
    assert!(threads >= 2);
}

#[test]
fn every_thread_is_lowered_and_nothing_twice() {
    let subject = Subject::start();
    let process = subject.process();
    assert_eq!(process.level().unwrap(), Level::Default);
    let changes = lower(&process, Level::Utility);
    let threads = process.plan(Level::Utility, None).unwrap().seen;
    assert!(threads.len() >= 3, "{threads:?}");
    for what in ["class", "nice", "io"] {
        let of_what = changes.iter().filter(|change| change.what == what).count();
        assert_eq!(of_what, threads.len(), "{what}");
    }
    assert_eq!(process.level().unwrap(), Level::Utility);
    assert_eq!(lower(&process, Level::Utility), []);
    assert!(!lower(&process, Level::Background).is_empty());
    assert_eq!(process.level().unwrap(), Level::Background);
    // Nothing of a higher level is lower than what it has.
    assert_eq!(lower(&process, Level::Utility), []);
    subject.end();
}

#[test]
fn what_was_lowered_is_taken_back_and_nothing_else() {
    if !may_raise() {
        return;
    }
    let mut subject = Subject::start();
    let process = subject.process();
    let before = process.plan(Level::Background, None).unwrap();
    let mut changes = lower(&process, Level::Utility);
    changes.extend(lower(&process, Level::Background));
    subject.grow();
    // Somebody else has an opinion on one thread meanwhile.
    let other = changes.iter().rfind(|change| change.what == "nice").unwrap();
    let thread = rustix::process::Pid::from_raw(other.thread.number.try_into().unwrap());
    rustix::process::setpriority_process(thread, 7).unwrap();
    let mut left = 0;
    for change in changes.iter().rev() {
        match process.revert(change).unwrap() {
            Reverted::Done => {}
            Reverted::Otherwise(found) => {
                assert_eq!((found.as_str(), &change.thread), ("nice 7", &other.thread));
                left += 1;
            }
            Reverted::Gone => panic!("no thread ended"),
        }
    }
    assert_eq!(left, 2, "both levels' nice values of one thread");
    rustix::process::setpriority_process(thread, 0).unwrap();
    let inherited = process.inherited(&changes, &before.seen).unwrap();
    let new: Vec<&str> = inherited.iter().map(|change| change.what.as_str()).collect();
    assert_eq!(new, ["class", "nice", "io"]);
    for change in &inherited {
        assert!(matches!(process.revert(change).unwrap(), Reverted::Done));
    }
    let mut after = process.plan(Level::Background, None).unwrap();
    after.changes.retain(|change| before.seen.contains(&change.thread));
    assert_eq!(after.changes, before.changes);
    assert_eq!(process.inherited(&changes, &before.seen).unwrap(), []);
    subject.end();
}

#[test]
fn threads_and_the_kernels_own_are_no_processes() {
    let subject = Subject::start();
    let process = subject.process();
    let plan = process.plan(Level::Background, None).unwrap();
    let thread = plan.seen.iter().find(|thread| thread.number != process.number).unwrap();
    let error = Process::find(thread.number).unwrap_err().to_string();
    assert!(error.contains(&format!("a thread of process {}", process.number)), "{error}");
    let mut forged = plan.changes[0].clone();
    forged.after = "no number".to_owned();
    assert!(process.change(&forged).unwrap_err().to_string().contains("is no setting"));
    forged.what = "colour".to_owned();
    assert!(process.revert(&forged).unwrap_err().to_string().contains("is no setting"));
    // Where the kernel's threads can be seen, the second process is one of them.
    let mut stat = String::new();
    let read = std::fs::File::open("/proc/2/stat").map(|mut file| file.read_to_string(&mut stat));
    if read.is_ok() && stat.contains("(kthreadd)") {
        assert!(Process::find(2).unwrap_err().to_string().contains("the kernel's own"));
    }
    subject.end();
}
