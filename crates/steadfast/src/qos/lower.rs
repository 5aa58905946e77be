//! Lowering a process that runs already, and taking that back.
//!
//! In: a process and a level; or what was changed. Out: what came of each change. Whoever calls
//! keeps the changes: they are told before they are made, so that none is ever made and forgotten.

use std::collections::BTreeSet;
use std::io;

use super::{Confinement, Level, Process, Reverted, ThreadChange, ThreadIdentity, cores};

/// A process may start threads while it is lowered; it is looked at until none is new, or this
/// often.
const PASSES_MAX: usize = 16;

/// What came of lowering a process.
#[derive(Debug, Default)]
pub struct Lowered {
    /// What was asked of each thread, and what came of it.
    pub changes: Vec<(ThreadChange, io::Result<()>)>,
    /// What is left as it is, and why.
    pub left_alone: Vec<String>,
}

/// Keeps changes that are about to be made, and the threads that they were found from.
pub type Remember<'a> = dyn FnMut(&[ThreadChange], &[ThreadIdentity]) -> io::Result<()> + 'a;

/// Lowers every thread of a process to a level. Before anything is changed, `remember` is given the
/// changes and the threads that they were found from; it may be called again for threads that began
/// meanwhile. If it fails, so does this, with nothing changed that it was not told.
///
/// # Errors
/// If the level is not below what the process has, since nothing is raised here; if the system does
/// not tell, or `remember` fails.
pub fn lower(process: &Process, level: Level, remember: &mut Remember<'_>) -> io::Result<Lowered> {
    refuse_raising(process, level)?;
    let slower = match Confinement::of(level, cores()) {
        Confinement::To(cpus) => Some(cpus),
        _ => None,
    };
    let mut lowered = Lowered::default();
    let mut asked = BTreeSet::new();
    for pass in 0..PASSES_MAX {
        let plan = match process.plan(level, slower.as_deref()) {
            // It ended meanwhile: nothing is left to lower.
            Err(error) if error.kind() == io::ErrorKind::NotFound && pass > 0 => break,
            plan => plan?,
        };
        lowered.left_alone = plan.left_alone;
        let key = |change: &ThreadChange| {
            (change.thread.number, change.thread.started.clone(), change.what.clone())
        };
        let mut changes = plan.changes;
        // What was refused is planned again, and would be refused again.
        changes.retain(|change| asked.insert(key(change)));
        if changes.is_empty() {
            break;
        }
        remember(&changes, &plan.seen)?;
        for change in changes {
            let result = process.change(&change);
            lowered.changes.push((change, result));
        }
    }
    Ok(lowered)
}

/// Refuses what would raise.
fn refuse_raising(process: &Process, level: Level) -> io::Result<()> {
    let number = process.number;
    let refuse = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    if level >= Level::Default {
        return refuse(format!("processes are only lowered here, and {level} lowers nothing"));
    }
    if number == 1 {
        return refuse("process 1 is what all others come from, and is left alone".to_owned());
    }
    let has = process.level()?;
    if level > has {
        return refuse(format!(
            "process {number} is at {has}: {level} is above that, and nothing is raised here"
        ));
    }
    Ok(())
}

/// What became of one change that was to be taken back.
#[derive(Debug)]
pub struct Restored {
    /// The change.
    pub change: ThreadChange,
    /// Whether the thread inherited it.
    pub inherited: bool,
    /// What became of it.
    pub result: io::Result<Reverted>,
}

/// Takes back what was changed and still stands, the last first, and what later threads have
/// inherited of it.
///
/// # Errors
/// If the process is no more, or the system does not tell.
pub fn restore(
    process: &Process,
    changes: &[ThreadChange],
    seen: &[ThreadIdentity],
) -> io::Result<Vec<Restored>> {
    // Inherited changes come last: no thread inherits what has been taken back.
    let mut restored: Vec<Restored> = Vec::new();
    for change in changes.iter().rev() {
        let result = process.revert(change);
        restored.push(Restored { change: change.clone(), inherited: false, result });
    }
    for change in process.inherited(changes, seen)? {
        let result = process.revert(&change);
        restored.push(Restored { change, inherited: true, result });
    }
    Ok(restored)
}
