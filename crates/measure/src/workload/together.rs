//! Runs the same work in several threads at once, each with its own clock.
//!
//! A waiting thread never takes the time: if it were descheduled at the wrong moment, the work
//! would appear faster than it was.

use std::num::NonZero;
use std::sync::{PoisonError, RwLock, mpsc};
use std::thread;

use steadfast_sys::clock;

use crate::error::Error;
use crate::runner::{Session, Timed};

/// The most threads of one sample: more than the processors of any machine, and quick to start.
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

/// The result of several threads.
pub(super) struct Together<R> {
    /// From the start of the first thread to the end of the last.
    pub(super) timed: Timed,
    /// The time of each thread in nanoseconds, at least 1, in the order of their numbers.
    pub(super) times_ns: Vec<u64>,
    /// The result of each thread, in the order of their numbers.
    pub(super) results: Vec<R>,
}

/// The result of one thread.
struct ThreadResult<R> {
    begun_ns: u64,
    ended_ns: u64,
    cpu_ns: u64,
    result: R,
    /// Warnings about its preparation.
    warnings: Vec<String>,
}

/// Runs work in several threads, all from one moment on, each after its preparation, for instance
/// taking a QoS level. `enter` prepares the calling thread, given its number, and returns warnings.
///
/// # Errors
///
/// If there are no threads or too many, or the system starts no more. Nothing was done then.
pub(super) fn together<R: Send>(
    session: &mut Session<'_>,
    threads: usize,
    enter: &(dyn Fn(usize) -> Vec<String> + Sync),
    work: &(dyn Fn(usize) -> R + Sync),
) -> Result<Together<R>, Error> {
    let threads = thread_count(threads as u64)?.get() as usize;
    // Each thread waits to read whether to work, until all are ready or the sample is cancelled.
    let gate = RwLock::new(false);
    let mut closed = gate.write().unwrap_or_else(PoisonError::into_inner);
    let (ready, readied) = mpsc::channel();
    let (timed, opened_ns, told) = thread::scope(|scope| {
        let mut handles = Vec::with_capacity(threads);
        for number in 0..threads {
            let (gate, ready) = (&gate, ready.clone());
            let one = move || one(&|| enter(number), &|| work(number), gate, ready);
            match thread::Builder::new().spawn_scoped(scope, one) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    drop(closed);
                    return Err(Error::system("start a thread", error));
                }
            }
        }
        // Ends when each thread has reported or died. Joining detects one that died.
        drop(ready);
        readied.iter().for_each(drop);
        let (timed, (opened_ns, told)) = session.time(|| {
            let opened_ns = clock::monotonic_ns();
            *closed = true;
            drop(closed);
            let joined = handles.into_iter().map(thread::ScopedJoinHandle::join);
            (opened_ns, joined.collect::<Result<Vec<_>, _>>().expect("the work does not panic"))
        });
        Ok((timed, opened_ns, told))
    })?;
    let told: Vec<ThreadResult<R>> = told.into_iter().flatten().collect();
    let begun_ns = told.iter().map(|told| told.begun_ns).min().expect("there is a thread");
    let ended_ns = told.iter().map(|told| told.ended_ns).max().expect("there is a thread");
    let time_ns = |told: &ThreadResult<R>| (told.ended_ns - told.begun_ns).max(1);
    let times_ns = told.iter().map(time_ns).collect();
    let timed = Timed {
        start_ns: timed.start_ns + (begun_ns - opened_ns),
        elapsed_ns: (ended_ns - begun_ns).max(1),
        cpu_ns: told.iter().map(|told| told.cpu_ns).sum::<u64>().max(1),
        // That of the thread that waited for the others.
        queued_ns: None,
        ..timed
    };
    let mut results = Vec::with_capacity(threads);
    for ThreadResult { result, warnings, .. } in told {
        results.push(result);
        for warning in warnings {
            session.warn(warning);
        }
    }
    Ok(Together { timed, times_ns, results })
}

/// Runs one thread; `None` if the sample was cancelled.
fn one<R>(
    enter: &dyn Fn() -> Vec<String>,
    work: &dyn Fn() -> R,
    gate: &RwLock<bool>,
    ready: mpsc::Sender<()>,
) -> Option<ThreadResult<R>> {
    let warnings = enter();
    // Dropping reports too: the receiver learns of a thread that reached this point or died before.
    drop(ready);
    if !*gate.read().unwrap_or_else(PoisonError::into_inner) {
        return None;
    }
    let (begun_ns, cpu_ns) = (clock::monotonic_ns(), clock::thread_cpu_ns());
    let result = work();
    let cpu_ns = clock::thread_cpu_ns() - cpu_ns;
    let ended_ns = clock::monotonic_ns();
    Some(ThreadResult { begun_ns, ended_ns, cpu_ns, result, warnings })
}
