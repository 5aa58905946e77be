//! Other processes.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Returns whether a process of this number exists, also one of another user.
#[must_use]
pub fn is_alive(process: i32) -> bool {
    // `Pid` takes no number below zero.
    let found = Pid::from_raw(process.max(0)).map(test_kill_process);
    matches!(found, Some(Ok(()) | Err(Errno::PERM)))
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
