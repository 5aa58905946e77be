//! Puts finished events back into walk order.
//!
//! Takes numbered events from any thread. Returns the same without gaps, oldest first.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::locked;
use crate::event::FileEvent;

/// The complete event of an entry.
pub(crate) type Finished = Box<FileEvent>;

/// A finished event and its entry's number.
pub(super) type Numbered = (u64, Finished);

/// A buffer in which finished events wait for those before them.
pub(super) struct ReorderBuffer {
    queue: Mutex<Pending>,
    signal: Condvar,
    /// The next number to be taken, readable without the lock.
    next: AtomicU64,
}

#[derive(Default)]
struct Pending {
    /// Number of the first place.
    first: u64,
    /// Events taken so far.
    given: u64,
    places: VecDeque<Option<Finished>>,
    /// Numbers of events that came before their turn, since the last look at them.
    early: Vec<u64>,
}

impl ReorderBuffer {
    pub(super) fn new() -> ReorderBuffer {
        ReorderBuffer {
            queue: Mutex::new(Pending::default()),
            signal: Condvar::new(),
            next: AtomicU64::new(0),
        }
    }

    /// Puts events into their places.
    pub(super) fn put(&self, events: Vec<Numbered>) {
        let mut queue = locked(&self.queue);
        for (number, event) in events {
            // After a run was stopped, the events of its last threads may be too late.
            let Some(place) = number.checked_sub(queue.first) else { continue };
            let place = place as usize;
            if queue.places.len() <= place {
                queue.places.resize_with(place + 1, || None);
            }
            queue.places[place] = Some(event);
            queue.early.push(number);
        }
    }

    /// Takes the next events, after `patience`.
    ///
    /// Waits by the clock and not for each event, because waking the taker for every file would
    /// cost more than hashing a small one. The wait ends early when a thread ends.
    pub(super) fn take(&self, patience: Duration) -> Vec<Finished> {
        let queue = locked(&self.queue);
        let (mut queue, _) =
            self.signal.wait_timeout(queue, patience).unwrap_or_else(PoisonError::into_inner);
        let ready = queue.places.iter().take_while(|place| place.is_some()).count();
        let events: Vec<Finished> = queue.places.drain(..ready).flatten().collect();
        queue.first += ready as u64;
        queue.given += ready as u64;
        let first = queue.first;
        queue.early.retain(|number| *number >= first);
        self.next.store(queue.first, Ordering::Release);
        events
    }

    /// Returns copies of the `wanted` events that still wait for those before them. Looks at each
    /// event once.
    pub(super) fn early(&self, wanted: impl Fn(&FileEvent) -> bool) -> Vec<FileEvent> {
        let mut queue = locked(&self.queue);
        let Pending { first, places, early, .. } = &mut *queue;
        let waiting = early.drain(..).filter_map(|number| {
            let place = number.checked_sub(*first)? as usize;
            places.get(place)?.as_deref()
        });
        waiting.filter(|event| wanted(event)).cloned().collect()
    }

    /// Takes all events, including those after a gap.
    pub(super) fn take_all(&self) -> Vec<Finished> {
        let mut queue = locked(&self.queue);
        queue.first += queue.places.len() as u64;
        let events: Vec<Finished> = queue.places.drain(..).flatten().collect();
        queue.given += events.len() as u64;
        events
    }

    /// Returns the number of events that were taken.
    pub(super) fn given(&self) -> u64 {
        locked(&self.queue).given
    }

    pub(super) fn is_empty(&self) -> bool {
        locked(&self.queue).places.is_empty()
    }

    /// Returns whether the entry with this number may begin.
    pub(super) fn has_room(&self, number: u64, window: u64) -> bool {
        number.saturating_sub(self.next.load(Ordering::Acquire)) < window
    }

    /// Wakes the taker.
    pub(super) fn notify(&self) {
        self.signal.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::event::FilePath;

    #[test]
    fn what_comes_out_is_counted_and_a_gap_is_not() {
        let event = |name: &str| Box::new(FileEvent::new(FilePath::whole(Path::new(name))));
        let buffer = ReorderBuffer::new();
        buffer.put(vec![(2, event("c")), (0, event("a")), (3, event("d"))]);
        assert_eq!(buffer.take(Duration::ZERO).len(), 1);
        assert_eq!(buffer.take(Duration::ZERO).len(), 0);
        assert_eq!(buffer.given(), 1);
        let early =
            |name: &str| buffer.early(|event| event.path.to_path() == Path::new(name)).len();
        assert_eq!((early("d"), early("d")), (1, 0), "each is looked at once");
        assert_eq!(buffer.take_all().len(), 2);
        assert_eq!(buffer.given(), 3, "of four entries");
    }
}
