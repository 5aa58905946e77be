//! Other processes on Linux: the settings of every thread, by `/proc` and the number of the thread.
//!
//! Threads may start and end meanwhile. Real-time threads stay unchanged.

use std::fs;
use std::io;
use std::path::Path;

use strum::VariantArray;

use super::super::Level;
use super::super::linux::attributes::{Attribute, Setting, io_rank};
use super::super::linux::{has_uclamp, request, within};
use super::super::session::Grouping;
use super::super::session::platform::{grouping_of, session_nice};
use super::{LoweringPlan, Process, Reverted, ThreadChange, ThreadIdentity, ThreadTimes};

/// `PF_KTHREAD` of `linux/sched.h`, in the ninth field of `/proc/PID/stat`.
const KERNEL_THREAD: u64 = 0x0020_0000;

pub(super) fn find(number: u32) -> io::Result<Process> {
    let none = |_| io::Error::new(io::ErrorKind::NotFound, format!("there is no process {number}"));
    let status = fs::read_to_string(format!("/proc/{number}/status")).map_err(none)?;
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    if group.and_then(|group| group.trim().parse().ok()) != Some(number) {
        let group = group.unwrap_or("another").trim();
        return Err(io::Error::other(format!("{number} is a thread of process {group}")));
    }
    let facts = fs::read_to_string(format!("/proc/{number}/stat")).map_err(none)?;
    if field(&facts, 9).is_some_and(|flags: u64| flags & KERNEL_THREAD != 0) {
        return Err(io::Error::other(format!("process {number} is the kernel's own")));
    }
    let ticks: u64 = field(&facts, 22).ok_or_else(unreadable)?;
    // After a reboot another process can have the same number and the same ticks.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(Process { number, started: format!("{}:{ticks}", boot.trim()) })
}

pub(super) fn level(process: &Process) -> io::Result<Level> {
    let threads = threads(process)?;
    let levels = threads.iter().filter_map(|thread| {
        let class = Attribute::Class.get(thread.number).ok()?;
        let nice = Attribute::Nice.get(thread.number).ok()?;
        Some(level_of(&class, &nice))
    });
    levels.max().ok_or_else(|| ended(process))
}

pub(super) fn times(process: &Process) -> io::Result<Vec<ThreadTimes>> {
    let of = |number: u32| {
        let read = |name: &str| {
            fs::read_to_string(format!("/proc/{}/task/{number}/{name}", process.number)).ok()
        };
        let used = read("schedstat")?;
        let mut used = used.split_whitespace().map_while(|number| number.parse().ok());
        let (cpu_ns, queued_ns) = (used.next()?, used.next()?);
        let processor = field(&read("stat")?, 39)?;
        Some(ThreadTimes { number, cpu_ns, queued_ns, processor })
    };
    // A thread that ended meanwhile is left out.
    Ok(threads(process)?.iter().filter_map(|thread| of(thread.number)).collect())
}

/// Returns the level that comes closest to a class and a nice value, from above.
fn level_of(class: &Setting, nice: &Setting) -> Level {
    match (class, nice) {
        (Setting::Class(class), _) if is_real_time(*class) => Level::UserInteractive,
        (Setting::Class(libc::SCHED_IDLE), _) | (_, Setting::Nice(19..)) => Level::Background,
        (Setting::Class(libc::SCHED_BATCH), _) | (_, Setting::Nice(10..)) => Level::Utility,
        (_, Setting::Nice(..=-10)) => Level::UserInteractive,
        (_, Setting::Nice(..=-5)) => Level::UserInitiated,
        _ => Level::Default,
    }
}

pub(super) fn plan(
    process: &Process,
    level: Level,
    slower: Option<&[usize]>,
) -> io::Result<LoweringPlan> {
    let mut plan = LoweringPlan { seen: threads(process)?, ..LoweringPlan::default() };
    let mut wanted = request(level);
    if has_uclamp(Path::new("/")) != Some(true) {
        wanted.retain(|setting| Attribute::from(setting) != Attribute::UtilisationMax);
    }
    plan_session(process, level, &mut plan)?;
    for thread in &plan.seen {
        let has = |attribute: Attribute| attribute.get(thread.number).ok();
        let Some(Setting::Class(class)) = has(Attribute::Class) else { continue };
        if is_real_time(class) {
            let text = format!("thread {}: its class is a real-time one", thread.number);
            plan.left_alone.push(text);
            continue;
        }
        for setting in &wanted {
            let Some(before) = has(Attribute::from(setting)) else { continue };
            if is_lower(setting, &before) {
                plan.changes.push(change_of(thread, &before, setting));
            }
        }
        let Some(cpus) = slower else { continue };
        let Some(before) = has(Attribute::Affinity) else { continue };
        match within(thread.number, cpus) {
            Ok(after) if after != before => {
                plan.changes.push(change_of(thread, &before, &after));
            }
            Ok(_) => {}
            Err(error) => {
                plan.left_alone.push(format!("thread {}: processors: {error}", thread.number));
            }
        }
    }
    Ok(plan)
}

/// Plans the nice value of the process's session, where Linux shares processors by session. If
/// other processes are in the session, it stays: they were not named.
fn plan_session(process: &Process, level: Level, plan: &mut LoweringPlan) -> io::Result<()> {
    let Some(wanted) = session_nice(level) else { return Ok(()) };
    let Grouping::Session { nice } = grouping_of(&process.number.to_string(), Path::new("/"))
    else {
        return Ok(());
    };
    let first = plan.seen.iter().find(|thread| thread.number == process.number);
    let Some(first) = first.filter(|_| wanted > nice) else { return Ok(()) };
    match others_of_session(process)? {
        0 => plan.changes.push(change_of(
            first,
            &Setting::SessionNice(nice),
            &Setting::SessionNice(wanted),
        )),
        others => plan.left_alone.push(format!(
            "nice {nice} of its session, which {others} other processes share; against other \
             sessions the level has no effect"
        )),
    }
    Ok(())
}

/// Counts the other processes of a process's session.
fn others_of_session(process: &Process) -> io::Result<usize> {
    let session = |number: u32| -> Option<u32> {
        field(&fs::read_to_string(format!("/proc/{number}/stat")).ok()?, 6)
    };
    let own = session(process.number).ok_or_else(|| ended(process))?;
    let numbers = fs::read_dir("/proc")?.filter_map(|entry| {
        entry.ok()?.file_name().to_str()?.parse().ok().filter(|&number| number != process.number)
    });
    Ok(numbers.filter(|&number| session(number) == Some(own)).count())
}

fn change_of(thread: &ThreadIdentity, before: &Setting, after: &Setting) -> ThreadChange {
    ThreadChange {
        thread: thread.clone(),
        what: Attribute::from(before).name().to_owned(),
        before: before.text(),
        after: after.text(),
    }
}

/// Returns whether a class runs before all others. A change would lose its parameters.
fn is_real_time(class: libc::c_int) -> bool {
    matches!(class, libc::SCHED_FIFO | libc::SCHED_RR | libc::SCHED_DEADLINE)
}

/// Returns whether a setting is less urgent than that of a thread.
fn is_lower(wanted: &Setting, has: &Setting) -> bool {
    let rank = |class: libc::c_int| match class {
        libc::SCHED_IDLE => 2,
        libc::SCHED_BATCH => 1,
        _ => 0,
    };
    match (wanted, has) {
        (Setting::Class(wanted), Setting::Class(has)) => rank(*wanted) > rank(*has),
        (Setting::Nice(wanted), Setting::Nice(has)) => wanted > has,
        (Setting::Io(wanted), Setting::Io(has)) => io_rank(*wanted) > io_rank(*has),
        (Setting::UtilisationMax(wanted), Setting::UtilisationMax(has)) => wanted < has,
        (Setting::SessionNice(wanted), Setting::SessionNice(has)) => wanted > has,
        _ => false,
    }
}

pub(super) fn change(process: &Process, change: &ThreadChange) -> io::Result<()> {
    if !is_there(process, &change.thread) {
        return Err(ended(process));
    }
    parsed(&change.what, &change.after)?.set(change.thread.number)
}

pub(super) fn revert(process: &Process, change: &ThreadChange) -> io::Result<Reverted> {
    let (before, after) =
        (parsed(&change.what, &change.before)?, parsed(&change.what, &change.after)?);
    if !is_there(process, &change.thread) {
        return Ok(Reverted::Gone);
    }
    let found = Attribute::from(&after).get(change.thread.number)?;
    if found == before {
        return Ok(Reverted::Done);
    }
    if found != after {
        return Ok(Reverted::Otherwise(found.describe()));
    }
    before.set(change.thread.number).map(|()| Reverted::Done)
}

pub(super) fn inherited(
    process: &Process,
    changes: &[ThreadChange],
    seen: &[ThreadIdentity],
) -> io::Result<Vec<ThreadChange>> {
    let of_first = |change: &&ThreadChange| change.thread.number == process.number;
    let mut found = Vec::new();
    for thread in threads(process)?.into_iter().filter(|thread| !seen.contains(thread)) {
        for &attribute in Attribute::VARIANTS {
            let Ok(has) = attribute.get(thread.number) else { continue };
            // The first thread may have been lowered more than once, so all changes are reverted.
            let mut before = has.clone();
            let of_what = changes.iter().filter(of_first);
            for change in of_what.filter(|change| change.what == attribute.name()).rev() {
                if parsed(&change.what, &change.after)? == before {
                    before = parsed(&change.what, &change.before)?;
                }
            }
            if before != has {
                found.push(change_of(&thread, &before, &has));
            }
        }
    }
    Ok(found)
}

pub(super) fn describe(what: &str, value: &str) -> String {
    match parsed(what, value) {
        Ok(setting) => setting.describe(),
        Err(_) => format!("{what} {value}"),
    }
}

/// Reads a setting from the text in a change.
fn parsed(what: &str, value: &str) -> io::Result<Setting> {
    let attribute: Option<Attribute> = what.parse().ok();
    let setting = attribute.and_then(|attribute| attribute.parse(value));
    setting.ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, format!("`{what} {value}` is no setting"))
    })
}

/// Returns the threads of a process, by number.
fn threads(process: &Process) -> io::Result<Vec<ThreadIdentity>> {
    // Another process may have its number by now.
    if find(process.number).ok().as_ref() != Some(process) {
        return Err(ended(process));
    }
    let mut threads = Vec::new();
    for entry in fs::read_dir(format!("/proc/{}/task", process.number))? {
        let name = entry?.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(started) = started(process, number) {
            threads.push(ThreadIdentity { number, started });
        }
    }
    threads.sort_unstable_by_key(|thread| thread.number);
    Ok(threads)
}

fn is_there(process: &Process, thread: &ThreadIdentity) -> bool {
    started(process, thread.number).as_ref() == Some(&thread.started)
}

/// Returns when a thread of the process started, in ticks.
fn started(process: &Process, thread: u32) -> Option<String> {
    let facts = fs::read_to_string(format!("/proc/{}/task/{thread}/stat", process.number)).ok()?;
    field::<u64>(&facts, 22).map(|ticks| ticks.to_string())
}

/// Reads a field of `stat` after the second, counted from 1.
///
/// Source: `proc_pid_stat(5)`; the second field is in parentheses and may contain anything.
fn field<T: std::str::FromStr>(facts: &str, number: usize) -> Option<T> {
    let (_, rest) = facts.rsplit_once(") ")?;
    rest.split(' ').nth(number - 3)?.trim().parse().ok()
}

fn ended(process: &Process) -> io::Error {
    let text = format!("process {} or the thread is no more", process.number);
    io::Error::new(io::ErrorKind::NotFound, text)
}

fn unreadable() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the system's account of it cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_field_may_hold_anything() {
        let facts = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9\n";
        assert_eq!(field::<u64>(facts, 9), Some(4_194_560));
        assert_eq!(field::<u64>(facts, 22), Some(4711));
        assert_eq!(field::<u64>("7 a", 22), None);
    }

    #[test]
    fn a_class_and_a_nice_value_make_a_level() {
        for (class, nice, level) in [
            (libc::SCHED_OTHER, 0, Level::Default),
            (libc::SCHED_OTHER, 5, Level::Default),
            (libc::SCHED_OTHER, 10, Level::Utility),
            (libc::SCHED_BATCH, 0, Level::Utility),
            (libc::SCHED_OTHER, 19, Level::Background),
            (libc::SCHED_IDLE, 0, Level::Background),
            (libc::SCHED_OTHER, -5, Level::UserInitiated),
            (libc::SCHED_OTHER, -20, Level::UserInteractive),
            (libc::SCHED_FIFO, 0, Level::UserInteractive),
        ] {
            let found = level_of(&Setting::Class(class), &Setting::Nice(nice));
            assert_eq!(found, level, "{class} {nice}");
        }
    }

    #[test]
    fn only_what_is_less_urgent_is_lower() {
        let io = |class: libc::c_int, level| Setting::Io(class << 13 | level);
        assert!(is_lower(&io(3, 0), &Setting::Io(0)));
        assert!(is_lower(&io(2, 7), &Setting::Io(0)));
        assert!(!is_lower(&io(2, 7), &io(3, 0)));
        assert!(is_lower(&io(2, 7), &io(1, 7)));
        assert!(is_lower(&Setting::Nice(10), &Setting::Nice(0)));
        assert!(!is_lower(&Setting::Nice(10), &Setting::Nice(15)));
        let class = Setting::Class;
        assert!(is_lower(&class(libc::SCHED_BATCH), &class(libc::SCHED_OTHER)));
        assert!(!is_lower(&class(libc::SCHED_BATCH), &class(libc::SCHED_IDLE)));
        assert!(is_lower(&Setting::UtilisationMax(256), &Setting::UtilisationMax(1024)));
    }

    #[test]
    fn settings_survive_as_text() {
        for (what, value) in [
            ("class", "5"),
            ("nice", "-7"),
            ("io", "24576"),
            ("affinity", "0,4-7"),
            ("session_nice", "19"),
        ] {
            assert_eq!(parsed(what, value).unwrap().text(), value);
        }
        for (what, value) in [("class", ""), ("colour", "1"), ("affinity", ""), ("nice", "low")] {
            assert!(parsed(what, value).is_err(), "{what} {value}");
        }
    }
}
