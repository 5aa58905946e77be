//! What a run gets of the processors at each pace that is chosen for it.

use std::time::{Duration, Instant};

use steadfast::qos::{CoresUsed, Pace, Process, ThreadTimes};
use steadfast_report::pace::PaceHistory;

/// Time between two readings: threads change processors in between.
const READ_EVERY: Duration = Duration::from_millis(200);

/// Reads the times of this process's threads while a run goes on.
pub(super) struct SpeedWatch {
    /// `None` where the system does not tell.
    process: Option<Process>,
    before: Vec<ThreadTimes>,
    read: Instant,
    bytes: u64,
    pub(super) history: PaceHistory,
}

impl SpeedWatch {
    pub(super) fn new() -> SpeedWatch {
        let process = Process::find(std::process::id()).ok();
        let before = process.as_ref().and_then(|process| process.times().ok()).unwrap_or_default();
        let history = PaceHistory::default();
        SpeedWatch { process, before, read: Instant::now(), bytes: 0, history }
    }

    /// Adds what was used since the last time to the present pace, if that was long enough ago or
    /// the run is over.
    pub(super) fn sample(&mut self, pace: Pace, bytes: u64, is_over: bool) {
        let elapsed = self.read.elapsed();
        if !is_over && elapsed < READ_EVERY {
            return;
        }
        let now = self.process.as_ref().and_then(|process| process.times().ok());
        let now = now.unwrap_or_default();
        let mut used = CoresUsed::default();
        used.add(elapsed, &self.before, &now);
        self.history.add(pace, &used, bytes.saturating_sub(self.bytes));
        (self.before, self.read, self.bytes) = (now, Instant::now(), bytes);
    }
}
