//! The `direct` engine: reads past the page cache, from the medium and not from memory.
//!
//! In: an open file. Out: its bytes from the storage. If the file system cannot do that, they come
//! through the page cache, and the engine reports so. A thread has several reads in flight where
//! the system has io_uring, and one elsewhere.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_sys::cache::cached_bytes;
use steadfast_sys::file::{File, PositionedRead, Status};
use steadfast_sys::uring::{self, Ring};

use super::{Engine, Origin};

/// Offsets and buffers are multiples of this length, which every block device accepts.
const ALIGNMENT_BYTES: usize = 4096;

/// Reads that one thread has in flight.
const IN_FLIGHT: usize = 8;

/// File systems on local devices that cache file contents only in the page cache. Network file
/// systems and FUSE are excluded, because a server may answer from its own cache, and so is zfs,
/// which has its own.
const TRACED: [&str; 12] = [
    "apfs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "hfs", "hfsplus", "ntfs3", "vfat",
    "xfs",
];

/// Why the system refuses this process a ring; the answer never changes.
static REFUSAL: OnceLock<String> = OnceLock::new();

/// Whether a file was found whose file system does not report how it reads.
static UNTOLD: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// This thread's ring, made for its first reads; the inner `None` means that it was refused.
    static RING: RefCell<Option<Option<Ring>>> = const { RefCell::new(None) };

    /// The last device looked up on this thread, and whether it caches only in the page cache.
    static LAST_ASKED: Cell<Option<(u64, bool)>> = const { Cell::new(None) };
}

/// Reads past the page cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Engine for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin> {
        // Setting the flag is not enough: encrypted and compressed files accept it and are then
        // read through the cache. The origin is the medium only if the file system reports it for
        // this file, or if reading leaves nothing in the cache.
        let origin = match reported_origin(file) {
            Some(Origin::Cache) => return Ok(Origin::Cache),
            Some(Origin::Media) => Origin::Media,
            None => {
                UNTOLD.store(true, Ordering::Relaxed);
                untraced(file, status)
            }
        };
        match file.set_uncached() {
            Ok(()) => Ok(origin),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(Origin::Cache),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Origin::Cache),
            Err(error) => Err(error),
        }
    }

    fn confirm(&self, file: &File, status: &Status, prepared: Origin) -> Origin {
        // The second check is for file systems that do not report the origin; most runs have none.
        if prepared == Origin::Cache || !UNTOLD.load(Ordering::Relaxed) {
            return prepared;
        }
        reported_origin(file).unwrap_or_else(|| untraced(file, status))
    }

    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }

    fn read_many(&self, reads: &mut [PositionedRead<'_>]) {
        if reads.len() > 1 {
            RING.with_borrow_mut(|ring| {
                if let Some(ring) = ring.get_or_insert_with(new_ring) {
                    ring.read_all(reads);
                }
            });
        }
        for read in reads {
            if read.outcome.as_ref().is_err_and(|error| is_undone(error.kind())) {
                read.outcome = self.read_at(read.file, read.buffer, read.offset);
            }
        }
    }

    fn in_flight(&self) -> usize {
        // Tried once, before the run, so that the threads know how many reads to take.
        if new_ring().is_some() { IN_FLIGHT } else { 1 }
    }

    fn alignment(&self) -> usize {
        ALIGNMENT_BYTES
    }

    fn notice(&self) -> Option<String> {
        REFUSAL.get().filter(|_| uring::EXISTS).cloned()
    }
}

/// Returns where direct reads of a file come from, if its file system reports it.
fn reported_origin(file: &File) -> Option<Origin> {
    match file.direct_alignment() {
        Ok(Some(alignment)) if alignment.offset as usize <= ALIGNMENT_BYTES => Some(Origin::Media),
        Ok(_) => Some(Origin::Cache),
        Err(_) => None,
    }
}

/// Returns the medium if nothing of a file is in the page cache.
///
/// If so before and after reading, no byte came through the cache: reads through it fill it, and
/// the latest pages are the last to be evicted. This cannot be determined for a file that was
/// cached already, or for an empty file.
fn untraced(file: &File, status: &Status) -> Origin {
    if status.length > 0
        && leaves_traces(file, status.device)
        && cached_bytes(file, status.length).is_ok_and(|bytes| bytes == 0)
    {
        return Origin::Media;
    }
    Origin::Cache
}

/// Returns whether a file system caches file contents only in the page cache.
fn leaves_traces(file: &File, device: u64) -> bool {
    if let Some((last, answer)) = LAST_ASKED.get()
        && last == device
    {
        return answer;
    }
    let name = file.file_system().map(|file_system| file_system.name);
    let answer = name.is_ok_and(|name| TRACED.contains(&&*name));
    LAST_ASKED.set(Some((device, answer)));
    answer
}

/// Returns whether, after this error of the ring, the thread should read without it.
fn is_undone(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{Interrupted, Unsupported, WouldBlock};
    matches!(kind, Interrupted | Unsupported | WouldBlock)
}

fn new_ring() -> Option<Ring> {
    match Ring::new(IN_FLIGHT as u32) {
        Ok(ring) => Some(ring),
        Err(error) => {
            REFUSAL.get_or_init(|| {
                let reason = error.to_string();
                let reason = reason.split(" (os error").next().unwrap_or(&reason).to_lowercase();
                format!("no io_uring here ({reason}): each thread reads one chunk at a time")
            });
            None
        }
    }
}
