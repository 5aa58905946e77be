//! Changes of running processes until they end, in one small file each.
//!
//! In: changes. Out: the same changes after a restart of this program. A file is replaced as a
//! whole, before its changes are made. This module does not know their meaning.
//!
//! ```text
//! steadfast qos 1
//! process 4711 <when it started>
//! thread 4711 <when it started>
//! change 4711 <when it started> nice 0 19
//! ```

use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use steadfast::beneath::{self, Status};
use steadfast::qos::{Process, ThreadChange, ThreadIdentity};
use steadfast_report::escape;

use crate::state_folder;

/// The first line. The number is the version of the format.
const HEAD: &str = "steadfast qos 1";

/// Files longer than this are not ours.
const LEN_MAX: u64 = 16 << 20;

/// The changes of one process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProcessState {
    pub(super) process: Process,
    /// In the order in which they were made.
    pub(super) changes: Vec<ThreadChange>,
    /// The threads that were looked at, changed or not.
    pub(super) seen: Vec<ThreadIdentity>,
}

impl ProcessState {
    /// Reads what was changed of a process; nothing if nothing was.
    ///
    /// # Errors
    /// If the file cannot be read, or is none of ours.
    pub(super) fn of(process: &Process) -> anyhow::Result<ProcessState> {
        let (changes, seen) = (Vec::new(), Vec::new());
        let empty = ProcessState { process: process.clone(), changes, seen };
        let file = folder()?.join(process.number.to_string());
        let text = match Status::of(&file).map(|status| status.length) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(empty),
            Ok(length) if length > LEN_MAX => bail!("`{}` is too long", escape::path(&file)),
            _ => fs::read_to_string(&file),
        };
        let text = text.with_context(|| format!("cannot read `{}`", escape::path(&file)))?;
        let state = ProcessState::parse(&text).with_context(|| {
            let file = escape::path(&file);
            format!("cannot understand `{file}`; delete it, and nothing of it is taken back")
        })?;
        // The number may be another process's by now, and what was changed is gone with the first.
        Ok(if state.process == *process { state } else { empty })
    }

    /// Replaces what is kept of the process; with no changes left, nothing is.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn keep(&self) -> anyhow::Result<()> {
        let folder = folder()?;
        let file = folder.join(self.process.number.to_string());
        if self.changes.is_empty() {
            return match fs::remove_file(&file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(error).with_context(|| format!("cannot remove `{}`", escape::path(&file)))
                }
                _ => Ok(()),
            };
        }
        beneath::write_private(&file, self.print().as_bytes())
            .with_context(|| format!("cannot write `{}`", escape::path(&file)))
    }

    fn print(&self) -> String {
        let mut text =
            format!("{HEAD}\nprocess {} {}\n", self.process.number, self.process.started);
        for thread in &self.seen {
            text.push_str(&format!("thread {} {}\n", thread.number, thread.started));
        }
        for ThreadChange { thread, what, before, after } in &self.changes {
            let ThreadIdentity { number, started } = thread;
            text.push_str(&format!("change {number} {started} {what} {before} {after}\n"));
        }
        text
    }

    fn parse(text: &str) -> anyhow::Result<ProcessState> {
        let mut lines = text.lines();
        ensure!(lines.next() == Some(HEAD), "it does not begin with `{HEAD}`");
        let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let process = match first.as_slice() {
            ["process", number, started] => thread_of(number, started),
            _ => None,
        };
        let Some(ThreadIdentity { number, started }) = process else {
            bail!("its second line names no process");
        };
        let process = Process { number, started };
        let (mut changes, mut seen) = (Vec::new(), Vec::new());
        for (at, line) in lines.enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            let (kind, thread) = match words.as_slice() {
                [kind, number, started, ..] => (*kind, thread_of(number, started)),
                _ => ("", None),
            };
            match (kind, thread, words.get(3..)) {
                ("thread", Some(thread), Some([])) => seen.push(thread),
                ("change", Some(thread), Some([what, before, after])) => {
                    changes.push(ThreadChange {
                        thread,
                        what: (*what).to_owned(),
                        before: (*before).to_owned(),
                        after: (*after).to_owned(),
                    })
                }
                _ => bail!("line {}: neither a thread nor a change", at + 3),
            }
        }
        Ok(ProcessState { process, changes, seen })
    }
}

fn thread_of(number: &str, started: &str) -> Option<ThreadIdentity> {
    Some(ThreadIdentity { number: number.parse().ok()?, started: started.to_owned() })
}

/// Removes the files of processes that have ended. Failures are ignored until the next time.
pub(super) fn forget_the_ended() {
    let Ok(folder) = folder() else { return };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let file = entry.path();
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        let kept = fs::read_to_string(&file).ok().and_then(|text| ProcessState::parse(&text).ok());
        // A file that cannot be parsed may be of a later version.
        if kept.is_some_and(|state| Process::find(number).ok().as_ref() != Some(&state.process)) {
            let _ = fs::remove_file(&file);
        }
    }
}

/// The folder of the files.
fn folder() -> anyhow::Result<PathBuf> {
    let state = state_folder::folder();
    Ok(state.context("neither XDG_STATE_HOME nor HOME says where to keep it")?.join("qos"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> ProcessState {
        let thread = |number: u32| ThreadIdentity { number, started: "815".to_owned() };
        let change = |number: u32, what: &str, before: &str, after: &str| ThreadChange {
            thread: thread(number),
            what: what.to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
        };
        ProcessState {
            process: Process { number: 4711, started: "boot:815".to_owned() },
            changes: vec![change(4711, "nice", "0", "19"), change(4712, "affinity", "0-3", "2,3")],
            seen: vec![thread(4711), thread(4712)],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let state = state();
        assert_eq!(ProcessState::parse(&state.print()).unwrap(), state);
    }

    #[test]
    fn anything_else_is_refused_with_its_place() {
        let good = state().print();
        for (bad, told) in [
            (String::new(), "begin with"),
            (good.replace("qos 1", "qos 2"), "begin with"),
            (good.replace("process", "proces"), "second line"),
            (good.replace("815\nthread 4712", "815\nthread x"), "line 4"),
            (good.replace(" nice 0 19", " nice 0"), "line 5"),
            (format!("{good}\n"), "line 7"),
        ] {
            let error = ProcessState::parse(&bad).unwrap_err().to_string();
            assert!(error.contains(told), "{error}: {bad}");
        }
    }
}
