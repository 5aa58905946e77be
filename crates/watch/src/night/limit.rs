//! The time limit of one step of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use steadfast::ExitStatus;

/// Ends a step when its time is over.
pub(super) struct StepLimit {
    pub(super) stop: Arc<AtomicBool>,
    /// Ends the thread that waits, when it is dropped.
    _waiting: Option<Sender<()>>,
}

impl StepLimit {
    pub(super) fn begin(left: Option<Duration>) -> StepLimit {
        let stop = Arc::new(AtomicBool::new(false));
        let waiting = left.map(|left| {
            let (sender, end) = channel::<()>();
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                if end.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                    stop.store(true, Ordering::Relaxed);
                }
            });
            sender
        });
        StepLimit { stop, _waiting: waiting }
    }

    /// Returns the status of a step. It is no trouble that its time was over, unless the user
    /// stopped it: the next run goes on.
    pub(super) fn status(&self, status: ExitStatus, was_stopped: bool) -> ExitStatus {
        status.only_if(status != ExitStatus::Interrupted || was_stopped)
    }
}
