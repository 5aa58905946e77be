//! Lowers a running process, and undoes that.
//!
//! Takes a process and a level, or the changes to undo. Returns the result of each change. The
//! caller saves the changes: it receives them before they are made, so that none is lost.

use std::collections::BTreeSet;
use std::io;

use super::{Confinement, Level, Process, Reverted, ThreadChange, ThreadIdentity, cores};

/// The process may start threads meanwhile, so its threads are listed until none is new, or this
/// many times.
const PASSES_MAX: usize = 16;

/// The result of lowering a process.
#[derive(Debug, Default)]
pub struct Lowered {
    /// The change requested for each thread, and its result.
    pub changes: Vec<(ThreadChange, io::Result<()>)>,
    /// What was not changed, and why.
    pub left_alone: Vec<String>,
}

/// Saves changes that are about to be made, and the threads that they were derived from.
pub type Remember<'a> = dyn FnMut(&[ThreadChange], &[ThreadIdentity]) -> io::Result<()> + 'a;

/// Lowers every thread of a process to a level. Before any change, `remember` receives the changes
/// and the threads that they were derived from; it may be called again for threads that began
/// meanwhile. If it fails, this function fails too, and makes no change that `remember` has not
/// saved.
///
/// # Errors
/// If the level is not below the process's present one, because this function never raises it; if
/// the state of the process cannot be read; or if `remember` fails.
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
            // The process ended meanwhile, so nothing is left to lower.
            Err(error) if error.kind() == io::ErrorKind::NotFound && pass > 0 => break,
            plan => plan?,
        };
        lowered.left_alone = plan.left_alone;
        let key = |change: &ThreadChange| {
            (change.thread.number, change.thread.started.clone(), change.what.clone())
        };
        let mut changes = plan.changes;
        // Refused changes are planned again, and would be refused again.
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

/// Returns an error for a change that would raise the level.
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

/// The result of undoing one change.
#[derive(Debug)]
pub struct Restored {
    /// The change.
    pub change: ThreadChange,
    /// Whether the thread inherited it.
    pub inherited: bool,
    /// The result.
    pub result: io::Result<Reverted>,
}

/// Undoes the changes that are still in effect, the last first, and what later threads have
/// inherited from them.
///
/// # Errors
/// If the process has ended, or its state cannot be read.
pub fn restore(
    process: &Process,
    changes: &[ThreadChange],
    seen: &[ThreadIdentity],
) -> io::Result<Vec<Restored>> {
    // Inherited changes come last, because after that no thread inherits a change.
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
