//! Linux: the lock of a held database stays although another file of the process is closed, and
//! somebody who may only read cannot keep a writer out.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::io;
use std::sync::PoisonError;

use libsqlite3_sys::sqlite3_syscall_ptr;
use steadfast_time::names::NameBytes as _;

use super::{HELD, system_call};

pub(super) fn set_errno(error: c_int) {
    // SAFETY: the function has no conditions.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the place is that of this thread.
    unsafe { place.write(error) };
}

pub(super) fn locking() -> Option<(&'static CStr, sqlite3_syscall_ptr)> {
    type Fcntl = unsafe extern "C" fn(c_int, c_int, *mut c_void) -> c_int;
    Some(system_call!(c"fcntl", fcntl, Fcntl))
}

/// Locks a database that is held by the open file, so that no other file of the process ends that
/// when it is closed.
///
/// Whoever can read a file can keep others from locking it alone, for ever. He is passed over
/// unless there is a file of shared memory, which only those make who can write in the folder: then
/// another SQLite may write. The database is still locked against writers.
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: *mut c_void) -> c_int {
    let beside = if command == libc::F_SETLK { has_beside(fd, "-shm") } else { None };
    let Some(is_shared) = beside else {
        // SAFETY: the arguments are those that SQLite gives to `fcntl`.
        return unsafe { libc::fcntl(fd, command, argument) };
    };
    // SAFETY: SQLite gives a whole structure with this command.
    let mut lock = unsafe { argument.cast::<libc::flock>().read() };
    lock.l_pid = 0;
    let set = |lock: &libc::flock| {
        // SAFETY: the structure lives as long as the call.
        match unsafe { libc::fcntl(fd, libc::F_OFD_SETLK, lock) } {
            // SAFETY: the same.
            -1 if is_error(&[libc::EINVAL]) => unsafe { libc::fcntl(fd, libc::F_SETLK, lock) },
            done => done,
        }
    };
    let done = set(&lock);
    let is_refused = done == -1 && is_error(&[libc::EAGAIN, libc::EACCES]);
    if is_refused && !is_shared && i32::from(lock.l_type) == libc::F_WRLCK {
        lock.l_type = libc::F_RDLCK as libc::c_short;
        return set(&lock);
    }
    done
}

/// Says whether something stands beside the database that is open as `fd`. `None` if it is another
/// file.
fn has_beside(fd: c_int, suffix: &str) -> Option<bool> {
    let all = HELD.read().unwrap_or_else(PoisonError::into_inner);
    let held = all.values().find(|held| held.opened.contains(&fd))?;
    let name = [held.name.as_slice(), suffix.as_bytes()].concat();
    Some(held.dir.status_of(OsStr::from_bytes(&name)).is_ok())
}

fn is_error(errors: &[c_int]) -> bool {
    io::Error::last_os_error().raw_os_error().is_some_and(|error| errors.contains(&error))
}
