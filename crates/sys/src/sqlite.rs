//! The memory that SQLite shares between processes, in a file of the disk of its database.
//!
//! SQLite writes one byte to each 4 KiB of that file, so that the system allocates them, and maps
//! it. Where blocks are smaller, as on small ext4 disks, the rest are holes. The first write to a
//! hole of a full disk ends the process with a signal (SIGBUS). It is in this crate because it
//! needs unsafe code (feature `sqlite`).

#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "SQLite is written in C"))]

#[cfg_attr(target_os = "linux", path = "sqlite/linux.rs")]
#[cfg_attr(target_os = "macos", path = "sqlite/macos.rs")]
mod platform;

/// Makes SQLite allocate its shared memory whole before it uses it, in the whole process: where
/// that fails, it returns `SQLITE_IOERR_SHMMAP`. Call this before the first connection.
pub fn allocate_shared_memory() {
    platform::allocate_shared_memory();
}

/// Returns whether the disk was full when SQLite failed with that error in this thread, and forgets
/// it.
#[must_use]
pub fn was_full() -> bool {
    platform::was_full()
}
