//! A snapshot of a measurement, as pages show it: plain values, replaced several times a second.

use std::collections::VecDeque;
use std::sync::Arc;

use steadfast_measure::record::Record;
use steadfast_report::document::{Document, Headline, Quantity};

use crate::live::{LiveStatus, Rendered};

/// A series so far.
#[derive(Clone, Debug)]
pub(crate) struct SeriesSoFar {
    /// Its label as documents show it.
    pub(crate) label: String,
    /// The latest rate.
    pub(crate) latest: Quantity,
    /// The latest rates, the last one last, in base units.
    pub(crate) rates: VecDeque<f64>,
    /// Samples so far.
    pub(crate) samples: u64,
}

/// How a measurement ended.
#[derive(Debug, Default)]
pub(crate) struct MeasureEnd {
    /// The record and its document. `None` if there are no samples.
    pub(crate) made: Option<(Record, Document)>,
    /// The errors of parts that could not be measured.
    pub(crate) failed: Vec<String>,
    /// Whether it was stopped early.
    pub(crate) stopped: bool,
    /// The file of the record, or why there is none. `None` if records are not kept.
    pub(crate) kept: Option<Result<String, String>>,
}

/// A snapshot of a measurement.
#[derive(Default)]
pub(crate) struct MeasureSnapshot {
    pub(crate) status: LiveStatus,
    /// The present step as documents show it.
    pub(crate) doing: String,
    /// Progress from 0 to 1.
    pub(crate) done: f64,
    pub(crate) left_ns: Option<u64>,
    pub(crate) elapsed_ns: u64,
    /// The number of all samples.
    pub(crate) samples: u64,
    /// The series of the latest samples, the last one first.
    pub(crate) series: Vec<SeriesSoFar>,
    pub(crate) end: Option<Arc<MeasureEnd>>,
    pub(crate) rendered: Rendered,
}

impl MeasureSnapshot {
    /// Returns the figure that answers the question, if it has ended and has one.
    pub(crate) fn answer(&self) -> Option<&Headline> {
        let (_, document) = self.made()?;
        document.sections.first()?.headline.as_ref()
    }

    /// Returns the record and its document, if it has ended and has samples.
    pub(crate) fn made(&self) -> Option<&(Record, Document)> {
        self.end.as_ref()?.made.as_ref()
    }
}
