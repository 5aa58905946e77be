//! Limits the rate of another engine.
//!
//! In: an engine and bytes per second. Out: the same bytes, no sooner than the rate allows. All
//! threads of a run share one limit.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_sys::file::{File, PositionedRead, Status};

use super::{Engine, Origin};

/// The time that reading may catch up at full speed after a pause.
const BURST: Duration = Duration::from_millis(100);

/// How long a read sleeps before it checks whether the run should end.
const NAP: Duration = Duration::from_millis(50);

/// An engine with a rate limit.
pub struct Limited {
    inner: Arc<dyn Engine>,
    bytes_per_s: u64,
    stop: Arc<AtomicBool>,
    /// The time at which everything read so far would have been read at the limited rate.
    due: Mutex<Instant>,
}

impl Limited {
    /// Limits `inner` to a rate in bytes per second; 0 counts as 1. Reads no longer wait once
    /// `stop` is set.
    pub fn new(inner: Arc<dyn Engine>, bytes_per_s: u64, stop: Arc<AtomicBool>) -> Limited {
        Limited { inner, bytes_per_s: bytes_per_s.max(1), stop, due: Mutex::new(Instant::now()) }
    }

    /// Adds bytes that are about to be read, or were, and waits until the rate allows them.
    fn pay(&self, bytes: usize) {
        let price = Duration::from_secs_f64(bytes as f64 / self.bytes_per_s as f64);
        let until = {
            let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
            let now = Instant::now();
            *due = (*due).max(now.checked_sub(BURST).unwrap_or(now)) + price;
            *due
        };
        while !self.stop.load(Ordering::Relaxed) {
            let wait = until.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                break;
            }
            thread::sleep(wait.min(NAP));
        }
    }
}

impl Engine for Limited {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        self.inner.prepare(file, status)
    }

    fn confirm(&self, file: &File, status: &Status, prepared: Origin) -> Origin {
        self.inner.confirm(file, status, prepared)
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.inner.read_at(file, buffer, offset)?;
        self.pay(read);
        Ok(read)
    }

    fn read_many(&self, reads: &mut [PositionedRead<'_>]) {
        self.inner.read_many(reads);
        let read: usize = reads.iter().filter_map(|read| read.outcome.as_ref().ok()).sum();
        self.pay(read);
    }

    fn in_flight(&self) -> usize {
        1
    }

    fn alignment(&self) -> usize {
        self.inner.alignment()
    }

    fn bytes_per_s_max(&self) -> Option<u64> {
        Some(self.bytes_per_s)
    }

    fn invents(&self) -> bool {
        self.inner.invents()
    }

    fn notice(&self) -> Option<String> {
        let own = format!(
            "reading was held to {:.1} MB/s, as asked: what the storage allows is not known",
            self.bytes_per_s as f64 / 1e6
        );
        Some(match self.inner.notice() {
            Some(inner) => format!("{inner}; {own}"),
            None => own,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::null::Null;

    #[test]
    fn the_debt_of_all_reads_is_added_up() {
        let limited = Limited::new(Arc::new(Null), 1 << 40, Arc::default());
        limited.pay(1 << 30);
        let before = *limited.due.lock().unwrap();
        limited.pay(1 << 30);
        limited.pay(1 << 30);
        let after = *limited.due.lock().unwrap();
        let price = Duration::from_micros(1_950);
        assert!(after.duration_since(before) >= price, "{:?}", after.duration_since(before));
        assert!(limited.notice().unwrap().contains("as asked"));
    }
}
