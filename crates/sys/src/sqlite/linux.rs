//! Linux: SQLite calls `mmap` by a table, whose entry is replaced.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::io;
use std::mem;
use std::ptr;
use std::sync::Once;

use libsqlite3_sys::{sqlite3_syscall_ptr, sqlite3_vfs_find};

thread_local! {
    static WAS_FULL: Cell<bool> = const { Cell::new(false) };
}

/// The signature of `mmap`. SQLite is compiled with offsets of 64 bits on every system.
type Mmap =
    unsafe extern "C" fn(*mut c_void, libc::size_t, c_int, c_int, c_int, i64) -> *mut c_void;

pub(super) fn allocate_shared_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: no name is that of the default file system, which lives as long as the process.
        let vfs = unsafe { sqlite3_vfs_find(ptr::null()) };
        // SAFETY: the pointer is null or that of a file system.
        let Some(found) = (unsafe { vfs.as_ref() }) else { return };
        let Some(set) = found.xSetSystemCall else { return };
        let mmap: Mmap = allocate_and_map;
        // SAFETY: SQLite keeps all functions as this type, and calls `mmap` by its own signature.
        let call = unsafe { mem::transmute::<Mmap, sqlite3_syscall_ptr>(mmap) };
        // SAFETY: the function is that of this file system, and no connection is open.
        let _ = unsafe { set(vfs, c"mmap".as_ptr(), call) };
    });
}

pub(super) fn was_full() -> bool {
    WAS_FULL.take()
}

/// Maps a file as `mmap`, after its blocks are allocated if it can be written to.
unsafe extern "C" fn allocate_and_map(
    address: *mut c_void,
    length: libc::size_t,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    let start = offset as libc::off_t;
    if protection & libc::PROT_WRITE != 0 {
        let keeps = libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: it takes numbers alone; allocation changes no byte of the file.
        let done = unsafe { libc::fallocate(file, keeps, start, length as libc::off_t) };
        let error = io::Error::last_os_error().raw_os_error();
        // Other errors are those of file systems that cannot allocate in advance.
        if done != 0 && matches!(error, Some(libc::ENOSPC | libc::EDQUOT)) {
            WAS_FULL.set(true);
            return libc::MAP_FAILED;
        }
    }
    // SAFETY: the arguments are those that SQLite gives to `mmap`.
    unsafe { libc::mmap(address, length, protection, flags, file, start) }
}
