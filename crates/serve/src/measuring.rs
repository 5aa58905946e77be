//! The measurements of this server: one at a time, which every page can follow.
//!
//! In: a kind, a profile and a root. Out: several snapshots a second, and at the end a record and
//! its document. Stopping keeps the samples. Files are created in roots only: a folder beneath them
//! could be replaced by a link before the files are created.

mod kind;
mod answer;
mod keep;
mod snapshot;
mod thread;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use steadfast::{Options, Timestamp};

pub(crate) use answer::{AnswerBar, AnswerWhat, MeasureAnswer};
pub(crate) use keep::file_name;
pub(crate) use kind::{MeasureKind, MeasureProfile, is_offered};
pub(crate) use snapshot::{MeasureEnd, MeasureSnapshot, SeriesSoFar};

use crate::config::Config;
use crate::live::LiveControl;
use crate::lock::lock;
use crate::recent::Recent;

/// Measurements that are kept, each with its record.
const MEASUREMENTS_MAX: usize = 12;

/// The measurement that a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MeasureRequest {
    pub(crate) kind: MeasureKind,
    pub(crate) profile: MeasureProfile,
    /// The root in which files are created.
    pub(crate) folder: PathBuf,
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
#[derive(Default)]
pub(crate) struct Measurements(Mutex<MeasurementList>);

#[derive(Default)]
struct MeasurementList {
    measurements: Recent<Arc<Measurement>>,
    thread: Option<JoinHandle<()>>,
}

impl Measurements {
    /// Starts a measurement, unless another one goes on.
    pub(crate) fn begin(
        &self,
        request: MeasureRequest,
        config: &Config,
    ) -> Result<Arc<Measurement>, MeasureRefused> {
        let workload = kind::workload(&request, config.worker.as_ref());
        let workload = workload.ok_or(MeasureRefused::NoThread)?;
        let mut list = lock(&self.0);
        if let Some(going) = list.going() {
            return Err(MeasureRefused::Busy(going));
        }
        let id = list.measurements.next_number();
        let measurement = Arc::new(Measurement {
            id,
            request,
            begun: (Options::default().now)(),
            control: LiveControl::default(),
        });
        let of_thread = Arc::clone(&measurement);
        let (made_by, records) = (config.made_by.clone(), config.records.clone());
        let spawned = Builder::new().name("measure".to_owned()).spawn(move || {
            thread::execute(&of_thread, workload.as_ref(), made_by, records.as_deref());
        });
        list.thread = Some(spawned.map_err(|_| MeasureRefused::NoThread)?);
        list.measurements.add(id, Arc::clone(&measurement), MEASUREMENTS_MAX, |_| true);
        Ok(measurement)
    }

    /// Finds a measurement by its number.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Measurement>> {
        lock(&self.0).measurements.find(id).cloned()
    }

    /// Returns the measurements that are kept, the latest first.
    pub(crate) fn all(&self) -> Vec<Arc<Measurement>> {
        lock(&self.0).measurements.iter().rev().map(|(_, one)| Arc::clone(one)).collect()
    }

    /// Returns the number of the measurement that goes on.
    pub(crate) fn going(&self) -> Option<u64> {
        lock(&self.0).going()
    }

    /// Stops the measurement that goes on, and waits for it.
    pub(crate) fn end_all(&self) {
        let thread = {
            let mut list = lock(&self.0);
            list.measurements.iter().for_each(|(_, one)| one.control.stop());
            list.thread.take()
        };
        if let Some(thread) = thread {
            // A thread that panicked has published the failure as its last snapshot.
            let _ = thread.join();
        }
    }
}

impl MeasurementList {
    fn going(&self) -> Option<u64> {
        self.measurements.iter().find(|(_, one)| !one.control.is_over()).map(|(id, _)| id)
    }
}
