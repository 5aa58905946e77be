//! Other processes, and signals from them.

#![allow(unsafe_code, reason = "rustix masks no signals")]

use std::mem::MaybeUninit;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Returns whether a process of this number exists, also one of another user.
#[must_use]
pub fn is_alive(process: i32) -> bool {
    // `Pid` takes no number below zero.
    let found = Pid::from_raw(process.max(0)).map(test_kill_process);
    matches!(found, Some(Ok(()) | Err(Errno::PERM)))
}

/// Signals that wait while this lives: SIGINT, SIGTERM and SIGHUP, in the thread that made it.
///
/// A signal that arrives between the system's record of its handler and what that handler does is
/// lost. Whoever sets handlers holds such a value meanwhile.
#[derive(Debug)]
#[must_use = "signals wait only while it lives"]
pub struct HeldSignals {
    before: libc::sigset_t,
}

impl HeldSignals {
    /// Holds them from now on.
    pub fn begin() -> HeldSignals {
        let mut held = MaybeUninit::uninit();
        // SAFETY: it fills the set that it is given.
        unsafe { libc::sigemptyset(held.as_mut_ptr()) };
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: the set was filled above.
            unsafe { libc::sigaddset(held.as_mut_ptr(), signal) };
        }
        let mut before = MaybeUninit::uninit();
        // SAFETY: one set was filled above, and the call fills the other. It fails only if told to
        // do something unknown.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, held.as_ptr(), before.as_mut_ptr()) };
        // SAFETY: it was filled by the call.
        HeldSignals { before: unsafe { before.assume_init() } }
    }
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        // SAFETY: the set is what the system gave, and nothing is written.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_that_ended_is_told_from_one_that_lives() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        assert!(super::is_alive(std::process::id().cast_signed()));
        assert!(super::is_alive(1));
        child.wait().unwrap();
        assert!(!super::is_alive(child.id().cast_signed()));
        assert!(!super::is_alive(0) && !super::is_alive(-1));
    }
}
