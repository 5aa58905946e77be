//! One state of a run, as pages show it: plain values, replaced some times a second.

use std::sync::Arc;

use steadfast::{FileEvent, Progress};

use super::{CoreHistory, Ended, Finding};
use crate::config::Language;
use crate::live::{Live, Parts, Rendered};
use crate::pages;

/// How a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stand {
    /// It goes on.
    #[default]
    Going,
    /// It is held.
    Held,
    /// It was told to stop and has not yet.
    Stopping,
    /// It has ended.
    Over,
}

/// One file, as the table of the latest ones shows it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The event, without what the table does not show.
    pub(crate) event: Arc<FileEvent>,
}

/// One state of a run.
#[derive(Default)]
pub(crate) struct State {
    /// The place of the run as documents show it, which tables leave out of paths.
    pub(crate) base: Arc<str>,
    pub(crate) stand: Stand,
    pub(crate) progress: Progress,
    /// Verdicts and actions so far, in the report's words and order.
    pub(crate) counts: Vec<(&'static str, u64)>,
    /// The gravest findings, and how many there were.
    pub(crate) worst: Arc<Vec<Finding>>,
    pub(crate) found: u64,
    /// The latest files, the last one first.
    pub(crate) rows: Vec<Row>,
    pub(crate) cores: Arc<CoreHistory>,
    pub(crate) ended: Option<Arc<Ended>>,
    pub(crate) rendered: Rendered,
}

impl Live for State {
    fn parts(&self, language: Language) -> Parts {
        self.rendered.of(language, || pages::run::parts(self, language))
    }

    fn is_over(&self) -> bool {
        self.ended.is_some()
    }
}
