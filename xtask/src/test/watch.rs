//! Runs a program and passes on what it prints; ends it if it neither works nor writes.
//!
//! In: a command. Out: its lines, and its exit status. How long a step may take depends on the
//! machine and on what else it does, so no bound is of elapsed time alone.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// How long a program may neither get processor time nor write. Under a load of 8 on two cores, the
/// least urgent program still gets a second of it meanwhile.
pub(super) const IDLE_MAX: Duration = Duration::from_mins(5);

/// How often the processor time is read while no line comes.
const LOOK: Duration = Duration::from_secs(1);

/// How many lines are repeated of a program that is ended.
const LAST_LINES: usize = 20;

/// Runs a command, and calls `each` with every line of its output and of its errors.
///
/// # Errors
/// If it does not start, or if it was ended because it was idle for longer than `idle_max`.
pub(super) fn run(
    mut command: Command,
    idle_max: Duration,
    mut each: impl FnMut(&str),
) -> anyhow::Result<ExitStatus> {
    let program = command.get_program().to_string_lossy().into_owned();
    let (reader, writer) = io::pipe().context("making a pipe")?;
    command.stdout(writer.try_clone().context("making a pipe")?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("running `{program}`"))?;
    // The pipe ends when all who write to it have ended, so this process must not be one of them.
    drop(command);
    let (sender, lines) = channel();
    thread::spawn(move || {
        let read = BufReader::new(reader).split(b'\n').map_while(Result::ok);
        read.map(|line| sender.send(line)).all(|sent| sent.is_ok())
    });
    let mut last = VecDeque::new();
    let (mut since, mut work) = (Instant::now(), 0);
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => {
                let line = String::from_utf8_lossy(&line).into_owned();
                each(&line);
                last.push_back(line);
                if last.len() > LAST_LINES {
                    last.pop_front();
                }
                since = Instant::now();
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK / 100),
        }
        // What it started and left behind may hold the pipe open, and is not waited for.
        if let Some(status) = child.try_wait().context("waiting for a program")? {
            return Ok(status);
        }
        let Some(stats) = stats() else { continue };
        let family = family(&stats, child.id());
        let now = family.iter().map(|pid| stats[pid].ticks).sum();
        if now != work {
            (since, work) = (Instant::now(), now);
        } else if since.elapsed() >= idle_max {
            let pids = family.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            // A shell has this word itself; the program is in a package of its own.
            Command::new("sh").args(["-c", &format!("kill -9 {pids}")]).status()?;
            child.wait().context("waiting for a program that was ended")?;
            let last = last.into_iter().map(|line| format!("\n    {line}")).collect::<String>();
            bail!("ended: no processor time and no output for {idle_max:?}; last lines:{last}");
        }
    }
}

/// What the system says about one process.
#[derive(Debug, PartialEq)]
struct Stat {
    parent: u32,
    /// Processor time of its own and of the children that it waited for.
    ticks: u64,
}

/// All processes by their ids; `None` where the system has no such list, as on a Mac.
fn stats() -> Option<BTreeMap<u32, Stat>> {
    let folders = fs::read_dir("/proc").ok()?.flatten();
    let stats = folders.filter_map(|folder| {
        let pid = folder.file_name().to_str()?.parse().ok()?;
        Some((pid, stat(&fs::read_to_string(folder.path().join("stat")).ok()?)?))
    });
    let stats: BTreeMap<u32, Stat> = stats.collect();
    (!stats.is_empty()).then_some(stats)
}

/// Source: `proc_pid_stat(5)`, fields 4 and 14 to 17. The second, a name, may contain anything.
fn stat(text: &str) -> Option<Stat> {
    let mut fields = text.rsplit_once(") ")?.1.split(' ').skip(1);
    let parent = fields.next()?.parse().ok()?;
    let mut times = fields.skip(9).map(|field| field.parse::<u64>().ok());
    let ticks = (0..4).map(|_| times.next()?).sum::<Option<u64>>()?;
    Some(Stat { parent, ticks })
}

/// A process and all that descend from it.
fn family(stats: &BTreeMap<u32, Stat>, first: u32) -> Vec<u32> {
    let mut family = Vec::from_iter(stats.contains_key(&first).then_some(first));
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        let children = stats.iter().filter(|(_, stat)| stat.parent == parent);
        family.extend(children.map(|(pid, _)| *pid));
        next += 1;
    }
    family
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, idle_max: Duration) -> (anyhow::Result<ExitStatus>, Vec<String>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut lines = Vec::new();
        let ended = run(command, idle_max, |line| lines.push(line.to_owned()));
        (ended, lines)
    }

    #[test]
    fn lines_and_status_are_passed_on() {
        let (ended, lines) = shell("echo one; echo two >&2; exit 3", IDLE_MAX);
        assert_eq!((ended.unwrap().code(), lines), (Some(3), vec!["one".into(), "two".into()]));
    }

    #[test]
    fn what_neither_works_nor_writes_is_ended_with_all_that_it_started() {
        if stats().is_none() {
            return;
        }
        let (ended, lines) = shell("sleep 9999 & echo $!; wait", Duration::from_secs(3));
        let message = ended.unwrap_err().to_string();
        let ends = format!("no output for 3s; last lines:\n    {}", lines[0]);
        assert!(message.ends_with(&ends), "{message}");
        // A child that was ended takes a moment, and may then wait for its new parent.
        let found = || fs::read_to_string(format!("/proc/{}/stat", lines[0]));
        let start = Instant::now();
        while found().is_ok_and(|found| !found.contains(") Z ")) {
            assert!(start.elapsed() < IDLE_MAX, "{}", lines[0]);
            thread::yield_now();
        }
    }

    #[test]
    fn what_a_program_leaves_behind_is_not_waited_for() {
        let (ended, lines) = shell("sleep 9999 & echo $!", IDLE_MAX);
        assert!(ended.unwrap().success());
        Command::new("sh").args(["-c", &format!("kill {}", lines[0])]).status().unwrap();
    }

    #[test]
    fn processor_time_is_that_of_a_family() {
        let text = "7 (a) b) S 1 7 7 0 -1 4194560 10 20 0 0 5 6 150 50 20 0 1 0 99 0 0";
        assert_eq!(stat(text), Some(Stat { parent: 1, ticks: 211 }));
        assert_eq!(stat("7 (a) S 1"), None);
        let parents = [(1, 0), (7, 1), (8, 7), (9, 1), (3, 8)];
        let stats = parents.map(|(pid, parent)| (pid, Stat { parent, ticks: 0 })).into();
        assert_eq!(family(&stats, 7), [7, 8, 3]);
        assert!(family(&stats, 5).is_empty());
    }
}
