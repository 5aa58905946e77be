//! Work that waits for answers, done by several threads, its results in order.
//!
//! In: jobs, one by one. Out: results in the order of their jobs. So many jobs are under way at
//! most, so memory is bounded whatever the number of jobs.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Jobs under way for each worker, those done that wait for an earlier one included.
const WINDOW_EACH: u64 = 32;

/// Takes jobs, and hands on results as their turn comes.
pub(crate) struct Line<'a, J, R> {
    jobs: SyncSender<(u64, J)>,
    results: Receiver<(u64, R)>,
    done: BTreeMap<u64, R>,
    begun: u64,
    told: u64,
    window: u64,
    take: &'a mut dyn FnMut(R),
}

impl<J, R> Line<'_, J, R> {
    /// Takes a job; waits while too many are under way.
    pub(crate) fn put(&mut self, job: J) {
        while self.begun - self.told >= self.window {
            if !self.wait() {
                return;
            }
        }
        // Workers end after the line only.
        let _ = self.jobs.send((self.begun, job));
        self.begun += 1;
        loop {
            match self.results.try_recv() {
                Ok((at, result)) => self.settle(at, result),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    /// Waits for one result; false if none will come.
    fn wait(&mut self) -> bool {
        let Ok((at, result)) = self.results.recv() else { return false };
        self.settle(at, result);
        true
    }

    fn settle(&mut self, at: u64, result: R) {
        self.done.insert(at, result);
        while let Some(result) = self.done.remove(&self.told) {
            self.told += 1;
            (self.take)(result);
        }
    }
}

/// Works through what `feed` puts on the line. Results go to `take`, in order.
pub(crate) fn ordered<J: Send, R: Send, T>(
    workers: usize,
    work: impl Fn(J) -> R + Sync,
    take: &mut dyn FnMut(R),
    feed: impl FnOnce(&mut Line<'_, J, R>) -> T,
) -> T {
    let workers = workers.max(1);
    let (jobs, waiting) = sync_channel::<(u64, J)>(workers);
    let (finished, results) = channel();
    let waiting = Mutex::new(waiting);
    thread::scope(|scope| {
        for _ in 0..workers {
            let (finished, waiting, work) = (finished.clone(), &waiting, &work);
            scope.spawn(move || {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((at, job)) = next else { return };
                    if finished.send((at, work(job))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(finished);
        let window = WINDOW_EACH * workers as u64;
        let mut line =
            Line { jobs, results, done: BTreeMap::new(), begun: 0, told: 0, window, take };
        let fed = feed(&mut line);
        while line.told < line.begun && line.wait() {}
        fed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whoever_is_slow() {
        let mut told = Vec::new();
        let fed = ordered(
            4,
            |job: u64| {
                // The earlier jobs of each group take the longest.
                let spin = (8 - job % 8) * 2_000;
                let sum = (0..spin).fold(job, |sum, at| sum.wrapping_add(at).rotate_left(3));
                (job, sum)
            },
            &mut |(job, _)| told.push(job),
            |line| {
                for job in 0..1_000 {
                    line.put(job);
                }
                "fed"
            },
        );
        assert_eq!(fed, "fed");
        assert_eq!(told, (0..1_000).collect::<Vec<_>>());
    }
}
