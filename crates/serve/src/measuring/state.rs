//! One state of a measurement, as pages show it: plain values, replaced some times a second.

use std::collections::VecDeque;
use std::sync::Arc;

use steadfast_measure::record::Record;
use steadfast_report::document::{Document, Quantity};

use crate::config::Language;
use crate::live::{Live, Parts, Rendered};
use crate::pages;

/// How a measurement stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MeasureStand {
    /// It goes on.
    #[default]
    Going,
    /// It was told to stop and has not yet.
    Stopping,
    /// It has ended.
    Over,
}

/// A series as far as it is.
#[derive(Clone, Debug)]
pub(crate) struct SeriesSoFar {
    /// What it is called, as documents show it.
    pub(crate) label: String,
    /// The latest rate.
    pub(crate) latest: Quantity,
    /// The latest rates, the last one last, in base units.
    pub(crate) rates: VecDeque<f64>,
    /// Samples so far.
    pub(crate) samples: u64,
}

/// How a measurement ended.
#[derive(Debug)]
pub(crate) struct MeasureEnd {
    /// The record, and the document about it; none if there is no sample.
    pub(crate) made: Option<(Record, Document)>,
    /// What could not be measured, and why.
    pub(crate) failed: Vec<String>,
    /// Whether somebody ended it early.
    pub(crate) stopped: bool,
    /// The file it was kept in, or why it was not; none if none was wanted.
    pub(crate) kept: Option<Result<String, String>>,
}

/// One state of a measurement.
#[derive(Default)]
pub(crate) struct MeasureState {
    pub(crate) stand: MeasureStand,
    /// What is done now, as documents show it.
    pub(crate) doing: String,
    /// Share that is done, 0 to 1.
    pub(crate) done: f64,
    pub(crate) left_ns: Option<u64>,
    pub(crate) elapsed_ns: u64,
    /// All samples.
    pub(crate) samples: u64,
    /// The series that had samples last, the last one first.
    pub(crate) series: Vec<SeriesSoFar>,
    pub(crate) ended: Option<Arc<MeasureEnd>>,
    pub(crate) rendered: Rendered,
}

impl Live for MeasureState {
    fn parts(&self, language: Language) -> Parts {
        self.rendered.of(language, || pages::measure::parts(self, language))
    }

    fn is_over(&self) -> bool {
        self.ended.is_some()
    }
}
