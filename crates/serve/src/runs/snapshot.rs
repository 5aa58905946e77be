//! A snapshot of a run, as pages show it: plain values, replaced several times a second.

use std::sync::Arc;

use steadfast::{FileEvent, Progress};

use super::{CoreHistory, FileFinding, RunEnd};
use crate::kinds::StateKind;
use crate::live::{LiveStatus, Rendered};

/// A snapshot of a run.
#[derive(Default)]
pub(crate) struct RunSnapshot {
    /// The path of the run as documents show it. Tables show paths relative to it.
    pub(crate) base: Arc<str>,
    pub(crate) status: LiveStatus,
    pub(crate) progress: Progress,
    /// Verdicts and actions so far, with their names and in the order of the report.
    pub(crate) counts: Vec<(&'static str, u64)>,
    /// The most severe findings, and how many there are of each kind.
    pub(crate) worst: Arc<Vec<FileFinding>>,
    pub(crate) found: Vec<(StateKind, u64)>,
    /// The latest files, the last one first.
    pub(crate) files: Vec<Arc<FileEvent>>,
    pub(crate) cores: Arc<CoreHistory>,
    pub(crate) end: Option<Arc<RunEnd>>,
    pub(crate) rendered: Rendered,
}
