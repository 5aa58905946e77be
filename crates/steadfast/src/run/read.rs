//! Walks and reads without hashing, to measure reading alone.
//!
//! Takes files. Returns how much was read and how long it took, without digests, verdicts or tags.
//! A check has all other costs of this path as well, so the difference is the cost of hashing.

use std::sync::Arc;

use steadfast_sys::file::File;

use super::source::WalkSource;
use super::{Options, RunSettings, Work, execute, no_file};
use crate::error::Error;
use crate::event::FileEvent;
use crate::monitor::{Monitor, Summary};
use crate::pipeline::{Plan, Task};
use crate::read::Engine;
use crate::selection::Selection;
use crate::verb_kind::VerbKind;
use crate::walk::Excludes;

/// Reads files as `hash` does, on the same threads into the same buffers, without hashing them.
///
/// The event of a file that changed or could not be read completely says so. The catalogue is not
/// used, whatever the options.
///
/// # Errors
/// As [`crate::Run::run`].
pub fn read_without_hashing(
    selection: &Selection,
    options: &Options,
    engine: Arc<dyn Engine>,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let excludes = Arc::new(Excludes::new(&selection.excludes)?);
    let work = Work {
        verb: VerbKind::Read,
        task: Arc::new(ReadTask),
        engine,
        settings: RunSettings::of(options, selection)?,
        require_tags: false,
        time_limit: None,
        recording: None,
        notices: Vec::new(),
        source: Box::new(WalkSource {
            selection: selection.clone(),
            excludes,
            reads_leaves: false,
        }),
        if_empty: no_file(),
    };
    execute(work, None, monitor)
}

struct ReadTask;

impl Task for ReadTask {
    fn open(&self, _file: &File, _event: &mut FileEvent) -> Plan {
        Plan::Read
    }
}
