//! Opens files, and reads small ones into one buffer.
//!
//! Takes entries of the walk. Returns what was read, large files that were opened, and entries that
//! did not fit.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use steadfast_sys::clock;
use steadfast_sys::file::{AlignedBuffer, Dataless, FileKind, Status};
use steadfast_sys::xattr::has_resource_fork;

use super::{Done, SMALL_LEN_BYTES_MAX, Worker, held_still};
use crate::cost::Stage;
use crate::event::{FileError, FileEvent};
use crate::pipeline::job::{Batch, Item, Opened, Running, Small};
use crate::pipeline::links::Claim;
use crate::pipeline::outcome::Outcome;
use crate::pipeline::{Plan, Shared};
use crate::walk::Entry;

/// The longest step of the clocks for modification times: a timer tick on file systems that store
/// nanoseconds, and two seconds (FAT) on those that may not.
const FINE_STEP_NS: i128 = 20_000_000;
const COARSE_STEP_NS: i128 = 2_000_000_000;

/// The most large files that one job opens. Each thread may exceed the limit of waiting files by
/// this number.
const LARGE_OPENED_MAX: usize = 16;

/// Room in a batch's buffer.
struct Room {
    buffer: AlignedBuffer,
    used: usize,
    files: Vec<Small>,
}

impl Worker<'_> {
    /// Opens entries, reads small files into one buffer, and returns large ones.
    pub(super) fn fill(&mut self, items: Vec<Item>, buffer: AlignedBuffer) -> Done {
        let mut done = Done { was_fill: true, ..Done::default() };
        let large_max = self.shared.settings.waiting.min(LARGE_OPENED_MAX);
        let mut room = Room { buffer, used: 0, files: Vec::new() };
        let mut items = items.into_iter();
        while !self.shared.stopped()
            && let Some(item) = items.next()
        {
            let (opened, mut event) = match item {
                Item::Opened(opened, event) => (opened, event),
                Item::Found(number, entry) => match self.open(number, entry) {
                    Some(opened) => opened,
                    None => continue,
                },
            };
            if opened.status.length > SMALL_LEN_BYTES_MAX {
                event.reading.elapsed_ns += self.clock.lap(Stage::Open);
                let hasher = self.hasher(&opened, &event);
                done.large.push((Arc::from(opened), Running { hasher, event }));
                if done.large.len() >= large_max {
                    break;
                }
            } else if room.used + self.span(opened.status.length) > room.buffer.len() {
                event.reading.elapsed_ns += self.clock.lap(Stage::Open);
                done.returned.push(Item::Opened(opened, event));
                break;
            } else {
                event.reading.elapsed_ns += self.clock.small_opened();
                self.read_small(opened, event, &mut room);
            }
        }
        done.returned.extend(items);
        let batch = Batch { buffer: room.buffer, files: room.files };
        if batch.files.is_empty() {
            done.batch_buffer = Some(batch.buffer);
        } else if self.shared.stopped() {
            // No job follows, so what was read is hashed here and not lost.
            done.batch_buffer = self.hash(Some(batch), Vec::new()).batch_buffer;
        } else {
            done.batch = Some(batch);
        }
        done
    }

    /// Returns the buffer length for a small file: one byte more than the file, so that growth is
    /// noticed.
    fn span(&self, length: u64) -> usize {
        (length as usize + 1).next_multiple_of(self.shared.engine.alignment())
    }

    /// Opens an entry and asks the task for a plan. `None` if the entry is finished, or waits for
    /// another.
    fn open(&mut self, number: u64, entry: Entry) -> Option<(Box<Opened>, Box<FileEvent>)> {
        let opened = entry.open().and_then(|file| Ok((file.status()?, file)));
        let mut event = Box::new(FileEvent::new(entry.path));
        event.reference = entry.reference;
        let (status, file) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                event.reading.dataless = Dataless::is(&error);
                self.refuse(number, event, FileError::from_io("open", &error));
                return None;
            }
        };
        if status.kind != FileKind::Regular {
            self.refuse(number, event, FileError::new("read", "it is no longer a regular file"));
            return None;
        }
        event.visit.status = Some(status);
        event.reading.has_resource_fork = has_resource_fork(&file);
        match self.shared.links.claim(&status, number, &event.path) {
            Claim::First | Claim::Alone => {}
            Claim::Waits => return None,
            Claim::Finished(event) => {
                self.finished.push((number, event));
                return None;
            }
        }
        if status.links > 1 {
            event.visit.identity = Some(Box::new((status.device, status.inode)));
        }
        let plan = self.shared.task.open(&file, &mut event);
        // What is known without the contents is reported nevertheless.
        let is_known = matches!(plan, Plan::Done) && event.trouble.is_none();
        if status.dataless && !self.shared.settings.downloads && !is_known {
            event.note_dataless();
            event.reading.elapsed_ns = self.clock.lap(Stage::Open);
            self.finish(&Opened { number, file, status, algorithms: None }, event);
            return None;
        }
        let (algorithms, settled) = match plan {
            Plan::Hash { algorithms, settled } => (Some(algorithms), settled),
            Plan::Read => (None, false),
            Plan::Done => {
                event.reading.elapsed_ns = self.clock.lap(Stage::Open);
                self.shared.bytes_passed.fetch_add(status.length, Ordering::Relaxed);
                self.finish(&Opened { number, file, status, algorithms: None }, event);
                return None;
            }
        };
        if settled {
            self.settle(&status, &mut event);
        }
        let origin = self.shared.engine.prepare(&file, &status);
        match origin {
            Ok(origin) => {
                event.reading.origin = Some(origin);
                Some((Box::new(Opened { number, file, status, algorithms }), event))
            }
            Err(error) => {
                event.reading.elapsed_ns += self.clock.lap(Stage::Open);
                let outcome = Outcome::of_error(&error);
                self.conclude(&Opened { number, file, status, algorithms }, event, outcome);
                self.clock.lap(Stage::Store);
                None
            }
        }
    }

    /// Waits until no further change to a file can get its present modification time.
    ///
    /// File systems take modification times from a clock that moves in steps. If a file is changed
    /// twice in one step, before and after it is read, only its bytes show the second change, and
    /// the next check would take that edit for decay. The status before the wait stays the first
    /// one, so a file that changes during the wait is unstable.
    fn settle(&mut self, status: &Status, event: &mut FileEvent) {
        let mtime_ns = status.mtime.as_nanoseconds();
        let step_ns = if status.mtime.nanoseconds == 0 { COARSE_STEP_NS } else { FINE_STEP_NS };
        let age_ns = clock::utc_now().as_nanoseconds() - mtime_ns;
        // Times in the future were set by hand, or by another machine's clock. No write here gets
        // them.
        if !(-step_ns..step_ns).contains(&age_ns) {
            return;
        }
        let rest_ns = u64::try_from(step_ns - age_ns).expect("between 0 and two steps");
        event.reading.elapsed_ns += self.clock.lap(Stage::Open);
        thread::sleep(Duration::from_nanos(rest_ns));
        self.clock.lap(Stage::Wait);
    }

    /// Finishes an entry that could not be opened.
    fn refuse(&mut self, number: u64, mut event: Box<FileEvent>, trouble: FileError) {
        event.fail(trouble);
        event.reading.elapsed_ns = self.clock.lap(Stage::Open);
        self.finished.push((number, event));
    }

    fn read_small(&mut self, opened: Box<Opened>, mut event: Box<FileEvent>, room: &mut Room) {
        let length = opened.status.length as usize;
        let span = self.span(opened.status.length);
        let start = room.used;
        let target = &mut room.buffer[start..start + span];
        let result = self.read_up_to(&opened, target, 0, length);
        let result = result.and_then(|read| Ok((read, opened.file.status()?)));
        if let Ok((1.., after)) = &result
            && length == 0
            && held_still(&opened.status, after)
        {
            return self.read_unsized(*opened, event, &mut room.buffer[start..]);
        }
        event.reading.elapsed_ns += self.clock.small_read();
        let outcome = match result {
            Ok((read, after)) => {
                event.reading.bytes = read as u64;
                if read == length && held_still(&opened.status, &after) {
                    room.files.push(Small { opened, event, start, len: length });
                    room.used += span;
                    return;
                }
                Outcome::Changed
            }
            Err(error) => Outcome::of_error(&error),
        };
        self.conclude(&opened, event, outcome);
        self.clock.lap(Stage::Store);
    }

    /// Reads and hashes a file that has contents although its length is 0, such as those in
    /// `/proc`.
    fn read_unsized(&mut self, opened: Opened, mut event: Box<FileEvent>, target: &mut [u8]) {
        let Shared { engine, lanes, .. } = self.shared;
        let lanes = lanes.now();
        let mut hasher = self.hasher(&opened, &event);
        let (mut length, mut sink) = (0, None);
        let outcome = loop {
            match engine.read_at(&opened.file, target, length) {
                Ok(0) => match opened.file.status() {
                    Ok(after) if held_still(&opened.status, &after) => {
                        hasher.hash_alone(&[], true, lanes);
                        sink = hasher.take_sink();
                        break hasher.finalize(length, opened.status.mtime);
                    }
                    Ok(_) => break Outcome::Changed,
                    Err(error) => break Outcome::of_error(&error),
                },
                // The file is not finished, so nothing is known about it.
                Ok(_) if self.shared.stopped() => return,
                Ok(read) => {
                    hasher.hash_alone(&target[..read], false, lanes);
                    length += read as u64;
                }
                Err(error) => break Outcome::of_error(&error),
            }
        };
        event.reading.bytes = length;
        event.reading.elapsed_ns += self.clock.lap(Stage::Read);
        self.conclude_with(&opened, event, outcome, sink);
        self.clock.lap(Stage::Store);
    }

    /// Reads `length` bytes, or fewer at the end of the file. The buffer has room for one more,
    /// which shows growth.
    fn read_up_to(
        &self,
        opened: &Opened,
        target: &mut [u8],
        offset: u64,
        length: usize,
    ) -> io::Result<usize> {
        let read = self.shared.engine.read_at(&opened.file, target, offset)?;
        self.read_on(opened, target, offset, read, length)
    }
}
