//! Runs jobs on several threads, and returns their results in order.
//!
//! In: jobs, one by one. Out: results in the order of their jobs. The number of unfinished jobs is
//! bounded, and so is memory. If a worker panics, the queue stops, and the panic reaches the
//! caller.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Unfinished jobs per worker, including finished ones that wait for an earlier one.
const WINDOW_EACH: u64 = 32;

/// Takes jobs, and passes on results in order.
pub(crate) struct JobQueue<'a, J, R> {
    jobs: SyncSender<(u64, J)>,
    /// Results by job. `None` if the worker panicked.
    results: Receiver<(u64, Option<R>)>,
    done: BTreeMap<u64, R>,
    begun: u64,
    told: u64,
    window: u64,
    take: &'a mut dyn FnMut(R),
    /// Whether a worker panicked.
    broken: bool,
}

/// Sends the result of a job when dropped: `None` if the worker panicked before.
struct ResultGuard<R> {
    at: u64,
    kept: Option<R>,
    finished: Sender<(u64, Option<R>)>,
}

impl<R> Drop for ResultGuard<R> {
    fn drop(&mut self) {
        // Fails if the queue has ended already, and then nobody needs the result.
        let _ = self.finished.send((self.at, self.kept.take()));
    }
}

impl<J, R> JobQueue<'_, J, R> {
    /// Adds a job; waits while too many are unfinished.
    pub(crate) fn put(&mut self, job: J) {
        while !self.broken && self.begun - self.told >= self.window {
            self.wait();
        }
        if self.broken {
            return;
        }
        // Cannot fail: the workers outlive the queue.
        let _ = self.jobs.send((self.begun, job));
        self.begun += 1;
        loop {
            match self.results.try_recv() {
                Ok((at, result)) => self.settle(at, result),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            }
        }
    }

    /// Waits for one result.
    fn wait(&mut self) {
        match self.results.recv() {
            Ok((at, result)) => self.settle(at, result),
            Err(_) => self.broken = true,
        }
    }

    fn settle(&mut self, at: u64, result: Option<R>) {
        let Some(result) = result else {
            self.broken = true;
            return;
        };
        self.done.insert(at, result);
        while let Some(result) = self.done.remove(&self.told) {
            self.told += 1;
            (self.take)(result);
        }
    }
}

/// Runs the jobs that `feed` adds. Passes the results to `take` in order.
pub(crate) fn ordered<J: Send, R: Send, T>(
    workers: usize,
    work: impl Fn(J) -> R + Sync,
    take: &mut dyn FnMut(R),
    feed: impl FnOnce(&mut JobQueue<'_, J, R>) -> T,
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
                    let mut guard = ResultGuard { at, kept: None, finished: finished.clone() };
                    guard.kept = Some(work(job));
                }
            });
        }
        drop(finished);
        let window = WINDOW_EACH * workers as u64;
        let done = BTreeMap::new();
        let mut queue =
            JobQueue { jobs, results, done, begun: 0, told: 0, window, take, broken: false };
        let fed = feed(&mut queue);
        while !queue.broken && queue.told < queue.begun {
            queue.wait();
        }
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

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_worker_that_panics_ends_the_queue() {
        let work = |job: u64| assert_ne!(job, 40, "the job that cannot be done");
        ordered(2, work, &mut |()| {}, |line| (0..10_000).for_each(|job| line.put(job)));
    }
}
