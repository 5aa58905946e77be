//! QoS: levels by name and number, and what the system did with the thread.

use std::path::Path;
use std::process::{Command, Stdio};

#[cfg(target_os = "linux")]
use steadfast_sys::qos::confine_thread;
use steadfast_sys::qos::process::{Process, Reverted};
use steadfast_sys::qos::{Fact, Level, Step, apply_to_thread, has_uclamp, thread_facts};

/// Applies a level on a thread of its own, which nothing else runs on afterwards.
fn applied<T: Send>(level: Level, look: impl FnOnce(Vec<Step>) -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(|| look(apply_to_thread(level))).join().unwrap())
}

#[test]
fn levels_parse_by_name_and_by_number_and_print_their_name() {
    let known = [
        ("background", "9", Level::Background),
        ("utility", "17", Level::Utility),
        ("default", "21", Level::Default),
        ("user-initiated", "25", Level::UserInitiated),
        ("user-interactive", "33", Level::UserInteractive),
    ];
    for (name, number, level) in known {
        assert_eq!(name.parse(), Ok(level));
        assert_eq!(number.parse(), Ok(level));
        assert_eq!(level.to_string(), name);
        assert_eq!(level.number().to_string(), number);
    }
    assert!(known.map(|(_, _, level)| level).is_sorted());
    assert_eq!(known.map(|(_, _, level)| level), Level::ALL);
    assert_eq!(Level::default(), Level::Default);
}

#[test]
fn anything_else_is_an_error_that_lists_the_five() {
    for text in ["", "0", "-1", "10", "32", "34", "09", "+9", " 9", "9.0", "Background", "fast"] {
        let error = text.parse::<Level>().unwrap_err().to_string();
        for level in Level::ALL {
            assert!(error.contains(&format!("{level} ({})", level.number())), "{text:?}: {error}");
        }
    }
}

#[test]
fn the_default_level_does_nothing() {
    assert!(applied(Level::Default, |steps| steps.is_empty()));
}

#[test]
fn every_other_level_reports_what_it_did() {
    for level in Level::ALL.into_iter().filter(|&level| level != Level::Default) {
        let steps = applied(level, |steps| steps);
        assert!(!steps.is_empty());
        for step in steps {
            assert!(!step.what.is_empty());
            let without =
                step.what.starts_with("utilisation") && has_uclamp(Path::new("/")) == Some(false);
            if without {
                assert!(step.result.is_err(), "no kernel does what it is built without");
            } else if level < Level::Default {
                step.result.unwrap_or_else(|error| panic!("{level}, {}: {error}", step.what));
            }
        }
    }
}

/// Reads nice value and policy of the calling thread.
///
/// Source: `proc_pid_stat(5)`: fields 19 and 41; the second may contain spaces, in parentheses.
#[cfg(target_os = "linux")]
fn nice_and_policy() -> (i32, i32) {
    let facts = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let fields: Vec<_> = facts.rsplit_once(") ").unwrap().1.split(' ').collect();
    (fields[19 - 3].parse().unwrap(), fields[41 - 3].parse().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn the_thread_and_no_other_is_what_the_steps_say() {
    let before = nice_and_policy();
    let look = |_| nice_and_policy();
    assert_eq!(applied(Level::Background, look), (19, libc::SCHED_IDLE));
    assert_eq!(applied(Level::Utility, look), (10, libc::SCHED_BATCH));
    assert_eq!(applied(Level::Default, look), before);
    assert_eq!(nice_and_policy(), before);
}

#[test]
fn what_is_done_is_what_the_system_says_afterwards() {
    for level in Level::ALL {
        let (steps, facts): (Vec<Step>, Vec<Fact>) =
            applied(level, |steps| (steps, thread_facts()));
        assert!(!facts.is_empty());
        for step in steps.iter().filter(|step| step.result.is_ok()) {
            let said = facts.iter().any(|fact| fact.value == step.what);
            assert!(said, "{level}: {} is not among {facts:?}", step.what);
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_thread_is_confined_to_what_it_may_use() {
    let affinity = || {
        let facts = thread_facts();
        facts.into_iter().find(|fact| fact.what == "affinity").unwrap().value
    };
    let before = affinity();
    let cpu = rustix::thread::sched_getcpu();
    let confined = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // One that is there and one that is not.
            let step = confine_thread(&[cpu, 1000]);
            step.result.unwrap();
            // What lies outside is refused and changes nothing.
            let refused = confine_thread(&[1000]).result.unwrap_err().to_string();
            assert!(refused.contains("none of them"), "{refused}");
            affinity()
        });
        thread.join().unwrap()
    });
    assert_eq!(confined, format!("processors {cpu}"));
    assert_eq!(affinity(), before);
}

#[test]
fn a_process_that_is_no_more_is_no_longer_changed() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let process = Process::find(child.id()).unwrap();
    let changes = process.plan(Level::Background, None).unwrap().changes;
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(!changes.is_empty());
    for change in &changes {
        assert!(process.change(change).is_err());
        assert!(matches!(process.revert(change).unwrap(), Reverted::Gone));
    }
    let error = Process::find(process.number).unwrap_err().to_string();
    assert!(error.contains(&format!("no process {}", process.number)), "{error}");
}
