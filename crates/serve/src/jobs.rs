//! Work on threads of its own that outlives requests: runs, measurements and repairs, under numbers
//! that addresses can carry.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};

use steadfast::Progress;

use crate::live::{Live, LiveControl, LiveStatus, Rendered};
use crate::lock::lock;
use crate::recent::Recent;

/// Why a job has no end of its own: it panicked.
pub(crate) const UNEXPLAINED: &str = "it ended without saying how: this is a defect";

/// Work that pages can follow and stop.
pub(crate) trait ServedJob: Send + Sync + 'static {
    /// How far it is, as pages show it.
    type Snapshot: Live + Default;

    /// What its thread is called.
    const NAME: &'static str;

    /// The most jobs that are kept. The oldest one that has ended makes room.
    const KEPT_MAX: usize;

    /// Returns its commands and its latest snapshot.
    fn control(&self) -> &LiveControl<Self::Snapshot>;

    /// Returns the last snapshot of a job that ended without publishing one.
    fn unexplained() -> Self::Snapshot;
}

/// How work on files ended.
pub(crate) trait JobEnd: Send + Sync + 'static {
    /// Says that it could not be done, for this reason.
    fn failed(why: String) -> Self;
}

/// How far work on files is, as pages show it.
pub(crate) struct JobSnapshot<E> {
    pub(crate) status: LiveStatus,
    pub(crate) progress: Progress,
    /// What is done so far, in words.
    pub(crate) says: String,
    pub(crate) end: Option<Arc<E>>,
    pub(crate) rendered: Rendered,
}

impl<E> Default for JobSnapshot<E> {
    fn default() -> JobSnapshot<E> {
        let (status, rendered) = (LiveStatus::default(), Rendered::default());
        JobSnapshot {
            status,
            progress: Progress::default(),
            says: String::new(),
            end: None,
            rendered,
        }
    }
}

impl<E: JobEnd> JobSnapshot<E> {
    /// Returns the last snapshot of work that ended without saying how.
    pub(crate) fn unexplained() -> JobSnapshot<E> {
        let end = Some(Arc::new(E::failed(UNEXPLAINED.to_owned())));
        JobSnapshot { status: LiveStatus::Ended, end, ..JobSnapshot::default() }
    }

    /// Publishes how far work is, or its end.
    pub(crate) fn publish(
        control: &LiveControl<JobSnapshot<E>>,
        progress: Progress,
        says: String,
        end: Option<E>,
    ) where
        JobSnapshot<E>: Live,
    {
        let status = if end.is_some() { LiveStatus::Ended } else { control.status() };
        let (end, rendered) = (end.map(Arc::new), Rendered::default());
        control.publish(JobSnapshot { status, progress, says, end, rendered });
    }
}

/// The jobs of one kind.
pub(crate) struct ServedJobs<T>(Mutex<ServedJobList<T>>);

/// The same, while no other job can begin.
pub(crate) struct ServedJobList<T> {
    jobs: Recent<Arc<T>>,
    threads: Vec<JoinHandle<()>>,
}

impl<T> Default for ServedJobs<T> {
    fn default() -> ServedJobs<T> {
        ServedJobs(Mutex::new(ServedJobList { jobs: Recent::default(), threads: Vec::new() }))
    }
}

impl<T: ServedJob> ServedJobs<T> {
    /// Locks the list, so that no other job begins before its caller has decided.
    pub(crate) fn list(&self) -> MutexGuard<'_, ServedJobList<T>> {
        lock(&self.0)
    }

    /// Finds a job by its number.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<T>> {
        self.list().jobs.find(id).cloned()
    }

    /// Returns the jobs, the latest first.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.list().jobs.iter().rev().map(|(_, job)| Arc::clone(job)).collect()
    }

    /// Returns the number of the latest job that goes on.
    pub(crate) fn going(&self) -> Option<u64> {
        self.list().going().last().map(|(id, _)| id)
    }

    /// Returns how many jobs have ended.
    pub(crate) fn ended(&self) -> u64 {
        let list = self.list();
        list.jobs.numbers() - list.going().count() as u64
    }

    /// Stops all jobs and waits for their threads.
    pub(crate) fn end_all(&self) {
        let threads = {
            let mut list = self.list();
            list.jobs.iter().for_each(|(_, job)| job.control().stop());
            std::mem::take(&mut list.threads)
        };
        for thread in threads {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl<T: ServedJob> ServedJobList<T> {
    /// Returns the jobs that go on with their numbers, the oldest first.
    pub(crate) fn going(&self) -> impl Iterator<Item = (u64, &Arc<T>)> {
        self.jobs.iter().filter(|(_, job)| !job.control().is_over())
    }

    /// Begins a job, which `make` makes of its number; `None` if the system has no thread for it.
    pub(crate) fn begin(
        &mut self,
        make: impl FnOnce(u64) -> T,
        work: impl FnOnce(&T) + Send + 'static,
    ) -> Option<Arc<T>> {
        let id = self.jobs.next_number();
        let job = Arc::new(make(id));
        let of_thread = Arc::clone(&job);
        let spawned = Builder::new().name(format!("{} {id}", T::NAME)).spawn(move || {
            // If the work panics, pages must not wait forever.
            let _end_guard = ServedJobEndGuard(&*of_thread);
            work(&of_thread);
        });
        self.threads.retain(|thread| !thread.is_finished());
        self.threads.push(spawned.ok()?);
        self.jobs.add(id, Arc::clone(&job), T::KEPT_MAX, |job| job.control().is_over());
        Some(job)
    }
}

/// Publishes the end of a job that did not do so itself.
struct ServedJobEndGuard<'a, T: ServedJob>(&'a T);

impl<T: ServedJob> Drop for ServedJobEndGuard<'_, T> {
    fn drop(&mut self) {
        if !self.0.control().is_over() {
            self.0.control().publish(T::unexplained());
        }
    }
}
