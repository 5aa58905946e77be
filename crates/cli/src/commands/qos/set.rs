//! `steadfast qos set`: lowers a running process, or undoes that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;

use anyhow::{Context as _, ensure};
use steadfast::ExitStatus;
use steadfast::Level;
use steadfast::qos::{Process, Reverted, ThreadChange, lower, restore};

use super::state::{ProcessState, forget_the_ended};
use crate::args::QosSetArgs;
use crate::exit;
use crate::output::answer;

pub(super) fn run(args: &QosSetArgs) -> anyhow::Result<ExitStatus> {
    forget_the_ended();
    let process = Process::find(args.pid)?;
    match args.level {
        Level::Default => restore_process(process),
        level => lower_to(level, process),
    }
}

fn lower_to(level: Level, process: Process) -> anyhow::Result<ExitStatus> {
    let number = process.number;
    let mut state = ProcessState::of(&process)?;
    let mut remember = |changes: &[_], seen: &[_]| {
        state.changes.extend_from_slice(changes);
        state.seen.extend_from_slice(seen);
        state.keep().map_err(|error| io::Error::other(exit::words(&error)))
    };
    let lowered = lower(&process, level, &mut remember)?;
    // What was refused is nothing to take back.
    let refused = lowered.changes.iter().filter(|(_, result)| result.is_err());
    let refused: Vec<_> = refused.map(|(change, _)| change).collect();
    if !refused.is_empty() {
        state.changes.retain(|change| !refused.contains(&change));
        state.keep()?;
    }
    let mut page = ChangesPage::default();
    for (change, result) in &lowered.changes {
        page.add(change.describe(), result.as_ref().err());
    }
    for left in &lowered.left_alone {
        page.note(format!("{left}: left alone"));
    }
    let unchanged = if lowered.changes.is_empty() { ": nothing had to change" } else { "" };
    let mut text = page.write(&format!("process {number} at {level}{unchanged}"));
    if !state.changes.is_empty() {
        let by_root = state.changes.iter().any(ThreadChange::needs_root_to_reset);
        let who = if by_root { ", as root" } else { "" };
        let _ = writeln!(text, "to take it back{who}: steadfast qos set default --pid {number}");
    }
    answer(text.as_bytes())?;
    Ok(page.status())
}

fn restore_process(process: Process) -> anyhow::Result<ExitStatus> {
    let number = process.number;
    let mut state = ProcessState::of(&process)?;
    ensure!(
        !state.changes.is_empty(),
        "nothing of process {number} was changed here, and nothing else is raised"
    );
    let mut restored = restore(&process, &state.changes, &state.seen)
        .with_context(|| format!("cannot take back what was changed of process {number}"))?;
    let mut page = ChangesPage::default();
    // What was changed twice is as it was before both: the last step counts.
    let mut told = BTreeSet::new();
    for one in restored.iter().rev() {
        match &one.result {
            Ok(Reverted::Done) if !told.insert((one.change.thread.number, &one.change.what)) => {}
            Ok(Reverted::Done) => page.add(one.change.describe_before(), None),
            Ok(Reverted::Otherwise(found)) => {
                page.note(format!("{found}: somebody changed it since, left as it is"));
            }
            Ok(Reverted::Gone) => {}
            Err(error) => page.add(one.change.describe_before(), Some(error)),
        }
    }
    // What was refused may be taken back another time, by somebody with more privileges.
    restored.reverse();
    restored.retain(|one| one.result.is_err());
    state.changes = restored.into_iter().map(|one| one.change).collect();
    state.keep()?;
    let extent = if page.trouble { "taken back in part" } else { "taken back" };
    answer(page.write(&format!("process {number}, {extent}")).as_bytes())?;
    Ok(page.status())
}

/// What came of changes: threads with the same outcome are one line.
#[derive(Default)]
struct ChangesPage {
    threads: BTreeMap<(String, String), usize>,
    trouble: bool,
}

impl ChangesPage {
    fn add(&mut self, what: String, error: Option<&io::Error>) {
        self.trouble |= error.is_some();
        let outcome = error.map_or("done".to_owned(), |error| format!("refused: {error}"));
        *self.threads.entry((what, outcome)).or_default() += 1;
    }

    fn note(&mut self, text: String) {
        *self.threads.entry((text, String::new())).or_default() += 1;
    }

    fn write(&self, head: &str) -> String {
        let mut text = format!("{head}\n");
        let width = self.threads.keys().filter(|(_, outcome)| !outcome.is_empty());
        let width = width.map(|(what, _)| what.chars().count()).max().unwrap_or(0);
        for ((what, outcome), threads) in &self.threads {
            // Writing to a `String` cannot fail.
            let _ = match outcome.as_str() {
                "" => writeln!(text, "  {what}"),
                outcome => {
                    let plural = if *threads == 1 { "" } else { "s" };
                    writeln!(text, "  {what:width$}  {threads} thread{plural}: {outcome}")
                }
            };
        }
        text
    }

    fn status(&self) -> ExitStatus {
        ExitStatus::Undetermined.only_if(self.trouble)
    }
}
