//! The measurements of this server: one at a time, which every page can follow.
//!
//! In: a kind, a profile and a root. Out: several snapshots a second, and at the end a record and
//! its document. Stopping keeps the samples. Files are created in roots only: a folder beneath them
//! could be replaced by a link before the files are created.

mod kind;
mod keep;
mod snapshot;
mod thread;

use std::path::PathBuf;
use std::sync::Arc;

use steadfast::{Options, Timestamp};

pub(crate) use keep::file_name;
pub(crate) use kind::{MeasureKind, MeasureProfile, is_offered};
pub(crate) use snapshot::{MeasureEnd, MeasureSnapshot, SeriesSoFar};

use crate::config::Config;
use crate::jobs::{ServedJob, ServedJobs, UNEXPLAINED};
use crate::live::{LiveControl, LiveStatus};

/// The measurement that a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MeasureRequest {
    pub(crate) kind: MeasureKind,
    pub(crate) profile: MeasureProfile,
    /// The root in which files are created.
    pub(crate) folder: PathBuf,
    /// The root to compare it with, for a pair.
    pub(crate) beside: Option<PathBuf>,
}

/// One measurement.
pub(crate) struct Measurement {
    pub(crate) id: u64,
    pub(crate) request: MeasureRequest,
    pub(crate) begun: Timestamp,
    pub(crate) control: LiveControl<MeasureSnapshot>,
}

/// Why a measurement was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MeasureRefused {
    /// The measurement of this number goes on, and both would distort each other.
    Busy(u64),
    /// The run of this number goes on, and would distort the measurement.
    Runs(u64),
    /// The folder was replaced since the start of the server.
    Gone,
    /// The system refused a thread or a process.
    NoThread,
}

/// The measurements of this server.
pub(crate) type Measurements = ServedJobs<Measurement>;

impl ServedJob for Measurement {
    type Snapshot = MeasureSnapshot;

    const NAME: &'static str = "measure";

    /// Each with its record.
    const KEPT_MAX: usize = 12;

    fn control(&self) -> &LiveControl<MeasureSnapshot> {
        &self.control
    }

    fn unexplained() -> MeasureSnapshot {
        let end = MeasureEnd { failed: vec![UNEXPLAINED.to_owned()], ..MeasureEnd::default() };
        let end = Some(Arc::new(end));
        MeasureSnapshot { status: LiveStatus::Ended, end, ..MeasureSnapshot::default() }
    }
}

impl ServedJobs<Measurement> {
    /// Starts a measurement, unless another one goes on.
    pub(crate) fn begin(
        &self,
        request: MeasureRequest,
        config: &Config,
    ) -> Result<Arc<Measurement>, MeasureRefused> {
        let arguments = kind::arguments_of(&request);
        let workload = (config.workload)(&arguments).ok_or(MeasureRefused::NoThread)?;
        let mut list = self.list();
        let going = list.going().next().map(|(id, _)| id);
        if let Some(going) = going {
            return Err(MeasureRefused::Busy(going));
        }
        let begun = (Options::default().now)();
        let make = |id| Measurement { id, request, begun, control: LiveControl::default() };
        let (made_by, records) = (config.made_by.clone(), config.records.clone());
        let work = move |measurement: &Measurement| {
            thread::execute(
                measurement,
                (workload.as_ref(), &arguments),
                made_by,
                records.as_deref(),
            );
        };
        list.begin(make, work).ok_or(MeasureRefused::NoThread)
    }
}
