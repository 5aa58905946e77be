//! Measurements of this server: one at a time, seen by all, kept by whoever wants to.
//!
//! In: a workload, a profile and a root. Out: states some times a second, and in the end a record
//! and the report's document about it. Stopping keeps the samples. Only roots are measured in: a
//! folder that a browser chose could be another one by the time files are made in it.

mod kept;
mod session;
mod state;
mod work;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use steadfast::{Options, Timestamp};
use tokio::sync::watch;

pub(crate) use kept::file_name;
pub(crate) use state::{MeasureEnd, MeasureStand, MeasureState, SeriesSoFar};
pub(crate) use work::{Profile, Work, is_offered};

use crate::config::Config;

/// Measurements that are remembered, each with its record.
const MEASUREMENTS_MAX: usize = 12;

/// What a page asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MeasureAsk {
    pub(crate) work: Work,
    pub(crate) profile: Profile,
    /// The root in which files are made.
    pub(crate) folder: PathBuf,
}

/// One measurement, going on or ended.
pub(crate) struct Measurement {
    pub(crate) id: u64,
    pub(crate) ask: MeasureAsk,
    pub(crate) begun: Timestamp,
    stop: AtomicBool,
    states: watch::Sender<Arc<MeasureState>>,
}

impl Measurement {
    /// Returns its latest state.
    pub(crate) fn state(&self) -> Arc<MeasureState> {
        Arc::clone(&self.states.borrow())
    }

    /// Returns its states as they come.
    pub(crate) fn states(&self) -> watch::Receiver<Arc<MeasureState>> {
        self.states.subscribe()
    }

    /// Says whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.states.borrow().ended.is_some()
    }

    /// Ends it early.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Says how it stands.
    pub(crate) fn stand(&self) -> MeasureStand {
        match (self.is_over(), self.stop.load(Ordering::Relaxed)) {
            (true, _) => MeasureStand::Over,
            (false, true) => MeasureStand::Stopping,
            (false, false) => MeasureStand::Going,
        }
    }
}

/// Why a measurement was not begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotBegun {
    /// Another goes on: both would measure each other.
    Busy(u64),
    /// A run goes on, which would be measured with it.
    Runs(u64),
    /// The folder is not the one any more that was named.
    Gone,
    /// The system gives no thread, or no process.
    NoThread,
}

/// The measurements of this server.
#[derive(Default)]
pub(crate) struct Measurements(Mutex<Known>);

#[derive(Default)]
struct Known {
    last: u64,
    /// The first one first.
    all: VecDeque<Arc<Measurement>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Measurements {
    /// Begins one.
    pub(crate) fn begin(
        &self,
        ask: MeasureAsk,
        config: &Config,
    ) -> Result<Arc<Measurement>, NotBegun> {
        let workload = work::workload(&ask, config.worker.as_ref()).ok_or(NotBegun::NoThread)?;
        let mut known = self.known();
        if let Some(going) = known.all.iter().find(|one| !one.is_over()) {
            return Err(NotBegun::Busy(going.id));
        }
        known.last += 1;
        let measurement = Arc::new(Measurement {
            id: known.last,
            ask,
            begun: (Options::default().now)(),
            stop: AtomicBool::new(false),
            states: watch::Sender::new(Arc::default()),
        });
        let of_thread = Arc::clone(&measurement);
        let (made_by, records) = (config.made_by.clone(), config.records.clone());
        let spawned = thread::Builder::new().name("measure".to_owned()).spawn(move || {
            session::carry_out(&of_thread, workload.as_ref(), made_by, records.as_deref());
        });
        known.thread = Some(spawned.map_err(|_| NotBegun::NoThread)?);
        while known.all.len() >= MEASUREMENTS_MAX {
            known.all.pop_front();
        }
        known.all.push_back(Arc::clone(&measurement));
        Ok(measurement)
    }

    /// Finds one by its number.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Measurement>> {
        self.known().all.iter().find(|one| one.id == id).cloned()
    }

    /// Returns all that are remembered, the latest first.
    pub(crate) fn all(&self) -> Vec<Arc<Measurement>> {
        self.known().all.iter().rev().cloned().collect()
    }

    /// Returns the number of the one that goes on.
    pub(crate) fn going(&self) -> Option<u64> {
        self.known().all.iter().find(|one| !one.is_over()).map(|one| one.id)
    }

    /// Ends what goes on, and waits for it.
    pub(crate) fn end_all(&self) {
        let thread = {
            let mut known = self.known();
            known.all.iter().for_each(|one| one.stop());
            known.thread.take()
        };
        if let Some(thread) = thread {
            // One that panicked has said so where its state was looked at.
            let _ = thread.join();
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
