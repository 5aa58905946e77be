//! macOS: the locks are those of SQLite. `fcntl` takes a list of arguments of any length, which
//! only C can receive there.

use std::ffi::{CStr, c_int};

use libsqlite3_sys::sqlite3_syscall_ptr;

pub(super) fn set_errno(error: c_int) {
    // SAFETY: the function has no conditions.
    let place = unsafe { libc::__error() };
    // SAFETY: the place is that of this thread.
    unsafe { place.write(error) };
}

pub(super) fn locking() -> Option<(&'static CStr, sqlite3_syscall_ptr)> {
    None
}
