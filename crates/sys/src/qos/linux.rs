//! QoS on Linux: scheduling class, nice value, I/O priority, utilisation and processors of threads.

pub(super) mod attributes;

use std::io;
use std::path::Path;

use strum::VariantArray;

use super::{Fact, Level, Step};
use attributes::{Attribute, Setting, io_best_effort, io_idle};

/// The calling thread, in every call that takes the number of a thread.
const THIS_THREAD: attributes::ThreadNumber = 0;

/// The table of levels; the default asks for nothing.
///
/// `SCHED_IDLE` runs only when nothing else does, below nice 19; `SCHED_BATCH` never pre-empts a
/// thread that wakes up. The smallest cores have about a quarter of the utilisation.
pub(super) fn request(level: Level) -> Vec<Setting> {
    match level {
        Level::Background => vec![
            Setting::Class(libc::SCHED_IDLE),
            Setting::Nice(19),
            io_idle(),
            Setting::UtilisationMax(256),
        ],
        Level::Utility => vec![
            Setting::Class(libc::SCHED_BATCH),
            Setting::Nice(10),
            io_best_effort(7),
            Setting::UtilisationMax(512),
        ],
        Level::Default => Vec::new(),
        Level::UserInitiated => vec![Setting::Nice(-5), io_best_effort(2)],
        Level::UserInteractive => vec![Setting::Nice(-10), io_best_effort(0)],
    }
}

/// Asks for each setting of the level.
pub(super) fn apply_to_thread(level: Level) -> Vec<Step> {
    let step =
        |setting: Setting| Step { what: setting.describe(), result: setting.set(THIS_THREAD) };
    request(level).into_iter().map(step).collect()
}

/// A started program inherits the settings of the thread that started it.
pub(super) fn apply_for_exec(level: Level) -> Vec<Step> {
    apply_to_thread(level)
}

/// Empty: levels survive `exec`.
pub(super) fn launcher(_: Level) -> &'static [&'static str] {
    &[]
}

/// Confines the thread to these processors, as far as it may use them.
pub(super) fn confine_thread(cpus: &[usize]) -> Step {
    let wanted = Setting::Affinity(cpus.to_vec());
    let result = within(THIS_THREAD, cpus).and_then(|allowed| allowed.set(THIS_THREAD));
    Step { what: wanted.describe(), result }
}

/// Returns those of the processors that a thread may use.
pub(super) fn within(thread: attributes::ThreadNumber, cpus: &[usize]) -> io::Result<Setting> {
    let Setting::Affinity(allowed) = Attribute::Affinity.get(thread)? else {
        unreachable!("an attribute has settings of its kind only");
    };
    let both: Vec<usize> = allowed.into_iter().filter(|cpu| cpus.contains(cpu)).collect();
    if both.is_empty() {
        return Err(io::Error::other("none of them may be used by this thread"));
    }
    Ok(Setting::Affinity(both))
}

/// Returns the settings of the calling thread.
pub(super) fn thread_facts() -> Vec<Fact> {
    let has = |attribute: &Attribute| match attribute {
        Attribute::UtilisationMax => has_uclamp(Path::new("/")) == Some(true),
        // It is not the thread's own: `session::grouping` returns it.
        Attribute::SessionNice => false,
        _ => true,
    };
    let told = |attribute: Attribute| {
        let value = match attribute.get(THIS_THREAD) {
            Ok(setting) => setting.describe(),
            Err(error) => format!("not told ({error})"),
        };
        Fact { what: attribute.name(), value }
    };
    Attribute::VARIANTS.iter().copied().filter(has).map(told).collect()
}

/// Returns the settings of the level that the calling thread does not have.
pub(super) fn lacking(level: Level) -> Vec<String> {
    let lacks = |setting: &Setting| {
        Attribute::from(setting).get(THIS_THREAD).ok().as_ref() != Some(setting)
    };
    request(level).iter().filter(|setting| lacks(setting)).map(Setting::describe).collect()
}

/// Kernels with utilisation clamps have a file with their limit.
pub(super) fn has_uclamp(root: &Path) -> Option<bool> {
    Some(root.join("proc/sys/kernel/sched_util_clamp_max").exists())
}
