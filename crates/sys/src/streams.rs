//! Whether standard output was closed when this process began.
//!
//! Before `main`, Rust's runtime opens `/dev/null` in place of a closed standard stream. Output is
//! then lost without an error, so this module checks before the runtime runs.

#![allow(unsafe_code, reason = "the check must run before `main`")]

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{Errno, fcntl_getfd};

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns whether standard output was closed when the process began.
pub fn stdout_was_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}

extern "C" fn note_closed_stdout() {
    // SAFETY: 1 is no forbidden number, nothing else runs yet that could close or open it, and a
    // descriptor that is closed is what the system is asked about: it answers EBADF.
    let stdout = unsafe { BorrowedFd::borrow_raw(1) };
    let closed = fcntl_getfd(stdout).err() == Some(Errno::BADF);
    STDOUT_CLOSED.store(closed, Ordering::Relaxed);
}

// SAFETY: the loader calls each function of this section once, before `main`, with the C ABI. This
// one needs nothing that the runtime or the standard library has yet to set up.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static NOTE_CLOSED_STDOUT: extern "C" fn() = note_closed_stdout;
