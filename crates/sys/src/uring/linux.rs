//! Several reads in flight on Linux: a submission queue shared with the kernel.
//!
//! It is safe because it does not return before the kernel is done with every buffer.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::thread;

use io_uring::{IoUring, Probe, opcode, squeue, types};

use crate::file::{INTERRUPTS_MAX, PositionedRead};

pub(super) const EXISTS: bool = true;

/// The longest read of the queue, a multiple of every alignment. The caller asks for the rest
/// again.
const READ_LENGTH_MAX: usize = 1 << 30;

/// A submission queue and its completions.
pub(super) struct RingQueue {
    ring: IoUring,
    /// Whether the kernel once left submitted reads in the queue. At the next call it would take
    /// them, although their buffers belong to the caller again, so there is no next call.
    broken: bool,
}

impl RingQueue {
    /// Makes a queue, if the kernel knows reads into plain memory (5.6).
    pub(super) fn new(depth: u32) -> io::Result<Self> {
        let ring = IoUring::new(depth)?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        if !probe.is_supported(opcode::Read::CODE) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the kernel is too old"));
        }
        Ok(Self { ring, broken: false })
    }

    /// Carries out no more reads than the queue is deep.
    pub(super) fn read_all(&mut self, reads: &mut [PositionedRead<'_>]) {
        let mut under_way = 0;
        for (index, read) in reads.iter_mut().enumerate() {
            read.outcome = if self.broken {
                Err(io::ErrorKind::Unsupported.into())
            } else if i64::try_from(read.offset).is_err() {
                // To the kernel it would mean the file's own position.
                Err(io::ErrorKind::InvalidInput.into())
            } else {
                self.submit(read, index as u64);
                under_way += 1;
                Err(io::ErrorKind::Unsupported.into())
            };
        }
        let mut interrupts = 0;
        while under_way > 0 {
            let waited = self.ring.submit_and_wait(under_way);
            for completion in self.ring.completion() {
                let outcome = usize::try_from(completion.result())
                    .map_err(|_| io::Error::from_raw_os_error(-completion.result()));
                reads[completion.user_data() as usize].outcome = outcome;
                under_way -= 1;
            }
            match waited {
                Ok(_) => {}
                Err(error)
                    if error.kind() == io::ErrorKind::Interrupted
                        && interrupts < INTERRUPTS_MAX =>
                {
                    interrupts += 1;
                }
                // The kernel completes only the reads that it has taken.
                Err(_) if self.ring.submission().len() == under_way => {
                    self.broken = under_way > 0;
                    return;
                }
                Err(_) => thread::yield_now(),
            }
        }
    }

    /// Puts one read into the queue, for which there is room.
    #[expect(unsafe_code, reason = "the kernel writes to the buffer after the call")]
    fn submit(&mut self, read: &mut PositionedRead<'_>, index: u64) {
        let file = types::Fd(read.file.as_fd().as_raw_fd());
        let length = read.buffer.len().min(READ_LENGTH_MAX) as u32;
        let entry: squeue::Entry = opcode::Read::new(file, read.buffer.as_mut_ptr(), length)
            .offset(read.offset)
            .build()
            .user_data(index);
        // SAFETY: file and buffer are borrowed for all of `read_all`, which returns only when
        // every read submitted has completed, or when the kernel has not taken it and, `broken`
        // being set, never will.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.expect("no more reads than the queue is deep");
    }
}
