//! Runs the same work in several threads at once, each with its own clock.
//!
//! A waiting thread never takes the time: if it were descheduled at the wrong moment, the work
//! would appear faster than it was.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use std::thread;

use steadfast_sys::clock;

use crate::error::Error;
use crate::runner::{Session, Timed};

/// Threads of one sample, at most: more than any machine has processors for, few enough to start.
pub const THREADS_MAX: u32 = 1024;

/// Checks a number of threads.
///
/// # Errors
/// [`crate::ErrorKind::Usage`] if it is not from 1 to [`THREADS_MAX`].
pub fn thread_count(count: u64) -> Result<NonZero<u32>, Error> {
    let threads = u32::try_from(count).ok().filter(|&count| count <= THREADS_MAX);
    threads.and_then(NonZero::new).ok_or_else(|| {
        Error::usage(format!("{count} threads: a sample takes from 1 to {THREADS_MAX}"))
    })
}

/// What threads did together.
pub(super) struct Together<R> {
    /// From the moment at which the first began to that at which the last was done.
    pub(super) timed: Timed,
    /// Mean of the threads' own times, in nanoseconds; at least 1.
    pub(super) mean_ns: u64,
    /// What each thread made, in the order of their numbers.
    pub(super) results: Vec<R>,
}

/// What one thread has to tell.
struct ThreadResult<R> {
    begun_ns: u64,
    ended_ns: u64,
    result: R,
    /// What a reader should know of how it was readied.
    warnings: Vec<String>,
}

/// Holds threads back until all are there, or until they are sent home.
#[derive(Default)]
struct Gate {
    opened: Mutex<Option<bool>>,
    changed: Condvar,
}

impl Gate {
    /// Lets everyone on, to work or to go home.
    fn open(&self, to_work: bool) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(to_work);
        self.changed.notify_all();
    }

    /// Waits, and returns whether there is work.
    fn pass(&self) -> bool {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = self.changed.wait_while(opened, |opened| opened.is_none());
        opened.unwrap_or_else(PoisonError::into_inner).unwrap_or(false)
    }
}

/// Has threads do something, all from one moment on, each after it was readied: took a level, say.
/// `enter` readies the thread that calls it, and returns what to warn of.
///
/// # Errors
/// If there are no threads or too many, or the system starts no more: nothing is done then.
pub(super) fn together<R: Send>(
    session: &mut Session<'_>,
    threads: usize,
    enter: &(dyn Fn() -> Vec<String> + Sync),
    work: &(dyn Fn(usize) -> R + Sync),
) -> Result<Together<R>, Error> {
    let threads = thread_count(threads as u64)?.get() as usize;
    let gate = Gate::default();
    let (ready, readied) = mpsc::channel();
    let (timed, opened_ns, told) = thread::scope(|scope| {
        let mut handles = Vec::with_capacity(threads);
        for number in 0..threads {
            let (gate, ready) = (&gate, ready.clone());
            let one = move || one(enter, &|| work(number), gate, ready);
            match thread::Builder::new().spawn_scoped(scope, one) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    gate.open(false);
                    return Err(Error::system("start a thread", error));
                }
            }
        }
        // Ends when each has told or died; one that died is found when it is joined.
        drop(ready);
        readied.iter().for_each(drop);
        let (timed, (opened_ns, told)) = session.time(|| {
            let opened_ns = clock::monotonic_ns();
            gate.open(true);
            let joined = handles.into_iter().map(thread::ScopedJoinHandle::join);
            (opened_ns, joined.collect::<Result<Vec<_>, _>>().expect("the work does not panic"))
        });
        Ok((timed, opened_ns, told))
    })?;
    let told: Vec<ThreadResult<R>> = told.into_iter().flatten().collect();
    let begun_ns = told.iter().map(|told| told.begun_ns).min().expect("there is a thread");
    let ended_ns = told.iter().map(|told| told.ended_ns).max().expect("there is a thread");
    let total: u64 = told.iter().map(|told| told.ended_ns - told.begun_ns).sum();
    let timed = Timed {
        start_ns: timed.start_ns + (begun_ns - opened_ns),
        elapsed_ns: (ended_ns - begun_ns).max(1),
        cpu_ns: timed.cpu_ns,
    };
    let mut results = Vec::with_capacity(threads);
    for ThreadResult { result, warnings, .. } in told {
        results.push(result);
        for warning in warnings {
            session.warn(warning);
        }
    }
    Ok(Together { timed, mean_ns: (total / threads as u64).max(1), results })
}

/// What each thread does; nothing if it is sent home.
fn one<R>(
    enter: &dyn Fn() -> Vec<String>,
    work: &dyn Fn() -> R,
    gate: &Gate,
    ready: mpsc::Sender<()>,
) -> Option<ThreadResult<R>> {
    let warnings = enter();
    // Dropped is told: whoever waits learns of a thread that got this far, or that died before.
    drop(ready);
    if !gate.pass() {
        return None;
    }
    let begun_ns = clock::monotonic_ns();
    let result = work();
    let ended_ns = clock::monotonic_ns();
    Some(ThreadResult { begun_ns, ended_ns, result, warnings })
}
